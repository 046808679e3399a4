"""Tables of one's own: CSV, Parquet, SQLite or JSON Lines with any column names, mapped onto the documented fields."""

from __future__ import annotations

import math
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from workbench.data.columns import ENTRY_COLUMNS, from_text, whole
from workbench.data.csv_rows import CsvFile, cells_of
from workbench.data.importers.intake import Intake, Record
from workbench.data.json_array import json_rows
from workbench.data.parquet_rows import ParquetFile
from workbench.data.sqlite_store import SUFFIXES as SQLITE_SUFFIXES
from workbench.data.sqlite_store import open_sqlite, raw_rows
from workbench.data.strict_json import JsonFault, parse_json, shown
from workbench.data.tabular import CSV_SUFFIXES, PARQUET_SUFFIXES
from workbench.errors import DataError


@dataclass(frozen=True, kw_only=True)
class TableMapping:
    """How the columns of a table become fields.

    columns: field -> column; a field that is not named is read from the column of its own name. constants: field -> value of
    every row. scales: field -> what its numbers are divided by (``importance`` given from 0 to 10: 10). separator: between the
    texts of a list in one cell, where the cell is no JSON list. table: the table of a SQLite file (needed when it has several).
    """

    columns: Mapping[str, str] = field(default_factory=dict)
    constants: Mapping[str, Any] = field(default_factory=dict)
    scales: Mapping[str, float] = field(default_factory=dict)
    separator: str = ";"
    table: str = ""

    def __post_init__(self) -> None:
        for what, names in (("columns", self.columns), ("constants", self.constants), ("scales", self.scales)):
            for name in names:
                if name not in ENTRY_COLUMNS:
                    raise DataError(f"{what} name the field {shown(name)}; fields are {', '.join(ENTRY_COLUMNS)}")
        for name, scale in self.scales.items():
            if ENTRY_COLUMNS[name] != "share" or not math.isfinite(scale) or scale <= 0:
                raise DataError(f"the scale of {name} is {scale!r}: give a positive number, for importance or confidence")
        if not self.separator:
            raise DataError("the separator is empty; give what stands between the texts of a list")


def read_table(path: Path, intake: Intake, mapping: TableMapping | None = None) -> None:
    """Take every row of a table as one entry. Raises DataError.

    What a row does not say gets a documented default that the report lists: layer ``memory``, user and time as for every
    import, an id from the text.
    """
    plan = mapping or TableMapping()
    for row, where, loose in _rows(path, plan):
        intake.records += 1
        try:
            if isinstance(row, DataError):
                raise row
            if not isinstance(row, Mapping):
                raise DataError(f"the row is {shown(row)}: must be an object")
            _take(row, where, intake, plan, loose)
        except DataError as error:
            intake.refuse(where, str(error).removeprefix(f"{where}: "))


def _take(row: Mapping[str, Any], where: str, intake: Intake, plan: TableMapping, loose: bool) -> None:
    record = Record(row, where, intake, loose=loose)
    values = {name: _constant(name, value, plan.separator) for name, value in plan.constants.items()}
    for name, kind in ENTRY_COLUMNS.items():
        column = plan.columns.get(name, name)
        if name in plan.constants or column not in row:
            continue
        if name in ("id", "user_id"):
            value: Any = record.ident(column, to=name)
        elif kind == "text":
            value = record.text(column, to=name)
        elif kind == "time":
            value = record.time(column, to=name)
        elif kind == "texts":
            value = _texts(record, column, name, plan.separator)
        elif kind == "flag":
            value = _flag(record, column, name)
        else:
            value = record.number(column, to=name)
            if kind == "whole":
                value = whole(value, column)
            elif value is not None:
                value = float(value) / plan.scales.get(name, 1.0)
                if not 0 <= value <= 1:
                    raise DataError(
                        f"{column} is {shown(row[column])}: {name} must be from 0 to 1; if its scale is another, say so: "
                        f"--scale {name}=10"
                    )
        values[name] = value
    if not values.get("layer"):
        values["layer"] = "memory"
        intake.guessed.add("no layer: taken as memory", where)
    record.finish()
    if values["layer"] in ("memory", "soul") and not (values.get("text") or "").strip():
        intake.left_out.add("without text", where)
        return
    intake.add(values, where)


def _constant(name: str, value: Any, separator: str) -> Any:
    """A value that every row shall have; as text it is read as a cell of CSV is."""
    kind = ENTRY_COLUMNS[name]
    if not isinstance(value, str):
        return value
    if kind == "texts" and not value.lstrip().startswith("["):
        return [part.strip() for part in value.split(separator) if part.strip()]
    return from_text(value, kind, name)


def _texts(record: Record, column: str, name: str, separator: str) -> list[str]:
    if not (record.loose and isinstance(record.row.get(column), str)):
        return record.texts(column, to=name)
    cell = record.text(column, to=name) or ""
    if cell.lstrip().startswith("["):
        try:
            found = parse_json(cell)
        except JsonFault as error:
            raise DataError(f"{column} is {shown(cell)}: begins like a JSON list and is none ({error})") from None
        if not isinstance(found, list) or not all(isinstance(item, str) for item in found):
            raise DataError(f"{column} is {shown(cell)}: must be a list of texts")
        return found
    record.intake.guessed.add(f"{column} split at {separator!r} into {name}", record.where)
    return [part.strip() for part in cell.split(separator) if part.strip()]


def _flag(record: Record, column: str, name: str) -> bool | None:
    _, value = record.pick([column], name)
    if isinstance(value, str):
        value = {"true": True, "1": True, "false": False, "0": False}.get(value.strip().casefold(), value)
    if value in (0, 1) and not isinstance(value, float):
        return bool(value)
    if value is None:
        return None
    raise DataError(f"{column} is {shown(value)}: must be true or false")


def _rows(path: Path, plan: TableMapping) -> Iterator[tuple[object, str, bool]]:
    """``(row, where, cells are text)``; a faulty row comes as its DataError."""
    suffix = path.suffix.lower()
    if suffix in CSV_SUFFIXES:
        known = {**ENTRY_COLUMNS, **dict.fromkeys(plan.columns.values(), "text")}
        text = CsvFile(path, known)
        if len(set(text.header)) < len(text.header):
            raise DataError(f"{path}, line 1: two columns have one name; rename one")
        for line, cells in text.rows():
            yield (cells if isinstance(cells, DataError) else cells_of(text.header, cells)), f"{path}, line {line}", True
    elif suffix in PARQUET_SUFFIXES:
        table = ParquetFile(path)
        try:
            for number, row in table.rows({}):
                yield row, f"{path}, row {number}", False
        finally:
            table.close()
    elif suffix in SQLITE_SUFFIXES:
        yield from _sqlite(path, plan.table)
    elif suffix in (".json", ".jsonl", ".ndjson"):
        for value, where in json_rows(path, what="a JSON array of entries"):
            yield value, where, False
    else:
        raise DataError(f"{path}: a table ends in .csv, .tsv, .parquet, .sqlite, .db, .json or .jsonl")


def _sqlite(path: Path, table: str) -> Iterator[tuple[object, str, bool]]:
    try:
        base, tables = open_sqlite(path)
        with closing(base):
            names = sorted(tables)
            if not table and len(names) != 1:
                raise DataError(f"{path} has the tables {', '.join(names) or '(none)'}; say which one: --table NAME")
            if table and table not in tables:
                raise DataError(f"{path} has no table {shown(table)}; it has {', '.join(names) or 'none'}")
            for number, row in raw_rows(base, table or names[0]):
                yield row, f"{path}, {table or names[0]}, row {number}", True
    except (sqlite3.Error, UnicodeError, OverflowError, MemoryError) as error:
        raise DataError(f"cannot read {path} as SQLite: {' '.join(str(error).split())}") from None
