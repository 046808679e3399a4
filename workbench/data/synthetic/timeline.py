"""When things came up in the recorded life, and what that leaves on an entry: age, importance, confidence, source, accesses."""

from __future__ import annotations

from dataclasses import dataclass

from workbench.data.synthetic.draft import Draft
from workbench.data.synthetic.streams import Stream

DAY = 24 * 60
"""Minutes of a day; ages are whole minutes before the time of the questions."""

# How an entry came about: source, confidence from and to in per cent, and how many of 100 entries do.
_ORIGINS = (
    ("chat", 88, 99, 52),
    ("note", 85, 96, 10),
    ("calendar", 90, 98, 6),
    ("inference", 52, 80, 18),
    ("second-hand", 22, 60, 14),
)
# What is asked about was more often said by the user directly.
_ASKED_ORIGINS = (("chat", 88, 99, 74), ("note", 85, 96, 14), ("inference", 60, 82, 8), ("second-hand", 35, 62, 4))
_IMPORTANCE = {
    "health": 62, "project": 48, "technical": 46, "fact": 50, "person": 44, "event": 42, "place": 36, "workflow": 52, "other": 22,
}  # fmt: skip
# Mentions a year of the topics of one user, most frequent first: long-tailed, as topics are.
_HEAT = (150, 90, 60, 44, 34, 27, 22, 18, 15, 12, 10, 8, 7, 6, 5, 4, 3, 3, 2, 2, 1, 1, 1, 0, 0, 0)
# Per cent of a topic's mentions in which one of its entries is looked up.
_SHARES = (0, 0, 2, 4, 8, 15, 30, 60)


@dataclass(frozen=True, slots=True)
class Topic:
    """Something that keeps coming up: mentions a year, and the minutes before now between which it was on."""

    heat: int
    start: int
    end: int

    @classmethod
    def draw(cls, stream: Stream, span: int, *, current: bool = False) -> Topic:
        """A topic of a life that lasts ``span`` minutes. ``current`` ones are still going on."""
        heat = stream.pick(_HEAT)
        start = stream.between(min(60 * DAY, span // 2), span)
        length = stream.between(start // 4, start)
        return cls(heat, start, 0 if current or stream.chance(40) else start - length)

    def moment(self, stream: Stream) -> int:
        """Minutes before now of a time at which the topic was on."""
        return stream.between(self.end + 30, max(self.start, self.end + DAY))

    def accesses(self, stream: Stream, age: int, asked: bool = False) -> int:
        """How often an entry of this age was looked up: a share of the mentions since it was made.

        What is asked about is more often looked up: questions come from the topics of a life, too.
        """
        days = max(0, age - self.end) // DAY
        return self.heat * days * stream.pick(_SHARES[3:] if asked else _SHARES) // 36_500


def importance(stream: Stream, category: str) -> int:
    """Importance in per cent: what the category suggests, give or take."""
    middle = _IMPORTANCE.get(category, 40)
    return min(96, max(4, middle + stream.between(-18, 18) + stream.between(-12, 12)))


def origin(stream: Stream, asked: bool = False) -> tuple[str, int]:
    """Source of an entry and its confidence in per cent (stated, inferred, second-hand)."""
    table = _ASKED_ORIGINS if asked else _ORIGINS
    source, low, high, _ = table[stream.weighted([row[3] for row in table])]
    return source, stream.between(low, high)


def entry(
    layer: str,
    text: str,
    category: str,
    stream: Stream,
    topic: Topic,
    *,
    age: int | None = None,
    asked: bool = False,
    tags: tuple[str, ...] = (),
    details: tuple[str, ...] = (),
    outcome: str = "",
    status: str = "active",
) -> Draft:
    """An entry of ``topic`` with everything but its text drawn; ``age`` fixes when it was made."""
    made = topic.moment(stream) if age is None else age
    source, confidence = origin(stream, asked)
    changed = made
    if layer != "episode" and age is None and stream.chance(12):
        changed = stream.between(10, made)
    return Draft(
        layer=layer,
        text=text,
        age=made,
        changed=changed,
        category=category,
        importance=importance(stream, category),
        confidence=confidence,
        access=topic.accesses(stream, made, asked),
        source="session" if layer == "episode" else source,
        tags=tags,
        status=status,
        details=details,
        outcome=outcome,
    )
