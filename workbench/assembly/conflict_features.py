"""What the rule-based conflict test keeps of a list of texts: sentences, and bits by which whole arrays of pairs are sifted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from zlib import crc32

import numpy as np
import numpy.typing as npt

from workbench.assembly.conflict_lexicon import SLOTS, SPOKEN
from workbench.assembly.conflict_reader import read
from workbench.assembly.conflict_statement import TRAITS, Sentence

BITS = 512
"""Width of a set of content keys."""
_WORDS = BITS // 64
Bits = npt.NDArray[np.uint64]
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
        ended_size: (n,) number of the keys that ended, everyday verbs included.
        denied: (n, 2, 8) keys of the first two denials.
    """

    sentences: tuple[tuple[Sentence, ...], ...]
    order: npt.NDArray[np.int64]
    language: npt.NDArray[np.int8]
    traits: npt.NDArray[np.uint32]
    slots: npt.NDArray[np.uint32]
    heads: Bits
    dimensions: Bits
    families: Bits
    lacks: Bits
    has: Bits
    values: Bits
    scopes: Bits
    topic: Bits
    unique: Bits
    ended: Bits
    ended_size: npt.NDArray[np.int64]
    denied: Bits

    def __len__(self) -> int:
        return len(self.sentences)


def _bit(key: str, width: int = BITS) -> int:
    """One bit for all keys that can be `near` each other: those share their first five letters, or two Korean syllables."""
    return 1 << crc32((key[:2] if key[0] >= "가" else key[:5]).encode()) % width


class _Row:
    """Bits of one text while it is read."""

    def __init__(self, sentences: tuple[Sentence, ...], bits: dict[str, int]) -> None:
        self.language = SPOKEN.index(sentences[0].language) if sentences else -1
        self.traits = self.slots = self.heads = self.dimensions = self.families = self.lacks = self.has = 0
        self.topic = self.unique = self.ended = self.values = self.scopes = self.ended_size = 0
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
                self.values = (self.values + crc32(stated) * 0x9E3779B97F4A7C15) & 0xFFFFFFFFFFFFFFFF
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
                    self.ended_size += len(clause.ended)
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


def _wide(rows: list[int]) -> Bits:
    """Packs 512-bit integers into an (n, 8) array."""
    packed = b"".join(row.to_bytes(BITS // 8, "little") for row in rows)
    return np.frombuffer(packed, dtype="<u8").reshape(len(rows), _WORDS).astype(np.uint64)


def read_features(texts: Sequence[str]) -> RuleFeatures:
    """Reads every text into sentences and bits. Rows follow the texts; each depends on its text only."""
    bits: dict[str, int] = {}
    sentences = tuple(read(text) for text in texts)
    rows = [_Row(found, bits) for found in sentences]
    _, order = np.unique(np.array(list(texts), dtype=object), return_inverse=True) if texts else (None, np.zeros(0, np.int64))

    def narrow(name: str) -> Bits:
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
        ended_size=np.array([row.ended_size for row in rows], dtype=np.int64),
        denied=_wide([part for row in rows for part in row.denied]).reshape(len(rows), 2, _WORDS),
    )
