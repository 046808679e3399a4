"""Small hand-made data in the shapes the loaders read."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from workbench.data.judged import JudgedDataset


def comparable(dataset: JudgedDataset) -> dict[str, Any]:
    """Everything a dataset holds except its checksum, in a form that compares by value and keeps order."""
    return {
        "name": dataset.name,
        "version": dataset.version,
        "licence": dataset.licence,
        "source": dataset.source,
        "group_name": dataset.group_name,
        "config": dict(dataset.config),
        "config_note": dataset.config_note,
        "notes": dict(dataset.notes),
        "rollups": dict(dataset.rollups),
        "stores": [(user_id, list(store)) for user_id, store in dataset.stores.items()],
        "queries": [(query, list(query.relevant.items())) for query in dataset.queries],
    }


@pytest.fixture(scope="session")
def as_values() -> Callable[[JudgedDataset], dict[str, Any]]:
    return comparable


def entry_rows() -> list[dict[str, Any]]:
    """Two users, every layer, a shared entry id, text with awkward characters."""
    at = "2026-01-12T08:30:00Z"
    return [
        {"layer": "memory", "user_id": "007", "id": "m1", "text": "Keeps a heron in the boathouse.", "created_at": at},
        {
            "layer": "memory",
            "user_id": "007",
            "id": "m2",
            "text": "Tippt\u2028mit \x85 Zeilen\u0000 🦩",
            "category": "preference",
            "tags": ["a", "b"],
            "importance": 0.9,
            "confidence": 1,
            "access_count": 2**63 - 1,
            "created_at": at,
            "updated_at": "2026-02-01T00:00:00.000001+02:00",
            "status": "superseded",
            "source": "chat",
        },
        {
            "layer": "episode",
            "user_id": "007",
            "id": "e1",
            "summary": "Regatta",
            "topics": ["boats"],
            "occurred_at": at,
        },
        {"layer": "procedure", "user_id": "None", "id": "p1", "name": "Brew", "steps": ["boil"], "created_at": at},
        {"layer": "soul", "user_id": "None", "id": "s1", "text": "Calm.", "group": "style", "kind": "style_guide"},
        {"layer": "memory", "user_id": "None", "id": "m1", "text": "Owns a kiln.", "created_at": "2026-01-12"},
    ]


def query_rows() -> list[dict[str, Any]]:
    now = "2026-06-01T09:00:00Z"
    return [
        {
            "id": "q1",
            "user_id": "007",
            "query": "Which bird?",
            "now": now,
            "scenario": "paraphrase",
            "lang": "en",
            "answerable": True,
            "relevant": {"m1": 2, "e1": 1},
            "forbidden": ["m2"],
            "duplicates": [["m1", "e1"]],
            "decided_by": "vector",
        },
        {"id": "q2", "user_id": "None", "query": "Blood type?", "now": now, "answerable": False},
    ]


def jsonl(rows: Sequence[object]) -> bytes:
    return b"".join(json.dumps(row, ensure_ascii=False).encode() + b"\n" for row in rows)


@pytest.fixture
def rows() -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Fresh copies of the valid entry and query rows."""
    return entry_rows(), query_rows()


@pytest.fixture
def write(tmp_path: Path) -> Callable[..., Path]:
    """Write a dataset directory from rows (or raw bytes) and return it; a part given as None is left out."""

    def make(
        entries: Sequence[object] | bytes | None,
        queries: Sequence[object] | bytes | None = None,
        meta: object = None,
        name: str = "mystore",
    ) -> Path:
        root = tmp_path / name
        root.mkdir(exist_ok=True)
        for file, part in (("entries.jsonl", entries), ("queries.jsonl", queries)):
            if part is not None:
                (root / file).write_bytes(part if isinstance(part, bytes) else jsonl(part))
        if meta is not None:
            (root / "dataset.json").write_bytes(meta if isinstance(meta, bytes) else json.dumps(meta).encode())
        return root

    return make


def turn(number: str, speaker: str, text: str, **more: Any) -> dict[str, Any]:
    return {"speaker": speaker, "dia_id": number, "text": text, **more}


def question(text: str, evidence: Any, category: int, **more: Any) -> dict[str, Any]:
    return {"question": text, "evidence": evidence, "category": category, **more}


def locomo_file() -> list[dict[str, Any]]:
    """Two invented conversations in LoCoMo's schema, with every oddity of the public file."""
    first = {
        "sample_id": "talk-1",
        "conversation": {
            "speaker_a": "Quill",
            "speaker_b": "Moss",
            "session_1_date_time": "1:56 pm on 8 May, 2031",
            "session_1": [
                turn("D1:1", "Quill", " I adopted a ferret named Biscuit."),
                turn(
                    "D1:2",
                    "Moss",
                    "Lovely! ",
                    blip_caption="a photo of a wheelbarrow",
                    query="zeppelin stock photo",
                    img_url=["x"],
                ),
                turn("D1:3", "Quill", "", blip_caption="a ferret in a hat"),
            ],
            "session_2_date_time": "12:09 am on 13 September, 2031",
            "session_2": [turn(f"D2:{number}", "Moss", f"Remark number {number}.") for number in range(1, 13)],
            "session_11_date_time": "11:59 pm on 30 December, 2031",
            "session_11": [turn(f"D11:{number}", "Quill", f"Comment {number}.", blip_caption=None) for number in (1, 26)],
            "session_12_date_time": "9:55 am on 2 January, 2032",
            "session_13_date_time": "9:55 am on 3 January, 2032",
        },
        "observation": {
            "session_1_observation": {
                "Quill": [["Quill has a ferret.", "D1:1"], [" Quill owns a hat. ", ["D1:3", "D1:1"]]],
                "Moss": [],
            },
            "session_2_observation": {"Moss": [["Moss remarks a lot.", "D2:1, D2:2"], ["Moss counts.", "D2:99"]]},
            "session_14_observation": {"Moss": [["Never dated.", "D14:1"]]},
        },
        "session_summary": {"session_1_summary": "They met over a ferret.\n", "session_2_summary": "Moss talked."},
        "qa": [
            question("What did Quill adopt?", ["D1:1"], 4, answer="a ferret"),
            question("Which remarks?", ["D2:1; D2:2"], 1, answer=2),
            question("Which remarks again?", ["D2:3 D2:4 D11:1"], 3, answer="some"),
            question("What was said late?", ["D1:1", "D:11:26"], 1, answer="a comment"),
            question("Which fifth remark?", ["D2:05"], 2, answer=2031),
            question("A bare letter?", ["D2:6", "D", "D2:7"], 4, answer="x"),
            question("A turn that is not there?", ["D2:8", "D9:9"], 1, answer="x"),
            question("Named twice?", ["D2:9", "D2:9", "D2:10"], 1, answer="x"),
            question("No evidence?", [], 3, answer="x"),
            question("Only a turn that is not there?", ["D4:36"], 3, answer="x"),
            question(" What did Moss adopt?", ["D1:1"], 5, adversarial_answer="a ferret"),
            question("What did Moss adopt?", ["D1:1"], 5, adversarial_answer="a ferret", answer="nothing"),
            question("What did Quill adopt?", ["D1:1"], 4, answer="a ferret"),
        ],
        "event_summary": {},
    }
    second = {
        "sample_id": "talk-2",
        "conversation": {
            "session_1_date_time": "10:00 am on 1 May, 2031",
            "session_1": [turn("D1:1", "Fern", "I grow leeks.")],
        },
        "observation": {"session_1_observation": {"Fern": [["Fern grows leeks.", "D1:1"]]}},
        "session_summary": {"session_1_summary": "Leeks."},
        "qa": [question("What does Fern grow?", ["D1:1"], 4, answer="leeks")],
    }
    return [first, second]


@pytest.fixture
def locomo_rows() -> list[dict[str, Any]]:
    """A fresh copy of the invented LoCoMo file's content."""
    return locomo_file()


@pytest.fixture
def write_locomo(tmp_path: Path) -> Callable[[object], Path]:
    """Write a value (or raw bytes) as a LoCoMo file and return its path."""

    def make(value: object) -> Path:
        path = tmp_path / "talks.json"
        path.write_bytes(value if isinstance(value, bytes) else json.dumps(value).encode())
        return path

    return make
