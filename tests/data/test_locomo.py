"""LoCoMo: every oddity handled and counted, on an invented file of the same schema; the real one only where it lies
at hand."""

from __future__ import annotations

import copy
import json
import os
import random
from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from workbench.config import AssemblyConfig
from workbench.data.files import load_directory, save_directory
from workbench.data.locomo import LOCOMO_SHA256, load_locomo
from workbench.data.locomo_schema import dialog_ids, parse_date
from workbench.errors import DataError

Talks = list[dict[str, Any]]
Write = Callable[[object], Path]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1:56 pm on 8 May, 2023", datetime(2023, 5, 8, 13, 56, tzinfo=UTC)),
        ("12:09 am on 13 September, 2023", datetime(2023, 9, 13, 0, 9, tzinfo=UTC)),
        ("12:00 pm on 29 February, 2024", datetime(2024, 2, 29, 12, 0, tzinfo=UTC)),
        (" 9:05 AM  on 1 january 2023 ", datetime(2023, 1, 1, 9, 5, tzinfo=UTC)),
    ],
)
def test_dates(text: str, expected: datetime) -> None:
    assert parse_date(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "", "8 May, 2023", "13:00 pm on 8 May, 2023", "0:10 am on 8 May, 2023", "1:60 pm on 8 May, 2023",
        "1:00 pm on 31 June, 2023", "1:00 pm on 8 Mai, 2023", "1:00 pm on 8 May, 0000", "1:00 pm on 8 May, 9999",
        "٣:00 pm on 8 May, 2023",
    ],
)  # fmt: skip
def test_faulty_dates(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        parse_date(text)


@pytest.mark.parametrize(
    ("text", "ids", "counts"),
    [
        ("D1:3", ["D1:3"], {}),
        ("D8:6; D9:17", ["D8:6", "D9:17"], {"joined_ids_split": 1}),
        ("D9:1 D4:4 D4:6", ["D9:1", "D4:4", "D4:6"], {"joined_ids_split": 1}),
        ("D4:17, D4:19", ["D4:17", "D4:19"], {"joined_ids_split": 1}),
        ("D:11:26", ["D11:26"], {"ids_repaired": 1}),
        ("D30:05", ["D30:5"], {"ids_repaired": 1}),
        (" D1:3 ", ["D1:3"], {}),
        ("D", [], {"unreadable_ids_dropped": 1}),
        ("", [], {}),
        ("D1:1:1", [], {"unreadable_ids_dropped": 1}),
        ("D1:" + "9" * 5000, [], {"unreadable_ids_dropped": 1}),
        ("D٣:1", [], {"unreadable_ids_dropped": 1}),
    ],
)
def test_dialog_ids(text: str, ids: list[str], counts: dict[str, int]) -> None:
    notes: Counter[str] = Counter()
    assert dialog_ids(text, notes) == ids
    assert {key: count for key, count in notes.items() if count} == counts


def test_turns(locomo_rows: Talks, write_locomo: Write) -> None:
    dataset = load_locomo(write_locomo(locomo_rows))
    assert list(dataset.stores) == ["talk-1", "talk-2"]
    store = dataset.stores["talk-1"]
    assert [entry.id for entry in store][:4] == ["D1:1", "D1:2", "D1:3", "D2:1"]
    assert store["D1:1"].text == "Quill: I adopted a ferret named Biscuit."
    assert store["D1:2"].text == "Moss: Lovely! [shares a photo of a wheelbarrow]"
    assert store["D1:3"].text == "Quill: [shares a ferret in a hat]"
    assert store["D11:26"].text == "Quill: Comment 26."
    assert {entry.source for entry in store} == {"session_1", "session_2", "session_11"}
    assert all("zeppelin" not in json.dumps(entry.to_dict()) for entry in store)
    assert (dataset.name, dataset.version, dataset.group_name) == ("locomo", "10-turn", "category")
    assert dataset.licence == "CC BY-NC 4.0"


def test_later_turns_are_newer_and_stay_on_their_day(locomo_rows: Talks, write_locomo: Write) -> None:
    store = load_locomo(write_locomo(locomo_rows)).stores["talk-1"]
    times = [entry.created_at for entry in store]
    assert times == sorted(set(times))
    assert store["D1:1"].created_at == datetime(2031, 5, 8, 13, 56, tzinfo=UTC)
    assert store["D11:26"].created_at.date() == store["D11:1"].created_at.date() == datetime(2031, 12, 30).date()


def test_questions(locomo_rows: Talks, write_locomo: Write) -> None:
    dataset = load_locomo(write_locomo(locomo_rows))
    found = {query.id: sorted(query.relevant) for query in dataset.queries}
    assert found == {
        "talk-1-q001": ["D1:1"],
        "talk-1-q002": ["D2:1", "D2:2"],
        "talk-1-q003": ["D11:1", "D2:3", "D2:4"],
        "talk-1-q004": ["D11:26", "D1:1"],
        "talk-1-q005": ["D2:5"],
        "talk-1-q006": ["D2:6", "D2:7"],
        "talk-1-q007": ["D2:8"],
        "talk-1-q008": ["D2:10", "D2:9"],
        "talk-1-q009": [],
        "talk-1-q010": [],
        "talk-1-q011": ["D1:1"],
        "talk-1-q012": ["D1:1"],
        "talk-1-q013": ["D1:1"],
        "talk-2-q001": ["D1:1"],
    }
    assert {grade for query in dataset.queries for grade in query.relevant.values()} == {1}
    assert [query.id for query in dataset.queries if not query.judged] == ["talk-1-q009", "talk-1-q010"]
    assert [query.group for query in dataset.queries][:5] == ["4", "1", "3", "1", "2"]
    assert dataset.queries[10].query == dataset.queries[11].query == "What did Moss adopt?"
    # one day after the last session that took place; later dates have no session
    assert dataset.queries[0].now == datetime(2031, 12, 31, 23, 59, tzinfo=UTC)
    assert dataset.queries[-1].now == datetime(2031, 5, 2, 10, 0, tzinfo=UTC)


def test_everything_odd_is_counted(locomo_rows: Talks, write_locomo: Write) -> None:
    assert dict(load_locomo(write_locomo(locomo_rows)).notes) == {
        "stores": 2,
        "sessions": 4,
        "turns": 18,
        "questions": 14,
        "judged": 12,
        "left_out_no_evidence": 1,
        "left_out_no_usable_evidence": 1,
        "joined_ids_split": 2,
        "ids_repaired": 2,
        "unreadable_ids_dropped": 1,
        "repeated_ids": 1,
        "ids_without_turn": 2,
        "category_5_without_answer": 1,
        "other_categories_without_answer": 0,
        "integer_answers": 2,
        "dates_without_session": 2,
        "texts_stripped": 3,
        "repeated_question_texts": 2,
        "turns_with_caption": 2,
        "picture_queries_left_out": 1,
        "other_than_public_file": 1,
    }


def test_observations(locomo_rows: Talks, write_locomo: Write) -> None:
    dataset = load_locomo(write_locomo(locomo_rows), unit="observation")
    store = dataset.stores["talk-1"]
    assert [entry.id for entry in store] == ["O1:Quill:0", "O1:Quill:1", "O2:Moss:0", "O2:Moss:1", "S1", "S2"]
    assert store["O1:Quill:1"].text == "Quill owns a hat."
    assert store["S1"].summary == "They met over a ferret."
    assert store["S2"].occurred_at == datetime(2031, 9, 13, 0, 9, tzinfo=UTC)
    found = {query.id: sorted(query.relevant) for query in dataset.queries if query.judged}
    ferret = ["O1:Quill:0", "O1:Quill:1"]
    assert found == {
        "talk-1-q001": ferret,
        "talk-1-q002": ["O2:Moss:0"],
        "talk-1-q004": ferret,
        "talk-1-q011": ferret,
        "talk-1-q012": ferret,
        "talk-1-q013": ferret,
        "talk-2-q001": ["O1:Fern:0"],
    }
    notes = dataset.notes
    assert len(dataset.queries) == notes["questions"] == 14
    assert notes["judged"] == 14 - notes["left_out_no_evidence"] - notes["left_out_no_usable_evidence"] - 5
    assert notes["left_out_no_observation"] == 5
    assert notes["evidence_turns_without_observation"] == 3 + 1 + 1 + 2 + 1 + 2
    assert (notes["observations"], notes["summaries"]) == (5, 3)
    assert notes["observation_joined_ids_split"] == notes["observation_ids_without_turn"] == 1
    assert notes["observed_sessions_missing"] == 1
    assert notes["texts_stripped"] == 5


def test_templates(locomo_rows: Talks, write_locomo: Write) -> None:
    path = write_locomo(locomo_rows)
    assert dict(load_locomo(path).config) == {"templates": {"memories": "{date}: {text}"}}
    for unit in ("turn", "observation"):
        dated = AssemblyConfig().override(**load_locomo(path, unit=unit).config).templates
        plain = AssemblyConfig().override(**load_locomo(path, unit=unit, template="plain").config).templates
        assert (dated.memories, plain.memories) == ("{date}: {text}", "{text}")
        assert unit == "turn" or ("{date}" in dated.episodes and "{date}" not in plain.episodes)


@pytest.mark.parametrize("unit", ["turn", "observation"])
def test_saves_and_loads_equal(
    locomo_rows: Talks, write_locomo: Write, tmp_path: Path, unit: Any, as_values: Callable[..., Any]
) -> None:
    dataset = load_locomo(write_locomo(locomo_rows), unit=unit)
    assert as_values(load_directory(save_directory(dataset, tmp_path / "saved"))) == as_values(dataset)


@pytest.mark.parametrize("option", [{"unit": "session"}, {"unit": None}, {"unit": []}, {"template": "iso"}])
def test_unknown_options(locomo_rows: Talks, write_locomo: Write, option: dict[str, Any]) -> None:
    with pytest.raises(DataError, match="must be one of"):
        load_locomo(write_locomo(locomo_rows), **option)


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        (b"", "is empty"),
        (b"{}", "must be a non-empty list"),
        (b"[]", "must be a non-empty list"),
        (b"[1]", "must be a JSON object"),
        (b"[{}]", "lacks 'sample_id'"),
        (b'[{"sample_id": 3}]', "'sample_id' is 3"),
        (b'[{"sample_id": "a"}]', "lacks 'conversation'"),
        (b"[NaN]", "NaN is not JSON"),
        (b"[" * 100_000, "nested too deeply"),
        (b'[{"a": 1, "a": 2}]', "stands twice"),
        (b"[\n\xff]", "line 2: not UTF-8"),
        (b"[\n{,}]", "malformed JSON at line 2, column 2"),
    ],
)
def test_faulty_files(write_locomo: Write, raw: bytes, reason: str) -> None:
    path = write_locomo(raw)
    with pytest.raises(DataError) as caught:
        load_locomo(path)
    assert str(caught.value).startswith(str(path))
    assert reason in str(caught.value)


def test_missing_places(tmp_path: Path) -> None:
    for place, reason in (
        (tmp_path / "no.json", "there is no file"),
        (tmp_path, "is a directory"),
        ("a\0", "cannot read"),
    ):
        with pytest.raises(DataError, match=reason):
            load_locomo(place)


def broken(path: list[Any], value: Any) -> Callable[[Talks], None]:
    def change(talks: Talks) -> None:
        place: Any = talks
        for key in path[:-1]:
            place = place[key]
        place[path[-1]] = value

    return change


@pytest.mark.parametrize(
    ("path", "value", "reason"),
    [
        ([1, "sample_id"], "talk-1", "already taken"),
        ([0, "qa"], {}, "'qa' is {}"),
        ([0, "qa", 2], "x", "qa[2] is 'x'"),
        ([0, "qa", 2, "category"], 6, "qa[2]: category is 6"),
        ([0, "qa", 2, "category"], "1", "qa[2]: category is '1'"),
        ([0, "qa", 2, "category"], True, "qa[2]: category is True"),
        ([0, "qa", 2, "question"], " ", "qa[2]: 'question' is ' '"),
        ([0, "qa", 2, "evidence"], None, "qa[2], evidence is None"),
        ([0, "qa", 2, "evidence"], [["D1:1"]], "qa[2], evidence is [['D1:1']]"),
        ([0, "qa", 2, "answer"], ["x"], "qa[2]: answer is ['x']"),
        ([0, "conversation"], [], "conversation is []"),
        ([0, "conversation", "session_1"], None, "'session_1' is None"),
        ([0, "conversation", "session_3"], [], "session_3 has no session_3_date_time"),
        ([0, "conversation", "session_01"], [], "same session"),
        ([0, "conversation", "session_1_date_time"], "today", "session_1_date_time is 'today'"),
        ([0, "conversation", "session_1_date_time"], 5, "'session_1_date_time' is 5"),
        ([0, "conversation", "session_1", 1], 5, "session_1[1] is 5"),
        ([0, "conversation", "session_1", 1, "dia_id"], "D1:1", "two turns have the dia_id D1:1"),
        ([0, "conversation", "session_1", 1, "dia_id"], "x", "dia_id is 'x'"),
        ([0, "conversation", "session_1", 1, "text"], None, "'text' is None"),
        ([0, "conversation", "session_1", 1, "speaker"], "", "'speaker' is ''"),
        ([0, "conversation", "session_1", 1, "blip_caption"], 1, "blip_caption is 1"),
        ([1, "conversation"], {"session_1_date_time": "x"}, "holds no session"),
        ([1, "conversation", "session_1"], [], "holds no session"),
        ([0, "observation"], [], "observation is []"),
        ([0, "observation", "session_1_observation"], [], "session_1_observation is []"),
        ([0, "observation", "session_1_observation", "Quill"], {}, "'Quill' is {}"),
        ([0, "observation", "session_1_observation", "Quill", 0], ["x"], "'Quill'[0] is ['x']"),
        ([0, "observation", "session_1_observation", "Quill", 0], ["x", 3], "dialog ids is 3"),
        ([0, "session_summary"], None, "session_summary is None"),
        ([0, "session_summary", "session_1_summary"], 3, "'session_1_summary' is 3"),
    ],
)
def test_faulty_parts(locomo_rows: Talks, write_locomo: Write, path: list[Any], value: Any, reason: str) -> None:
    broken(path, value)(locomo_rows)
    file = write_locomo(locomo_rows)
    with pytest.raises(DataError) as caught:
        load_locomo(file, unit="observation")
    assert f"{file}, [{path[0]}]" in str(caught.value)
    assert reason in str(caught.value)


@pytest.mark.parametrize(
    "path",
    [
        [0, "sample_id"], [0, "conversation"], [0, "qa"], [0, "observation"], [0, "session_summary"], [0, "qa", 0,
        "question"], [0, "qa", 0, "category"], [0, "qa", 0, "evidence"], [0, "conversation", "session_1_date_time"],
        [0, "conversation", "session_1", 0, "speaker"], [0, "conversation", "session_1", 0, "dia_id"],
        [0, "conversation", "session_1", 0, "text"],
    ],
)  # fmt: skip
def test_missing_parts(locomo_rows: Talks, write_locomo: Write, path: list[Any]) -> None:
    place: Any = locomo_rows
    for key in path[:-1]:
        place = place[key]
    del place[path[-1]]
    with pytest.raises(DataError, match=path[-1]):
        load_locomo(write_locomo(locomo_rows), unit="observation")


VALUES: list[Any] = [
    None, True, 0, -1, 2**63 - 1, 1.5, "", " ", "D1:1", "D", "1:56 pm on 8 May, 2031", "\ud800", [], [[]], ["D1:1"],
    [1], {}, {"a": []},
]  # fmt: skip


def places(value: Any, found: list[tuple[Any, Any]]) -> list[tuple[Any, Any]]:
    parts = list(value.items()) if isinstance(value, dict) else list(enumerate(value)) if isinstance(value, list) else []
    for key, part in parts:
        found.append((value, key))
        places(part, found)
    return found


@pytest.mark.parametrize("unit", ["turn", "observation"])
def test_damaged_files(locomo_rows: Talks, write_locomo: Write, unit: Any) -> None:
    source = random.Random(11)
    outcomes: Counter[str] = Counter()
    for _ in range(400):
        talks = copy.deepcopy(locomo_rows)
        place, key = source.choice(places(talks, []))
        if source.random() < 0.3:
            del place[key]
        else:
            place[key] = source.choice(VALUES)
        try:
            dataset = load_locomo(write_locomo(talks), unit=unit)
        except DataError as error:
            str(error).encode("utf-8")
            outcomes["refused"] += 1
        else:
            assert dataset.notes["questions"] == len(dataset.queries)
            outcomes["read"] += 1
    assert min(outcomes["refused"], outcomes["read"]) > 50


@pytest.fixture(scope="module")
def public_file() -> Path:
    named = os.environ.get("WORKBENCH_LOCOMO")
    path = Path(named) if named else Path(__file__).resolve().parents[3] / "shared" / "data" / "locomo10.json"
    if not path.is_file():
        pytest.skip(f"the public LoCoMo file is not at hand ({path}); name it in WORKBENCH_LOCOMO to run this test")
    return path


def test_public_file_by_turns(public_file: Path) -> None:
    dataset = load_locomo(public_file)
    notes = dataset.notes
    assert dataset.checksum == LOCOMO_SHA256
    assert len(dataset.stores) == notes["stores"] == 10
    assert sum(len(store) for store in dataset.stores.values()) == notes["turns"] == 5882
    assert len(dataset.queries) == len({query.id for query in dataset.queries}) == 1986
    assert sum(query.judged for query in dataset.queries) == notes["judged"] == 1982
    assert Counter(query.group for query in dataset.queries) == {"1": 282, "2": 321, "3": 96, "4": 841, "5": 446}
    judged = Counter(query.group for query in dataset.queries if query.judged)
    assert judged == {"1": 282, "2": 321, "3": 92, "4": 841, "5": 446}
    assert all(entry.text == entry.text.strip() for store in dataset.stores.values() for entry in store)
    expected = {
        "left_out_no_evidence": 4,
        "left_out_no_usable_evidence": 0,
        "joined_ids_split": 4,
        "ids_repaired": 2,
        "unreadable_ids_dropped": 1,
        "repeated_ids": 1,
        "ids_without_turn": 2,
        "category_5_without_answer": 444,
        "integer_answers": 6,
        "dates_without_session": 16,
        "texts_stripped": 210,
        "repeated_question_texts": 12,
        "turns_with_caption": 1226,
        "picture_queries_left_out": 888,
        "other_than_public_file": 0,
    }
    assert {key: notes[key] for key in expected} == expected


def test_public_file_by_observations(public_file: Path) -> None:
    dataset = load_locomo(public_file, unit="observation")
    notes = dataset.notes
    assert (notes["observations"], notes["summaries"], notes["questions"]) == (2541, 272, 1986)
    assert (notes["left_out_no_evidence"], notes["left_out_no_observation"], notes["judged"]) == (4, 306, 1676)
    assert notes["observation_ids_without_turn"] == 0
    judged = Counter(query.group for query in dataset.queries if query.judged)
    assert judged == {"1": 273, "2": 287, "3": 79, "4": 673, "5": 364}
