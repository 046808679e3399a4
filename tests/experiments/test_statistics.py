"""Intervals, tests, corrections and verdicts: exact on small cases, coherent with each other, honest about too little data."""

from __future__ import annotations

import itertools
import os
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from workbench.errors import ConfigError, DataError
from workbench.experiments.assignment import assign_arm
from workbench.experiments.statistics import (
    Interval,
    Verdict,
    benjamini_hochberg,
    cluster_bootstrap_ci,
    cluster_permutation_test,
    effect_size,
    holm,
    is_constant,
    minimum_detectable_effect,
    verdict,
)


def clustered(g: int, seed: int = 0, shift: float = 0.0) -> tuple[np.ndarray, np.ndarray]:
    """Differences of g users with 2 to 12 queries each."""
    rng = np.random.default_rng([g, seed])
    codes = np.repeat(np.arange(g), rng.integers(2, 13, g))
    return shift + rng.normal(0, 0.5, g)[codes] + rng.normal(0, 1, len(codes)), codes


def brute_force_p(values: np.ndarray, codes: np.ndarray, mean: float = 0.0) -> float:
    sums = np.bincount(codes, weights=values - mean)
    flips = np.array(list(itertools.product([-1, 1], repeat=len(sums))))
    return float((np.abs(flips @ sums) >= abs(sums.sum()) - 1e-12).mean())


# permutation test


@pytest.mark.parametrize("g", [2, 3, 6, 9])
@pytest.mark.parametrize("shift", [0.0, 0.4, 5.0])
def test_small_cases_are_enumerated_exactly(g: int, shift: float) -> None:
    values, codes = clustered(g, shift=shift)
    test = cluster_permutation_test(values, codes)
    assert test is not None
    assert test.exact
    assert test.p_value == pytest.approx(brute_force_p(values, codes), abs=1e-12)
    assert test.p_floor == 2 / 2**g <= test.p_value
    assert (test.n, test.n_clusters) == (len(values), g)


def test_random_flips_come_close_to_the_exact_p() -> None:
    values, codes = clustered(13, seed=3, shift=0.25)
    exact = cluster_permutation_test(values, codes)
    drawn = cluster_permutation_test(values, codes, n_resamples=4_000)
    assert exact is not None
    assert drawn is not None
    assert exact.exact
    assert not drawn.exact
    assert 0.01 < exact.p_value < 0.5
    assert drawn.p_value == pytest.approx(exact.p_value, abs=4 * np.sqrt(exact.p_value / 4_000))


@pytest.mark.parametrize("g", [2, 10, 30, 1_100])
def test_p_is_never_0_and_1_for_identical_arms(g: int) -> None:
    codes = np.repeat(np.arange(g), 3)
    huge = cluster_permutation_test(np.full(3 * g, 1e6), codes)
    none = cluster_permutation_test(np.zeros(3 * g), codes)
    assert huge is not None
    assert none is not None
    assert huge.p_value == huge.p_floor == max(2 / 2 ** min(g, 1_000), 1 / 100_000 if g > 17 else 0)
    assert (none.p_value, none.p_floor) == (1.0, 1.0)


def test_clusters_that_cancel_out_raise_the_floor() -> None:
    test = cluster_permutation_test([1, -1, 2, 2, 3], ["a", "a", "b", "b", "c"])
    assert test is not None
    assert test.p_floor == test.p_value == 0.5


def test_rounding_does_not_break_ties() -> None:
    # each flip of equal sums is a tie in exact arithmetic only
    test = cluster_permutation_test([0.1 + 0.2, 0.3, -0.3], [0, 1, 2])
    assert test is not None
    assert test.p_value == 1.0


# interval


@pytest.mark.parametrize("g", [6, 9, 12, 25])
@pytest.mark.parametrize("level", [0.9, 0.95])
def test_the_interval_holds_the_means_that_the_test_does_not_reject(g: int, level: float) -> None:
    values, codes = clustered(g, seed=1, shift=0.2)
    interval = cluster_bootstrap_ci(values, codes, level=level)
    assert interval is not None
    width = interval.high - interval.low
    for end, inward in ((interval.low, 1), (interval.high, -1)):
        for step, inside in ((1e-6, True), (-1e-6, False)):
            test = cluster_permutation_test(values - (end + inward * step * width), codes, n_resamples=9_999)
            assert test is not None
            assert (test.p_value > 1 - level + 1e-12) == inside
    assert interval.low < values.mean() < interval.high
    assert values.min() <= interval.low
    assert interval.high <= values.max()


@settings(max_examples=60, deadline=None)
@given(st.integers(2, 18), st.integers(0, 10_000), st.floats(-3, 3), st.floats(0.01, 100))
def test_the_interval_moves_and_scales_with_the_data(g: int, seed: int, shift: float, scale: float) -> None:
    values, codes = clustered(g, seed)
    plain, moved = cluster_bootstrap_ci(values, codes), cluster_bootstrap_ci(shift + scale * values, codes)
    mirrored = cluster_bootstrap_ci(-values, codes)
    assert plain is not None
    assert moved is not None
    assert mirrored is not None
    np.testing.assert_allclose(moved.bounds, shift + scale * np.array(plain.bounds), rtol=1e-9, atol=1e-9)
    np.testing.assert_array_equal(mirrored.bounds, (-plain.high, -plain.low))


def test_labels_do_not_matter_only_the_partition_does() -> None:
    values, codes = clustered(8)
    names = np.array([f"user-{code}" for code in codes])
    order = np.random.default_rng(0).permutation(len(values))
    first, second = cluster_bootstrap_ci(values, codes), cluster_bootstrap_ci(values[order], names[order])
    assert first is not None
    assert second is not None
    np.testing.assert_allclose(first.bounds, second.bounds, rtol=1e-12)


def test_two_equal_clusters_give_a_t_interval_of_their_means() -> None:
    values, codes = np.array([1.0, 3.0, 2.0, 8.0]), [0, 0, 1, 1]
    interval = cluster_bootstrap_ci(values, codes)
    assert interval is not None
    np.testing.assert_allclose(interval.bounds, stats.t.interval(0.95, 1, 3.5, stats.sem([2.0, 5.0])))
    assert "Satterthwaite" in interval.method


def test_too_little_data_gives_nothing() -> None:
    for values, clusters in (([1.0], ["a"]), ([1.0, 2.0, 3.0], ["a", "a", "a"]), ([], [])):
        assert cluster_bootstrap_ci(values, clusters) is None
        assert cluster_permutation_test(values, clusters) is None


def test_constant_values_are_said_to_be_without_variance() -> None:
    interval = cluster_bootstrap_ci([0.3, 0.1 + 0.2, 0.3], [0, 1, 2])
    assert interval is not None
    assert interval.method == "zero variance"
    assert is_constant(np.array([0.3, 0.1 + 0.2]))
    assert not is_constant(np.array([0.3, 0.3 + 1e-9]))
    assert is_constant(np.array([0.7 - 0.6, 0.2 - 0.1]), scale=0.7)


def test_equal_cluster_means_do_not_pretend_to_certainty() -> None:
    interval = cluster_bootstrap_ci([0.0, 1.0] * 8, np.repeat(np.arange(8), 2))
    assert interval is not None
    assert interval.low < 0.4 < 0.6 < interval.high
    assert "by query" in interval.method


def test_queries_of_one_user_count_less_than_queries_of_many() -> None:
    rng = np.random.default_rng(5)
    effects = np.repeat(rng.normal(0, 1, 12), 30)
    values = effects + rng.normal(0, 0.1, len(effects))
    by_user = cluster_bootstrap_ci(values, np.repeat(np.arange(12), 30))
    by_query = cluster_bootstrap_ci(values, np.arange(len(values)))
    assert by_user is not None
    assert by_query is not None
    assert by_user.high - by_user.low > 3 * (by_query.high - by_query.low)


def test_an_interval_is_clipped_to_what_is_possible() -> None:
    interval = Interval(-0.2, 1.3, 0.95, "t", 9, 3)
    assert interval.clipped(0.0, 1.0).bounds == (0.0, 1.0)
    assert interval.clipped(None, None) == interval


def test_bad_input_is_refused() -> None:
    with pytest.raises(DataError, match="NaN or infinite"):
        cluster_bootstrap_ci([1.0, np.nan], ["a", "b"])
    with pytest.raises(DataError, match="one element per query"):
        cluster_permutation_test([1.0, 2.0], ["a"])
    with pytest.raises(DataError, match="decimal numbers"):
        cluster_bootstrap_ci([1.0, 2.0], [0.5, 1.5])
    with pytest.raises(ConfigError, match="level"):
        cluster_bootstrap_ci([1.0, 2.0], ["a", "b"], level=95)
    with pytest.raises(ConfigError, match="n_resamples"):
        cluster_bootstrap_ci([1.0, 2.0], ["a", "b"], n_resamples=10)
    with pytest.raises(ConfigError, match="seed"):
        cluster_permutation_test([1.0, 2.0], ["a", "b"], seed=-1)


SCRIPT = """
import hashlib, numpy as np
from workbench.experiments.comparison import compare_values
rng = np.random.default_rng(0)
users = np.repeat([f"u{i}" for i in range(40)], 25)
a = {"Recall@10": rng.random(1000), "Tokens": rng.random(1000) * 900}
b = {name: column + rng.normal(0.01, 0.2, 1000) for name, column in a.items()}
print(hashlib.sha256(repr(compare_values(a, b, users).to_dict()).encode()).hexdigest())
"""


def test_the_same_bits_for_any_thread_count_and_hash_seed() -> None:
    digests = set()
    for threads, hash_seed in (("1", "0"), ("2", "77")):
        names = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
        env = os.environ | dict.fromkeys(names, threads) | {"PYTHONHASHSEED": hash_seed}
        run = subprocess.run([sys.executable, "-c", SCRIPT], env=env, capture_output=True, text=True, check=True)
        digests.add(run.stdout)
    assert len(digests) == 1


def test_the_seed_decides_random_flips() -> None:
    values, codes = clustered(30, shift=0.2)
    first, again, other = (cluster_permutation_test(values, codes, seed=seed) for seed in (1, 1, 2))
    assert first == again
    assert first != other


# corrections

P_VALUES = [0.012, 0.04, 0.047, 0.3, 0.33, 0.41, 0.55, 0.62, 0.8, 0.93]


def test_corrected_for_the_family_nothing_is_significant() -> None:
    """SG-2: three of ten raw p-values are under 0.05, none after either correction."""
    assert sum(p < 0.05 for p in P_VALUES) == 3
    for adjusted in (holm(P_VALUES), benjamini_hochberg(P_VALUES)):
        assert (adjusted > 0.05).all()
        assert (adjusted >= P_VALUES).all()
        assert (adjusted <= 1.0).all()
    assert holm(P_VALUES)[0] == pytest.approx(0.12)
    assert benjamini_hochberg(P_VALUES)[0] == pytest.approx(0.12)


@settings(max_examples=100, deadline=None)
@given(st.lists(st.one_of(st.floats(0, 1), st.sampled_from([0.01, 0.05, 1.0])), max_size=30), st.randoms())
def test_adjusted_p_values(raw: list[float], random: object) -> None:
    q, h = benjamini_hochberg(raw), holm(raw)
    if raw:
        np.testing.assert_allclose(q, stats.false_discovery_control(raw, method="bh"), rtol=1e-12, atol=0)
        assert h.min() == pytest.approx(min(1.0, min(raw) * len(raw)), rel=1e-12)
    for adjusted in (q, h):
        assert (adjusted >= raw).all()
        assert (adjusted <= 1.0).all()
        # a larger p stays larger, and the order in which they come does not matter
        assert (np.diff(adjusted[np.argsort(raw, kind="stable")]) >= 0).all()
    assert (h >= q - 1e-15).all()
    np.testing.assert_array_equal(holm(raw[::-1])[::-1], h)
    np.testing.assert_array_equal(benjamini_hochberg(raw[::-1])[::-1], q)


@pytest.mark.parametrize("bad", [[0.5, 1.5], [-0.1], [float("nan")], [[0.1]]])
def test_bad_p_values_are_refused(bad: list[float]) -> None:
    for correct in (holm, benjamini_hochberg):
        with pytest.raises(DataError):
            correct(bad)


# effect size, detectable effect, verdict


def test_effect_size_is_mean_over_spread_of_the_differences() -> None:
    assert effect_size(np.array([0.0, 1.0, 2.0])) == pytest.approx(1.0)
    assert effect_size(np.array([1.0, 1.0])) is None
    assert effect_size(np.array([1.0])) is None


def test_detectable_effect() -> None:
    values, codes = clustered(20)
    interval = cluster_bootstrap_ci(values, codes)
    assert interval is not None
    effect = minimum_detectable_effect(interval)
    half = (interval.high - interval.low) / 2
    assert effect == pytest.approx(half * (1 + stats.t.ppf(0.8, 19) / stats.t.ppf(0.975, 19)))
    assert (minimum_detectable_effect(interval, power=0.9) or 0) > (effect or 0)
    # five clusters cannot reach p = 0.05, so no effect is detectable
    assert minimum_detectable_effect(cluster_bootstrap_ci(*clustered(5))) is None
    assert minimum_detectable_effect(None) is None
    with pytest.raises(ConfigError, match="power"):
        minimum_detectable_effect(interval, power=80)


@pytest.mark.parametrize(
    ("ci", "p", "difference", "margin", "higher", "expected"),
    [
        ((0.02, 0.06), 0.01, 0.04, 0.01, True, Verdict.BETTER),
        ((0.02, 0.06), 0.01, 0.04, 0.01, False, Verdict.WORSE),
        ((-0.06, -0.02), 0.01, -0.04, 0.01, True, Verdict.WORSE),
        ((-0.06, -0.02), 0.01, -0.04, None, False, Verdict.BETTER),
        ((0.02, 0.06), 0.06, 0.04, 0.01, True, Verdict.INCONCLUSIVE),
        ((-0.005, 0.006), 0.8, 0.001, 0.01, True, Verdict.EQUIVALENT),
        ((0.002, 0.006), 0.001, 0.004, 0.01, True, Verdict.EQUIVALENT),
        ((-0.005, 0.006), 0.8, 0.001, None, True, Verdict.INCONCLUSIVE),
        ((-0.005, 0.012), 0.8, 0.001, 0.01, True, Verdict.INCONCLUSIVE),
        (None, None, 0.4, 0.01, True, Verdict.NOT_ENOUGH_DATA),
    ],
)
def test_verdicts(
    ci: tuple[float, float] | None, p: float | None, difference: float, margin: float | None, higher: bool, expected: str
) -> None:
    got = verdict(
        n=50,
        n_clusters=10,
        identical=False,
        difference=difference,
        ci=ci,
        p_adjusted=p,
        margin=margin,
        higher_is_better=higher,
    )
    assert got == expected


# live assignment


def test_assignment_is_stable_even_and_independent_between_trials() -> None:
    users = [f"user-{number}" for number in range(6_000)]
    arms = ["control", "new", "newer"]
    first = [assign_arm(user, arms, salt="march") for user in users]
    assert first == [assign_arm(user, arms, salt="march") for user in users]
    pinned = [assign_arm(user, arms, salt="march") for user in ("ana", "bo", "Zoë", "user-1")]
    assert pinned == ["control", "newer", "new", "newer"]  # a trial that runs must never reassign its users
    counts = [first.count(arm) for arm in arms]
    assert stats.chisquare(counts).pvalue > 0.001
    second = [assign_arm(user, arms, salt="april") for user in users]
    table = [[sum(pair == (one, two) for pair in zip(first, second, strict=True)) for two in arms] for one in arms]
    assert stats.chi2_contingency(table).pvalue > 0.001


def test_assignment_refuses_bad_arms() -> None:
    for arms in ([], ["a", "a"], "ab", ["a", ""]):
        with pytest.raises(ConfigError, match="arms"):
            assign_arm("ana", arms, salt="s")
    with pytest.raises(ConfigError, match="user_id"):
        assign_arm("", ["a"], salt="s")
    with pytest.raises(ConfigError, match="salt"):
        assign_arm("ana", ["a"], salt="")
