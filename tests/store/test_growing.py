"""A store that grows by one entry costs one entry's work; a store that is asked costs none."""

from __future__ import annotations

import gc
import pickle
import tracemalloc
from typing import Any

import numpy as np
import pytest

from workbench.assembly.assembler import Assembler
from workbench.config import AssemblyConfig
from workbench.errors import DataError
from workbench.search.keyword import KeywordIndex
from workbench.store.user import UserStore

WORDS = """
    amber basil cedar delta ember fjord grove heron ivory jasper kelp lotus maple north ochre plume quartz raven sable thyme
"""
PER_ENTRY = ("text", "line", "statement", "canonical", "says", "words", "tokens", "read", "vector")


def sentences(n: int) -> list[str]:
    """Different texts of 12 words."""
    rng, words = np.random.default_rng(5), WORDS.split()
    return [f"{' '.join(words[at] for at in row)} note {number}" for number, row in enumerate(rng.integers(0, 20, (n, 10)))]


@pytest.mark.parametrize("size", [400, pytest.param(20_000, marks=pytest.mark.slow)])
def test_an_index_is_built_once_and_an_added_entry_is_the_only_new_work(
    kit: Any, size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    built = 0
    build = KeywordIndex.build.__func__  # type: ignore[attr-defined]

    def counting(cls: type[KeywordIndex], *given: Any, **settings: Any) -> KeywordIndex:
        nonlocal built
        built += 1
        return build(cls, *given, **settings)  # type: ignore[no-any-return]

    monkeypatch.setattr(KeywordIndex, "build", classmethod(counting))
    encoder = kit.Encoder()
    memories = [kit.memory(f"m{number}", text) for number, text in enumerate(sentences(size))]
    store = UserStore("ana", memories=memories)
    assembler = Assembler(store, encoder=encoder, cache=False)
    for text in sentences(20):
        assert assembler.assemble(text, now=kit.now).selected_ids
    assert built == 1
    assert assembler.snapshot() is assembler.snapshot()
    assert dict(assembler.snapshot().fresh) == dict.fromkeys(PER_ENTRY, size)
    embedded = sum(map(len, encoder.calls))
    assert embedded == size + 20

    more = store.with_entries([kit.memory("new", "the zeppelin leaves from hangar nine")])
    grown = Assembler(more, encoder=encoder, cache=False)
    assert grown.assemble("zeppelin", now=kit.now).selected_ids[0] == "new"
    assert built == 2
    assert dict(grown.snapshot().fresh) == dict.fromkeys(PER_ENTRY, 1)
    assert sum(map(len, encoder.calls)) == embedded + 2  # the entry and the query


def test_queries_leave_no_memory_behind(kit: Any) -> None:
    encoder = kit.Encoder()
    assembler = kit.assembler([kit.memory(f"m{at}", text) for at, text in enumerate(sentences(300))], encoder=encoder)
    queries = sentences(50)
    for text in queries:
        assembler.assemble(text, now=kit.now)
    tracemalloc.start()
    try:
        for text in queries * 2:
            assembler.assemble(text, now=kit.now)
        encoder.calls.clear()
        gc.collect()
        before = tracemalloc.get_traced_memory()[0]
        for text in queries * 3:
            assembler.assemble(text, now=kit.now)
        encoder.calls.clear()
        gc.collect()
        grown = tracemalloc.get_traced_memory()[0] - before
    finally:
        tracemalloc.stop()
    # free lists fill up over some hundred queries and then stay (at about 70 kB); a result that is kept alive is 50 kB alone
    assert grown < 1_000 * len(queries * 3)


def same(one: Any, other: Any) -> None:
    """Two snapshots say the same, to the bit."""
    assert one.ids == other.ids
    assert one.lines == other.lines
    for name in ("vectors", "tokens", "text_key", "searchable", "changed", "day", "floor_rows"):
        assert np.array_equal(getattr(one, name), getattr(other, name)), name
    assert one.keyword.vocabulary == other.keyword.vocabulary
    assert np.array_equal(one.keyword.scores(["amber", "note"]), other.keyword.scores(["amber", "note"]))
    assert one.conflict_features.sentences == other.conflict_features.sentences
    assert np.array_equal(one.conflict_features.places, other.conflict_features.places)


def test_a_grown_store_is_compiled_as_if_it_were_new(kit: Any) -> None:
    texts = sentences(60)
    old = UserStore(
        "ana",
        memories=[
            kit.memory(f"m{number}", text, created_at=f"2026-01-{1 + number % 28:02d}") for number, text in enumerate(texts)
        ],
        episodes=[kit.episode("e1", "regatta in Bath")],
        soul=[kit.soul("s1", "calm")],
    )
    Assembler(old, encoder=kit.Encoder(), cache=False).snapshot()
    added = [
        kit.memory("m7", "I moved to Ghent.", created_at="2026-02-01"),  # takes the place of another
        kit.memory("z", "", created_at="2026-02-02"),
        kit.episode("e2", "regatta in Ghent"),
        kit.procedure("p1", "ring the bell"),
        kit.soul("s1", "cheerful"),
    ]
    grown = old.with_entries(added, without=["m3", "m59"])
    assert "m3" not in grown
    assert grown["m7"].text == "I moved to Ghent."
    assert (len(old), len(grown)) == (62, 63)
    fresh = UserStore("ana", memories=grown.memories[::-1], episodes=grown.episodes, procedures=grown.procedures, soul=grown.soul)
    assert fresh.fingerprint == grown.fingerprint
    reused = Assembler(grown, encoder=kit.Encoder(), cache=False).snapshot()
    assert reused.fresh["read"] == 4
    assert reused.fresh["vector"] == 3  # a blank entry has none
    same(reused, Assembler(fresh, encoder=kit.Encoder(), cache=False).snapshot())


def test_other_settings_are_computed_anew(kit: Any) -> None:
    store = UserStore("ana", memories=[kit.memory(f"m{number}", text) for number, text in enumerate(sentences(9))])
    Assembler(store, encoder=kit.Encoder(), cache=False).snapshot()
    config = AssemblyConfig().override(templates={"memories": "{date}: {text}"}, encoding="cl100k_base")
    again = Assembler(store, config, kit.Encoder(name="another"), cache=False).snapshot()
    assert {name: again.fresh[name] for name in ("text", "words", "tokens", "vector")} == dict.fromkeys(
        ("text", "words", "tokens", "vector"), 9
    )
    assert again.fresh["line"] == again.fresh["read"] == 0
    fresh = UserStore("ana", memories=store.memories)
    same(again, Assembler(fresh, config, kit.Encoder(name="another"), cache=False).snapshot())


def test_what_was_computed_is_not_sent_to_other_processes(kit: Any) -> None:
    store = UserStore("ana", memories=[kit.memory(f"m{number}", text) for number, text in enumerate(sentences(200))])
    size = len(pickle.dumps(store))
    Assembler(store, encoder=kit.Encoder(), cache=False).snapshot()
    assert len(pickle.dumps(store)) < 1.2 * size
    assert pickle.loads(pickle.dumps(store)).fingerprint == store.fingerprint


def test_bad_changes_are_refused(kit: Any) -> None:
    store = UserStore("ana", memories=[kit.memory("m1", "tea")])
    with pytest.raises(DataError, match=r"entries\[1\] is a dict: must be a Memory, an Episode"):
        store.with_entries([kit.memory("m2", "x"), {"id": "m3"}])
    with pytest.raises(DataError, match="two entries with the id 'm2'"):
        store.with_entries([kit.memory("m2", "x"), kit.memory("m2", "y")])
    with pytest.raises(DataError, match="has no entry 'm9' to leave out; the store holds 1 entries"):
        store.with_entries([], without=["m9"])
