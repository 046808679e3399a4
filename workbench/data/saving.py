"""Writing a judged dataset as a directory of JSONL files; ``workbench.data.files`` reads it back."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from workbench.data.atomic import fresh_directory
from workbench.data.judged import JudgedDataset, JudgedQuery
from workbench.data.rows import (
    META_FILE,
    entry_to_row,
    is_dataset_file,
    json_line,
    meta_from_row,
    query_from_row,
    query_to_row,
)
from workbench.data.strict_json import parse_json, shown
from workbench.errors import DataError


def save_directory(dataset: JudgedDataset, path: str | os.PathLike[str], *, description: str = "") -> Path:
    """Write ``dataset`` as dataset.json, entries.jsonl and queries.jsonl; ``load_directory`` gives it back equal.

    (All but the checksum, which is that of the written files.) The files are written into a temporary sibling that then
    takes the place of ``path``, so a reader never sees half a dataset. An existing directory is replaced only if it is
    empty or holds nothing but files of the layout. Returns the directory. Raises DataError.
    """
    with fresh_directory(path, belongs=is_dataset_file) as (spare, target):
        for name, lines in [(META_FILE, iter([meta_document(dataset, description)])), *_tables(dataset)]:
            with (spare / name).open("wb") as handle:
                handle.writelines(lines)
                handle.flush()
                os.fsync(handle.fileno())
    return target


def saved_checksum(dataset: JudgedDataset, *, description: str = "") -> str:
    """The checksum that ``load_directory`` finds after ``save_directory``, without writing anything. Raises DataError."""
    listing = hashlib.sha256()
    for name, lines in [(META_FILE, iter([meta_document(dataset, description)])), *_tables(dataset)]:
        digest = hashlib.sha256()
        for line in lines:
            digest.update(line)
        listing.update(digest.hexdigest().encode() + b"  " + os.fsencode(name) + b"\n")
    return listing.hexdigest()


def meta_document(dataset: JudgedDataset, description: str) -> bytes:
    """The content of ``dataset.json``: what the dataset is, without its entries and queries. Raises DataError."""
    meta: dict[str, Any] = {
        "name": dataset.name,
        "version": dataset.version,
        "licence": dataset.licence,
        "source": dataset.source,
        "description": description,
        "group_name": dataset.group_name,
        "config": _plain(dataset.config),
        "config_note": dataset.config_note,
        "notes": dict(dataset.notes),
    }
    if dataset.rollups:
        meta["rollups"] = _plain(dataset.rollups)
    if not dataset.stores or any(not len(store) for store in dataset.stores.values()):
        # a user without entries has no line to be found by
        meta["users"] = list(dataset.stores)
    try:
        meta_from_row(meta, default_name="")
        json_line(meta)
        text = json.dumps(meta, ensure_ascii=False, allow_nan=False, indent=2) + "\n"
        if parse_json(text) != meta:
            raise DataError("config or notes have keys that are not text")
    except ValueError as error:
        raise DataError(f"the dataset {shown(dataset.name)} cannot be saved: {error}") from None
    return text.encode("utf-8")


def _tables(dataset: JudgedDataset) -> Iterator[tuple[str, Iterator[bytes]]]:
    if any(len(store) for store in dataset.stores.values()):
        yield "entries.jsonl", map(json_line, entry_rows(dataset))
    if dataset.queries:
        yield "queries.jsonl", map(json_line, map(query_row, dataset.queries))


def entry_rows(dataset: JudgedDataset) -> Iterator[dict[str, Any]]:
    """Every entry of every user as a row of the documented fields, in the order of the stores. Raises DataError."""
    for user_id, store in dataset.stores.items():
        if user_id != store.user_id:
            raise DataError(f"the store under {shown(user_id)} is of user {shown(store.user_id)}; they must agree")
        for entry in store:
            yield entry_to_row(user_id, entry)


def query_row(query: JudgedQuery) -> dict[str, Any]:
    """A judged query as a row that reads back equal. Raises DataError when it would not."""
    row = query_to_row(query)
    try:
        same = query_from_row(row) == query
    except DataError as error:
        raise DataError(f"query {shown(query.id)} cannot be saved: {error}") from None
    if not same:
        raise DataError(f"query {shown(query.id)} cannot be saved: it does not read back equal")
    return row


def _plain(value: Any) -> Any:
    """Mappings as dicts and tuples as lists, all the way down."""
    if isinstance(value, Mapping):
        return {key: _plain(part) for key, part in value.items()}
    if isinstance(value, (tuple, list)):
        return [_plain(part) for part in value]
    return value
