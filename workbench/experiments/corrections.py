"""Corrections for testing many things at once. A family is every test whose result could have been reported."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from workbench.errors import DataError
from workbench.experiments.outcome import Floats


def holm(p_values: ArrayLike) -> Floats:
    """Adjusted p-values that bound the chance of any false positive in the family (Holm 1979).

    p_values: (m,) in [0, 1], in any order. Returns (m,) in the same order, never below the raw ones, never above 1.
    """
    raw = _checked(p_values)
    order = np.argsort(raw, kind="stable")
    scaled = raw[order] * np.arange(len(raw), 0, -1)
    adjusted = np.empty_like(raw)
    adjusted[order] = np.minimum(np.maximum.accumulate(scaled), 1.0)
    return adjusted


def benjamini_hochberg(p_values: ArrayLike) -> Floats:
    """Adjusted p-values (q-values) that bound the expected share of false ones among what is called significant
    (Benjamini & Hochberg 1995), for tests that are independent or positively dependent.

    p_values: (m,) in [0, 1], in any order. Returns (m,) in the same order, never below the raw ones, never above 1.
    """
    raw = _checked(p_values)
    m = len(raw)
    order = np.argsort(raw, kind="stable")[::-1]
    scaled = raw[order] * (m / np.arange(m, 0, -1))
    adjusted = np.empty_like(raw)
    adjusted[order] = np.minimum(np.minimum.accumulate(scaled), 1.0)
    return np.maximum(adjusted, raw)  # m / m * p may round below p


def _checked(p_values: ArrayLike) -> Floats:
    raw = np.asarray(p_values, dtype=np.float64)
    if raw.ndim != 1:
        raise DataError(f"p-values have shape {raw.shape}: must be a flat list, one family")
    bad = ~((raw >= 0.0) & (raw <= 1.0))
    if bad.any():
        raise DataError(f"p-value {raw[bad][0]!r} is outside [0, 1]; leave tests without a p-value out of the family")
    return raw
