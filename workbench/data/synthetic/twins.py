"""Twins: two users whose stores say the same, word for word, and a question that only the other user's store answers."""

from __future__ import annotations

from workbench.data.synthetic.cast import Cast
from workbench.data.synthetic.draft import Book
from workbench.data.synthetic.streams import Stream
from workbench.data.synthetic.things import Thing, kinds_for, memory_aspects
from workbench.data.synthetic.timeline import entry


def plant_twins(book: Book, seed: int, index: int, span_stream: Stream) -> None:
    """Users 2k and 2k + 1 share a device: four facts word for word, one told to the first only, one to the second only.

    What both are told depends on the seed and the pair alone, so a user can be generated without the other.
    """
    shared = Stream(seed, "twins", index // 2)
    writer = Cast.create(shared, 150, "")
    scratch = Book("scratch", writer, book.span, 100)
    thing = Thing(scratch, shared, shared.pick(kinds_for("exact_term", "en")))
    aspects = shared.shuffled(memory_aspects(thing.kind))
    for aspect in aspects[:6]:
        thing.tell(aspect)
    own, other = (aspects[4], aspects[5]) if index % 2 == 0 else (aspects[5], aspects[4])
    questions = {aspect.name: thing.scope().fill(aspect.of("?")[0]) for aspect in aspects[:6]}
    told = {}
    for aspect in [*aspects[:4], own]:
        text = thing.told[aspect.name].text
        topic = thing.topic
        told[aspect.name] = book.add(entry("memory", text, thing.kind.block.attributes["cat"], span_stream, topic, asked=True))
    for name in thing.names:
        book.cast.taken.add(name)
    for aspect in aspects[:4]:
        book.label("twin", [told[aspect.name]], f"{index // 2}:{aspect.name}")
    for aspect in (aspects[0], own):
        book.ask(questions[aspect.name], "exact_term", [told[aspect.name]], decided_by="keyword")
    if book.ask(questions[other.name], "nothing_to_find", [], decided_by="none"):
        book.label("unanswerable", list(told.values()), f"{other.name}: only another user is told")
