"""Facts of the user's own life: single ones, ones that change, ones told in two ways, and look-alikes about other people."""

from __future__ import annotations

from workbench.data.synthetic.cast import Scope, forms
from workbench.data.synthetic.draft import Book, Draft
from workbench.data.synthetic.names import MAKERS
from workbench.data.synthetic.plan import Plan
from workbench.data.synthetic.streams import Stream
from workbench.data.synthetic.timeline import DAY, Topic, entry
from workbench.data.synthetic.wording import Block, wording

# Per cent of changed facts that are told in the same words as before, but for the value.
_SAME_SENTENCE = 40


def plant_facts(book: Book, stream: Stream, plan: Plan, second: str) -> None:
    """Superseded facts, contradictions, single facts, look-alikes, and a question whose only match is about someone else."""
    foreign = stream.sample(wording(second).of("me"), plan.foreign) if second else []
    # what is told in the second language is not told in English as well
    covered = {block.attributes["like"] for block in foreign}
    blocks = [block for block in stream.shuffled(wording("en").of("me")) if block.name not in covered]
    first = plan.superseded - len(foreign)
    changing = [("en", block) for block in blocks[:first]] + [(second, block) for block in foreign]
    blocks = blocks[first:]
    # only what has one value at a time can be contradicted by another value
    told_twice = [block for block in blocks if "one" in block.attributes][: plan.contradictions]
    blocks = [block for block in blocks if block not in told_twice]
    known: list[tuple[Block, Draft]] = []
    for language, block in changing:
        known.append((block, change(book, stream, block, language)))
    for block in told_twice:
        known.append((block, contradict(book, stream, block)))
    kin = {block.attributes["like"]: block for block in wording("en").of("aspect") if "like" in block.attributes}
    # a fact that is not recorded although the same is known of a relative: nothing to find
    missing = next((block for block in blocks if block.name in kin), None)
    singles = [block for block in blocks if block is not missing][: plan.singles]
    for block in singles:
        known.append((block, state(book, stream, block)))
    alike = [pair for pair in known if pair[0].name in kin]
    for block, draft in alike[: plan.lookalikes]:
        other = relative(book, stream, kin[block.name])
        book.label("lookalike", [other, draft], f"{block.name} of someone else")
    if missing is not None:
        other = relative(book, stream, kin[missing.name])
        question = Scope(book.cast, stream).fill(stream.pick(missing.of("?")))
        if book.ask(question, "nothing_to_find", [], decided_by="none"):
            book.label("unanswerable", [other], f"{missing.name} of a relative, not of the user")


def new_value(scope: Scope, pool: str) -> str:
    """A value of a pool; names among them are kept from being used elsewhere."""
    if pool in MAKERS and pool in ("town", "town_ko", "firm", "newname", "doctor"):
        return scope.cast.fresh(pool, scope.stream, scope.language)
    return scope.value(pool)


def values(scope: Scope, pool: str, count: int) -> list[str]:
    """``count`` different values of a pool."""
    found: list[str] = []
    while len(found) < count:
        value = new_value(scope, pool)
        if value not in found:
            found.append(value)
    return found


def state(book: Book, stream: Stream, block: Block) -> Draft:
    """One fact that never changed."""
    scope = Scope(book.cast, stream, voice=book.cast.speaker(stream))
    scope.bound["v"] = new_value(scope, block.attributes["v"])
    topic = Topic.draw(stream, book.span, current=True)
    text = scope.fill(stream.pick(block.of("+")))
    return book.add(entry("memory", text, block.attributes["cat"], stream, topic, tags=(block.name,)))


def change(book: Book, stream: Stream, block: Block, language: str) -> Draft:
    """A fact and its successor, sometimes two in a row; the newest is wanted, the others must not be shown."""
    scope = Scope(book.cast, stream, language, voice=book.cast.speaker(stream) if language == "en" else "first")
    ends = "end" in block.attributes
    steps = 3 if not ends and stream.chance(20) else 2
    said = values(scope, block.attributes["v"], 1 if ends else steps)
    topic = Topic.draw(stream, book.span, current=True)
    newest = stream.between(4 * DAY, min(200 * DAY, book.span // 3))
    ages = [newest]
    for _ in range(steps - 1):
        ages.append(ages[-1] + stream.between(50 * DAY, max(60 * DAY, (book.span - newest) // steps)))
    drafts = []
    first = stream.pick(block.of("+"))
    # real stores often hold the same sentence with another value; that it is a change shows only where one value is possible
    again = "one" in block.attributes and stream.chance(_SAME_SENTENCE)
    for at, age in enumerate(ages):
        scope.bound["v"] = said[0] if ends else said[at]
        scope.bound["w"] = said[0] if ends else said[min(at + 1, steps - 1)]
        text = scope.fill(first if again or at == steps - 1 else stream.pick(block.of("~")))
        status = "superseded" if at and stream.chance(25) else "active"
        draft = entry("memory", text, block.attributes["cat"], stream, topic, age=age, asked=True, tags=(block.name,))
        draft.status = status
        drafts.append(book.add(draft))
    book.label("superseded", drafts, block.name)
    if stream.chance(60):
        _leave_episode(book, stream, block, language, newest, topic)
    for question in stream.sample(block.of("?"), 2 if stream.chance(30) else 1):
        book.ask(
            # a question about something that ended has to name it
            Scope(book.cast, stream, language, v=said[0]).fill(question),
            "superseded_fact",
            drafts[:1],
            language=language,
            decided_by="contradiction",
            forbidden=drafts[1:],
        )
    return drafts[0]


def contradict(book: Book, stream: Stream, block: Block) -> Draft:
    """The same fact told twice with different values, neither mentioning the other; the newer one counts."""
    voice = book.cast.speaker(stream)
    scope = Scope(book.cast, stream, voice=voice)
    said = values(scope, block.attributes["v"], 2)
    topic = Topic.draw(stream, book.span, current=True)
    newer = stream.between(6 * DAY, 150 * DAY)
    ages = (newer, newer + stream.between(30 * DAY, max(40 * DAY, book.span - newer)))
    frames = stream.sample(block.of("+"), 2)
    if stream.chance(_SAME_SENTENCE):
        frames[1] = frames[0]
    drafts = []
    for frame, value, age in zip(frames, said, ages, strict=True):
        scope.bound["v"] = value
        text = scope.fill(frame)
        draft = entry("memory", text, block.attributes["cat"], stream, topic, age=age, asked=True, tags=(block.name,))
        drafts.append(book.add(draft))
    book.label("contradiction", drafts, block.name)
    book.ask(
        Scope(book.cast, stream).fill(stream.pick(block.of("?"))),
        "superseded_fact",
        drafts[:1],
        decided_by="contradiction",
        forbidden=drafts[1:],
    )
    return drafts[0]


def relative(book: Book, stream: Stream, aspect: Block) -> Draft:
    """The same kind of fact about a relative: alike, and no conflict with the user's own."""
    scope = Scope(book.cast, stream)
    kind = next(block for block in wording("en").of("thing") if block.name == "kin")
    scope.bound["firstname"] = book.cast.fresh("firstname", stream, "en")
    scope.bound["thing"] = forms(scope, kind.of("^"), stream.below(2))[0]
    scope.bound["v"] = new_value(scope, aspect.attributes["v"])
    topic = Topic.draw(stream, book.span)
    text = scope.fill(stream.pick(aspect.of("+")))
    return book.add(entry("memory", text, "person", stream, topic, tags=("family",)))


def _leave_episode(book: Book, stream: Stream, block: Block, language: str, age: int, topic: Topic) -> None:
    rows = block.rows("=")
    if not rows:
        return
    summary, outcome = rows[0]
    scope = Scope(book.cast, stream, language)
    text = scope.fill(summary)
    when = age + stream.between(60, 20 * 60)
    told = scope.fill(outcome)
    book.add(entry("episode", text, "event", stream, topic, age=when, outcome=told, tags=(block.name,)))
