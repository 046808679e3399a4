"""The LoCoMo file, checked and typed: conversations of dated sessions, turns, observations and questions.

Schema: https://github.com/snap-research/locomo (``data/locomo10.json``). Everything odd that the public file holds is
met here, once, and counted; anything else that does not fit raises DataError naming conversation and field.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from workbench.data.strict_json import shown
from workbench.errors import DataError

CATEGORIES = (1, 2, 3, 4, 5)
_MONTHS = (
    "january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november",
    "december",
)  # fmt: skip
_DATE = re.compile(r"\s*([0-9]{1,2}):([0-9]{2})\s*([ap]m)\s+on\s+([0-9]{1,2})\s+([a-z]+),?\s+([0-9]{4})\s*", re.I)
_SESSION = re.compile(r"session_([0-9]{1,6})")
_SESSION_DATE = re.compile(r"session_([0-9]{1,6})_date_time")
_DIALOG_ID = re.compile(r"D:?([0-9]{1,6}):([0-9]{1,6})")
_BETWEEN_IDS = re.compile(r"[;,\s]+")


@dataclass(frozen=True, kw_only=True)
class Turn:
    """One utterance; ``caption`` describes the picture it shares, if any."""

    id: str
    speaker: str
    text: str
    caption: str


@dataclass(frozen=True, kw_only=True)
class Observation:
    """One sentence about a speaker, with the ids of the turns it rests on."""

    speaker: str
    index: int
    text: str
    turn_ids: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Session:
    """One dated session; ``observations`` and ``summary`` are empty unless asked for."""

    number: int
    at: datetime
    turns: tuple[Turn, ...]
    observations: tuple[Observation, ...] = ()
    summary: str = ""


@dataclass(frozen=True, kw_only=True)
class Question:
    """One question with the ids of its evidence turns: normal form, each once, existing turns only."""

    text: str
    category: int
    evidence: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Conversation:
    """One conversation: sessions by number, questions in the file's order."""

    id: str
    sessions: tuple[Session, ...]
    questions: tuple[Question, ...]


def parse_date(text: str) -> datetime:
    """``1:56 pm on 8 May, 2023`` as UTC, whatever the locale. Raises ValueError."""
    found = _DATE.fullmatch(text)
    if not found:
        raise ValueError("must look like '1:56 pm on 8 May, 2023'")
    hour, minute, half, day, month, year = found.groups()
    if month.lower() not in _MONTHS:
        raise ValueError(f"{month!r} is not the English name of a month")
    if not 1 <= int(hour) <= 12:
        raise ValueError("the hour of a twelve-hour clock lies from 1 to 12")
    if not 1 <= int(year) <= 9998:
        raise ValueError("the year lies from 1 to 9998")
    hour24 = int(hour) % 12 + (12 if half.lower() == "pm" else 0)
    return datetime(int(year), _MONTHS.index(month.lower()) + 1, int(day), hour24, int(minute), tzinfo=UTC)


def dialog_ids(text: str, notes: Counter[str]) -> list[str]:
    """The turn ids in one evidence string, in normal form ``D<session>:<turn>``; what was repaired or dropped is
    counted.

    Ids may be joined (``D8:6; D9:17``, commas, blanks), carry a stray colon (``D:11:26``) or leading zeros
    (``D30:05``). What is no id (a bare ``D``) is dropped.
    """
    parts = [part for part in _BETWEEN_IDS.split(text) if part]
    notes["joined_ids_split"] += len(parts) > 1
    ids = []
    for part in parts:
        found = _DIALOG_ID.fullmatch(part)
        if found is None:
            notes["unreadable_ids_dropped"] += 1
            continue
        clean = f"D{int(found[1])}:{int(found[2])}"
        notes["ids_repaired"] += clean != part
        ids.append(clean)
    return ids


def conversation(sample: object, where: str, notes: Counter[str], *, observations: bool) -> Conversation:
    """Check and type one element of the file. ``notes`` gains the counts of what was met. Raises DataError."""
    row = _table(sample, where)
    sample_id = _text(row, "sample_id", where)
    where = f"{where} ({shown(sample_id)})"
    talk = _table(_part(row, "conversation", where), f"{where}, conversation")
    sessions = _sessions(talk, f"{where}, conversation", notes)
    if observations:
        sessions = _with_observations(sessions, row, where, notes)
    turn_ids: set[str] = set()
    for session in sessions:
        for turn in session.turns:
            if turn.id in turn_ids:
                raise DataError(f"{where}, session_{session.number}: two turns have the dia_id {turn.id}")
            turn_ids.add(turn.id)
    questions = tuple(
        _question(item, turn_ids, f"{where}, qa[{number}]", notes) for number, item in enumerate(_list(row, "qa", where))
    )
    repeats = Counter(question.text for question in questions)
    notes["repeated_question_texts"] += sum(count - 1 for count in repeats.values())
    return Conversation(id=sample_id, sessions=sessions, questions=questions)


def _sessions(talk: Mapping[str, Any], where: str, notes: Counter[str]) -> tuple[Session, ...]:
    dates: dict[int, str] = {}
    for key in talk:
        dated = _SESSION_DATE.fullmatch(key)
        if dated:
            dates[int(dated[1])] = key
    numbers: dict[int, str] = {}
    for key in talk:
        found = _SESSION.fullmatch(key)
        if found:
            if int(found[1]) in numbers:
                raise DataError(f"{where}: {numbers[int(found[1])]} and {key} are the same session; keep one")
            numbers[int(found[1])] = key
    notes["dates_without_session"] += len(set(dates) - set(numbers))
    sessions = []
    for number, key in sorted(numbers.items()):
        if number not in dates:
            raise DataError(f"{where}: {key} has no {key}_date_time; add the session's date and time")
        turns = tuple(_turn(item, f"{where}, {key}[{position}]", notes) for position, item in enumerate(_list(talk, key, where)))
        if turns:
            sessions.append(Session(number=number, at=_date(talk, dates[number], where), turns=turns))
    if not sessions:
        raise DataError(f"{where} holds no session with turns (keys session_1, session_2, ...)")
    return tuple(sessions)


def _date(talk: Mapping[str, Any], key: str, where: str) -> datetime:
    text = _text(talk, key, where)
    try:
        return parse_date(text)
    except ValueError as error:
        raise DataError(f"{where}: {key} is {shown(text)}: {error}") from None


def _turn(item: object, where: str, notes: Counter[str]) -> Turn:
    """The ``query`` field (the search that found the picture) is left out on purpose: nobody said it."""
    row = _table(item, where)
    raw_id = _text(row, "dia_id", where)
    found = _DIALOG_ID.fullmatch(raw_id.strip())
    if found is None:
        raise DataError(f"{where}: dia_id is {shown(raw_id)}: must look like 'D1:3'")
    caption = row.get("blip_caption")
    if caption is not None and not isinstance(caption, str):
        raise DataError(f"{where}: blip_caption is {shown(caption)}: must be text")
    notes["turns_with_caption"] += bool(caption and caption.strip())
    notes["picture_queries_left_out"] += "query" in row
    return Turn(
        id=f"D{int(found[1])}:{int(found[2])}",
        speaker=_stripped(_text(row, "speaker", where), notes),
        text=_stripped(_text(row, "text", where, empty=True), notes),
        caption=_stripped(caption or "", notes),
    )


def _with_observations(
    sessions: tuple[Session, ...], row: Mapping[str, Any], where: str, notes: Counter[str]
) -> tuple[Session, ...]:
    observed = _table(_part(row, "observation", where), f"{where}, observation")
    summaries = _table(_part(row, "session_summary", where), f"{where}, session_summary")
    known = {f"session_{session.number}" for session in sessions}
    notes["observed_sessions_missing"] += sum(key.removesuffix("_observation") not in known for key in observed)
    notes["summarised_sessions_missing"] += sum(key.removesuffix("_summary") not in known for key in summaries)
    full = []
    for session in sessions:
        key = f"session_{session.number}_observation"
        found: list[Observation] = []
        by_speaker = _table(observed.get(key, {}), f"{where}, observation, {key}")
        for speaker in by_speaker:
            place = f"{where}, observation, {key}"
            for index, item in enumerate(_list(by_speaker, speaker, place)):
                found.append(_observation(item, speaker, index, f"{place}, {shown(speaker)}[{index}]", notes))
        summary_key = f"session_{session.number}_summary"
        summary = _text(summaries, summary_key, f"{where}, session_summary") if summary_key in summaries else ""
        full.append(
            Session(
                number=session.number,
                at=session.at,
                turns=session.turns,
                observations=tuple(found),
                summary=_stripped(summary, notes),
            )
        )
    return tuple(full)


def _observation(item: object, speaker: str, index: int, where: str, notes: Counter[str]) -> Observation:
    if not isinstance(item, list) or len(item) != 2 or not isinstance(item[0], str):
        raise DataError(f"{where} is {shown(item)}: must be a pair of the text and its dialog ids")
    cited: Counter[str] = Counter()
    ids = [key for part in _strings(item[1], f"{where}, dialog ids") for key in dialog_ids(part, cited)]
    for name, count in cited.items():
        notes[f"observation_{name}"] += count
    return Observation(speaker=speaker, index=index, text=_stripped(item[0], notes), turn_ids=tuple(dict.fromkeys(ids)))


def _question(item: object, turn_ids: set[str], where: str, notes: Counter[str]) -> Question:
    row = _table(item, where)
    category = row.get("category")
    if isinstance(category, bool) or not isinstance(category, int) or category not in CATEGORIES:
        raise DataError(f"{where}: category is {shown(category)}: must be a whole number from 1 to 5")
    answer = row.get("answer")
    if answer is not None and (isinstance(answer, bool) or not isinstance(answer, (str, int, float))):
        raise DataError(f"{where}: answer is {shown(answer)}: must be text or a number, or be left out")
    notes["integer_answers"] += isinstance(answer, int)
    notes["category_5_without_answer"] += category == 5 and answer is None
    notes["other_categories_without_answer"] += category != 5 and answer is None
    named = [key for part in _strings(_part(row, "evidence", where), f"{where}, evidence") for key in dialog_ids(part, notes)]
    unique = list(dict.fromkeys(named))
    notes["repeated_ids"] += len(named) - len(unique)
    known = tuple(key for key in unique if key in turn_ids)
    notes["ids_without_turn"] += len(unique) - len(known)
    if not known:
        notes["left_out_no_usable_evidence" if row["evidence"] else "left_out_no_evidence"] += 1
    return Question(text=_stripped(_text(row, "question", where), notes), category=category, evidence=known)


def _stripped(text: str, notes: Counter[str]) -> str:
    clean = text.strip()
    notes["texts_stripped"] += clean != text
    return clean


def _table(value: object, where: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise DataError(f"{where} is {shown(value)}: must be a JSON object")
    return value


def _part(row: Mapping[str, Any], key: str, where: str) -> Any:
    if key not in row:
        raise DataError(f"{where} lacks {shown(key)}; is this a LoCoMo file?")
    return row[key]


def _list(row: Mapping[str, Any], key: str, where: str) -> list[Any]:
    value = _part(row, key, where)
    if not isinstance(value, list):
        raise DataError(f"{where}: {shown(key)} is {shown(value)}: must be a list")
    return value


def _strings(value: object, where: str) -> list[str]:
    parts = [value] if isinstance(value, str) else value
    if not isinstance(parts, list) or not all(isinstance(part, str) for part in parts):
        raise DataError(f"{where} is {shown(value)}: must be a text or a list of texts such as 'D1:3'")
    return parts


def _text(row: Mapping[str, Any], key: str, where: str, *, empty: bool = False) -> str:
    value = _part(row, key, where)
    if not isinstance(value, str) or not (empty or value.strip()):
        raise DataError(f"{where}: {shown(key)} is {shown(value)}: must be {'' if empty else 'non-empty '}text")
    return value
