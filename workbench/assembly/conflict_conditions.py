"""What each rule demands of a pair of sentences, by integer operations on whole arrays of pairs.

Whoever changes a rule in `conflict_judge` or `conflict_changes` changes its condition here. A test compares the two.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt

from workbench.assembly.conflict_bits import MARKS
from workbench.assembly.conflict_compare import CODES
from workbench.assembly.conflict_features import RuleFeatures
from workbench.assembly.conflict_lexicon import SLOTS
from workbench.assembly.conflict_overlap import MOST_KEYS, Ints, matched, totals
from workbench.assembly.conflict_statement import TRAITS

T, M = TRAITS, MARKS
Mask = npt.NDArray[np.bool_]
PERSON_SLOTS: Final = SLOTS["reside"] | SLOTS["work"] | SLOTS["study"]
THING_SLOTS: Final = SLOTS["place"] | SLOTS["tool"] | SLOTS["code"]
_SITES = SLOTS["place"] | SLOTS["site"]
CHANGES: Final = T["updates"] | T["moves"] | T["unique"]
EITHER: Final = CHANGES | T["lacks"] | T["ends"] | T["denies"]
"""Traits that let a rule speak where one sentence has them."""

BOTH: Final = T["prefers"] | T["placed"] | T["settled"] | T["named_value"] | T["valued"] | T["staged"] | T["weekly"]
"""Traits that let a rule speak where both have them."""

ALONE: Final = T["prefers"] | T["named_value"] | T["weekly"]
"""Those that need nothing else; the others want a slot, a dimension or a course of events in common."""


class Conditions:
    """The conditions of the single rules for pairs of sentences. One mask over the pairs per method.

    Columns hold the first sentences of all pairs and then the second ones, (2p,), so that each question is asked once: what has a
    direction is answered for both, as "this sentence and the other"; the rest looks at the two halves.
    """

    def __init__(self, features: RuleFeatures, one: Ints, two: Ints) -> None:
        self._columns, self._rows, self._n = features.parts, np.concatenate((one, two)), one.size
        self.total = totals(features, self._rows)
        self.matched = matched(features, self._rows, np.concatenate((two, one)))
        self.traits, self.marks, self.slots = self["traits"], self["marks"], self["slots"]
        self.either, self.both = self._or(self.traits), self._and(self.traits)
        self.marked, self.both_marked = self._or(self.marks), self._and(self.marks)
        self.other_marks, self.other_slots = self._swap(self.marks), self._swap(self.slots)
        self.denies = (self.traits & T["denies"]) != 0
        past = (self.marks & (M["past"] | M["change"])) == M["past"]  # and nothing says that it changed
        self.change = (self.marked & M["change"]) != 0
        self.calm, self.current = ~self._or(self.denies), ~self._or(past)
        self.topic = self.matched["strong"]
        self.shared = self.topic[: self._n] > 0
        self.knows = self.matched["first"] > 0
        self.heads = self._meet("heads")
        # the other sentence may cover half of the topic; common heads are no part of it
        size = self["strong"].astype(np.int64) - np.where(self._twice(self.heads), self["head_strong"], 0)
        self.half = self._or(2 * self.topic >= np.maximum(size, 1))
        self.names = self._lacking("name")
        self.same_scopes = ((self.both_marked & M["scoped"]) != 0) & self._same("scopes")

    def __getitem__(self, name: str) -> npt.NDArray[Any]:
        return np.take(self._columns[name], self._rows)

    def _and(self, column: npt.NDArray[Any]) -> npt.NDArray[Any]:
        return np.asarray(column[: self._n] & column[self._n :])

    def _or(self, column: npt.NDArray[Any]) -> npt.NDArray[Any]:
        return np.asarray(column[: self._n] | column[self._n :])

    def _swap(self, column: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """The column of the other sentences."""
        return np.concatenate((column[self._n :], column[: self._n]))

    @staticmethod
    def _twice(column: npt.NDArray[Any]) -> npt.NDArray[Any]:
        return np.concatenate((column, column))

    def _meet(self, name: str) -> Mask:
        return np.asarray(self._and(self[name]) != 0)

    def _same(self, name: str) -> Mask:
        column = self[name]
        return np.asarray(column[: self._n] == column[self._n :])

    def _lacking(self, role: str) -> Mask:
        """Each of the two has a key of this role that the other lacks."""
        return self._and(self.total[role] > self.matched[role])

    def lowest_code(self) -> Ints:
        """The lowest code that a rule might give the pair; 0 if none can."""
        headed = (self.both_marked & M["headed"]) != 0
        subject = ~headed | self.heads | self._or((self["head_keys"] & self._swap(self["key_bits"])) != 0)
        heard = ((self.both_marked & M["talk"]) == 0) | (subject & (self.topic[: self._n] >= 2) & self.half)
        spoken = heard & subject
        changes = spoken & (((self.both & BOTH) | (self.either & CHANGES)) != 0)
        found = np.zeros(self._n, dtype=np.int64)
        if (self.either & T["lacks"]).any():
            found[self._or((self["lacks"] & self._swap(self["has"])) != 0)] = CODES["presupposition"]
        # from the highest code to the lowest; each rule's lowest one
        found[changes & self._moved()] = CODES["moved"]
        found[changes & self._status(headed)] = CODES["status"]
        found[changes & self._exclusive()] = CODES["name"]
        found[changes & self._rescheduled()] = CODES["date"]
        found[changes & self._value()] = CODES["number"]
        found[heard & self._ended(subject)] = CODES["ended"]
        found[spoken & self._denied() & ~self.names] = CODES["negation"]
        found[self._or(self.total.every > MOST_KEYS)] = 1
        return found

    def _ended(self, subject: Mask) -> Mask:
        """This sentence ended what the other one states."""
        found: Mask = (self.traits & T["ends"]) != 0
        if not found.any():
            return self._or(found)
        found &= ~self._swap(self.denies) & (self._twice(subject) | ((self.marks & M["supersedes"]) != 0))
        found &= ((self.other_marks & M["past"]) == 0) | ((self.marks & M["updates"]) != 0)
        core = self.matched["ended"]
        fits = (core > 0) & (2 * (self.total["ended"] - core) <= self["ended_size"])
        return self._or(found & (((self.marks & M["many"]) != 0) | fits))

    def _denied(self) -> Mask:
        """One of the denials of this sentence speaks of nothing that the other does not mention."""
        found: Mask = self.denies & ((self._swap(self.traits) & T["affirms"]) != 0)
        if not found.any():
            return self._or(found)
        fits = (self.marks & M["many"]) != 0
        for role in ("denied", "denied too"):
            said = self.total[role]
            fits |= (said > 0) & (said == self.matched[role])
        return self._or(found & fits)

    def _value(self) -> Mask:
        """Another number, time or date."""
        found: Mask = self._meet("dimensions") & ~self._same("values") & ~self.names & self.current
        if not found.any():
            return found
        found &= (self._and(self.denies) | self.calm) | self.change
        found &= ~self._lacking("lead") | ((self.marked & M["rescheduled"]) != 0)  # else the two are parallel
        rest = self.total.every - self.matched.every
        rest_a, rest_b = rest[: self._n], rest[self._n :]
        common = ((rest_a == 0) | (rest_b == 0)) & (rest_a + rest_b < self.matched.every[: self._n])
        return np.asarray(found & ((self.shared & self.half) | self.same_scopes | common))

    def _status(self, headed: Mask) -> Mask:
        """Another stage of one course of events."""
        found: Mask = self._meet("families")
        if not found.any():
            return found
        found &= ~self._same("states") | self._or(self["states_held"] != 1)
        return np.asarray(found & (headed | (~self.names & (self.shared | self.heads))))

    def _exclusive(self) -> Mask:
        """One slot, two values."""
        both_know, one_knows = self._and(self.knows), self._or(self.knows)
        slots, quiet = self._and(self.slots), (self.both_marked & M["talk"]) == 0
        updates = (self.marked & M["updates"]) != 0
        prefer = (self.both & T["prefers"]) != 0
        # all that the other sentence lacks may be names
        rest = self.total.every - self.matched.every
        only_names = self._and(rest == self.total["name"] - self.matched["name"])
        copular = ((self.both & T["named_value"]) != 0) & both_know & only_names
        alone = ((self.either & T["unique"]) != 0) & self._or(self.matched["unique"] > 0)
        alone &= ((self.both & T["unique"]) != 0) | self._or(self.topic >= 2) | updates
        sited = ((slots & THING_SLOTS) != 0) & both_know
        placed = (self._or(self.slots) & THING_SLOTS) != 0
        named = ((self.both & T["named"]) != 0) & (one_knows | self.heads)
        updated = updates & np.where(placed, both_know | self.heads, named)
        found = (self.shared | self.same_scopes) & (prefer | alone | (quiet & (copular | sited | updated)))
        found |= ((slots & PERSON_SLOTS) != 0) & ((self.both_marked & M["direct"]) != 0) & self.heads
        found &= ~self._same("said") & ~self._lacking("serial")
        found |= prefer & self._and(rest == 0)  # swapped
        return np.asarray(found & self.calm & self.current)

    def _rescheduled(self) -> Mask:
        """Other days of the week."""
        found: Mask = ((self.both & T["weekly"]) != 0) & ((self.marked & M["reschedules"]) != 0)
        return np.asarray(found & ~self.same_scopes & ~self.names & self.shared & self.half & self.calm)

    def _moved(self) -> Mask:
        """This sentence says that something moved; the other has it somewhere else."""
        found: Mask = ((self.marks & M["moved"]) != 0) & ((self.other_marks & (M["moved"] | M["past"])) == 0)
        if not found.any():
            return self._or(found)
        found &= ~self._swap(self.denies)
        knows = self._swap(self.knows)
        settled = ((self.other_slots & (SLOTS["reside"] | (self.slots & PERSON_SLOTS))) != 0) & self._twice(self.heads)
        sited = ((self.other_slots & _SITES) != 0) & knows & self.knows
        return self._or(found & (settled | sited | (((self.marks & M["replaced"]) != 0) & knows)))
