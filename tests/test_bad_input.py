"""Input that a pipeline meets sooner or later: each has a defined result or a clear error."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from workbench import Assembler, AssemblyConfig, Memory, UserStore, WorkbenchError
from workbench.errors import ConfigError, DataError, StoreError

BLANK = ["", " ", "\n\t", "\u3000\u00a0", "…", "?!", "\u200b", "\x00"]


def test_an_empty_store(kit: Any) -> None:
    context = kit.assembler().assemble("ferry", now=kit.now)
    assert (context.prompt, context.selected_ids, context.tokens["total"]) == ("", (), 0)
    with_soul = kit.assembler(soul=[kit.soul("s", "calm")]).assemble("ferry", now=kit.now)
    assert with_soul.prompt == "<identity>\n<soul>\n<identity>calm</identity>\n</soul>\n</identity>\n"


@pytest.mark.parametrize("layer", ["memories", "episodes", "procedures"])
def test_a_store_with_one_layer(kit: Any, layer: str) -> None:
    make = {"memories": kit.memory, "episodes": kit.episode, "procedures": kit.procedure}[layer]
    assert kit.assembler(**{layer: [make("x", "the ferry")]}).assemble("ferry", now=kit.now).selected_ids == ("x",)


def test_blank_texts_are_never_shown_and_never_in_the_way(kit: Any) -> None:
    entries = [kit.memory(f"b{number}", text) for number, text in enumerate(BLANK)]
    for query in ("ferry", *BLANK):
        context = kit.assembler(entries).assemble(query, now=kit.now)
        assert context.prompt == ""
        assert set(context.fates["fate"]) == {"not retrieved"}
    context = kit.assembler([*entries, kit.memory("m", "the ferry")]).assemble("ferry", now=kit.now)
    assert context.selected_ids == ("m",)


@pytest.mark.parametrize("query", BLANK)
def test_a_blank_query_gets_what_needs_no_query(kit: Any, query: str) -> None:
    entries = [kit.memory("m", "the ferry"), kit.memory("p", "prefers tea", category="preference", importance=0.9)]
    encoder = kit.Encoder(name="blank")
    context = kit.assembler(entries, encoder=encoder, soul=[kit.soul("s", "calm")]).assemble(query, now=kit.now)
    assert context.tokens["identity"] > 0
    assert context.tokens["preferences"] > 0
    if not query.strip():
        assert context.selected_ids == ("s", "p")
        assert [query] not in encoder.calls


@pytest.mark.parametrize("query", [None, 5, b"ferry", ["ferry"], float("nan"), "half \ud83d pair"], ids=repr)
def test_a_query_that_is_no_text(kit: Any, query: Any) -> None:
    assembler = kit.assembler([kit.memory("m", "the ferry")])
    with pytest.raises(DataError, match="query"):
        assembler.assemble(query, now=kit.now)
    with pytest.raises(DataError, match="query"):
        assembler.assemble_embedded(query, np.ones(64), now=kit.now)


@pytest.mark.parametrize("query", ["ferry", "lamp", "zzqx", "ferry " * 20_000, "<|endoftext|>", "\x00", "🦩" * 50, "a" * 100_000])
def test_a_store_of_one_entry(kit: Any, query: str) -> None:
    context = kit.assembler([kit.memory("m", "the ferry leaves at noon")]).assemble(query, now=kit.now)
    assert context.selected_ids == ("m",)
    assert 0 <= context.explain("m").signals["relevance"] <= 1


@pytest.mark.parametrize("top_k", [1, 2, 3, 10_000])
@pytest.mark.parametrize("cap", [0, 1, 10_000])
def test_k_and_cap_beyond_the_store(kit: Any, top_k: int, cap: int) -> None:
    entries = [kit.memory("m1", "ferry at noon"), kit.memory("m2", "lamp is broken")]
    context = kit.assembler(entries).assemble("ferry", now=kit.now, top_k=top_k, cap=cap)
    assert len(context.selected_ids) == min(cap, top_k, 2)
    assert len(set(context.ranking)) == len(context.ranking)


def test_duplicate_ids(kit: Any) -> None:
    with pytest.raises(DataError, match="user 'ana' has two entries with the id 'm'"):
        kit.assembler([kit.memory("m", "a"), kit.memory("m", "b")])


@pytest.mark.parametrize("value", [float("nan"), 1.01, -0.01, "high"])
def test_importance_out_of_range(kit: Any, value: Any) -> None:
    with pytest.raises(DataError, match="memory 'm': importance is"):
        kit.memory("m", "a", importance=value)


def test_a_naive_time_is_utc(kit: Any) -> None:
    scores = [
        kit.assembler([kit.memory("m", "ferry", created_at=created)]).assemble("ferry", now=now).explain("m").score
        for created in ("2026-02-01T09:00:00", "2026-02-01T09:00:00Z", "2026-02-01T10:00:00+01:00")
        for now in ("2026-03-02T09:00:00", "2026-03-02T09:00:00Z", "2026-03-02T01:00:00-08:00")
    ]
    assert len(set(scores)) == 1


@pytest.mark.parametrize("now", [None, "", "today", 1772442000, float("nan")], ids=repr)
def test_now_is_a_time(kit: Any, now: Any) -> None:
    with pytest.raises(DataError, match=r"^now is "):
        kit.assembler().assemble("ferry", now=now)


def test_now_must_be_given(kit: Any) -> None:
    with pytest.raises(TypeError, match="now"):
        kit.assembler().assemble("ferry")


@pytest.mark.parametrize("now", ["0001-01-01T00:00:00Z", "1969-12-31", "9999-12-31T23:59:59Z"])
def test_any_time_can_be_now(kit: Any, now: str) -> None:
    entries = [
        kit.memory("m", "ferry"),
        kit.memory("old", "ferry", created_at="0001-01-01"),
        kit.memory("new", "boat", created_at="9999-12-31"),
    ]
    context = kit.assembler(entries).assemble("ferry", now=now)
    frame = context.fates
    assert frame["recency"].dropna().between(0, 1).all()


def test_a_future_date_is_flagged_and_not_recent(kit: Any) -> None:
    context = kit.assembler([kit.memory("m", "ferry", created_at="2036-01-01")]).assemble("ferry", now=kit.now)
    assert context.explain("m").signals["recency"] == 0
    assert context.warnings == ("1 candidate is dated more than a day after now; it counts as not recent",)


@pytest.mark.parametrize(
    "vector",
    [np.ones(3), np.ones((1, 64)), np.ones((64, 1)), [], 5, None, "x", np.full(64, np.nan), [[1.0] * 64] * 2],
    ids=lambda v: str(np.shape(v)),
)
def test_a_query_vector_of_the_wrong_size(kit: Any, vector: Any) -> None:
    for assembler in (kit.assembler(), kit.assembler([kit.memory("m", "ferry")])):
        with pytest.raises(StoreError, match=r"hashed-trigrams-64"):
            assembler.assemble_embedded("ferry", vector, now=kit.now)


def test_a_query_vector_of_any_length_and_type_counts_as_its_direction(kit: Any) -> None:
    assembler = kit.assembler([kit.memory("m1", "ferry at noon"), kit.memory("m2", "lamp is broken")])
    vector = kit.encoder.encode(["ferry"])[0]
    wanted = assembler.assemble("ferry", now=kit.now)
    for form in (vector, vector.astype(np.float64), vector.tolist(), vector * 2):
        context = assembler.assemble_embedded("ferry", form, now=kit.now)
        assert context.ranking == wanted.ranking
        assert context.explain("m1").score == pytest.approx(wanted.explain("m1").score, abs=1e-6)


@pytest.mark.parametrize("name", ["gpt2", "p50k_base", "my-local-llm", "", None])
def test_an_unknown_encoding(kit: Any, name: Any) -> None:
    with pytest.raises(ConfigError, match=r"encoding is .*: must be one of o200k_base, cl100k_base"):
        kit.assembler().assemble("ferry", now=kit.now, encoding=name)


@pytest.mark.parametrize(
    ("override", "message"),
    [
        ({"topk": 5}, "config has no setting topk"),
        ({"weights": {"relevanz": 1}}, "weights has no setting relevanz"),
        ({"weights": {"relevance": float("nan")}}, "weights.relevance is nan"),
        ({"budgets": {"facts": 1}}, "budgets has no setting facts"),
        ({"budgets": {"memories": -1}}, "budgets.memories is -1"),
        ({"min_score": "high"}, "min_score is 'high'"),
        ({"config": "production"}, "config is a str: must be an AssemblyConfig"),
        ({"config": {"top_k": 3}}, "config is a dict"),
    ],
)
def test_bad_overrides_are_named(kit: Any, override: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        kit.assembler().assemble("ferry", now=kit.now, **override)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("ana",), "store is a str: must be a UserStore"),
        ((None,), "store is a NoneType"),
        ((UserStore("ana"), {"top_k": 3}), "config is a dict: must be an AssemblyConfig"),
        ((UserStore("ana"), None, "bundled"), "encoder"),
    ],
)
def test_an_assembler_of_wrong_parts(arguments: tuple[Any, ...], message: str) -> None:
    with pytest.raises(WorkbenchError, match=message):
        Assembler(*arguments)


def test_a_cache_that_is_none(kit: Any) -> None:
    with pytest.raises(ConfigError, match="cache is a str: must be an EmbeddingCache, None or False"):
        kit.assembler(cache="cache")


def test_an_encoder_that_fails_says_so_itself(kit: Any) -> None:
    class Failing(kit.Encoder):  # type: ignore[name-defined, misc]
        def encode(self, texts: list[str], /) -> Any:
            raise ConnectionError("the embedding service is down")

    with pytest.raises(ConnectionError, match="the embedding service is down"):
        kit.assembler([kit.memory("m", "ferry")], encoder=Failing(name="failing")).assemble("ferry", now=kit.now)


def test_an_encoder_that_returns_zeros_finds_by_words(kit: Any) -> None:
    class Zeros(kit.Encoder):  # type: ignore[name-defined, misc]
        def encode(self, texts: list[str], /) -> Any:
            return np.zeros((len(texts), self.dim))

    entries = [kit.memory("m1", "ferry at noon"), kit.memory("m2", "lamp is broken")]
    context = kit.assembler(entries, encoder=Zeros(name="zeros")).assemble("lamp", now=kit.now)
    assert context.selected_ids == ("m2",)


def test_huge_entries_pass_through(kit: Any) -> None:
    entries = [
        kit.memory("big", "ferry " * 50_000),
        kit.memory("blanks", "ferry" + " " * 300_000 + "x"),
        kit.memory("breaks", "ferry\n" * 20_000),
        kit.memory("small", "the ferry leaves at noon"),
    ]
    context = kit.assembler(entries).assemble("ferry", now=kit.now)
    assert "small" in context.selected_ids
    assert "- ferry x\n" in context.prompt
    assert context.explain("big").fate == "over budget"


def test_ids_and_categories_of_any_text(kit: Any) -> None:
    odd = ["1", " a ", "a\nb", "'; DROP TABLE", "🦩", "<b>", "m" * 5000]
    entries = [Memory(id=key, text=f"ferry {number}", category=key, created_at="2026-01-01") for number, key in enumerate(odd)]
    context = kit.assembler(entries, config=AssemblyConfig(boosts=dict.fromkeys(odd, 1.5))).assemble("ferry", now=kit.now)
    assert set(context.selected_ids) == set(odd)
    assert all(context.explain(key).fate == "selected" for key in odd)
    assert context._repr_html_()
