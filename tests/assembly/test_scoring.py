"""Signals stay in [0, 1], scores are monotone in them, and effective weights tell what really orders the pool."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from workbench.assembly.scoring import ages, boost_factors, effective_weights, frequency, recency, weighted_score
from workbench.config import SIGNALS, Weights

DAY = 86_400.0
unit = st.floats(0, 1)
weights = st.builds(Weights, **{name: st.floats(0, 10) for name in SIGNALS})


@given(st.lists(st.floats(allow_nan=False), min_size=1, max_size=20), st.floats(1e-3, 1e6))
def test_recency_is_in_the_unit_interval_and_falls_with_age(days: list[float], half_life: float) -> None:
    values = recency(np.sort(days), half_life)
    assert ((values >= 0) & (values <= 1)).all()
    assert (np.diff(values) <= 0).all()


def test_recency_by_hand() -> None:
    np.testing.assert_allclose(recency([0, 30, 60, 90], 30), [1, 0.5, 0.25, 0.125], rtol=1e-15)
    assert recency([-5, math.inf, -math.inf], 30).tolist() == [1, 0, 1]
    assert recency([], 30).shape == (0,)
    assert recency(15, 30) == pytest.approx(0.5**0.5)


@given(st.lists(st.integers(0, 2**63 - 1), min_size=1, max_size=20), st.integers(1, 10**9))
def test_frequency_is_in_the_unit_interval_rises_and_saturates(counts: list[int], saturation: int) -> None:
    values = frequency(np.sort(counts), saturation)
    assert ((values >= 0) & (values <= 1)).all()
    assert (np.diff(values) >= 0).all()
    assert frequency([0, saturation, 2**62], saturation).tolist() == [0, 1, 1]


def test_frequency_by_hand() -> None:
    assert frequency([9], 99)[0] == pytest.approx(0.5)


def test_ages() -> None:
    now = 1000 * DAY
    moments = np.array([now, now - DAY, now + 5, now + DAY, now + DAY + 1, now + 3650 * DAY, -62135596800.0])
    found = ages(moments, now)
    assert found[:4].tolist() == [0, 1, 0, 0]
    assert np.isinf(found[4:6]).all()
    assert found[6] > 700_000


@given(
    st.integers(1, 8).flatmap(lambda n: hnp.arrays(np.float64, (5, n), elements=unit)),
    weights,
    st.integers(0, 4),
    unit,
    st.floats(0, 100),
)
def test_raising_a_signal_never_lowers_a_score(
    values: Any, given_weights: Weights, signal: int, more: float, factor: float
) -> None:
    factors = np.full(values.shape[1], factor)
    before = weighted_score(values, given_weights, factors)
    raised = values.copy()
    raised[signal, 0] = max(raised[signal, 0], more)
    after = weighted_score(raised, given_weights, factors)
    assert after[0] >= before[0]
    assert after[1:].tolist() == before[1:].tolist()
    assert (before >= 0).all()
    assert (before <= factor * sum(given_weights.as_tuple()) * (1 + 1e-12)).all()


def test_scores_do_not_depend_on_company() -> None:
    values = np.random.default_rng(0).random((5, 200))
    together = weighted_score(values, Weights(), np.ones(200))
    for part in (slice(0, 1), slice(5, 9), slice(100, 200)):
        assert weighted_score(values[:, part], Weights(), np.ones(200)[part]).tolist() == together[part].tolist()
    assert weighted_score(np.empty((5, 0)), Weights(), np.empty(0)).shape == (0,)


def test_the_score_is_the_weighted_sum() -> None:
    values = np.array([[1.0], [0.5], [0.25], [0.0], [1.0]])
    assert weighted_score(values, Weights(), np.ones(1))[0] == pytest.approx(0.5 + 0.075 + 0.0375 + 0.1)
    assert weighted_score(values, Weights(), np.array([2.0]))[0] == pytest.approx(2 * (0.5 + 0.075 + 0.0375 + 0.1))


def test_boosts_are_by_category() -> None:
    category = np.array([1, 0, 1, 2])
    assert boost_factors(category, ("event", "fact", "job"), {"fact": 2.0, "none": 9.0}).tolist() == [2, 1, 2, 1]
    assert boost_factors(np.empty(0, dtype=np.int64), (), {"fact": 2.0}).shape == (0,)


def test_effective_weights_sum_to_one_and_ignore_constants() -> None:
    values = np.array([[0.0, 1.0], [0.5, 0.5], [0.1, 0.1], [0.2, 0.7], [0.3, 0.3]])
    found = effective_weights(values, Weights())
    assert list(found) == list(SIGNALS)
    assert found["relevance"] == pytest.approx(0.5 / 0.55)
    assert found["recency"] == pytest.approx(0.05 / 0.55)
    assert found["importance"] == found["confidence"] == found["frequency"] == 0


@pytest.mark.parametrize("n", [1, 2, 3, 7, 10, 100])
@pytest.mark.parametrize("value", [0.1, 0.3, 1 / 3, 0.7, 1.0])
def test_nothing_is_effective_where_nothing_varies(n: int, value: float) -> None:
    # the standard deviation of a constant is not always 0 in floating point
    assert set(effective_weights(np.full((5, n), value), Weights()).values()) == {0.0}


def test_no_candidates_or_no_weights() -> None:
    assert set(effective_weights(np.empty((5, 0)), Weights()).values()) == {0.0}
    none = Weights(relevance=0, importance=0, confidence=0, recency=0, frequency=0)
    assert set(effective_weights(np.random.default_rng(0).random((5, 9)), none).values()) == {0.0}
