"""The weight ledger: constant and last entry agree, entries stay as they are, only a justified run changes the weights."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import workbench.config
from workbench.config import PRODUCTION_WEIGHTS, AssemblyConfig, Budgets, Weights
from workbench.data.judged import JudgedDataset, JudgedQuery
from workbench.data.saving import save_directory
from workbench.embedding.cache import EmbeddingCache
from workbench.entries import Memory
from workbench.errors import RunError
from workbench.experiments.ab import ab_run
from workbench.experiments.ledger import ledger_folder, read_ledger, record_reference, verify_ledger, write_entry
from workbench.experiments.manifest import Source
from workbench.experiments.promotion import promote, refusals, with_weights
from workbench.store.user import UserStore

NEW = Weights(relevance=0.6, importance=0.4, confidence=0.0, recency=0.0, frequency=0.0)
METRICS = (
    "ContextRecall", "AnyRecall", "AllRecall", "StaleExposure", "DuplicateRate", "PrefixStability", "Leaks",
    "FalseContext", "Tokens",
)  # fmt: skip


def entry(folder: Path, number: int, weights: Weights, previous: str | None, **more: Any) -> Path:
    path = folder / f"{number:04d}-entry.json"
    fields: dict[str, Any] = {
        "number": number, "kind": "reference", "reason": "because", "decided": "2026-01-01", "evidence": [{"run": "r"}],
        "previous": previous,
    }  # fmt: skip
    write_entry(path, weights=weights, **{**fields, **more})
    return path


def test_the_constant_and_the_ledger_of_this_project_agree() -> None:
    assert verify_ledger(ledger_folder()).weights == PRODUCTION_WEIGHTS


def test_a_constant_without_an_entry_is_refused(tmp_path: Path) -> None:
    entry(tmp_path, 1, PRODUCTION_WEIGHTS, None)
    assert verify_ledger(tmp_path).number == 1
    with pytest.raises(RunError, match="promote"):
        verify_ledger(tmp_path, NEW)
    with pytest.raises(RunError, match="no weight ledger"):
        read_ledger(tmp_path / "absent")


def test_no_evidence_is_no_justification(tmp_path: Path) -> None:
    entry(tmp_path, 1, PRODUCTION_WEIGHTS, None, evidence=[])
    with pytest.raises(RunError, match="no evidence"):
        verify_ledger(tmp_path)


def test_entries_cannot_be_changed_or_removed_afterwards(tmp_path: Path) -> None:
    import hashlib

    first = entry(tmp_path, 1, PRODUCTION_WEIGHTS, None)
    entry(tmp_path, 2, NEW, hashlib.sha256(first.read_bytes()).hexdigest())
    assert len(read_ledger(tmp_path)) == 2
    with pytest.raises(RunError, match="never changed"):
        entry(tmp_path, 1, NEW, None)
    text = first.read_text()
    first.write_text(text.replace("because", "because of tea"))
    with pytest.raises(RunError, match="changed or removed"):
        read_ledger(tmp_path)
    first.unlink()
    with pytest.raises(RunError, match="expected number 1"):
        read_ledger(tmp_path)


def test_the_source_gets_new_numbers_and_nothing_else() -> None:
    source = Path(workbench.config.__file__).read_text()
    changed = with_weights(source, NEW)
    scope: dict[str, Any] = {"__name__": "copy_of_config"}
    module = SimpleNamespace()
    import sys

    sys.modules["copy_of_config"] = module  # type: ignore[assignment]
    try:
        exec(compile(changed, "config.py", "exec"), scope)
    finally:
        del sys.modules["copy_of_config"]
    assert scope["PRODUCTION_WEIGHTS"].as_tuple() == NEW.as_tuple()
    assert with_weights(changed, PRODUCTION_WEIGHTS) == source or "0.5\n" in with_weights(changed, PRODUCTION_WEIGHTS)
    differing = [a for a, b in zip(source.splitlines(), changed.splitlines(), strict=True) if a != b]
    assert len(differing) == 5
    with pytest.raises(RunError, match="by hand"):
        with_weights("nothing here", NEW)


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("ledger")


@pytest.fixture(scope="module")
def won(toys: SimpleNamespace, home: Path) -> Path:
    """An A/B run on locked test users in which importance decides and the new weights win clearly: 80 users, one query each."""
    stores, queries = {}, []
    for number in range(80):
        user = f"user-{number:02d}"
        memories = [
            Memory(
                id=f"m{at}",
                text=f"kettle ferry rhubarb {word}",
                created_at="2026-01-01" if at == 0 else "2026-05-30",
                importance=0.9 if at == 0 else 0.1,
                access_count=0 if at == 0 else 100,
            )
            for at, word in enumerate(("attic", "lamp", "barn", "goose", "pier", "quilt"))
        ]
        stores[user] = UserStore(user, memories=memories)
        common: dict[str, Any] = {"user_id": user, "query": "kettle ferry rhubarb", "now": toys.now}
        queries.append(JudgedQuery(id=f"{user}-q1", relevant={"m0": 1}, forbidden=("m1",) if number % 2 else (), **common))
        queries.append(JudgedQuery(id=f"{user}-q2", relevant={"m0": 1}, **common))
        queries.append(JudgedQuery(id=f"{user}-q3", answerable=False, **common))
    dataset = JudgedDataset(
        name="winners", stores=stores, queries=tuple(queries), licence="Apache-2.0", source="made here", checksum="0" * 64
    )
    save_directory(dataset, home / "data")
    # what is refused for another reason than its numbers needs few of them
    few = replace(dataset, stores=dict(list(stores.items())[:12]), queries=tuple(queries[:36]))
    save_directory(few, home / "few")
    return run_ab(toys, home, "won", NEW, data="data")


def run_ab(
    toys: SimpleNamespace, home: Path, name: str, weights: Weights, *, data: str, part: str | None = "test", **other: Any
) -> Path:
    config = AssemblyConfig(budgets=Budgets(memories=22), duplicate_threshold=1.01, contradictions=False, alpha=0.0)
    patch = pytest.MonkeyPatch()
    patch.setenv("WORKBENCH_CACHE", str(home / "cache"))
    try:
        ab_run(
            Source(name=str(home / data), part=part),
            [("present", config), ("new", config.override(weights=weights, **other))],
            toys.encoder,
            out=home / name,
            cache=EmbeddingCache(home / "embeddings"),
            metrics=METRICS,
            latency_sample=30,
        )
    finally:
        patch.undo()
    return home / name


def test_a_run_that_justifies_new_weights_is_promoted(won: Path, tmp_path: Path) -> None:
    first = entry(tmp_path, 1, PRODUCTION_WEIGHTS, None)
    source = tmp_path / "config.py"
    shutil.copy(workbench.config.__file__, source)
    assert refusals(won) == []
    made = promote(won, reason="importance decides here", folder=tmp_path, config_file=source, today="2026-06-02")
    assert (made.number, made.weights, made.decided) == (2, NEW, "2026-06-02")
    assert verify_ledger(tmp_path, NEW) == made
    assert made.evidence[0]["verdicts"]["ContextRecall"] == "better"
    assert "relevance: float = 0.6\n" in source.read_text()
    assert first.exists()
    with pytest.raises(RunError, match="in force"):
        promote(won, reason="again", folder=tmp_path, config_file=source)


def test_anything_else_is_refused_with_every_reason(won: Path, toys: SimpleNamespace, home: Path, tmp_path: Path) -> None:
    assert any("locked test" in text for text in refusals(run_ab(toys, home, "untested", NEW, data="few", part=None)))
    same = refusals(run_ab(toys, home, "same", PRODUCTION_WEIGHTS, data="few"))
    assert any("in force already" in text for text in same)
    assert any("ContextRecall is no difference" in text for text in same)
    more = refusals(run_ab(toys, home, "more", NEW, data="few", half_life_days=5.0))
    assert any("more than the weights" in text for text in more)
    assert any("in force are" in text for text in refusals(won, Weights(relevance=0.1)))

    slow = tmp_path / "slow"
    shutil.copytree(won, slow)
    content = json.loads((slow / "metrics.json").read_text())
    content["arms"]["new"]["latency_ms"]["total"]["verdict"] = "over the limit"
    (slow / "metrics.json").write_text(json.dumps(content))
    assert refusals(slow) == ["its files were changed after it was written; run it again"]
    manifest = json.loads((slow / "manifest.json").read_text())
    import hashlib

    manifest["files"]["metrics.json"] = hashlib.sha256((slow / "metrics.json").read_bytes()).hexdigest()
    (slow / "manifest.json").write_text(json.dumps(manifest))
    assert refusals(slow) == ["its latency is over the limit (limit p95 100 ms)"]

    stale = tmp_path / "stale"
    shutil.copytree(won, stale)
    comparison = json.loads((stale / "comparison.json").read_text())
    for row in comparison["rows"]:
        if row["metric"] == "Tokens":
            row["verdict"] = "worse"
    comparison["rows"] = [row for row in comparison["rows"] if row["metric"] != "Leaks"]
    (stale / "comparison.json").write_text(json.dumps(comparison))
    manifest = json.loads((stale / "manifest.json").read_text())
    manifest["files"]["comparison.json"] = hashlib.sha256((stale / "comparison.json").read_bytes()).hexdigest()
    (stale / "manifest.json").write_text(json.dumps(manifest))
    assert refusals(stale) == ["its verdict on the guardrail Tokens is worse", "it did not measure the guardrail Leaks"]

    ledger = tmp_path / "ledger"
    entry(ledger, 1, PRODUCTION_WEIGHTS, None)
    with pytest.raises(RunError, match="does not justify"):
        promote(stale, reason="no", folder=ledger, config_file=tmp_path / "untouched.py")
    assert len(read_ledger(ledger)) == 1


def test_the_reference_entry_names_what_was_measured(won: Path, tmp_path: Path) -> None:
    made = record_reference([won], folder=tmp_path, today="2026-06-01")
    assert made.evidence[0]["dataset"] == "winners"
    assert made.evidence[0]["values"]["ContextRecall"] is not None
    assert verify_ledger(tmp_path) == made
    with pytest.raises(RunError, match="never changed"):
        record_reference([won], folder=tmp_path)
    with pytest.raises(RunError, match="no arm"):
        record_reference([won], folder=tmp_path / "other", weights=Weights(relevance=0.3))
