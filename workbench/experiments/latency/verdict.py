"""Does the time per query keep the limit? With the probability that it does."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from scipy.special import betainc

from workbench.errors import ConfigError
from workbench.experiments.percentile import NO_DATA, percentiles

LIMIT_MS = 100.0
SHARE = 0.95
"""The share of queries that has to keep the limit: it is kept when the 95th percentile is at most the limit."""
SURE = 0.95

WITHIN, OVER, UNDECIDED = "within the limit", "over the limit", "undecided"


@dataclass(frozen=True, kw_only=True)
class LimitVerdict:
    """verdict: within the limit, over the limit, undecided, or no data. probability: that at least ``share`` of such queries keep
    the limit; None without samples. over: how many of the ``n`` samples did not."""

    verdict: str
    probability: float | None
    limit_ms: float
    share: float
    n: int
    over: int
    p95: float | None

    def to_dict(self) -> dict[str, Any]:
        """Strict JSON."""
        return {
            "verdict": self.verdict,
            "probability": self.probability,
            "limit_ms": self.limit_ms,
            "share": self.share,
            "n": self.n,
            "over": self.over,
        }

    def __str__(self) -> str:
        if self.probability is None:
            return NO_DATA
        return (
            f"{self.verdict}: {self.over} of {self.n} took longer than {self.limit_ms:g} ms; probability that "
            f"{100 * self.share:g} % of such queries keep it: {probability_text(self.probability)}"
        )


def probability_text(value: float) -> str:
    """A probability with three decimals, never rounded to certainty."""
    return "> 0.999" if value > 0.999 else "< 0.001" if value < 0.001 else f"{value:.3f}"


def judge_limit(samples: Sequence[float], *, limit_ms: float = LIMIT_MS, share: float = SHARE) -> LimitVerdict:
    """Judge independent samples in ms against a limit.

    With k of n samples within the limit, the share of all such queries that keep it is Beta(k + 1/2, n - k + 1/2) distributed
    (Jeffreys prior; Brown, Cai & DasGupta 2001, doi 10.1214/ss/1009213286), whatever the distribution of the times. From a
    probability of 0.95 on the verdict is "within", up to 0.05 "over"; between them it is "undecided", as it is for fewer than
    some 40 samples even if all keep the limit. Raises ConfigError for a limit or share out of range.
    """
    if not (limit_ms > 0 and math.isfinite(limit_ms)):
        raise ConfigError(f"limit is {limit_ms!r}: must be a number of milliseconds above 0, such as 100")
    if not 0.0 < share < 1.0:
        raise ConfigError(f"share is {share!r}: must be above 0 and below 1, such as 0.95")
    found = percentiles(samples, [100 * share])
    n = len(samples)
    if found is None:
        return LimitVerdict(verdict=NO_DATA, probability=None, limit_ms=limit_ms, share=share, n=0, over=0, p95=None)
    over = sum(value > limit_ms for value in samples)
    probability = 1.0 - float(betainc(n - over + 0.5, over + 0.5, share))
    word = WITHIN if probability >= SURE else OVER if probability <= 1.0 - SURE else UNDECIDED
    return LimitVerdict(verdict=word, probability=probability, limit_ms=limit_ms, share=share, n=n, over=over, p95=found[0])
