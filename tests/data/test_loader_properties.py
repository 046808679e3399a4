"""Properties of every loader: what is written is read, and nothing but a DataError comes out of anything else."""

from __future__ import annotations

import csv
import io
import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from workbench.data.conversations import load_conversations
from workbench.data.exporting import export, read_store
from workbench.data.importers import import_export
from workbench.data.longmemeval import load_longmemeval
from workbench.data.rows import entry_from_row
from workbench.errors import DataError

AT = "2026-01-12T08:30:00Z"
CHARACTERS = st.characters(codec="utf-8")
MARKS = st.sampled_from("ab,;\"'\n\r\t-[]{}:#*`0129. é🦩\0")
TEXT = st.text(CHARACTERS, max_size=20)
NAME = st.text(CHARACTERS, min_size=1, max_size=8).filter(lambda value: bool(value.strip()))
SCALAR = st.none() | st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.floats(allow_nan=False, allow_infinity=False) | TEXT
KEY = st.sampled_from(
    ["id", "memory", "content", "text", "value", "namespace", "key", "label", "metadata", "results", "created_at", "user_id",
     "memories", "blocks", "passages", "items", "tags", "categories", "importance", "conversations_memory", "project_memories",
     "sessions", "turns", "questions", "evidence", "haystack_sessions", "question_id", "role", "x"]
)  # fmt: skip
JSON = st.recursive(SCALAR, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEY, inner, max_size=5), max_leaves=20)
OWN = settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@OWN
@given(
    rows=st.lists(
        st.fixed_dictionaries(
            {"layer": st.just("memory"), "user_id": NAME, "id": NAME, "text": TEXT.filter(bool), "created_at": st.just(AT)},
            optional={
                "importance": st.floats(0, 1), "access_count": st.integers(0, 2**63 - 1), "tags": st.lists(TEXT, max_size=3),
                "source": TEXT.filter(bool), "category": NAME,
            },
        ),
        min_size=1, max_size=6, unique_by=lambda row: (row["user_id"], row["id"]),
    ),
    delimiter=st.sampled_from(",;\t|"),
)  # fmt: skip
def test_what_a_csv_writer_writes_is_read(
    tmp_path_factory: pytest.TempPathFactory, rows: list[dict[str, Any]], delimiter: str
) -> None:
    names = ["layer", "user_id", "id", "text", "created_at", "importance", "access_count", "tags", "source", "category"]
    out = io.StringIO(newline="")
    writer = csv.DictWriter(out, names, delimiter=delimiter)
    writer.writeheader()
    for row in rows:
        writer.writerow({**row, **({"tags": json.dumps(row["tags"], ensure_ascii=False)} if "tags" in row else {})})
    path = tmp_path_factory.mktemp("csv") / "entries.csv"
    path.write_bytes(out.getvalue().encode())
    found = read_store(path).dataset.stores
    assert {(user, entry.id): entry for user, store in found.items() for entry in store} == {
        (user, entry.id): entry for user, entry in map(entry_from_row, rows)
    }


@OWN
@given(value=JSON, kind=st.sampled_from(["mem0", "chatgpt", "claude", "langgraph", "letta", "table"]), skip_bad=st.booleans())
def test_any_json_is_imported_or_refused(tmp_path_factory: pytest.TempPathFactory, value: Any, kind: str, skip_bad: bool) -> None:
    path = tmp_path_factory.mktemp("json") / "export.json"
    path.write_text(json.dumps(value), encoding="utf-8")
    try:
        found = import_export(kind, path, at=AT, skip_bad=skip_bad)
    except DataError as error:
        outcome = str(error)
    else:
        outcome = str(found.report)
        entries = sum(len(store) for store in found.dataset.stores.values())
        assert entries == sum(found.report.entries.values()) > 0
        json.dumps(found.report.to_dict(), allow_nan=False)
    assert "export.json" in outcome


@OWN
@given(value=JSON, reader=st.sampled_from([load_conversations, load_longmemeval]))
def test_any_json_is_a_judged_set_or_refused(tmp_path_factory: pytest.TempPathFactory, value: Any, reader: Any) -> None:
    path = tmp_path_factory.mktemp("json") / "set.json"
    path.write_text(json.dumps([value]), encoding="utf-8")
    try:
        outcome = reader(path).source
    except DataError as error:
        outcome = str(error)
    assert "set.json" in outcome


@OWN
@given(text=st.text(MARKS | CHARACTERS, max_size=80), kind=st.sampled_from(range(3)))
def test_any_text_is_imported_or_refused(tmp_path_factory: pytest.TempPathFactory, text: str, kind: int) -> None:
    path = tmp_path_factory.mktemp("text") / ("m.txt" if kind < 2 else "m.csv")
    path.write_bytes(("" if kind < 2 else "text,tags,when\n").encode() + text.encode())
    try:
        found = import_export(("chatgpt", "claude", "table")[kind], path, at=AT, skip_bad=True)
    except DataError as error:
        assert path.name in str(error)  # noqa: PT017  # the other outcome is checked below
        return
    stores = list(found.dataset.stores.values())
    back = read_store(export(stores, path.with_suffix(".out"), format="parquet")).dataset.stores
    assert [list(store) for store in back.values()] == [list(store) for store in stores]
