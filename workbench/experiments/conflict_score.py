"""Shares with their uncertainty: Wilson intervals, and precision, recall and F1 of a yes-no decision."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

Z95 = 1.959963984540054
"""97.5 % point of the normal distribution, for 95 % intervals."""


def wilson(hits: int, n: int, z: float = Z95) -> tuple[float, float] | None:
    """Wilson score interval of a share (E. B. Wilson, JASA 22, 1927). None for n = 0.

    Args:
        hits: 0..n.
        n: number of trials.
        z: normal quantile of the confidence level.
    """
    if n <= 0:
        return None
    share = hits / n
    scale = 1.0 + z * z / n
    middle = (share + z * z / (2 * n)) / scale
    half = z / scale * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    return (0.0 if hits == 0 else max(0.0, middle - half), 1.0 if hits == n else min(1.0, middle + half))


@dataclass(frozen=True)
class Share:
    """`hits` of `n`."""

    hits: int
    n: int

    @property
    def value(self) -> float | None:
        """hits / n in [0, 1]; None for n = 0."""
        return self.hits / self.n if self.n else None

    @property
    def interval(self) -> tuple[float, float] | None:
        """95 % Wilson interval; None for n = 0."""
        return wilson(self.hits, self.n)

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON values; an undefined share is null."""
        interval = self.interval
        return {
            "hits": self.hits,
            "n": self.n,
            "share": None if self.value is None else round(self.value, 6),
            "interval": None if interval is None else [round(end, 6) for end in interval],
        }

    def __str__(self) -> str:
        """`0.870 [0.792, 0.921] 94/108`, or `-` for n = 0."""
        interval = self.interval
        if interval is None or self.value is None:
            return "-"
        return f"{self.value:.3f} [{interval[0]:.3f}, {interval[1]:.3f}] {self.hits}/{self.n}"


@dataclass(frozen=True)
class Score:
    """Counts of a yes-no decision, "yes" being conflict."""

    tp: int
    fp: int
    fn: int
    tn: int

    @property
    def n(self) -> int:
        """All pairs."""
        return self.tp + self.fp + self.fn + self.tn

    @property
    def precision(self) -> Share:
        """Conflicts among what was flagged."""
        return Share(self.tp, self.tp + self.fp)

    @property
    def recall(self) -> Share:
        """Flagged among the conflicts."""
        return Share(self.tp, self.tp + self.fn)

    @property
    def f1(self) -> float | None:
        """Harmonic mean of precision and recall, 2 TP / (2 TP + FP + FN); None if nothing is conflict nor flagged."""
        total = 2 * self.tp + self.fp + self.fn
        return 2 * self.tp / total if total else None

    @property
    def f1_interval(self) -> tuple[float, float] | None:
        """95 % interval of F1: it is a rising function of the share J = TP / (TP + FP + FN), F1 = 2 J / (1 + J); the ends
        are those of J's Wilson interval."""
        ends = wilson(self.tp, self.tp + self.fp + self.fn)
        return None if ends is None else (2 * ends[0] / (1 + ends[0]), 2 * ends[1] / (1 + ends[1]))

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON values; what is undefined is null."""
        interval = self.f1_interval
        return {
            "n": self.n,
            "tp": self.tp,
            "fp": self.fp,
            "fn": self.fn,
            "tn": self.tn,
            "precision": self.precision.to_dict(),
            "recall": self.recall.to_dict(),
            "f1": None if self.f1 is None else round(self.f1, 6),
            "f1_interval": None if interval is None else [round(end, 6) for end in interval],
        }
