"""What holds for every store, query and configuration: random entries of every layer, random settings, one assembly each."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.config import ENCODINGS, FILLS, FUSIONS, SIGNALS, AssemblyConfig, Budgets, Templates, Weights
from workbench.entries import SOUL_GROUPS, STATUSES, Episode, Memory, Procedure, SoulBlock
from workbench.text.analysis import canonical

AWKWARD = (
    "\n", "\r\n", " ", "\t", "\u00a0", "\u3000", "\u2028", "\x85", "\x00", "\x1f", "\u200b", "\u202e", "\ufeff",
    "\ufffe", "e\u0301", "/", "-", "## Workflows", "</soul>", "<!--", "&amp;", "]]>", "'s", "<|endoftext|>",
    "<|im_start|>", "1234", "小屋", "한국어", "שלום", "ไทย", "🦩", "👩‍🚀", "\U0010ffff", "boat", "tea", "seat = aisle",
    "seat = window", "the lamp is broken",
)  # fmt: skip
texts = (
    st.sampled_from(["boat", "Boat", "tea", "seat = aisle", "seat = window", "SEAT = aisle", "", "…", "boat trip with Ada", "🦩"])
    | st.text(st.characters(exclude_categories=["Cs"]), max_size=30)
    | st.lists(st.sampled_from(AWKWARD), max_size=12).map(" ".join)
    | st.lists(st.sampled_from(AWKWARD), max_size=12).map("".join)
    | st.tuples(st.sampled_from(AWKWARD), st.integers(1, 60)).map(lambda pair: pair[0] * pair[1])
)
moments = st.datetimes(datetime(2025, 12, 1), datetime(2026, 4, 1), timezones=st.just(UTC)) | st.sampled_from(
    [datetime(2026, 2, 1, tzinfo=UTC), datetime(1, 1, 1, tzinfo=UTC), datetime(9999, 12, 31, tzinfo=UTC)]
)
unit = st.sampled_from([0.0, 0.5, 0.7, 1.0]) | st.floats(0, 1)
shared = {
    "category": st.sampled_from(["fact", "preference", "event"]),
    "importance": unit,
    "confidence": unit,
    "access_count": st.sampled_from([0, 1, 50, 10**6]),
    "status": st.sampled_from([*STATUSES[:1] * 4, *STATUSES]),
    "tags": st.lists(st.sampled_from(["a", "ä"]), max_size=2).map(tuple),
}


def layer(prefix: str, kind: Any, size: int, **fields: Any) -> Any:
    rows = st.lists(st.fixed_dictionaries({**(shared if kind is not SoulBlock else {}), **fields}), max_size=size)
    return rows.map(lambda found: [kind(id=f"{prefix}{number}", **row) for number, row in enumerate(found)])


stores = st.fixed_dictionaries(
    {
        "memories": layer("m", Memory, 8, text=texts, created_at=moments),
        "episodes": layer("e", Episode, 3, summary=texts, outcome=texts, occurred_at=moments),
        "procedures": layer("p", Procedure, 3, name=texts, steps=st.lists(texts, max_size=3).map(tuple), created_at=moments),
        "soul": layer(
            "s", SoulBlock, 4, text=texts, group=st.sampled_from(SOUL_GROUPS), active=st.sampled_from([True, True, False]),
            priority=st.integers(-2, 2),
        ),
    }
)  # fmt: skip
room = st.integers(0, 60) | st.integers(0, 3000)
configs = st.builds(
    AssemblyConfig,
    weights=st.builds(Weights, **{name: st.sampled_from([0.0, 0.1, 0.5, 10.0]) for name in SIGNALS}),
    budgets=st.builds(Budgets, soul=room, memories=room, episodes=room, procedures=room, total=st.none() | room),
    templates=st.sampled_from([Templates(), Templates(memories="{date} {tags} {text}")]),
    boosts=st.dictionaries(st.sampled_from(["fact", "preference", "event"]), st.sampled_from([0.0, 0.5, 3.0]), max_size=2),
    top_k=st.sampled_from([1, 2, 100]),
    cap=st.sampled_from([0, 1, 3, 100]),
    fusion=st.sampled_from(FUSIONS),
    alpha=st.sampled_from([0.0, 0.6, 1.0]),
    contradictions=st.booleans(),
    min_score=st.sampled_from([0.0, 0.3, 2.0]),
    preference_share=st.sampled_from([0.0, 0.25, 1.0]),
    fill=st.sampled_from(FILLS),
    encoding=st.sampled_from(ENCODINGS),
)


@given(store=stores, query=texts, config=configs)
def test_every_assembly(
    kit: Any, recount: Callable[[str, str], int], store: dict[str, Any], query: str, config: AssemblyConfig
) -> None:
    context = kit.assembler(config=config, **store).assemble(query, now=kit.now)
    tokens, budgets = context.tokens, config.budgets

    # tokens: exact, and within every budget
    assert recount(context.prompt, config.encoding) == tokens["total"] == sum(tokens[name] for name in tokens if name != "total")
    assert tokens["identity"] <= budgets.soul
    assert tokens["preferences"] <= budgets.memories * config.preference_share
    assert tokens["preferences"] + tokens["relevant_facts"] <= budgets.memories
    assert tokens["recent_context"] <= budgets.episodes
    assert tokens["workflows"] <= budgets.procedures
    assert budgets.total is None or tokens["total"] <= budgets.total

    # fates: one for each entry, and they agree with the prompt
    everyone = sorted(entry.id for rows in store.values() for entry in rows)
    fates = context.fates
    assert sorted(fates["id"]) == everyone
    selected = fates[fates["fate"] == "selected"]
    assert sorted(selected["id"]) == sorted(context.selected_ids)
    assert len(set(context.selected_ids)) == len(context.selected_ids)
    assert (selected["section"].notna()).all()
    assert fates[fates["fate"] != "selected"]["section"].isna().all()
    lines = [line for line in context.prompt.splitlines() if line.startswith("- ")]
    assert len(lines) == (selected["layer"] != "soul").sum()
    for name in ("identity", "preferences", "relevant_facts", "recent_context", "workflows"):
        own = int(selected[selected["section"] == name]["tokens"].sum())
        assert own <= tokens[name]
        assert (own > 0) == (tokens[name] > 0)

    # each entry can be explained; replaced ones name what replaced them
    for key in everyone:
        found = context.explain(key)
        assert str(found)
        assert found.reason
        if found.score is not None:
            assert found.score == pytest.approx(sum(found.contributions.values()), abs=1e-9)
            assert all(0 <= found.signals[name] <= 1 for name in SIGNALS)
    active = {entry.id for rows in store.values() for entry in rows if getattr(entry, "status", "active") == "active"}
    assert set(context.ranking) <= active
    assert {*context.selected_ids} <= active
    for conflict in context.conflicts.conflicts:
        if conflict.decided:
            assert conflict.older not in context.selected_ids

    # strict JSON, and settings echoed as given
    row = json.loads(json.dumps(context.to_dict(), allow_nan=False))
    assert all(row["config"][name] == value for name, value in config.to_dict().items() if value is not None)


@given(store=stores, query=texts, config=configs, seed=st.integers(0, 10**6))
def test_the_order_of_insertion_has_no_effect(
    kit: Any, store: dict[str, Any], query: str, config: AssemblyConfig, seed: int
) -> None:
    def outcome(rows: dict[str, Any]) -> dict[str, Any]:
        row = kit.assembler(config=config, **rows).assemble(query, now=kit.now).to_dict()
        del row["timings_ms"]
        return row  # type: ignore[no-any-return]

    shuffled = {name: random.Random(seed).sample(rows, len(rows)) for name, rows in store.items()}
    assert json.dumps(outcome(shuffled)) == json.dumps(outcome(store))


@given(store=stores, query=texts, config=configs)
def test_the_ranking_is_by_score_then_layer_then_newer_then_id(
    kit: Any, store: dict[str, Any], query: str, config: AssemblyConfig
) -> None:
    context = kit.assembler(config=config, **store).assemble(query, now=kit.now)
    layers = ("memories", "episodes", "procedures")
    entries = {entry.id: (number, -entry.changed_at.timestamp()) for number, name in enumerate(layers) for entry in store[name]}
    keys = [(-context.explain(key).score, *entries[key], key) for key in context.ranking]
    assert keys == sorted(keys)


@given(first=stores, second=stores, query=texts, config=configs)
def test_users_never_see_each_other(
    kit: Any, first: dict[str, Any], second: dict[str, Any], query: str, config: AssemblyConfig
) -> None:
    # the same ids in both stores: only the marked texts tell them apart
    def marked(store: dict[str, Any], mark: str) -> dict[str, Any]:
        return {
            "memories": [Memory.from_dict({**entry.to_dict(), "text": mark + entry.text}) for entry in store["memories"]],
            "episodes": [Episode.from_dict({**entry.to_dict(), "summary": mark + entry.summary}) for entry in store["episodes"]],
            "procedures": [Procedure.from_dict({**entry.to_dict(), "name": mark + entry.name}) for entry in store["procedures"]],
            "soul": [SoulBlock.from_dict({**entry.to_dict(), "text": mark + entry.text}) for entry in store["soul"]],
        }

    ana = kit.assembler(config=config, user_id="ana", **marked(first, "qqana "))
    ben = kit.assembler(config=config, user_id="ben", **marked(second, "qqben "))
    alone = kit.assembler(config=config, user_id="ana", **marked(first, "qqana ")).assemble(query, now=kit.now)
    ben.assemble(query, now=kit.now)
    together = ana.assemble(query, now=kit.now)
    assert "qqben" not in json.dumps(together.to_dict())
    assert "qqana" not in json.dumps(ben.assemble(query, now=kit.now).to_dict())
    assert together.prompt == alone.prompt


@given(store=stores, one=texts, two=texts, config=configs)
def test_the_start_of_the_prompt_does_not_depend_on_the_query(
    kit: Any, store: dict[str, Any], one: str, two: str, config: AssemblyConfig
) -> None:
    assembler = kit.assembler(config=config, **store)
    contexts = [assembler.assemble(query, now=kit.now) for query in (one, two)]
    assert contexts[0].selection.soul == contexts[1].selection.soul
    assert contexts[0].selection.rows["preferences"].tolist() == contexts[1].selection.rows["preferences"].tolist()


@given(store=stores, query=texts, config=configs, data=st.data())
def test_raising_a_signal_of_an_entry_never_lowers_its_score(
    kit: Any, store: dict[str, Any], query: str, config: AssemblyConfig, data: st.DataObject
) -> None:
    before = kit.assembler(config=config, **store).assemble(query, now=kit.now)
    if not before.ranking:
        return
    key = data.draw(st.sampled_from(before.ranking))
    name, value = data.draw(st.sampled_from([("importance", 1.0), ("confidence", 1.0), ("access_count", 2**63 - 1)]))
    raised = {
        rows: [type(entry).from_dict({**entry.to_dict(), name: value}) if entry.id == key else entry for entry in entries]
        for rows, entries in store.items()
    }
    after = kit.assembler(config=config, **raised).assemble(query, now=kit.now)
    if after.explain(key).score is not None:  # as a preference it may now be repeated by another one
        assert after.explain(key).score >= before.explain(key).score


@given(store=stores, query=texts, config=configs)
def test_a_text_is_shown_once(kit: Any, store: dict[str, Any], query: str, config: AssemblyConfig) -> None:
    # with every entry retrieved; episodes of different days may say the same
    context = kit.assembler(config=config.override(top_k=100), **store).assemble(query, now=kit.now)
    shown = [canonical(entry.text) for entry in store["memories"] if entry.id in context.selected_ids]
    assert len(shown) == len(set(shown))


@given(store=stores, query=texts, config=configs)
def test_assembling_again_gives_the_same_bytes(kit: Any, store: dict[str, Any], query: str, config: AssemblyConfig) -> None:
    assembler = kit.assembler(**store)
    first = assembler.assemble(query, now=kit.now, config=config)
    assembler.assemble("something else", now="2026-03-05", top_k=1)
    vector = kit.encoder.encode([query])[0] if query.strip() else [0.0] * kit.encoder.dim
    again = [
        assembler.assemble(query, now=kit.now, config=config),
        assembler.assemble_embedded(query, vector, now=kit.now, config=config),
    ]
    for context in again:
        assert context.prompt == first.prompt
        assert context.ranking == first.ranking
        assert context.fates.equals(first.fates)
        assert context.config_hash == first.config_hash
    assert all(entry.access_count == assembler.store[entry.id].access_count for entry in store["memories"])
