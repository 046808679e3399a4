"""Verdicts on pairs of texts that were asked before: one array of bounded size, read and written for whole pools at once."""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]

MOST: Final = 1 << 18
"""Verdicts kept at most (8 bytes each): all pairs of 700 texts. Of more, the later of two that meet in one place stays."""
_ODD: Final = 0x9E3779B97F4A7C15
_CODE: Final = 8


class VerdictMemo:
    """What the pairs of n texts were judged to be. The pools of one user's queries overlap, so the same pairs come back.

    A place holds the number of the pair and its code in one 64-bit number, so that threads never see one without the other.
    """

    def __init__(self, n: int) -> None:
        pairs = n * (n - 1) // 2
        self._bits = max(min(pairs, MOST) - 1, 1).bit_length()
        self._exact = pairs <= 1 << self._bits
        self._places = np.zeros(1 << self._bits, dtype=np.int64)

    def _pairs(self, left: Ints, right: Ints) -> tuple[Ints, Ints]:
        """The number of each pair, whatever its order, and its place."""
        low, high = np.minimum(left, right), np.maximum(left, right)
        number = (high * (high - 1) // 2 + low) * (low < high)
        if self._exact:
            return number, number
        mixed = (number.astype(np.uint64) * np.uint64(_ODD)) >> np.uint64(64 - self._bits)
        return number, mixed.astype(np.int64)

    def recall(self, left: Ints, right: Ints) -> Ints:
        """Codes of pairs; -1 for those not known, 0 for a row with itself. Shape (p,)."""
        number, place = self._pairs(left, right)
        held = self._places[place]
        found = np.where(held >> _CODE == number + 1, held & ((1 << _CODE) - 1), -1)
        found[left == right] = 0
        return found

    def keep(self, left: Ints, right: Ints, codes: Ints) -> None:
        """Remembers codes, each in 0 .. 255, of pairs of different rows."""
        number, place = self._pairs(left, right)
        self._places[place] = ((number + 1) << _CODE) | codes
