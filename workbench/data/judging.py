"""Labelling relevant entries for one's own queries: a session that can be left and taken up, and the judged dataset it gives."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from workbench.data.judged import JudgedDataset, JudgedQuery
from workbench.data.labels import LABELS, Judgements, Label, LabelLog
from workbench.data.pooling import Ask
from workbench.data.rows import AnyEntry
from workbench.data.strict_json import shown
from workbench.entries import Episode, Procedure
from workbench.errors import DataError

Resolve = Literal["lower", "higher"]


@dataclass(frozen=True, kw_only=True)
class Item:
    """What is asked next. entry None: whether the store answers the query at all (nothing shown was relevant).

    number, of: which of the query's candidates. query_number, queries: which of the queries.
    """

    ask: Ask
    entry: AnyEntry | None
    number: int
    of: int
    query_number: int
    queries: int


class JudgingSession:
    """One person's way through the pools. Every label is on disk at once; a new session goes on where the last one ended.

    Example (a notebook)::

        session = JudgingSession(dataset, pools, LabelLog("labels.jsonl"), by="ana")
        session                       # shows the question and the entry
        session.label("answers")      # or "helps", "no", "forbidden"; undo() takes the last one back
    """

    def __init__(self, dataset: JudgedDataset, asks: Sequence[Ask], log: LabelLog, *, by: str) -> None:
        if not isinstance(by, str) or not by.strip():
            raise DataError(f"by is {shown(by)}: say who labels, so that two people can be told apart")
        for ask in asks:
            missing = [key for key in ask.candidates if key not in dataset.stores[ask.query.user_id]]
            if missing:
                raise DataError(f"query {ask.query.id!r}: user {ask.query.user_id!r} has no entry {shown(missing[0])}")
        self.dataset = dataset
        self.asks = tuple(asks)
        self.log = log
        self.by = by
        self._skipped: set[str] = set()
        self._done: list[list[Label]] = []

    @property
    def _entries(self) -> Mapping[tuple[str, str], str]:
        return self.log.judgements.entries.get(self.by, {})

    @property
    def _queries(self) -> Mapping[str, bool]:
        return self.log.judgements.queries.get(self.by, {})

    def current(self) -> Item | None:
        """What is asked next; None when everything that was not skipped is labelled."""
        for number, ask in enumerate(self.asks, start=1):
            if ask.query.id in self._skipped or ask.query.id in self._queries:
                continue
            open_ = [key for key in ask.candidates if (ask.query.id, key) not in self._entries]
            if open_ or not self._relevant(ask):
                entry = self.dataset.stores[ask.query.user_id][open_[0]] if open_ else None
                done = len(ask.candidates) - len(open_)
                return Item(
                    ask=ask, entry=entry, number=done + 1, of=len(ask.candidates), query_number=number, queries=len(self.asks)
                )
        return None

    def _relevant(self, ask: Ask) -> bool:
        return any(LABELS[self._entries.get((ask.query.id, key), "no")] > 0 for key in ask.candidates)

    def label(self, label: str) -> None:
        """Label the entry that is shown: ``answers``, ``helps``, ``no`` or ``forbidden``. Raises DataError."""
        item = self._asked(entry=True)
        self._write([self._of(item, item.entry.id if item.entry else "", label)])

    def rest_is_not(self) -> None:
        """Label what is left of the query ``no``: for when the answers have been seen."""
        item = self._asked(entry=True)
        left = [key for key in item.ask.candidates if (item.ask.query.id, key) not in self._entries]
        self._write([self._of(item, key, "no") for key in left])

    def answerable(self, answer: bool) -> None:
        """Say whether the store holds an answer that was not among the entries shown (asked when none was relevant)."""
        item = self._asked(entry=False)
        self._write([Label(query_id=item.ask.query.id, by=self.by, answerable=answer)])

    def skip(self) -> None:
        """Leave the query for another session."""
        item = self.current()
        if item is not None:
            self._skipped.add(item.ask.query.id)

    def undo(self) -> bool:
        """Take back what was said last in this session; False when there is nothing."""
        if not self._done:
            return False
        for label in reversed(self._done.pop()):
            self.log.append(replace(label, label=None, answerable=None))
            self._skipped.discard(label.query_id)
        return True

    def progress(self) -> tuple[int, int]:
        """``(labels given, labels in all)`` over the pools of this session."""
        given = sum((ask.query.id, key) in self._entries for ask in self.asks for key in ask.candidates)
        return given, sum(len(ask.candidates) for ask in self.asks)

    def _of(self, item: Item, entry_id: str, label: str) -> Label:
        if not isinstance(label, str) or label not in LABELS:
            raise DataError(f"label is {shown(label)}: must be one of {', '.join(LABELS)}")
        return Label(query_id=item.ask.query.id, entry_id=entry_id, label=label, by=self.by)

    def _write(self, labels: list[Label]) -> None:
        for label in labels:
            self.log.append(label)
        self._done.append(labels)

    def _asked(self, *, entry: bool) -> Item:
        item = self.current()
        if item is None:
            raise DataError("everything is labelled; undo() takes the last label back")
        if (item.entry is not None) != entry:
            raise DataError("an entry is shown: label it" if item.entry is not None else "no entry is left: say answerable(...)")
        return item

    def __str__(self) -> str:
        given, total = self.progress()
        return f"labels of {self.by}: {given} of {total}, {len(self.asks)} queries ({self.log.path})"

    def _repr_html_(self) -> str:
        item = self.current()
        head = f"<p><small>{html.escape(str(self))}</small></p>"
        if item is None:
            return head + "<p>Everything is labelled.</p>"
        query = item.ask.query
        body = (
            f"<p><b>{html.escape(query.query)}</b><br><small>{html.escape(query.user_id)}, {query.now.date().isoformat()}; "
            f"query {item.query_number} of {item.queries}</small></p>"
        )
        if item.entry is None:
            return (
                f"{head}{body}<p>None of the entries shown was relevant. <code>answerable(False)</code>: the store holds no "
                "answer. <code>answerable(True)</code>: it does, but it was not shown.</p>"
            )
        return (
            f"{head}{body}<blockquote>{html.escape(entry_text(item.entry))}</blockquote>"
            f"<p><small>{html.escape(about(item.entry))}; entry {item.number} of {item.of}</small></p>"
        )


def entry_text(entry: AnyEntry) -> str:
    """What an entry says, as it is shown to the person who labels."""
    if isinstance(entry, Episode):
        return f"{entry.summary} → {entry.outcome}" if entry.outcome else entry.summary
    if isinstance(entry, Procedure):
        return entry.name + "".join(f"\n{number}) {step}" for number, step in enumerate(entry.steps, start=1))
    return entry.text


def about(entry: AnyEntry) -> str:
    """Layer and date of an entry; nothing that a ranking was made of."""
    changed = getattr(entry, "changed_at", None)
    return entry.layer if changed is None else f"{entry.layer}, {changed.date().isoformat()}"


def judged_dataset(
    dataset: JudgedDataset, asks: Sequence[Ask], judgements: Judgements, *, by: str = "", resolve: Resolve = "lower"
) -> JudgedDataset:
    """The dataset with the queries that people finished, ``helps`` as grade 1, ``answers`` as 2, ``forbidden`` as such.

    A query is finished by a person who labelled all its candidates, or said whether it is answerable. by: take this person's
    labels only. resolve: which of two people's labels counts, in the order forbidden, no, helps, answers. A query without a
    relevant entry is unanswerable if (all) said so, else it has no usable judgement (``judged=False``). Queries that nobody
    finished are left out; ``notes`` counts them, and the labels on which people differ. Raises DataError.
    """
    if resolve not in ("lower", "higher"):
        raise DataError(f"resolve is {shown(resolve)}: must be lower or higher")
    people = [by] if by else list(judgements.people)
    if by and by not in judgements.people:
        raise DataError(f"nobody called {shown(by)} has labelled; there are {', '.join(judgements.people) or 'no labels'}")
    notes = dict.fromkeys(("queries_finished", "queries_not_finished", "labels", "labels_that_differ"), 0)
    queries = []
    for ask in asks:
        finished = [person for person in people if _finished(ask, judgements, person)]
        if not finished:
            notes["queries_not_finished"] += 1
            continue
        notes["queries_finished"] += 1
        queries.append(_judged(ask, judgements, finished, resolve, notes))
    return replace(dataset, queries=tuple(queries), notes={**dataset.notes, **notes})


def _finished(ask: Ask, judgements: Judgements, person: str) -> bool:
    if ask.query.id in judgements.queries.get(person, {}):
        return True
    entries = judgements.entries.get(person, {})
    labels = [entries.get((ask.query.id, key)) for key in ask.candidates]
    return None not in labels and any(LABELS[label or "no"] > 0 for label in labels)


def _judged(ask: Ask, judgements: Judgements, people: list[str], resolve: Resolve, notes: dict[str, int]) -> JudgedQuery:
    relevant: dict[str, int] = {}
    forbidden = []
    for key in ask.candidates:
        said = [judgements.entries[person].get((ask.query.id, key), "no") for person in people]
        grades = [LABELS[label] for label in said]
        notes["labels"] += len(said)
        notes["labels_that_differ"] += len(set(said)) > 1
        grade = min(grades) if resolve == "lower" else max(grades)
        if grade > 0:
            relevant[key] = grade
        elif grade < 0:
            forbidden.append(key)
    unanswerable = not relevant and all(judgements.queries.get(person, {}).get(ask.query.id) is False for person in people)
    return replace(
        ask.query,
        relevant=relevant,
        forbidden=tuple(forbidden),
        answerable=not unanswerable,
        judged=bool(relevant) or unanswerable,
    )
