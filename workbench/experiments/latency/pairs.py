"""Latency A/B: two configurations on the same queries, in turns; and a run against an earlier one from the same machine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from workbench.errors import ConfigError, DataError, RunError
from workbench.experiments.percentile import percentile_interval, percentiles
from workbench.experiments.statistics import Verdict

MARGIN = 0.05
"""Differences within this share of the first median are too small to matter."""
MACHINE = ("system", "architecture", "cpu", "logical_cores", "memory_gib")
_RESAMPLES = 4_000
_LEAST = 10


@dataclass(frozen=True, kw_only=True)
class PairedLatency:
    """b minus a in ms over the same ``n`` queries. median: of the differences, with its 95 % interval (None below two queries).
    margin: differences up to this many ms count as equal. verdict: of b; faster is better."""

    a: str
    b: str
    n: int
    p50_a: float | None
    p50_b: float | None
    median: float | None
    interval: tuple[float, float] | None
    margin: float | None
    verdict: Verdict

    def to_dict(self) -> dict[str, Any]:
        """Strict JSON."""
        return {**asdict(self), "interval": None if self.interval is None else list(self.interval), "verdict": str(self.verdict)}

    def __str__(self) -> str:
        if self.median is None or self.interval is None or self.margin is None:
            return f"{self.b} against {self.a}: no data"
        low, high = self.interval
        return (
            f"{self.b} against {self.a}: {self.median:+.2f} ms [{low:+.2f}, {high:+.2f}] a query (median of {self.n} pairs), "
            f"equal within {self.margin:.2f} ms: {self.verdict}"
        )


def paired(
    a: Sequence[float], b: Sequence[float], *, names: tuple[str, str] = ("a", "b"), margin: float = MARGIN, seed: int = 0
) -> PairedLatency:
    """Compare times of the same queries under two configurations, b minus a.

    The median of the paired differences, because a stall of the machine hits single queries, and its bootstrap interval
    (``percentile_interval``). Interval within the margin: equivalent. All of it below 0: better, above: worse. Fewer than ten
    pairs: not enough data. Raises DataError for unequal lengths, ConfigError for a negative margin.
    """
    if len(a) != len(b):
        raise DataError(f"{len(a)} times of {names[0]}, {len(b)} of {names[1]}: both must be of the same queries")
    if not 0.0 <= margin < 10.0:
        raise ConfigError(f"margin is {margin!r}: must be a share of at least 0, such as 0.05")
    differences = np.asarray(b, dtype=np.float64) - np.asarray(a, dtype=np.float64)
    middle, interval = percentiles(differences, [50]), percentile_interval(differences, 50, seed=seed)
    one, two = percentiles(a, [50]), percentiles(b, [50])
    room = None if one is None else margin * one[0]
    if len(differences) < _LEAST or interval is None or room is None:
        word = Verdict.NOT_ENOUGH_DATA
    elif not differences.any():
        word = Verdict.NO_DIFFERENCE
    elif -room <= interval[0] and interval[1] <= room:
        word = Verdict.EQUIVALENT
    elif interval[1] < 0 or interval[0] > 0:
        word = Verdict.BETTER if interval[1] < 0 else Verdict.WORSE
    else:
        word = Verdict.INCONCLUSIVE
    return PairedLatency(
        a=names[0],
        b=names[1],
        n=len(differences),
        p50_a=None if one is None else one[0],
        p50_b=None if two is None else two[0],
        median=None if middle is None else middle[0],
        interval=interval,
        margin=room,
        verdict=word,
    )


@dataclass(frozen=True, kw_only=True)
class Shift:
    """A percentile of a new run over that of an old one, with its 95 % bootstrap interval; ratio 1.2 is a fifth slower."""

    q: float
    old: float | None
    new: float | None
    ratio: float | None
    interval: tuple[float, float] | None
    n_old: int
    n_new: int
    verdict: str

    def to_dict(self) -> dict[str, Any]:
        """Strict JSON."""
        return {**asdict(self), "interval": None if self.interval is None else list(self.interval)}

    def __str__(self) -> str:
        if self.ratio is None or self.interval is None:
            return f"p{self.q:g}: no data ({self.n_old} earlier, {self.n_new} new timings)"
        return (
            f"p{self.q:g} {self.old:.2f} -> {self.new:.2f} ms, x{self.ratio:.3f} "
            f"[{self.interval[0]:.3f}, {self.interval[1]:.3f}] (n {self.n_old}, {self.n_new}): {self.verdict}"
        )


def shift(old: Sequence[float], new: Sequence[float], *, q: float = 50.0, tolerance: float = 0.10, seed: int = 0) -> Shift:
    """Compare samples of two runs.

    slower or faster: the whole interval is beyond the tolerance; unchanged: all of it within; else inconclusive. Runs at
    different times differ by a few per cent even on a quiet machine, hence the tolerance of a tenth.
    """
    one, two = percentiles(old, [q]), percentiles(new, [q])
    if one is None or two is None or min(len(old), len(new)) < _LEAST or one[0] <= 0:
        return Shift(
            q=q,
            old=None if one is None else one[0],
            new=None if two is None else two[0],
            ratio=None,
            interval=None,
            n_old=len(old),
            n_new=len(new),
            verdict="no data" if one is None or two is None else str(Verdict.NOT_ENOUGH_DATA),
        )
    rng = np.random.Generator(np.random.PCG64(seed))
    drawn = [
        np.percentile(values[rng.integers(0, values.size, (_RESAMPLES, values.size))], q, axis=1, method="linear")
        for values in (np.asarray(old, dtype=np.float64), np.asarray(new, dtype=np.float64))
    ]
    low, high = np.percentile(drawn[1] / drawn[0], [2.5, 97.5], method="linear").tolist()
    least, most = 1.0 / (1.0 + tolerance), 1.0 + tolerance
    word = (
        "slower" if low > most else "faster" if high < least else "unchanged" if least <= low and high <= most else "inconclusive"
    )
    return Shift(
        q=q, old=one[0], new=two[0], ratio=two[0] / one[0], interval=(low, high), n_old=len(old), n_new=len(new), verdict=word
    )


def same_machine(old: Mapping[str, Any], new: Mapping[str, Any]) -> None:
    """Raises RunError naming what differs unless two manifests' environments are of one kind of machine."""
    one, two = old.get("machine", {}), new.get("machine", {})
    other = [f"{name}: {one.get(name)} / {two.get(name)}" for name in MACHINE if one.get(name) != two.get(name)]
    if other:
        raise RunError(f"the runs were timed on different machines ({', '.join(other)}); time both on one machine")
