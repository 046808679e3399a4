"""A user store holds valid entries with unique ids, and has an identity by content."""

from __future__ import annotations

from typing import Any

import pytest

from workbench.entries import Memory
from workbench.errors import DataError, StoreError
from workbench.store.user import UserStore


@pytest.fixture
def entries(kit: Any) -> dict[str, list[Any]]:
    return {
        "memories": [kit.memory("m1", "tea"), kit.memory("m2", "lamp")],
        "episodes": [kit.episode("e1", "regatta")],
        "procedures": [kit.procedure("p1", "ring the bell")],
        "soul": [kit.soul("s1", "calm")],
    }


@pytest.mark.parametrize("layer", ["memories", "episodes", "procedures", "soul"])
def test_ids_are_unique_over_all_layers(kit: Any, entries: dict[str, list[Any]], layer: str) -> None:
    twin = {
        "memories": kit.memory("m1", "x"),
        "episodes": kit.episode("m1", "x"),
        "procedures": kit.procedure("m1", "x"),
        "soul": kit.soul("m1", "x"),
    }[layer]
    entries[layer].append(twin)
    with pytest.raises(DataError, match=r"user 'ana' has two entries with the id 'm1': a memory and a "):
        UserStore("ana", **entries)


@pytest.mark.parametrize("user_id", ["", None, 7, b"ana", "\ud800"], ids=repr)
def test_user_ids_are_text(user_id: Any) -> None:
    with pytest.raises(DataError, match="user_id"):
        UserStore(user_id)


@pytest.mark.parametrize("bad", [None, 5, "text", {"id": "m1"}, [{"id": "m1"}], [None]], ids=repr)
@pytest.mark.parametrize("layer", ["memories", "episodes", "procedures", "soul"])
def test_layers_hold_their_own_kind_of_entry(layer: str, bad: Any) -> None:
    with pytest.raises(DataError, match=rf"^{layer}.*must be "):
        UserStore("ana", **{layer: bad})


def test_an_entry_in_the_wrong_layer_is_refused(kit: Any) -> None:
    with pytest.raises(DataError, match=r"episodes\[0\] is a Memory: must be Episode"):
        UserStore("ana", episodes=[kit.memory("m1", "x")])


def test_lookup(entries: dict[str, list[Any]]) -> None:
    store = UserStore("ana", **entries)
    assert len(store) == 5
    assert [entry.id for entry in store] == ["m1", "m2", "e1", "p1", "s1"]
    assert "e1" in store
    assert store["e1"].id == "e1"
    assert "nobody" not in store
    with pytest.raises(StoreError, match="user 'ana' has no entry 'nobody'; the store holds 5 entries"):
        store["nobody"]
    assert "2 memories, 1 episodes, 1 procedures, 1 Soul blocks" in repr(store)


def test_a_store_may_be_empty_and_take_generators(kit: Any) -> None:
    assert len(UserStore("ana")) == 0
    assert len(UserStore("ana", memories=(kit.memory(f"m{n}", "x") for n in range(3)))) == 3


def test_the_fingerprint_is_about_content_and_not_about_order(kit: Any, entries: dict[str, list[Any]]) -> None:
    store = UserStore("ana", **entries)
    turned = UserStore("ana", **{layer: rows[::-1] for layer, rows in entries.items()})
    assert store.fingerprint == turned.fingerprint == store.fingerprint
    others = [
        UserStore("ANA", **entries),
        UserStore("ana", **{**entries, "memories": entries["memories"][:1]}),
        UserStore("ana", **{**entries, "memories": [entries["memories"][0], kit.memory("m2", "lamp", importance=0.51)]}),
        UserStore("ana"),
    ]
    assert len({store.fingerprint, *(other.fingerprint for other in others)}) == 5


def test_the_store_keeps_the_entry_objects(entries: dict[str, list[Any]]) -> None:
    store = UserStore("ana", **entries)
    assert store["m1"] is entries["memories"][0]
    assert isinstance(store["m1"], Memory)
