"""Tables with columns of any name, mapped onto the documented fields."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from workbench.data.importers import Imported, TableMapping, import_export
from workbench.errors import DataError

CSV = """no;who;fact;when;weight;uses;labels;mood
1;007;Owns a kiln.;1767225600;9;12;shed; calm
2;NA;Tea, always.;2026-01-02;5;;"[""a"",""b""]";
3;NA;;2026-01-02;;;;
"""
MAPPING = TableMapping(
    columns={"id": "no", "user_id": "who", "text": "fact", "created_at": "when", "importance": "weight",
             "access_count": "uses", "tags": "labels"},
    scales={"importance": 10}, constants={"layer": "memory", "confidence": "0.5"},
)  # fmt: skip


def notes(found: Imported, kind: str) -> dict[str, int]:
    return {note.what: note.count for note in getattr(found.report, kind)}


def check(found: Imported) -> None:
    (kiln,), (tea,) = found.dataset.stores["007"].memories, found.dataset.stores["NA"].memories
    assert (kiln.id, kiln.text, kiln.importance, kiln.confidence, kiln.access_count) == ("1", "Owns a kiln.", 0.9, 0.5, 12)
    assert (kiln.created_at, kiln.tags) == (datetime(2026, 1, 1, tzinfo=UTC), ("shed",))
    assert (tea.text, tea.tags, tea.access_count) == ("Tea, always.", ("a", "b"), 0)
    assert notes(found, "left_out") == {"without text": 1}
    assert [what.partition(" = ")[0] for what in notes(found, "unread")] == ["mood"]
    assert notes(found, "mapped")["fact -> text"] == 2


def test_csv(tmp_path: Path) -> None:
    path = tmp_path / "facts.csv"
    path.write_text(CSV)
    found = import_export("table", path, mapping=MAPPING)
    check(found)
    assert notes(found, "guessed") == {
        "when is a number: read as seconds since 1970": 1, "labels split at ';' into tags": 1,
    }  # fmt: skip
    assert found.report.unread[0].first == f"{path}, line 2"


def test_sqlite(tmp_path: Path) -> None:
    path = tmp_path / "facts.db"
    with closing(sqlite3.connect(path)) as base:
        base.execute("CREATE TABLE facts (no INTEGER, who TEXT, fact TEXT, [when], weight, uses INTEGER, labels, mood)")
        base.executemany(
            "INSERT INTO facts VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            [(1, "007", "Owns a kiln.", 1767225600, 9, 12, "shed", "calm"),
             (2, "NA", "Tea, always.", "2026-01-02", 5, None, '["a","b"]', None), (3, "NA", None, "2026-01-02", *[None] * 4)],
        )  # fmt: skip
        base.commit()
    check(import_export("table", path, mapping=MAPPING))
    with closing(sqlite3.connect(path)) as base:
        base.execute("CREATE TABLE other (a)")
        base.commit()
    with pytest.raises(DataError, match="has the tables facts, other; say which one: --table"):
        import_export("table", path, mapping=MAPPING)
    named = TableMapping(**{**MAPPING.__dict__, "table": "facts"})
    check(import_export("table", path, mapping=named))
    with pytest.raises(DataError, match="has no table 'x'; it has facts, other"):
        import_export("table", path, mapping=TableMapping(table="x"))


def test_parquet_and_json(tmp_path: Path) -> None:
    rows: list[dict[str, Any]] = [
        {"no": 1, "who": "007", "fact": "Owns a kiln.", "when": date(2026, 1, 1), "weight": 9.0, "uses": 12.0,
         "labels": ["shed"], "mood": "calm"},
        {"no": 2, "who": "NA", "fact": "Tea, always.", "when": date(2026, 1, 2), "weight": 5.0, "uses": None,
         "labels": ["a", "b"], "mood": None},
        {"no": 3, "who": "NA", "fact": "", "when": date(2026, 1, 2), "weight": None, "uses": None, "labels": [], "mood": None},
    ]  # fmt: skip
    path = tmp_path / "facts.parquet"
    pq.write_table(pa.Table.from_pylist(rows), path)
    found = import_export("table", path, mapping=MAPPING)
    check(found)
    assert found.report.unread[0].first == f"{path}, row 1"
    for row in rows:
        row["when"] = row["when"].isoformat()
    plain, lines = tmp_path / "facts.json", tmp_path / "facts.jsonl"
    plain.write_text(json.dumps(rows))
    lines.write_text("\n".join(map(json.dumps, rows)))
    check(import_export("table", plain, mapping=MAPPING))
    check(import_export("table", lines, mapping=MAPPING))


def test_every_layer_and_default(tmp_path: Path) -> None:
    path = tmp_path / "mixed.csv"
    path.write_text(
        "layer,text,summary,name,steps,occurred_at,active,group\n"
        "memory,Owns a kiln.,,,,,,\nepisode,,Regatta,,,2026-03-01,,\nprocedure,,,Brew,boil; pour,,,\nsoul,Calm.,,,,,1,style\n"
    )
    store = import_export("table", path, at="2026-05-01").dataset.stores["default"]
    assert (store.memories[0].created_at.month, store.episodes[0].occurred_at.month) == (5, 3)
    assert store.procedures[0].steps == ("boil", "pour")
    assert (store.soul[0].active, store.soul[0].group) == (True, "style")
    assert [entry.id[:2] for entry in store] == ["m-", "e-", "p-", "s-"]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("4;u;x;2026-01-01;11;;;", "line 5: weight is '11': importance must be from 0 to 1; if its scale"),
        ("4;u;x;2026-01-01;high;;;", "line 5: weight is 'high': must be a number"),
        ("4;u;x;2026-01-01;1;1.5;;", "line 5: uses is 1.5: must be a whole number"),
        ("4;u;x;2026-01-01;1;;[a;", r"line 5: labels is '\[a': begins like a JSON list"),
        ("4;u;x;soon;1;;;", "line 5: when is 'soon'"),
        ("4;u;x;;1;;;", "line 5: created_at is missing"),
        ("4;u;x", "line 5: has 3 cells, the header names 8"),
        ("1;007;other;2026-01-01;1;;;", "line 5: id '1' of user '007' is taken by another entry"),
    ],
)
def test_faulty_rows(tmp_path: Path, line: str, message: str) -> None:
    path = tmp_path / "facts.csv"
    path.write_text(CSV + line + "\n")
    with pytest.raises(DataError, match=message) as caught:
        import_export("table", path, mapping=MAPPING)
    assert str(caught.value).startswith(f"{path}, line 5: ")
    found = import_export("table", path, mapping=MAPPING, skip_bad=True)
    assert len(found.report.refused) == 1
    assert sum(found.report.entries.values()) == 2


def test_faulty_mappings_and_files(tmp_path: Path) -> None:
    for bad, message in (
        ({"columns": {"txt": "a"}}, "columns name the field 'txt'; fields are layer"),
        ({"constants": {"txt": "a"}}, "constants name the field"),
        ({"scales": {"access_count": 10}}, "the scale of access_count is 10"),
        ({"scales": {"importance": 0}}, "the scale of importance is 0"),
        ({"separator": ""}, "the separator is empty"),
    ):
        with pytest.raises(DataError, match=message):
            TableMapping(**bad)  # type: ignore[arg-type]
    for name, raw, message in (
        ("x.csv", b"", "is empty"),
        ("x.csv", b"a,a\n1,2\n", "two columns have one name"),
        ("x.csv", b"text\n", "gave no entry"),
        ("x.parquet", b"PAR1", "cannot read"),
        ("x.db", b"SQLite format 3\0", "cannot read"),
        ("x.json", b"{}", "must be a JSON array"),
        ("x.xlsx", b"", "a table ends in .csv"),
    ):
        (tmp_path / name).write_bytes(raw)
        with pytest.raises(DataError, match=message):
            import_export("table", tmp_path / name)
    for name in ("none.csv", "none.parquet", "none.db", "none.json"):
        with pytest.raises(DataError, match="none"):
            import_export("table", tmp_path / name)
