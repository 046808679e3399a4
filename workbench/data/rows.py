"""One line of the JSONL layout to one object and back (schema: ``datasets/README.md``)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from workbench.config import AssemblyConfig
from workbench.data.judged import JudgedQuery
from workbench.data.strict_json import WHOLE_LIMIT, clipped, shown
from workbench.entries import Episode, Memory, Procedure, SoulBlock, entry_from_dict
from workbench.errors import ConfigError, DataError

AnyEntry = Memory | Episode | Procedure | SoulBlock

QUERY_FIELDS = (
    "id", "user_id", "query", "now", "scenario", "lang", "answerable", "judged", "relevant", "forbidden", "duplicates",
    "decided_by",
)  # fmt: skip
META_FIELDS = (
    "name", "version", "licence", "source", "description", "group_name", "config", "config_note", "notes", "users",
    "rollups",
)  # fmt: skip
META_FILE = "dataset.json"
_LISTS = ("tags", "topics", "steps")


def is_dataset_file(name: str) -> bool:
    """Whether a file of this name belongs to the layout (and is covered by the checksum)."""
    return name == META_FILE or (name.startswith(("entries", "queries")) and name.endswith(".jsonl"))


def _object(row: object, what: str) -> dict[str, Any]:
    if not isinstance(row, dict):
        raise DataError(f"the line holds {shown(row)}: must be one JSON object, {what}")
    return row


def _named(row: Mapping[str, Any], field: str) -> str:
    """A field that must be there and must be non-empty text (numbers are not turned into text: 007 would become 7)."""
    if field not in row:
        raise DataError(f"the field {field} is missing; it must be non-empty text")
    value = row[field]
    if not isinstance(value, str) or not value:
        hint = "; put it in quotes" if isinstance(value, int) else ""
        raise DataError(f"{field} is {shown(value)}: must be non-empty text{hint}")
    return value


def _text(row: Mapping[str, Any], field: str, default: str) -> str:
    value = row.get(field, default)
    if not isinstance(value, str):
        raise DataError(f"{field} is {shown(value)}: must be text")
    return value


def _flag(row: Mapping[str, Any], field: str, default: bool) -> bool:
    value = row.get(field, default)
    if not isinstance(value, bool):
        raise DataError(f"{field} is {shown(value)}: must be true or false")
    return value


def _ids(value: object, field: str) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise DataError(f"{field} is {shown(value)}: must be a list of texts")
    return tuple(value)


def _allowed(row: Mapping[str, Any], fields: tuple[str, ...], what: str) -> None:
    extra = sorted(key for key in row if key not in fields)
    if extra:
        raise DataError(f"unknown field {', '.join(map(shown, extra))} of {what}; allowed: {', '.join(fields)}")


def entry_from_row(row: object) -> tuple[str, AnyEntry]:
    """``(user_id, entry)`` of one line of an entries file. Raises DataError naming the field."""
    try:
        values = _object(row, "an entry with layer, user_id and id")
        user_id = _named(values, "user_id")
        _named(values, "id")
        for field in _LISTS:
            if field in values:
                _ids(values[field], field)
        return user_id, entry_from_dict(values)
    except RecursionError:
        raise DataError("a value is nested too deeply; entries are flat") from None


def entry_to_row(user_id: str, entry: AnyEntry) -> dict[str, Any]:
    """The line of ``entry``: its ``to_dict`` form with the user id after the layer."""
    values = entry.to_dict()
    return {"layer": values.pop("layer"), "user_id": user_id, **values}


def query_from_row(row: object) -> JudgedQuery:
    """The judged query of one line of a queries file. Raises DataError naming the field."""
    try:
        values = _object(row, "a judged query with id, user_id, query and now")
        _allowed(values, QUERY_FIELDS, "a judged query")
        for field in ("query", "now"):
            if field not in values:
                raise DataError(f"the field {field} is missing; it must be text")
        relevant = values.get("relevant", {})
        if not isinstance(relevant, dict):
            raise DataError(f"relevant is {shown(relevant)}: must map entry ids to grades")
        for key, grade in relevant.items():
            if isinstance(grade, bool) or not isinstance(grade, int) or not 1 <= grade < WHOLE_LIMIT:
                raise DataError(f"relevant[{shown(key)}] is {shown(grade)}: must be a whole number from 1 (2 = answers it)")
        groups = values.get("duplicates", [])
        if not isinstance(groups, list):
            raise DataError(f"duplicates is {shown(groups)}: must be a list of lists of entry ids")
        return JudgedQuery(
            id=_named(values, "id"),
            user_id=_named(values, "user_id"),
            query=_text(values, "query", ""),
            now=values["now"],
            relevant=relevant,
            forbidden=_ids(values.get("forbidden", []), "forbidden"),
            duplicates=tuple(_ids(group, f"duplicates[{number}]") for number, group in enumerate(groups)),
            group=_text(values, "scenario", "all"),
            lang=_text(values, "lang", "en"),
            answerable=_flag(values, "answerable", True),
            judged=_flag(values, "judged", True),
            decided_by=_text(values, "decided_by", ""),
        )
    except RecursionError:
        raise DataError("a value is nested too deeply; judged queries are flat") from None


def query_to_row(query: JudgedQuery) -> dict[str, Any]:
    """The line of ``query``; ``judged`` is written only where it is false."""
    row: dict[str, Any] = {
        "id": query.id,
        "user_id": query.user_id,
        "query": query.query,
        "now": query.now.isoformat().replace("+00:00", "Z"),
        "scenario": query.group,
        "lang": query.lang,
        "answerable": query.answerable,
    }
    if not query.judged:
        row["judged"] = False
    row["relevant"] = dict(query.relevant)
    row["forbidden"] = list(query.forbidden)
    row["duplicates"] = [list(group) for group in query.duplicates]
    row["decided_by"] = query.decided_by
    return row


def meta_from_row(row: object, *, default_name: str) -> dict[str, Any]:
    """The checked fields of ``dataset.json``, the documented defaults filled in. Raises DataError naming the field."""
    try:
        if not isinstance(row, dict):
            raise DataError(f"the file holds {shown(row)}: must be one JSON object")
        _allowed(row, META_FIELDS, "dataset.json")
        meta: dict[str, Any] = {
            "name": _named(row, "name") if "name" in row else default_name,
            "version": _text(row, "version", "1"),
            "licence": _text(row, "licence", "not stated"),
            "source": _text(row, "source", "own files"),
            "description": _text(row, "description", ""),
            "group_name": _text(row, "group_name", "scenario"),
            "config": row.get("config", {}),
            "config_note": _text(row, "config_note", ""),
            "notes": row.get("notes", {}),
            "users": list(_ids(row.get("users", []), "users")),
        }
        rollups = row.get("rollups", {})
        if not isinstance(rollups, dict):
            raise DataError(f"rollups is {shown(rollups)}: must map a name to a list of groups")
        meta["rollups"] = {key: _ids(groups, f"rollups[{shown(key)}]") for key, groups in rollups.items()}
        if "users" not in row:
            meta["users"] = None
        elif "" in meta["users"] or len(set(meta["users"])) != len(meta["users"]):
            raise DataError(f"users is {shown(meta['users'])}: must list each non-empty user id once")
        _check_config(meta["config"])
        if not isinstance(meta["notes"], dict):
            raise DataError(f"notes is {shown(meta['notes'])}: must map a name to a count")
        for key, count in meta["notes"].items():
            if isinstance(count, bool) or not isinstance(count, int) or not 0 <= count < WHOLE_LIMIT:
                raise DataError(f"notes[{shown(key)}] is {shown(count)}: must be a whole number from 0")
        return meta
    except RecursionError:
        raise DataError("a value is nested too deeply") from None


def _check_config(config: object) -> None:
    if not isinstance(config, dict):
        raise DataError(f'config is {shown(config)}: must be an object of settings, such as {{"top_k": 50}}')
    try:
        AssemblyConfig().override(**config)
    except ConfigError as error:
        raise DataError(clipped(f"config: {error}")) from None
    except (TypeError, OverflowError) as error:
        raise DataError(clipped(f"config is {shown(config)}: not settings of an assembly ({error})")) from None


def json_line(row: Mapping[str, Any]) -> bytes:
    """``row`` as one line of UTF-8 JSON, newline included. Raises DataError on text that is not Unicode."""
    try:
        text = json.dumps(row, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        return text.encode("utf-8") + b"\n"
    except UnicodeEncodeError:
        raise DataError(f"{shown(row, 200)} holds a lone surrogate: it cannot be written as UTF-8") from None
    except (TypeError, ValueError, RecursionError) as error:
        raise DataError(f"{shown(row, 200)} cannot be written as JSON: {error}") from None
