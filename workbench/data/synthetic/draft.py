"""A user's entries and questions while they are being written, before ids are given."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import timedelta

from workbench.data.judged import JudgedQuery
from workbench.data.synthetic.cast import Cast
from workbench.data.synthetic.names import NOW
from workbench.data.synthetic.streams import Stream
from workbench.entries import Episode, Memory, Procedure, SoulBlock
from workbench.store.user import UserStore


@dataclass(slots=True, eq=False)
class Draft:
    """One entry to be. age, changed: minutes before ``NOW`` at which it was made and last changed.

    importance, confidence: per cent. details: topics of an episode, steps of a procedure.
    """

    layer: str
    text: str
    age: int
    changed: int
    category: str
    importance: int
    confidence: int
    access: int
    source: str
    tags: tuple[str, ...] = ()
    status: str = "active"
    details: tuple[str, ...] = ()
    outcome: str = ""
    id: str = ""


@dataclass(slots=True, eq=False)
class Question:
    """One judged query to be; entries are drafts, turned into ids at the end."""

    text: str
    scenario: str
    language: str
    decided_by: str
    relevant: list[tuple[Draft, int]]
    forbidden: list[Draft]
    duplicates: list[list[Draft]]


@dataclass(frozen=True, kw_only=True)
class Planted:
    """What was planted on purpose: entries that belong together, and how.

    kind: ``duplicate`` (same statement), ``superseded`` (newest first, the first makes the others untrue), ``contradiction``
    (newest first, the newer does not mention that anything changed), ``lookalike`` (alike, no conflict), ``twin`` (the
    same text in the stores of two users), ``distractor`` (same topic, answers nothing), ``family`` (level but for one
    signal; the wanted ones first), ``recurring`` (same event, other dates), ``evidence`` (all needed for one question),
    ``identifier`` (tell of one rare name), ``unanswerable`` (fit a question and do not answer it). entries: (user id,
    entry id) pairs.
    """

    kind: str
    entries: tuple[tuple[str, str], ...]
    note: str = ""


class Book:
    """Collects drafts, questions and labels of one user."""

    def __init__(self, user_id: str, cast: Cast, span: int, capacity: int) -> None:
        """span: minutes that the recorded life lasts. capacity: memories that fit into the store."""
        self.user_id = user_id
        self.cast = cast
        self.span = span
        self.capacity = capacity
        self.drafts: list[Draft] = []
        self.soul: list[SoulBlock] = []
        self.questions: list[Question] = []
        self.labels: list[tuple[str, list[Draft], str]] = []
        self.texts: set[str] = set()
        self.asked: set[str] = set()
        self.counts = {"memory": 0, "episode": 0, "procedure": 0}

    def room(self) -> int:
        """How many memories the store can still take."""
        return self.capacity - self.counts["memory"]

    def add(self, draft: Draft, *, copy: bool = False) -> Draft:
        """Take an entry. ``copy`` says that its text repeats another one on purpose."""
        if not copy:
            self.texts.add(draft.text.casefold())
        self.counts[draft.layer] += 1
        self.drafts.append(draft)
        return draft

    def is_new(self, text: str) -> bool:
        """Whether no entry says exactly this yet."""
        return text.casefold() not in self.texts

    def ask(
        self,
        text: str,
        scenario: str,
        relevant: Iterable[Draft],
        *,
        language: str = "en",
        decided_by: str,
        forbidden: Sequence[Draft] = (),
        duplicates: Sequence[Sequence[Draft]] = (),
        helpful: Sequence[Draft] = (),
    ) -> bool:
        """Take a question, unless this user asks the same already. No relevant entry: the store has no answer."""
        if text.casefold() in self.asked:
            return False
        self.asked.add(text.casefold())
        graded = [(draft, 2) for draft in relevant] + [(draft, 1) for draft in helpful]
        groups = [list(group) for group in duplicates]
        self.questions.append(Question(text, scenario, language, decided_by, graded, list(forbidden), groups))
        return True

    def label(self, kind: str, drafts: Iterable[Draft], note: str = "") -> None:
        """Remember that these entries were planted together."""
        self.labels.append((kind, list(drafts), note))

    def finish(self, stream: Stream) -> tuple[UserStore, list[JudgedQuery], list[Planted]]:
        """Give ids in order of creation (which tell nothing of the role), and build the store, its queries and labels."""
        order = stream.shuffled(range(len(self.drafts)))
        ranked = sorted(range(len(self.drafts)), key=lambda at: (-self.drafts[at].age, order[at]))
        numbers = {"memory": 0, "episode": 0, "procedure": 0}
        width = max(3, len(str(len(self.drafts))))
        for at in ranked:
            draft = self.drafts[at]
            numbers[draft.layer] += 1
            draft.id = f"{draft.layer[0]}{numbers[draft.layer]:0{width}d}"
        layers: dict[str, list[Draft]] = {"memory": [], "episode": [], "procedure": []}
        for at in ranked:
            layers[self.drafts[at].layer].append(self.drafts[at])
        store = UserStore(
            self.user_id,
            memories=map(_memory, layers["memory"]),
            episodes=map(_episode, layers["episode"]),
            procedures=map(_procedure, layers["procedure"]),
            soul=self.soul,
        )
        questions = stream.shuffled(self.questions)
        queries = [self._query(number, question) for number, question in enumerate(questions, start=1)]
        planted = [
            Planted(kind=kind, entries=tuple((self.user_id, draft.id) for draft in drafts), note=note)
            for kind, drafts, note in self.labels
        ]
        return store, queries, planted

    def _query(self, number: int, question: Question) -> JudgedQuery:
        return JudgedQuery(
            id=f"{self.user_id}-q{number:03d}",
            user_id=self.user_id,
            query=question.text,
            now=NOW,
            relevant={draft.id: grade for draft, grade in sorted(question.relevant, key=lambda pair: pair[0].id)},
            forbidden=tuple(sorted(draft.id for draft in question.forbidden)),
            duplicates=tuple(tuple(sorted(draft.id for draft in group)) for group in question.duplicates),
            group=question.scenario,
            lang=question.language,
            answerable=bool(question.relevant),
            decided_by=question.decided_by,
        )


def _memory(draft: Draft) -> Memory:
    return Memory(
        id=draft.id,
        text=draft.text,
        category=draft.category,
        tags=draft.tags,
        importance=draft.importance / 100,
        confidence=draft.confidence / 100,
        created_at=NOW - timedelta(minutes=draft.age),
        updated_at=NOW - timedelta(minutes=draft.changed),
        access_count=draft.access,
        status=draft.status,
        source=draft.source,
    )


def _episode(draft: Draft) -> Episode:
    return Episode(
        id=draft.id,
        summary=draft.text,
        topics=draft.details,
        outcome=draft.outcome,
        occurred_at=NOW - timedelta(minutes=draft.age),
        category=draft.category,
        tags=draft.tags,
        importance=draft.importance / 100,
        confidence=draft.confidence / 100,
        access_count=draft.access,
        status=draft.status,
        source=draft.source,
    )


def _procedure(draft: Draft) -> Procedure:
    return Procedure(
        id=draft.id,
        name=draft.text,
        steps=draft.details,
        category=draft.category,
        tags=draft.tags,
        importance=draft.importance / 100,
        confidence=draft.confidence / 100,
        created_at=NOW - timedelta(minutes=draft.age),
        updated_at=NOW - timedelta(minutes=draft.changed),
        access_count=draft.access,
        status=draft.status,
        source=draft.source,
    )
