"""JSONL, Parquet and SQLite give back exactly what was written; CSV and foreign tables are read by the same rules."""

from __future__ import annotations

import json
import random
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import fields
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from workbench.data.columns import ENTRY_COLUMNS, QUERY_COLUMNS
from workbench.data.exporting import FORMATS, as_dataset, export, read_store
from workbench.data.judged import JudgedDataset, JudgedQuery
from workbench.data.registry import load_dataset
from workbench.data.rows import META_FIELDS, QUERY_FIELDS, entry_to_row
from workbench.data.sqlite_store import read_sqlite
from workbench.data.tabular import read_tables
from workbench.entries import ENTRY_TYPES, Episode, Memory, Procedure, SoulBlock
from workbench.errors import DataError
from workbench.store.user import UserStore

Values = Callable[[JudgedDataset], dict[str, Any]]
USERS = ("007", "None", "NA", "nan", "null", "", " padded ", "1e5", "9223372036854775807", "ana\0x", "ünï🦩", 'a,b\n"c"')
TEXTS = (
    "", " ", "plain", "NA", "None", "nan", "true", "007", "1e999", "🦩🏽‍🦰", "e\u0301", "line\nbreak", "cr\rlf\r\n", "tab\t",
    "nul\0in", "\x01\x1b\x7f\x85", "\u2028\u2029", "\ufeffbom", "\ufffe\uffff", "'\"`;,|", "[]", "{}", "=1+1", "\U0010ffff",
)  # fmt: skip


def many(count: int, seed: int = 0) -> JudgedDataset:
    """A dataset of ``count`` entries over odd user ids, with every awkward value."""
    source = random.Random(seed)
    users = [user for user in USERS if user]
    start = datetime(1, 1, 1, tzinfo=UTC)
    span = int((datetime(9999, 12, 31, tzinfo=UTC) - start) / timedelta(seconds=1))

    def text() -> str:
        return "".join(source.choice(TEXTS) for _ in range(source.randint(1, 3)))

    def moment() -> datetime:
        return start + timedelta(seconds=source.randrange(span), microseconds=source.randrange(10**6))

    def shared(number: int) -> dict[str, Any]:
        return {
            "id": source.choice(["{}", "00{}", "-{}", "{}\0", "x{}🦩"]).format(2**63 + number),
            "category": source.choice(["fact", "preference", "NA", "é"]),
            "tags": tuple(text() for _ in range(source.randrange(3))),
            "importance": source.choice([0.0, 1.0, source.random(), 5e-324]),
            "confidence": source.random(),
            "access_count": source.choice([0, 1, 2**53 + 1, 2**63 - 1, source.randrange(2**63)]),
            "status": source.choice(["active", "superseded", "archived"]),
            "source": text(),
        }

    parts: dict[str, list[Any]] = {user: [] for user in users}
    for number in range(count):
        kind = source.randrange(10)
        entry: Any
        if kind < 6:
            made = moment()
            later = {"updated_at": min(made + timedelta(days=1), start + timedelta(seconds=span))} if kind < 3 else {}
            entry = Memory(text=text(), created_at=made, **later, **shared(number))
        elif kind < 8:
            entry = Episode(summary=text(), topics=(text(),), outcome=text(), occurred_at=moment(), **shared(number))
        elif kind == 8:
            entry = Procedure(name=text(), steps=tuple(text() for _ in range(3)), created_at=moment(), **shared(number))
        else:
            entry = SoulBlock(
                id=str(number), text=text(), active=bool(number % 2), priority=source.randint(-(10**9), 10**9),
                group=source.choice(["soul", "style", "context"]), kind="a-b_c",
            )  # fmt: skip
        parts[source.choice(users)].append(entry)
    stores = {}
    for user, entries in parts.items():
        by = {layer: [entry for entry in entries if entry.layer == layer] for layer in ENTRY_TYPES}
        stores[user] = UserStore(user, memories=by["memory"], episodes=by["episode"], procedures=by["procedure"], soul=by["soul"])
    stores["no entries"] = UserStore("no entries")
    queries = []
    for number in range(count // 20):
        user = source.choice(users)
        keys = [entry.id for entry in stores[user]][:6]
        if len(keys) < 6:
            continue
        query = JudgedQuery(
            id=f"{number}\0", user_id=user, query=text(), now=moment(), relevant={keys[1]: 2**62, keys[0]: 1},
            forbidden=(keys[2],), duplicates=((keys[0], keys[3]), (keys[4],)), group=text(), lang="ko",
            answerable=bool(number % 3), judged=bool(number % 2), decided_by=text(),
        )  # fmt: skip
        queries.append(query)
    return JudgedDataset(
        name="many", stores=stores, queries=tuple(queries), licence="é", source="s\0", checksum="", config={"top_k": 5},
        notes={"odd\n": 2**63 - 1}, rollups={"two": ("a", "b\0")},
    )  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("kind", FORMATS)
def test_ten_thousand_entries_come_back_equal(kind: Any, tmp_path: Path, as_values: Values) -> None:
    dataset = many(10_000)
    assert sum(len(store) for store in dataset.stores.values()) == 10_000
    path = export(dataset, tmp_path / f"out.{kind}", format=kind, description="all of it")
    reading = read_store(path)
    assert as_values(reading.dataset) == as_values(dataset)
    assert reading.description == "all of it"
    assert {"007", "None", "NA", "nan", "null"} <= set(reading.dataset.stores)


def test_from_format_to_format(tmp_path: Path, as_values: Values) -> None:
    first = last = many(400, seed=1)
    for number, kind in enumerate(("jsonl", "parquet", "sqlite", "parquet", "jsonl")):
        last = read_store(export(last, tmp_path / f"{number}.{kind}", format=kind)).dataset  # type: ignore[arg-type]
        assert as_values(last) == as_values(first)
    for user, store in first.stores.items():
        assert last.stores[user].fingerprint == store.fingerprint


@pytest.mark.parametrize("kind", FORMATS)
def test_starter_comes_back_equal(kind: Any, tmp_path: Path, as_values: Values) -> None:
    dataset = load_dataset("starter")
    assert as_values(load_dataset(export(dataset, tmp_path / f"s.{kind}", format=kind))) == as_values(dataset)


text_st = st.text(st.characters(codec="utf-8"), max_size=12)
name_st = text_st.filter(lambda value: bool(value.strip()))
time_st = st.datetimes(timezones=st.just(UTC))
share_st = st.floats(0, 1)


@st.composite
def stores(draw: st.DrawFn) -> UserStore:
    def shared() -> dict[str, Any]:
        return {
            "category": draw(name_st), "tags": tuple(draw(st.lists(text_st, max_size=2))), "importance": draw(share_st),
            "confidence": draw(share_st), "access_count": draw(st.integers(0, 2**63 - 1)), "source": draw(text_st),
        }  # fmt: skip

    ids = draw(st.lists(name_st, unique=True, max_size=5))
    cut = draw(st.integers(0, len(ids)))
    return UserStore(
        draw(text_st.filter(bool)),
        memories=[Memory(id=key, text=draw(text_st), created_at=draw(time_st), **shared()) for key in ids[:cut]],
        episodes=[Episode(id=key, summary=draw(text_st), occurred_at=draw(time_st), **shared()) for key in ids[cut:]],
    )


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(items=st.lists(stores(), min_size=1, max_size=3, unique_by=lambda store: store.user_id), kind=st.sampled_from(FORMATS))
def test_any_stores_come_back_equal(tmp_path_factory: pytest.TempPathFactory, items: list[UserStore], kind: Any) -> None:
    path = export(items, tmp_path_factory.mktemp("any") / f"x.{kind}", format=kind)
    back = read_store(path).dataset.stores
    assert [list(back[store.user_id]) for store in items] == [list(store) for store in items]
    assert list(back) == [store.user_id for store in items]


def test_same_bytes_every_time(tmp_path: Path) -> None:
    for kind, name in (("jsonl", "entries.jsonl"), ("parquet", "entries.parquet"), ("sqlite", "")):
        first, second = (export(many(300), tmp_path / f"{at}.{kind}", format=kind) for at in "ab")  # type: ignore[arg-type]
        assert (first / name).read_bytes() == (second / name).read_bytes()


def test_columns_cover_every_field() -> None:
    known = {field.name for kind in ENTRY_TYPES.values() for field in fields(kind)}
    assert known | {"layer", "user_id"} == set(ENTRY_COLUMNS)
    assert set(QUERY_FIELDS) == set(QUERY_COLUMNS)
    # a field that is added to either class must be saved too, or a round trip would lose it
    kept = {field.name for field in fields(JudgedDataset)} - {"stores", "queries", "checksum"}
    assert kept == set(META_FIELDS) - {"description", "users"}
    assert {field.name for field in fields(JudgedQuery)} - {"group"} == set(QUERY_FIELDS) - {"scenario"}


def test_export_replaces_only_its_own(tmp_path: Path) -> None:
    store = UserStore("ana", memories=[Memory(id="m", text="x", created_at="2026-01-01")])  # type: ignore[arg-type]
    for kind in FORMATS:
        path = tmp_path / kind
        for _ in range(2):
            export(store, path, format=kind)  # type: ignore[arg-type]
        assert list(read_store(path if kind != "sqlite" else path.rename(tmp_path / "x.db")).dataset.stores) == ["ana"]
    other = tmp_path / "other.db"
    with closing(sqlite3.connect(other)) as base:
        base.execute("CREATE TABLE mine (a)")
        base.commit()
    before = other.read_bytes()
    with pytest.raises(DataError, match="holds something else"):
        export(store, other, format="sqlite")
    assert other.read_bytes() == before
    (tmp_path / "parquet" / "notes.txt").write_text("keep me")
    with pytest.raises(DataError, match=r"it holds 'notes.txt'"):
        export(store, tmp_path / "parquet", format="parquet")
    with pytest.raises(DataError, match="is a directory"):
        export(store, tmp_path / "jsonl", format="sqlite")
    with pytest.raises(DataError, match="must be one of jsonl, parquet, sqlite"):
        export(store, tmp_path / "x", format="csv")  # type: ignore[arg-type]
    with pytest.raises(DataError, match="two stores are of the user 'ana'"):
        as_dataset([store, store])
    assert sorted(item.name for item in tmp_path.iterdir()) == ["jsonl", "other.db", "parquet", "x.db"]


def test_a_failed_export_leaves_nothing_behind(tmp_path: Path) -> None:
    class Broken(UserStore):
        def __iter__(self) -> Iterator[Any]:
            yield from super().__iter__()
            raise OSError(28, "No space left on device")

    store = UserStore("ana", memories=[Memory(id="m", text="x", created_at="2026-01-01")])  # type: ignore[arg-type]
    broken = Broken.__new__(Broken)
    broken.__dict__.update(store.__dict__)
    for kind in FORMATS:
        export(store, tmp_path / kind, format=kind)  # type: ignore[arg-type]
        with pytest.raises(DataError, match="No space left"):
            export(broken, tmp_path / kind, format=kind)  # type: ignore[arg-type]
    assert sorted(item.name for item in tmp_path.iterdir()) == sorted(FORMATS)
    (tmp_path / "sqlite").rename(tmp_path / "s.db")
    assert all(len(read_store(tmp_path / name).dataset.stores) == 1 for name in ("jsonl", "parquet", "s.db"))


CSV = '''\ufefflayer,user_id,id,text,summary,occurred_at,created_at,importance,access_count,tags
memory,007,m1,"Owns a kiln,
and a ""shed""",,,2026-01-12T08:30:00Z,0.9,9223372036854775807,"[""a"",""NA""]"

memory,NA,None,None,,,2026-01-12,,,
episode,NA,e1,,Regatta,2026-02-01T10:00:00+02:00,,.5,3,[]
'''


def test_csv(tmp_path: Path) -> None:
    path = tmp_path / "entries.csv"
    path.write_text(CSV, newline="")
    stores = read_store(path).dataset.stores
    assert list(stores) == ["007", "NA"]
    memory = stores["007"].memories[0]
    assert memory.text == 'Owns a kiln,\nand a "shed"'
    assert (memory.access_count, memory.tags, memory.importance) == (2**63 - 1, ("a", "NA"), 0.9)
    assert (stores["NA"].memories[0].id, stores["NA"].memories[0].text) == ("None", "None")
    assert stores["NA"].episodes[0].occurred_at == datetime(2026, 2, 1, 8, tzinfo=UTC)
    assert load_dataset(tmp_path).stores["007"].fingerprint == stores["007"].fingerprint
    semicolons = tmp_path / "more" / "entries.csv"
    semicolons.parent.mkdir()
    semicolons.write_text("layer;user_id;id;text;created_at\r\nmemory;u;m;a,b;2026-01-01\r\n", newline="")
    assert read_store(semicolons.parent).dataset.stores["u"].memories[0].text == "a,b"


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("0.9", "high", r"line 2: importance is 'high': must be a number"),
        ("0.9", "1.9", r"line 2: memory 'm1': importance is 1.9"),
        (".5,3,", "nan,3,", r"line 6: importance is 'nan'"),
        ("9223372036854775807", "9223372036854775808", "access_count is 9223372036854775808"),
        ("9223372036854775807", "3.5", "access_count is '3.5': must be a whole number"),
        (',"[""a"",""NA""]"', ",a", "tags is 'a': must be JSON such as"),
        ("memory,NA,None", "memory,,None", "line 5: the field user_id is missing"),
        ("2026-01-12,,,", "2026-01-12,,,,x", "line 5: has 11 cells, the header names 10"),
        ("episode,NA", "dream,NA", "line 6: layer is 'dream'"),
        ("e1,,Regatta", "e1,text,Regatta", "line 6: unknown field text for a episode"),
        ("memory,NA,None", "memory,007,m1", "already stands in entries.csv, line 2"),
        ("2026-02-01T10:00:00+02:00", "soon", "line 6: episode 'e1': occurred_at is 'soon'"),
    ],
)
def test_faulty_csv_rows(tmp_path: Path, old: str, new: str, message: str) -> None:
    assert CSV.count(old) == 1
    path = tmp_path / "entries.csv"
    path.write_text(CSV.replace(old, new), newline="")
    with pytest.raises(DataError, match=message) as caught:
        read_store(path)
    assert str(path) in str(caught.value)
    reading = read_store(path, skip_bad=True)
    assert (len(reading.refused), reading.dataset.notes["refused_rows"]) == (1, 1)
    assert sum(len(store) for store in reading.dataset.stores.values()) == 2


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        (b"", "is empty"),
        (b"layer,user_id,id\n", "has no rows"),
        (b"layer,user_id,id,id\n", "the column 'id' stands twice"),
        (b"layer,user_id,id,mood\n", "unknown column 'mood'"),
        (b"user_id,id\nu,m\n", "has no column layer"),
        (b'layer,user_id,id,text,created_at\nmemory,u,m,"open,2026-01-01\n', "line 2: unexpected end of data"),
        (b'layer,user_id,id,text,created_at\nmemory,u,m,"a"b,2026-01-01\n', "line 2: .*cannot be read"),
        (b"layer,user_id,id\nmemory,u,\xff\n", r"line 2: not UTF-8 \(byte 0xff\)"),
        (b"\xff\xfel\0", "UTF-16"),
    ],
)
def test_faulty_csv_files(tmp_path: Path, raw: bytes, message: str) -> None:
    path = tmp_path / "entries.csv"
    path.write_bytes(raw)
    for skip_bad in (False, True):
        with pytest.raises(DataError, match=message):
            read_store(path, skip_bad=skip_bad)


def row(**more: Any) -> dict[str, Any]:
    return {"layer": "memory", "user_id": "u", "id": "m", "text": "x", "created_at": "2026-01-01", **more}


def written(tmp_path: Path, table: pa.Table) -> Path:
    path = tmp_path / "entries.parquet"
    pq.write_table(table, path)
    return path


def test_tables_that_pandas_wrote(tmp_path: Path) -> None:
    frame = pd.DataFrame(
        {
            "layer": ["memory", "episode"], "user_id": ["007", "NA"], "id": ["m", "e"], "text": ["x", None],
            "summary": [None, "y"], "created_at": pd.to_datetime(["2026-01-01T01:02:03.000004", None]),
            "occurred_at": pd.to_datetime([None, "2026-01-01"]).tz_localize("Asia/Seoul"), "access_count": [3, None],
            "tags": [["a"], None], "importance": [1, 0],
        }
    )  # fmt: skip
    path = tmp_path / "entries.parquet"
    frame.to_parquet(path, index=False)
    queries = pd.DataFrame(
        {"id": ["q", "r"], "user_id": ["007", "NA"], "query": ["?", "!"], "now": ["2026-02-01", "2026-02-01"],
         "relevant": [{"m": 2}, {"e": 1}]}
    )  # fmt: skip
    queries.to_parquet(tmp_path / "queries.parquet", index=False)
    dataset = load_dataset(tmp_path)
    memory, episode = dataset.stores["007"].memories[0], dataset.stores["NA"].episodes[0]
    assert memory.created_at == datetime(2026, 1, 1, 1, 2, 3, 4, tzinfo=UTC)
    assert (memory.access_count, memory.tags, memory.importance) == (3, ("a",), 1.0)
    assert episode.occurred_at == datetime(2025, 12, 31, 15, tzinfo=UTC)
    assert [dict(query.relevant) for query in dataset.queries] == [{"m": 2}, {"e": 1}]
    frame.set_index("id").to_parquet(path)
    assert len(read_store(path).dataset.stores) == 2
    frame.index = pd.Index([5, 6])
    frame.to_parquet(path)
    with pytest.raises(DataError, match="write the table without its index"):
        read_store(path)


@pytest.mark.parametrize(
    ("column", "values", "message"),
    [
        ("id", pa.array([1, 2]), "column id is of the type int64: must hold text; store it as text, so that 007"),
        ("text", pa.array([b"x", b"y"]), "column text is of the type binary: must hold text"),
        ("importance", pa.array([0.5, float("nan")]), "row 2: memory 'n': importance is nan"),
        ("importance", pa.array(["0.5", "1"]), "column importance is of the type string: must hold numbers"),
        ("access_count", pa.array([1.0, 2.5]), "row 2: access_count is 2.5: must be a whole number"),
        ("access_count", pa.array([1.0, 2.0**53]), "row 2: access_count is .*floating-point column, which rounds"),
        ("access_count", pa.array([1, 2**63], pa.uint64()), "row 2: .*access_count is 9223372036854775808"),
        ("created_at", pa.array([0, 1], pa.timestamp("ns")), "row 2: created_at is finer than a microsecond"),
        ("created_at", pa.array([0, 2**60], pa.timestamp("us")), "row 2: created_at lies outside the years"),
        ("created_at", pa.array([0, 1]), "column created_at is of the type int64: must hold times"),
        ("tags", pa.array([["a"], [None]]), "row 2: tags is .*must be a list of texts"),
        ("tags", pa.array(["[]", "["]), "row 2: tags is '\\['"),
        ("mood", pa.array(["a", "b"]), "unknown column 'mood'"),
        ("summary", pa.array([None, "s"]), "row 2: unknown field summary for a memory"),
    ],
)
def test_faulty_parquet_columns(tmp_path: Path, column: str, values: pa.Array, message: str) -> None:
    table = pa.table({name: [value, value] for name, value in row().items()}).set_column(2, "id", pa.array(["m", "n"]))
    if column in table.column_names:
        table = table.drop([column])
    path = written(tmp_path, table.append_column(column, values))
    with pytest.raises(DataError, match=message) as caught:
        read_store(path)
    assert str(path) in str(caught.value)
    if "row 2" in message:
        reading = read_store(path, skip_bad=True)
        assert reading.dataset.notes["refused_rows"] == len(reading.refused) == 1


def test_other_parquet_types_that_say_the_same(tmp_path: Path) -> None:
    table = pa.table(
        {
            "layer": pa.array(["memory"]).dictionary_encode(), "user_id": pa.array(["u"], pa.large_string()),
            "id": pa.array(["m"], pa.string_view()), "text": ["x"], "created_at": pa.array([20454], pa.date32()),
            "importance": pa.array([1], pa.int8()), "tags": pa.array([["a"]], pa.large_list(pa.string())),
            "source": pa.nulls(1),
        }
    )  # fmt: skip
    memory = read_store(written(tmp_path, table)).dataset.stores["u"].memories[0]
    assert (memory.created_at, memory.importance, memory.tags) == (datetime(2026, 1, 1, tzinfo=UTC), 1.0, ("a",))


def test_not_utf8_in_parquet(tmp_path: Path) -> None:
    raw = pa.array([b"good", b"\xff"]).view(pa.string())
    table = pa.table({**{name: [value, value] for name, value in row().items()}, "id": ["m", "n"], "text": raw})
    path = written(tmp_path, table)
    with pytest.raises(DataError, match="row 2: text cannot be read"):
        read_store(path)
    assert read_store(path, skip_bad=True).dataset.stores["u"].memories[0].text == "good"


@pytest.fixture
def database(tmp_path: Path) -> Callable[[str], Path]:
    def make(script: str) -> Path:
        path = tmp_path / "own.db"
        with closing(sqlite3.connect(path)) as base:
            base.executescript(script)
        return path

    return make


TABLE = "CREATE TABLE entries (layer, user_id, id, text, created_at, tags, access_count, importance);"


def inserted(*values: str) -> str:
    return TABLE + "".join(f"INSERT INTO entries VALUES ({value});" for value in values)


GOOD = "'memory', '007', 'm', 'x', '2026-01-01', NULL, 9223372036854775807, 1"


def test_sqlite_of_ones_own(database: Callable[[str], Path]) -> None:
    path = database(inserted(GOOD, "'memory', '007', 'n', 'x' || char(0) || 'y', '2026-01-01', '[\"a\"]', 3.0, 0.5"))
    memories = load_dataset(path).stores["007"].memories
    assert (memories[0].access_count, memories[0].importance, memories[1].text) == (2**63 - 1, 1.0, "x\0y")
    assert (memories[1].tags, memories[1].access_count) == (("a",), 3)
    assert read_sqlite(path).dataset.name == "own"
    keyed = TABLE.replace(" id,", " id PRIMARY KEY,").replace(");", ") WITHOUT ROWID;")
    path.unlink()
    assert len(read_store(database(keyed + f"INSERT INTO entries VALUES ({GOOD});")).dataset.stores) == 1


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ("'memory', 7, 'n', 'x', '2026-01-01', NULL, 0, 1", "row 2: user_id is 7: must be stored as text, so that 007"),
        ("'memory', 'u', 'n', x'00', '2026-01-01', NULL, 0, 1", r"row 2: text is a BLOB \(1 bytes\)"),
        ("'memory', 'u', 'n', CAST(x'ff' AS TEXT), '2026-01-01', NULL, 0, 1", "row 2: text holds text that is not UTF-8"),
        ("'memory', 'u', 'n', 'x', 1767225600, NULL, 0, 1", "row 2: created_at is 1767225600: must be stored as text"),
        ("'memory', 'u', 'n', 'x', '2026-01-01', 'a', 0, 1", "row 2: tags is 'a': must be JSON"),
        ("'memory', 'u', 'n', 'x', '2026-01-01', NULL, 2.5, 1", "row 2: access_count is 2.5"),
        ("'memory', 'u', 'n', 'x', '2026-01-01', NULL, 0, 9e999", "row 2: .*importance is inf"),
        ("'memory', 'u', 'n', 'x', '2026-01-01', NULL, 0, 'half'", "row 2: .*importance is 'half'"),
        ("'memory', '007', 'm', 'x', '2026-01-01', NULL, 0, 1", "already stands in entries, row 1"),
    ],
)
def test_faulty_sqlite_rows(database: Callable[[str], Path], values: str, message: str) -> None:
    path = database(inserted(GOOD, values))
    with pytest.raises(DataError, match=message) as caught:
        read_store(path)
    assert f"{path}, entries" in str(caught.value)
    reading = read_store(path, skip_bad=True)
    assert reading.dataset.notes["refused_rows"] == len(reading.refused) == 1


@pytest.mark.parametrize(
    ("script", "message"),
    [
        ("CREATE TABLE other (a)", "has no table entries; it has other"),
        ("CREATE VIEW entries AS SELECT 1 AS layer", "has no table entries; it has no tables"),
        ("CREATE TABLE entries (layer, user_id, id, mood)", "unknown column 'mood'"),
        (TABLE + "CREATE TABLE dataset (key, value); INSERT INTO dataset VALUES ('name', 3)", "both must be text"),
        (TABLE + "CREATE TABLE dataset (key, value); INSERT INTO dataset VALUES ('name', '[')", "must be JSON"),
        (TABLE + "CREATE TABLE dataset (key, value); INSERT INTO dataset VALUES ('mood', '1')", "unknown field 'mood'"),
        (TABLE + "CREATE TABLE dataset (a)", "no such column"),
        (TABLE, "every entry was refused"),
    ],
)
def test_faulty_sqlite_files(database: Callable[[str], Path], script: str, message: str) -> None:
    with pytest.raises(DataError, match=message):
        read_store(database(script))


def test_reading_never_writes(tmp_path: Path) -> None:
    path = export(many(50), tmp_path / "s.sqlite", format="sqlite")
    before = path.read_bytes()
    path.chmod(0o444)
    read_store(path)
    assert path.read_bytes() == before
    assert [item.name for item in tmp_path.iterdir()] == ["s.sqlite"]


def test_which_kind_of_store(tmp_path: Path, rows: Any, write: Callable[..., Path]) -> None:
    root = write(*rows)
    assert len(read_store(root).dataset.stores) == 2
    pq.write_table(pa.table({name: [value] for name, value in row().items()}), root / "entries.parquet")
    with pytest.raises(DataError, match=r"holds both entries.jsonl and entries.parquet"):
        read_store(root)
    for path, message in (
        (tmp_path / "none", "no file or directory"),
        (tmp_path / "none.csv", "no file or directory"),
        (root / "entries.jsonl", "is a file; give a directory"),
        ("a\0b", "."),
    ):
        with pytest.raises(DataError, match=message):
            read_store(path)
    for name in ("x.parquet", "x.db"):
        (tmp_path / name).write_bytes(b"")
        with pytest.raises(DataError, match=r"cannot read|no table entries"):
            read_store(tmp_path / name)
    with pytest.raises(DataError, match="holds no entries table"):
        read_tables(tmp_path)
    (tmp_path / "dataset.json").write_text(json.dumps({"users": ["only"]}))
    assert list(read_tables(tmp_path).dataset.stores) == ["only"]


def test_rows_as_in_jsonl() -> None:
    entry = SoulBlock(id="s", text="x")
    assert set(entry_to_row("u", entry)) <= set(ENTRY_COLUMNS)
