"""Filling a budget against a plain loop."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.assembly.budget import FITS, TIER_CLOSED, TOO_LARGE, fill_budget


def plain(tokens: list[int], room: int, limit: int, fill: str) -> list[int]:
    fates, closed = [], False
    for need in tokens:
        if need > limit:
            fates.append(TOO_LARGE)
        elif closed or need > room:
            closed = closed or fill == "stop"
            fates.append(TIER_CLOSED)
        else:
            room -= need
            fates.append(FITS)
    return fates


@given(
    st.lists(st.integers(1, 40), max_size=40) | st.lists(st.sampled_from([10, 20]), max_size=20),
    st.integers(-20, 300) | st.integers(0, 20).map(lambda number: number * 10),
    st.integers(-20, 300),
    st.sampled_from(["stop", "skip"]),
)
def test_against_a_plain_loop(tokens: list[int], room: int, limit: int, fill: str) -> None:
    counts = np.array(tokens, dtype=np.int64)
    fate = fill_budget(counts, room, limit, fill)
    assert fate.dtype == np.int8
    assert fate.tolist() == plain(tokens, room, limit, fill)
    assert counts[fate == FITS].sum() <= max(room, 0)
    assert counts.tolist() == tokens


@given(st.lists(st.integers(1, 40), max_size=40), st.integers(0, 300), st.integers(0, 40), st.sampled_from(["stop", "skip"]))
def test_a_larger_budget_never_shows_fewer_with_stop(tokens: list[int], room: int, more: int, fill: str) -> None:
    counts = np.array(tokens, dtype=np.int64)
    small, large = (fill_budget(counts, size, 10**6, "stop") == FITS for size in (room, room + more))
    assert (large >= small).all()
    skip = fill_budget(counts, room, 10**6, "skip") == FITS
    assert (skip >= small).all()


@pytest.mark.parametrize("fill", ["stop", "skip"])
def test_an_oversize_entry_never_blocks(fill: str) -> None:
    assert fill_budget(np.array([400, 10, 10]), 50, 50, fill).tolist() == [TOO_LARGE, FITS, FITS]


def test_stop_closes_and_skip_goes_on() -> None:
    counts = np.array([30, 25, 10, 10])
    assert fill_budget(counts, 50, 50, "stop").tolist() == [FITS, TIER_CLOSED, TIER_CLOSED, TIER_CLOSED]
    assert fill_budget(counts, 50, 50, "skip").tolist() == [FITS, TIER_CLOSED, FITS, FITS]


@pytest.mark.parametrize("fill", ["stop", "skip"])
def test_an_exact_fit_fits(fill: str) -> None:
    assert fill_budget(np.array([10, 10]), 20, 20, fill).tolist() == [FITS, FITS]
    assert fill_budget(np.array([10, 10]), 19, 20, fill).tolist() == [FITS, TIER_CLOSED]
    assert fill_budget(np.array([20, 1]), 20, 20, fill).tolist() == [FITS, TIER_CLOSED]
    assert fill_budget(np.array([21, 20]), 20, 20, fill).tolist() == [TOO_LARGE, FITS]


def test_large_counts_do_not_overflow() -> None:
    counts = np.array([2**31, 2**31, 2**31], dtype=np.int64)
    assert fill_budget(counts, 2**62, 2**62, "stop").tolist() == [FITS] * 3
