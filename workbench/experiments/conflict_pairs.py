"""Hand-labelled pairs of statements, read from JSONL: what a conflict test is measured on."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from workbench.data.strict_json import JsonFault, decode_utf8, parse_json, shown
from workbench.errors import DataError

LABELS = ("conflict", "duplicate", "compatible")
"""What a pair can be: both cannot hold now, both say the same, both can hold."""


@dataclass(frozen=True, kw_only=True)
class LabelledPair:
    """One pair.

    Attributes:
        id: unique in the file.
        a: one statement.
        b: the other; which is newer does not matter.
        label: one of `LABELS`.
        kind: the phenomenon, free text ("moved", "units").
        lang: language code of both.
    """

    id: str
    a: str
    b: str
    label: str
    kind: str
    lang: str


_FIELDS = tuple(LabelledPair.__dataclass_fields__)


def read_pairs(path: str | os.PathLike[str]) -> tuple[LabelledPair, ...]:
    """Reads a JSONL file with one object a line: id, a, b, label, kind, lang; other keys are ignored, blank lines too.

    Raises:
        DataError: the file cannot be read, is no UTF-8 or holds no pair; or a line is not a JSON object, lacks a field, holds
            something other than non-empty text in one, an unknown label or an id seen before. The message names the line.
    """
    file = Path(path)
    try:
        raw = file.read_bytes().removeprefix(b"\xef\xbb\xbf")
    except OSError as error:
        raise DataError(
            f"{file}: cannot be read ({error.strerror or type(error).__name__}); give a JSONL file of pairs"
        ) from None
    pairs: list[LabelledPair] = []
    seen: dict[str, int] = {}
    for number, line in enumerate(raw.split(b"\n"), start=1):
        try:
            text = decode_utf8(line).strip()
            if not text:
                continue
            pair = _pair(parse_json(text))
        except (JsonFault, DataError) as fault:
            raise DataError(f"{file}, line {number}: {fault}") from None
        if pair.id in seen:
            raise DataError(
                f"{file}, line {number}: the id {shown(pair.id)} was used in line {seen[pair.id]}; ids must be unique"
            )
        seen[pair.id] = number
        pairs.append(pair)
    if not pairs:
        raise DataError(f"{file}: holds no pair; write one JSON object a line with {', '.join(_FIELDS)}")
    return tuple(pairs)


def _pair(row: object) -> LabelledPair:
    if not isinstance(row, dict):
        raise DataError(f"holds {shown(row)}: must be a JSON object with {', '.join(_FIELDS)}")
    values: dict[str, str] = {}
    for field in _FIELDS:
        if field not in row:
            raise DataError(f"the field {field} is missing; a pair has {', '.join(_FIELDS)}")
        value = row[field]
        if not isinstance(value, str) or not value.strip():
            raise DataError(f"{field} is {shown(value)}: must be non-empty text")
        values[field] = value
    if values["label"] not in LABELS:
        raise DataError(f"label is {shown(values['label'])}: must be one of {', '.join(LABELS)}")
    return LabelledPair(**values)
