"""Standing preferences: the same for every query, shown once, newest truth first."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.config import AssemblyConfig, Budgets


def preference(kit: Any, id: str, text: str, importance: float = 0.9, **fields: Any) -> Any:
    return kit.memory(id, text, category="preference", importance=importance, **fields)


def section(context: Any, name: str = "preferences") -> list[str]:
    return [context.snapshot.ids[row] for row in context.selection.rows[name].tolist()]


def test_they_are_memories_flagged_as_such_with_enough_importance(kit: Any) -> None:
    assembler = kit.assembler(
        [
            preference(kit, "a", "prefers tea", 0.7),
            preference(kit, "b", "likes the window seat", 0.69),
            preference(kit, "c", "wants short answers", 1.0),
            kit.memory("d", "has a boat", importance=1.0),
            preference(kit, "e", "hates mail", 1.0, status="superseded"),
            preference(kit, "f", "…", 1.0),
        ]
    )
    context = assembler.assemble("window", now=kit.now)
    assert section(context) == ["c", "a"]
    assert "b" in section(context, "relevant_facts")
    assert section(assembler.assemble("x", now=kit.now, preference_min_importance=0.6)) == ["c", "a", "b"]


def test_order_is_importance_then_id(kit: Any) -> None:
    dates = ["2026-01-03", "2026-01-01", "2026-01-02"]
    entries = [preference(kit, key, f"likes {key}", 0.8, created_at=date) for key, date in zip("cab", dates, strict=True)]
    entries.append(preference(kit, "z", "likes zebras", 0.9))
    assert section(kit.assembler(entries).assemble("x", now=kit.now)) == ["z", "a", "b", "c"]


queries = st.lists(
    st.sampled_from(["tea", "boat", "", "   ", "小屋", "window seat or aisle", "<|endoftext|>", "z" * 500]),
    min_size=2,
    max_size=4,
)


@given(
    queries=queries,
    share=st.sampled_from([0.0, 0.05, 0.25, 1.0]),
    top_k=st.sampled_from([1, 100]),
    cap=st.sampled_from([0, 1, 100]),
)
def test_they_do_not_depend_on_the_query(kit: Any, queries: list[str], share: float, top_k: int, cap: int) -> None:
    entries = [preference(kit, f"p{n}", f"thing {n} = likes {'it very much ' * n}", 0.7 + n / 50) for n in range(12)]
    entries += [kit.memory(f"m{n}", f"thing {n} = the boat is blue", created_at=f"2026-02-{10 + n}") for n in range(0, 12, 3)]
    assembler = kit.assembler(
        entries, soul=[kit.soul("s", "calm")], config=AssemblyConfig(preference_share=share, top_k=top_k, cap=cap)
    )
    contexts = [assembler.assemble(query, now=kit.now) for query in queries]
    shown = {tuple(section(context)) for context in contexts}
    assert len(shown) == 1
    ends = {
        context.prompt[: context.prompt.find("## Relevant facts\n")]
        for context in contexts
        if "## Relevant facts\n" in context.prompt
    }
    assert len(ends) <= 1


def test_they_take_at_most_their_share(kit: Any) -> None:
    entries = [preference(kit, f"p{n:02d}", f"likes number {n} a lot") for n in range(60)]
    for share, memories in ((0.25, 200), (0.5, 200), (1.0, 200), (0.0, 200), (0.25, 0), (0.999, 7)):
        context = kit.assembler(entries).assemble("x", now=kit.now, preference_share=share, budgets={"memories": memories})
        assert context.tokens["preferences"] <= share * memories
        assert context.tokens["preferences"] + context.tokens["relevant_facts"] <= memories
    assert context.tokens["preferences"] == 0


def test_one_that_found_no_room_can_still_be_found_as_a_fact(kit: Any) -> None:
    entries = [preference(kit, f"p{n:02d}", f"likes number {n} a lot", 0.8) for n in range(20)]
    context = kit.assembler(entries).assemble("number 19", now=kit.now, budgets=Budgets(memories=120))
    assert "p19" not in section(context)
    assert "p19" in section(context, "relevant_facts")
    assert len(set(context.selected_ids)) == len(context.selected_ids)


def test_an_entry_is_shown_once(kit: Any) -> None:
    context = kit.assembler([preference(kit, "p", "prefers tea"), kit.memory("m", "tea is in the pantry")]).assemble(
        "tea", now=kit.now
    )
    assert context.prompt.count("prefers tea") == 1
    assert section(context) == ["p"]
    assert section(context, "relevant_facts") == ["m"]
    row = context.explain("p")
    assert (row.section, row.fate) == ("preferences", "selected")
    assert row.score is not None


def test_the_minimum_score_does_not_touch_them(kit: Any) -> None:
    context = kit.assembler([preference(kit, "p", "prefers tea")]).assemble("lamp", now=kit.now, min_score=999.0)
    assert context.selected_ids == ("p",)


def test_a_newer_memory_overrules_one_whether_the_query_finds_it_or_not(kit: Any) -> None:
    entries = [
        preference(kit, "old", "seat = window", created_at="2026-01-01"),
        kit.memory("new", "seat = aisle", created_at="2026-02-01"),
    ]
    entries += [kit.memory(f"x{n}", f"lamp number {n} is broken") for n in range(5)]
    for query in ("seat", "lamp number"):
        context = kit.assembler(entries, config=AssemblyConfig(top_k=1)).assemble(query, now=kit.now)
        assert section(context) == []
        assert "window" not in context.prompt
        assert context.explain("old").fate == "superseded"
        assert [(c.newer, c.older) for c in context.conflicts.conflicts] == [("new", "old")]


def test_one_that_stands_supersedes_older_memories_also_when_the_query_does_not_find_it(kit: Any) -> None:
    # the prompt would contradict itself: the preference is always in it
    entries = [
        kit.memory("old", "seat = window, with a view of the harbour and the ferry", created_at="2026-01-01"),
        preference(kit, "new", "seat = aisle", created_at="2026-02-01"),
    ]
    encoder = kit.Encoder()
    encoder.conflict_band = (0.0, 0.95)
    assembler = kit.assembler(entries, encoder=encoder, config=AssemblyConfig(top_k=1))
    context = assembler.assemble("harbour ferry view", now=kit.now)
    assert context.retrieved.row.size == 1
    assert section(context) == ["new"]
    assert context.selected_ids == ("new",)
    assert context.explain("old").reason == "contradicted by new, which is newer"
    assert [(c.newer, c.older) for c in context.conflicts.conflicts] == [("new", "old")]


def test_a_conflict_is_reported_once(kit: Any) -> None:
    entries = [
        preference(kit, "old", "seat = window", created_at="2026-01-01"),
        preference(kit, "new", "seat = aisle", created_at="2026-02-01"),
    ]
    context = kit.assembler(entries).assemble("seat", now=kit.now)
    assert [(c.newer, c.older, c.decided) for c in context.conflicts.conflicts] == [("new", "old", True)]
    assert section(context) == ["new"]


def test_repetitions_of_one_are_not_shown_beside_it(kit: Any) -> None:
    entries = [
        preference(kit, "p1", "prefers tea", created_at="2026-01-01"),
        preference(kit, "p2", "Prefers  TEA", created_at="2026-01-02"),
        kit.memory("m", "PREFERS tea", created_at="2026-02-01"),
    ]
    context = kit.assembler(entries).assemble("tea", now=kit.now)
    assert context.selected_ids == ("p2",)
    assert context.prompt.lower().count("tea") == 1
    assert context.explain("m").reason == "says the same as p2, a standing preference"
    assert context.explain("p1").fate == "duplicate"
    # without room for preferences, the query still gets the statement, once
    crowded = kit.assembler(entries).assemble("tea", now=kit.now, preference_share=0.0)
    assert crowded.selected_ids == ("p2",)
    assert section(crowded, "relevant_facts") == ["p2"]


def test_reasons_of_preferences_that_the_query_did_not_find(kit: Any) -> None:
    entries = [
        preference(kit, "old", "seat = window", created_at="2026-01-01"),
        preference(kit, "seat", "seat = aisle", 1.0, created_at="2026-02-01"),
        preference(kit, "twin", "SEAT = aisle", 1.0, created_at="2026-01-15"),
        preference(kit, "late", "answer = short and to the point, without any greeting", 0.7),
        kit.memory("lamp", "the lamp is broken"),
    ]
    context = kit.assembler(entries, config=AssemblyConfig(top_k=1)).assemble(
        "lamp is broken", now=kit.now, budgets={"memories": 60}
    )
    assert context.ranking == ("lamp",)
    assert section(context) == ["seat"]
    found = {key: context.explain(key) for key in ("old", "twin", "late")}
    assert found["old"].reason == "a preference contradicted by seat, which is newer"
    assert found["twin"].reason == "a preference that says the same as seat"
    assert found["late"].fate == "over budget"


@pytest.mark.parametrize("n", [1, 150])
def test_any_number_of_neighbours_can_overrule(kit: Any, n: int) -> None:
    entries = [preference(kit, "old", "seat = window", created_at="2026-01-01")]
    entries += [kit.memory(f"close{number}", f"seat window, remark {number}", created_at="2026-01-02") for number in range(n)]
    entries.append(kit.memory("new", "seat = aisle in every train, plane and bus that I take", created_at="2026-01-03"))
    encoder = kit.Encoder()
    encoder.conflict_band = (0.0, 0.99)
    context = kit.assembler(entries, encoder=encoder).assemble("seat", now=kit.now)
    assert section(context) == []


def test_the_cached_preferences_follow_the_settings(kit: Any) -> None:
    entries = [
        preference(kit, "old", "seat = window", created_at="2026-01-01"),
        kit.memory("new", "seat = aisle", created_at="2026-02-01"),
    ]
    assembler = kit.assembler(entries)
    assert section(assembler.assemble("x", now=kit.now)) == []
    assert section(assembler.assemble("x", now=kit.now, contradictions=False)) == ["old"]
    assert section(assembler.assemble("x", now=kit.now, preference_min_importance=0.95, contradictions=False)) == []
    assert section(assembler.assemble("x", now=kit.now, conflict_band=(0.99, 1.0))) == ["old"]
    assert section(assembler.assemble("x", now=kit.now)) == []
    assert np.array_equal(assembler.preferences(assembler.snapshot(), assembler.settings()).rows, [])


def test_a_repetition_that_the_query_finds_instead_of_the_preference_is_not_shown_beside_it(kit: Any) -> None:
    gram = [[1, 0.96, 0.5], [0.96, 1, 0.6], [0.5, 0.6, 1]]
    texts = ["likes tea", "loves tea", "query"]
    entries = [
        preference(kit, "new", texts[0], created_at="2026-02-01"),
        preference(kit, "old", texts[1], created_at="2026-01-01"),
    ]
    encoder = kit.Given(dict(zip(texts, kit.with_cosines(gram), strict=True)))
    context = kit.assembler(entries, encoder=encoder).assemble("query", now=kit.now, top_k=1)
    assert [context.snapshot.ids[row] for row in context.retrieved.row] == ["old"]
    assert context.selected_ids == ("new",)
    assert context.explain("old").reason == "says the same as new, which is newer"
