"""Open loop on a virtual clock, and threads that take turns."""

from __future__ import annotations

import threading

import pytest

from workbench.errors import ConfigError
from workbench.experiments.latency.load import levels_of, open_loop, parallel


class VirtualClock:
    """Time that only passes when something takes it."""

    def __init__(self) -> None:
        self.now = 100.0
        self.slept: list[float] = []

    def __call__(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds


def test_a_server_slower_than_the_rate_makes_everyone_wait_longer() -> None:
    clock = VirtualClock()

    def serve(_: int) -> None:
        clock.now += 0.150  # 150 ms of work, 10 queries a second

    found = open_loop(serve, 20, 10.0, clock=clock, sleep=clock.sleep)
    assert found.service == pytest.approx([150.0] * 20)
    # query i is due at 100 i ms and done at 150 (i + 1) ms
    assert found.latency == pytest.approx([150.0 + 50.0 * at for at in range(20)])
    assert found.late == 19
    assert clock.slept == []


def test_one_stall_is_charged_to_all_that_it_delays() -> None:
    clock = VirtualClock()

    def serve(number: int) -> None:
        clock.now += 1.0 if number == 3 else 0.010

    found = open_loop(serve, 20, 10.0, clock=clock, sleep=clock.sleep)
    assert found.latency[2] == pytest.approx(10.0)
    assert found.latency[3] == pytest.approx(1000.0)
    assert found.latency[4] == pytest.approx(910.0)
    assert sum(value > 50 for value in found.latency) > 8
    assert sum(value > 50 for value in found.service) == 1  # what counting from the actual start would have said


def test_a_fast_server_waits_for_the_schedule() -> None:
    clock = VirtualClock()

    def serve(_: int) -> None:
        clock.now += 0.020

    found = open_loop(serve, 5, 4.0, clock=clock, sleep=clock.sleep)
    assert found.latency == pytest.approx([20.0] * 5)
    assert found.late == 0
    assert sum(clock.slept) == pytest.approx(1.0 - 4 * 0.020)


@pytest.mark.parametrize("rate", [0.0, -1.0, float("nan"), float("inf")])
def test_rates_that_are_none_are_refused(rate: float) -> None:
    with pytest.raises(ConfigError, match="rate is"):
        open_loop(lambda _: None, 1, rate)


@pytest.mark.parametrize("workers", [1, 3, 8])
def test_every_query_is_answered_once_and_in_its_place(workers: int) -> None:
    seen: list[int] = []
    found = parallel(lambda at: (seen.append(at), at * at)[1], 50, workers)
    assert found.results == tuple(at * at for at in range(50))
    assert sorted(seen) == list(range(50))
    assert len(found.latency) == 50
    assert min(found.latency) >= 0


def test_queries_run_at_the_same_time() -> None:
    meeting = threading.Barrier(4, timeout=20)
    parallel(lambda _: meeting.wait(), 4, 4)  # would never meet on fewer than four threads


def test_an_error_in_a_thread_is_raised() -> None:
    def serve(number: int) -> None:
        if number == 7:
            raise RuntimeError("query seven")

    with pytest.raises(RuntimeError, match="query seven"):
        parallel(serve, 20, 4)


def test_no_queries_have_no_rate() -> None:
    assert parallel(lambda _: None, 0, 2).per_second is None


def test_levels() -> None:
    assert levels_of("1,2, 8") == (1, 2, 8)
    assert levels_of("") == ()
    for text in ("two", "0", "1,-3"):
        with pytest.raises(ConfigError, match="concurrency is"):
            levels_of(text)
