"""One text as the rule-based conflict test keeps it: its sentences, and packed numbers by which whole arrays of pairs are sifted.

Everything here depends on one text only, so that it is computed when the text is written and never again.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable
from functools import lru_cache
from typing import Final, NamedTuple
from zlib import crc32

import numpy as np

from workbench.assembly.conflict_lexicon import FLAGS, SPOKEN
from workbench.assembly.conflict_reader import read
from workbench.assembly.conflict_statement import CHANGE, Sentence

MARKS: Final[dict[str, int]] = {
    name: 1 << i
    for i, name in enumerate(
        (
            "past",
            "change",
            "talk",
            "direct",
            "headed",
            "scoped",
            "updates",
            "reschedules",
            "rescheduled",
            "supersedes",
            "moved",
            "replaced",
            "many",
        )
    )
}
"""Bits of a sentence beside its traits. ``many``: more denials or endings than the roles tell apart."""

ROLES: Final[dict[str, int]] = {
    name: 1 << i for i, name in enumerate(("strong", "name", "first", "unique", "ended", "denied", "denied too", "lead"))
}
"""What one content key is to its sentence; ``lead``: the first one, if it makes a topic."""

_HASHED = ("heads", "families", "dimensions", "lacks", "has", "scopes")
_TEXT = struct.Struct("<bII6QH")
TEXT_TYPE: Final = np.dtype(
    [("language", "i1"), ("traits", "<u4"), ("slots", "<u4"), *((name, "<u8") for name in _HASHED), ("parts", "<u2")]
)
_PART = struct.Struct("<III10Q5I")
PART_TYPE: Final = np.dtype(
    [
        *((name, "<u4") for name in ("traits", "marks", "slots")),
        *((name, "<u8") for name in _HASHED),
        *((name, "<u8") for name in ("head_keys", "key_bits", "values", "states")),
        *((name, "<u4") for name in ("strong", "head_strong", "keys", "ended_size", "states_held")),
    ]
)
_KEY = struct.Struct("<IB")
KEY_TYPE: Final = np.dtype([("kind", "<u4"), ("role", "u1")])
_UNCOUNTED = frozenset(("year", "elapsed"))
_MASK = 0xFFFFFFFFFFFFFFFF


class TextBits(NamedTuple):
    """One text, read: itself, its sentences and the packed rows of ``TEXT_TYPE``, ``PART_TYPE`` and ``KEY_TYPE``."""

    text: str
    sentences: tuple[Sentence, ...]
    row: bytes
    parts: bytes
    keys: bytes


@lru_cache(maxsize=1 << 15)
def _kind(key: str) -> tuple[int, int]:
    """A number that all keys share which can be ``near`` each other, and one bit for the key itself.

    Near keys have their first five letters in common, or two Korean syllables.
    """
    return crc32((key[:2] if key[0] >= "가" else key[:5]).encode()), 1 << crc32(key.encode()) % 64


def _bits(items: Iterable[str]) -> int:
    found = 0
    for item in items:
        found |= 1 << crc32(item.encode()) % 64
    return found


def _sum(items: Iterable[str]) -> int:
    """Equal for equal collections, whatever their order."""
    return sum(crc32(item.encode()) * 0x9E3779B97F4A7C15 for item in items) & _MASK


def read_bits(text: str) -> TextBits:
    """Reads one text. Pure; the only step of the conflict test that takes time per text."""
    sentences = read(text)
    parts, keys = [], []
    traits = slots = 0
    hashed = [0] * len(_HASHED)
    for sentence in sentences:
        numbers, roles = _part(sentence)
        traits |= sentence.traits
        slots |= sentence.slots
        for at, number in enumerate(numbers[3 : 3 + len(_HASHED)]):
            hashed[at] |= number
        parts.append(_PART.pack(*numbers))
        keys.append(roles)
    language = SPOKEN.index(sentences[0].language) if sentences else -1
    row = _TEXT.pack(language, traits, slots, *hashed, len(sentences))
    return TextBits(text, sentences, row, b"".join(parts), b"".join(keys))


def _part(sentence: Sentence) -> tuple[tuple[int, ...], bytes]:
    marks = _marks(sentence)
    denials = [frozenset(clause.scope) for clause in sentence.clauses if clause.denies]
    ends = [clause.ended for clause in sentence.clauses if clause.denies and clause.ended is not None]
    if len(denials) > 2 or len(ends) > 1:
        marks |= MARKS["many"]
    strong = set(sentence.strong)
    ended = strong.intersection(*ends[:1]) if ends else frozenset()
    packed, key_bits, seen = [], 0, set()
    for position, key in enumerate(sentence.keys):
        kind, bit = _kind(key)
        key_bits |= bit
        role = 0
        if key not in seen:
            seen.add(key)
            role = (
                ROLES["strong"] * (key in strong) | ROLES["unique"] * (key in sentence.unique) | ROLES["ended"] * (key in ended)
            )
        if position == 0:
            role |= ROLES["first"] | ROLES["lead"] * (key in strong)
        if key in sentence.names:
            role |= ROLES["name"]
        for scope, name in zip(denials, ("denied", "denied too"), strict=False):
            if key in scope:
                role |= ROLES[name]
        packed.append(_KEY.pack(kind, role))
    families = [entry[0] for entry in sentence.opposed]
    numbers = (
        sentence.traits,
        marks,
        sentence.slots,
        _bits(head.rpartition(">")[2] for head in sentence.heads),
        _bits(families),
        _bits(value.dimension for value in sentence.values if value.dimension not in _UNCOUNTED),
        _bits(f"{owner} {kind}" for owner, kind in sentence.lacks),
        _bits(f"{owner} {kind}" for owner, kind in sentence.has),
        _bits(sentence.scopes),
        _bits(sentence.heads),
        key_bits,
        _sum(f"{value.dimension} {value.amount}" for value in sentence.values),
        _sum(f"{family} {stage} {denied}" for family, stage, _, denied in sentence.opposed),
        len(strong),
        len(strong & sentence.heads),
        len(packed),
        sum(map(len, ends)),
        len(families),
    )
    return numbers, b"".join(packed)


def _marks(sentence: Sentence) -> int:
    flags = sentence.flags
    held = {
        "past": sentence.past,
        "change": flags & CHANGE,
        "talk": sentence.talk,
        "direct": sentence.direct,
        "headed": sentence.heads,
        "scoped": sentence.scopes,
        "updates": flags & FLAGS["upd"],
        "reschedules": flags & (FLAGS["upd"] | FLAGS["resched"] | FLAGS["move"]),
        "rescheduled": flags & FLAGS["resched"],
        "supersedes": flags & FLAGS["supersede"],
        "moved": sentence.moved,
        "replaced": sentence.replaced,
    }
    return sum(MARKS[name] for name, value in held.items() if value)
