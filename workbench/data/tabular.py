"""Own stores in tables: a directory of CSV or Parquet files, or one file of entries, read as the JSONL layout is.

mystore/
  dataset.json                       optional, as in the JSONL layout
  entries*.parquet or entries*.csv   one entry a row, the documented fields as columns
  queries*.parquet or queries*.csv   optional: one judged query a row
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from workbench.data.collecting import Collector, checked_meta
from workbench.data.columns import ENTRY_COLUMNS, QUERY_COLUMNS, Kind, check_columns, from_text
from workbench.data.csv_rows import CsvFile, cells_of
from workbench.data.fetch import file_sha256
from workbench.data.files import DirectoryReading, listing_checksum
from workbench.data.parquet_rows import ParquetFile
from workbench.data.rows import META_FILE
from workbench.data.strict_json import parse_document
from workbench.errors import DataError

CSV_SUFFIXES = (".csv", ".tsv")
PARQUET_SUFFIXES = (".parquet", ".pq")
SUFFIXES = CSV_SUFFIXES + PARQUET_SUFFIXES


def is_table_file(name: str) -> bool:
    """Whether a file of this name belongs to a directory of tables."""
    return name == META_FILE or (name.startswith(("entries", "queries")) and name.lower().endswith(SUFFIXES))


def read_tables(path: str | os.PathLike[str], *, skip_bad: bool = False) -> DirectoryReading:
    """Read a directory of CSV or Parquet tables, or one such file of entries.

    Raises DataError naming file, row (for CSV the line) and field at the first fault. With ``skip_bad`` faulty rows are left
    out, listed in ``refused`` and counted in ``notes["refused_rows"]``; faults of a whole file always raise.
    """
    root = Path(path)
    names = _names(root)
    rows = Collector(str(root), skip_bad=skip_bad)
    sums: list[tuple[str, str]] = []
    raw: Any = {}
    base = root if root.is_dir() else root.parent
    if META_FILE in names:
        document = _bytes(base / META_FILE)
        sums.append((META_FILE, hashlib.sha256(document).hexdigest()))
        raw = parse_document(document, str(base / META_FILE))
    default = root.resolve().name if root.is_dir() else root.stem
    meta = checked_meta(raw, str(base / META_FILE), default_name=default or "own files")
    rows.add_users(meta["users"])
    single = not root.is_dir()
    if meta["users"] is None and not single and not any(name.startswith("entries") for name in names):
        raise DataError(f"{root} holds no entries table (entries.csv or entries.parquet)")
    for kind, columns, take in (
        ("entries", ENTRY_COLUMNS, rows.entry_row),
        ("queries", QUERY_COLUMNS, rows.query_row),
    ):
        for name in names:
            if name == META_FILE or not (single or name.startswith(kind)) or (single and kind == "queries"):
                continue
            _each(base / name, columns, rows, take)
            sums.append((name, _checksum(base / name)))
    dataset = rows.dataset(meta, listing_checksum(sums))
    return DirectoryReading(dataset=dataset, description=meta["description"], refused=tuple(rows.refused))


def _each(file: Path, columns: Mapping[str, Kind], rows: Collector, take: Callable[[object, str, str], None]) -> None:
    count = 0
    for place, row in table_rows(file, columns):
        count += 1
        where = f"{file}, {place}"
        if isinstance(row, DataError):
            rows.refuse(where, row)
        else:
            take(row, where, f"{file.name}, {place}")
    if not count:
        raise DataError(f"{file} has no rows; write one {'entry' if columns is ENTRY_COLUMNS else 'query'} a row or remove it")


def table_rows(file: Path, columns: Mapping[str, Kind]) -> Iterator[tuple[str, dict[str, Any] | DataError]]:
    """``(place, fields)`` of every row of a CSV or Parquet file whose columns are among ``columns``.

    A faulty row comes as the DataError that names the field. Raises DataError for a fault of the whole file.
    """
    if file.suffix.lower() in PARQUET_SUFFIXES:
        table = ParquetFile(file)
        try:
            check_columns(table.header, columns, str(file))
            for number, row in table.rows(columns):
                yield f"row {number}", row
        finally:
            table.close()
        return
    text = CsvFile(file, columns)
    check_columns(text.header, columns, f"{file}, line 1")
    for line, cells in text.rows():
        yield f"line {line}", cells if isinstance(cells, DataError) else _csv_row(text.header, cells, columns)


def _csv_row(header: list[str], cells: list[str], columns: Mapping[str, Kind]) -> dict[str, Any] | DataError:
    try:
        return {name: from_text(cell, columns[name], name) for name, cell in cells_of(header, cells).items()}
    except DataError as error:
        return error


def _names(root: Path) -> list[str]:
    try:
        if root.is_file():
            if not root.name.lower().endswith(SUFFIXES):
                raise DataError(f"{root} is no table; give a file that ends in {', '.join(SUFFIXES)}")
            return [root.name]
        names = sorted(filter(is_table_file, os.listdir(root)), key=lambda name: (name != META_FILE, os.fsencode(name)))
    except FileNotFoundError:
        raise DataError(f"there is no file or directory {root}") from None
    except (OSError, ValueError) as error:
        if isinstance(error, DataError):
            raise
        raise DataError(f"cannot read the directory {root}: {getattr(error, 'strerror', None) or error}") from None
    return names


def _bytes(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError as error:
        raise DataError(f"cannot read {file}: {error.strerror}") from None


def _checksum(file: Path) -> str:
    try:
        return file_sha256(file)
    except OSError as error:
        raise DataError(f"cannot read {file}: {error.strerror}") from None
