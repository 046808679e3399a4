"""Random numbers whose every draw depends on the seed and a name only, so that nothing else can change the bytes.

A stream is Python's Mersenne Twister seeded with a SHA-256 over its name; of that generator only ``random()`` is used, whose
sequence Python promises to keep for a given integer seed. Choices, shuffles and samples are made here, with integer
arithmetic, because the library's own have changed between releases.
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Sequence
from typing import TypeVar

T = TypeVar("T")


class Stream:
    """A named sequence of random numbers. Equal names give equal sequences in every process and on every machine.

    Example:
        >>> Stream(7, "user", 3).below(100) == Stream(7, "user", 3).below(100)
        True
    """

    __slots__ = ("_next", "name")

    def __init__(self, *name: int | str) -> None:
        """``name``: whole numbers and texts; texts are separated, so ``("ab", "c")`` and ``("a", "bc")`` differ."""
        self.name = "\x1f".join(f"{type(part).__name__}:{part}" for part in name)
        digest = hashlib.sha256(self.name.encode("utf-8")).digest()
        self._next = random.Random(int.from_bytes(digest[:16], "big")).random

    def below(self, n: int) -> int:
        """A whole number from 0 to ``n - 1``; ``n`` from 1 to 2^31."""
        return int(self._next() * n)

    def between(self, low: int, high: int) -> int:
        """A whole number from ``low`` to ``high``, both included."""
        return low + int(self._next() * (high - low + 1))

    def chance(self, percent: int) -> bool:
        """True in ``percent`` of 100 cases."""
        return self._next() * 100 < percent

    def pick(self, items: Sequence[T]) -> T:
        """One of ``items``."""
        return items[int(self._next() * len(items))]

    def shuffled(self, items: Sequence[T]) -> list[T]:
        """``items`` in random order (Fisher and Yates)."""
        out = list(items)
        for last in range(len(out) - 1, 0, -1):
            other = int(self._next() * (last + 1))
            out[last], out[other] = out[other], out[last]
        return out

    def sample(self, items: Sequence[T], n: int) -> list[T]:
        """``n`` different positions of ``items``; all of them, shuffled, when there are fewer."""
        size = len(items)
        if n * 4 >= size:
            return self.shuffled(items)[:n]
        seen: set[int] = set()
        found: list[T] = []
        while len(found) < n:
            at = int(self._next() * size)
            if at not in seen:
                seen.add(at)
                found.append(items[at])
        return found

    def weighted(self, weights: Sequence[int]) -> int:
        """A position, drawn in proportion to whole-number weights of which one at least is positive."""
        mark = int(self._next() * sum(weights))
        for at, weight in enumerate(weights):
            mark -= weight
            if mark < 0:
                return at
        return len(weights) - 1
