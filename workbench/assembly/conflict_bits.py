"""One text as the rule-based conflict test keeps it: its sentences, and packed numbers by which whole arrays of pairs are sifted.

Everything here depends on one text only, so that it is computed when the text is written and never again.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable
from functools import lru_cache
from hashlib import blake2b
from typing import Final, NamedTuple
from zlib import crc32

import numpy as np

from workbench.assembly.conflict_lexicon import FLAGS, SPOKEN
from workbench.assembly.conflict_reader import read
from workbench.assembly.conflict_statement import CHANGE, Sentence, is_serial

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
    name: 1 << i
    for i, name in enumerate(("strong", "name", "first", "unique", "ended", "denied", "denied too", "lead", "serial"))
}
"""What one content key is to its sentence; ``lead``: the first one, if it makes a topic; ``serial``: it numbers an item."""

COUNTER_BITS: Final = 12
COUNTERS: Final = 5
"""Keys of a sentence are counted by role in numbers of 64 bits, so many counters of so many bits in each."""

_HASHED = ("heads", "families", "dimensions", "lacks", "has", "scopes")
PLACES: Final = 1024
"""Places that content keys fall into by their hash. Keys which can be ``near`` each other share one; others rarely do."""

_WORDS = (("places", "<u8", (PLACES // 64,)),)
_TEXT = struct.Struct(f"<bII6QH{PLACES // 8}s")
TEXT_TYPE: Final = np.dtype(
    [("language", "i1"), ("traits", "<u4"), ("slots", "<u4"), *((name, "<u8") for name in _HASHED), ("parts", "<u2"), *_WORDS]
)
_PART = struct.Struct(f"<III10Q5I3Q{PLACES // 8}s")
PART_TYPE: Final = np.dtype(
    [
        *((name, "<u4") for name in ("traits", "marks", "slots")),
        *((name, "<u8") for name in _HASHED),
        *((name, "<u8") for name in ("head_keys", "key_bits", "values", "states")),
        *((name, "<u4") for name in ("strong", "head_strong", "keys", "ended_size", "states_held")),
        *((name, "<u8") for name in ("totals_0", "totals_1", "said")),
        *_WORDS,
    ]
)
_KEY = struct.Struct("<HH")
KEY_TYPE: Final = np.dtype([("place", "<u2"), ("role", "<u2")])
_UNCOUNTED = frozenset(("year", "elapsed"))
_MASK = 0xFFFFFFFFFFFFFFFF


class TextBits(NamedTuple):
    """One text, read: itself, its sentences and the packed rows of ``TEXT_TYPE``, ``PART_TYPE`` and ``KEY_TYPE``."""

    text: str
    sentences: tuple[Sentence, ...]
    row: bytes
    parts: bytes
    keys: bytes


def tally(role: int) -> tuple[int, int]:
    """A key with these ``ROLES`` as counters: sums of what this returns count keys by role."""
    first, second = (sum(1 << COUNTER_BITS * at for at in range(COUNTERS) if role >> start + at & 1) for start in (0, COUNTERS))
    return first, second


@lru_cache(maxsize=1 << 15)
def _place(key: str) -> tuple[int, int]:
    """The place of a key, which all keys share that can be ``near`` it, and one bit for the key itself.

    Near keys have their first five letters in common, or two Korean syllables.
    """
    return crc32((key[:2] if key[0] >= "가" else key[:5]).encode()) % PLACES, 1 << crc32(key.encode()) % 64


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
    places = 0
    for sentence in sentences:
        numbers, held, roles = _part(sentence)
        places |= held
        traits |= sentence.traits
        slots |= sentence.slots
        for at, number in enumerate(numbers[3 : 3 + len(_HASHED)]):
            hashed[at] |= number
        parts.append(_PART.pack(*numbers, _words(held)))
        keys.append(roles)
    language = SPOKEN.index(sentences[0].language) if sentences else -1
    row = _TEXT.pack(language, traits, slots, *hashed, len(sentences), _words(places))
    return TextBits(text, sentences, row, b"".join(parts), b"".join(keys))


def _words(places: int) -> bytes:
    return places.to_bytes(PLACES // 8, "little")


def _part(sentence: Sentence) -> tuple[tuple[int, ...], int, bytes]:
    """Its numbers, the places of its keys, and its keys."""
    marks = _marks(sentence)
    denials = [frozenset(clause.scope) for clause in sentence.clauses if clause.denies]
    ends = [clause.ended for clause in sentence.clauses if clause.denies and clause.ended is not None]
    if len(denials) > 2 or len(ends) > 1:
        marks |= MARKS["many"]
    strong = set(sentence.strong)
    ended = strong.intersection(*ends[:1]) if ends else frozenset()
    packed, key_bits, seen, places, totals = [], 0, set(), 0, [0, 0]
    for position, key in enumerate(sentence.keys):
        place, bit = _place(key)
        key_bits |= bit
        places |= 1 << place
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
        if is_serial(sentence, key):
            role |= ROLES["serial"]
        for scope, name in zip(denials, ("denied", "denied too"), strict=False):
            if key in scope:
                role |= ROLES[name]
        packed.append(_KEY.pack(place, role))
        totals = [total + more for total, more in zip(totals, tally(role), strict=True)]
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
        *totals,
        int.from_bytes(blake2b("\0".join(sentence.keys).encode(), digest_size=8).digest(), "little"),
    )
    return numbers, places, b"".join(packed)


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
