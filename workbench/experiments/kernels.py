"""The inner loops of replay, compiled by numba: score a pool, fill the tiers, count what the judgement asks about.

They do what ``assembly.selection.select`` does, entry for entry. Scores are added in the order of ``SIGNALS`` term by term and
never fused or re-associated (no fast-math), so ties fall as they do there. The tiers are not sorted: a bisection over score
values finds the place where a tier closes, and only the few entries around it are put in order. One pass of it is branch-free
and runs on the vector unit. Compiled code is cached on disk; the first call on a machine takes some seconds.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numpy as np
from numba import njit

from workbench.assembly.selection import CHOSEN, NO_ROOM, OVERSIZE, SHOWN_AS_PREFERENCE, WEAK

_Function = TypeVar("_Function", bound=Callable[..., Any])
_compiled: Callable[[_Function], _Function] = cast(Any, njit)(cache=True, nogil=True, error_model="numpy")

KERNEL_VERSION = 1
_CHOSEN, _NO_ROOM, _OVERSIZE, _WEAK, _SHOWN = CHOSEN, NO_ROOM, OVERSIZE, WEAK, SHOWN_AS_PREFERENCE
# Bisection stops when this few entries are left between its ends, or after so many halvings (then ties are left).
_FEW = 6
_HALVINGS = 40
_NO_LIMIT = 2**62


@_compiled
def score(signals: Any, factor: Any, weights: Any, start: int, stop: int, out: Any) -> None:
    """``factor * sum(weight * signal)`` of rows start:stop of ``signals`` (5, N) into ``out[: stop - start]``."""
    w0, w1, w2, w3, w4 = weights[0], weights[1], weights[2], weights[3], weights[4]
    s0, s1, s2 = signals[0, start:stop], signals[1, start:stop], signals[2, start:stop]
    s3, s4, boost = signals[3, start:stop], signals[4, start:stop], factor[start:stop]
    for i in range(stop - start):
        out[i] = ((((w0 * s0[i] + w1 * s1[i]) + w2 * s2[i]) + w3 * s3[i]) + w4 * s4[i]) * boost[i]


@_compiled
def _in_order(key: Any, low: float, high: float, need: Any, most: int) -> Any:
    """Positions with low < key <= high and need <= most, by (-key, position)."""
    found = np.empty(key.size, dtype=np.int64)
    count = 0
    for i in range(key.size):
        if low < key[i] <= high and need[i] <= most:
            found[count] = i
            count += 1
    found = found[:count]
    if count > 24:
        return found[np.argsort(-key[found], kind="mergesort")]
    for i in range(1, count):
        item, j = found[i], i
        while j > 0 and key[found[j - 1]] < key[item]:
            found[j] = found[j - 1]
            j -= 1
        found[j] = item
    return found


@_compiled
def fill_layer(key: Any, need: Any, room: int, skip: bool, chosen: Any) -> int:
    """Fill one tier: marks ``chosen`` (n,) uint8 and returns the tokens used.

    key: (n,) score, -1 where the entry does not take part; rows ascending, so ties go to the lower position. need: (n,) tokens,
    0 where the entry does not take part. room: tokens left. skip: go on to smaller entries when one does not fit.
    """
    n = key.size
    total, high = 0, -1.0
    for i in range(n):
        total += need[i]
        high = max(high, key[i])
    if room < 0 or high < 0.0:
        chosen[:] = 0
        return 0
    if total <= room:
        for i in range(n):
            chosen[i] = key[i] >= 0.0
        return total
    # everything above `high` fits, not everything above `low` does
    low, used, above, below = -0.5, 0, 0, n
    for _ in range(_HALVINGS):
        if below - above <= _FEW:
            break
        middle = 0.5 * (low + high)
        tokens, count = 0, 0
        for i in range(n):
            inside = key[i] > middle
            tokens += need[i] if inside else 0
            count += 1 if inside else 0
        if tokens <= room:
            high, used, above = middle, tokens, count
        else:
            low, below = middle, count
    for i in range(n):
        chosen[i] = key[i] > high
    last = 0.0
    for i in _in_order(key, low, high, need, _NO_LIMIT):
        if used + need[i] > room:
            last = key[i]
            break
        used += need[i]
        chosen[i] = 1
    if skip:
        # what is larger than the room left here can never fit later, because the room only shrinks
        for i in _in_order(key, -0.5, last, need, room - used):
            if chosen[i] == 0 and used + need[i] <= room:
                used += need[i]
                chosen[i] = 1
    return used


@_compiled
def fill_query(
    scores: Any, tokens: Any, shown: Any, layers: Any, start: int, minimum: float, tiers: Any, heading: Any,
    preference_tokens: int, left: int, skip: bool, key: Any, need: Any, chosen: Any, used: Any,
) -> None:  # fmt: skip
    """Fill the three tiers of one query: ``chosen`` per pool position, ``used`` (3,) tokens with headings.

    scores: of the pool. tokens, shown: of all candidates; the pool begins at ``start``. layers: (4,) absolute bounds.
    """
    for layer in range(3):
        a, b = layers[layer] - start, layers[layer + 1] - start
        used[layer] = 0
        if a == b:
            continue
        room = tiers[layer] - (preference_tokens if layer == 0 else 0)
        room = min(room, left) - heading[layer]
        limit = min(tiers[layer], left) - heading[layer]
        part, size, mark = scores[a:b], tokens[layers[layer] : layers[layer + 1]], shown[layers[layer] : layers[layer + 1]]
        k, t = key[: b - a], need[: b - a]
        for i in range(b - a):
            takes_part = (part[i] >= minimum) & (mark[i] == 0) & (size[i] <= limit)
            k[i] = part[i] if takes_part else -1.0
            t[i] = size[i] if takes_part else 0
        spent = fill_layer(k, t, room, skip, chosen[a:b])
        if spent > 0:
            used[layer] = spent + heading[layer]
            left -= used[layer]


@_compiled
def _members(first: int, last: int, group: Any, at: Any, pref: Any, chosen: Any, start: int, shown: Any, seen: Any) -> Any:
    """Selected members and distinct groups among them, for members first:last of one query; ``seen`` is scratch."""
    members, groups = 0, 0
    for m in range(first, last):
        seen[group[m]] = 0
    for m in range(first, last):
        here = (at[m] >= 0 and chosen[at[m] - start] == 1) or (pref[m] >= 0 and shown[pref[m]] == 1)
        if here:
            members += 1
            if seen[group[m]] == 0:
                seen[group[m]] = 1
                groups += 1
    return members, groups


@_compiled
def replay_counts(
    offsets: Any, layers: Any, signals: Any, factor: Any, tokens: Any, user: Any,
    shown: Any, shown_preference: Any, preference_count: Any, preference_tokens: Any, left: Any, heading: Any,
    weights: Any, minimum: Any, tiers: Any, skip: bool,
    wanted_offsets: Any, wanted_group: Any, wanted_at: Any, wanted_pref: Any,
    unwanted_offsets: Any, unwanted_group: Any, unwanted_at: Any, unwanted_pref: Any,
    same_offsets: Any, same_group: Any, same_at: Any, same_pref: Any,
    with_ranks: bool, found: Any, stale: Any, entries: Any, repeated: Any, used: Any, ranks: Any,
) -> None:  # fmt: skip
    """Every configuration over every query. Shapes: weights (C, 5), minimum (C,), tiers (C, 3).

    Fills found, stale, entries, repeated (Q, C), used (Q, C, 3) and ranks (members, C): the 1-based rank of each wanted
    member in the scored pool, 0 where it is not in it. Configurations are the inner loop, so a pool stays in the cache.
    """
    longest = 0
    for q in range(offsets.size - 1):
        longest = max(longest, offsets[q + 1] - offsets[q])
    scores, key = np.empty(longest), np.empty(longest)
    need, chosen = np.empty(longest, dtype=np.int64), np.zeros(longest, dtype=np.uint8)
    spent = np.zeros(3, dtype=np.int64)
    most = 1
    for groups in (wanted_group, unwanted_group, same_group):
        for value in groups:
            most = max(most, value + 1)
    seen = np.zeros(most, dtype=np.uint8)
    for q in range(offsets.size - 1):
        start, stop, u = offsets[q], offsets[q + 1], user[q]
        for c in range(weights.shape[0]):
            score(signals, factor, weights[c], start, stop, scores)
            fill_query(
                scores, tokens, shown, layers[q], start, minimum[c], tiers[c], heading,
                preference_tokens[u], left[u], skip, key, need, chosen, spent,
            )  # fmt: skip
            count = preference_count[u]
            for i in range(stop - start):
                count += chosen[i]
            entries[q, c] = count
            used[q, c, 0], used[q, c, 1], used[q, c, 2] = spent[0], spent[1], spent[2]
            a, b = wanted_offsets[q], wanted_offsets[q + 1]
            found[q, c] = _members(a, b, wanted_group, wanted_at, wanted_pref, chosen, start, shown_preference, seen)[1]
            if with_ranks:
                for m in range(a, b):
                    at = wanted_at[m] - start
                    if wanted_at[m] < 0:
                        ranks[m, c] = 0
                        continue
                    own, before = scores[at], 0
                    for i in range(at):
                        before += 1 if scores[i] >= own else 0
                    for i in range(at + 1, stop - start):
                        before += 1 if scores[i] > own else 0
                    ranks[m, c] = before + 1
            a, b = unwanted_offsets[q], unwanted_offsets[q + 1]
            stale[q, c] = _members(a, b, unwanted_group, unwanted_at, unwanted_pref, chosen, start, shown_preference, seen)[1]
            a, b = same_offsets[q], same_offsets[q + 1]
            here, distinct = _members(a, b, same_group, same_at, same_pref, chosen, start, shown_preference, seen)
            repeated[q, c] = here - distinct


@_compiled
def replay_outcomes(
    offsets: Any, layers: Any, signals: Any, factor: Any, tokens: Any, user: Any, shown: Any,
    preference_tokens: Any, left: Any, heading: Any, weights: Any, minimum: float, tiers: Any, skip: bool,
    all_scores: Any, outcome: Any, used: Any,
) -> None:  # fmt: skip
    """One configuration over every query, in full: scores (N,), the outcome codes of ``assembly.selection`` (N,), used (Q, 3)."""
    key, need = np.empty(offsets[-1]), np.empty(offsets[-1], dtype=np.int64)
    for q in range(offsets.size - 1):
        start, stop, u = offsets[q], offsets[q + 1], user[q]
        scores, chosen = all_scores[start:stop], np.zeros(stop - start, dtype=np.uint8)
        score(signals, factor, weights, start, stop, scores)
        fill_query(
            scores, tokens, shown, layers[q], start, minimum, tiers, heading,
            preference_tokens[u], left[u], skip, key, need, chosen, used[q],
        )  # fmt: skip
        rest = left[u]
        for layer in range(3):
            limit = min(tiers[layer], rest) - heading[layer]
            rest -= used[q, layer]
            for i in range(layers[q, layer], layers[q, layer + 1]):
                code = _NO_ROOM
                if chosen[i - start] == 1:
                    code = _CHOSEN
                elif shown[i] == 1:
                    code = _SHOWN
                elif scores[i - start] < minimum:
                    code = _WEAK
                elif tokens[i] > limit:
                    code = _OVERSIZE
                outcome[i] = code
