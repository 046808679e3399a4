"""LoCoMo: ten long conversations with questions whose evidence turns are known.

Maharana et al., "Evaluating Very Long-Term Conversational Memory of LLM Agents", ACL 2024. The file is CC BY-NC 4.0
and not part of this project: the loader reads a local copy. It has dates but no importance, confidence or access
counts: those stay at their defaults, so it can tell nothing about their weights.
"""

from __future__ import annotations

import hashlib
import os
from collections import Counter
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Literal

from workbench.data.judged import JudgedDataset, JudgedQuery
from workbench.data.locomo_schema import Conversation, Session, Turn, conversation
from workbench.data.strict_json import parse_document, shown
from workbench.entries import Episode, Memory
from workbench.errors import DataError
from workbench.store.user import UserStore

LOCOMO_SHA256 = "79fa87e90f04081343b8c8debecb80a9a6842b76a7aa537dc9fdf651ea698ff4"
LOCOMO_URL = "https://raw.githubusercontent.com/snap-research/locomo/main/data/locomo10.json"
LOCOMO_LICENCE = "CC BY-NC 4.0"
UNITS = ("turn", "observation")
TEMPLATES = ("date", "plain")

_ALWAYS_NOTED = (
    "stores", "sessions", "turns", "questions", "judged", "left_out_no_evidence", "left_out_no_usable_evidence",
    "joined_ids_split", "ids_repaired", "unreadable_ids_dropped", "repeated_ids", "ids_without_turn",
    "category_5_without_answer", "other_categories_without_answer", "integer_answers", "dates_without_session",
    "texts_stripped", "repeated_question_texts", "turns_with_caption", "picture_queries_left_out",
    "other_than_public_file",
)  # fmt: skip
_ALWAYS_NOTED_OBSERVATION = (
    "observations", "summaries", "observation_joined_ids_split", "observation_ids_repaired",
    "observation_unreadable_ids_dropped", "observation_ids_without_turn", "observed_sessions_missing",
    "summarised_sessions_missing", "evidence_turns_without_observation", "left_out_no_observation",
)  # fmt: skip


def load_locomo(
    path: str | os.PathLike[str],
    *,
    unit: Literal["turn", "observation"] = "turn",
    template: Literal["date", "plain"] = "date",
) -> JudgedDataset:
    """Read ``locomo10.json`` as one store per conversation and one judged query per question.

    unit ``turn``: every dialog turn is a memory, id = its dialog id (``D1:3``), text ``Speaker: text [shares
    caption]``, ``created_at`` the session's time (read as UTC) plus one millisecond per earlier turn, so that later
    turns are newer and never fall on the next day. A question's relevant entries are its evidence turns, grade 1.

    unit ``observation``: every observation is a memory (``O<session>:<speaker>:<position>``, times as above) and
    every session summary an episode (``S<session>``). Relevant are all observations that cite an evidence turn, grade
    1. The summary is never counted as evidence: it covers its whole session, so it would make every question easy.
    Questions of whose evidence no observation speaks are left out and counted.

    template: ``date`` indexes memories as ``{date}: {text}``, ``plain`` without the date (of summaries too).

    ``user_id`` is the sample id, query ids are ``<sample id>-q<position>`` (question texts repeat), ``group`` the
    category number as text. ``now`` is one day after the conversation's last session. Questions without usable
    evidence have ``judged=False``. ``notes`` counts everything odd that was met. Raises DataError naming conversation
    and field.
    """
    if unit not in UNITS:
        raise DataError(f"unit is {shown(unit)}: must be one of {', '.join(UNITS)}")
    if template not in TEMPLATES:
        raise DataError(f"template is {shown(template)}: must be one of {', '.join(TEMPLATES)}")
    raw = _read(path)
    checksum = hashlib.sha256(raw).hexdigest()
    where = str(path)
    samples = parse_document(raw, where)
    if not isinstance(samples, list) or not samples:
        raise DataError(f"{where} holds {shown(samples)}: must be a non-empty list of conversations; is this locomo10.json?")
    notes: Counter[str] = Counter(dict.fromkeys(_ALWAYS_NOTED + (_ALWAYS_NOTED_OBSERVATION if unit == "observation" else ()), 0))
    notes["other_than_public_file"] = int(checksum != LOCOMO_SHA256)
    stores: dict[str, UserStore] = {}
    queries: list[JudgedQuery] = []
    for number, sample in enumerate(samples):
        talk = conversation(sample, f"{where}, [{number}]", notes, observations=unit == "observation")
        if talk.id in stores:
            raise DataError(f"{where}, [{number}]: the sample_id {shown(talk.id)} is already taken by an earlier one")
        if unit == "turn":
            store, answers = _turn_store(talk)
        else:
            store, answers = _observation_store(talk, notes)
        stores[talk.id] = store
        queries += _queries(talk, answers, notes)
        notes["sessions"] += len(talk.sessions)
        notes["turns"] += sum(len(session.turns) for session in talk.sessions)
    notes["stores"] = len(stores)
    notes["questions"] = len(queries)
    notes["judged"] = sum(query.judged for query in queries)
    return JudgedDataset(
        name="locomo",
        version=f"10-{unit}",
        licence=LOCOMO_LICENCE,
        source="https://github.com/snap-research/locomo (data/locomo10.json)",
        checksum=checksum,
        group_name="category",
        stores=stores,
        queries=tuple(queries),
        config=_config(unit, template),
        config_note=_NOTES[template],
        notes=dict(notes),
        rollups={"categories 1-4": ("1", "2", "3", "4")},
    )


_NOTES = {
    "date": "Memories are indexed with the date of their session in front and rendered without it.",
    "plain": "Memories are indexed without the date of their session.",
}


def _config(unit: str, template: str) -> dict[str, Any]:
    if template == "date":
        return {"templates": {"memories": "{date}: {text}"}}
    plain = {"memories": "{text}"}
    if unit == "observation":
        plain["episodes"] = "{summary}"
    return {"templates": plain}


def _read(path: str | os.PathLike[str]) -> bytes:
    try:
        return Path(path).read_bytes()
    except FileNotFoundError:
        raise DataError(f"there is no file {path}; give the path of locomo10.json ({LOCOMO_URL})") from None
    except IsADirectoryError:
        raise DataError(f"{path} is a directory; give the path of the file locomo10.json") from None
    except (OSError, ValueError) as error:
        raise DataError(f"cannot read {shown(str(path))}: {getattr(error, 'strerror', None) or error}") from None


def _time(session: Session, position: int) -> datetime:
    return session.at + timedelta(milliseconds=position)


def turn_text(turn: Turn) -> str:
    """``Speaker: text [shares caption]``; the brackets stand only where a picture with a caption was shared."""
    parts = [f"{turn.speaker}:", turn.text, f"[shares {turn.caption}]" if turn.caption else ""]
    return " ".join(part for part in parts if part)


def _turn_store(talk: Conversation) -> tuple[UserStore, dict[str, tuple[str, ...]]]:
    """The store, and for every turn the ids of the entries that hold it: the turn itself."""
    memories = [
        Memory(
            id=turn.id,
            text=turn_text(turn),
            created_at=_time(session, position),
            source=f"session_{session.number}",
        )
        for session in talk.sessions
        for position, turn in enumerate(session.turns)
    ]
    return UserStore(talk.id, memories=memories), {memory.id: (memory.id,) for memory in memories}


def _observation_store(talk: Conversation, notes: Counter[str]) -> tuple[UserStore, dict[str, tuple[str, ...]]]:
    """The store, and for every turn the ids of the observations that cite it."""
    memories: list[Memory] = []
    episodes: list[Episode] = []
    citing: dict[str, list[str]] = {turn.id: [] for session in talk.sessions for turn in session.turns}
    for session in talk.sessions:
        source = f"session_{session.number}"
        for position, seen in enumerate(session.observations):
            entry_id = f"O{session.number}:{seen.speaker}:{seen.index}"
            memories.append(Memory(id=entry_id, text=seen.text, created_at=_time(session, position), source=source))
            for turn_id in seen.turn_ids:
                if turn_id in citing:
                    citing[turn_id].append(entry_id)
                else:
                    notes["observation_ids_without_turn"] += 1
        if session.summary:
            episodes.append(Episode(id=f"S{session.number}", summary=session.summary, occurred_at=session.at, source=source))
    notes["observations"] += len(memories)
    notes["summaries"] += len(episodes)
    store = UserStore(talk.id, memories=memories, episodes=episodes)
    return store, {turn_id: tuple(ids) for turn_id, ids in citing.items()}


def _queries(talk: Conversation, answers: dict[str, tuple[str, ...]], notes: Counter[str]) -> list[JudgedQuery]:
    now = max(session.at for session in talk.sessions) + timedelta(days=1)
    queries = []
    for number, question in enumerate(talk.questions, start=1):
        silent = sum(not answers[turn_id] for turn_id in question.evidence)
        relevant = {entry_id: 1 for turn_id in question.evidence for entry_id in answers[turn_id]}
        if silent:
            notes["evidence_turns_without_observation"] += silent
            notes["left_out_no_observation"] += not relevant
        queries.append(
            JudgedQuery(
                id=f"{talk.id}-q{number:03d}",
                user_id=talk.id,
                query=question.text,
                now=now,
                relevant=relevant,
                group=str(question.category),
                judged=bool(relevant),
            )
        )
    return queries
