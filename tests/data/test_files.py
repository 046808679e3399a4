"""Own files: what is read, and what is refused with file, line and field."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from workbench.data.files import load_directory, read_directory
from workbench.errors import DataError

Rows = tuple[list[dict[str, Any]], list[dict[str, Any]]]
Write = Callable[..., Path]


def refusal(root: Path) -> str:
    with pytest.raises(DataError) as caught:
        load_directory(root)
    message = str(caught.value)
    message.encode("utf-8")
    assert len(message) <= 900
    return message


def test_reads_entries_and_queries(rows: Rows, write: Write) -> None:
    dataset = load_directory(write(*rows))
    assert list(dataset.stores) == ["007", "None"]
    store = dataset.stores["007"]
    assert [entry.id for entry in store] == ["m1", "m2", "e1"]
    assert store["m2"].text == "Tippt\u2028mit \x85 Zeilen\u0000 🦩"
    assert store["m2"].access_count == 2**63 - 1
    assert store["m2"].updated_at == datetime(2026, 1, 31, 22, 0, 0, 1, tzinfo=UTC)
    assert dataset.stores["None"]["m1"].created_at == datetime(2026, 1, 12, tzinfo=UTC)
    first, second = dataset.queries
    assert dict(first.relevant) == {"m1": 2, "e1": 1}
    assert (first.group, first.forbidden, first.duplicates) == ("paraphrase", ("m2",), (("m1", "e1"),))
    assert (second.group, second.lang, second.answerable, second.judged) == ("all", "en", False, True)


def test_defaults_without_dataset_json(rows: Rows, write: Write) -> None:
    dataset = load_directory(write(rows[0]))
    assert dataset.queries == ()
    assert (dataset.name, dataset.version, dataset.licence) == ("mystore", "1", "not stated")
    assert (dataset.source, dataset.group_name, dataset.config_note) == ("own files", "scenario", "")
    assert (dict(dataset.config), dict(dataset.notes)) == ({}, {})


def test_dataset_json(rows: Rows, write: Write) -> None:
    meta = {
        "name": "n",
        "version": "2",
        "licence": "L",
        "source": "S",
        "description": "D",
        "group_name": "category",
        "config": {"top_k": 7, "weights": {"recency": 0.0}},
        "config_note": "why",
        "notes": {"left_out": 3},
        "users": ["nobody", "None"],
    }
    reading = read_directory(write(*rows, meta))
    dataset = reading.dataset
    assert (reading.description, reading.refused) == ("D", ())
    assert (dataset.name, dataset.version, dataset.licence, dataset.source) == ("n", "2", "L", "S")
    assert (dataset.group_name, dataset.config_note, dict(dataset.notes)) == ("category", "why", {"left_out": 3})
    assert dict(dataset.config) == meta["config"]
    assert list(dataset.stores) == ["nobody", "None", "007"]
    assert len(dataset.stores["nobody"]) == 0


def test_files_are_read_in_the_order_of_their_names(rows: Rows, write: Write) -> None:
    root = write(None)
    for name in ("entries-b.jsonl", "entries.jsonl", "entries-a.jsonl", "entriesB.jsonl"):
        (root / name).write_text(json.dumps(rows[0][0] | {"id": name}), encoding="utf-8")
    (root / "entries.jsonl.bak").write_text("not read")
    (root / "notes.txt").write_text("not read")
    ids = [entry.id for entry in load_directory(root).stores["007"]]
    assert ids == ["entries-a.jsonl", "entries-b.jsonl", "entries.jsonl", "entriesB.jsonl"]


def test_checksum_is_that_of_sha256sum(rows: Rows, write: Write) -> None:
    root = write(*rows, {"name": "x"})
    (root / "CARD.md").write_text("not covered")
    listing = "".join(
        f"{hashlib.sha256((root / name).read_bytes()).hexdigest()}  {name}\n"
        for name in ("dataset.json", "entries.jsonl", "queries.jsonl")
    )
    before = load_directory(root).checksum
    assert before == hashlib.sha256(listing.encode()).hexdigest()
    (root / "queries.jsonl").rename(root / "queries-1.jsonl")
    assert load_directory(root).checksum != before


@pytest.mark.parametrize("user_id", ["007", "None", "NA", "NaN", "null", "%", "a:b", "a/b", " ", "0", "-1", "ü", "🦩", "\u0000"])
def test_user_ids_survive_as_text(rows: Rows, write: Write, user_id: str) -> None:
    row = rows[0][0] | {"user_id": user_id}
    assert list(load_directory(write([row])).stores) == [user_id]


def test_line_ends_blank_lines_and_byte_order_mark(rows: Rows, write: Write) -> None:
    lines = [json.dumps(row) for row in rows[0][:2]]
    raw = b"\xef\xbb\xbf" + "\r\n\r\n \t\r\n".join(lines).encode()
    assert len(load_directory(write(raw)).stores["007"]) == 2
    broken = raw + b"\r\n\n{"
    assert "entries.jsonl, line 6: malformed JSON at column 2" in refusal(write(broken))


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b"{", "malformed JSON"),
        (b'{"layer": "memory", "importance": NaN}', "NaN is not JSON"),
        (b'{"importance": -Infinity}', "-Infinity is not JSON"),
        (b'{"access_count": ' + b"9" * 6000 + b"}", "64 bits"),
        (b"[" * 50_000, "nested too deeply"),
        (b'{"tags": ' + b"[" * 800 + b"]" * 800 + b', "user_id": "u", "id": "i", "layer": "memory"}', "tags is"),
        (b'{"a": "\xff"}', "not UTF-8 at byte 8"),
        (b'\xef\xbb\xbf{"a": 1}', "byte order mark"),
        (b'{"id": "a", "id": "b"}', "'id' stands twice"),
        (b"[]", "must be one JSON object"),
        (b"null", "must be one JSON object"),
        (b'{"user_id": "u", "id": "i"}{}', "Extra data"),
        (b'{"text": "\\ud800"}', "'text' has a lone surrogate"),
        (b"\x00", "malformed JSON"),
    ],
)
def test_faulty_lines(rows: Rows, write: Write, line: bytes, reason: str) -> None:
    good = json.dumps(rows[0][0]).encode()
    root = write(good + b"\n" + line + b"\n" + good.replace(b'"m1"', b'"m9"') + b"\n")
    message = refusal(root)
    assert message.startswith(f"{root / 'entries.jsonl'}, line 2: ")
    assert reason in message
    reading = read_directory(root, skip_bad=True)
    assert [entry.id for entry in reading.dataset.stores["007"]] == ["m1", "m9"]
    assert reading.dataset.notes["refused_rows"] == 1
    assert reading.refused == (message,)


@pytest.mark.parametrize(
    ("index", "change", "reason"),
    [
        (0, {"user_id": 7}, "user_id is 7: must be non-empty text; put it in quotes"),
        (0, {"user_id": ""}, "user_id is '': must be non-empty text"),
        (0, {"user_id": None}, "user_id is None"),
        (0, {"id": 1}, "id is 1"),
        (0, {"id": " "}, "id is ' '"),
        (0, {"layer": "thought"}, "layer is 'thought'"),
        (0, {"layer": ["memory"]}, "layer is ['memory']"),
        (0, {"text": None}, "text is None"),
        (0, {"text": {}}, "text is {}"),
        (0, {"colour": "red"}, "unknown field colour"),
        (0, {"importance": 1.01}, "importance is 1.01"),
        (0, {"importance": "0.5"}, "importance is '0.5'"),
        (0, {"importance": True}, "importance is True"),
        (0, {"confidence": -1}, "confidence is -1"),
        (0, {"access_count": 1.0}, "access_count is 1.0"),
        (0, {"access_count": -1}, "access_count is -1"),
        (0, {"tags": "red"}, "tags is 'red'"),
        (0, {"tags": {"red": 1}}, "tags is {'red': 1}"),
        (0, {"tags": [1]}, "tags is [1]"),
        (0, {"status": "gone"}, "status is 'gone'"),
        (0, {"status": {}}, "status is {}"),
        (0, {"created_at": "yesterday"}, "created_at is 'yesterday'"),
        (0, {"created_at": 1700000000}, "created_at is 1700000000"),
        (0, {"created_at": "0001-01-01T00:00:00+14:00"}, "outside the years"),
        (0, {"updated_at": "2020-01-01"}, "earlier than created_at"),
        (2, {"topics": None}, "topics is None"),
        (2, {"occurred_at": None}, "occurred_at is None"),
        (3, {"steps": "boil"}, "steps is 'boil'"),
        (4, {"kind": "a b"}, "kind is 'a b'"),
        (4, {"active": 1}, "active is 1"),
        (4, {"priority": 1.5}, "priority is 1.5"),
    ],
)
def test_faulty_entry_fields(rows: Rows, write: Write, index: int, change: dict[str, Any], reason: str) -> None:
    entries, _ = rows
    entries[index].update(change)
    message = refusal(write(entries))
    assert f"entries.jsonl, line {index + 1}: " in message
    assert reason in message


@pytest.mark.parametrize(
    ("index", "field"),
    [(0, "user_id"), (0, "id"), (0, "layer"), (0, "text"), (0, "created_at"), (2, "summary"), (3, "name"), (4, "text")],
)
def test_missing_entry_fields(rows: Rows, write: Write, index: int, field: str) -> None:
    entries, _ = rows
    del entries[index][field]
    message = refusal(write(entries))
    assert f"line {index + 1}: " in message
    assert field in message


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"id": ""}, "id is ''"),
        ({"id": 3}, "id is 3"),
        ({"user_id": 7}, "user_id is 7"),
        ({"user_id": "ghost"}, "user_id is 'ghost': no entries file holds"),
        ({"query": None}, "query is None"),
        ({"now": "soon"}, "now is 'soon'"),
        ({"now": None}, "now is None"),
        ({"scenario": 1}, "scenario is 1"),
        ({"lang": None}, "lang is None"),
        ({"decided_by": []}, "decided_by is []"),
        ({"answerable": "yes"}, "answerable is 'yes'"),
        ({"judged": 0}, "judged is 0"),
        ({"relevant": ["m1"]}, "relevant is ['m1']"),
        ({"relevant": {"m1": 0}}, "relevant['m1'] is 0"),
        ({"relevant": {"m1": True}}, "relevant['m1'] is True"),
        ({"relevant": {"m1": 1.0}}, "relevant['m1'] is 1.0"),
        ({"relevant": {"zz": 1}}, "relevant names 'zz': user '007' has no such entry"),
        ({"relevant": {"p1": 1}}, "relevant names 'p1'"),
        ({"relevant": {}}, "relevant is empty"),
        ({"relevant": {"m2": 1}}, "both relevant and forbidden"),
        ({"forbidden": "m2"}, "forbidden is 'm2'"),
        ({"forbidden": None}, "forbidden is None"),
        ({"forbidden": 5}, "forbidden is 5"),
        ({"forbidden": [1]}, "forbidden is [1]"),
        ({"forbidden": ["zz"]}, "forbidden names 'zz'"),
        ({"duplicates": {"a": 1}}, "duplicates is {'a': 1}"),
        ({"duplicates": ["m1"]}, "duplicates[0] is 'm1'"),
        ({"duplicates": [["m1", 2]]}, "duplicates[0] is ['m1', 2]"),
        ({"duplicates": [["m1", "zz"]]}, "duplicates names 'zz'"),
        ({"group": "x"}, "unknown field 'group'"),
    ],
)
def test_faulty_query_fields(rows: Rows, write: Write, change: dict[str, Any], reason: str) -> None:
    entries, queries = rows
    queries.append(queries[0] | {"id": "q3"} | change)
    message = refusal(write(entries, queries))
    assert "queries.jsonl, line 3: " in message
    assert reason in message


@pytest.mark.parametrize("field", ["id", "user_id", "query", "now"])
def test_missing_query_fields(rows: Rows, write: Write, field: str) -> None:
    entries, queries = rows
    del queries[1][field]
    message = refusal(write(entries, queries))
    assert "queries.jsonl, line 2: " in message
    assert field in message


def test_duplicate_ids_name_both_lines(rows: Rows, write: Write) -> None:
    entries, queries = rows
    root = write(entries, [*queries, queries[0]])
    assert "queries.jsonl, line 3: id 'q1' already stands in queries.jsonl, line 1" in refusal(root)
    (root / "entries-2.jsonl").write_text(json.dumps(entries[2] | {"id": "m2"}))
    message = refusal(root)
    # "entries-2" sorts before "entries.jsonl", so the second one met is the line in entries.jsonl
    assert "entries.jsonl, line 2: id 'm2' of user '007' already stands in entries-2.jsonl, line 1" in message


def test_skip_bad_counts_what_follows_from_a_refused_row(rows: Rows, write: Write) -> None:
    entries, queries = rows
    entries[0]["importance"] = 3
    reading = read_directory(write(entries, queries, {"notes": {"refused_rows": 5, "x": 1}}), skip_bad=True)
    assert dict(reading.dataset.notes) == {"refused_rows": 7, "x": 1}
    assert [query.id for query in reading.dataset.queries] == ["q2"]
    assert "entries.jsonl, line 1: " in reading.refused[0]
    assert "importance" in reading.refused[0]
    assert "queries.jsonl, line 1: relevant names 'm1'" in reading.refused[1]
    assert load_directory(write(entries[1:], name="sound"), skip_bad=True).notes["refused_rows"] == 0


def test_skip_bad_with_nothing_left_is_an_error(write: Write) -> None:
    root = write(b"{}\n{}\n")
    with pytest.raises(DataError, match=r"every entry was refused; the first reason: .*line 1"):
        load_directory(root, skip_bad=True)


@pytest.mark.parametrize(
    ("meta", "reason"),
    [
        (b"", "is empty"),
        (b"{", "malformed JSON"),
        (b"[]", "must be one JSON object"),
        (b'{"name": "a", "name": "b"}', "'name' stands twice"),
        ({"name": ""}, "name is ''"),
        ({"version": 1}, "version is 1"),
        ({"license": "MIT"}, "unknown field 'license'"),
        ({"config": []}, "config is []"),
        ({"config": {"topk": 1}}, "config: config has no setting topk"),
        ({"config": {"weights": {"relevance": 99}}}, "weights.relevance is 99"),
        ({"config": {"self": 1}}, "config"),
        ({"config": {"weights": 3}}, "weights is 3"),
        ({"notes": {"a": -1}}, "notes['a'] is -1"),
        ({"notes": ["a"]}, "notes is ['a']"),
        ({"users": ["a", "a"]}, "users is ['a', 'a']"),
        ({"users": [""]}, "users is ['']"),
        ({"users": "ana"}, "users is 'ana'"),
        ({"users": [7]}, "users is [7]"),
    ],
)
def test_faulty_dataset_json(rows: Rows, write: Write, meta: object, reason: str) -> None:
    root = write(rows[0], None, meta)
    message = refusal(root)
    assert message.startswith(str(root / "dataset.json"))
    assert reason in message
    with pytest.raises(DataError):
        load_directory(root, skip_bad=True)


def test_missing_and_empty_places(tmp_path: Path, write: Write, rows: Rows) -> None:
    assert "there is no directory" in refusal(tmp_path / "absent")
    assert "there is no directory" not in refusal(write(None))
    assert "holds no entries*.jsonl" in refusal(write(None))
    assert "entries.jsonl is empty" in refusal(write(b""))
    assert "entries.jsonl is empty" in refusal(write(b"\n \r\n"))
    assert "entries.jsonl is UTF-16" in refusal(write("{}".encode("utf-16")))
    assert "is a file" in refusal(write(b"") / "entries.jsonl")
    assert "cannot read" in refusal(Path("a\0b"))
    assert "queries.jsonl is empty" in refusal(write(rows[0], b""))
    root = write(rows[0], rows[1])
    (root / "entries-dir.jsonl").mkdir()
    assert "cannot read" in refusal(root)


def test_users_without_entries_need_no_entries_file(write: Write) -> None:
    dataset = load_directory(write(None, None, {"users": ["ana"]}))
    assert len(dataset.stores["ana"]) == 0
    assert load_directory(write(None, None, {"users": []})).stores == {}
