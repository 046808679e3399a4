"""Percentiles of samples, latencies above all: one method everywhere.

The method is linear interpolation between order statistics (Hyndman & Fan 1996, type 7; numpy's default): of 1..20
the 95th is 19.05, of one sample every percentile is that sample. No samples give None, shown as ``NO_DATA``, never 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike, NDArray

from workbench.errors import ConfigError, DataError
from workbench.experiments.outcome import Floats

NO_DATA = "no data"
LATENCY_QS = (50.0, 95.0, 99.0)
"""The percentiles a latency table shows."""


def percentiles(samples: ArrayLike, qs: Sequence[float] = LATENCY_QS) -> tuple[float, ...] | None:
    """The percentiles ``qs`` (each in [0, 100]) of the samples, in the order of ``qs`` and the unit of the samples.

    None when there are no samples. Raises DataError on NaN or infinite samples, ConfigError on a q out of range.
    """
    data = _samples(samples)
    _check(qs)
    if not len(data):
        return None
    return tuple(float(value) for value in np.percentile(data, list(qs), method="linear"))


def percentile_interval(
    samples: ArrayLike, q: float, *, level: float = 0.95, n_resamples: int = 9_999, seed: int = 0
) -> tuple[float, float] | None:
    """Bootstrap percentile interval of one percentile of independent samples; None with fewer than two samples.

    Draws the two order statistics that the percentile interpolates directly from their joint distribution (uniform
    order statistics are Beta distributed), which is the ordinary bootstrap without its n x resamples numbers. No
    interval can reach beyond the largest sample: with fewer than about 300 samples the upper end of a p99 is too low.
    Samples that depend on each other (one long stall hits many) make every such interval too narrow.
    """
    data = np.sort(_samples(samples))
    _check([q])
    if not 0.5 <= level < 1.0:
        raise ConfigError(f"level is {level!r}: must be at least 0.5 and below 1, such as 0.95")
    n = len(data)
    if n < 2:
        return None
    position = q / 100.0 * (n - 1)
    below = min(int(position), n - 2)
    share = position - below
    low, high = (data[ranks] for ranks in _resampled_ranks(n, below, n_resamples, seed))
    tail = 50.0 * (1.0 - level)
    ends = np.percentile(low + share * (high - low), [tail, 100.0 - tail], method="linear")
    return float(ends[0]), float(ends[1])


def describe(samples: ArrayLike, qs: Sequence[float] = LATENCY_QS, *, seed: int = 0) -> dict[str, object]:
    """``{"n": ..., "p50": ..., "p50_ci95": [low, high], ...}``; strict JSON, None where there is no data."""
    data = _samples(samples)
    values = percentiles(data, qs) or (None,) * len(qs)
    result: dict[str, object] = {"n": len(data)}
    for q, value in zip(qs, values, strict=True):
        interval = percentile_interval(data, q, seed=seed)
        result[f"p{q:g}"] = value
        result[f"p{q:g}_ci95"] = None if interval is None else list(interval)
    return result


@lru_cache(maxsize=32)
def _resampled_ranks(n: int, below: int, n_resamples: int, seed: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Per resample of ``n`` sorted samples, which of them are its order statistics ``below`` and ``below + 1`` (from 0).

    They depend on the number of samples alone, and a table has many columns of the same length. Read-only.
    """
    rng = np.random.Generator(np.random.PCG64(seed))
    first = rng.beta(below + 1, n - below, n_resamples)
    # given the r-th smallest of n uniforms, the next one is the smallest of n - r uniforms on what is left
    second = 1.0 - (1.0 - first) * rng.random(n_resamples) ** (1.0 / (n - below - 1))
    ranks = [np.minimum((part * n).astype(np.int64), n - 1) for part in (first, second)]
    for part in ranks:
        part.flags.writeable = False
    return ranks[0], ranks[1]


def _samples(samples: ArrayLike) -> Floats:
    data = np.asarray(samples, dtype=np.float64)
    if data.ndim != 1:
        raise DataError(f"samples have shape {data.shape}: must be a flat list of numbers")
    if not np.isfinite(data).all():
        raise DataError(f"{int((~np.isfinite(data)).sum())} of {len(data)} samples are NaN or infinite: remove and count them")
    return data


def _check(qs: Sequence[float]) -> None:
    for q in qs:
        if not 0.0 <= q <= 100.0:
            raise ConfigError(f"percentile {q!r}: must be from 0 to 100, such as 95")
