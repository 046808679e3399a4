"""Procedures, recurring episodes and Soul blocks."""

from __future__ import annotations

from datetime import timedelta

from workbench.data.synthetic import names
from workbench.data.synthetic.cast import Scope, forms
from workbench.data.synthetic.draft import Book, Draft
from workbench.data.synthetic.streams import Stream
from workbench.data.synthetic.timeline import DAY, Topic, entry
from workbench.data.synthetic.wording import Block, wording
from workbench.entries import SoulBlock


def plant_procedures(book: Book, stream: Stream, count: int, second: str) -> None:
    """``count`` procedures; those of one group share their object, so that each has a sibling which does something else."""
    english = stream.shuffled(wording("en").of("procedure"))
    first = next((block for block in english if "pair" in block.attributes), english[0])
    group = [block for block in english if block.attributes.get("pair") == first.attributes.get("pair")]
    order = [("en", block) for block in group] + [("en", block) for block in english if block not in group]
    if second:
        order[2:2] = [(second, block) for block in stream.sample(wording(second).of("procedure"), 2)]
    shared: dict[str, dict[str, str]] = {}
    asked, number = 0, 0
    while book.counts["procedure"] < count:
        language, block = order[number % len(order)]
        number += 1
        pair = block.attributes.get("pair", "")
        # a second round tells of other objects
        if number > len(order):
            pair = ""
        scope = Scope(book.cast, stream, language, **shared.get(pair, {}))
        name = scope.fill(stream.pick(block.of("^")))
        steps = tuple(scope.fill(frame) for frame in block.rows("=")[0])
        if pair:
            shared[pair] = {slot: value for slot, value in scope.bound.items() if slot not in ("num", "person")}
        if not book.is_new(name):
            continue
        topic = Topic.draw(stream, book.span, current=True)
        draft = book.add(entry("procedure", name, "workflow", stream, topic, asked=True, details=steps))
        if asked < 4 and number <= len(order):
            question = scope.fill(block.of("?")[0 if stream.chance(65) else 1])
            asked += book.ask(question, "how_to", [draft], language=language, decided_by="layer")


def plant_recurring(book: Book, stream: Stream, count: int, second: str) -> None:
    """Events that happened again and again on different dates, and questions that want one of them."""
    chosen = [("en", block) for block in stream.sample(wording("en").of("recurring"), count)]
    if second:
        chosen[-1:] = [(second, stream.pick(wording(second).of("recurring")))]
    for language, block in chosen:
        _recur(book, stream, block, language)


def _recur(book: Book, stream: Stream, block: Block, language: str) -> None:
    scope = Scope(book.cast, stream, language)
    frame = block.of("^")[0]
    for slot in sorted(frame.slots):
        if slot in names.MAKERS:
            scope.bound[slot] = book.cast.fresh(slot, stream, language)
    event = forms(scope, block.of("^"), 0)[0]
    topic = Topic.draw(stream, book.span, current=True)
    details = stream.shuffled(block.rows("="))[:6]
    # one to two months apart, so that no two fall into one month
    age = stream.between(12 * DAY, 40 * DAY)
    entries: list[tuple[Draft, str]] = []
    for detail, hint, outcome in details:
        own = Scope(book.cast, stream, language, event=event)
        own.bound["detail"] = own.fill(detail)
        text = own.fill(stream.pick(block.of("+")))
        draft = entry("episode", text, "event", stream, topic, age=age, asked=True, outcome=own.fill(outcome))
        entries.append((book.add(draft), hint.source))
        age += stream.between(32 * DAY, 58 * DAY)
    book.label("recurring", [draft for draft, _ in entries], event)
    for number, (draft, words) in enumerate(stream.shuffled(entries)[:2]):
        when = names.month_and_year(names.NOW - timedelta(minutes=draft.age), language)
        ask = block.of("?")[number]
        text = Scope(book.cast, stream, language, event=event, hint=words, when=when).fill(ask)
        book.ask(text, "past_episode", [draft], language=language, decided_by="layer")


def write_soul(book: Book, stream: Stream) -> None:
    """One Soul block a kind, and one that is no longer active."""
    scope = Scope(book.cast, stream)
    blocks = wording("en").of("soul")
    for number, block in enumerate(blocks):
        text = scope.fill(stream.pick(block.of("+")))
        group = block.attributes["group"]
        book.soul.append(SoulBlock(id=f"s-{block.name}", group=group, kind=block.name, text=text, priority=10 * (number + 1)))
    text = Scope(book.cast, stream).fill(stream.pick(blocks[-1].of("+")))
    book.soul.append(
        SoulBlock(id="s-environment-old", group="context", kind="environment", text=text, active=False, priority=200)
    )
