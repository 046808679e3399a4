"""The generic loader of conversations with evidence ids."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from workbench.data.conversations import ConversationFields, load_conversations
from workbench.data.files import load_directory, save_directory
from workbench.errors import DataError

AT = "2031-05-08T13:56:00Z"


def talk(name: str = "talk-1") -> dict[str, Any]:
    return {
        "id": name,
        "sessions": [
            {"at": AT, "turns": [{"speaker": "Quill", "text": "I adopted a ferret."}, {"text": "Hello 🦦"}]},
            {"id": "late", "turns": [{"id": "x", "text": "Goodbye.", "at": "2031-06-01"}]},
        ],
        "questions": [
            {"text": "What did Quill adopt?", "evidence": ["s1:1"], "group": "single"},
            {"id": f"{name}-late", "text": "And at the end?", "evidence": "late", "at": "2031-07-01"},
            {"text": "Blood type?", "answerable": False},
            {"text": "Unknown."},
        ],
    }


@pytest.fixture
def write(tmp_path: Path) -> Callable[..., Path]:
    def make(value: object, name: str = "talks.json") -> Path:
        path = tmp_path / name
        path.write_bytes(value if isinstance(value, bytes) else json.dumps(value).encode())
        return path

    return make


def test_documented_schema(write: Callable[..., Path]) -> None:
    dataset = load_conversations(write([talk(), talk("talk-2")]), licence="CC0-1.0")
    assert list(dataset.stores) == ["talk-1", "talk-2"]
    memories = dataset.stores["talk-1"].memories
    assert [(memory.id, memory.text, memory.source) for memory in memories] == [
        ("s1:1", "Quill: I adopted a ferret.", "s1"), ("s1:2", "Hello 🦦", "s1"), ("x", "Goodbye.", "late"),
    ]  # fmt: skip
    assert memories[1].created_at == datetime(2031, 5, 8, 13, 56, 0, 1000, tzinfo=UTC)
    first, late, blood, unknown = dataset.queries[:4]
    assert (first.id, first.group, dict(first.relevant)) == ("talk-1-q001", "single", {"s1:1": 1})
    assert first.now == datetime(2031, 6, 2, tzinfo=UTC)
    assert (late.id, dict(late.relevant), late.now) == ("talk-1-late", {"x": 1}, datetime(2031, 7, 1, tzinfo=UTC))
    assert (blood.answerable, blood.judged) == (False, True)
    assert (unknown.answerable, unknown.judged) == (True, False)
    assert dict(dataset.notes) == {"conversations": 2, "questions": 8}
    assert dataset.name == "talks"


def test_own_names_and_dates_and_json_lines(write: Callable[..., Path], tmp_path: Path, as_values: Any) -> None:
    row = {
        "sample": "c", "log": [{"no": "S", "when": "08.05.2031", "said": [{"key": "t", "who": "A", "what": "Hm."}]}],
        "qa": [{"q": "What?", "gold": ["S"], "kind": "k", "colour": "red"}],
    }  # fmt: skip
    names = {
        "id": "sample", "sessions": "log", "session_id": "no", "session_at": "when", "turns": "said", "turn_id": "key",
        "speaker": "who", "text": "what", "questions": "qa", "question": "q", "evidence": "gold", "group": "kind",
        "date_format": "%d.%m.%Y",
    }  # fmt: skip
    path = write(b"\xef\xbb\xbf" + json.dumps(row).encode() + b"\n\n", "talks.jsonl")
    dataset = load_conversations(path, names=names)
    assert dict(dataset.queries[0].relevant) == {"t": 1}
    assert dataset.queries[0].group == "k"
    assert dataset.notes["unread question.colour"] == 1
    assert as_values(load_directory(save_directory(dataset, tmp_path / "out"))) == as_values(dataset)
    with pytest.raises(DataError, match="has no part txt; parts are id, sessions"):
        ConversationFields.of({"txt": "what"})
    with pytest.raises(DataError, match="the name of the part text is ''"):
        ConversationFields.of({"text": ""})


def changed(path: list[Any], value: Any) -> list[dict[str, Any]]:
    rows = [talk(), talk("talk-2")]
    part: Any = rows[1]
    for key in path[:-1]:
        part = part[key]
    if value is ...:
        del part[path[-1]]
    else:
        part[path[-1]] = value
    return rows


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        (["id"], 7, "id is 7: must be non-empty text; put it in quotes"),
        (["id"], "talk-1", "an earlier conversation has the same id"),
        (["id"], ..., "id is None"),
        (["sessions"], ..., "sessions is None: must be a list"),
        (["sessions", 0], 5, r"sessions\[0\] is 5: must be an object, a session"),
        (["sessions", 0, "at"], "noon", r"sessions\[0\]: at is 'noon': not an ISO"),
        (["sessions", 0, "at"], ..., "neither the turn"),
        (["sessions", 0, "turns", 0, "text"], 5, r"turns\[0\]: text is 5"),
        (["sessions", 0, "turns", 0, "speaker"], 5, "speaker is 5"),
        (["sessions", 0, "turns", 1, "id"], "s1:1", "an earlier turn or session has the same id"),
        (["sessions", 1, "id"], "s1:1", "an earlier turn or session has the same id"),
        (["questions", 0, "text"], ..., r"questions\[0\]: .*query is None"),
        (["questions", 0, "evidence"], ["nope"], "names 'nope': the conversation has no such turn"),
        (["questions", 0, "evidence"], [3], "must be a list of turn or session ids"),
        (["questions", 0, "answerable"], "no", "answerable is 'no'"),
        (["questions", 0, "id"], "talk-1-late", "an earlier question has the same id"),
        (["questions", 0, "at"], 3, "at is 3"),
    ],
)
def test_faults(write: Callable[..., Path], path: list[Any], value: Any, message: str) -> None:
    file = write(changed(path, value))
    with pytest.raises(DataError, match=message) as caught:
        load_conversations(file)
    assert f"{file}, element 2" in str(caught.value)
    dataset = load_conversations(file, skip_bad=True)
    assert dataset.notes["refused_rows"] == 1
    assert "talk-1" in dataset.stores
    # a faulty question does not take its conversation along
    assert ("talk-2" in dataset.stores) == (path[0] == "questions")


def test_broken_lines_are_counted(write: Callable[..., Path]) -> None:
    path = write(json.dumps(talk()).encode() + b"\n{oops\n", "talks.jsonl")
    with pytest.raises(DataError, match="line 2: malformed JSON"):
        load_conversations(path)
    assert load_conversations(path, skip_bad=True).notes["refused_rows"] == 1
    with pytest.raises(DataError, match="holds no conversation; the first was refused"):
        load_conversations(write(b"[5]"), skip_bad=True)
    with pytest.raises(DataError, match="holds no conversation"):
        load_conversations(write(b"[]"))


VALUE = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.sampled_from(["", "s1", "s1:1", "x", AT, "2031", "talk-1", "é"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["id", "text", "at", "turns"]), inner),
    max_leaves=6,
)


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_any_change_ends_in_an_error_or_a_dataset(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    rows = copy.deepcopy([talk(), talk("talk-2")])
    part: Any = rows
    while True:
        keys = list(part) if isinstance(part, dict) else list(range(len(part)))
        key = data.draw(st.sampled_from(keys))
        if not isinstance(part[key], (dict, list)) or not part[key] or data.draw(st.booleans()):
            part[key] = data.draw(VALUE)
            break
        part = part[key]
    path = tmp_path_factory.mktemp("talks") / "talks.json"
    path.write_text(json.dumps(rows))
    for skip_bad in (False, True):
        try:
            outcome = str(load_conversations(path, skip_bad=skip_bad))
        except DataError as error:
            outcome = str(error)
        assert "talks" in outcome
