"""Which pairs of sentences a rule might flag: conditions that every rule implies, by integer operations on whole arrays.

Whoever changes a rule in `conflict_judge` or `conflict_changes` changes its condition here. A test compares the two.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from workbench.assembly.conflict_bits import MARKS
from workbench.assembly.conflict_features import Columns, RuleFeatures
from workbench.assembly.conflict_lexicon import SLOTS
from workbench.assembly.conflict_overlap import Ints, matched, spread, totals
from workbench.assembly.conflict_statement import TRAITS

T, M = TRAITS, MARKS
Mask = npt.NDArray[np.bool_]
_PERSON_SLOTS = SLOTS["reside"] | SLOTS["work"] | SLOTS["study"]
_THING_SLOTS = SLOTS["place"] | SLOTS["tool"] | SLOTS["code"]
_SITES = SLOTS["place"] | SLOTS["site"]
_CHANGES = T["updates"] | T["moves"] | T["unique"]
_EITHER = _CHANGES | T["lacks"] | T["ends"] | T["denies"]
_BOTH = T["prefers"] | T["placed"] | T["settled"] | T["named_value"] | T["valued"] | T["staged"] | T["weekly"]


_BLOCK = 1 << 17
"""Pairs of sentences sifted at a time: bounds the memory that long texts take."""

_FEW = 4
"""So few pairs are sooner judged than sifted again."""


class SentencePairs(NamedTuple):
    """Pairs of sentences that are left: which pair of texts each belongs to, and the numbers of its sentences; each (p,)."""

    pair: Ints
    a: Ints
    b: Ints


def candidates(features: RuleFeatures, left: Ints, right: Ints) -> SentencePairs:
    """Pairs of sentences that some rule might flag; a superset of the flagged ones. In the order of the pairs of texts."""
    kept = _promising(features.rows, left, right)
    starts = features.first_part
    first, second = starts[left[kept]], starts[right[kept]]
    rows, columns = starts[left[kept] + 1] - first, starts[right[kept] + 1] - second
    many = rows * columns
    # every sentence of one text with every sentence of the other, as many texts at a time as fit
    block = np.cumsum(many) // _BLOCK
    found = []
    for start, stop in _runs(block):
        here = slice(start, stop)
        which = np.repeat(np.arange(start, stop), many[here])
        step = spread(np.zeros(stop - start, dtype=np.int64), many[here])
        a, b = first[which] + step // columns[which], second[which] + step % columns[which]
        possible = np.flatnonzero(_hopeful(features.parts["traits"], a, b))
        if possible.size > _FEW:
            possible = possible[np.flatnonzero(_Possible(features, a[possible], b[possible]).any_rule())]
        found.append(SentencePairs(kept[which[possible]], a[possible], b[possible]))
    if len(found) == 1:
        return found[0]
    none = np.zeros(0, dtype=np.int64)
    return SentencePairs(*(np.concatenate([none, *(getattr(part, name) for part in found)]) for name in SentencePairs._fields))


def _runs(block: Ints) -> Iterator[tuple[int, int]]:
    """(start, stop) of each run of equal numbers."""
    edges = [0, *(np.flatnonzero(block[1:] != block[:-1]) + 1).tolist(), block.size]
    return ((start, stop) for start, stop in pairwise(edges) if stop > start)


def _hopeful(traits: npt.NDArray[np.uint32], left: Ints, right: Ints) -> Mask:
    """Whether the traits of the two let any rule say something; shape (p,)."""
    one, two = traits[left], traits[right]
    return np.asarray(((one & two & _BOTH) | ((one | two) & _EITHER)) != 0)


def _promising(rows: Columns, left: Ints, right: Ints) -> Ints:
    """Pairs of texts with a content key in common, or of one person's states and homes, or of one occasion, or that presuppose
    each other. Positions in ``left``, ascending."""
    hopeful = np.flatnonzero(_hopeful(rows["traits"], left, right) & (rows["language"][left] == rows["language"][right]))
    left, right = left[hopeful], right[hopeful]

    def both(name: str, other: str = "") -> Mask:
        return np.asarray((rows[name][left] & rows[other or name][right]) != 0)

    personal = (((rows["slots"][left] | rows["slots"][right]) & _PERSON_SLOTS) != 0) | both("families")
    found = (both("heads") & personal) | both("scopes") | both("lacks", "has") | both("has", "lacks")
    rest = np.flatnonzero(~found)
    places = rows["places"]
    found[rest] = (places[left[rest]] & places[right[rest]]).any(axis=1)
    return hopeful[np.flatnonzero(found)]


class _Side:
    """One sentence of every pair: its columns, and how many of its keys of each role there are and occur in the other."""

    def __init__(self, features: RuleFeatures, numbers: Ints, others: Ints) -> None:
        self.numbers, self._columns = numbers, features.parts
        self.total, self.matched = totals(features, numbers), matched(features, numbers, others)
        self.traits, self.marks, self.slots = self["traits"], self["marks"], self["slots"]
        self.denies = (self.traits & T["denies"]) != 0
        self.past = (self.marks & (M["past"] | M["change"])) == M["past"]  # and nothing says that it changed
        self.topic = self.matched["strong"]
        self.knows = self.matched["first"] > 0

    def __getitem__(self, name: str) -> npt.NDArray[Any]:
        return self._columns[name][self.numbers]

    def half(self, heads: Mask) -> Mask:
        """Whether the other sentence may cover half of the topic; common heads are no part of it."""
        size = self["strong"].astype(np.int64) - np.where(heads, self["head_strong"], 0)
        return np.asarray(2 * self.topic >= np.maximum(size, 1))


class _Possible:
    """The conditions of the single rules for pairs of sentences. One mask over the pairs per method."""

    def __init__(self, features: RuleFeatures, one: Ints, two: Ints) -> None:
        self.a = a = _Side(features, one, two)
        self.b = b = _Side(features, two, one)
        self.either, self.both = a.traits | b.traits, a.traits & b.traits
        self.marked, self.both_marked = a.marks | b.marks, a.marks & b.marks
        self.change = (self.marked & M["change"]) != 0
        self.heads = self._meet("heads")
        self.half = a.half(self.heads) | b.half(self.heads)
        self.shared = a.topic > 0
        self.names = (a.total["name"] > a.matched["name"]) & (b.total["name"] > b.matched["name"])
        self.same_scopes = ((self.both_marked & M["scoped"]) != 0) & (a["scopes"] == b["scopes"])
        self.calm = ~(a.denies | b.denies)
        self.current = ~(a.past | b.past)

    def _meet(self, name: str) -> Mask:
        return np.asarray((self.a[name] & self.b[name]) != 0)

    def any_rule(self) -> Mask:
        """Whether some rule might flag the pair."""
        a, b = self.a, self.b
        supposed = (a["lacks"] & b["has"]) | (b["lacks"] & a["has"])
        headed = (self.both_marked & M["headed"]) != 0
        subject = ~headed | self.heads | (((a["head_keys"] & b["key_bits"]) | (b["head_keys"] & a["key_bits"])) != 0)
        heard = ((self.both_marked & M["talk"]) == 0) | (subject & (a.topic >= 2) & self.half)
        denied = (self._denied(a, b) | self._denied(b, a)) & ~self.names
        changed = self._value() | self._status(headed) | self._exclusive() | self._rescheduled() | self._moved(a, b)
        changed |= self._moved(b, a)
        changed &= ((self.both & _BOTH) | (self.either & _CHANGES)) != 0
        ended = self._ended(a, b, subject) | self._ended(b, a, subject)
        return np.asarray((supposed != 0) | (heard & (ended | (subject & (denied | changed)))))

    @staticmethod
    def _ended(yes: _Side, no: _Side, subject: Mask) -> Mask:
        """`no` ended what `yes` states."""
        found: Mask = ((no.traits & T["ends"]) != 0) & ~yes.denies & (subject | ((no.marks & M["supersedes"]) != 0))
        if not found.any():
            return found
        found &= ((yes.marks & M["past"]) == 0) | ((no.marks & M["updates"]) != 0)
        core = no.matched["ended"]
        fits = (core > 0) & (2 * (no.total["ended"] - core) <= no["ended_size"])
        return np.asarray(found & (((no.marks & M["many"]) != 0) | fits))

    @staticmethod
    def _denied(yes: _Side, no: _Side) -> Mask:
        """One of the denials of `no` speaks of nothing that `yes` does not mention."""
        found: Mask = no.denies & ((yes.traits & T["affirms"]) != 0)
        if not found.any():
            return found
        fits = (no.marks & M["many"]) != 0
        for role in ("denied", "denied too"):
            said = no.total[role]
            fits |= (said > 0) & (said == no.matched[role])
        return np.asarray(found & fits)

    def _value(self) -> Mask:
        """Another number, time or date."""
        a, b = self.a, self.b
        found: Mask = self._meet("dimensions") & (a["values"] != b["values"]) & ~self.names & self.current
        found &= (a.denies == b.denies) | self.change
        parallel = (a.total["lead"] > a.matched["lead"]) & (b.total["lead"] > b.matched["lead"])
        found &= ~parallel | ((self.marked & M["rescheduled"]) != 0)
        if not found.any():
            return found
        rest_a, rest_b = a.total.every - a.matched.every, b.total.every - b.matched.every
        common = ((rest_a == 0) | (rest_b == 0)) & (rest_a + rest_b < a.matched.every)
        return np.asarray(found & ((self.shared & self.half) | self.same_scopes | common))

    def _status(self, headed: Mask) -> Mask:
        """Another stage of one course of events."""
        a, b = self.a, self.b
        found: Mask = self._meet("families")
        if not found.any():
            return found
        found &= (a["states"] != b["states"]) | (a["states_held"] != 1) | (b["states_held"] != 1)
        return np.asarray(found & (headed | (~self.names & (self.shared | self.heads))))

    def _exclusive(self) -> Mask:
        """One slot, two values."""
        a, b = self.a, self.b
        prefer = (self.both & T["prefers"]) != 0
        placed = ((self.either & T["placed"]) | (self.both & T["named"])) != 0
        slots = a.slots & b.slots
        tail = (self.both & (T["prefers"] | T["named_value"])) != 0
        tail |= (slots & _THING_SLOTS != 0) & a.knows & b.knows
        tail |= ((self.either & T["updates"]) != 0) & placed & (a.knows | b.knows | self.heads)
        tail |= ((self.either & T["unique"]) != 0) & ((a.matched["unique"] > 0) | (b.matched["unique"] > 0))
        found = (self.shared | self.same_scopes) & tail
        found |= ((slots & _PERSON_SLOTS) != 0) & ((self.both_marked & M["direct"]) != 0) & self.heads
        found |= prefer & (a.matched.every == a.total.every) & (b.matched.every == b.total.every)  # swapped
        return np.asarray(found & self.calm & self.current)

    def _rescheduled(self) -> Mask:
        """Other days of the week."""
        found: Mask = ((self.both & T["weekly"]) != 0) & ~self.same_scopes & ((self.marked & M["reschedules"]) != 0)
        return np.asarray(found & ~self.names & self.shared & self.half & self.calm)

    def _moved(self, there: _Side, moved: _Side) -> Mask:
        """`moved` says that something moved; `there` has it somewhere else."""
        found: Mask = ((moved.marks & M["moved"]) != 0) & ((there.marks & (M["moved"] | M["past"])) == 0) & ~there.denies
        if not found.any():
            return found
        settled = ((there.slots & (SLOTS["reside"] | (moved.slots & _PERSON_SLOTS))) != 0) & self.heads
        sited = ((there.slots & _SITES) != 0) & there.knows & moved.knows
        return np.asarray(found & (settled | sited | (((moved.marks & M["replaced"]) != 0) & there.knows)))
