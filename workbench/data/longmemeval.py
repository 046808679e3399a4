"""LongMemEval: five hundred questions, each with a haystack of dated chat sessions of its own.

Wu et al., "LongMemEval: Benchmarking Chat Assistants on Long-Term Interactive Memory", ICLR 2025, arXiv:2410.10813; MIT
licence. Files as published by the authors (https://huggingface.co/datasets/xiaowu0162/longmemeval-cleaned): oracle
holds the evidence sessions only, S some 48 sessions a question, M some 500. The sets have dates but no importance,
confidence or access counts: those stay at their defaults, so they can tell nothing about their weights.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Literal

from workbench.data.fetch import file_sha256
from workbench.data.json_array import JsonArray, Span
from workbench.data.judged import JudgedDataset, JudgedQuery
from workbench.data.strict_json import shown
from workbench.entries import Memory
from workbench.errors import DataError
from workbench.store.user import UserStore

REVISION = "98d7416c24c778c2fee6e6f3006e7a073259d48f"
"""Revision of the authors' repository that the checksums belong to."""

LICENCE = "MIT"
URL = "https://huggingface.co/datasets/xiaowu0162/longmemeval-cleaned/resolve/" + REVISION + "/"
ABSTENTION = "abstention"
ROLES = ("both", "user")
TEMPLATES = ("date", "plain")
_SPEAKERS = {"user": "User", "assistant": "Assistant"}
_DATE = re.compile(r"(\d{4})/(\d{2})/(\d{2})(?:\s+\([A-Za-z]{3}\))?\s+(\d{2}):(\d{2})", re.ASCII)
_FIELDS = (
    "question_id", "question_type", "question", "answer", "question_date", "haystack_session_ids", "haystack_dates",
    "haystack_sessions", "answer_session_ids",
)  # fmt: skip
_ALWAYS_NOTED = (
    "stores", "sessions", "turns", "questions", "judged", "abstention", "left_out_no_evidence_turn", "empty_turns",
    "empty_evidence_turns", "evidence_turns_of_other_role", "repeated_sessions", "sessions_after_question",
    "evidence_after_question", "answer_sessions_missing", "evidence_outside_answer_sessions", "answers_not_text",
    "unknown_fields", "other_than_public_file",
)  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Release:
    """One published file. size: bytes."""

    variant: str
    file: str
    size: int
    sha256: str


RELEASES = (
    Release(
        variant="oracle",
        file="longmemeval_oracle.json",
        size=15_388_478,
        sha256="821a2034d219ab45846873dd14c14f12cfe7776e73527a483f9dac095d38620c",
    ),
    Release(
        variant="s",
        file="longmemeval_s_cleaned.json",
        size=277_383_467,
        sha256="d6f21ea9d60a0d56f34a05b609c79c88a451d2ae03597821ea3d5a9678c3a442",
    ),
    Release(
        variant="m",
        file="longmemeval_m_cleaned.json",
        size=2_737_100_077,
        sha256="9d79e5524794a2e6900a3aa9cb7d9152c5a3e8319c9a87c25494ba1eacee495f",
    ),
)


def load_longmemeval(
    path: str | os.PathLike[str],
    *,
    roles: Literal["both", "user"] = "both",
    template: Literal["date", "plain"] = "date",
    limit: int | None = None,
) -> JudgedDataset:
    """Read a LongMemEval file as one store and one judged query per question.

    Every turn is a memory: id ``<session id>_<turn number from 1>`` as the authors name them, text ``User: ...`` or
    ``Assistant: ...``, ``created_at`` the session's date (read as UTC) plus one millisecond per earlier turn, ``source``
    the session id. A session that stands twice in one haystack gets ``#2`` behind its id the second time; should it hold
    evidence, either copy counts as the find. Turns without text are left out. Relevant, grade 1, are the turns marked
    ``has_answer``. ``user_id`` and query id are the question id, ``group`` the question type, ``now`` the question's date.

    Questions whose id ends in ``_abs`` form the group ``abstention``: ``answerable=False``, nothing relevant, as the authors
    leave them out of retrieval measures. A question without a marked turn has ``judged=False``. Sessions dated after the
    question stay, as in the authors' own code, and are counted.

    roles ``user``: only the user's turns are stored, as in the authors' retrieval baseline; questions answered by the
    assistant's turns then have no judgement. template ``date`` indexes ``{date}: {text}``, ``plain`` the text alone.
    limit: that many questions, spread evenly over the file (which is ordered by question type); elements not taken are
    never parsed. A loaded set needs about 1.4 times its file's size in memory (S 0.4 GB, M 4 GB), and embedding all turns of S
    (some 247,000) takes hours on a processor: start with a limit.

    ``notes`` counts everything odd that was met. Raises DataError naming file, element and field.
    """
    for name, value, allowed in (("roles", roles, ROLES), ("template", template, TEMPLATES)):
        if value not in allowed:
            raise DataError(f"{name} is {shown(value)}: must be one of {', '.join(allowed)}")
    if limit is not None and (isinstance(limit, bool) or not isinstance(limit, int) or limit < 1):
        raise DataError(f"limit is {shown(limit)}: must be a whole number of questions from 1, or left out")
    notes: Counter[str] = Counter(dict.fromkeys(_ALWAYS_NOTED, 0))
    stores: dict[str, UserStore] = {}
    queries: list[JudgedQuery] = []
    file = Path(path)
    with JsonArray(file, what="a LongMemEval file such as longmemeval_oracle.json") as array:
        if not len(array):
            raise DataError(f"{file} holds an empty array: it must hold questions")
        for span in _taken(array.spans, limit):
            question = _Question(array.read(span), array.where(span), notes)
            if question.id in stores:
                raise DataError(f"{question.where}: the question_id {shown(question.id)} is already taken by an earlier one")
            store, query = question.judged(("user",) if roles == "user" else ("user", "assistant"))
            stores[question.id] = store
            queries.append(query)
        everything = len(queries) == len(array)
    checksum = file_sha256(file)
    release = next((item for item in RELEASES if item.sha256 == checksum), None)
    notes["other_than_public_file"] = int(release is None)
    notes.update(stores=len(stores), questions=len(queries), judged=sum(q.judged and q.answerable for q in queries))
    variant = release.variant if release else "custom"
    return JudgedDataset(
        name="longmemeval",
        version="-".join([variant, f"turn-{roles}", *([] if everything else [f"{len(queries)}-questions"])]),
        licence=LICENCE,
        source=f"https://github.com/xiaowu0162/LongMemEval ({file.name})",
        checksum=checksum,
        group_name="question type",
        stores=stores,
        queries=tuple(queries),
        config={"templates": {"memories": "{date}: {text}" if template == "date" else "{text}"}},
        config_note=(
            "Memories are indexed with the date of their session in front and rendered without it."
            if template == "date"
            else "Memories are indexed without the date of their session."
        ),
        notes=dict(notes),
    )


def parse_date(text: str) -> datetime:
    """``2023/05/20 (Sat) 02:21`` as UTC; the weekday may be missing and is not checked. Raises ValueError."""
    found = _DATE.fullmatch(text.strip())
    if not found:
        raise ValueError("must look like '2023/05/20 (Sat) 02:21'")
    year, month, day, hour, minute = map(int, found.groups())
    if year > 9998:
        raise ValueError("the year lies from 1 to 9998")
    return datetime(year, month, day, hour, minute, tzinfo=UTC)


def _taken(spans: Any, limit: int | None) -> list[Span]:
    if limit is None or limit >= len(spans):
        return list(spans)
    return [spans[(2 * at + 1) * len(spans) // (2 * limit)] for at in range(limit)]


class _Question:
    """One element of the file, checked; ``judged`` makes its store and query."""

    def __init__(self, row: object, where: str, notes: Counter[str]) -> None:
        if not isinstance(row, dict):
            raise DataError(f"{where} is {shown(row)}: must be an object with question_id, question, haystack_sessions ...")
        self.row: Mapping[str, Any] = row
        self.where = where
        self.notes = notes
        self.id = self._text("question_id")
        self.where = f"{where} ({shown(self.id, 40)})"
        self.abstention = self.id.endswith("_abs")
        notes["unknown_fields"] += sum(key not in _FIELDS for key in row)
        notes["answers_not_text"] += not isinstance(row.get("answer"), str)

    def _text(self, field: str) -> str:
        value = self.row.get(field)
        if not isinstance(value, str) or not value.strip():
            raise DataError(f"{self.where}: {field} is {shown(value)}: must be non-empty text")
        return value

    def _list(self, field: str) -> list[Any]:
        value = self.row.get(field)
        if not isinstance(value, list):
            raise DataError(f"{self.where}: {field} is {shown(value)}: must be a list")
        return value

    def _date(self, value: object, field: str) -> datetime:
        if not isinstance(value, str):
            raise DataError(f"{self.where}: {field} is {shown(value)}: must be text such as '2023/05/20 (Sat) 02:21'")
        try:
            return parse_date(value)
        except ValueError as error:
            raise DataError(f"{self.where}: {field} is {shown(value)}: {error}") from None

    def judged(self, roles: tuple[str, ...]) -> tuple[UserStore, JudgedQuery]:
        notes, now = self.notes, self._date(self.row.get("question_date"), "question_date")
        ids, dates, sessions = map(self._list, ("haystack_session_ids", "haystack_dates", "haystack_sessions"))
        if not len(ids) == len(dates) == len(sessions):
            raise DataError(
                f"{self.where}: haystack_session_ids, haystack_dates and haystack_sessions have {len(ids)}, {len(dates)} and "
                f"{len(sessions)} elements; they must have equally many"
            )
        answers = set(self._list("answer_session_ids")) if all(map(_is_id, self._list("answer_session_ids"))) else None
        if answers is None or not all(map(_is_id, ids)):
            raise DataError(f"{self.where}: haystack_session_ids and answer_session_ids must hold non-empty texts")
        memories: list[Memory] = []
        found: dict[str, list[str]] = {}
        seen: Counter[str] = Counter()
        for at, (session_id, turns) in enumerate(zip(ids, sessions, strict=True)):
            seen[session_id] += 1
            notes["repeated_sessions"] += seen[session_id] > 1
            name = session_id if seen[session_id] == 1 else f"{session_id}#{seen[session_id]}"
            moment = self._date(dates[at], f"haystack_dates[{at}]")
            marked = self._session(name, session_id, moment, turns, at, roles, memories)
            notes["sessions_after_question"] += moment > now
            notes["evidence_after_question"] += len(marked) * (moment > now)
            notes["evidence_outside_answer_sessions"] += len(marked) * (session_id not in answers)
            for number, memory_id in marked:
                found.setdefault(f"{session_id}_{number}", []).append(memory_id)
        notes["sessions"] += len(sessions)
        notes["answer_sessions_missing"] += len(answers - set(ids))
        notes["abstention"] += self.abstention
        relevant = {} if self.abstention else {key: 1 for copies in found.values() for key in copies}
        notes["left_out_no_evidence_turn"] += not relevant and not self.abstention
        query = JudgedQuery(
            id=self.id,
            user_id=self.id,
            query=self._text("question"),
            now=now,
            relevant=relevant,
            duplicates=tuple(tuple(copies) for copies in found.values() if relevant and len(copies) > 1),
            group=ABSTENTION if self.abstention else self._text("question_type"),
            answerable=not self.abstention,
            judged=self.abstention or bool(relevant),
        )
        try:
            return UserStore(self.id, memories=memories), query
        except DataError as error:
            raise DataError(f"{self.where}: {error}") from None

    def _session(
        self, name: str, source: str, moment: datetime, turns: object, at: int, roles: tuple[str, ...], memories: list[Memory]
    ) -> list[tuple[int, str]]:
        """Append the session's memories; returns (turn number, memory id) of those that hold evidence."""
        if not isinstance(turns, list):
            raise DataError(f"{self.where}: haystack_sessions[{at}] is {shown(turns)}: must be a list of turns")
        marked = []
        for number, turn in enumerate(turns, start=1):
            field = f"haystack_sessions[{at}][{number - 1}]"
            if not isinstance(turn, dict):
                raise DataError(f"{self.where}: {field} is {shown(turn)}: must be an object with role and content")
            role, content, evidence = turn.get("role"), turn.get("content"), turn.get("has_answer", False)
            if not isinstance(role, str) or role not in _SPEAKERS:
                raise DataError(f"{self.where}: {field}.role is {shown(role)}: must be user or assistant")
            if not isinstance(content, str):
                raise DataError(f"{self.where}: {field}.content is {shown(content)}: must be text")
            if evidence is not None and not isinstance(evidence, bool):
                raise DataError(f"{self.where}: {field}.has_answer is {shown(evidence)}: must be true or false")
            evidence = bool(evidence)
            self.notes["turns"] += 1
            self.notes["unknown_fields"] += sum(key not in ("role", "content", "has_answer") for key in turn)
            if not content.strip():
                self.notes["empty_turns"] += 1
                self.notes["empty_evidence_turns"] += evidence
            elif role not in roles:
                self.notes["evidence_turns_of_other_role"] += evidence
            else:
                memory_id = f"{name}_{number}"
                text = f"{_SPEAKERS[role]}: {content}"
                created = moment + timedelta(milliseconds=number - 1)
                memories.append(Memory(id=memory_id, text=text, created_at=created, source=source))
                if evidence:
                    marked.append((number, memory_id))
        return marked


def _is_id(value: object) -> bool:
    return isinstance(value, str) and bool(value.strip())
