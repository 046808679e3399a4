"""Re-ranking must be what assembling anew gives, and the inspector must show exactly that."""

from __future__ import annotations

import json
from datetime import datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.assembly.assembler import Assembler
from workbench.assembly.context import AssembledContext
from workbench.config import PRODUCTION_WEIGHTS, SIGNALS, TIERS, AssemblyConfig, Budgets, Weights
from workbench.entries import Episode, Memory, Procedure, SoulBlock
from workbench.errors import ConfigError
from workbench.reports.inspector import Inspector, rerank
from workbench.reports.inspector.controls import NAMES, configured, positions
from workbench.store.user import UserStore

NOW = "2026-03-02T09:00:00Z"
WORDS = ("kettle", "ferry", "rhubarb", "attic", "lamp", "barn", "goose", "pier", "quilt", "ladle", "moss", "fern")


def _text(number: int) -> str:
    return " ".join(WORDS[(number * step + number // 3) % len(WORDS)] for step in (1, 5, 7)) + f" {number % 17}"


def _store() -> UserStore:
    memories = [
        Memory(
            id=f"m{number:02}",
            text=f"topic{number % 40} = {_text(number)}" if number % 3 else _text(number),
            created_at=datetime(2026, 1 + number % 2, 1 + number % 27).isoformat(),
            importance=(0.2, 0.5, 0.8, 0.95)[number % 4],
            confidence=(0.4, 1.0)[number % 2],
            access_count=(0, 3, 50, 400)[number * 7 % 4],
            category=("fact", "preference", "work")[number % 3],
            status=("active", "active", "active", "active", "superseded", "archived")[number % 6],
        )
        for number in range(70)
    ]
    memories.append(Memory(id="m<&>", text="ferry <b>pier</b> & quilt\nlamp", created_at="2026-02-28", importance=1.0))
    episodes = [
        Episode(id=f"e{number}", summary=_text(number + 100), occurred_at=f"2026-02-{1 + number:02}") for number in range(14)
    ]
    procedures = [
        Procedure(id=f"p{number}", name=_text(number), steps=(_text(number + 3), _text(number + 9)), created_at="2026-01-05")
        for number in range(6)
    ]
    soul = [SoulBlock(id="s1", text="Speaks <plainly> & briefly"), SoulBlock(id="s2", text="Likes " + "long " * 20 + "words")]
    return UserStore("ana", memories=memories, episodes=episodes, procedures=procedures, soul=soul)


@pytest.fixture(scope="module")
def assembler(kit: Any) -> Assembler:
    config = AssemblyConfig(budgets=Budgets(soul=60, memories=160, episodes=70, procedures=50), top_k=40)
    return Assembler(_store(), config, kit.encoder, conflict_test=kit.Topic(), cache=False)


def _same(one: AssembledContext, other: AssembledContext) -> None:
    assert one.prompt == other.prompt
    assert one.config == other.config
    assert dict(one.tokens) == dict(other.tokens)
    assert one.selected_ids == other.selected_ids
    assert one.ranking == other.ranking
    assert one.warnings == other.warnings
    left, right = one.to_dict(), other.to_dict()
    left.pop("timings_ms"), right.pop("timings_ms")
    assert left == right


weights = st.builds(Weights, **{name: st.integers(0, 40).map(lambda n: n / 20) for name in SIGNALS})
budgets = st.builds(Budgets, **{name: st.integers(0, 260) for name in TIERS}, total=st.none() | st.integers(0, 500))
changes = st.fixed_dictionaries(
    {},
    optional={
        "weights": weights,
        "budgets": budgets,
        "min_score": st.integers(0, 30).map(lambda n: n / 20),
        "boosts": st.dictionaries(st.sampled_from(["fact", "work", "preference"]), st.integers(0, 3).map(float)),
        "half_life_days": st.sampled_from([1.0, 30.0, 400.0]),
        "frequency_saturation": st.sampled_from([1, 100, 1000]),
        "preference_share": st.sampled_from([0.0, 0.25, 0.9, 1.0]),
        "fill": st.sampled_from(["stop", "skip"]),
    },
)
moves = st.dictionaries(st.sampled_from(NAMES), st.integers(0, 200), max_size=6).map(
    lambda given: {name: value / 200 if name not in TIERS else value for name, value in given.items()}
)
queries = st.sampled_from(["ferry pier quilt", "kettle lamp", "topic5", ""])


@given(query=queries, change=changes)
def test_reranking_equals_assembling_anew(assembler: Assembler, query: str, change: dict[str, Any]) -> None:
    context = assembler.assemble(query, now=NOW)
    _same(rerank(context, context.config.override(**change)), assembler.assemble(query, now=NOW, **change))


@given(query=queries, change=changes)
def test_reranking_from_any_context_gives_the_same(assembler: Assembler, query: str, change: dict[str, Any]) -> None:
    reference = assembler.assemble(query, now=NOW)
    _same(rerank(rerank(reference, reference.config.override(**change)), reference.config), reference)


@given(query=queries, move=moves)
def test_what_is_shown_equals_assembling_anew_with_that_configuration(
    assembler: Assembler, query: str, move: dict[str, Any]
) -> None:
    inspector = Inspector(assembler.assemble(query, now=NOW)).set(move)
    anew = assembler.assemble(query, now=NOW, config=inspector.config)
    production = assembler.assemble(query, now=NOW, weights=PRODUCTION_WEIGHTS)
    view = json.loads(json.dumps(inspector.view(), allow_nan=False))
    assert view["prompt"] == anew.prompt
    assert view["hash"] == anew.config_hash
    assert view["total"]["used"] == anew.tokens["total"]
    assert {part["section"]: part["tokens"] for tier in view["tiers"] for part in tier["parts"]} == {
        name: count for name, count in anew.tokens.items() if name != "total"
    }
    assert [line["id"] for section in view["sections"] for line in section["lines"] if line["id"]] == list(anew.selected_ids)
    for row in view["rows"]:
        told = anew.explain(row["id"])
        assert (row["fate"], row["reason"], row["tokens"], row["rank"], row["section"]) == (
            told.fate, told.reason, told.tokens, told.rank, told.section,
        )  # fmt: skip
        if told.score is not None:
            assert row["score"] == pytest.approx(told.score, abs=1e-6)
            assert sum(row["parts"]) == pytest.approx(told.score, abs=5e-6)
    assert view["entering"] == [key for key in anew.selected_ids if key not in production.selected_ids]
    assert view["leaving"] == [key for key in production.selected_ids if key not in anew.selected_ids]
    assert tuple(view["entering"]) == inspector.entering
    assert tuple(view["leaving"]) == inspector.leaving
    # whatever is not among the rows has the fate that the facts state, whichever way the sliders stand
    shown = {row["id"] for row in view["rows"]}
    for item in inspector.facts()["entries"]:
        if item["id"] not in shown:
            assert (item["fate"], item["reason"]) == (anew.explain(item["id"]).fate, anew.explain(item["id"]).reason)


@given(move=moves)
def test_the_prompt_panel_shows_every_line_of_the_prompt(assembler: Assembler, move: dict[str, Any]) -> None:
    inspector = Inspector(assembler.assemble("ferry pier", now=NOW)).set(move)
    view, entries = inspector.view(), {item["id"]: item for item in inspector.facts()["entries"]}
    lines = []
    for section in view["sections"]:
        for line in section["lines"]:
            stored = entries.get(line["id"], {})
            lines.append(line.get("line") or stored.get("line") or f"- {stored['text']}")
    assert lines == [line for line in view["prompt"].splitlines() if not line.startswith("## ")]


@given(values=st.fixed_dictionaries({name: st.integers(0, 1000).map(lambda n: n / 1000) for name in SIGNALS}))
def test_weights_keep_their_sum_and_their_proportions(values: dict[str, float]) -> None:
    base = AssemblyConfig()
    made = configured(base, values).weights.as_tuple()
    total = sum(values.values())
    if total == 0:
        assert made == (0.0,) * 5
        return
    assert sum(made) == pytest.approx(1.0, abs=1e-9)
    for name, weight in zip(SIGNALS, made, strict=True):
        assert weight == pytest.approx(values[name] / total, abs=4e-4)


@given(config=st.builds(AssemblyConfig, weights=weights, budgets=budgets))
def test_sliders_that_nobody_moved_are_the_configuration(config: AssemblyConfig) -> None:
    assert configured(config, {}) == config
    assert configured(config, positions(config)) == config


@given(move=moves)
def test_the_configuration_copied_reads_back_as_the_one_shown(
    assembler: Assembler, move: dict[str, Any], tmp_path_factory: Any
) -> None:
    inspector = Inspector(assembler.assemble("ferry", now=NOW)).set(move)
    path = tmp_path_factory.getbasetemp() / "copied.toml"
    path.write_text(inspector.view()["toml"], encoding="utf-8")
    assert AssemblyConfig.load(path) == inspector.config


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"speed": 1}, "no slider speed"),
        ({"recency": float("nan")}, "recency is nan: must be a finite number"),
        ({"recency": None}, "recency is None"),
        ({"recency": True}, "recency is True"),
        ({"recency": -0.1}, "must lie from 0 to 10"),
        ({"memories": -5}, "budgets.memories is -5"),
        ({"memories": 1e12}, "budgets.memories"),
        ({"min_score": 1e9}, "min_score"),
    ],
)
def test_positions_that_cannot_be_are_refused_and_change_nothing(assembler: Assembler, values: Any, message: str) -> None:
    inspector = Inspector(assembler.assemble("ferry", now=NOW)).set(recency=0.9)
    before = inspector.config
    with pytest.raises(ConfigError, match=message):
        inspector.set(values)
    assert inspector.config == before


def test_settings_of_the_search_cannot_be_replayed(assembler: Assembler) -> None:
    context = assembler.assemble("ferry", now=NOW)
    with pytest.raises(ConfigError, match="searched with alpha = 0\\.6"):
        rerank(context, context.config.override(alpha=0.1))
    with pytest.raises(ConfigError, match="must be an AssemblyConfig"):
        context.inspect(against="production")  # type: ignore[arg-type]


def test_the_comparison_is_with_production_weights_unless_told_otherwise(assembler: Assembler) -> None:
    context = assembler.assemble("ferry pier", now=NOW, weights={"relevance": 0.0, "recency": 1.0}, min_score=0.2)
    inspector = context.inspect()
    assert inspector.against.config.weights == PRODUCTION_WEIGHTS
    assert inspector.against.config.min_score == 0.0
    assert inspector.against.config.budgets == context.config.budgets
    assert [start["label"] for start in inspector.facts()["starts"]] == ["Reset", "Set to production"]
    own = context.inspect(against=context.config)
    assert (own.entering, own.leaving) == ((), ())
    assert own.facts()["against"]["name"] == f"configuration {context.config_hash}"
