"""Which pairs of texts, and of their sentences, a rule might flag: every rule implies conditions on the bits of the two."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from workbench.assembly.conflict_conditions import ALONE, BOTH, EITHER, PERSON_SLOTS, THING_SLOTS, Conditions, Mask
from workbench.assembly.conflict_features import Columns, RuleFeatures
from workbench.assembly.conflict_overlap import Ints, spread

_BLOCK = 1 << 17
"""Pairs of sentences sifted at a time: bounds the memory that long texts take."""

_LONG = 2
"""Texts with more sentences than this on average are first sifted sentence by text."""

_FEW = 4
"""So few pairs are sooner judged than sifted again."""


class SentencePairs(NamedTuple):
    """Pairs of sentences that are left: which pair of texts each belongs to, the numbers of its sentences, and the lowest code
    that a rule might give it; each (p,)."""

    pair: Ints
    a: Ints
    b: Ints
    lowest: Ints


def candidates(features: RuleFeatures, left: Ints, right: Ints) -> SentencePairs:
    """Pairs of sentences that some rule might flag; a superset of the flagged ones. Cheaper where texts are `promising`."""
    one, two = _sentences(features, left, right), _sentences(features, right, left)
    many = one.sizes * two.sizes
    # every sentence of one text with every sentence of the other, as many texts at a time as fit
    block = np.cumsum(many) // _BLOCK
    found = []
    for start, stop in _runs(block):
        here = slice(start, stop)
        wide = np.repeat(two.sizes[here], one.sizes[here])
        a = one.numbers[np.repeat(spread(one.starts[here], one.sizes[here]), wide)]
        b = two.numbers[spread(np.repeat(two.starts[here], one.sizes[here]), wide)]
        possible = _promising(features.parts, features.parts, a, b)
        a, b = a[possible], b[possible]
        which = np.repeat(np.arange(start, stop), many[here])[possible]
        lowest = np.ones(a.size, dtype=np.int64)
        if a.size > _FEW:
            lowest = Conditions(features, a, b).lowest_code()
            possible = np.flatnonzero(lowest)
            a, b, which, lowest = a[possible], b[possible], which[possible], lowest[possible]
        found.append(SentencePairs(which, a, b, lowest))
    if len(found) == 1:
        return found[0]
    none = np.zeros(0, dtype=np.int64)
    return SentencePairs(*(np.concatenate([none, *(getattr(part, name) for part in found)]) for name in SentencePairs._fields))


class _Sentences(NamedTuple):
    """Sentences of each of p texts: ``numbers[starts[k] : starts[k] + sizes[k]]`` for text k."""

    numbers: Ints
    starts: Ints
    sizes: Ints


def _sentences(features: RuleFeatures, texts: Ints, others: Ints) -> _Sentences:
    """The sentences of each text; where there are many, those only of which some rule might say something beside the other text.

    The bits of a text are those of its sentences together, so what is discarded beside the text would be beside each of them.
    """
    starts = features.first_part[texts]
    sizes = features.first_part[texts + 1] - starts
    numbers = spread(starts, sizes)
    if numbers.size > _LONG * texts.size:
        which = np.repeat(np.arange(texts.size), sizes)
        kept = _promising(features.parts, features.rows, numbers, others[which])
        numbers, sizes = numbers[kept], np.bincount(which[kept], minlength=texts.size)
    return _Sentences(numbers, np.cumsum(sizes) - sizes, sizes)


def _runs(block: Ints) -> Iterator[tuple[int, int]]:
    """(start, stop) of each run of equal numbers."""
    edges = [0, *(np.flatnonzero(block[1:] != block[:-1]) + 1).tolist(), block.size]
    return ((start, stop) for start, stop in pairwise(edges) if stop > start)


def promising(features: RuleFeatures, left: Ints, right: Ints) -> Ints:
    """Pairs of texts of which some rule might say something. Positions in ``left``, ascending."""
    spoken = features.rows["language"]
    return _promising(features.rows, features.rows, left, right, np.take(spoken, left) == np.take(spoken, right))


def _promising(columns: Columns, others: Columns, left: Ints, right: Ints, asked: Mask | None = None) -> Ints:
    """Pairs of texts or sentences, ``left`` of columns and ``right`` of others, whose traits let a rule speak, and that have a
    content key in common, or are of one person's states and homes, or of one occasion, or presuppose each other.

    Whoever has more bits is no less promising. asked: which pairs, if not all. Positions in ``left``, ascending.
    """
    one, two = np.take(columns["traits"], left), np.take(others["traits"], right)
    either, shared = (one | two) & EITHER, one & two & BOTH
    hopeful = np.flatnonzero((either | shared) if asked is None else ((either | shared) != 0) & asked)
    left, right = left[hopeful], right[hopeful]

    def both(name: str, other: str = "") -> Mask:
        return np.asarray((np.take(columns[name], left) & np.take(others[other or name], right)) != 0)

    slots, slots_too = np.take(columns["slots"], left), np.take(others["slots"], right)
    families, heads = both("families"), both("heads")
    sited, housed = (slots & slots_too & THING_SLOTS) != 0, (slots & slots_too & PERSON_SLOTS) != 0
    speaks = (either[hopeful] != 0) | ((shared[hopeful] & ALONE) != 0)
    speaks |= both("dimensions") | families | sited | (housed & heads)
    personal = (((slots | slots_too) & PERSON_SLOTS) != 0) | families
    found = (heads & personal) | both("scopes") | both("lacks", "has") | both("has", "lacks")
    found &= speaks
    silent = np.flatnonzero(speaks & ~found)
    common = np.take(columns["places"], left[silent], axis=0) & np.take(others["places"], right[silent], axis=0)
    while common.shape[1] > 1:  # faster than to reduce so short an axis
        half = common.shape[1] // 2
        common = common[:, :half] | common[:, half:]
    found[silent] = common[:, 0] != 0
    return hopeful[np.flatnonzero(found)]
