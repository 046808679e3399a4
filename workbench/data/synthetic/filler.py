"""The rest of a life: what a store mostly consists of, and what no question asks for."""

from __future__ import annotations

from workbench.data.synthetic.cast import Scope
from workbench.data.synthetic.draft import Book
from workbench.data.synthetic.plan import Plan
from workbench.data.synthetic.streams import Stream
from workbench.data.synthetic.things import Thing, kinds, memory_aspects
from workbench.data.synthetic.timeline import DAY, Topic, entry
from workbench.data.synthetic.wording import Block, wording
from workbench.errors import DataError

# Kinds of things with so many names that they do not run out in the largest store, and others for smaller ones.
_PLENTY = ("machine", "ticket", "contract")
_SOME = (*_PLENTY, "function", "project", "trip")
_MANY_NAMES = 1_500
_FOREIGN_SHARE = 15
_TRIES = 40


def fill(book: Book, stream: Stream, plan: Plan, second: str) -> None:
    """Fill up memories and episodes to the plan: everyday remarks, facts about things nobody asks for, recent notes."""
    topics = [Topic.draw(stream, book.span) for _ in range(12 + plan.size // 400)]
    recent = min(plan.recent, max(0, book.room()))
    for _ in range(recent):
        # younger than whatever recency is to decide about, so that being new alone does not win
        _remark(book, stream, topics, second, age=stream.between(20, 3 * DAY - 120))
    while book.room() > 0:
        if book.room() > 10 and stream.chance(14):
            _background(book, stream, second)
        else:
            _remark(book, stream, topics, second)
    while book.counts["episode"] < plan.episodes:
        _day(book, stream, topics, second)


def _language(stream: Stream, second: str) -> str:
    return second if second and stream.chance(_FOREIGN_SHARE) else "en"


def _remark(book: Book, stream: Stream, topics: list[Topic], second: str, age: int | None = None) -> None:
    language = _language(stream, second)
    block: Block = stream.pick(wording(language).of("life"))
    for _ in range(_TRIES):
        scope = Scope(book.cast, stream, language, voice=book.cast.speaker(stream) if language == "en" else "first")
        text = scope.fill(stream.pick(block.of("+")))
        if book.is_new(text):
            break
        # a language with few frames is exhausted in a very large store
        language = "en"
        block = stream.pick(wording(language).of("life"))
    else:
        raise DataError(
            f"user {book.user_id!r}: the wording cannot tell {book.capacity} different memories; ask for a smaller size"
        )
    book.add(entry("memory", text, block.attributes["cat"], stream, stream.pick(topics), age=age))


def _background(book: Book, stream: Stream, second: str) -> None:
    language = _language(stream, second)
    usual = _SOME if len(book.cast.taken) < _MANY_NAMES else _PLENTY
    choice = [kind for kind in kinds(language) if language != "en" or kind.block.name in usual]
    kind = stream.pick(choice)
    thing = Thing(book, stream, kind, language)
    for aspect in stream.sample(memory_aspects(kind), stream.between(2, 5)):
        thing.tell(aspect, asked=False)
    if stream.chance(40):
        thing.mention(2)


def _day(book: Book, stream: Stream, topics: list[Topic], second: str) -> None:
    for attempt in range(_TRIES):
        language = _language(stream, second) if attempt == 0 else "en"
        block = stream.pick(wording(language).of("lifeday"))
        scope = Scope(book.cast, stream, language)
        summary, outcome = stream.pick(block.rows("+"))
        text = scope.fill(summary)
        if book.is_new(text):
            break
    else:
        raise DataError(f"user {book.user_id!r}: the wording cannot tell so many different days; ask for a smaller size")
    topic = stream.pick(topics)
    told = scope.fill(outcome)
    book.add(entry("episode", text, "event", stream, topic, outcome=told, details=_topics(scope)))


def _topics(scope: Scope) -> tuple[str, ...]:
    """What an episode was about, from the values in its text."""
    slots = ("hobby", "topic", "material", "tema", "thema", "assunto", "jeje")
    named = [scope.bound[slot] for slot in slots if slot in scope.bound]
    return tuple(named[:3])
