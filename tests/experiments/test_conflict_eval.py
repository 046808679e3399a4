"""Measuring a conflict test: reading the pairs, the counts and intervals, and the cosines of an encoder."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

from workbench.errors import ConfigError, DataError, RunError
from workbench.experiments.conflict_eval import evaluate_conflicts
from workbench.experiments.conflict_pairs import read_pairs
from workbench.experiments.conflict_run import conflict_run, pair_set
from workbench.experiments.conflict_score import Score, Share, wilson
from workbench.experiments.conflict_similarity import PERCENTILES, profile
from workbench.experiments.manifest import read_manifest
from workbench.experiments.verification import verify

OWN = Path(__file__).parents[1] / "assembly" / "conflict_pairs_own.jsonl"
PAIRS: list[dict[str, Any]] = [
    {"id": "1", "a": "The kiln is hot.", "b": "The kiln is not hot.", "label": "conflict", "kind": "negation", "lang": "en"},
    {"id": "2", "a": "A poem about rain.", "b": "Bread and salt.", "label": "conflict", "kind": "implicit", "lang": "en"},
    {"id": "3", "a": "Odo likes rain.", "b": "Rain is liked by Odo.", "label": "duplicate", "kind": "voice", "lang": "en"},
    {"id": "4", "a": "Odo has a cat.", "b": "Odo has no cat.", "label": "compatible", "kind": "trap", "lang": "en"},
    {"id": "5", "a": "Ich mag Birnen.", "b": "Ich mag keine Quitten.", "label": "compatible", "kind": "trap", "lang": "de"},
]


def written(folder: Path, rows: Sequence[object]) -> Path:
    path = folder / "pairs.jsonl"
    path.write_text("\n".join(row if isinstance(row, str) else json.dumps(row, ensure_ascii=False) for row in rows), "utf-8")
    return path


def test_counts(tmp_path: Path) -> None:
    found = evaluate_conflicts(written(tmp_path, PAIRS))
    assert found.overall == Score(tp=1, fp=1, fn=1, tn=2)
    assert found.by_language == {"de": Score(0, 0, 0, 1), "en": Score(1, 1, 1, 1)}
    assert found.false_alarms == {"duplicate": Share(0, 1), "compatible": Share(1, 2)}
    assert [(row.label, row.kind, row.flagged) for row in found.by_kind] == [
        ("conflict", "implicit", Share(0, 1)),
        ("conflict", "negation", Share(1, 1)),
        ("duplicate", "voice", Share(0, 1)),
        ("compatible", "trap", Share(1, 2)),
    ]
    assert found.missed == ("2",)
    assert found.wrong == ("4",)
    assert found.reasons == {"negation": 2}
    assert found.source == "pairs.jsonl"
    assert found.similarity is None


def test_reads_the_pairs_that_ship_with_the_tests() -> None:
    found = evaluate_conflicts(OWN)
    assert found.overall.n == len(OWN.read_text("utf-8").splitlines())
    assert found.overall.fp == 0
    assert found.overall.recall.value is not None
    assert found.overall.recall.value > 0.9
    assert set(found.by_language) == {"en", "es", "de", "pt", "ko"}


def test_table_and_json(tmp_path: Path, kit: Any) -> None:
    found = evaluate_conflicts(written(tmp_path, PAIRS), encoder=kit.encoder)
    text = str(found)
    for part in ("n = 5", "95 % Wilson", "1/2", "negation", "recommended band", kit.encoder.name):
        assert part in text
    back = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert back["overall"]["precision"] == {"hits": 1, "n": 2, "share": 0.5, "interval": back["overall"]["precision"]["interval"]}
    assert back["similarity"]["encoder"] == kit.encoder.name
    assert back["by_language"]["de"]["precision"] == {"hits": 0, "n": 0, "share": None, "interval": None}


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("{", "line 2: malformed JSON"),
        ('{"id": "x"} {', "line 2: malformed JSON"),
        ("[1]", "line 2: holds"),
        ({**PAIRS[1], "label": "maybe"}, "line 2: label is 'maybe'"),
        ({**PAIRS[1], "a": " "}, "line 2: a is ' '"),
        ({**PAIRS[1], "b": 3}, "line 2: b is 3"),
        ({key: PAIRS[1][key] for key in ("id", "a", "b", "label", "lang")}, "line 2: the field kind is missing"),
        ({**PAIRS[1], "id": "1"}, "line 2: the id '1' was used in line 1"),
        ('{"id": "x", "id": "y"}', "line 2: the key 'id' stands twice"),
    ],
)
def test_a_bad_line_is_named(tmp_path: Path, row: object, message: str) -> None:
    with pytest.raises(DataError, match=r"pairs\.jsonl") as caught:
        read_pairs(written(tmp_path, [PAIRS[0], row]))
    assert message in str(caught.value)


def test_bad_files_are_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="cannot be read"):
        evaluate_conflicts(tmp_path / "none.jsonl")
    with pytest.raises(DataError, match="cannot be read"):
        evaluate_conflicts(tmp_path)
    with pytest.raises(DataError, match="holds no pair"):
        read_pairs(written(tmp_path, ["", "  "]))
    broken = tmp_path / "latin.jsonl"
    broken.write_bytes(json.dumps(PAIRS[0]).encode() + b'\n{"id": "\xe9"}')
    with pytest.raises(DataError, match="line 2: not UTF-8"):
        read_pairs(broken)


def test_blank_lines_a_byte_order_mark_and_crlf_are_passed_over(tmp_path: Path) -> None:
    path = tmp_path / "pairs.jsonl"
    path.write_bytes(b"\xef\xbb\xbf\r\n" + "\r\n\r\n".join(json.dumps(row) for row in PAIRS).encode())
    assert [pair.id for pair in read_pairs(path)] == ["1", "2", "3", "4", "5"]


@given(st.integers(0, 60), st.integers(0, 60))
def test_wilson_equals_scipy(hits: int, misses: int) -> None:
    n = hits + misses
    if n == 0:
        assert wilson(hits, n) is None
        return
    expected = binomtest(hits, n).proportion_ci(method="wilson")
    assert wilson(hits, n) == pytest.approx((expected.low, expected.high), abs=1e-9)


@given(st.integers(0, 40), st.integers(0, 40), st.integers(0, 40))
def test_f1_lies_in_its_interval(tp: int, fp: int, fn: int) -> None:
    score = Score(tp, fp, fn, 0)
    if tp + fp + fn == 0:
        assert score.f1 is None
        assert score.f1_interval is None
        return
    low, high = score.f1_interval or (0.0, 0.0)
    assert score.f1 is not None
    assert -1e-12 <= low <= score.f1 + 1e-12
    assert score.f1 <= high + 1e-12 <= 1 + 2e-12
    precision, recall = score.precision.value, score.recall.value
    if precision and recall:
        assert score.f1 == pytest.approx(2 * precision * recall / (precision + recall))


class AtLeast:
    """Flags the pairs whose first text starts with an exclamation mark; without `relation`."""

    name = "marked"
    reasons = ("", "marked")

    def features(self, texts: Sequence[str]) -> list[bool]:
        return [text.startswith("!") for text in texts]

    def decide(self, features: Any, left: Any, right: Any, similarity: Any) -> Any:
        return np.array([int(features[row]) for row in left.tolist()], dtype=np.int64)


def test_band_and_duplicates_follow_from_the_cosines(tmp_path: Path, kit: Any) -> None:
    cosines = {
        "conflict": np.linspace(0.30, 0.99, 24),
        "duplicate": np.linspace(0.90, 0.99, 20),
        "compatible": np.linspace(0.2, 0.93, 20),
    }
    rows: list[dict[str, Any]] = []
    vectors: dict[str, list[float]] = {}
    for label, values in cosines.items():
        for i, value in enumerate(values.tolist()):
            a, b = f"{'!' if label == 'conflict' else ''}{label} {i} a", f"{label} {i} b"
            vectors[a], vectors[b] = [1.0, 0.0], [value, float(np.sqrt(1 - value * value))]
            rows.append({"id": f"{label}{i}", "a": a, "b": b, "label": label, "kind": "k", "lang": "en"})
    found = evaluate_conflicts(written(tmp_path, rows), encoder=kit.Given(vectors), test=AtLeast())  # type: ignore[arg-type]
    assert found.overall == Score(24, 0, 0, 40)
    similar = found.similarity
    assert similar is not None
    assert similar.percentiles["conflict"] == tuple(
        round(float(value), 4) for value in np.percentile(cosines["conflict"], PERCENTILES)
    )
    assert similar.recommended[0] == 0.33  # 5th percentile 0.3345, rounded down
    by_threshold = {row.threshold: row for row in similar.rows}
    for threshold in (0.85, 0.90, 0.94):
        row = by_threshold[threshold]
        above = {label: int((values >= threshold - 1e-7).sum()) for label, values in cosines.items()}
        assert row.flagged == above["conflict"]
        assert row.duplicates == Share(above["duplicate"], above["duplicate"] + above["compatible"])
        assert row.guarded is None
    assert similar.recommended[1] == min(
        t for t, row in by_threshold.items() if (row.duplicates.value or 0) >= 0.9 and row.duplicates.n >= 5
    )
    cosines["conflict"] = np.round(cosines["conflict"], 6)
    inside = (cosines["conflict"] >= 0.33) & (cosines["conflict"] <= (similar.recommended[1] or 0) + 1e-6)
    assert similar.inside == Share(int(inside.sum()), 24)
    narrow = evaluate_conflicts(written(tmp_path, rows), encoder=kit.Given(vectors), band=(0.5, 0.6), test=AtLeast())  # type: ignore[arg-type]
    assert narrow.similarity is not None
    assert narrow.similarity.inside == Share(int(((cosines["conflict"] >= 0.5) & (cosines["conflict"] <= 0.6)).sum()), 24)


def test_no_end_is_made_up(tmp_path: Path, kit: Any) -> None:
    found = evaluate_conflicts(written(tmp_path, PAIRS[2:]), encoder=kit.encoder)
    assert found.similarity is not None
    assert found.similarity.recommended == (None, None)
    assert found.similarity.inside is None
    assert "conflict" not in found.similarity.percentiles
    assert found.overall.recall.value is None
    assert str(found)


@pytest.mark.parametrize("band", [(0.9, 0.1), (0.1,), "ab", (0.1, "x"), (float("nan"), 0.5), (True, 1.0), (-2.0, 0.5)])
def test_bad_bands_are_refused(tmp_path: Path, kit: Any, band: Any) -> None:
    with pytest.raises(ConfigError, match="band is"):
        evaluate_conflicts(written(tmp_path, PAIRS), encoder=kit.encoder, band=band)


def test_a_band_needs_an_encoder(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="needs an encoder"):
        evaluate_conflicts(written(tmp_path, PAIRS), band=(0.3, 0.9))
    with pytest.raises(ConfigError, match="name"):
        evaluate_conflicts(written(tmp_path, PAIRS), encoder=object())  # type: ignore[arg-type]


def test_bundled_encoder_gives_the_expected_spread(bundled: Any, tmp_path: Path) -> None:
    rows = [json.loads(line) for line in OWN.read_text("utf-8").splitlines()[:40]]
    found = evaluate_conflicts(written(tmp_path, rows), encoder=bundled)
    assert found.similarity is not None
    spread = found.similarity.percentiles["conflict"]
    assert list(spread) == sorted(spread)
    assert 0.3 < spread[0] < spread[-1] < 1.0


def test_profile_is_a_function_of_its_arrays() -> None:
    pairs = read_pairs(OWN)[:10]
    cosines = np.linspace(0.5, 0.95, 10)
    codes = np.zeros(10, dtype=np.int64)
    first = profile(pairs, cosines, codes, None, AtLeast(), "x", None)  # type: ignore[arg-type]
    assert first == profile(pairs, cosines, codes, None, AtLeast(), "x", None)  # type: ignore[arg-type]


def test_a_run_folder_verifies_and_notices_other_pairs(tmp_path: Path) -> None:
    pairs = written(tmp_path, PAIRS)
    result = conflict_run(pairs, None, out=tmp_path / "run")
    manifest = read_manifest(tmp_path / "run")
    assert manifest["kind"] == "conflicts"
    assert manifest["dataset"]["n_queries"] == len(PAIRS)
    assert json.loads((tmp_path / "run" / "metrics.json").read_text()) == json.loads(json.dumps(result.to_dict()))
    assert "verified" in str(verify(tmp_path / "run"))
    written(tmp_path, PAIRS[:-1])
    with pytest.raises(RunError, match="not the file of pairs"):
        verify(tmp_path / "run")
    with pytest.raises(DataError):
        conflict_run(tmp_path / "missing.jsonl", None, out=tmp_path / "none")
    assert not (tmp_path / "none").exists()


def test_a_run_says_where_its_pairs_come_from(tmp_path: Path) -> None:
    pairs = written(tmp_path, PAIRS)
    assert (pair_set(pairs).name, pair_set(pairs).licence, pair_set(pairs).source) == (pairs.name, "not stated", "")
    card = {"name": "small", "version": "3", "licence": "CC0-1.0", "source": "made for this test"}
    (tmp_path / "dataset.json").write_text(json.dumps(card))
    conflict_run(pairs, None, out=tmp_path / "run")
    told = read_manifest(tmp_path / "run")["dataset"]
    assert {key: told[key] for key in card} == card
    (tmp_path / "dataset.json").write_text('{"license": "CC0-1.0"}')
    with pytest.raises(DataError, match=r"dataset\.json.*license"):
        pair_set(pairs)
