"""Scenarios of one entry each: the same in other words, and standing preferences."""

from __future__ import annotations

from workbench.data.synthetic.cast import Scope
from workbench.data.synthetic.draft import Book, Draft
from workbench.data.synthetic.streams import Stream
from workbench.data.synthetic.timeline import Topic, entry
from workbench.data.synthetic.wording import Block, wording
from workbench.entries import PREFERENCE


def plant_paraphrases(book: Book, stream: Stream, count: int, second: str) -> None:
    """Questions that share no content word with their answer, while other entries do share words with them."""
    for language, block in _choose(stream, "paraphrase", count, second, 1):
        scope = Scope(book.cast, stream, language, voice=book.cast.speaker(stream) if language == "en" else "first")
        topic = Topic.draw(stream, book.span, current=True)
        tags = (block.name,) if language == "en" else ()
        answer = _add(book, stream, scope.fill(stream.pick(block.of("+"))), block, topic, tags)
        others = []
        for frame in block.of("-"):
            text = Scope(book.cast, stream, language).fill(frame)
            others.append(book.add(entry("memory", text, "other", stream, Topic.draw(stream, book.span))))
        book.label("distractor", others, block.name)
        for question in stream.sample(block.of("?"), 1):
            book.ask(
                Scope(book.cast, stream, language).fill(question), "paraphrase", [answer], language=language, decided_by="vector"
            )


def _choose(stream: Stream, kind: str, count: int, second: str, foreign: int) -> list[tuple[str, Block]]:
    """``count`` blocks, ``foreign`` of them in the second language; none says in English what another says in that language."""
    others = stream.sample(wording(second).of(kind), foreign) if second else []
    covered = {block.attributes["like"] for block in others}
    english = [block for block in wording("en").of(kind) if block.name not in covered]
    chosen = [("en", block) for block in stream.sample(english, count - len(others))]
    return chosen + [(second, block) for block in others]


def _add(book: Book, stream: Stream, text: str, block: Block, topic: Topic, tags: tuple[str, ...]) -> Draft:
    return book.add(entry("memory", text, block.attributes["cat"], stream, topic, asked=True, tags=tags))


def plant_preferences(book: Book, stream: Stream, count: int, second: str) -> None:
    """Short standing preferences, and requests that need one without naming it."""
    asked = 0
    for language, block in stream.shuffled(_choose(stream, "preference", count, second, 2)):
        topic = Topic.draw(stream, book.span, current=True)
        draft = entry(
            "memory", Scope(book.cast, stream, language).fill(stream.pick(block.of("+"))), PREFERENCE, stream, topic, asked=True
        )
        draft.importance = stream.between(72, 95)
        draft.confidence = max(draft.confidence, 85)
        book.add(draft)
        if asked < 3:
            question = Scope(book.cast, stream, language).fill(stream.pick(block.of("?")))
            asked += book.ask(question, "preference", [draft], language=language, decided_by="preference")
