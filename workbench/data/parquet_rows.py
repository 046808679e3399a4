"""Rows of documented fields to a Parquet file and back; what Parquet cannot say exactly is refused, not rounded."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, date, datetime, timedelta
from itertools import islice
from pathlib import Path
from typing import Any

from workbench.data.columns import Kind, from_json, whole
from workbench.data.strict_json import clipped, shown
from workbench.entries import utc
from workbench.errors import DataError

_BATCH = 8192
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_PER_SECOND = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}


def write_parquet(rows: Iterable[Mapping[str, Any]], columns: Mapping[str, Kind], path: Path) -> None:
    """Write rows as columns of their kinds: times as UTC microseconds, lists as lists, grades as a map. Raises OSError."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    schema = pa.schema([pa.field(name, _arrow_type(kind)) for name, kind in columns.items()])
    source = iter(rows)
    with pq.ParquetWriter(path, schema, compression="zstd", write_page_checksum=True) as writer:
        while batch := list(islice(source, _BATCH)):
            arrays = [
                pa.array([_to_arrow(row.get(name), kind) for row in batch], type=schema.field(name).type)
                for name, kind in columns.items()
            ]
            writer.write_table(pa.Table.from_arrays(arrays, schema=schema))


def _arrow_type(kind: Kind) -> Any:
    import pyarrow as pa

    return {
        "text": pa.string(),
        "texts": pa.list_(pa.string()),
        "share": pa.float64(),
        "whole": pa.int64(),
        "flag": pa.bool_(),
        "time": pa.timestamp("us", "UTC"),
        "grades": pa.map_(pa.string(), pa.int64()),
        "groups": pa.list_(pa.list_(pa.string())),
    }[kind]


def _to_arrow(value: Any, kind: Kind) -> Any:
    if value is None:
        return None
    if kind == "time":
        return (utc(value) - _EPOCH) // timedelta(microseconds=1)
    if kind == "grades":
        return list(value.items())
    return value


class ParquetFile:
    """A Parquet file: ``header``, and its ``rows``. Raises DataError when it cannot be read."""

    def __init__(self, path: Path) -> None:
        import pyarrow as pa
        import pyarrow.parquet as pq

        self.path = path
        # pyarrow raises errors of its own, of the system and of Python, depending on where a file is broken
        self._faults = (pa.ArrowException, OSError, ValueError, TypeError, KeyError, IndexError, OverflowError, MemoryError)
        try:
            self._file = pq.ParquetFile(path, page_checksum_verification=True)
            self.header = list(self._file.schema_arrow.names)
            self._types = [self._file.schema_arrow.field(at).type for at in range(len(self.header))]
        except FileNotFoundError:
            raise DataError(f"there is no file {path}") from None
        except self._faults as error:
            raise DataError(clipped(f"cannot read {path} as Parquet: {_one_line(error)}")) from None

    def close(self) -> None:
        """Give the file back."""
        self._file.close()

    def rows(self, columns: Mapping[str, Kind]) -> Iterator[tuple[int, dict[str, Any] | DataError]]:
        """``(row number from 1, fields that are not null)``; columns that are not in ``columns`` keep their own values.

        A row with a cell that cannot be taken exactly comes as the DataError that names the field. Raises DataError when the
        type of a column does not suit its kind, or the file breaks.
        """
        readers = {
            name: _reader(name, kind, self._types[self.header.index(name)], f"{self.path}, column {name}")
            for name, kind in columns.items()
            if name in self.header
        }
        number = 0
        try:
            for batch in self._file.iter_batches(batch_size=_BATCH):
                cells = {name: _values(batch.column(at)) for at, name in enumerate(self.header)}
                for row in range(batch.num_rows):
                    number += 1
                    yield number, _row(cells, row, readers)
        except self._faults as error:
            if isinstance(error, DataError):
                raise
            raise DataError(clipped(f"{self.path}: cannot be read after row {number}: {_one_line(error)}")) from None


def _one_line(error: BaseException) -> str:
    return " ".join(str(error).split()) or type(error).__name__


def _values(column: Any) -> list[Any]:
    """Python values of a column; what cannot be turned into one stands as the DataError that says why."""
    import pyarrow as pa

    kind = column.type
    if pa.types.is_timestamp(kind):
        # as counts: datetimes of Python end at the year 9999, and nanoseconds must not be cut off silently
        per_second = _PER_SECOND[kind.unit]
        return [None if count is None else _moment(count, per_second) for count in column.cast(pa.int64()).to_pylist()]
    try:
        return list(column.to_pylist())
    except (UnicodeDecodeError, ValueError, OverflowError, pa.ArrowException):
        return [_value(item) for item in column]


def _value(item: Any) -> Any:
    import pyarrow as pa

    try:
        return item.as_py()
    except (UnicodeDecodeError, ValueError, OverflowError, pa.ArrowException) as error:
        return DataError(f"cannot be read: {_one_line(error)}")


def _moment(count: int, per_second: int) -> Any:
    micro, rest = divmod(count * 10**6, per_second)
    if rest:
        return DataError("is finer than a microsecond, which entries cannot hold; round it")
    try:
        return _EPOCH + timedelta(microseconds=micro)
    except OverflowError:
        return DataError("lies outside the years 1 to 9999; correct the date")


def _row(cells: Mapping[str, list[Any]], at: int, readers: Mapping[str, Any]) -> dict[str, Any] | DataError:
    row = {}
    for name, column in cells.items():
        value = column[at]
        if value is None:
            continue
        if isinstance(value, DataError):
            return DataError(f"{name} {value}")
        try:
            row[name] = readers[name](value) if name in readers else value
        except DataError as error:
            return error
    return row


def _reader(name: str, kind: Kind, found: Any, where: str) -> Any:
    """A function from a non-null cell to the field's value. Raises DataError when the column's type does not suit."""
    import pyarrow as pa

    types = pa.types
    if types.is_dictionary(found):
        found = found.value_type
    is_text = types.is_string(found) or types.is_large_string(found) or types.is_string_view(found)
    if types.is_null(found):
        return lambda value: value
    if kind == "text" and is_text:
        return lambda value: value
    if kind == "time" and (is_text or types.is_timestamp(found) or types.is_date(found)):
        return lambda value: _midnight(value) if isinstance(value, date) and not isinstance(value, datetime) else value
    if kind == "share" and (types.is_floating(found) or types.is_integer(found)):
        return lambda value: float(value)
    if kind == "whole" and (types.is_integer(found) or types.is_floating(found)):
        return lambda value: whole(value, name)
    if kind == "flag" and types.is_boolean(found):
        return lambda value: value
    if kind in ("texts", "groups", "grades") and is_text:
        return lambda value: from_json(value, name, "as the JSONL layout has it")
    if kind in ("texts", "groups") and (types.is_list(found) or types.is_large_list(found) or types.is_fixed_size_list(found)):
        return lambda value: value
    if kind == "grades" and types.is_map(found):
        return lambda value: _grades(value, name)
    if kind == "grades" and types.is_struct(found):
        # a column of Python dicts becomes a struct with every key of every row
        return lambda value: {key: grade for key, grade in value.items() if grade is not None}
    hint = "; store it as text, so that 007 stays 007" if kind == "text" and types.is_integer(found) else ""
    raise DataError(f"{where} is of the type {found}: must hold {_WANTED[kind]}{hint}")


_WANTED: Mapping[Kind, str] = {
    "text": "text", "texts": "lists of texts", "share": "numbers", "whole": "whole numbers", "flag": "true or false",
    "time": "times", "grades": "a map from entry ids to grades", "groups": "lists of lists of texts",
}  # fmt: skip


def _midnight(day: date) -> datetime:
    return datetime(day.year, day.month, day.day, tzinfo=UTC)


def _grades(pairs: list[tuple[str, int]], name: str) -> dict[str, int]:
    grades = dict(pairs)
    if len(grades) != len(pairs):
        raise DataError(f"{name} names an entry twice: {shown(pairs)}; keep one grade")
    return grades
