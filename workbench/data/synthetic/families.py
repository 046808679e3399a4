"""Families: entries on one topic that fit a question equally well, so that one signal alone tells which is wanted."""

from __future__ import annotations

import re
import unicodedata

from workbench.data.synthetic.cast import Scope
from workbench.data.synthetic.draft import Book, Draft
from workbench.data.synthetic.frames import Frame
from workbench.data.synthetic.streams import Stream
from workbench.data.synthetic.timeline import DAY
from workbench.data.synthetic.wording import Block, wording

_WORD = re.compile(r"\w+")
SIGNALS = ("recency", "importance", "confidence", "frequency")
_HOURS = 60
_MILD = 40


def plant_families(book: Book, stream: Stream, count: int, size: int, second: str) -> None:
    """Plant ``count`` families of ``size`` entries: every signal once in English, the rest in the second language.

    Without a second language the rest is English too, on other topics.
    """
    chosen: list[tuple[str, Block]] = []
    for signal in SIGNALS:
        blocks = [block for block in wording("en").of("family") if block.attributes["signal"] == signal]
        chosen += [("en", block) for block in stream.sample(blocks, 2)]
    first, spare = chosen[0::2], chosen[1::2]
    if second:
        spare = [(second, block) for block in wording(second).of("family")]
    for language, block in first + stream.sample(spare, max(0, count - len(first))):
        _plant(book, stream, block, language, size)


def anchor_of(scope: Scope, frame: Frame) -> str:
    """The name of a family's topic, made of names nothing else of the user bears."""
    for slot in sorted(frame.slots):
        scope.bound[slot] = scope.cast.fresh(slot, scope.stream, scope.language)
    return scope.fill(frame)


def _plant(book: Book, stream: Stream, block: Block, language: str, size: int) -> None:
    signal = block.attributes["signal"]
    scope = Scope(book.cast, stream, language)
    anchor = anchor_of(scope, stream.pick(block.of("^")))
    # each text draws its own values: those of one member must not return in the next
    questions = [Scope(book.cast, stream, language, anchor=anchor).fill(frame) for frame in block.of("?")]
    weighty = [Scope(book.cast, stream, language, anchor=anchor).fill(frame) for frame in block.of("!")]
    others = [Scope(book.cast, stream, language, anchor=anchor).fill(frame) for frame in block.of("+")]
    wanted = 2 if signal != "recency" and stream.chance(30) else 1
    # where the wording says which statements may matter most, the wanted ones are among them
    first = plainest(stream.shuffled(weighty or others), questions)[:wanted]
    rest = [text for text in weighty + others if text not in first]
    texts = first + stream.shuffled(rest)[: size - wanted]
    entries = [_member(text, block.attributes["cat"]) for text in texts]
    _level(entries, signal, wanted, stream)
    for entry in entries:
        book.add(entry)
    book.label("family", entries, f"{signal} decides; the first {wanted} wanted")
    for question in questions:
        book.ask(
            question,
            f"{signal}_decides",
            entries[:wanted],
            language=language,
            decided_by=signal,
        )


def plainest(texts: list[str], questions: list[str]) -> list[str]:
    """``texts``, those first that share no more words with any question than the others do: words cannot give them away."""
    excess = [0] * len(texts)
    for question in questions:
        asked = _words(question)
        shared = [len(asked & _words(text)) for text in texts]
        excess = [max(old, count - min(shared)) for old, count in zip(excess, shared, strict=True)]
    return [texts[at] for at in sorted(range(len(texts)), key=lambda at: (excess[at], at))]


def _words(text: str) -> set[str]:
    """Words without case and accents, as keyword search sees them."""
    plain = unicodedata.normalize("NFD", text.casefold())
    return set(_WORD.findall("".join(letter for letter in plain if not unicodedata.combining(letter))))


def _member(text: str, category: str) -> Draft:
    return Draft(
        layer="memory", text=text, age=0, changed=0, category=category, importance=0, confidence=0, access=0, source="chat",

    )  # fmt: skip


def _level(entries: list[Draft], signal: str, wanted: int, stream: Stream) -> None:
    """Give all members the same signals, apart from the one that decides."""
    importance, confidence, access = stream.between(30, 45), stream.between(86, 94), stream.between(1, 3)
    base = stream.between(70, 240) * DAY
    # in some families the wanted entry stands out less, so that a small weight is not as good as a large one
    mild = stream.chance(_MILD)
    for number, entry in enumerate(entries):
        chosen = number < wanted

        entry.importance, entry.confidence, entry.access = importance, confidence, access
        # within two days: a difference in age that no half-life notices
        entry.age = base + stream.between(0, 48 * _HOURS)
        if signal == "recency":
            newest = stream.between(10 * DAY, 16 * DAY) if mild else stream.between(3 * DAY, 8 * DAY)
            entry.age = newest if chosen else stream.between(75 * DAY, 380 * DAY)
        elif signal == "importance":
            low, high = (22, 45) if mild else (10, 30)
            entry.importance = (82 if mild else 95) if chosen else stream.between(low, high)
        elif signal == "confidence":
            low, high = (34, 56) if mild else (20, 40)
            entry.confidence = (93 if mild else 97) if chosen else stream.between(low, high)
            entry.source = "chat" if chosen else stream.pick(("second-hand", "inference"))
        else:
            often = stream.between(24, 45) if mild else stream.between(80, 150)
            entry.access = often if chosen else stream.between(0, 2)
        entry.changed = entry.age
