"""A judge that fails on questions (public fault BH-1, kind benchmark-harness): errors never become wrong answers."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.data.judged import JudgedQuery
from workbench.errors import DataError
from workbench.experiments.metrics import evaluate
from workbench.experiments.outcome import Outcome, tally
from workbench.experiments.summary import summarise
from workbench.experiments.verdicts import Question, Verdicts, judge_all


def judge(number: int) -> bool:
    if number < 5:
        raise TimeoutError("no answer from the judge")
    return number < 17


QUESTIONS = [Question(id=f"q{number}", case=number) for number in range(20)]


def test_bh1_accuracy_is_over_the_judged_and_the_run_is_incomplete() -> None:
    found = judge_all(QUESTIONS, judge)
    assert (found.accuracy, found.hits, found.n, len(found.errors), found.status) == (12 / 15, 12, 15, 5, "incomplete")
    record = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert (record["accuracy"], record["n"], record["errors"], record["status"]) == (0.8, 15, 5, "incomplete")
    assert record["error_reasons"]["q0"] == "TimeoutError: no answer from the judge"
    text = str(found)
    for part in ("0.800", "12/15", "n = 15", "errors = 5", "incomplete", "5 of 20", "0.600 to 0.850"):
        assert part in text
    assert "12/20" not in text


def test_only_what_has_no_verdict_is_asked_again() -> None:
    first = judge_all(QUESTIONS, judge)
    asked: list[int] = []

    def patient(number: int) -> bool:
        asked.append(number)
        return True

    again = judge_all(QUESTIONS, patient, known=first)
    assert asked == [0, 1, 2, 3, 4]
    assert (again.hits, again.n, again.status) == (17, 20, "complete")
    assert list(again.right) == [question.id for question in QUESTIONS]
    with pytest.raises(DataError, match="are on other questions"):
        judge_all(QUESTIONS[:3], patient, known=first)


@pytest.mark.parametrize("answer", [None, "yes", 1, 0, 0.0, float("nan"), [], np.float64(1.0)])
def test_what_is_no_verdict_is_an_error(answer: object) -> None:
    found = judge_all(QUESTIONS[:2], lambda _: answer)  # type: ignore[arg-type, return-value]
    assert (found.n, found.accuracy, len(found.errors), found.status) == (0, None, 2, "incomplete")
    assert "no data (n = 0, errors = 2; incomplete)" in str(found)


def test_edges() -> None:
    assert judge_all(QUESTIONS[:2], lambda _: np.bool_(True)).hits == 2  # type: ignore[arg-type, return-value]
    assert judge_all([], judge).status == "incomplete"
    assert str(judge_all([], judge)) == "accuracy: no data (n = 0, errors = 0; incomplete)"
    assert judge_all(QUESTIONS[5:], judge).status == "complete"
    assert str(judge_all(QUESTIONS[5:7], judge)) == "accuracy 1.000 (2/2; n = 2, errors = 0), complete"
    with pytest.raises(DataError, match="two questions have the id 'q1'"):
        judge_all([*QUESTIONS, QUESTIONS[1]], judge)
    with pytest.raises(DataError, match="both judged and an error"):
        Verdicts(right={"a": True}, errors={"a": "x"})
    with pytest.raises(DataError, match="must be True or False"):
        Verdicts(right={"a": 1})  # type: ignore[dict-item]

    def interrupted(_: int) -> bool:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        judge_all(QUESTIONS, interrupted)


@given(st.lists(st.sampled_from([True, False, None]), max_size=40))
def test_counts_always_add_up(answers: list[bool | None]) -> None:
    found = judge_all([Question(id=str(at), case=answer) for at, answer in enumerate(answers)], lambda case: case)  # type: ignore[arg-type, return-value]
    assert found.n + len(found.errors) == found.questions == len(answers)
    assert found.hits == answers.count(True)
    if found.accuracy is not None and found.bounds is not None:
        assert found.bounds[0] <= found.accuracy <= found.bounds[1]


def test_metrics_never_turn_a_failed_arm_into_a_silent_zero() -> None:
    queries = [
        JudgedQuery(id=f"q{number}", user_id="u", query="?", now=datetime(2026, 1, 1, tzinfo=UTC), relevant={"m": 1})
        for number in range(20)
    ]
    outcomes = [
        Outcome(query=query, ranking=("m",), selected=("m",) if 5 <= number < 17 else (), tokens=9, failed=number < 5)
        for number, query in enumerate(queries)
    ]
    values = evaluate(outcomes, ["ContextRecall"])
    failed = [outcome.failed for outcome in outcomes]
    found = summarise(values, ["u"] * 20, failed=failed)["ContextRecall"]
    # an arm that raised on a query is charged for it (intention to treat), and every place that shows the mean says so
    assert (found.mean, found.n, found.n_failed) == (12 / 20, 20, 5)
    assert "5 failed" in str(found)
    assert found.to_dict()["n_failed"] == tally(outcomes)["failed"] == 5
