"""Answers judged right or wrong by a judge that can fail: accuracy over what was judged, with everything else in sight.

A judge (a model, a service, a person's script) raises, times out or says something that is no verdict. Such a question
is an *error*: it is neither right nor wrong, the accuracy is over the judged ones only, and a result with errors is
incomplete and says so wherever it is printed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

import numpy as np

from workbench.errors import DataError

T = TypeVar("T")
_REASON_LIMIT = 300


@dataclass(frozen=True, kw_only=True)
class Verdicts:
    """Verdicts of one judge, question id -> right, and the questions it failed on, id -> reason.

    Never a share of all questions: ``accuracy`` has the denominator ``n``, the judged ones.
    """

    right: Mapping[str, bool]
    errors: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        both = sorted(set(self.right) & set(self.errors))
        if both:
            raise DataError(f"{both[0]!r} is both judged and an error; a question is one or the other")
        for key, value in self.right.items():
            if not isinstance(value, bool):
                raise DataError(f"the verdict on {key!r} is {value!r}: must be True or False; count what is neither as an error")

    @property
    def n(self) -> int:
        """Questions that were judged."""
        return len(self.right)

    @property
    def questions(self) -> int:
        """Questions in all, errors included."""
        return self.n + len(self.errors)

    @property
    def hits(self) -> int:
        """Questions judged right."""
        return sum(self.right.values())

    @property
    def accuracy(self) -> float | None:
        """Right among the judged; None when none was judged."""
        return self.hits / self.n if self.n else None

    @property
    def bounds(self) -> tuple[float, float] | None:
        """What the share of all questions would be if every error were wrong, and if every one were right; None without any."""
        if not self.questions:
            return None
        return self.hits / self.questions, (self.hits + len(self.errors)) / self.questions

    @property
    def status(self) -> str:
        """``complete``, or ``incomplete`` when the judge failed on a question (or there was none)."""
        return "complete" if self.n and not self.errors else "incomplete"

    def to_dict(self) -> dict[str, Any]:
        """Strict JSON for a run record; the accuracy never stands without n, errors and status."""
        return {
            "accuracy": self.accuracy,
            "right": self.hits,
            "n": self.n,
            "errors": len(self.errors),
            "questions": self.questions,
            "status": self.status,
            "bounds": None if self.bounds is None else list(self.bounds),
            "error_reasons": dict(self.errors),
        }

    def __str__(self) -> str:
        if self.accuracy is None:
            return f"accuracy: no data (n = 0, errors = {len(self.errors)}; {self.status})"
        head = f"accuracy {self.accuracy:.3f} ({self.hits}/{self.n}; n = {self.n}, errors = {len(self.errors)})"
        if not self.errors or self.bounds is None:
            return f"{head}, {self.status}"
        low, high = self.bounds
        return (
            f"{head}, {self.status}: {len(self.errors)} of {self.questions} questions have no verdict; "
            f"over all of them it lies from {low:.3f} to {high:.3f}"
        )


@dataclass(frozen=True, kw_only=True)
class Question(Generic[T]):
    """Something to judge: an id that is unique in the run, and whatever the judge takes."""

    id: str
    case: T


def judge_all(
    questions: Iterable[Question[T]],
    judge: Callable[[T], bool],
    *,
    known: Verdicts | None = None,
    step: Callable[[int], None] | None = None,
) -> Verdicts:
    """Ask ``judge`` about every question; what it raises, and what is no bool, is an error of that question.

    known: verdicts of an earlier run of the same questions; only what has none (errors included) is asked again. Interrupts
    are passed on. Raises DataError when two questions have one id, or ``known`` has verdicts on other questions.
    """
    items = list(questions)
    ids = [item.id for item in items]
    twice = next((key for at, key in enumerate(ids) if key in ids[:at]), None) if len(set(ids)) < len(ids) else None
    if twice is not None:
        raise DataError(f"two questions have the id {twice!r}; each is judged once")
    before = dict(known.right) if known is not None else {}
    strange = sorted(set(before) - set(ids))
    if strange:
        raise DataError(f"the earlier verdicts are on other questions ({strange[0]!r} is none of these); start a new run")
    right: dict[str, bool] = {}
    errors: dict[str, str] = {}
    for item in items:
        if item.id in before:
            right[item.id] = before[item.id]
        else:
            try:
                verdict = judge(item.case)
            except Exception as error:
                errors[item.id] = f"{type(error).__name__}: {error}"[:_REASON_LIMIT]
            else:
                if isinstance(verdict, (bool, np.bool_)):
                    right[item.id] = bool(verdict)
                else:
                    errors[item.id] = f"no verdict: the judge returned {verdict!r}"[:_REASON_LIMIT]
        if step:
            step(1)
    return Verdicts(right=right, errors=errors)
