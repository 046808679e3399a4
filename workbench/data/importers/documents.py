"""Export files read whole: JSON with the line on which every object begins, or text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from workbench.data.strict_json import JsonFault, clipped, decode_utf8, parse_document, parse_json, shown
from workbench.errors import DataError

_MARK = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"|\{|\n', re.DOTALL)


class Document:
    """The value of a JSON file, and where its objects begin. Raises DataError when it cannot be read."""

    def __init__(self, path: Path, raw: bytes) -> None:
        self.path = path
        self.value: Any = None
        self._one_line = b"\n" not in raw.strip()
        lines: list[int] = []
        if path.suffix.lower() in (".jsonl", ".ndjson"):
            self.value = []
            for number, line in enumerate(raw.removeprefix(b"\xef\xbb\xbf").split(b"\n"), start=1):
                if line.strip(b" \t\r"):
                    try:
                        self.value.append(parse_json(decode_utf8(line)))
                    except JsonFault as error:
                        raise DataError(clipped(f"{path}, line {number}: {error}")) from None
                    lines += [number] * len(list(_objects(self.value[-1])))
        else:
            self.value = parse_document(raw, str(path))
            at = 1
            for mark in _MARK.finditer(raw):
                if mark.group() == b"{":
                    lines.append(at)
                else:
                    at += mark.group() == b"\n"
        # objects begin in the order in which a walk through the value meets them
        self._line = {id(found): line for found, line in zip(_objects(self.value), lines, strict=False)}

    def where(self, row: object, position: str) -> str:
        """``file, line n`` of an object, with its position if the file is one line; what is no object has its position only."""
        line = self._line.get(id(row))
        if line is None:
            return f"{self.path}, {position}"
        # a line says little where everything stands on one
        return f"{self.path}, line {line}{f', {position}' if self._one_line and row is not self.value else ''}"


def _objects(value: Any) -> Iterator[dict[str, Any]]:
    """Every object inside ``value`` in the order of the document, without recursion."""
    waiting = [value]
    while waiting:
        found = waiting.pop()
        if isinstance(found, dict):
            yield found
            waiting.extend(reversed(found.values()))
        elif isinstance(found, list):
            waiting.extend(reversed(found))


def read_bytes(path: Path) -> bytes:
    """The content of an export file. Raises DataError."""
    try:
        if path.is_dir():
            raise DataError(f"{path} is a directory; give the export file itself")
        if path.suffix.lower() == ".zip":
            raise DataError(f"{path} is an archive; unpack it and give the file that holds the memories")
        return path.read_bytes()
    except FileNotFoundError:
        raise DataError(f"there is no file {path}") from None
    except (OSError, ValueError) as error:
        if isinstance(error, DataError):
            raise
        raise DataError(f"cannot read {shown(str(path))}: {getattr(error, 'strerror', None) or error}") from None


def read_json(path: Path) -> Document:
    """A JSON or JSON Lines file. Raises DataError."""
    return Document(path, read_bytes(path))


def read_json_or_text(path: Path) -> Document | str:
    """A JSON document, or text when the file is none. A ``.json`` file must be JSON. Raises DataError."""
    raw = read_bytes(path)
    if path.suffix.lower() in (".json", ".jsonl", ".ndjson"):
        return Document(path, raw)
    if raw.removeprefix(b"\xef\xbb\xbf").lstrip()[:1] in (b"{", b"["):
        try:
            return Document(path, raw)
        except DataError:
            pass  # a list of memories may begin with "[2026-01-31] - ..."
    if raw.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise DataError(f"{path} is UTF-16 text; save it as UTF-8")
    try:
        text = raw.removeprefix(b"\xef\xbb\xbf").decode("utf-8")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise DataError(f"{path}, line {line}: not UTF-8 (byte 0x{raw[error.start]:02x}); save the file as UTF-8") from None
    if not text.strip():
        raise DataError(f"{path} is empty")
    return text


def rows_under(document: Document, *keys: str, what: str) -> list[Any]:
    """The list of records of a document: the document itself, or what stands under the first of ``keys``. Raises DataError."""
    value = document.value
    if isinstance(value, list):
        return value
    if isinstance(value, dict):
        for key in keys:
            if isinstance(value.get(key), list):
                found: list[Any] = value[key]
                return found
        held = ", ".join(map(shown, list(value)[:8]))
        raise DataError(f"{document.path} has none of {', '.join(keys)}; it has {held or 'nothing'}. Is this {what}?")
    raise DataError(f"{document.path} holds {shown(value)}: must be {what}")
