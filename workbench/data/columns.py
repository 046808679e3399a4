"""The documented fields as columns of a table: their kinds, and what a cell of each kind may hold.

CSV, Parquet and SQLite share these lists with the JSONL layout (``datasets/README.md``); a row of a table becomes the same
mapping that a JSONL line is and is checked by the same code. An empty cell (null) is a field that is not there.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Mapping
from typing import Any, Literal

from workbench.data.strict_json import JsonFault, parse_json, shown
from workbench.errors import DataError

Kind = Literal["text", "texts", "share", "whole", "flag", "time", "grades", "groups"]

ENTRY_COLUMNS: Mapping[str, Kind] = {
    "layer": "text", "user_id": "text", "id": "text", "text": "text", "summary": "text", "name": "text", "steps": "texts",
    "topics": "texts", "outcome": "text", "category": "text", "tags": "texts", "importance": "share",
    "confidence": "share", "access_count": "whole", "status": "text", "source": "text", "occurred_at": "time",
    "created_at": "time", "updated_at": "time", "group": "text", "kind": "text", "active": "flag", "priority": "whole",
}  # fmt: skip
"""Columns of an entries table, in the order in which they are written."""

QUERY_COLUMNS: Mapping[str, Kind] = {
    "id": "text", "user_id": "text", "query": "text", "now": "time", "scenario": "text", "lang": "text",
    "answerable": "flag", "judged": "flag", "relevant": "grades", "forbidden": "texts", "duplicates": "groups",
    "decided_by": "text",
}  # fmt: skip
"""Columns of a queries table, in the order in which they are written."""

EXACT_WHOLE = 2**53
"""Whole numbers below this survive a floating-point column; larger ones may have been rounded in it."""

_WHOLE = re.compile(r"[+-]?[0-9]{1,19}", re.ASCII)
_REAL = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]{1,3})?", re.ASCII)
_FLAGS = {"true": True, "false": False}


def check_columns(names: Iterable[object], columns: Mapping[str, Kind], where: str) -> None:
    """Refuse a header with unknown or repeated names, or without what every row needs. Raises DataError."""
    seen: set[object] = set()
    for name in names:
        if name in seen:
            raise DataError(f"{where}: the column {shown(name)} stands twice; keep one")
        seen.add(name)
    unknown = sorted(str(name) for name in seen if name not in columns)
    if unknown:
        hint = "; write the table without its index" if any(name.startswith("__index_level_") for name in unknown) else ""
        raise DataError(
            f"{where}: unknown column {', '.join(map(shown, unknown[:8]))}{hint}; known are {', '.join(columns)}. A table "
            "with other columns is read by: workbench data import table"
        )
    lost = [name for name in ("layer", "user_id", "id") if name in columns and name not in seen]
    if lost:
        raise DataError(
            f"{where} has no column {', '.join(lost)}; every row needs {'layer, ' * ('layer' in columns)}user_id and id. A "
            "table with other columns is read by: workbench data import table"
        )


def from_text(cell: str, kind: Kind, field: str) -> Any:
    """The value of a non-empty cell of a text table (CSV). Raises DataError naming the field."""
    if kind in ("text", "time"):
        return cell
    if kind == "flag":
        if cell.strip().lower() not in _FLAGS:
            raise DataError(f"{field} is {shown(cell)}: must be true or false")
        return _FLAGS[cell.strip().lower()]
    if kind == "whole":
        if not _WHOLE.fullmatch(cell.strip()):
            raise DataError(f"{field} is {shown(cell)}: must be a whole number")
        return int(cell)
    if kind == "share":
        if not _REAL.fullmatch(cell.strip()):
            raise DataError(f"{field} is {shown(cell)}: must be a number")
        return float(cell)
    return from_json(cell, field, 'such as [] or ["a", "b"]' if kind != "grades" else 'such as {"m1": 2}')


def from_json(cell: str, field: str, form: str) -> Any:
    """The value of a cell that holds JSON. Raises DataError naming the field."""
    try:
        return parse_json(cell)
    except JsonFault as error:
        raise DataError(f"{field} is {shown(cell)}: must be JSON {form} ({error})") from None


def whole(value: object, field: str) -> Any:
    """A whole number that may come from a floating-point column (as tables with missing values have them)."""
    if isinstance(value, float):
        if not math.isfinite(value) or not value.is_integer():
            raise DataError(f"{field} is {shown(value)}: must be a whole number; leave it empty when it is missing")
        if abs(value) >= EXACT_WHOLE:
            raise DataError(
                f"{field} is {shown(value)} in a floating-point column, which rounds numbers of this size; store it as a "
                "64-bit integer"
            )
        return int(value)
    return value


def to_json(value: Any) -> str:
    """A list or mapping as the JSON text of a cell."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
