"""Planted labels as a JSONL file beside a dataset, and back."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from workbench.data.rows import json_line
from workbench.data.strict_json import JsonFault, decode_utf8, parse_json, shown
from workbench.data.synthetic.draft import Planted
from workbench.errors import DataError


def write_labels(planted: Iterable[Planted], path: str | os.PathLike[str]) -> Path:
    """One label a line: kind, entries as pairs of user and entry id, note. Returns the path. Raises DataError."""
    target = Path(path)
    spare = target.with_name(f".{target.name}.part")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with spare.open("wb") as handle:
            for label in planted:
                row = {"kind": label.kind, "entries": [list(pair) for pair in label.entries], "note": label.note}
                handle.write(json_line(row))
        spare.replace(target)
    except OSError as error:
        raise DataError(f"cannot write the labels to {target}: {error.strerror}") from None
    return target


def read_labels(path: str | os.PathLike[str]) -> tuple[Planted, ...]:
    """The labels of a file that ``write_labels`` wrote. Raises DataError naming file and line."""
    found = []
    try:
        with Path(path).open("rb") as handle:
            for number, raw in enumerate(handle, start=1):
                try:
                    found.append(_label(parse_json(decode_utf8(raw))))
                except (DataError, JsonFault) as error:
                    raise DataError(f"{path}, line {number}: {error}") from None
    except OSError as error:
        raise DataError(f"cannot read the labels {path}: {error.strerror}") from None
    return tuple(found)


def _label(row: object) -> Planted:
    if not isinstance(row, dict) or set(row) != {"kind", "entries", "note"}:
        raise DataError(f"the line holds {shown(row)}: must be an object with kind, entries and note")
    kind, entries, note = row["kind"], row["entries"], row["note"]
    if not isinstance(kind, str) or not isinstance(note, str) or not isinstance(entries, list):
        raise DataError("kind and note must be text, entries a list of pairs")
    pairs = []
    for pair in entries:
        if not isinstance(pair, list) or len(pair) != 2 or not all(isinstance(part, str) for part in pair):
            raise DataError(f"entries holds {shown(pair)}: must be pairs of user id and entry id")
        pairs.append((pair[0], pair[1]))
    return Planted(kind=kind, entries=tuple(pairs), note=note)
