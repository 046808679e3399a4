"""Metrics: canonical names, definitions with their denominators, agreement with ir-measures, what counts and what is left out."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import ir_measures
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workbench.data.judged import JudgedQuery
from workbench.errors import ConfigError, DataError
from workbench.experiments.metrics import DEFAULT, REGISTRY, SCOPES, Metric, evaluate, parse_metric
from workbench.experiments.outcome import Outcome, tally
from workbench.experiments.summary import summarise, summarise_groups

NOW = datetime(2026, 3, 2, tzinfo=UTC)
RANKED = ("Recall@1", "Recall@3", "Recall@10", "nDCG@3", "nDCG@10", "Precision@1", "Precision@5", "RR")


def outcome(
    relevant: dict[str, int] | list[str] = (),
    ranking: Any = (),
    selected: Any = None,
    *,
    id: str = "q",
    user: str = "ana",
    tokens: int = 100,
    **more: Any,
) -> Outcome:
    """An outcome whose prompt shows the ranking unless said otherwise; keywords of JudgedQuery and Outcome mix freely."""
    grades = relevant if isinstance(relevant, dict) else dict.fromkeys(relevant, 1)
    own = {name: more.pop(name) for name in ("prefix", "foreign", "failed") if name in more}
    more.setdefault("answerable", bool(grades))
    query = JudgedQuery(id=id, user_id=user, query="?", now=NOW, relevant=grades, **more)
    shown = ranking if selected is None else selected
    return Outcome(query=query, ranking=tuple(ranking), selected=tuple(shown), tokens=tokens, **own)


def value(metric: str, *outcomes: Outcome) -> float:
    return float(evaluate(outcomes, [metric])[metric][-1])


# names


@pytest.mark.parametrize("name", DEFAULT)
def test_a_name_is_canonical_and_says_what_it_is_a_share_of(name: str) -> None:
    metric = parse_metric(name)
    assert str(metric) == metric.name == name
    assert parse_metric(metric) is metric
    assert "\n" not in metric.definition
    assert metric.unit != "share" or " / " in metric.definition
    assert metric.scope in SCOPES
    assert metric.direction in ("higher is better", "lower is better")


def test_a_cut_off_is_part_of_the_name() -> None:
    metric = parse_metric("Recall@10")
    assert (metric.name, metric.cutoff, metric.higher_is_better) == ("Recall@10", 10, True)
    assert metric.definition == "relevant statements in the first 10 of the ranking / relevant statements"
    assert parse_metric("ContextRecall").cutoff is None
    assert not parse_metric("StaleExposure").higher_is_better


@pytest.mark.parametrize(
    "name",
    ["Recall", "Recall@", "Recall@0", "Recall@-1", "Recall@010", "Recall@1.5", "Recall@k", "recall@10", " Recall@10", "RR@10",
     "Recall@10\n", "Recall@١", "ContextRecall@5", "", "nDCG", "MAP", "Recall@9999999999"],
)  # fmt: skip
def test_anything_but_a_canonical_name_is_refused(name: str) -> None:
    with pytest.raises(ConfigError, match="unknown metric"):
        parse_metric(name)


def test_a_refused_name_is_answered_with_the_nearest_one() -> None:
    with pytest.raises(ConfigError, match="did you mean 'ContextRecall'"):
        parse_metric("context_recall")
    with pytest.raises(ConfigError, match="must be a name"):
        parse_metric(10)  # type: ignore[arg-type]


# the library as oracle


def sample(seed: int, n: int = 300) -> list[Outcome]:
    """Random graded judgements and rankings, short, empty, and without any hit among them."""
    rng = np.random.default_rng(seed)
    pool = [f"d{number}" for number in range(25)]
    result = []
    for number in range(n):
        relevant = {str(key): int(rng.integers(1, 4)) for key in rng.choice(pool, rng.integers(1, 8), replace=False)}
        ranking = [str(key) for key in rng.permutation(pool)[: rng.integers(0, 20)]]
        result.append(outcome(relevant, ranking, id=f"q{number}", user=f"u{number % 7}"))
    return result


@pytest.mark.parametrize("name", RANKED)
def test_agrees_with_ir_measures(name: str) -> None:
    outcomes = sample(7)
    oracle = ir_measures.parse_measure(name.replace("Recall", "R").replace("Precision", "P"))
    qrels = [ir_measures.Qrel(row.query.id, key, grade) for row in outcomes for key, grade in row.query.relevant.items()]
    run = [ir_measures.ScoredDoc(row.query.id, key, float(-rank)) for row in outcomes for rank, key in enumerate(row.ranking)]
    expected = {row.query_id: row.value for row in ir_measures.iter_calc([oracle], qrels, run)}
    got = evaluate(outcomes, [name])[name]
    # the library has no row for an empty ranking; such a query is a miss and stays in the mean
    np.testing.assert_allclose(got, [expected.get(row.query.id, 0.0) for row in outcomes], rtol=0, atol=1e-12)
    assert (got > 0).any()
    assert (got < 1).any()


def test_gain_is_linear_in_the_grade() -> None:
    assert value("nDCG@2", outcome({"a": 3, "b": 1}, ["b", "a"])) == pytest.approx((1 + 3 / np.log2(3)) / (3 + 1 / np.log2(3)))


# public cases


def test_undefined_empty_and_partial_queries() -> None:
    """MT-1: no relevant entry is undefined, no result is 0, and the ideal of nDCG takes all judged entries."""
    outcomes = [
        outcome([], ["x"], id="q1"),
        outcome(["a"], [], id="q2"),
        outcome(["a", "b", "c"], ["a"], id="q3"),
    ]
    names = ["Recall@3", "nDCG@3", "Precision@3", "RR", "ContextRecall", "AnyRecall", "AllRecall", "ContextPrecision"]
    values = evaluate(outcomes, names)
    for name in names:
        assert np.isnan(values[name][0]), name
        assert values[name][1] == 0.0, name
    assert values["Recall@3"][2] == pytest.approx(1 / 3)
    assert values["nDCG@3"][2] == pytest.approx(1 / (1 + 1 / np.log2(3) + 1 / 2))
    assert values["AllRecall"][2] == 0.0
    summary = summarise(values, ["ana"] * 3)["Recall@3"]
    assert (summary.n, summary.n_undefined, summary.mean) == (2, 1, pytest.approx(1 / 6))
    assert "n = 2, 1 undefined" in str(summary)
    assert tally(outcomes) == {
        "queries": 3,
        "judged": 2,
        "unjudged": 0,
        "unanswerable": 1,
        "failed": 0,
        "rankings_with_repeats": 0,
        "repeated_ids": 0,
    }


@pytest.mark.parametrize(("relevant", "expected"), [("a", 1.0), ("b", 1 / 2), ("c", 1 / 3)])
def test_displayed_order_decides_ties(relevant: str, expected: float) -> None:
    """MT-4: three entries with the same score are judged in the order shown."""
    shown = outcome([relevant], ["a", "b", "c"])
    assert value("RR", shown) == pytest.approx(expected)
    assert value("Recall@1", shown) == float(relevant == "a")


# repeats and statements


def test_a_repeated_id_counts_once_and_is_reported() -> None:
    repeated = outcome(["a", "b"], ["x", "x", "a", "a", "a"])
    assert value("Recall@5", repeated) == 0.5
    assert value("RR", repeated) == 0.5
    assert value("nDCG@5", repeated) < 1.0
    assert tally([repeated])["repeated_ids"] == 3
    assert tally([repeated])["rankings_with_repeats"] == 1


def test_a_duplicates_group_is_one_statement_found_by_any_member() -> None:
    groups = (("a", "a2", "a3"),)
    both = {"a": 1, "a2": 3, "b": 1}
    assert value("ContextRecall", outcome(both, ["a3"], duplicates=groups)) == 0.5
    assert value("Recall@5", outcome(both, ["a2", "a", "a3"], duplicates=groups)) == 0.5
    assert value("AllRecall", outcome(both, ["a3", "b"], duplicates=groups)) == 1.0
    # the group takes its highest grade, wherever it is found first
    assert value("nDCG@5", outcome(both, ["a3", "b"], duplicates=groups)) == pytest.approx(1.0)
    # a second member takes a place and adds nothing
    assert value("Recall@2", outcome(both, ["a", "a2", "b"], duplicates=groups)) == 0.5
    assert value("Precision@2", outcome(both, ["a", "a2", "b"], duplicates=groups)) == 0.5


def test_groups_that_share_an_id_are_one() -> None:
    chained = (("a", "b"), ("c", "d"), ("b", "c"))
    assert value("ContextRecall", outcome(["a", "d", "z"], ["c"], duplicates=chained)) == 0.5
    assert value("DuplicateRate", outcome(["a"], ["a", "b", "c", "d"], duplicates=chained)) == 0.75


def test_duplicate_rate_counts_repeats_of_ids_and_of_statements() -> None:
    assert value("DuplicateRate", outcome(["a"], ["a", "a2", "x", "x"], duplicates=(("a", "a2"),))) == 0.5
    assert value("DuplicateRate", outcome(["a"], ["a", "x"])) == 0.0
    assert np.isnan(value("DuplicateRate", outcome(["a"], [])))


def test_stale_exposure_is_a_share_of_the_forbidden_statements() -> None:
    assert value("StaleExposure", outcome(["a"], ["a", "s1"], forbidden=("s1", "s2"))) == 0.5
    assert value("StaleExposure", outcome(["a"], ["a"], forbidden=("s1", "s2"))) == 0.0
    assert np.isnan(value("StaleExposure", outcome(["a"], ["a"])))
    # it needs no answer in the store, and a copy of a stale statement is as stale
    assert value("StaleExposure", outcome([], ["s1"], forbidden=("s1",))) == 1.0
    assert value("StaleExposure", outcome(["a"], ["copy"], forbidden=("s1",), duplicates=(("s1", "copy"),))) == 1.0


def test_a_judgement_about_an_id_outranks_its_group() -> None:
    mixed = {"forbidden": ("old",), "duplicates": (("new", "old", "other"),)}
    assert value("ContextRecall", outcome(["new"], ["old"], **mixed)) == 0.0
    assert value("StaleExposure", outcome(["new"], ["old"], **mixed)) == 1.0
    assert value("StaleExposure", outcome(["new"], ["new"], **mixed)) == 0.0
    assert value("ContextRecall", outcome(["new"], ["other"], **mixed)) == 1.0
    assert value("StaleExposure", outcome(["new"], ["other"], **mixed)) == 0.0


# the other metrics


def test_prompt_metrics_judge_the_prompt_and_ranking_metrics_the_ranking() -> None:
    one = outcome(["a", "b"], ["a", "b", "c"], selected=["c", "b", "d", "e"], tokens=90)
    assert value("ContextRecall", one) == 0.5
    assert value("AnyRecall", one) == 1.0
    assert value("ContextPrecision", one) == 0.25
    assert value("Recall@2", one) == 1.0
    assert value("Precision@10", one) == 0.2
    assert value("Tokens", one) == 90.0
    assert value("TokensPerHit", one) == 90.0


def test_tokens_per_hit_is_undefined_without_a_hit() -> None:
    assert value("TokensPerHit", outcome(["a", "b"], ["a", "b"], tokens=90)) == 45.0
    assert np.isnan(value("TokensPerHit", outcome(["a"], ["x"])))
    assert np.isnan(value("TokensPerHit", outcome([], ["x"])))


def test_leaks_are_counted_as_given() -> None:
    assert value("Leaks", outcome(["a"], ["a", "z"], foreign=1)) == 1.0


def test_false_context_counts_what_an_unanswerable_query_shows() -> None:
    assert value("FalseContext", outcome([], ["x", "y"])) == 2.0
    assert value("FalseContext", outcome([], [])) == 0.0
    assert np.isnan(value("FalseContext", outcome(["a"], ["x"])))


def test_an_unjudged_query_has_no_judgement_metric_but_still_costs_tokens() -> None:
    unjudged = outcome([], ["x"], answerable=True, judged=False)
    assert np.isnan(value("ContextRecall", unjudged))
    assert np.isnan(value("FalseContext", unjudged))
    assert value("Tokens", unjudged) == 100.0
    assert tally([unjudged])["unjudged"] == 1


def test_prefix_stability_compares_consecutive_queries_of_one_user() -> None:
    order = [
        outcome(["a"], id="1", user="ana", prefix="P"),
        outcome(["a"], id="2", user="bo", prefix="Q"),
        outcome(["a"], id="3", user="ana", prefix="P"),
        outcome(["a"], id="4", user="ana", prefix="R"),
        outcome(["a"], id="5", user="bo", failed=True),
        outcome(["a"], id="6", user="bo", prefix="Q"),
        outcome(["a"], id="7", user="cy"),
        outcome(["a"], id="8", user="cy"),
    ]
    values = evaluate(order, ["PrefixStability"])["PrefixStability"]
    # first of a user: undefined; failed: 0, and the next compares with the last good one; never any prefix: undefined
    np.testing.assert_array_equal(values, [np.nan, np.nan, 1.0, 0.0, 0.0, 1.0, np.nan, np.nan])


# failures


def test_a_failed_query_takes_the_worst_value_and_never_vanishes() -> None:
    outcomes = [
        outcome(["a"], ["a"], id="1", tokens=700, forbidden=("s",)),
        outcome(["a"], ["a"], id="2", tokens=0, forbidden=("s",), failed=True),
        outcome([], ["x"], id="3", tokens=300),
        outcome([], [], id="4", tokens=0, failed=True),
    ]
    values = evaluate(outcomes)
    for name in ("ContextRecall", "AnyRecall", "AllRecall", "Recall@5", "nDCG@10", "Precision@10", "RR", "ContextPrecision"):
        assert values[name][1] == 0.0, name
        assert np.isnan(values[name][3]), "what the query leaves undefined stays undefined in every arm"
    assert values["StaleExposure"][1] == 1.0
    assert values["DuplicateRate"][1] == 1.0
    assert values["Tokens"].tolist() == [700.0, 700.0, 300.0, 700.0]
    assert values["TokensPerHit"][1] == 700.0
    assert values["FalseContext"][3] == 1.0
    assert values["Leaks"].tolist() == [0.0] * 4
    assert evaluate(outcomes, ["Tokens"], worst={"Tokens": 4000.0})["Tokens"][1] == 4000.0
    summary = summarise(values, ["u"] * 4, failed=[row.failed for row in outcomes])
    assert (summary["ContextRecall"].n, summary["ContextRecall"].n_failed, summary["ContextRecall"].n_undefined) == (2, 1, 2)
    assert summary["ContextRecall"].mean == 0.5
    assert tally(outcomes)["failed"] == 2


def test_failures_alone_leave_an_unbounded_metric_undefined() -> None:
    assert np.isnan(value("Tokens", outcome(["a"], failed=True)))


# whole inputs


def test_bad_input_is_refused() -> None:
    with pytest.raises(DataError, match="two outcomes"):
        evaluate([outcome(["a"]), outcome(["a"])])
    with pytest.raises(DataError, match="ranking"):
        Outcome(query=outcome(["a"]).query, ranking="abc", selected=(), tokens=0)  # type: ignore[arg-type]
    with pytest.raises(DataError, match="tokens"):
        outcome(["a"], tokens=-1)
    with pytest.raises(DataError, match="one element per query"):
        summarise({"Recall@5": [1.0, 0.0]}, ["ana"])
    with pytest.raises(DataError, match="finite"):
        evaluate([outcome(["a"], failed=True)], ["Tokens"], worst={"Tokens": float("nan")})
    with pytest.raises(ConfigError, match="no formula"):
        evaluate([outcome(["a"])], [Metric(name="latency", higher_is_better=False, unit="ms", definition="total")])


def test_no_outcomes_give_no_data() -> None:
    values = evaluate([])
    assert {len(column) for column in values.values()} == {0}
    summary = summarise(values, [])["ContextRecall"]
    assert (summary.mean, summary.ci95, summary.n) == (None, None, 0)
    assert "no data" in str(summary)


def test_groups_are_summarised_apart() -> None:
    outcomes = [outcome(["a"], ["a"] * (n % 2), id=str(n), user=f"u{n % 3}", group=f"g{n % 2}") for n in range(12)]
    groups = [row.query.group for row in outcomes]
    clusters = [row.query.user_id for row in outcomes]
    result = summarise_groups(evaluate(outcomes, ["ContextRecall"]), clusters, groups)
    assert {name: part["ContextRecall"].mean for name, part in result.items()} == {"g0": 0.0, "g1": 1.0}
    assert all(part["ContextRecall"].n == 6 for part in result.values())


def test_an_interval_of_a_share_is_a_share() -> None:
    values = {"ContextRecall": [1.0, 1.0, 0.9, 1.0, 0.2, 1.0]}
    low, high = summarise(values, ["a", "a", "b", "b", "c", "c"])["ContextRecall"].ci95 or (np.nan, np.nan)
    assert 0.0 <= low < high <= 1.0


ids = st.sampled_from([f"m{number}" for number in range(8)])


@st.composite
def outcomes_strategy(draw: st.DrawFn) -> Outcome:
    relevant = draw(st.dictionaries(ids, st.integers(1, 3), max_size=4))
    return outcome(
        relevant,
        draw(st.lists(ids, max_size=12)),
        draw(st.lists(ids, max_size=12)),
        forbidden=tuple(draw(st.sets(ids, max_size=3)) - set(relevant)),
        duplicates=tuple(tuple(part) for part in draw(st.lists(st.lists(ids, max_size=3), max_size=3))),
        tokens=draw(st.integers(0, 500)),
        failed=draw(st.booleans()),
    )


@settings(max_examples=300, deadline=None)
@given(outcomes_strategy())
def test_invariants(one: Outcome) -> None:
    values = {name: column[0] for name, column in evaluate([one], [*DEFAULT, "Recall@1", "Recall@2"]).items()}
    for name, number in values.items():
        metric = parse_metric(name)
        if not np.isnan(number):
            assert metric.low is None or number >= metric.low, name
            assert metric.high is None or number <= metric.high + 1e-12, name
    if not np.isnan(values["ContextRecall"]):
        assert values["Recall@1"] <= values["Recall@2"] <= values["Recall@5"] <= values["Recall@20"]
        assert values["AllRecall"] <= values["ContextRecall"] <= values["AnyRecall"]
    # naming an id again changes nothing about the ranking
    again = Outcome(
        query=one.query,
        ranking=tuple(key for key in one.ranking for _ in range(2)),
        selected=one.selected,
        tokens=one.tokens,
        failed=one.failed,
    )
    for name in ("Recall@2", "nDCG@10", "Precision@10", "RR"):
        np.testing.assert_array_equal(evaluate([one], [name])[name], evaluate([again], [name])[name])


def test_every_registered_metric_is_computed() -> None:
    names = [name.replace("@k", "@3") for name in REGISTRY]
    values = evaluate(sample(1, 20), names)
    assert list(values) == names
    assert all(column.shape == (20,) and column.dtype == np.float64 for column in values.values())
