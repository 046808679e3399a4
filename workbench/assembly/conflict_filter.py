"""Which pairs a rule might flag: conditions that every rule implies, by integer operations on whole arrays."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from workbench.assembly.conflict_features import Bits, RuleFeatures
from workbench.assembly.conflict_statement import TRAITS
from workbench.assembly.conflict_test import IntArray

T = TRAITS


def candidates(features: RuleFeatures, left: IntArray, right: IntArray) -> npt.NDArray[np.bool_]:
    """Pairs that some rule might flag; a superset of the flagged ones. Shape (p,)."""
    f = features
    traits_a, traits_b = f.traits[left], f.traits[right]
    either, both = traits_a | traits_b, traits_a & traits_b
    hopeful = ((both & _BOTH) | (either & _EITHER)) != 0
    kept = np.flatnonzero(hopeful & (f.language[left] == f.language[right]) & (f.order[left] != f.order[right]))
    keep = np.zeros(left.shape, dtype=np.bool_)
    keep[kept] = _possible(f, left[kept], right[kept], either[kept], both[kept])
    return keep


_SELECTIVE = T["unique"] | T["denies"] | T["ends"]
_CHANGES = T["moves"] | T["updates"] | T["crowded"]
_TOPICAL = T["placed"] | T["named_value"] | T["prefers"] | T["weekly"]
_BOTH = _TOPICAL | T["settled"] | T["valued"] | T["staged"]
_EITHER = _CHANGES | T["denies"] | T["ends"] | T["unique"] | T["lacks"]


def _possible(
    f: RuleFeatures, left: IntArray, right: IntArray, either: npt.NDArray[np.uint32], both: npt.NDArray[np.uint32]
) -> npt.NDArray[np.bool_]:
    """The conditions of the single rules, for the pairs whose traits do not rule all of them out."""
    topic_a, topic_b = f.topic[left], f.topic[right]
    shared = _any(topic_a & topic_b)
    scoped = (f.scopes[left] & f.scopes[right]) != 0
    valued = (f.dimensions[left] & f.dimensions[right]) != 0
    valued &= f.values[left] != f.values[right]
    same_head = (f.heads[left] & f.heads[right]) != 0
    slots_a, slots_b = f.slots[left], f.slots[right]
    filled = ((slots_a & slots_b) != 0) | (((slots_a | slots_b) != 0) & (either & T["moves"] != 0))
    staged = (f.families[left] & f.families[right]) != 0
    supposed = ((f.lacks[left] & f.has[right]) | (f.lacks[right] & f.has[left])) != 0
    # Without a common topic: one person's states and homes, and what is denied and taken for granted.
    keep = supposed | (same_head & (filled | staged)) | (scoped & (valued | (both & T["prefers"] != 0)))
    changed = (either & (T["moves"] | T["crowded"])) | (both & _TOPICAL)
    updated = (either & T["updates"] != 0) & ((both & T["named"]) | (either & T["placed"]) != 0)
    keep |= shared & (valued | staged | updated | (changed != 0))
    rest = np.flatnonzero(shared & ~keep & (either & (_SELECTIVE) != 0))
    if rest.size:
        one, two, topic_a, topic_b = left[rest], right[rest], topic_a[rest], topic_b[rest]
        unique = _any((f.unique[one] & topic_b) | (f.unique[two] & topic_a))
        denied = _denial(f, one, topic_b, two) | _denial(f, two, topic_a, one)
        stopped = _stopped(f, one, topic_b) | _stopped(f, two, topic_a)
        keep[rest] = unique | denied | stopped
    return np.asarray(keep, dtype=np.bool_)


def _any(bits: Bits) -> npt.NDArray[np.bool_]:
    """Whether a row of a bit matrix has a bit. Shape (p, 8) -> (p,)."""
    return np.asarray(np.bitwise_or.reduce(bits, axis=1) != 0)


def _stopped(f: RuleFeatures, no: IntArray, topic: Bits) -> npt.NDArray[np.bool_]:
    """Whether enough of what ended in `no` occurs in the other text: what is missing is at most half of it."""
    ended = f.ended[no]
    missing = np.bitwise_count(ended & ~topic).sum(axis=1, dtype=np.int64)
    return np.asarray(_any(ended & topic) & (2 * missing <= f.ended_size[no]))


def _denial(f: RuleFeatures, no: IntArray, topic: Bits, yes: IntArray) -> npt.NDArray[np.bool_]:
    """Whether every key of one of the denials in `no` occurs in `yes`, which affirms something."""
    denied = f.denied[no]
    outside = np.bitwise_or.reduce(denied & ~topic[:, None, :], axis=2) != 0
    stated = np.bitwise_or.reduce(denied, axis=2) != 0
    return np.asarray((stated & ~outside).any(axis=1) & (f.traits[yes] & T["affirms"] != 0))
