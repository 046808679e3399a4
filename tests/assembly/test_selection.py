"""From scores to sections: order, tiers, the total, and what is said about what was left out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from workbench.config import AssemblyConfig, Weights
from workbench.text.tokens import count

ONLY_IMPORTANCE = AssemblyConfig(weights=Weights(relevance=0, importance=1, confidence=0, recency=0, frequency=0))


def section(context: Any, name: str) -> list[str]:
    return [context.snapshot.ids[row] for row in context.selection.rows[name].tolist()]


def test_order_is_score_then_newer_then_id(kit: Any) -> None:
    entries = [
        kit.memory("d", "boat d", importance=0.5, created_at="2026-01-01"),
        kit.memory("c", "boat c", importance=0.5, created_at="2026-01-02"),
        kit.memory("b", "boat b", importance=0.9, created_at="2025-01-01"),
        kit.memory("e", "boat e", importance=0.5, created_at="2026-01-01"),
        kit.memory("a", "boat a", importance=0.1, created_at="2026-02-01"),
    ]
    context = kit.assembler(entries, config=ONLY_IMPORTANCE).assemble("boat", now=kit.now)
    assert context.ranking == ("b", "c", "d", "e", "a")
    assert section(context, "relevant_facts") == ["b", "c", "d", "e", "a"]
    assert [context.explain(key).rank for key in context.ranking] == [1, 2, 3, 4, 5]


def test_ranks_count_within_a_layer(kit: Any) -> None:
    assembler = kit.assembler(
        [kit.memory("m1", "boat", importance=0.9), kit.memory("m2", "boat blue", importance=0.1)],
        episodes=[kit.episode("e1", "boat trip", importance=0.5)],
        config=ONLY_IMPORTANCE,
    )
    context = assembler.assemble("boat", now=kit.now)
    assert context.ranking == ("m1", "e1", "m2")
    assert [context.explain(key).rank for key in context.ranking] == [1, 1, 2]


def test_entries_under_the_minimum_score_leave(kit: Any) -> None:
    entries = [kit.memory(f"m{n}", f"boat {n}", importance=n / 10) for n in range(1, 10)]
    assembler = kit.assembler(entries, config=ONLY_IMPORTANCE)
    context = assembler.assemble("boat", now=kit.now, min_score=0.5)
    assert section(context, "relevant_facts") == ["m9", "m8", "m7", "m6", "m5"]
    assert context.explain("m4").fate == "below minimum score"
    assert context.explain("m4").reason == "its score is below the minimum 0.5"
    assert "m4" in context.ranking


def test_boosts_multiply_and_zero_boosts_sink(kit: Any) -> None:
    entries = [kit.memory("a", "boat a", category="x", importance=0.5), kit.memory("b", "boat b", category="y", importance=0.6)]
    assembler = kit.assembler(entries, config=ONLY_IMPORTANCE)
    assert assembler.assemble("boat", now=kit.now).ranking == ("b", "a")
    boosted = assembler.assemble("boat", now=kit.now, boosts={"x": 2.0, "nobody": 5.0})
    assert boosted.ranking == ("a", "b")
    assert boosted.explain("a").score == pytest.approx(1.0)
    assert sum(boosted.explain("a").contributions.values()) == pytest.approx(1.0)
    assert assembler.assemble("boat", now=kit.now, boosts={"y": 0.0}).explain("b").score == 0


TEXTS = ["the boat leaves at noon", "the boat is blue and large and was painted by Ada", "the boat sank"]


@pytest.mark.parametrize("encoding", ["o200k_base", "cl100k_base"])
@pytest.mark.parametrize("fill", ["stop", "skip"])
def test_every_budget_from_nothing_to_everything(kit: Any, recount: Callable[[str, str], int], encoding: str, fill: str) -> None:
    entries = [kit.memory(f"m{n}", text, importance=1 - n / 10) for n, text in enumerate(TEXTS)]
    assembler = kit.assembler(entries, config=ONLY_IMPORTANCE.override(encoding=encoding, fill=fill))
    shown, passed_over = set(), set()
    for budget in range(45):
        context = assembler.assemble("boat", now=kit.now, budgets={"memories": budget})
        assert recount(context.prompt, encoding) == context.tokens["total"] == context.tokens["relevant_facts"] <= budget
        shown.add(tuple(section(context, "relevant_facts")))
        if section(context, "relevant_facts") == ["m0", "m2"]:
            passed_over.add("alone exceed" in context.explain("m1").reason)
    assert () in shown
    assert ("m0", "m1", "m2") in shown
    # the second entry is the long one: only "skip" passes over one that could have had the tier to itself
    assert passed_over == ({True} if fill == "stop" else {True, False})


def test_a_heading_alone_is_never_shown(kit: Any) -> None:
    assembler = kit.assembler([kit.memory("m", "boat")])
    heading = count("## Relevant facts\n")
    for budget in range(heading + 1):
        context = assembler.assemble("boat", now=kit.now, budgets={"memories": budget})
        assert context.prompt == ""
        assert context.explain("m").fate == "over budget"


def test_the_total_is_filled_in_the_order_of_the_sections(kit: Any, recount: Callable[[str, str], int]) -> None:
    assembler = kit.assembler(
        [kit.memory("m", "the boat is blue"), kit.memory("p", "prefers tea", category="preference", importance=0.9)],
        episodes=[kit.episode("e", "the boat sank")],
        procedures=[kit.procedure("w", "mend the boat", steps=("find wood",))],
        soul=[kit.soul("s", "calm")],
    )
    full = assembler.assemble("boat", now=kit.now)
    assert full.selected_ids == ("s", "p", "m", "e", "w")
    for total in range(full.tokens["total"] + 2):
        context = assembler.assemble("boat", now=kit.now, budgets={"total": total})
        assert recount(context.prompt, "o200k_base") == context.tokens["total"] <= total
        left = total
        for section_name, tokens in list(full.tokens.items())[:-1]:
            # each section has one entry: it is there exactly if what the earlier ones left is enough
            assert context.tokens[section_name] == (tokens if tokens <= left else 0)
            left -= context.tokens[section_name]
    assert context.prompt == full.prompt


def test_an_oversize_entry_is_skipped_reported_and_blocks_nobody(kit: Any) -> None:
    entries = [
        kit.memory("big", "boat " * 400, importance=1.0),
        kit.memory("a", "the boat leaves at noon", importance=0.9),
        kit.memory("b", "the boat is blue", importance=0.8),
    ]
    context = kit.assembler(entries, config=ONLY_IMPORTANCE).assemble("boat", now=kit.now, budgets={"memories": 50})
    assert section(context, "relevant_facts") == ["a", "b"]
    assert context.explain("big").fate == "over budget"
    assert "tokens alone exceed the room of its tier" in context.explain("big").reason
    assert any("1 candidate is larger than all the room of its tier" in note for note in context.warnings)


@pytest.mark.parametrize("fill", ["stop", "skip"])
def test_soul_blocks_that_do_not_fit(kit: Any, recount: Callable[[str, str], int], fill: str) -> None:
    blocks = [
        kit.soul("a", "calm and kind", priority=1),
        kit.soul("huge", "word " * 3000, priority=2),
        kit.soul("b", "speaks in short sentences " * 7, priority=3),
        kit.soul("c", "brief", priority=4, group="style"),
    ]
    seen = set()
    for budget in range(0, 90, 3):
        # "b" alone needs more than 40
        context = kit.assembler(soul=blocks, config=AssemblyConfig(fill=fill)).assemble("", now=kit.now, budgets={"soul": budget})
        assert recount(context.prompt, "o200k_base") == context.tokens["identity"] == context.tokens["total"] <= budget
        if budget > 45:
            seen.add(context.selected_ids)
        assert any("active Soul blocks did not fit" in note for note in context.warnings)
        assert context.explain("huge").fate == "over budget"
    assert ("a", "b", "c") in seen
    assert (("a", "c") in seen) == (fill == "skip")


def test_weights_of_zero_leave_the_order_to_age_and_id(kit: Any) -> None:
    none = Weights(relevance=0, importance=0, confidence=0, recency=0, frequency=0)
    entries = [
        kit.memory(key, f"boat {key}", created_at=day)
        for key, day in (("b", "2026-01-01"), ("a", "2026-01-01"), ("c", "2026-01-02"))
    ]
    context = kit.assembler(entries, config=AssemblyConfig(weights=none)).assemble("boat", now=kit.now)
    assert context.ranking == ("c", "a", "b")
    assert set(context.fates["score"]) == {0.0}
    assert set(context.effective_weights.values()) == {0.0}
