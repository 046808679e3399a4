"""How the time grows with the store: the exponent of a power law, with its interval."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from workbench.errors import DataError
from workbench.experiments.percentile import NO_DATA

RESAMPLES = 2_000


@dataclass(frozen=True, kw_only=True)
class Growth:
    """``median = factor * size ** exponent``: fitted by least squares on logarithms.

    interval: 95 %, from resampling the queries of each size; it says how well the medians are known, not whether growth follows
    a power law. worst says that: the largest ratio between a median and the fitted line (>= 1).
    """

    exponent: float
    factor: float
    interval: tuple[float, float]
    worst: float
    sizes: tuple[int, ...]
    n: tuple[int, ...]

    def to_dict(self) -> dict[str, Any]:
        """Strict JSON."""
        return {
            "exponent": self.exponent,
            "factor": self.factor,
            "ci95": list(self.interval),
            "worst_ratio": self.worst,
            "sizes": list(self.sizes),
            "n": list(self.n),
        }

    def __str__(self) -> str:
        low, high = self.interval
        return f"exponent {self.exponent:.2f} [{low:.2f}, {high:.2f}] over {len(self.sizes)} sizes"


def growth_text(growth: Growth | None) -> str:
    """The exponent in words, or "no data"."""
    return NO_DATA if growth is None else str(growth)


def fit_growth(samples: Mapping[int, Sequence[float]], *, seed: int = 0) -> Growth | None:
    """Fit the medians of ``samples`` (size -> times above 0). None with fewer than two sizes that have samples.

    Raises DataError for sizes or times that are not above 0.
    """
    data = {size: np.asarray(values, dtype=np.float64) for size, values in sorted(samples.items()) if len(values)}
    if any(size <= 0 for size in data) or any(not np.isfinite(values).all() or values.min() <= 0 for values in data.values()):
        raise DataError("sizes and times must be finite and above 0 to fit their growth; leave out stages that take no time")
    if len(data) < 2:
        return None
    sizes = np.log(np.array(list(data), dtype=np.float64))
    medians = np.log([np.median(values) for values in data.values()])
    exponent, offset = np.polyfit(sizes, medians, 1)
    rng = np.random.Generator(np.random.PCG64(seed))
    drawn = np.stack(
        [np.log(np.median(values[rng.integers(0, values.size, (RESAMPLES, values.size))], axis=1)) for values in data.values()]
    )
    centred = sizes - sizes.mean()
    slopes = centred @ drawn / float(centred @ centred)
    low, high = np.percentile(slopes, [2.5, 97.5], method="linear")
    return Growth(
        exponent=float(exponent),
        factor=float(np.exp(offset)),
        interval=(float(low), float(high)),
        worst=float(np.exp(np.abs(medians - (exponent * sizes + offset)).max())),
        sizes=tuple(data),
        n=tuple(values.size for values in data.values()),
    )
