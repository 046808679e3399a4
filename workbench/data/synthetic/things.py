"""Things that a store knows several facts about: devices, tickets, identifiers, trips, projects, contracts, pets."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from workbench.data.synthetic import names
from workbench.data.synthetic.cast import Cast, Scope, forms
from workbench.data.synthetic.draft import Book, Draft
from workbench.data.synthetic.facts import new_value
from workbench.data.synthetic.frames import Frame
from workbench.data.synthetic.plan import Plan
from workbench.data.synthetic.streams import Stream
from workbench.data.synthetic.timeline import Topic, entry
from workbench.data.synthetic.wording import Block, wording

# Light rewordings that leave a statement what it is.
_ECHOES = ("{}", "{}", "Note: {}", "Reminder: {}", "For the record: {}", "As said before: {}")


@dataclass(frozen=True, eq=False)
class Kind:
    """A kind of thing with its aspects, in the order of the wording, and its mentions."""

    block: Block
    aspects: tuple[Block, ...]
    mentions: tuple[Frame, ...]

    @property
    def scenario(self) -> str:
        return self.block.attributes["scenario"]


@cache
def kinds(language: str) -> tuple[Kind, ...]:
    """All kinds of things a language has wording for."""
    book = wording(language)
    aspects: dict[str, list[Block]] = {}
    for block in book.of("aspect"):
        aspects.setdefault(block.name.partition(".")[0], []).append(block)
    mentions = {block.name: block.of("-") for block in book.of("mentions")}
    return tuple(Kind(block, tuple(aspects.get(block.name, ())), mentions.get(block.name, ())) for block in book.of("thing"))


def kinds_for(scenario: str, language: str) -> list[Kind]:
    """The kinds of things that serve a scenario."""
    return [kind for kind in kinds(language) if kind.scenario == scenario]


class Thing:
    """One thing of a user: its names, and what is told of it."""

    def __init__(self, book: Book, stream: Stream, kind: Kind, language: str = "en", cast: Cast | None = None) -> None:
        """``cast``: whose names to use, the user's own by default."""
        self.book = book
        self.stream = stream
        self.kind = kind
        self.language = language
        self.cast = cast or book.cast
        scope = Scope(self.cast, stream, language)
        frames = kind.block.of("^")
        for slot in sorted({slot for frame in frames for slot in frame.slots}):
            if slot in names.MAKERS:
                scope.bound[slot] = self.cast.fresh(slot, stream, language)
        self.names = forms(scope, frames, stream.below(8))
        # what is rare about the name: the code if there is one
        codes = [scope.bound[slot] for slot in ("model", "ticket", "contract", "camel", "snake") if slot in scope.bound]
        self.key = codes[0] if codes else self.names[-1]
        self.topic = Topic.draw(stream, book.span, current=True)
        name = scope.bound.get("camel") or scope.bound.get("snake")
        self.extra = {} if name is None else {"split": names.spoken(name), "camel": name, "snake": name}
        self.told: dict[str, Draft] = {}
        self.spare: dict[str, str] = {}

    def scope(self, **bound: str) -> Scope:
        """Values for one text about the thing, by its full or its short name."""
        return Scope(self.cast, self.stream, self.language, thing=self.stream.pick(self.names), **self.extra, **bound)

    def tell(self, aspect: Block, *, asked: bool = True) -> Draft:
        """Record one aspect."""
        layer = aspect.attributes.get("layer", "memory")
        category = self.kind.block.attributes["cat"]
        tags = (self.key.casefold(),)
        scope = self.scope()
        if "v" in aspect.attributes:
            scope.bound["v"] = new_value(scope, aspect.attributes["v"])
        if layer == "procedure":
            steps = tuple(scope.fill(frame) for frame in aspect.rows("=")[0])
            name = scope.fill(aspect.of("^")[0])
            draft = entry("procedure", name, "workflow", self.stream, self.topic, asked=asked, tags=tags, details=steps)
        elif layer == "episode":
            summary, outcome = self.stream.pick(aspect.rows("+"))
            text = scope.fill(summary)
            draft = entry("episode", text, "event", self.stream, self.topic, asked=asked, tags=tags, outcome=scope.fill(outcome))
        else:
            first, *rest = self.stream.shuffled(aspect.of("+"))
            draft = entry("memory", scope.fill(first), category, self.stream, self.topic, asked=asked, tags=tags)
            if rest:
                # the same in other words, should a near-duplicate be wanted
                other = self.scope(**{key: value for key, value in scope.bound.items() if key not in ("thing", *self.extra)})
                self.spare[aspect.name] = other.fill(rest[0])
        self.told[aspect.name] = self.book.add(draft)
        return draft

    def mention(self, count: int) -> list[Draft]:
        """Record up to ``count`` remarks that name the thing and tell nothing of it."""
        drafts = []
        for frame in self.stream.sample(self.kind.mentions, count):
            text = self.scope().fill(frame)
            if self.book.is_new(text):
                tags = (self.key.casefold(),)
                drafts.append(self.book.add(entry("memory", text, "other", self.stream, self.topic, tags=tags)))
        return drafts

    def repeat(self, aspect: Block, count: int) -> list[Draft]:
        """Say an aspect again: ``count`` copies or light rewordings, and once in other words. All later than the first time."""
        first = self.told[aspect.name]
        texts = [_echo(self.stream, first.text, number) for number in range(count)]
        if aspect.name in self.spare:
            texts.append(self.spare[aspect.name])
        group = [first]
        for text in texts:
            age = self.stream.between(20, max(30, first.age - 60))
            draft = entry("memory", text, first.category, self.stream, self.topic, age=age, asked=True, tags=first.tags)
            group.append(self.book.add(draft, copy=True))
        group.sort(key=lambda draft: draft.changed)
        self.book.label("duplicate", group, aspect.name)
        return group

    def ask(self, aspect: Block, scenario: str, relevant: list[Draft], decided_by: str) -> bool:
        """Ask for one aspect in the words of the wording."""
        question = self.scope().fill(self.stream.pick(aspect.of("?")))
        return self.book.ask(question, scenario, relevant, language=self.language, decided_by=decided_by)

    def ask_parts(self, aspects: list[Block]) -> str:
        """One question about several aspects."""
        parts = [self.scope().fill(aspect.of("&")[0]) for aspect in aspects]
        joined = parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"
        frame = self.stream.pick(wording("en").of("composite")[0].of("?"))
        return self.scope(parts=joined).fill(frame)


def _echo(stream: Stream, text: str, number: int) -> str:
    """``text`` again: exactly, in other case and spacing, or with a word in front."""
    style = stream.below(3) if number else 0
    if style == 0:
        return text if stream.chance(50) else f"  {text.lower().rstrip('.')}."
    return stream.pick(_ECHOES[2:]).format(text)


def memory_aspects(kind: Kind) -> list[Block]:
    """The aspects that are told as memories."""
    return [aspect for aspect in kind.aspects if "layer" not in aspect.attributes]


def plant_things(book: Book, stream: Stream, plan: Plan, second: str) -> None:
    """Rare names, identifiers, questions that need several entries, repeated facts, and questions without an answer."""
    for _ in range(plan.exact):
        _rare(book, stream, stream.pick(kinds_for("exact_term", "en")), "en", "exact_term", 2)
    if second:
        _rare(book, stream, stream.pick(kinds_for("exact_term", second)), second, "exact_term", 1 if plan.exact else 2)
    elif not plan.exact:
        _rare(book, stream, stream.pick(kinds_for("exact_term", "en")), "en", "exact_term", 2)
    for _ in range(plan.identifiers):
        _rare(book, stream, stream.pick(kinds_for("code_identifier", "en")), "en", "code_identifier", 2)
    for kind in stream.sample(kinds_for("multi_evidence", "en"), plan.bundles):
        _bundle(book, stream, kind)
    for kind in stream.sample(kinds_for("duplicate", "en"), plan.copies):
        _copies(book, stream, kind)


def _rare(book: Book, stream: Stream, kind: Kind, language: str, scenario: str, questions: int) -> None:
    """A thing with a rare name that many entries bear; each question is about one aspect, one about none that is told."""
    thing = Thing(book, stream, kind, language)
    aspects = stream.shuffled(memory_aspects(kind))
    told = aspects[:-1]
    for aspect in told:
        thing.tell(aspect)
    loose = thing.mention(6)
    book.label("identifier", [*thing.told.values(), *loose], thing.key)
    book.label("distractor", loose, thing.key)
    for aspect in told[:questions]:
        thing.ask(aspect, scenario, [thing.told[aspect.name]], "keyword")
    if thing.ask(aspects[-1], "nothing_to_find", [], "none"):
        book.label("unanswerable", list(thing.told.values()), f"nothing on {aspects[-1].name}")


def _bundle(book: Book, stream: Stream, kind: Kind) -> None:
    """A thing of which two to four entries, of several layers, are needed at once, among others about it."""
    thing = Thing(book, stream, kind)
    aspects = stream.shuffled(memory_aspects(kind))[:7]
    layered = [aspect for aspect in kind.aspects if "layer" in aspect.attributes]
    for aspect in aspects + layered:
        thing.tell(aspect)
    book.label("distractor", thing.mention(5), thing.key)
    first = [*aspects[:2], stream.pick(layered)] if layered else aspects[:3]
    for wanted in (first, aspects[2 : 4 + stream.below(2)]):
        entries = [thing.told[aspect.name] for aspect in wanted]
        layers = len({draft.layer for draft in entries})
        if book.ask(thing.ask_parts(wanted), "multi_evidence", entries, decided_by="layer" if layers > 1 else "vector"):
            book.label("evidence", entries, thing.key)


def _copies(book: Book, stream: Stream, kind: Kind) -> None:
    """Facts told again and again, so that without collapsing them there is no room for the others that are needed."""
    thing = Thing(book, stream, kind)
    aspects = stream.shuffled(memory_aspects(kind))[:6]
    for aspect in aspects:
        thing.tell(aspect)
    groups = [thing.repeat(aspects[0], 4), thing.repeat(aspects[1], 3)]
    book.label("distractor", thing.mention(3), thing.key)
    for single in aspects[2:4]:
        question = thing.ask_parts([aspects[0], aspects[1], single])
        relevant = [groups[0][0], groups[1][0], thing.told[single.name]]
        book.ask(question, "duplicate", relevant, decided_by="duplicate", duplicates=groups)
