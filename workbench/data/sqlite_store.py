"""Own stores in one SQLite file: the tables ``entries``, ``queries`` and ``dataset``, written and read exactly.

Columns are the documented fields. Lists and mappings are JSON text, times ISO 8601 text, flags 0 or 1; a missing field is
NULL. ``queries`` and ``dataset`` (key, value as JSON) may be missing in a file of one's own.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.parse import quote

from workbench.data.atomic import fresh_file
from workbench.data.collecting import Collector, checked_meta
from workbench.data.columns import ENTRY_COLUMNS, QUERY_COLUMNS, Kind, check_columns, from_json, to_json, whole
from workbench.data.fetch import file_sha256
from workbench.data.files import DirectoryReading
from workbench.data.judged import JudgedDataset
from workbench.data.saving import entry_rows, meta_document, query_row
from workbench.data.strict_json import clipped, parse_document, shown
from workbench.errors import DataError

SUFFIXES = (".sqlite", ".sqlite3", ".db")
APPLICATION_ID = 0x77624453
"""Marks files written here (SQLite's ``application_id``); only those are ever replaced."""

_FAULTS = (sqlite3.Error, UnicodeError, OverflowError, ValueError, MemoryError)
_TYPES: Mapping[Kind, str] = {
    "text": "TEXT", "texts": "TEXT", "share": "REAL", "whole": "INTEGER", "flag": "INTEGER", "time": "TEXT",
    "grades": "TEXT", "groups": "TEXT",
}  # fmt: skip
_STRUCTURED = ("texts", "grades", "groups")


def write_sqlite(dataset: JudgedDataset, path: str | os.PathLike[str], *, description: str = "") -> Path:
    """Write ``dataset`` as one SQLite file; ``read_sqlite`` gives it back equal (all but the checksum).

    The file is written beside its place and then put there. Only a file that was written here is replaced. Raises DataError.
    """
    document = parse_document(meta_document(dataset, description), "dataset.json")
    with fresh_file(path, replaces=_is_ours) as (spare, target):
        try:
            with closing(sqlite3.connect(spare, isolation_level=None)) as base:
                base.execute(f"PRAGMA application_id = {APPLICATION_ID}")
                base.execute("PRAGMA user_version = 1")
                base.execute("PRAGMA journal_mode = MEMORY")
                base.execute("BEGIN")
                base.execute("CREATE TABLE dataset (key TEXT PRIMARY KEY, value TEXT NOT NULL)")
                base.executemany("INSERT INTO dataset VALUES (?, ?)", [(key, to_json(value)) for key, value in document.items()])
                _fill(base, "entries", ENTRY_COLUMNS, entry_rows(dataset), "PRIMARY KEY (user_id, id)")
                _fill(base, "queries", QUERY_COLUMNS, map(query_row, dataset.queries), "PRIMARY KEY (id)")
                base.execute("COMMIT")
        except sqlite3.Error as error:
            raise DataError(f"cannot write {target} as SQLite: {error}") from None
    return target


def _fill(base: sqlite3.Connection, table: str, columns: Mapping[str, Kind], rows: Iterable[Mapping[str, Any]], key: str) -> None:
    definitions = [f'"{name}" {_TYPES[kind]}' for name, kind in columns.items()]
    base.execute(f"CREATE TABLE {table} ({', '.join([*definitions, key])})")
    marks = ", ".join("?" * len(columns))
    base.executemany(
        f"INSERT INTO {table} VALUES ({marks})",
        (tuple(_to_sql(row.get(name), kind) for name, kind in columns.items()) for row in rows),
    )


def _to_sql(value: Any, kind: Kind) -> Any:
    return to_json(value) if kind in _STRUCTURED and value is not None else value


def _is_ours(path: Path) -> bool:
    try:
        with path.open("rb") as handle:
            head = handle.read(72)
    except OSError:
        return False
    return head.startswith(b"SQLite format 3\0") and head[68:72] == APPLICATION_ID.to_bytes(4, "big")


def read_sqlite(path: str | os.PathLike[str], *, skip_bad: bool = False) -> DirectoryReading:
    """Read a SQLite file with the tables of this module. The file is opened for reading only.

    Raises DataError naming file, table, row and field at the first fault; with ``skip_bad`` faulty rows are left out, listed
    in ``refused`` and counted in ``notes["refused_rows"]``.
    """
    file = Path(path)
    rows = Collector(str(file), skip_bad=skip_bad)
    try:
        base, tables = open_sqlite(file)
        with closing(base):
            meta = checked_meta(_meta(base, file, tables), f"{file}, table dataset", default_name=file.stem or "own files")
            rows.add_users(meta["users"])
            if "entries" not in tables and meta["users"] is None:
                raise DataError(f"{file} has no table entries; it has {', '.join(sorted(tables)) or 'no tables'}")
            for table, columns, take in (
                ("entries", ENTRY_COLUMNS, rows.entry_row),
                ("queries", QUERY_COLUMNS, rows.query_row),
            ):
                if table in tables:
                    _each(sql_rows(base, file, table, columns), rows, take, f"{file}, {table}", table)
        dataset = rows.dataset(meta, file_sha256(file))
    except _FAULTS as error:
        if isinstance(error, DataError):
            raise
        raise DataError(clipped(f"cannot read {file} as SQLite: {' '.join(str(error).split())}")) from None
    except OSError as error:
        raise DataError(f"cannot read {file}: {error.strerror}") from None
    return DirectoryReading(dataset=dataset, description=meta["description"], refused=tuple(rows.refused))


def _each(
    source: Iterator[tuple[int, dict[str, Any] | DataError]],
    rows: Collector,
    take: Callable[[object, str, str], None],
    where: str,
    short: str,
) -> None:
    for number, row in source:
        if isinstance(row, DataError):
            rows.refuse(f"{where}, row {number}", row)
        else:
            take(row, f"{where}, row {number}", f"{short}, row {number}")


def open_sqlite(file: Path) -> tuple[sqlite3.Connection, set[str]]:
    """A connection for reading, and the names of the tables; nothing in the file can run code.

    Raises DataError, or sqlite3.Error for a file that is damaged.
    """
    base = _connect(file)
    try:
        return base, _tables(base, file)
    except BaseException:
        base.close()
        raise


def _connect(file: Path) -> sqlite3.Connection:
    if not file.is_file():
        raise DataError(f"there is no file {file}" if not file.exists() else f"{file} is a directory; give a SQLite file")
    base = sqlite3.connect(f"file:{quote(str(file.resolve()))}?mode=ro", uri=True)
    try:
        base.text_factory = _text
        # a file from elsewhere is data: nothing in its schema may run functions with effects
        base.execute("PRAGMA trusted_schema = OFF")
        base.execute("PRAGMA query_only = ON")
        found = base.execute("PRAGMA quick_check(1)").fetchone()
    except BaseException:
        base.close()
        raise
    if found != ("ok",):
        base.close()
        raise DataError(f"{file} is damaged: {shown(found[0] if found else found, 200)}; restore it from a copy")
    return base


def _text(raw: bytes) -> Any:
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        return DataError(f"holds text that is not UTF-8: {shown(raw)}")


def _tables(base: sqlite3.Connection, file: Path) -> set[str]:
    found = base.execute("SELECT name, sql FROM sqlite_master WHERE type = 'table'").fetchall()
    if not all(isinstance(name, str) and (sql is None or isinstance(sql, str)) for name, sql in found):
        raise DataError(f"{file}: a table has a name that is not UTF-8")
    # a virtual table would run code of an extension
    return {name for name, sql in found if not str(sql or "").lstrip().upper().startswith("CREATE VIRTUAL")}


def _meta(base: sqlite3.Connection, file: Path, tables: set[str]) -> dict[str, Any]:
    if "dataset" not in tables:
        return {}
    meta = {}
    for key, value in base.execute("SELECT key, value FROM dataset"):
        if not isinstance(key, str) or not isinstance(value, str):
            raise DataError(f"{file}, table dataset: key is {shown(key)}, value {shown(value)}: both must be text")
        meta[key] = from_json(value, f"{file}, table dataset, {shown(key)}", "as dataset.json has it")
    return meta


def sql_rows(
    base: sqlite3.Connection, file: Path, table: str, columns: Mapping[str, Kind]
) -> Iterator[tuple[int, dict[str, Any] | DataError]]:
    """``(row number from 1, fields that are not NULL)`` of a table in the order of its rows; a faulty row as its DataError."""
    header, cursor = _select(base, table)
    check_columns(header, columns, f"{file}, table {table}")
    for number, cells in enumerate(cursor, start=1):
        yield number, _row(header, cells, columns)


def raw_rows(base: sqlite3.Connection, table: str) -> Iterator[tuple[int, dict[str, Any] | DataError]]:
    """``(row number from 1, cells by column name)`` of any table; a row with text that is no UTF-8 comes as its DataError."""
    header, cursor = _select(base, table)
    for number, cells in enumerate(cursor, start=1):
        fault = next((f"{name} {cell}" for name, cell in zip(header, cells, strict=True) if isinstance(cell, DataError)), None)
        yield number, dict(zip(map(str, header), cells, strict=True)) if fault is None else DataError(fault)


def _select(base: sqlite3.Connection, table: str) -> tuple[list[Any], sqlite3.Cursor]:
    name = '"' + table.replace('"', '""') + '"'
    header = [row[1] for row in base.execute(f"PRAGMA table_info({name})")]
    columns = ", ".join('"' + str(column).replace('"', '""') + '"' for column in header)
    try:
        return header, base.execute(f"SELECT {columns} FROM {name} ORDER BY rowid")
    except sqlite3.OperationalError:
        # a table WITHOUT ROWID comes in the order of its primary key
        return header, base.execute(f"SELECT {columns} FROM {name}")


def _row(header: list[str], cells: tuple[Any, ...], columns: Mapping[str, Kind]) -> dict[str, Any] | DataError:
    row = {}
    for name, value in zip(header, cells, strict=True):
        if value is None:
            continue
        try:
            row[name] = _from_sql(value, columns[name], name)
        except DataError as error:
            return error
    return row


def _from_sql(value: Any, kind: Kind, name: str) -> Any:
    if isinstance(value, DataError):
        raise DataError(f"{name} {value}")
    if isinstance(value, bytes):
        raise DataError(f"{name} is a BLOB ({len(value)} bytes): must be {_TYPES[kind]}")
    if kind in ("text", "time", *_STRUCTURED) and not isinstance(value, str):
        raise DataError(f"{name} is {shown(value)}: must be stored as text, so that 007 stays 007")
    if kind in _STRUCTURED:
        return from_json(value, name, "as the JSONL layout has it")
    if kind == "flag":
        if value not in (0, 1):
            raise DataError(f"{name} is {shown(value)}: must be 0 or 1")
        return bool(value)
    if kind == "whole":
        return whole(value, name)
    if kind == "share" and isinstance(value, int):
        return float(value)
    return value
