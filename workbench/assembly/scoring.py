"""Five signals in [0, 1], their weighted sum, and category boosts; every function works on arrays of candidates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from workbench.config import SIGNALS, AssemblyConfig, Weights
from workbench.search.pool import FloatArray, IntArray, Pool

# A clock may be a little ahead; a date further in the future than this proves no freshness.
FUTURE_TOLERANCE_DAYS = 1.0


def recency(age_days: npt.ArrayLike, half_life_days: float) -> FloatArray:
    """``0.5 ** (age / half_life)`` in [0, 1], ages below 0 counted as 0."""
    age = np.maximum(np.asarray(age_days, dtype=np.float64), 0.0)
    out: FloatArray = np.exp2(-age / half_life_days)
    return out


def frequency(access_count: npt.ArrayLike, saturation: int) -> FloatArray:
    """``log1p(count) / log1p(saturation)``, 1 from ``saturation`` accesses on; in [0, 1]."""
    counts = np.clip(np.asarray(access_count, dtype=np.float64), 0.0, float(saturation))
    out: FloatArray = np.log1p(counts) / np.log1p(float(saturation))
    return out


def ages(changed: FloatArray, now: float) -> FloatArray:
    """Age in days, at least 0. Dates more than a day ahead of ``now`` give infinity, that is recency 0.

    changed, now: seconds since 1970 UTC.
    """
    days = (now - changed) / 86_400.0
    return np.where(days < -FUTURE_TOLERANCE_DAYS, np.inf, np.maximum(days, 0.0))


def signals(pool: Pool, now: float, config: AssemblyConfig) -> FloatArray:
    """The five signals of every candidate, float64, shape (5, n), rows in the order of ``config.SIGNALS``."""
    return np.stack(
        [
            pool.relevance,
            pool.importance,
            pool.confidence,
            recency(ages(pool.changed, now), config.half_life_days),
            frequency(pool.access_count, config.frequency_saturation),
        ]
    )


def boost_factors(category: IntArray, categories: Sequence[str], boosts: Mapping[str, float]) -> FloatArray:
    """The factor of every candidate's category, 1 where none is set, shape (n,)."""
    table = np.array([boosts.get(name, 1.0) for name in categories] or [1.0], dtype=np.float64)
    return table[category]


def weighted_score(values: FloatArray, weights: Weights, factors: FloatArray) -> FloatArray:
    """``factor * sum(weight_i * signal_i)``, shape (n,).

    Added in the order of ``SIGNALS`` term by term: a dot product may add in another order and differ in the last bit.
    """
    total = np.zeros(values.shape[1:], dtype=np.float64)
    for row, weight in enumerate(weights.as_tuple()):
        total = total + weight * values[row]
    return total * factors


def effective_weights(values: FloatArray, weights: Weights) -> dict[str, float]:
    """Nominal weight times the signal's spread (standard deviation) in the pool, normalised to sum 1.

    A signal that is the same for all candidates decides nothing, whatever its weight. All 0 if nothing varies.
    """
    if values.shape[1] == 0:
        return dict.fromkeys(SIGNALS, 0.0)
    # rounding gives a constant a standard deviation just above 0
    spread = np.where(values.max(axis=1) > values.min(axis=1), values.std(axis=1), 0.0)
    products = np.asarray(weights.as_tuple()) * spread
    total = float(products.sum())
    return {name: float(value) / total if total > 0 else 0.0 for name, value in zip(SIGNALS, products, strict=True)}
