"""The persona behind a store, and the values its sentences are filled with."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import isqrt

from workbench.data.synthetic import names
from workbench.data.synthetic.frames import Frame, Slot, contracted
from workbench.data.synthetic.streams import Stream
from workbench.data.synthetic.wording import wording
from workbench.errors import DataError

_VOICES = ("first", "user", "name")
# How often a statement departs from the voice in which most of the user's entries are written, in per cent.
_OTHER_VOICE = 12
_REDRAWS = 12


@dataclass(eq=False)
class Cast:
    """A persona: name, job, people, plans. ``taken`` holds names already given away, so that no two things share one."""

    name: str
    surname: str
    assistant: str
    job: str
    voice: str
    second: str
    people: list[str]
    plans: list[str]
    taken: set[str] = field(default_factory=set)

    @classmethod
    def create(cls, stream: Stream, size: int, second: str) -> Cast:
        """Draw a persona for a store of ``size`` entries whose second language is ``second`` (or "")."""
        name, surname = names.first_name(stream), names.surname(stream)
        taken = {name, surname}
        cast = cls(
            name=name,
            surname=surname,
            assistant=names.first_name(stream),
            job=names.part(stream, "job"),
            voice=_VOICES[stream.weighted((50, 30, 20))],
            second=second,
            people=[],
            plans=[],
            taken=taken,
        )
        for at in range(min(8 + isqrt(size) // 4, 80)):
            # colleagues by full name, family and friends by first name
            cast.people.append(cast.fresh("fullname" if at % 3 == 0 else "firstname", stream, "en"))
        cast.plans = [cast.fresh("codename", stream, "en") for _ in range(3 + isqrt(size) // 20)]
        return cast

    def fresh(self, slot: str, stream: Stream, language: str) -> str:
        """A value of ``slot`` that nothing else of this persona is called; numbered once the pools are used up."""
        for _ in range(_REDRAWS):
            value = names.MAKERS[slot](stream, language)
            if value not in self.taken:
                break
        else:
            # first names are few; a full name serves as well
            value = names.full_name(stream) if slot == "firstname" else value
            if value in self.taken:
                value = f"{value}{' ' if ' ' in value else ''}{len(self.taken)}"
        self.taken.add(value)
        return value

    def speaker(self, stream: Stream) -> str:
        """In which voice a statement is written: first, user (third person) or name."""
        return stream.pick(_VOICES) if stream.chance(_OTHER_VOICE) else self.voice


class Scope:
    """Values for the slots of one text, or of several that must agree: a slot keeps its value, numbered ones differ."""

    __slots__ = ("bound", "cast", "language", "stream", "voice")

    def __init__(self, cast: Cast, stream: Stream, language: str = "en", voice: str = "first", **bound: str) -> None:
        self.cast = cast
        self.stream = stream
        self.language = language
        self.voice = voice
        self.bound: dict[str, str] = bound

    def fill(self, frame: Frame) -> str:
        """``frame`` as text."""
        text = frame.fill(self, self.stream, self.voice != "first")
        return text if self.language in ("en", "de", "ko") else contracted(text, self.language)

    def __call__(self, slot: str) -> str:
        value = self.bound.get(slot)
        if value is None:
            value = self._draw(slot)
            if slot != "thing":
                self.bound[slot] = value
        return value

    def _draw(self, slot: str) -> str:
        base = slot.rstrip("0123456789")
        if base != slot:
            return self._other(base)
        return self.value(base)

    def _other(self, base: str) -> str:
        used = {value for key, value in self.bound.items() if key.rstrip("0123456789") == base}
        value = self.value(base)
        for _ in range(8):
            if value not in used:
                break
            value = self.value(base)
        return value

    def value(self, slot: str) -> str:
        """A value of ``slot``, drawn anew. Raises DataError for a slot nobody knows."""
        cast, stream = self.cast, self.stream
        if slot == "person":
            return stream.pick(cast.people)
        if slot in ("i", "my", "me"):
            return self._self(slot)
        pool = wording(self.language).pools.get(slot) or wording("en").pools.get(slot)
        if pool is not None:
            item = stream.pick(pool)
            if len(item.parts) == 1 and isinstance(item.parts[0], str):
                return item.source
            return item.fill(self._nested, stream)
        maker = names.MAKERS.get(slot)
        if maker is not None:
            made = maker(stream, self.language)
            # what a judged entry is about is never mentioned by chance
            for _ in range(_REDRAWS):
                if made not in cast.taken:
                    break
                made = maker(stream, self.language)
            return made
        if slot in ("user", "assistant", "job"):
            return str({"user": cast.name, "assistant": cast.assistant, "job": cast.job}[slot])
        if slot == "plan":
            return stream.pick(cast.plans)
        raise DataError(f"a frame has the slot {{{slot}}}, for which there is no pool and no maker")

    def _nested(self, slot: str) -> str:
        # a value made of values draws its own, so that two places of one text do not share them by accident
        return self.value(slot.rstrip("0123456789"))

    def _self(self, slot: str) -> str:
        if self.voice == "first":
            return {"i": "I", "my": "my", "me": "me"}[slot]
        name = "the user" if self.voice == "user" else self.cast.name
        return f"{name}'s" if slot == "my" else name


def forms(scope: Scope, block_forms: tuple[Frame, ...], family: int) -> list[str]:
    """The names a thing goes by: its full name, and a short one where the wording has it.

    ``family`` picks one of several full names when the wording offers alternatives instead of a short form.
    """
    full = block_forms[0]
    short = block_forms[-1]
    if len(block_forms) > 1 and _slots(short) <= _slots(full) and len(short.parts) < len(full.parts):
        return [scope.fill(full), scope.fill(short)]
    return [scope.fill(block_forms[family % len(block_forms)])]


def _slots(frame: Frame) -> frozenset[str]:
    return frozenset(part.name for part in frame.parts if isinstance(part, Slot))
