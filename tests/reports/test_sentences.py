"""Sentences of the report: the answer, captions and limits follow the numbers."""

from __future__ import annotations

from typing import Any

import pytest

from workbench.reports import costs
from workbench.reports.captions import captions
from workbench.reports.facts import Run
from workbench.reports.figures import drawn_groups
from workbench.reports.limits import limits
from workbench.reports.tables import by_group
from workbench.reports.verdicts import answer


@pytest.mark.parametrize(
    ("lift", "verdict", "words"),
    [
        (0.2, "better", "Yes: relevance-only is better."),
        (-0.2, "worse", "No: relevance-only is worse."),
        (0.0, "no difference", "No difference: ContextRecall is the same with both on every query"),
    ],
)
def test_answer_in_words(make: Any, lift: float, verdict: str, words: str) -> None:
    content = make(lift=lift)
    assert content["comparison"]["ContextRecall"]["verdict"] == verdict
    said = answer(Run(content, {}))
    assert said.sentence.startswith(words)
    assert said.word == verdict


def test_answer_says_why_it_is_not_clear(make: Any) -> None:
    content = make()
    row = content["comparison"]["ContextRecall"]
    row |= {"verdict": "inconclusive", "ci95": [-0.01, 0.03], "mde": 0.041, "p_adjusted": 0.5, "note": ""}
    said = answer(Run(content, {}))
    assert said.sentence.startswith("Undecided")
    assert "The interval includes 0." in said.details
    assert "Tested alone, a true difference of 0.041 would be found four times out of five." in said.details
    row |= {"verdict": "equivalent", "ci95": [-0.004, 0.006], "margin": 0.01}
    said = answer(Run(content, {}))
    assert said.sentence.startswith("Equivalent")
    assert said.details == ("The whole interval lies within ±0.010, which counts as equal.",)
    del content["comparison"]["ContextRecall"]
    assert "Recall@5" in answer(Run(content, {})).sentence
    content["comparison"] = {}
    assert answer(Run(content, {})).word == "not enough data"


def test_many_groups_are_all_in_the_table(make: Any) -> None:
    run = Run(make(groups=[f"group {number}" for number in range(150)], users=10, per_user=30), {})
    heads = [body[0][0].text for body in by_group(run).bodies]
    assert heads == [f"group {number}" for number in range(150)]
    assert len(drawn_groups(run, "ContextRecall")) == 60
    assert "Drawn are the 60 with most queries of 150" in captions(run)["groups"]


def test_groups_taken_together_come_last_and_are_no_widest_gap(make: Any) -> None:
    content = make(groups=("1", "2", "all but 5", "5"), dataset="locomo")
    content["rollups"] = {"all but 5": ["1", "2"]}
    for arm, value in zip(content["arms"].values(), (0.0, 1.0), strict=True):
        arm["groups"]["all but 5"]["ContextRecall"] |= {"mean": value, "ci95": None, "n": 9}
    run = Run(content, {})
    assert run.groups == ("1", "2", "5", "all but 5")
    assert "The widest gap" in captions(run)["groups"]
    assert "all but 5" not in captions(run)["groups"]
    del content["rollups"]
    assert "all but 5: 1.000 with relevance-only, 0.000 with production (n 9)" in captions(Run(content, {}))["groups"]


def test_captions_follow_the_numbers(make: Any) -> None:
    content = make()
    said = captions(Run(content, {}))
    assert "better on ContextRecall" in said["metrics"]
    assert (
        "production shows 42 of 147 relevant entries (28.6 %); the largest part of the rest is lost as “over budget” (35)"
        in said["losses"]
    )
    assert "longest stage is embed" in said["latency"]
    for arm in content["arms"].values():
        arm["latency_ms"]["search"]["p50"] = 500.0
        arm["relevant_entries"] = dict.fromkeys(arm["relevant_entries"], 0) | {"selected": 3, "over the cap": 1}
    for row in content["comparison"].values():
        row["verdict"] = "worse"
    said = captions(Run(content, {}))
    assert said["metrics"].startswith("Verdicts on relevance-only against production: worse on ContextRecall")
    assert "production shows 3 of 4 relevant entries (75.0 %); the rest is lost as “over the cap” (1)." in said["losses"]
    assert "longest stage is search (median 500 ms" in said["latency"]


def test_signal_without_effect_is_said_to_be_undecidable(make: Any, empty: Any) -> None:
    run = Run(make(undecidable=True), {})
    rows = {row[0].text: row[-1].text for row in costs.weights(run).bodies[0]}
    assert rows["confidence"] == "undecidable on this data"
    assert set(rows.values()) == {"undecidable on this data", ""}
    assert any("cannot judge confidence: weighted with production, yet" in text for text in limits(run))
    assert "Without any effect: confidence (production)." in captions(run)["weights"]
    for other in (make(), empty(make(undecidable=True))):
        assert not Run(other, {}).undecidable()


def test_limits_are_those_of_the_numbers(make: Any, empty: Any) -> None:
    few = " ".join(limits(Run(make(), {})))
    assert "Few users" in few
    assert "2 queries have no usable judgement" in few
    assert "With 40 timings per arm the 99th percentile" in few
    many = " ".join(limits(Run(make(users=25, timings=400), {})))
    assert "Few users" not in many
    assert "99th percentile" not in many
    assert "Time was not measured." in limits(Run(empty(make()), {}))
