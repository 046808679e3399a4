"""The rows of a CSV file with the line each begins on: UTF-8, a header, cells as text."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from workbench.errors import DataError

DELIMITERS = (",", ";", "\t", "|")
_CELL_LIMIT = 1 << 30


class CsvFile:
    """A CSV file in memory: ``header``, and its ``rows``.

    known: column names by which the delimiter is told (comma, semicolon, tab or bar: the one under which the header holds most
    of them, the comma among equals). Raises DataError when the file is no UTF-8 text or has no header.
    """

    def __init__(self, path: Path, known: Mapping[str, object]) -> None:
        self.path = path
        try:
            raw = path.read_bytes()
        except (OSError, ValueError) as error:
            raise DataError(f"cannot read {path}: {getattr(error, 'strerror', None) or error}") from None
        if raw.startswith((b"\xff\xfe", b"\xfe\xff")):
            raise DataError(f"{path} is UTF-16 text; save it as UTF-8")
        body = raw.removeprefix(b"\xef\xbb\xbf")
        try:
            self.text = body.decode("utf-8")
        except UnicodeDecodeError as error:
            line = body.count(b"\n", 0, error.start) + 1
            raise DataError(f"{path}, line {line}: not UTF-8 (byte 0x{body[error.start]:02x}); save the file as UTF-8") from None
        if not self.text.strip():
            raise DataError(f"{path} is empty; it must begin with a line of column names")
        self.delimiter = max(DELIMITERS, key=lambda mark: sum(name in known for name in self._head(mark)))
        self.header = self._head(self.delimiter)

    def _head(self, delimiter: str) -> list[str]:
        with _long_cells():
            try:
                return [name.strip() for name in next(csv.reader(io.StringIO(self.text, newline=""), delimiter=delimiter))]
            except (csv.Error, StopIteration) as error:
                raise DataError(f"{self.path}, line 1: the header cannot be read: {error}") from None

    def rows(self) -> Iterator[tuple[int, list[str] | DataError]]:
        """``(line, cells)`` of every row but the header; blank lines are passed over.

        A row of another length comes as the DataError that says so. What breaks the rest of the file (a quote that is
        never closed) raises it.
        """
        with _long_cells():
            reader = csv.reader(io.StringIO(self.text, newline=""), delimiter=self.delimiter, strict=True)
            line = 1
            try:
                for number, cells in enumerate(reader):
                    if number and cells:
                        if len(cells) == len(self.header):
                            yield line, cells
                        else:
                            yield line, DataError(f"has {len(cells)} cells, the header names {len(self.header)} columns")
                    line = reader.line_num + 1
            except csv.Error as error:
                raise DataError(f"{self.path}, line {line}: {error}; the lines from here on cannot be read") from None


@contextmanager
def _long_cells() -> Iterator[None]:
    """The csv module's limit on a cell is one for the process: raised while rows are read, then put back."""
    before = csv.field_size_limit(_CELL_LIMIT)
    try:
        yield
    finally:
        csv.field_size_limit(before)


def cells_of(header: list[str], cells: list[str]) -> dict[str, str]:
    """The non-empty cells by column name."""
    return {name: cell for name, cell in zip(header, cells, strict=True) if cell != ""}
