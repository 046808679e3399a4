"""Growth, verdict, paired differences and shifts find what was planted; nothing is claimed without data."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from workbench.errors import ConfigError, DataError, RunError
from workbench.experiments.latency.growth import fit_growth, growth_text
from workbench.experiments.latency.pairs import paired, same_machine, shift
from workbench.experiments.latency.profile import ms_text
from workbench.experiments.latency.profiler import summary
from workbench.experiments.latency.verdict import NO_DATA, OVER, UNDECIDED, WITHIN, judge_limit, probability_text
from workbench.experiments.percentile import percentiles


def skewed(seed: int, n: int, median: float) -> list[float]:
    return (median * np.random.default_rng(seed).lognormal(0.0, 0.3, n)).tolist()


@pytest.mark.parametrize("exponent", [0.0, 0.35, 0.8, 1.0])
def test_a_planted_exponent_is_recovered(exponent: float) -> None:
    samples = {size: skewed(size, 400, 0.5 * size**exponent) for size in (300, 3_000, 10_000, 100_000)}
    fit = fit_growth(samples)
    assert fit is not None
    assert fit.exponent == pytest.approx(exponent, abs=0.03)
    assert fit.interval[0] <= exponent <= fit.interval[1]
    assert fit.interval[1] - fit.interval[0] < 0.05
    assert fit.worst < 1.15
    assert fit.n == (400,) * 4


def test_growth_that_is_no_power_law_shows_in_the_worst_ratio() -> None:
    fit = fit_growth({100: [1.0] * 20, 1_000: [1.0] * 20, 10_000: [50.0] * 20})
    assert fit is not None
    assert fit.worst > 3


def test_growth_needs_two_sizes_with_data() -> None:
    assert fit_growth({}) is None
    assert fit_growth({300: [1.0, 2.0], 3_000: []}) is None
    assert growth_text(None) == NO_DATA
    with pytest.raises(DataError, match="above 0"):
        fit_growth({300: [1.0], 3_000: [0.0]})


def test_growth_is_the_same_each_time() -> None:
    samples = {size: skewed(size, 50, size / 100) for size in (300, 3_000)}
    assert fit_growth(samples, seed=3) == fit_growth(samples, seed=3)


def test_planted_samples_are_judged() -> None:
    fast = judge_limit([10.0] * 200)
    assert (fast.verdict, fast.over) == (WITHIN, 0)
    assert fast.probability is not None
    assert fast.probability > 0.999
    slow = judge_limit([10.0] * 150 + [150.0] * 50)
    assert (slow.verdict, slow.over, slow.p95) == (OVER, 50, 150.0)
    assert slow.probability is not None
    assert slow.probability < 0.001
    edge = judge_limit([10.0] * 190 + [150.0] * 10)
    assert edge.verdict == UNDECIDED
    assert edge.probability == pytest.approx(0.5, abs=0.15)


def test_few_samples_decide_nothing_and_none_are_no_data() -> None:
    assert judge_limit([1.0] * 5).verdict == UNDECIDED
    nothing = judge_limit([])
    assert (nothing.verdict, nothing.probability, nothing.p95, nothing.n) == (NO_DATA, None, None, 0)
    assert str(nothing) == NO_DATA


def test_the_probability_is_calibrated() -> None:
    """Of many sets of samples from a source exactly at the limit, about half are given more than one half."""
    rng = np.random.default_rng(5)
    above = [judge_limit(np.where(rng.random(200) < 0.95, 1.0, 200.0).tolist()).probability for _ in range(400)]
    assert 0.4 < np.mean([value is not None and value > 0.5 for value in above]) < 0.6
    assert np.mean([value is not None and value > 0.95 for value in above]) < 0.09


def test_probabilities_never_round_to_certainty() -> None:
    assert probability_text(0.99999) == "> 0.999"
    assert probability_text(0.0) == "< 0.001"
    assert probability_text(0.25) == "0.250"


def test_the_verdict_uses_the_one_percentile_method() -> None:
    values = list(range(1, 21))
    assert judge_limit(values).p95 == percentiles(values, [95])[0] == pytest.approx(19.05)  # type: ignore[index]


@pytest.mark.parametrize(
    ("samples", "p95"), [([10, 20, 30], 29.0), (range(1, 21), 19.05), ([1.0], 1.0), ([1.0, 2.0], 1.95), ([], None)]
)
def test_lt_1_every_place_that_shows_a_p95_shows_the_same(samples: Any, p95: float | None) -> None:
    """LT-1: small samples under the one method; no samples are no data, not 0."""
    values = list(samples)
    shown = summary(values, 0)
    verdict = judge_limit(values) if values else judge_limit([])
    assert shown["p95"] == verdict.p95 == (None if p95 is None else pytest.approx(p95))
    assert shown["max"] == (max(values) if values else None)
    if not values:
        assert str(verdict) == NO_DATA
        assert ms_text(shown["p95"]) == NO_DATA


@pytest.mark.parametrize(("limit", "share"), [(0, 0.95), (float("nan"), 0.95), (100, 0), (100, 1.0)])
def test_limits_out_of_range_are_refused(limit: float, share: float) -> None:
    with pytest.raises(ConfigError):
        judge_limit([1.0], limit_ms=limit, share=share)


def test_a_pair_is_judged_by_its_differences() -> None:
    a = skewed(1, 200, 20.0)
    noise = np.random.default_rng(2).normal(0, 0.2, 200)
    assert paired(a, (np.array(a) - 5 + noise).tolist()).verdict == "better"
    worse = paired(a, (np.array(a) + 5 + noise).tolist())
    assert worse.verdict == "worse"
    assert worse.interval is not None
    assert worse.interval[0] < 5 < worse.interval[1]
    assert paired(a, (np.array(a) + noise).tolist()).verdict == "equivalent"
    assert paired(a, a).verdict == "no difference"
    assert paired(a, skewed(3, 200, 20.0)).verdict == "inconclusive"


def test_one_stall_does_not_decide_a_pair() -> None:
    a = [20.0 + 0.01 * at for at in range(100)]
    b = [value + 0.1 for value in a]
    b[50] += 5_000.0
    assert paired(a, b).verdict == "equivalent"


def test_pairs_without_data_say_so() -> None:
    assert paired([], []).verdict == "not enough data"
    assert paired([], []).median is None
    assert "no data" in str(paired([], []))
    with pytest.raises(DataError, match="same queries"):
        paired([1.0], [1.0, 2.0])


def test_a_planted_shift_is_found() -> None:
    old = skewed(1, 300, 20.0)
    assert shift(old, skewed(2, 300, 30.0)).verdict == "slower"
    assert shift(old, skewed(2, 300, 12.0)).verdict == "faster"
    assert shift(old, skewed(2, 300, 20.0), tolerance=0.2).verdict == "unchanged"
    slower = shift(old, skewed(2, 300, 30.0))
    assert slower.interval is not None
    assert slower.interval[0] < 1.5 < slower.interval[1]
    assert shift([], old).verdict == "no data"
    assert shift([1.0] * 3, old).verdict == "not enough data"


def test_a_slower_tail_is_found_beside_an_unchanged_median() -> None:
    old = skewed(1, 400, 20.0)
    new = [value * (3.0 if at % 10 == 0 else 1.0) for at, value in enumerate(old)]
    assert shift(old, new, q=50, tolerance=0.2).verdict == "unchanged"
    assert shift(old, new, q=95).verdict == "slower"


def test_other_machines_are_refused() -> None:
    mine = {"machine": {"cpu": "one", "logical_cores": 2}}
    same_machine(mine, {"machine": {"cpu": "one", "logical_cores": 2, "load_average": [3.0]}})
    with pytest.raises(RunError, match="logical_cores: 2 / 64"):
        same_machine(mine, {"machine": {"cpu": "one", "logical_cores": 64}})
