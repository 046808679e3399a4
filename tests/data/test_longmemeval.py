"""LongMemEval: an invented file of the published schema, every oddity of the public ones in it."""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from workbench.data import longmemeval
from workbench.data.json_array import JsonArray
from workbench.data.longmemeval import load_longmemeval, parse_date
from workbench.data.registry import load_dataset
from workbench.errors import DataError


def turn(role: str, content: str, **more: Any) -> dict[str, Any]:
    return {"role": role, "content": content, **more}


def question(number: int, **more: Any) -> dict[str, Any]:
    """One instance in the published schema; keyword arguments replace its fields."""
    evidence = [
        turn("user", f"I adopted ferret number {number}.", has_answer=True),
        turn("assistant", "How lovely!", has_answer=False),
    ]
    filler = [turn("user", "How do I whittle?"), turn("assistant", "With a knife.\n\nSlowly."), turn("user", "")]
    row = {
        "question_id": f"q{number}",
        "question_type": "single-session-user",
        "question": f"Which ferret is number {number}?",
        "answer": f"number {number}",
        "question_date": "2031/06/30 (Mon) 23:40",
        "haystack_session_ids": [f"answer_{number}", "sharegpt_a_0"],
        "haystack_dates": ["2031/05/20 (Tue) 02:21", "2031/05/21 (Wed) 02:57"],
        "haystack_sessions": [evidence, filler],
        "answer_session_ids": [f"answer_{number}"],
    }
    return {**row, **more}


def instances() -> list[dict[str, Any]]:
    first = question(1)
    second = question(2, question_id="q2_abs", answer="You never said.")
    third = question(3, question_type="single-session-assistant", answer=7)
    third["haystack_sessions"][0][0]["has_answer"] = False
    third["haystack_sessions"][0][1]["has_answer"] = True
    fourth = question(4, question_type="multi-session")
    for turns in fourth["haystack_sessions"]:
        for item in turns:
            item.pop("has_answer", None)
    fifth = question(5, question_type="temporal-reasoning", haystack_session_ids=["answer_5", "answer_5"])
    fifth["haystack_sessions"][1] = copy.deepcopy(fifth["haystack_sessions"][0])
    fifth["haystack_dates"][1] = "2031/07/02 (Wed) 00:00"
    return [first, second, third, fourth, fifth]


@pytest.fixture
def write(tmp_path: Path) -> Callable[[object], Path]:
    def make(value: object) -> Path:
        path = tmp_path / "longmemeval_tiny.json"
        path.write_bytes(value if isinstance(value, bytes) else json.dumps(value, indent=2).encode())
        return path

    return make


def test_stores_and_queries(write: Callable[[object], Path]) -> None:
    dataset = load_longmemeval(write(instances()))
    assert list(dataset.stores) == ["q1", "q2_abs", "q3", "q4", "q5"]
    store = dataset.stores["q1"]
    assert [memory.id for memory in store.memories] == [
        "answer_1_1", "answer_1_2", "sharegpt_a_0_1", "sharegpt_a_0_2",
    ]  # fmt: skip
    assert store.memories[0].text == "User: I adopted ferret number 1."
    assert store.memories[3].text == "Assistant: With a knife.\n\nSlowly."
    assert store.memories[1].created_at == datetime(2031, 5, 20, 2, 21, 0, 1000, tzinfo=UTC)
    assert store.memories[2].source == "sharegpt_a_0"
    first, abstention, third, fourth, fifth = dataset.queries
    assert (first.id, first.user_id, first.now) == ("q1", "q1", datetime(2031, 6, 30, 23, 40, tzinfo=UTC))
    assert (first.group, dict(first.relevant)) == ("single-session-user", {"answer_1_1": 1})
    assert (abstention.group, abstention.answerable, abstention.judged, dict(abstention.relevant)) == (
        "abstention", False, True, {},
    )  # fmt: skip
    assert dict(third.relevant) == {"answer_3_2": 1}
    assert not fourth.judged
    assert dict(fifth.relevant) == {"answer_5_1": 1, "answer_5#2_1": 1}
    assert fifth.duplicates == (("answer_5_1", "answer_5#2_1"),)
    assert dataset.group_name == "question type"
    assert dataset.version == "custom-turn-both"
    assert dataset.licence == "MIT"


def test_notes(write: Callable[[object], Path]) -> None:
    rows = instances()
    rows[0]["extra"] = rows[0]["haystack_sessions"][0][0]["mood"] = 1
    rows[0]["answer_session_ids"] = ["elsewhere"]
    notes = load_longmemeval(write(rows)).notes
    assert {key: count for key, count in notes.items() if count} == {
        "stores": 5, "sessions": 10, "turns": 24, "questions": 5, "judged": 3, "abstention": 1,
        "left_out_no_evidence_turn": 1, "empty_turns": 4, "repeated_sessions": 1, "sessions_after_question": 1,
        "evidence_after_question": 1, "answer_sessions_missing": 1, "evidence_outside_answer_sessions": 1,
        "answers_not_text": 1, "unknown_fields": 2, "other_than_public_file": 1,
    }  # fmt: skip


def test_user_turns_only_as_in_the_authors_baseline(write: Callable[[object], Path]) -> None:
    dataset = load_longmemeval(write(instances()), roles="user", template="plain")
    assert all(memory.text.startswith("User: ") for store in dataset.stores.values() for memory in store.memories)
    assert not dataset.queries[2].judged
    assert dataset.notes["evidence_turns_of_other_role"] == 1
    assert dataset.config == {"templates": {"memories": "{text}"}}


def test_limit_spreads_over_the_file_and_parses_nothing_else(write: Callable[[object], Path]) -> None:
    rows: list[Any] = [question(number) for number in range(10)]
    path = write(rows)
    for limit, taken in ((1, ["q5"]), (2, ["q2", "q7"]), (3, ["q1", "q5", "q8"]), (10, None), (99, None)):
        dataset = load_longmemeval(path, limit=limit)
        assert list(dataset.stores) == (taken or [f"q{number}" for number in range(10)])
        assert dataset.version.endswith("-questions") == (taken is not None)
    rows[0] = "broken"
    assert len(load_longmemeval(write(rows), limit=2).stores) == 2
    for limit in (0, -1, True, 1.5):
        with pytest.raises(DataError, match="limit is"):
            load_longmemeval(path, limit=limit)  # type: ignore[arg-type]


def test_known_files_are_named_by_their_checksum(write: Callable[[object], Path], monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(instances())
    checksum = load_longmemeval(path).checksum
    release = longmemeval.Release(variant="s", file="x", size=1, sha256=checksum)
    monkeypatch.setattr(longmemeval, "RELEASES", (release,))
    dataset = load_longmemeval(path)
    assert dataset.version == "s-turn-both"
    assert dataset.notes["other_than_public_file"] == 0


def test_by_name_from_a_local_copy(write: Callable[[object], Path]) -> None:
    dataset = load_dataset("longmemeval-oracle", data=write(instances()), roles="user", limit=2)
    assert len(dataset.queries) == 2
    with pytest.raises(DataError, match="has no option unit; it has roles, template, limit"):
        load_dataset("longmemeval-s", data="x", unit="turn")


FAULTS: list[tuple[str, Any, str]] = [
    ("question_id", 7, "question_id is 7"),
    ("question_id", " ", "must be non-empty text"),
    ("question", None, "question is None"),
    ("question_type", [], r"question_type is \[\]"),
    ("question_date", "yesterday", "question_date is 'yesterday': must look like"),
    ("question_date", 20310630, "question_date is 20310630: must be text"),
    ("haystack_dates", ["2031/13/20 (Tue) 02:21", "2031/05/21 (Wed) 02:57"], r"haystack_dates\[0\]"),
    ("haystack_dates", ["2031/05/20 (Tue) 02:21"], "have 2, 1 and 2 elements"),
    ("haystack_sessions", {"a": 1}, "haystack_sessions is .*must be a list"),
    ("haystack_sessions", [[], 5], r"haystack_sessions\[1\] is 5"),
    ("haystack_sessions", [[], ["hello"]], r"haystack_sessions\[1\]\[0\] is 'hello'"),
    ("haystack_sessions", [[], [turn("robot", "x")]], r"\[1\]\[0\].role is 'robot'"),
    ("haystack_sessions", [[], [turn(["user"], "x")]], r"\[1\]\[0\].role is \['user'\]"),  # type: ignore[arg-type]
    ("haystack_sessions", [[], [turn("user", 5)]], r"content is 5"),  # type: ignore[arg-type]
    ("haystack_sessions", [[], [turn("user", "x", has_answer="yes")]], "has_answer is 'yes'"),
    ("haystack_session_ids", ["", "b"], "must hold non-empty texts"),
    ("haystack_session_ids", ["a#2", "a"], "."),
    ("answer_session_ids", "a", "answer_session_ids is 'a': must be a list"),
    ("answer_session_ids", [[1]], "must hold non-empty texts"),
]


@pytest.mark.parametrize(("field", "value", "message"), FAULTS)
def test_faults_name_element_and_field(write: Callable[[object], Path], field: str, value: Any, message: str) -> None:
    path = write([question(1), question(2, **{field: value})])
    if message == ".":
        assert len(load_longmemeval(path).stores) == 2
        return
    with pytest.raises(DataError, match=message) as caught:
        load_longmemeval(path)
    assert f"{path}, element 2" in str(caught.value)


def test_two_questions_of_one_id(write: Callable[[object], Path]) -> None:
    with pytest.raises(DataError, match=r"element 2 .*already taken"):
        load_longmemeval(write([question(1), question(1)]))


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        (b"", "is empty"),
        (b" \n", "is empty"),
        (b"[]", "an empty array"),
        (b"{}", "must be a JSON array"),
        (b"[{}", "never closed"),
        (b'[{"a": "b}]', "Unterminated string"),
        (b"[{}] 5", "goes on after"),
        (b"[{}]]", "goes on after"),
        (b"[1,,2]", "element 2"),
        (b"[1 2]", "element 1"),
        (b"[{}}", "never closed"),
        (b'[1,\n\n{"a": NaN}]', r"element 2 \(from line 3\): NaN is not JSON"),
        (b"\xff\xfe[", "UTF-16"),
        (b'["\xff"]', "not UTF-8"),
    ],
)
def test_what_is_no_array(write: Callable[[object], Path], raw: bytes, message: str) -> None:
    if b"1,,2" in raw or b"\n\n" in raw:
        with pytest.raises(DataError, match=message), JsonArray(write(raw), what="an array") as array:
            list(array)
        return
    with pytest.raises(DataError, match=message):
        load_longmemeval(write(raw))


def test_paths(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="there is no file"):
        load_longmemeval(tmp_path / "none.json")
    with pytest.raises(DataError, match="is a directory"):
        load_longmemeval(tmp_path)
    with pytest.raises(DataError, match="cannot read"):
        load_longmemeval("a\0b")


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.text(st.characters(codec="utf-8"), max_size=9),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(st.characters(codec="utf-8"), max_size=4), inner),
    max_leaves=12,
)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(values=st.lists(JSON, max_size=5), indent=st.sampled_from([None, 0, 3]), ascii_only=st.booleans())
def test_elements_are_those_of_the_standard_parser(
    tmp_path_factory: pytest.TempPathFactory, values: list[Any], indent: int | None, ascii_only: bool
) -> None:
    path = tmp_path_factory.mktemp("array") / "a.json"
    path.write_text(json.dumps(values, indent=indent, ensure_ascii=ascii_only), encoding="utf-8")
    with JsonArray(path, what="an array") as array:
        assert [value for _, value in array] == values


@pytest.mark.parametrize("seed", range(4))
def test_damaged_files_end_in_an_error_or_a_dataset(seed: int, write: Callable[[object], Path]) -> None:
    source = random.Random(seed)
    sound = json.dumps(instances()).encode()
    refused = 0
    for _ in range(60):
        raw = bytearray(sound)
        for _ in range(source.choice((1, 1, 4))):
            at = source.randrange(len(raw))
            if source.random() < 0.5:
                raw[at : at + source.randint(1, 30)] = source.choice([b"", b'"', b"\\", b"[", b"}", b",", b"null", b"\xff"])
            else:
                raw[at] = source.randrange(256)
        try:
            outcome = load_longmemeval(write(bytes(raw))).source
        except DataError as error:
            refused += 1
            outcome = str(error)
        assert "longmemeval_tiny.json" in outcome
    assert refused > 20


def test_dates() -> None:
    assert parse_date("2023/05/20 02:21") == parse_date(" 2023/05/20 (Sat) 02:21 ") == datetime(2023, 5, 20, 2, 21, tzinfo=UTC)
    for text in ("2023-05-20 02:21", "2023/05/20", "2023/02/30 (Sat) 02:21", "9999/01/01 00:00", "٢٠٢٣/05/20 02:21"):
        with pytest.raises(ValueError, match=r"."):
            parse_date(text)
