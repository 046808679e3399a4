"""Filling a token budget in a given order."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

FITS = 0
TIER_CLOSED = 1
TOO_LARGE = 2


def fill_budget(tokens: npt.NDArray[np.int64], room: int, limit: int, fill: str) -> npt.NDArray[np.int8]:
    """Decide entry by entry, best first, what fits.

    tokens: counts in score order, shape (n,). room: tokens left for entries. limit: what one entry may take when it has the
    tier to itself; a larger one is skipped and never blocks. fill: ``stop`` closes the tier at the first entry that does not
    fit, ``skip`` goes on to smaller ones. Returns FITS, TIER_CLOSED or TOO_LARGE for each, int8, shape (n,).
    """
    fate = np.full(tokens.shape, TIER_CLOSED, dtype=np.int8)
    large = tokens > limit
    fate[large] = TOO_LARGE
    order = np.flatnonzero(~large)
    if fill == "stop":
        used = np.cumsum(tokens[order])
        fate[order[: int(np.searchsorted(used, room, side="right"))]] = FITS
        return fate
    for position in order.tolist():
        need = int(tokens[position])
        if need <= room:
            fate[position] = FITS
            room -= need
    return fate
