"""The compiled store: rows in their total order, and columns that say what the entries say."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

from workbench.config import AssemblyConfig, Templates
from workbench.entries import epoch_seconds
from workbench.store.snapshot import FLOOR_SAMPLE, statement
from workbench.text.tokens import count


@pytest.fixture
def layers(kit: Any) -> dict[str, list[Any]]:
    return {
        "memories": [
            kit.memory("b", "tea", created_at="2026-01-01"),
            kit.memory("a", "TEA ", created_at="2026-01-01"),
            kit.memory("c", "lamp", created_at="2026-01-02", category="home", importance=0.25, confidence=0.75, access_count=9),
            kit.memory("d", "old lamp", created_at="2025-01-01", status="superseded"),
            kit.memory("p", "prefers tea", created_at="2024-01-01", category="preference"),
        ],
        "episodes": [
            kit.episode("f", "regatta", outcome="second", occurred_at="2026-01-01T23:59:59Z"),
            kit.episode("e", "REGATTA", outcome="second", occurred_at="2026-01-02T00:00:00Z"),
            kit.episode("g", "regatta", outcome="second", occurred_at="2026-01-01T00:00:00Z"),
        ],
        "procedures": [kit.procedure("q", "tea", steps=("boil",))],
        "soul": [kit.soul("s2", "two", priority=1), kit.soul("s1", "one", priority=2), kit.soul("s3", "", priority=0)],
    }


def test_rows_are_by_layer_then_newer_then_id_whatever_the_order(kit: Any, layers: dict[str, list[Any]]) -> None:
    for seed in range(5):
        shuffled = {name: random.Random(seed).sample(rows, len(rows)) for name, rows in layers.items()}
        snapshot = kit.assembler(**shuffled).snapshot()
        assert snapshot.ids == ("c", "a", "b", "d", "p", "e", "f", "g", "q")
        assert snapshot.bounds == (0, 5, 8, 9)
        assert [block.id for block in snapshot.soul] == ["s2", "s1"]
    assert snapshot.layers.tolist() == [0] * 5 + [1] * 3 + [2]
    assert [snapshot.layer_of(row) for row in range(9)] == snapshot.layers.tolist()
    assert all(snapshot.row_of[key] == row for row, key in enumerate(snapshot.ids))
    assert snapshot.silent_soul == (("s3", "it says nothing"),)


def test_columns_follow_the_rows(kit: Any, layers: dict[str, list[Any]]) -> None:
    snapshot = kit.assembler(**layers).snapshot()
    for row, entry in enumerate(snapshot.entries):
        assert entry.id == snapshot.ids[row]
        assert snapshot.importance[row] == entry.importance
        assert snapshot.confidence[row] == entry.confidence
        assert snapshot.access_count[row] == entry.access_count
        assert snapshot.changed[row] == epoch_seconds(entry.changed_at)
        assert snapshot.categories[snapshot.category[row]] == entry.category
        assert snapshot.tokens[row] == count(snapshot.lines[row])
        assert snapshot.is_preference[row] == (entry.category == "preference")
        assert snapshot.searchable[row] == (entry.id != "d")
        norm = np.linalg.norm(snapshot.vectors[row])
        assert norm == pytest.approx(1.0 if snapshot.searchable[row] else 0.0, abs=1e-5)
    assert snapshot.categories == tuple(sorted(snapshot.categories))


def test_exact_duplicates_have_equal_keys(kit: Any, layers: dict[str, list[Any]]) -> None:
    snapshot = kit.assembler(**layers).snapshot()
    key = {name: int(snapshot.text_key[row]) for name, row in snapshot.row_of.items()}
    assert key["a"] == key["b"]
    # one day each in UTC; and a procedure is no memory
    assert key["f"] == key["g"] != key["e"]
    assert key["q"] != key["a"]


def test_statements_are_what_an_entry_claims(kit: Any) -> None:
    assert statement(kit.memory("m", "tea", tags=("x",))) == "tea"
    assert statement(kit.episode("e", "regatta", outcome="second", topics=("x",))) == "regatta second"
    assert statement(kit.episode("e", "", outcome="second")) == "second"
    assert statement(kit.procedure("p", "tea", steps=("boil", "pour"))) == "tea boil pour"


def test_only_searchable_entries_are_embedded_and_with_the_template(kit: Any, layers: dict[str, list[Any]]) -> None:
    encoder = kit.Encoder(name="seen")
    config = AssemblyConfig(templates=Templates(memories="{date}: {text}"))
    kit.assembler(encoder=encoder, config=config, **layers).snapshot()
    assert encoder.calls[0] == [
        "2 January 2026: lamp",
        "1 January 2026: TEA ",
        "1 January 2026: tea",
        "1 January 2024: prefers tea",
    ]
    assert len(encoder.calls) == 3


def test_an_empty_store(kit: Any) -> None:
    snapshot = kit.assembler().snapshot()
    assert snapshot.ids == snapshot.soul == ()
    assert snapshot.vectors.shape == (0, 64)
    assert snapshot.bounds == (0, 0, 0, 0)
    assert snapshot.floor_rows.size == 0


def test_the_floor_is_sampled_from_large_stores_only(kit: Any) -> None:
    small = kit.assembler([kit.memory(f"{n:05d}", f"note {n}") for n in range(100)]).snapshot()
    assert small.floor_rows.tolist() == list(range(100))
    large = kit.assembler([kit.memory(f"{n:05d}", f"note {n % 50}") for n in range(FLOOR_SAMPLE + 500)]).snapshot()
    assert large.floor_rows.size == FLOOR_SAMPLE
    assert (np.diff(large.floor_rows) >= 1).all()
    assert large.floor_rows[[0, -1]].tolist() == [0, FLOOR_SAMPLE + 499]
