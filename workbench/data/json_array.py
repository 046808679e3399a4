"""A large JSON array element by element: a file of gigabytes is read in the memory of its largest element.

The file is mapped, the borders of its elements are found by counting brackets outside strings, and each element is then
read by the strict parser. Nothing lies between elements but one comma and blanks, so what is no JSON array cannot pass.
"""

from __future__ import annotations

import mmap
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from workbench.data.strict_json import JsonFault, clipped, decode_utf8, parse_json, shown
from workbench.errors import DataError

# possessive, so that a missing quote costs one pass over the rest of the file and not its square
_TOKEN = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"|[\[\]{},]', re.DOTALL)
_BLANK = b" \t\r\n"
_BOM = b"\xef\xbb\xbf"


@dataclass(frozen=True, kw_only=True)
class Span:
    """Where an element lies: its number from 1, and its bytes from ``start`` up to ``end`` (blanks included)."""

    number: int
    start: int
    end: int


class JsonArray:
    """The elements of the JSON array in one file. Use as a context manager; ``spans`` says where each lies.

    Raises DataError when the file cannot be read or is no array; ``read`` raises it for an element that is not strict JSON.
    """

    def __init__(self, path: Path, *, what: str) -> None:
        self.path = path
        try:
            self._handle = path.open("rb")
        except FileNotFoundError:
            raise DataError(f"there is no file {path}; give the path of {what}") from None
        except IsADirectoryError:
            raise DataError(f"{path} is a directory; give the path of {what}") from None
        except (OSError, ValueError) as error:
            raise DataError(f"cannot read {shown(str(path))}: {getattr(error, 'strerror', None) or error}") from None
        self._bytes: mmap.mmap | bytes
        try:
            self._bytes = mmap.mmap(self._handle.fileno(), 0, access=mmap.ACCESS_READ)
        except (OSError, ValueError):
            # an empty file, and a pipe, cannot be mapped
            self._bytes = self._handle.read()
        try:
            self.spans: Sequence[Span] = self._find(what)
        except DataError:
            self.close()
            raise

    def __enter__(self) -> JsonArray:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __len__(self) -> int:
        return len(self.spans)

    def close(self) -> None:
        """Give the file back."""
        if isinstance(self._bytes, mmap.mmap):
            self._bytes.close()
        self._handle.close()

    def where(self, span: Span) -> str:
        """``file, element n``, for messages."""
        return f"{self.path}, element {span.number}"

    def read(self, span: Span) -> Any:
        """The value of one element. Raises DataError naming file, element and the line on which it begins."""
        try:
            return parse_json(decode_utf8(self._bytes[span.start : span.end].strip(_BLANK)))
        except JsonFault as error:
            raise DataError(clipped(f"{self.where(span)} (from line {self._line(span.start)}): {error}")) from None

    def __iter__(self) -> Iterator[tuple[Span, Any]]:
        for span in self.spans:
            yield span, self.read(span)

    def _line(self, position: int) -> int:
        line, at = 1, 0
        while at < position:
            piece = self._bytes[at : min(position, at + (1 << 20))]
            line += piece.count(b"\n")
            at += len(piece)
        head = self._bytes[position : position + (1 << 16)]
        return line + head[: len(head) - len(head.lstrip(_BLANK))].count(b"\n")

    def _find(self, what: str) -> list[Span]:
        data = self._bytes
        start = len(_BOM) if data[: len(_BOM)] == _BOM else 0
        if data[start : start + 2] in (b"\xff\xfe", b"\xfe\xff"):
            raise DataError(f"{self.path} is UTF-16 text; save it as UTF-8")
        while start < len(data) and data[start : start + 1] in (b" ", b"\t", b"\r", b"\n"):
            start += 1
        if start == len(data):
            raise DataError(f"{self.path} is empty; it must be {what}")
        if data[start : start + 1] != b"[":
            head = bytes(data[start : start + 60]).decode("utf-8", "replace")
            raise DataError(f"{self.path} begins with {shown(head)}: must be a JSON array; is this {what}?")
        spans: list[Span] = []
        depth, begin, closed = 1, start + 1, -1
        for token in _TOKEN.finditer(data, start + 1):
            mark = token.group()
            if mark in (b"{", b"["):
                depth += 1
            elif mark in (b"}", b"]"):
                depth -= 1
            elif mark != b"," or depth > 1:
                continue
            if depth == 0 or (depth == 1 and mark == b","):
                spans.append(Span(number=len(spans) + 1, start=begin, end=token.start()))
                begin = token.end()
                if depth == 0:
                    closed = token.end()
                    break
        if closed < 0 or data[closed - 1 : closed] != b"]":
            raise DataError(
                f"{self.path} ends or breaks inside element {len(spans) + 1}: the array is never closed; get the file again"
            )
        if data[closed:].strip(_BLANK):
            raise DataError(f"{self.path} goes on after the array's end (byte {closed + 1}); it must hold one JSON array")
        if len(spans) == 1 and not data[spans[0].start : spans[0].end].strip(_BLANK):
            return []
        return spans


def json_rows(path: Path, *, what: str) -> Iterator[tuple[object, str]]:
    """``(value, where)`` of every element of a JSON array, or of every line of a ``.jsonl``/``.ndjson`` file.

    An element or line that is not strict JSON comes as the DataError that says so, in place of a value: the caller raises
    it or counts it. Raises DataError when the file as a whole cannot be read.
    """
    if path.suffix.lower() not in (".jsonl", ".ndjson"):
        with JsonArray(path, what=what) as array:
            for span in array.spans:
                try:
                    yield array.read(span), array.where(span)
                except DataError as error:
                    yield error, array.where(span)
        return
    for number, raw in numbered_lines(path):
        if not raw.strip(_BLANK):
            continue
        where = f"{path}, line {number}"
        try:
            yield parse_json(decode_utf8(raw)), where
        except JsonFault as error:
            yield DataError(clipped(f"{where}: {error}")), where


def numbered_lines(path: Path) -> Iterator[tuple[int, bytes]]:
    """The lines of a file with their numbers from 1, without a byte order mark. Raises DataError."""
    try:
        with path.open("rb") as handle:
            for number, raw in enumerate(handle, start=1):
                if number == 1 and raw.startswith((b"\xff\xfe", b"\xfe\xff")):
                    raise DataError(f"{path} is UTF-16 text; save it as UTF-8")
                yield number, raw.removeprefix(_BOM) if number == 1 else raw
    except (OSError, ValueError) as error:
        if isinstance(error, DataError):
            raise
        raise DataError(f"cannot read {path}: {getattr(error, 'strerror', None) or error}") from None
