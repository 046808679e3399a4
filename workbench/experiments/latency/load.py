"""Open loop and concurrency: latency when queries come whether or not the last one is done, or several at once."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from workbench.errors import ConfigError


@dataclass(frozen=True, kw_only=True)
class OpenLoop:
    """rate: queries a second. latency: ms from a query's scheduled start to its end. service: ms from its actual start."""

    rate: float
    latency: tuple[float, ...]
    service: tuple[float, ...]

    @property
    def late(self) -> int:
        """Queries that had to wait for an earlier one for more than 1 ms."""
        return sum(whole - alone > 1.0 for whole, alone in zip(self.latency, self.service, strict=True))


def open_loop(
    call: Callable[[int], object],
    count: int,
    rate: float,
    *,
    clock: Callable[[], float] = time.perf_counter,
    sleep: Callable[[float], object] = time.sleep,
    step: Callable[[int], None] | None = None,
) -> OpenLoop:
    """Run ``call(0)`` to ``call(count - 1)`` on one worker; query i is due i / rate seconds after the start.

    A query that finds the worker busy waits, and its latency counts from when it was due. Counting from when it began
    (coordinated omission) would hide every delay that a slow query causes. Raises ConfigError for a rate that is not above 0.
    """
    if not rate > 0 or rate == float("inf"):
        raise ConfigError(f"rate is {rate!r}: must be above 0 queries a second, such as 10")
    start = clock()
    whole, alone = [], []
    for number in range(count):
        due = start + number / rate
        wait = due - clock()
        if wait > 0:
            sleep(wait)
        began = clock()
        call(number)
        end = clock()
        whole.append(1000.0 * (end - min(due, began)))
        alone.append(1000.0 * (end - began))
        if step:
            step(1)
    return OpenLoop(rate=rate, latency=tuple(whole), service=tuple(alone))


@dataclass(frozen=True, kw_only=True)
class Parallel:
    """workers: threads that ask at once. latency: ms per query, by query. seconds: for all. results: by query."""

    workers: int
    latency: tuple[float, ...]
    seconds: float
    results: tuple[Any, ...]

    @property
    def per_second(self) -> float | None:
        """Queries answered a second; None without any."""
        return len(self.latency) / self.seconds if self.latency and self.seconds > 0 else None


def parallel(call: Callable[[int], Any], count: int, workers: int, *, clock: Callable[[], float] = time.perf_counter) -> Parallel:
    """Run ``call(0)`` to ``call(count - 1)`` on ``workers`` threads, each taking the next query when it is done with one.

    The first error ends the run and is raised. Raises ConfigError for fewer than one worker.
    """
    if isinstance(workers, bool) or not isinstance(workers, int) or not 1 <= workers <= 256:
        raise ConfigError(f"concurrency is {workers!r}: must be a whole number of threads from 1 to 256")
    latency, results = [0.0] * count, [None] * count
    errors: list[BaseException] = []
    lock, turn = threading.Lock(), iter(range(count))

    def work() -> None:
        while not errors:
            with lock:
                number = next(turn, None)
            if number is None:
                return
            began = clock()
            try:
                results[number] = call(number)
            except BaseException as error:
                errors.append(error)
                return
            latency[number] = 1000.0 * (clock() - began)

    threads = [threading.Thread(target=work, name=f"load-{at}", daemon=True) for at in range(workers)]
    start = clock()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    seconds = clock() - start
    if errors:
        raise errors[0]
    return Parallel(workers=workers, latency=tuple(latency), seconds=seconds, results=tuple(results))


def levels_of(text: str | Sequence[int]) -> tuple[int, ...]:
    """``1,2,4,8`` as numbers; empty for none. Raises ConfigError."""
    try:
        levels = tuple(int(part) for part in text.split(",") if part.strip()) if isinstance(text, str) else tuple(text)
    except ValueError:
        raise ConfigError(f"concurrency is {text!r}: must be whole numbers separated by commas, such as 1,2,4,8") from None
    if any(level < 1 or level > 256 for level in levels):
        raise ConfigError(f"concurrency is {text!r}: must be numbers of threads from 1 to 256")
    return levels
