"""How many content keys of one sentence occur in another, for any number of pairs at once."""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from workbench.assembly.conflict_bits import COUNTER_BITS, COUNTERS, ROLES, tally
from workbench.assembly.conflict_features import RuleFeatures

Ints = npt.NDArray[np.int64]
_AT: Final = {name: at for at, name in enumerate(ROLES)}
_TALLIES: Final = np.array([tally(role) for role in range(1 << len(ROLES))], dtype=np.uint64).T.copy()
_COUNTER: Final = np.uint64((1 << COUNTER_BITS) - 1)
MOST_KEYS: Final = int(_COUNTER)
"""Sentences with more keys than this cannot be counted."""


def spread(starts: Ints, sizes: Ints) -> Ints:
    """The numbers ``starts[i] ... starts[i] + sizes[i] - 1`` of every i, one after the other."""
    ends = np.cumsum(sizes)
    total = int(ends[-1]) if ends.size else 0
    return np.arange(total) + np.repeat(starts - ends + sizes, sizes)


class Counts:
    """Numbers of keys by role, unpacked from the counters of `tally` when asked for. every: of all roles and none, (p,)."""

    def __init__(self, packed: tuple[npt.NDArray[np.uint64], npt.NDArray[np.uint64]], every: Ints) -> None:
        self._packed, self.every = packed, every

    def __getitem__(self, role: str) -> Ints:
        number, at = divmod(_AT[role], COUNTERS)
        counts: Ints = (self._packed[number] >> np.uint64(COUNTER_BITS * at) & _COUNTER).astype(np.int64)
        return counts


def totals(features: RuleFeatures, parts: Ints) -> Counts:
    """How many keys each of the sentences has."""
    columns = features.parts
    return Counts((columns["totals_0"][parts], columns["totals_1"][parts]), columns["keys"][parts].astype(np.int64))


def matched(features: RuleFeatures, a: Ints, b: Ints) -> Counts:
    """How many keys of every sentence ``a`` occur in its ``b``; at least as many as are `near` one there.

    Keys of one place count as equal.
    """
    starts = np.take(features.first_key, a)
    sizes = np.take(features.parts["keys"], a).astype(np.int64)
    keys = spread(starts, sizes)
    place, roles = np.take(features.places, keys), np.take(features.roles, keys)
    words = features.parts["places"]
    word = np.take(words.ravel(), np.repeat(b * words.shape[1], sizes) + (place >> 6))
    hit = word >> (place & 63).astype(np.uint64) & np.uint64(1)
    held = np.flatnonzero(sizes)
    first = (np.cumsum(sizes) - sizes)[held]

    def sums(values: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
        out = np.zeros(a.size, dtype=np.uint64)
        if held.size:
            out[held] = np.add.reduceat(values, first)
        return out

    packed = sums(np.take(_TALLIES[0], roles) * hit), sums(np.take(_TALLIES[1], roles) * hit)
    return Counts(packed, sums(hit).astype(np.int64))
