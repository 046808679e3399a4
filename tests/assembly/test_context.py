"""The result object: tables, explanations, JSON, chat messages."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest

import workbench
from workbench.assembly.assembler import STAGES
from workbench.assembly.fates import Fate
from workbench.config import SIGNALS, AssemblyConfig
from workbench.errors import DataError, StoreError


@pytest.fixture
def context(kit: Any) -> Any:
    assembler = kit.assembler(
        [
            kit.memory("m1", "seat = aisle <b>", created_at="2026-02-01", importance=0.8),
            kit.memory("m2", "seat = window", created_at="2026-01-01"),
            kit.memory("m3", "SEAT = aisle <b>", created_at="2026-01-15"),
            kit.memory("m4", "the seat is near the lamp", status="archived"),
            kit.memory("m5", "the seat was red", status="superseded"),
            kit.memory("m6", "…"),
            kit.memory("p1", "seat belts on, please", category="preference", importance=0.9),
        ],
        episodes=[kit.episode("e1", "bought a seat cushion")],
        procedures=[kit.procedure("w1", "clean the seat", steps=("brush",))],
        soul=[kit.soul("s1", "calm"), kit.soul("s2", "gone", active=False), kit.soul("s3", " ")],
        user_id="<ana>",
    )
    return assembler.assemble("seat", now=kit.now)


def test_every_entry_has_one_fate(context: Any) -> None:
    fates = context.fates
    assert sorted(fates["id"]) == ["e1", "m1", "m2", "m3", "m4", "m5", "m6", "p1", "s1", "s2", "s3", "w1"]
    assert dict(zip(fates["id"], fates["fate"], strict=True)) == {
        "s1": "selected", "s2": "not retrieved", "s3": "not retrieved", "m1": "selected", "m2": "superseded", "m3": "duplicate",
        "m4": "not retrieved", "m5": "superseded", "m6": "not retrieved", "p1": "selected", "e1": "selected", "w1": "selected",
    }  # fmt: skip
    for row in fates.itertuples():
        assert context.explain(row.id).fate == row.fate == context.fate_of(row.id).label
        assert context.explain(row.id).reason == row.reason
    assert list(fates.columns) == ["id", "layer", "section", *SIGNALS, "score", "fate", "reason", "tokens"]


def test_reasons_are_words(context: Any) -> None:
    reasons = {key: context.explain(key).reason for key in context.fates["id"]}
    assert reasons["m2"] == "contradicted by m1, which is newer"
    assert reasons["m3"] == "says the same as m1, which is newer"
    assert reasons["m4"] == "archived in the store"
    assert reasons["m5"] == "its status in the store is superseded"
    assert reasons["m6"] == "it has no words to search for or to show"
    assert reasons["s2"] == "not active in the store"
    assert reasons["s3"] == "it says nothing"
    assert reasons["p1"] == "in section preferences: a standing preference, shown for every query"
    assert all(reasons.values())


def test_the_table_is_by_layer_then_fate_then_score(context: Any) -> None:
    layers = ["soul", "memory", "episode", "procedure"]
    numbers = {fate.label: int(fate) for fate in Fate}
    keys = [
        (layers.index(row.layer), -numbers[row.fate], math.inf if math.isnan(row.score) else -row.score)
        for row in context.fates.itertuples()
    ]
    assert keys == sorted(keys)
    assert set(context.fates.dtypes[[*SIGNALS, "score"]].astype(str)) == {"float64"}


def test_the_table_of_the_selected_is_in_prompt_order(context: Any) -> None:
    assert context.selected["id"].tolist() == list(context.selected_ids) == ["s1", "p1", "m1", "e1", "w1"]
    assert context.selected["section"].tolist() == ["identity", "preferences", "relevant_facts", "recent_context", "workflows"]
    assert set(context.selected["fate"]) == {"selected"}
    # what the lines cost, headings and tags apart
    assert context.selected["tokens"].sum() < context.tokens["total"]


def test_numbers_of_an_explanation_add_up(context: Any) -> None:
    for key in context.ranking:
        found = context.explain(key)
        assert found.score == pytest.approx(sum(found.contributions.values()))
        assert all(0 <= found.signals[name] <= 1 for name in SIGNALS)
        assert f"{found.score:.4f}" in str(found)
    lost = context.explain("m2")
    assert (lost.score, lost.rank, lost.section) == (None, None, None)
    assert str(lost) == "m2 (memory): superseded. contradicted by m1, which is newer"
    frame = context.fates.set_index("id")
    assert math.isnan(frame.loc["m2", "score"])
    assert frame.loc["m1", "score"] == context.explain("m1").score


@pytest.mark.parametrize("key", ["", "nobody", "M1", "m1 "])
def test_unknown_ids_are_named(context: Any, key: str) -> None:
    for call in (context.explain, context.fate_of):
        with pytest.raises(StoreError, match=f"user '<ana>' has no entry {key!r}; look ids up in the column id of .fates"):
            call(key)


def test_json_is_strict(context: Any) -> None:
    row = json.loads(json.dumps(context.to_dict(), allow_nan=False))
    assert row["prompt"] == context.prompt
    assert row["selected"] == list(context.selected_ids)
    assert row["config"] == context.config.to_dict()
    assert AssemblyConfig.from_dict(row["config"]).hash == row["config_hash"] == context.config_hash
    assert row["tokens"] == dict(context.tokens)
    assert row["now"] == "2026-03-02T09:00:00Z"
    assert len(row["candidates"]) + row["not_retrieved"] == 9
    assert {found["id"]: found["score"] for found in row["candidates"]}["m2"] is None


def test_timings_add_up(context: Any) -> None:
    assert list(context.timings) == [*STAGES, "total", "residual"]
    assert all(math.isfinite(value) for value in context.timings.values())
    assert all(context.timings[stage] >= 0 for stage in STAGES)
    assert sum(context.timings[stage] for stage in STAGES) + context.timings["residual"] == pytest.approx(
        context.timings["total"]
    )


def test_messages(context: Any) -> None:
    assert context.messages("Where do I sit?\n<b>") == [
        {"role": "system", "content": context.prompt},
        {"role": "user", "content": "Where do I sit?\n<b>"},
    ]
    for bad in (None, 5, b"x", "\ud800"):
        with pytest.raises(DataError, match="user_message"):
            context.messages(bad)


def test_display_is_escaped(context: Any) -> None:
    assert str(context).startswith("context for '<ana>': 5 entries, ")
    shown = context._repr_html_()
    assert "<ana>" not in shown
    assert "&amp;lt;b&amp;gt;" in shown
    assert shown.count("<tr>") == 6


def test_the_context_is_what_the_package_calls_it(context: Any) -> None:
    assert isinstance(context, workbench.AssembledContext)
    assert context.config_hash == context.config.hash
    with pytest.raises(AttributeError):
        context.prompt = ""


def test_fates_have_words_in_the_order_of_the_stages() -> None:
    assert [fate.label for fate in Fate] == [
        "not retrieved", "over the cap", "duplicate", "superseded", "below minimum score", "over budget", "selected",
    ]  # fmt: skip


def test_reasons_beyond_the_pool(kit: Any) -> None:
    entries = [kit.memory(f"m{n}", f"boat number {n}", importance=n / 10) for n in range(10)]
    context = kit.assembler(entries).assemble("boat number 9", now=kit.now, top_k=5, cap=2)
    labels = context.fates["fate"].value_counts().to_dict()
    assert labels["selected"] == 2
    assert labels["not retrieved"] + labels["over the cap"] == 8
    over = context.fates.set_index("fate").loc["over the cap", "reason"]
    assert "is beyond the cap of 2" in (over if isinstance(over, str) else over.iloc[0])
    lost = context.fates.set_index("fate").loc["not retrieved", "reason"]
    assert "not among the top 5 of its layer" in (lost if isinstance(lost, str) else lost.iloc[0])


def test_full_tiers_say_so(kit: Any) -> None:
    entries = [kit.memory(f"m{n}", f"boat number {n}") for n in range(10)]
    context = kit.assembler(entries).assemble("boat", now=kit.now, budgets={"memories": 20})
    assert "the tier was full before it" in set(context.fates["reason"])


def test_an_empty_store_has_empty_tables(kit: Any) -> None:
    context = kit.assembler().assemble("boat", now=kit.now)
    assert len(context.fates) == len(context.selected) == 0
    assert context.selected_ids == context.ranking == ()
    assert json.dumps(context.to_dict(), allow_nan=False)
    assert context._repr_html_()
    assert "empty" in str(context)
