"""Labels that people gave, in a file that only grows: one JSON object a line, the last one about a thing counts.

    {"query_id": "q1", "entry_id": "m7", "label": "answers", "by": "ana"}
    {"query_id": "q1", "entry_id": "m7", "label": null, "by": "ana"}        taken back
    {"query_id": "q2", "answerable": false, "by": "ana"}                    the store holds no answer

A line is written whole and on disk before the next question is shown; a line that a crash cut off is dropped.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

from workbench.data.rows import json_line
from workbench.data.strict_json import JsonFault, clipped, decode_utf8, parse_json, shown
from workbench.errors import DataError

LABELS: Mapping[str, int] = {"forbidden": -1, "no": 0, "helps": 1, "answers": 2}
"""What a person can say of an entry: it must not appear (stale), does not help, helps, answers. The number is the grade."""

_FIELDS = frozenset(("query_id", "entry_id", "label", "answerable", "by"))


@dataclass(frozen=True, kw_only=True)
class Label:
    """One line. entry_id "": about the query (``answerable``). label None: what was said before is taken back."""

    query_id: str
    by: str
    entry_id: str = ""
    label: str | None = None
    answerable: bool | None = None

    def to_row(self) -> dict[str, Any]:
        """The line as a JSON object."""
        said = {"entry_id": self.entry_id, "label": self.label} if self.entry_id else {"answerable": self.answerable}
        return {"query_id": self.query_id, **said, "by": self.by}


def label_from_row(row: object) -> Label:
    """The label of one line. Raises DataError naming the field."""
    if not isinstance(row, dict):
        raise DataError(f"the line holds {shown(row)}: must be an object with query_id, entry_id, label and by")
    extra = sorted(set(row) - _FIELDS)
    if extra:
        raise DataError(f"unknown field {', '.join(map(shown, extra))} of a label; allowed: {', '.join(sorted(_FIELDS))}")
    for field in ("query_id", "by"):
        if not isinstance(row.get(field), str) or not row[field]:
            raise DataError(f"{field} is {shown(row.get(field))}: must be non-empty text")
    if "entry_id" in row:
        if not isinstance(row["entry_id"], str) or not row["entry_id"]:
            raise DataError(f"entry_id is {shown(row['entry_id'])}: must be non-empty text")
        if "answerable" in row or not (row.get("label") is None or row.get("label") in list(LABELS)):
            raise DataError(f"label is {shown(row.get('label'))}: must be one of {', '.join(LABELS)}, or null")
        return Label(query_id=row["query_id"], by=row["by"], entry_id=row["entry_id"], label=row.get("label"))
    if "label" in row or not (row.get("answerable") is None or isinstance(row.get("answerable"), bool)):
        raise DataError(f"answerable is {shown(row.get('answerable'))}: must be true, false or null")
    return Label(query_id=row["query_id"], by=row["by"], answerable=row.get("answerable"))


class Judgements:
    """What stands after all lines: the last label per person and entry, and per person and query.

    entries: person -> (query id, entry id) -> label. queries: person -> query id -> answerable.
    """

    def __init__(self, labels: Iterable[Label] = ()) -> None:
        self.entries: dict[str, dict[tuple[str, str], str]] = {}
        self.queries: dict[str, dict[str, bool]] = {}
        for label in labels:
            self.take(label)

    def take(self, label: Label) -> None:
        """Let one more line count."""
        entries = self.entries.setdefault(label.by, {})
        queries = self.queries.setdefault(label.by, {})
        if label.entry_id and label.label is not None:
            entries[label.query_id, label.entry_id] = label.label
        elif label.entry_id:
            entries.pop((label.query_id, label.entry_id), None)
        elif label.answerable is not None:
            queries[label.query_id] = label.answerable
        else:
            queries.pop(label.query_id, None)

    @property
    def people(self) -> tuple[str, ...]:
        """Who labelled, in the order of their first line."""
        return tuple(self.entries)


def read_labels(*paths: str | os.PathLike[str]) -> Judgements:
    """What stands in files of labels; a last line that was cut off does not count. Raises DataError with file and line."""
    return Judgements(label for path in paths for label in _parsed(Path(path))[0])


def _parsed(path: Path) -> tuple[list[Label], int]:
    """The labels, and how many bytes of the file are whole lines."""
    try:
        raw = path.read_bytes()
    except FileNotFoundError:
        raise DataError(f"there is no file {path}; label some entries first: workbench data judge") from None
    except (OSError, ValueError) as error:
        raise DataError(f"cannot read {shown(str(path))}: {getattr(error, 'strerror', None) or error}") from None
    whole = raw.rfind(b"\n") + 1
    labels = []
    for number, line in enumerate(raw[:whole].split(b"\n"), start=1):
        if line.strip():
            try:
                labels.append(label_from_row(parse_json(decode_utf8(line))))
            except (DataError, JsonFault) as error:
                raise DataError(clipped(f"{path}, line {number}: {error}")) from None
    return labels, whole


class LabelLog:
    """A file of labels, open for appending by one process at a time. Use as a context manager. Raises DataError."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._file = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o644)
        except (OSError, ValueError) as error:
            raise DataError(f"cannot write labels to {path}: {getattr(error, 'strerror', None) or error}") from None
        try:
            self._hold()
            labels, whole = _parsed(self.path)
            os.ftruncate(self._file, whole)
        except BaseException:
            os.close(self._file)
            raise
        self.judgements = Judgements(labels)

    def _hold(self) -> None:
        try:
            import fcntl
        except ImportError:
            return
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise DataError(f"{self.path} is open in another session; close it, or label into a file of your own") from None

    def append(self, label: Label) -> None:
        """Write one label; it is on disk when this returns."""
        checked = label_from_row(label.to_row())
        try:
            os.write(self._file, json_line(checked.to_row()))
            os.fsync(self._file)
        except OSError as error:
            raise DataError(f"cannot write labels to {self.path}: {error.strerror}") from None
        self.judgements.take(checked)

    def close(self) -> None:
        """Give the file back."""
        if self._file >= 0:
            os.close(self._file)
            self._file = -1

    def __enter__(self) -> LabelLog:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()
