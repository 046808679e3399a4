"""The rule-based conflict test: reads statements with word lists for five languages, compares them with one rule per phenomenon.

`decide` first discards pairs by integer operations on whole arrays: every rule implies a condition on bits that were set
when the texts were read, so the filter never loses a pair the rules would flag. Only survivors are judged one by one.

What it does not see: conflicts that need knowledge of the world ("strict vegetarian", "lamb chops every Sunday"), and
paraphrases without a common word.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from zlib import crc32

import numpy as np
import numpy.typing as npt

from workbench.assembly.conflict_compare import REASONS, distinct
from workbench.assembly.conflict_judge import judge_texts
from workbench.assembly.conflict_lexicon import SLOTS, SPOKEN
from workbench.assembly.conflict_reader import read
from workbench.assembly.conflict_statement import TRAITS, Sentence
from workbench.assembly.conflict_test import CONFLICT, DUPLICATE, UNDECIDED, FloatArray, IntArray
from workbench.errors import ConfigError, DataError

_BITS = 512
_WORDS = _BITS // 64
_Bits = npt.NDArray[np.uint64]

T = TRAITS
_PERSON_SLOTS = SLOTS["reside"] | SLOTS["work"] | SLOTS["study"]


@dataclass(frozen=True)
class RuleFeatures:
    """What `RuleConflictTest.features` keeps of n texts. Rows follow the texts; treat it as opaque.

    Attributes:
        sentences: the sentences read out of each text.
        order: (n,) rank of each text in sorted order, equal for equal texts: makes verdicts independent of argument order.
        language: (n,) index into `SPOKEN`.
        traits: (n,) bits of what the text contains (a denial, a preference, ...).
        slots: (n,) person slots it fills.
        heads, dimensions, families, lacks, has, scopes: (n,) bit sets of hashed subjects, value dimensions, state families,
            belongings and conditions.
        topic, unique, ended: (n, 8) bit sets of content keys.
        denied: (n, 2, 8) keys of the first two denials.
    """

    sentences: tuple[tuple[Sentence, ...], ...]
    order: npt.NDArray[np.int64]
    language: npt.NDArray[np.int8]
    traits: npt.NDArray[np.uint32]
    slots: npt.NDArray[np.uint32]
    heads: _Bits
    dimensions: _Bits
    families: _Bits
    lacks: _Bits
    has: _Bits
    values: _Bits
    scopes: _Bits
    topic: _Bits
    unique: _Bits
    ended: _Bits
    denied: _Bits

    def __len__(self) -> int:
        return len(self.sentences)


def _bit(key: str, width: int = _BITS) -> int:
    """One bit for all keys that can be `near` each other: those share their first five letters, or two Korean syllables."""
    return 1 << crc32((key[:2] if key[0] >= "가" else key[:5]).encode()) % width


class _Row:
    """Bits of one text while it is read."""

    __slots__ = (
        "denied",
        "dimensions",
        "ended",
        "families",
        "has",
        "heads",
        "lacks",
        "language",
        "scopes",
        "slots",
        "topic",
        "traits",
        "unique",
        "values",
    )  # fmt: skip

    def __init__(self, sentences: tuple[Sentence, ...], bits: dict[str, int]) -> None:
        self.language = SPOKEN.index(sentences[0].language) if sentences else -1
        self.traits = self.slots = self.heads = self.dimensions = self.families = self.lacks = self.has = 0
        self.topic = self.unique = self.ended = self.values = self.scopes = 0
        self.denied = [0, 0]
        denials = 0
        for sentence in sentences:
            self.topic |= _union(sentence.keys, bits)
            self.slots |= sentence.slots & _PERSON_SLOTS
            self.traits |= sentence.traits
            for head in sentence.heads:
                self.heads |= 1 << crc32(head.rpartition(">")[2].encode()) % 64
            for value in sentence.values:
                self.dimensions |= 1 << crc32(value.dimension.encode()) % 64
                # In several sentences it also matters which one holds the value.
                where = sentence.keys if len(sentences) > 1 else ()
                stated = f"{value.dimension} {value.amount} {where}".encode()
                self.values ^= crc32(stated) * 0x9E3779B97F4A7C15 & 0xFFFFFFFFFFFFFFFF
            for entry in sentence.opposed:
                self.families |= 1 << crc32(entry[0].encode()) % 64
            for owner, kind in sentence.lacks:
                self.lacks |= 1 << crc32(f"{owner} {kind}".encode()) % 64
            for owner, kind in sentence.has:
                self.has |= 1 << crc32(f"{owner} {kind}".encode()) % 64
            for scope in sentence.scopes:
                self.scopes |= 1 << crc32(scope.encode()) % 64
            self.unique |= _union(sentence.unique, bits)
            for clause in sentence.clauses:
                if clause.ended is not None and clause.denies:
                    self.ended |= _union([key for key in clause.ended if key in sentence.strong], bits)
                if clause.denies and denials < 2:
                    self.denied[denials] = _union(clause.scope, bits)
                    denials += 1
                elif clause.denies:
                    self.traits |= T["crowded"]


def _union(keys: Sequence[str] | frozenset[str], bits: dict[str, int]) -> int:
    found = 0
    for key in keys:
        bit = bits.get(key)
        if bit is None:
            bit = bits[key] = _bit(key)
        found |= bit
    return found


def _wide(rows: list[int]) -> _Bits:
    """Packs 512-bit integers into an (n, 8) array."""
    packed = b"".join(row.to_bytes(_BITS // 8, "little") for row in rows)
    return np.frombuffer(packed, dtype="<u8").reshape(len(rows), _WORDS).astype(np.uint64)


class RuleConflictTest:
    """Rules over word lists; see the module. Stateless: one object may serve any number of threads.

    Example:
        >>> test = RuleConflictTest()
        >>> read = test.features(["Prefers window seats", "Prefers aisle seats now"])
        >>> code = test.decide(read, np.array([0]), np.array([1]), np.array([0.84]))
        >>> test.reasons[code[0]]
        'exclusive value'
    """

    name = "rules-1"
    reasons = REASONS

    def features(self, texts: Sequence[str]) -> RuleFeatures:
        """Reads the texts. Raises `DataError` if one is not a string."""
        for row, text in enumerate(texts):
            if not isinstance(text, str):
                raise DataError(f"text {row} is a {type(text).__name__}, not a string: {text!r}; pass the statements as str")
        bits: dict[str, int] = {}
        sentences = tuple(read(text) for text in texts)
        rows = [_Row(found, bits) for found in sentences]
        _, order = np.unique(np.array(list(texts), dtype=object), return_inverse=True) if texts else (None, np.zeros(0, np.int64))

        def narrow(name: str) -> _Bits:
            return np.array([getattr(row, name) for row in rows], dtype=np.uint64)

        return RuleFeatures(
            sentences=sentences,
            order=np.asarray(order, dtype=np.int64).reshape(-1),
            language=np.array([row.language for row in rows], dtype=np.int8),
            traits=np.array([row.traits for row in rows], dtype=np.uint32),
            slots=np.array([row.slots for row in rows], dtype=np.uint32),
            **{name: narrow(name) for name in ("heads", "dimensions", "families", "lacks", "has", "values", "scopes")},
            topic=_wide([row.topic for row in rows]),
            unique=_wide([row.unique for row in rows]),
            ended=_wide([row.ended for row in rows]),
            denied=_wide([part for row in rows for part in row.denied]).reshape(len(rows), 2, _WORDS),
        )

    def decide(self, features: Any, left: IntArray, right: IntArray, similarity: FloatArray) -> IntArray:
        """See `ConflictTest.decide`. The similarity is not used: which pairs are proposed is the caller's decision.

        Raises:
            ConfigError: the features are another test's, the arrays differ in length, or a row number is out of range.
        """
        left, right = _checked(features, left, right, similarity)
        codes = np.zeros(left.shape, dtype=np.int64)
        kept = np.flatnonzero(candidates(features, left, right))
        if not kept.size:
            return codes
        swap = features.order[left[kept]] > features.order[right[kept]]
        first = np.where(swap, right[kept], left[kept]).tolist()
        second = np.where(swap, left[kept], right[kept]).tolist()
        sentences = features.sentences
        codes[kept] = [judge_texts(sentences[i], sentences[j]) for i, j in zip(first, second, strict=True)]
        return codes

    def relation(
        self, features: Any, left: IntArray, right: IntArray, similarity: FloatArray, *, duplicate_at: float
    ) -> IntArray:
        """See `ConflictTest.relation`: a close pair stays undecided if subject, names, values or polarity differ."""
        left, right = _checked(features, left, right, similarity)
        found = np.full(left.shape, UNDECIDED, dtype=np.int64)
        found[self.decide(features, left, right, similarity) != 0] = CONFLICT
        close = np.flatnonzero((np.asarray(similarity) >= duplicate_at) & (found == UNDECIDED))
        for k in close.tolist():
            if not distinct(features.sentences[int(left[k])], features.sentences[int(right[k])]):
                found[k] = DUPLICATE
        return found


def _checked(features: Any, left: IntArray, right: IntArray, similarity: FloatArray) -> tuple[IntArray, IntArray]:
    if not isinstance(features, RuleFeatures):
        raise ConfigError(f"features are a {type(features).__name__}; pass what RuleConflictTest.features returned")
    left, right = np.asarray(left, dtype=np.int64), np.asarray(right, dtype=np.int64)
    if left.ndim != 1 or left.shape != right.shape or np.shape(similarity) != left.shape:
        raise ConfigError(
            f"left, right and similarity have shapes {left.shape}, {right.shape} and {np.shape(similarity)}; "
            "pass three one-dimensional arrays of one length"
        )
    if left.size and not (min(left.min(), right.min()) >= 0 and max(left.max(), right.max()) < len(features)):
        raise ConfigError(
            f"row numbers must lie in 0..{len(features) - 1}; got {left.min()}..{left.max()} and {right.min()}..{right.max()}"
        )
    return left, right


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
_BOTH = T["prefers"] | T["placed"] | T["settled"] | T["named_value"] | T["valued"] | T["staged"]
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
    changed = (either & _CHANGES) | (both & (T["placed"] | T["named_value"] | T["prefers"]))
    keep |= shared & (valued | staged | (changed != 0))
    rest = np.flatnonzero(shared & ~keep & (either & (_SELECTIVE) != 0))
    if rest.size:
        one, two, topic_a, topic_b = left[rest], right[rest], topic_a[rest], topic_b[rest]
        unique = _any((f.unique[one] & topic_b) | (f.unique[two] & topic_a))
        denied = _denial(f, one, topic_b, two) | _denial(f, two, topic_a, one)
        stopped = _any((f.ended[one] & topic_b) | (f.ended[two] & topic_a))
        keep[rest] = unique | denied | stopped
    return np.asarray(keep, dtype=np.bool_)


def _any(bits: _Bits) -> npt.NDArray[np.bool_]:
    """Whether a row of a bit matrix has a bit. Shape (p, 8) -> (p,)."""
    return np.asarray(np.bitwise_or.reduce(bits, axis=1) != 0)


def _denial(f: RuleFeatures, no: IntArray, topic: _Bits, yes: IntArray) -> npt.NDArray[np.bool_]:
    """Whether every key of one of the denials in `no` occurs in `yes`, which affirms something."""
    denied = f.denied[no]
    outside = np.bitwise_or.reduce(denied & ~topic[:, None, :], axis=2) != 0
    stated = np.bitwise_or.reduce(denied, axis=2) != 0
    return np.asarray((stated & ~outside).any(axis=1) & (f.traits[yes] & T["affirms"] != 0))
