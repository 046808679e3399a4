"""Any set of conversations with questions and evidence ids: one documented schema, and names to map one's own onto it.

A file is a JSON array of conversations, or JSON Lines with one conversation a line::

    {"id": "talk-1",
     "sessions": [{"id": "s1", "at": "2031-05-08T13:56:00Z",
                   "turns": [{"id": "s1:1", "speaker": "Quill", "text": "I adopted a ferret."}]}],
     "questions": [{"id": "q1", "text": "What did Quill adopt?", "evidence": ["s1:1"], "group": "single"}]}

``ConversationFields`` names the fields where a file calls them otherwise.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, fields
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from workbench.data.fetch import file_sha256
from workbench.data.json_array import json_rows
from workbench.data.judged import JudgedDataset, JudgedQuery
from workbench.data.strict_json import clipped, shown
from workbench.entries import Memory, utc
from workbench.errors import DataError
from workbench.store.user import UserStore


@dataclass(frozen=True, kw_only=True)
class ConversationFields:
    """What a file calls each part; the defaults are the documented schema.

    Of a conversation: ``id``, ``sessions``, ``questions``. Of a session: ``session_id`` (default: s1, s2 ... by position),
    ``session_at``, ``turns``. Of a turn: ``turn_id`` (default: ``<session id>:<position from 1>``), ``speaker`` (may be
    missing), ``text``, ``turn_at`` (default: the session's time). Of a question: ``question_id`` (default: ``<conversation
    id>-q001`` ...), ``question``, ``question_at`` (default: one day after the last session), ``evidence`` (ids of turns or of
    whole sessions), ``group``, ``answerable`` (default: true). ``date_format``: ``strptime`` format of the times; empty
    means ISO 8601. Times without a zone are UTC.
    """

    id: str = "id"
    sessions: str = "sessions"
    questions: str = "questions"
    session_id: str = "id"
    session_at: str = "at"
    turns: str = "turns"
    turn_id: str = "id"
    speaker: str = "speaker"
    text: str = "text"
    turn_at: str = "at"
    question_id: str = "id"
    question: str = "text"
    question_at: str = "at"
    evidence: str = "evidence"
    group: str = "group"
    answerable: str = "answerable"
    date_format: str = ""

    @classmethod
    def of(cls, names: Mapping[str, str]) -> ConversationFields:
        """Fields from a mapping, part -> name in the file. Raises DataError for an unknown part."""
        known = [field.name for field in fields(cls)]
        extra = sorted(set(names) - set(known))
        if extra:
            raise DataError(f"a conversation has no part {', '.join(extra)}; parts are {', '.join(known)}")
        for part, name in names.items():
            if not isinstance(name, str) or (not name and part != "date_format"):
                raise DataError(f"the name of the part {part} is {shown(name)}: must be the name of a field in the file")
        return cls(**names)


def load_conversations(
    path: str | os.PathLike[str],
    *,
    names: ConversationFields | Mapping[str, str] | None = None,
    name: str = "",
    licence: str = "not stated",
    skip_bad: bool = False,
) -> JudgedDataset:
    """Read conversations with questions as one store per conversation and one judged query per question.

    Every turn is a memory, text ``Speaker: text``, at its own time or the session's plus one millisecond per earlier turn.
    Relevant, grade 1, are the turns that the evidence names; a session id stands for all its turns. A question without
    evidence has ``judged=False`` unless it says ``answerable: false``. Fields that nothing reads are counted in
    ``notes["unread <part>.<field>"]``. Raises DataError naming file, element and field at the first fault; with
    ``skip_bad`` a faulty conversation or question is left out and counted in ``notes["refused_rows"]``.
    """
    parts = names if isinstance(names, ConversationFields) else ConversationFields.of(names or {})
    file = Path(path)
    reader = _Reader(parts, skip_bad)
    for row, where in json_rows(file, what="a JSON array of conversations"):
        with reader.guarded():
            reader.conversation(row, where)
    if not reader.stores:
        raise DataError(f"{file} holds no conversation" + (f"; the first was refused: {reader.first}" if reader.first else ""))
    notes = {"conversations": len(reader.stores), "questions": len(reader.queries), **dict(reader.notes)}
    if skip_bad:
        notes["refused_rows"] = reader.refused
    return JudgedDataset(
        name=name or file.stem or "conversations",
        version="1",
        licence=licence,
        source=file.name,
        checksum=file_sha256(file),
        group_name="group",
        stores=reader.stores,
        queries=tuple(reader.queries),
        config={"templates": {"memories": "{date}: {text}"}},
        config_note="Memories are indexed with the date of their turn in front and rendered without it.",
        notes=notes,
    )


class _Reader:
    """What has been read so far, and how to read one more conversation."""

    def __init__(self, names: ConversationFields, skip_bad: bool) -> None:
        self.names = names
        self.skip_bad = skip_bad
        self.stores: dict[str, UserStore] = {}
        self.queries: list[JudgedQuery] = []
        self.query_ids: set[str] = set()
        self.notes: Counter[str] = Counter()
        self.refused = 0
        self.first = ""

    def guarded(self) -> _Guard:
        return _Guard(self)

    def conversation(self, row: object, where: str) -> None:
        if isinstance(row, DataError):
            raise row
        talk = self._object(row, where, "a conversation", ("id", "sessions", "questions"))
        user_id = _named(talk, self.names.id, where)
        if user_id in self.stores:
            raise DataError(f"{where}: {self.names.id} is {shown(user_id)}: an earlier conversation has the same id")
        where = f"{where} ({shown(user_id, 40)})"
        memories: list[Memory] = []
        found: dict[str, tuple[str, ...]] = {}
        last = datetime.min.replace(tzinfo=UTC)
        for at, session in enumerate(_items(talk, self.names.sessions, where, required=True)):
            place = f"{where}, {self.names.sessions}[{at}]"
            moment = self._session(session, f"s{at + 1}", place, memories, found)
            last = max(last, moment)
        try:
            store = UserStore(user_id, memories=memories)
        except DataError as error:
            raise DataError(f"{where}: {error}") from None
        self.stores[user_id] = store
        for at, question in enumerate(_items(talk, self.names.questions, where, required=False)):
            place = f"{where}, {self.names.questions}[{at}]"
            with self.guarded():
                self._question(question, user_id, f"{user_id}-q{at + 1:03d}", place, found, last)

    def _session(
        self, row: object, default_id: str, where: str, memories: list[Memory], found: dict[str, tuple[str, ...]]
    ) -> datetime:
        session = self._object(row, where, "a session", ("session_id", "session_at", "turns"))
        names = self.names
        session_id = _named(session, names.session_id, where, default_id)
        start = self._time(session[names.session_at], names.session_at, where) if names.session_at in session else None
        last = start or datetime.min.replace(tzinfo=UTC)
        ids = []
        for at, item in enumerate(_items(session, names.turns, where, required=True)):
            place = f"{where}.{names.turns}[{at}]"
            turn = self._object(item, place, "a turn", ("turn_id", "speaker", "text", "turn_at"))
            turn_id = _named(turn, names.turn_id, place, f"{session_id}:{at + 1}")
            if turn.get(names.turn_at) is not None:
                moment = self._time(turn[names.turn_at], names.turn_at, place)
            elif start is not None:
                moment = start + timedelta(milliseconds=at)
            else:
                raise DataError(f"{place}: neither the turn ({names.turn_at}) nor its session ({names.session_at}) has a time")
            text, speaker = turn.get(names.text), turn.get(names.speaker, "")
            if not isinstance(text, str) or not isinstance(speaker, str):
                field, value = (names.text, text) if not isinstance(text, str) else (names.speaker, speaker)
                raise DataError(f"{place}: {field} is {shown(value)}: must be text")
            if turn_id in found:
                raise DataError(f"{place}: {names.turn_id} is {shown(turn_id)}: an earlier turn or session has the same id")
            said = f"{speaker}: {text}" if speaker.strip() else text
            memories.append(Memory(id=turn_id, text=said, created_at=moment, source=session_id))
            found[turn_id] = (turn_id,)
            ids.append(turn_id)
            last = max(last, moment)
        if session_id in found and found[session_id] != tuple(ids):
            raise DataError(f"{where}: {names.session_id} is {shown(session_id)}: an earlier turn or session has the same id")
        found[session_id] = tuple(ids)
        return last

    def _question(
        self, row: object, user_id: str, default_id: str, where: str, found: Mapping[str, tuple[str, ...]], last: datetime
    ) -> None:
        names = self.names
        read = ("question_id", "question", "question_at", "evidence", "group", "answerable")
        question = self._object(row, where, "a question", read)
        evidence = question.get(names.evidence, [])
        ids = [evidence] if isinstance(evidence, str) else evidence
        if not isinstance(ids, list) or not all(isinstance(key, str) for key in ids):
            raise DataError(f"{where}: {names.evidence} is {shown(evidence)}: must be a list of turn or session ids, as text")
        lost = [key for key in ids if key not in found]
        if lost:
            raise DataError(f"{where}: {names.evidence} names {shown(lost[0])}: the conversation has no such turn or session")
        relevant = {turn: 1 for key in ids for turn in found[key]}
        answerable = question.get(names.answerable, True)
        try:
            if names.question_at in question:
                now = self._time(question[names.question_at], names.question_at, where)
            else:
                now = last + timedelta(days=1)
            query = JudgedQuery(
                id=_named(question, names.question_id, where, default_id),
                user_id=user_id,
                query=question.get(names.question),  # type: ignore[arg-type]  # checked by JudgedQuery
                now=now,
                relevant=relevant if answerable else {},
                group=question.get(names.group, "all"),
                answerable=answerable,
                judged=bool(relevant) or answerable is False,
            )
        except OverflowError:
            raise DataError(f"{where}: the day after the last session lies beyond the year 9999") from None
        except DataError as error:
            raise DataError(f"{where}: {error}" if where not in str(error) else str(error)) from None
        if query.id in self.query_ids:
            raise DataError(f"{where}: {names.question_id} is {shown(query.id)}: an earlier question has the same id")
        self.query_ids.add(query.id)
        self.queries.append(query)

    def _time(self, value: object, field: str, where: str) -> datetime:
        if self.names.date_format and isinstance(value, str):
            try:
                value = datetime.strptime(value.strip(), self.names.date_format)
            except (ValueError, OverflowError) as error:
                raise DataError(
                    f"{where}: {field} is {shown(value)}: not a time of the form {self.names.date_format!r} ({error})"
                ) from None
        try:
            return utc(value, field=field)  # type: ignore[arg-type]  # utc refuses what is no time
        except DataError as error:
            raise DataError(clipped(f"{where}: {error}")) from None

    def _object(self, row: object, where: str, what: str, read: tuple[str, ...]) -> dict[str, Any]:
        if not isinstance(row, dict):
            raise DataError(f"{where} is {shown(row)}: must be an object, {what}")
        known = {getattr(self.names, part) for part in read}
        for key in row:
            if key not in known:
                self.notes[f"unread {what.split()[-1]}.{key}"] += 1
        return row


class _Guard:
    """Lets a refusal pass as one more refused row when that was asked for."""

    def __init__(self, reader: _Reader) -> None:
        self.reader = reader

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> bool:
        if not isinstance(error, DataError) or not self.reader.skip_bad:
            return False
        self.reader.refused += 1
        self.reader.first = self.reader.first or str(error)
        return True


def _named(row: Mapping[str, Any], field: str, where: str, default: str | None = None) -> str:
    value = row.get(field, default)
    if not isinstance(value, str) or not value.strip():
        hint = "; put it in quotes" if isinstance(value, int) else ""
        raise DataError(f"{where}: {field} is {shown(value)}: must be non-empty text{hint}")
    return value


def _items(row: Mapping[str, Any], field: str, where: str, *, required: bool) -> list[Any]:
    value = row.get(field, None if required else [])
    if not isinstance(value, list):
        raise DataError(f"{where}: {field} is {shown(value)}: must be a list")
    return value
