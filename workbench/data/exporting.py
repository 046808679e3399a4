"""Any dataset or store to files: JSONL, Parquet or SQLite, each read back equal."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Literal

from workbench.data.atomic import fresh_directory
from workbench.data.columns import ENTRY_COLUMNS, QUERY_COLUMNS
from workbench.data.files import DirectoryReading, read_directory
from workbench.data.judged import JudgedDataset
from workbench.data.parquet_rows import write_parquet
from workbench.data.rows import META_FILE, is_dataset_file
from workbench.data.saving import entry_rows, meta_document, query_row, save_directory
from workbench.data.sqlite_store import SUFFIXES as SQLITE_SUFFIXES
from workbench.data.sqlite_store import read_sqlite, write_sqlite
from workbench.data.strict_json import shown
from workbench.data.tabular import SUFFIXES as TABLE_SUFFIXES
from workbench.data.tabular import is_table_file, read_tables
from workbench.errors import DataError
from workbench.store.user import UserStore

Format = Literal["jsonl", "parquet", "sqlite"]
FORMATS = ("jsonl", "parquet", "sqlite")


def export(
    source: JudgedDataset | UserStore | Iterable[UserStore],
    path: str | os.PathLike[str],
    *,
    format: Format = "jsonl",
    description: str = "",
) -> Path:
    """Write a judged dataset, a store or several stores; ``read_store`` gives the dataset back equal (all but its checksum).

    jsonl, parquet: ``path`` is a directory (``dataset.json`` and one file each of entries and queries). sqlite: ``path`` is one
    file. Nothing half-written is ever seen, and nothing but an earlier export is replaced. Returns the path. Raises DataError.
    """
    if format not in FORMATS:
        raise DataError(f"the format is {shown(format)}: must be one of {', '.join(FORMATS)}")
    dataset = source if isinstance(source, JudgedDataset) else as_dataset(source)
    if format == "jsonl":
        return save_directory(dataset, path, description=description)
    if format == "sqlite":
        return write_sqlite(dataset, path, description=description)
    with fresh_directory(path, belongs=is_table_file) as (spare, target):
        (spare / META_FILE).write_bytes(meta_document(dataset, description))
        if any(len(store) for store in dataset.stores.values()):
            write_parquet(entry_rows(dataset), ENTRY_COLUMNS, spare / "entries.parquet")
        if dataset.queries:
            write_parquet(map(query_row, dataset.queries), QUERY_COLUMNS, spare / "queries.parquet")
        for name in os.listdir(spare):
            with (spare / name).open("rb") as handle:
                os.fsync(handle.fileno())
    return target


def as_dataset(stores: UserStore | Iterable[UserStore], *, name: str = "own store", **meta: Any) -> JudgedDataset:
    """Stores without judgements as a dataset. Raises DataError when two stores are of one user."""
    items = [stores] if isinstance(stores, UserStore) else list(stores)
    by_user: dict[str, UserStore] = {}
    for store in items:
        if not isinstance(store, UserStore):
            raise DataError(f"a {type(store).__name__} cannot be exported; give a dataset or UserStore objects")
        if store.user_id in by_user:
            raise DataError(f"two stores are of the user {shown(store.user_id)}; join them first")
        by_user[store.user_id] = store
    known: Mapping[str, Any] = {"licence": "not stated", "source": "own files", "checksum": "", **meta}
    return JudgedDataset(name=name, stores=by_user, queries=(), **known)


def read_store(path: str | os.PathLike[str], *, skip_bad: bool = False) -> DirectoryReading:
    """Read one's own store, whatever it is kept in.

    A directory of the JSONL layout, or of CSV or Parquet tables; one CSV or Parquet file of entries; one SQLite file. See
    ``read_directory``, ``read_tables`` and ``read_sqlite``. Raises DataError.
    """
    root = Path(path)
    try:
        if root.is_dir():
            names = os.listdir(root)
            jsonl = sorted(name for name in names if is_dataset_file(name) and name != META_FILE)
            tables = sorted(name for name in names if is_table_file(name) and name != META_FILE)
            if jsonl and tables:
                raise DataError(f"{root} holds both {jsonl[0]} and {tables[0]}; keep one kind, or move the other away")
            return read_tables(root, skip_bad=skip_bad) if tables else read_directory(root, skip_bad=skip_bad)
        is_file = root.is_file()
    except (OSError, ValueError) as error:
        if isinstance(error, DataError):
            raise
        raise DataError(f"cannot read {shown(str(path))}: {getattr(error, 'strerror', None) or error}") from None
    name = root.name.lower()
    if is_file and name.endswith(SQLITE_SUFFIXES):
        return read_sqlite(root, skip_bad=skip_bad)
    if is_file and name.endswith(TABLE_SUFFIXES):
        return read_tables(root, skip_bad=skip_bad)
    if is_file:
        raise DataError(
            f"{root} is a file; give a directory of the JSONL layout, or a file that ends in "
            f"{', '.join(TABLE_SUFFIXES + SQLITE_SUFFIXES)}"
        )
    raise DataError(f"there is no file or directory {shown(str(path))}")
