"""Sentence frames: text with slots and alternatives, compiled once and filled many times.

    {slot}       a value; ``{Slot}`` capitalises its first letter
    [a|b|]       one of the alternatives, which may be empty and may hold slots, but no further brackets
    <walk|walks> first person or third, as the user's entries are written

Korean particles that depend on the sound before them are written ``은(는)``, ``이(가)``, ``을(를)``, ``과(와)``, ``으로(로)``,
``이라(라)``, ``이다(다)`` and settled when the text is whole.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from workbench.data.synthetic.streams import Stream
from workbench.errors import DataError

# A literal, a slot (name, capitalise), a choice of part lists, or a person form (first, third).
Part: TypeAlias = "str | Slot | Choice | Person"

_TOKEN = re.compile(r"\{([A-Za-z_0-9]+)\}|\[([^\[\]]*)\]|<([^<>|]*)\|([^<>|]*)>")
_PARTICLE = re.compile(r"(.)(으로\(로\)|이라\(라\)|이다\(다\)|은\(는\)|이\(가\)|을\(를\)|과\(와\))")
_FORMS = {
    "은(는)": ("은", "는"), "이(가)": ("이", "가"), "을(를)": ("을", "를"), "과(와)": ("과", "와"), "으로(로)": ("으로", "로"),
    "이라(라)": ("이라", "라"), "이다(다)": ("이다", "다"),
}  # fmt: skip
# Digits and Latin letters by how they are read in Korean: 0 영, 1 일, 3 삼, 6 육, 7 칠, 8 팔 end in a consonant.
_CLOSED = frozenset("013678lmnrLMNR")


@dataclass(frozen=True, slots=True)
class Slot:
    name: str
    capital: bool


@dataclass(frozen=True, slots=True)
class Choice:
    options: tuple[tuple[Part, ...], ...]


@dataclass(frozen=True, slots=True)
class Person:
    first: str
    third: str


class Frame:
    """A compiled frame. ``fill(value_of, stream, third)`` writes one text."""

    __slots__ = ("parts", "source", "surfaces")

    def __init__(self, source: str) -> None:
        """Raises DataError for brackets or braces that do not close."""
        self.source = source
        self.parts = _compile(source)
        self.surfaces = 1
        for part in self.parts:
            if isinstance(part, Choice):
                self.surfaces *= len(part.options)

    def __repr__(self) -> str:
        return f"Frame({self.source!r})"

    @property
    def slots(self) -> frozenset[str]:
        """Names of the slots, uncapitalised."""
        found: set[str] = set()
        for part in self.parts:
            inner = [part] if not isinstance(part, Choice) else [item for option in part.options for item in option]
            found.update(item.name for item in inner if isinstance(item, Slot))
        return frozenset(found)

    def fill(self, value_of: Callable[[str], str], stream: Stream, third: bool = False) -> str:
        """The text with every slot from ``value_of(name)`` and alternatives drawn from ``stream``."""
        out: list[str] = []
        for part in self.parts:
            if isinstance(part, str):
                out.append(part)
            elif isinstance(part, Choice):
                for item in stream.pick(part.options):
                    out.append(item if isinstance(item, str) else _inner(item, value_of, third))
            else:
                out.append(_inner(part, value_of, third))
        text = "".join(out)
        return text if text.isascii() or "(" not in text else settle_particles(text)


# Articles that a preposition swallows, by language.
_SHORT_ES = {"de el": "del ", "a el": "al "}
_SHORT_PT = {
    "de o": "do ",
    "de a": "da ",
    "em o": "no ",
    "em a": "na ",
    "por o": "pelo ",
    "por a": "pela ",
    "a o": "ao ",
    "a a": "à ",
}
_CONTRACTIONS = {
    "es": (re.compile(r"\b(de|a) (el) (?=[a-z])"), _SHORT_ES),
    "pt": (re.compile(r"\b(de|em|por|a) ([oa]) (?=[a-zà-ú])"), _SHORT_PT),
}


def contracted(text: str, language: str) -> str:
    """``de el muelle`` as ``del muelle``, ``em a serra`` as ``na serra``."""
    rule = _CONTRACTIONS.get(language)
    if rule is None:
        return text
    pattern, short = rule
    return pattern.sub(lambda match: short[" ".join(match.groups())], text)


def _inner(part: Part, value_of: Callable[[str], str], third: bool) -> str:
    if isinstance(part, Slot):
        value = value_of(part.name)
        return capitalised(value) if part.capital else value
    if isinstance(part, Person):
        return part.third if third else part.first
    raise TypeError(part)


def capitalised(value: str) -> str:
    """``value`` with a capital first letter, unless it is an identifier (``order_total_cents``, ``fetchRows``)."""
    if " " not in value and (not value.islower() or "_" in value) and value[:1].islower():
        return value
    return value[:1].upper() + value[1:]


def _compile(source: str, nested: bool = False) -> tuple[Part, ...]:
    parts: list[Part] = []
    at = 0
    for match in _TOKEN.finditer(source):
        if match.start() > at:
            parts.append(source[at : match.start()])
        slot, options, first, third = match.groups()
        if slot is not None:
            parts.append(Slot(slot[:1].lower() + slot[1:], slot[:1].isupper()))
        elif options is not None:
            if nested:
                raise DataError(f"frame {source!r}: alternatives cannot hold alternatives")
            parts.append(Choice(tuple(_compile(option, nested=True) for option in options.split("|"))))
        else:
            parts.append(Person(first, third))
        at = match.end()
    if at < len(source):
        parts.append(source[at:])
    if any(isinstance(part, str) and set(part) & set("{}[]<>") for part in parts):
        raise DataError(f"frame {source!r}: a brace or bracket does not close")
    return tuple(parts)


def settle_particles(text: str) -> str:
    """Choose each ``은(는)`` and the like by the sound before it."""

    def choose(match: re.Match[str]) -> str:
        before, form = match.groups()
        closed, opened = _FORMS[form]
        if "가" <= before <= "힣":
            final = (ord(before) - 0xAC00) % 28
            # ㄹ counts as open before 으로
            is_closed = final != 0 and not (form == "으로(로)" and final == 8)
        else:
            is_closed = before in _CLOSED and not (form == "으로(로)" and before in "178lrLR")
        return before + (closed if is_closed else opened)

    return _PARTICLE.sub(choose, text)
