"""Saving is the exact inverse of loading, whole or not at all."""

from __future__ import annotations

import dataclasses
import os
import tempfile
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from workbench.data.files import load_directory, read_directory, save_directory
from workbench.data.judged import JudgedDataset, JudgedQuery
from workbench.entries import Episode, Memory, Procedure, SoulBlock
from workbench.errors import DataError
from workbench.store.user import UserStore

Rows = tuple[list[dict[str, Any]], list[dict[str, Any]]]
AsValues = Callable[[JudgedDataset], dict[str, Any]]

anything = st.text(st.characters(exclude_categories=["Cs"]), max_size=20) | st.sampled_from(
    [
        "\x00\x1b\x85",
        "🏳️‍🌈👩‍👩‍👧",
        "\u2028\u2029\r\n",
        "\ufeffx",
        '"\\',
        "<|endoftext|>",
        "e\u0301",
        "\uffff",
        "NaN",
        "\u202eabc",
    ]
)
named = anything.filter(lambda text: bool(text.strip()))
users = st.sampled_from(["007", "None", "NA", "%", "a:b", "true", "1e5"]) | named
unit = st.floats(0, 1)
count = st.integers(0, 2**63 - 1)
moment = st.datetimes(timezones=st.just(UTC))
texts = st.lists(anything, max_size=3).map(tuple)
status = st.sampled_from(["active", "superseded", "archived"])


@st.composite
def entries(draw: st.DrawFn, entry_id: str) -> Memory | Episode | Procedure | SoulBlock:
    kind = draw(st.sampled_from(["memory", "episode", "procedure", "soul"]))
    if kind == "soul":
        return SoulBlock(
            id=entry_id,
            group=draw(st.sampled_from(["soul", "style", "context"])),
            text=draw(anything),
            active=draw(st.booleans()),
            priority=draw(st.integers(-(10**9), 10**9)),
        )
    shared: dict[str, Any] = {
        "id": entry_id,
        "category": draw(named),
        "tags": draw(texts),
        "importance": draw(unit),
        "confidence": draw(unit),
        "access_count": draw(count),
        "status": draw(status),
        "source": draw(anything),
    }
    made, changed = sorted((draw(moment), draw(moment)))
    if kind == "memory":
        return Memory(**shared, text=draw(anything), created_at=made, updated_at=changed)
    if kind == "episode":
        return Episode(**shared, summary=draw(anything), topics=draw(texts), outcome=draw(anything), occurred_at=draw(moment))
    return Procedure(**shared, name=draw(anything), steps=draw(texts), created_at=made, updated_at=changed)


@st.composite
def queries(draw: st.DrawFn, query_id: str, store: UserStore) -> JudgedQuery:
    ids = draw(st.permutations([entry.id for entry in store]))
    cut = draw(st.integers(0, len(ids)))
    relevant = {key: draw(st.integers(1, 2**63 - 1)) for key in ids[:cut]}
    judged = draw(st.booleans())
    return JudgedQuery(
        id=query_id,
        user_id=store.user_id,
        query=draw(anything),
        now=draw(moment),
        relevant=relevant,
        forbidden=tuple(ids[cut:]),
        duplicates=tuple(tuple(draw(st.permutations(ids))) for _ in range(draw(st.integers(0, 2)))),
        group=draw(anything),
        lang=draw(anything),
        answerable=draw(st.booleans()) if relevant or not judged else False,
        judged=judged,
        decided_by=draw(anything),
    )


@st.composite
def datasets(draw: st.DrawFn) -> JudgedDataset:
    stores = {}
    for user_id in draw(st.lists(users, max_size=3, unique=True)):
        found = [draw(entries(key)) for key in draw(st.lists(named, max_size=4, unique=True))]
        stores[user_id] = UserStore(
            user_id,
            memories=[entry for entry in found if isinstance(entry, Memory)],
            episodes=[entry for entry in found if isinstance(entry, Episode)],
            procedures=[entry for entry in found if isinstance(entry, Procedure)],
            soul=[entry for entry in found if isinstance(entry, SoulBlock)],
        )
    asked = []
    if stores:
        for query_id in draw(st.lists(named, max_size=3, unique=True)):
            asked.append(draw(queries(query_id, stores[draw(st.sampled_from(list(stores)))])))
    return JudgedDataset(
        name=draw(named),
        version=draw(anything),
        licence=draw(anything),
        source=draw(anything),
        group_name=draw(anything),
        checksum="",
        stores=stores,
        queries=tuple(asked),
        config=draw(st.sampled_from([{}, {"top_k": 5, "weights": {"recency": 0.25}, "conflict_band": [0.5, 0.9]}])),
        config_note=draw(anything),
        notes=draw(st.dictionaries(anything, count, max_size=3)),
    )


@settings(max_examples=50, suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(dataset=datasets(), description=anything)
def test_round_trip(as_values: AsValues, dataset: JudgedDataset, description: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        root = save_directory(dataset, Path(folder) / "one", description=description)
        reading = read_directory(root)
        assert as_values(reading.dataset) == as_values(dataset)
        assert reading.description == description
        again = load_directory(save_directory(reading.dataset, Path(folder) / "two", description=description))
        assert again.checksum == reading.dataset.checksum
        assert sorted(os.listdir(folder)) == ["one", "two"]


@pytest.fixture
def dataset(rows: Rows, write: Callable[..., Path]) -> JudgedDataset:
    return load_directory(write(*rows))


def test_replaces_a_dataset_and_creates_parents(dataset: JudgedDataset, tmp_path: Path, as_values: AsValues) -> None:
    root = tmp_path / "a" / "b"
    assert save_directory(dataset, str(root)) == root.resolve()
    (root / "entries-old.jsonl").write_text("gone afterwards")
    save_directory(dataset, root)
    assert sorted(os.listdir(root)) == ["dataset.json", "entries.jsonl", "queries.jsonl"]
    assert as_values(load_directory(root)) == as_values(dataset)
    assert os.listdir(root.parent) == ["b"]


def test_an_empty_directory_may_be_filled(dataset: JudgedDataset, tmp_path: Path) -> None:
    (tmp_path / "new").mkdir()
    assert load_directory(save_directory(dataset, tmp_path / "new")).queries == dataset.queries


@pytest.mark.parametrize("other", ["CARD.md", "thesis.docx", ".git"])
def test_never_replaces_anything_else(dataset: JudgedDataset, tmp_path: Path, other: str) -> None:
    root = tmp_path / "home"
    root.mkdir()
    (root / "entries.jsonl").write_text("kept")
    (root / other).write_text("kept")
    with pytest.raises(DataError, match=f"holds '{other}'"):
        save_directory(dataset, root)
    assert (root / "entries.jsonl").read_text() == "kept"
    with pytest.raises(DataError, match="is a file"):
        save_directory(dataset, root / other)
    assert sorted(os.listdir(tmp_path)) == sorted({"home", "mystore"})


@pytest.mark.parametrize(
    "change",
    [
        {"name": ""},
        {"name": "\ud800"},
        {"licence": None},
        {"config": {"top_k": float("nan")}},
        {"config": {"boosts": {1: 2.0}}},
        {"config": {"unheard": 1}},
        {"notes": {"a": 1.5}},
        {"notes": {1: 1}},
    ],
)
def test_what_would_not_read_back_is_refused(dataset: JudgedDataset, tmp_path: Path, change: dict[str, Any]) -> None:
    with pytest.raises(DataError, match="cannot be saved"):
        save_directory(dataclasses.replace(dataset, **change), tmp_path / "out")
    assert os.listdir(tmp_path) == ["mystore"]


@pytest.mark.parametrize("change", [{"id": ""}, {"query": "\udfff"}])
def test_a_query_that_cannot_be_written_cannot_be_made(dataset: JudgedDataset, change: dict[str, Any]) -> None:
    with pytest.raises(DataError):
        dataclasses.replace(dataset.queries[0], **change)


@pytest.mark.parametrize("change", [{"relevant": {"m1": 2**63}}])
def test_a_query_that_would_not_read_back_leaves_nothing_behind(
    dataset: JudgedDataset, tmp_path: Path, change: dict[str, Any]
) -> None:
    bad = dataclasses.replace(dataset.queries[0], **change)
    root = save_directory(dataset, tmp_path / "out")
    before = (root / "entries.jsonl").read_bytes()
    with pytest.raises(DataError):
        save_directory(dataclasses.replace(dataset, queries=(bad,)), root)
    assert sorted(os.listdir(tmp_path)) == ["mystore", "out"]
    assert (root / "entries.jsonl").read_bytes() == before


def test_store_under_another_name_is_refused(tmp_path: Path) -> None:
    store = UserStore("ana", memories=[Memory(id="m", text="x", created_at=datetime(2026, 1, 1, tzinfo=UTC))])
    wrong = JudgedDataset(name="n", stores={"bo": store}, queries=(), licence="", source="", checksum="")
    with pytest.raises(DataError, match="must agree"):
        save_directory(wrong, tmp_path / "out")


def test_unwritable_places(dataset: JudgedDataset, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for place in (tmp_path / "file" / "below", "a\0b", tmp_path / ("x" * 300)):
        with pytest.raises(DataError, match="cannot write"):
            save_directory(dataset, place)
    assert sorted(os.listdir(tmp_path)) == ["file", "mystore"]
