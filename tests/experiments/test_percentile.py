"""One percentile method, no data is not 0, and intervals that match the ordinary bootstrap."""

from __future__ import annotations

import json
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.errors import ConfigError, DataError
from workbench.experiments.percentile import NO_DATA, describe, percentile_interval, percentiles


def test_public_latency_samples() -> None:
    """LT-1: linear interpolation everywhere; no samples are no data."""
    assert percentiles(range(1, 21), [95]) == (pytest.approx(19.05),)
    assert percentiles([10, 20, 30], [50, 95]) == (20.0, pytest.approx(29.0))
    assert percentiles([1.0], [0, 50, 95, 99, 100]) == (1.0,) * 5
    assert all(1.0 <= value <= 2.0 for value in percentiles([1.0, 2.0], [50, 95, 99, 100]) or ())
    assert percentiles([], [50, 95]) is None
    assert NO_DATA == "no data"


@given(st.lists(st.floats(-1e9, 1e9), min_size=1, max_size=50), st.lists(st.floats(0, 100), min_size=1, max_size=5))
def test_percentiles_stay_in_range_and_order(samples: list[float], qs: list[float]) -> None:
    values = percentiles(samples, sorted(qs))
    assert values is not None
    assert min(samples) <= values[0]
    assert values[-1] <= max(samples)
    assert all(low <= high + 1e-6 * abs(high) for low, high in pairwise(values))
    assert percentiles(samples[::-1], sorted(qs)) == values


@pytest.mark.parametrize("q", [0, 5, 50, 95, 99, 100])
@pytest.mark.parametrize("n", [2, 30, 401])
def test_the_interval_is_that_of_the_ordinary_bootstrap(q: float, n: int) -> None:
    rng = np.random.default_rng(n)
    samples = rng.exponential(10, n)
    drawn = np.percentile(samples[rng.integers(0, n, (20_000, n))], q, axis=1)
    low, high = percentile_interval(samples, q, n_resamples=20_000) or (np.nan, np.nan)
    # compare on the scale of the bootstrap distribution: each end cuts off 2.5 % of the ordinary one, atoms aside
    assert (drawn < low - 1e-9).mean() <= 0.025 + 0.006
    assert (drawn <= low + 1e-9).mean() >= 0.025 - 0.006
    assert (drawn > high + 1e-9).mean() <= 0.025 + 0.006
    assert (drawn >= high - 1e-9).mean() >= 0.025 - 0.006


def test_describe_is_strict_json_and_names_what_is_missing() -> None:
    full = describe(np.arange(1, 101))
    assert list(full) == ["n", "p50", "p50_ci95", "p95", "p95_ci95", "p99", "p99_ci95"]
    assert full["n"] == 100
    assert full["p50"] == 50.5
    low, high = full["p50_ci95"]  # type: ignore[misc]
    assert low < 50.5 < high
    assert describe([]) == {"n": 0} | dict.fromkeys(list(full)[1:])
    assert describe([3.0])["p99"] == 3.0
    assert describe([3.0])["p99_ci95"] is None
    json.dumps([full, describe([])], allow_nan=False)
    assert describe(np.arange(50.0)) == describe(np.arange(50.0)[::-1])


def test_bad_input_is_refused() -> None:
    with pytest.raises(DataError, match="NaN or infinite"):
        percentiles([1.0, float("nan")], [50])
    with pytest.raises(DataError, match="flat"):
        percentiles([[1.0]], [50])
    with pytest.raises(ConfigError, match="from 0 to 100"):
        percentiles([1.0], [101])
    with pytest.raises(ConfigError, match="level"):
        percentile_interval([1.0, 2.0], 50, level=95)
