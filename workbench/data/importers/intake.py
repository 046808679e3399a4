"""The desk every importer hands its records to: it reads fields, keeps account of them, and gathers the entries."""

from __future__ import annotations

import hashlib
import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from datetime import UTC, date, datetime, timedelta
from itertools import count
from typing import Any

from workbench.data.collecting import store_of
from workbench.data.importers.report import ImportReport, Tally, example
from workbench.data.judged import JudgedDataset
from workbench.data.rows import AnyEntry, entry_from_row
from workbench.data.strict_json import clipped, shown
from workbench.entries import ENTRY_TYPES, utc
from workbench.errors import DataError

DEFAULT_USER = "default"
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECONDS_FROM = 1e11  # as seconds that is the year 5138
_NUMBER = re.compile(r"\s*[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]{1,3})?\s*", re.ASCII)


class Intake:
    """Entries gathered from an export, with the account of how.

    user: the user of every record, whatever it says ("" takes what it says). at: time of records that have none; without it
    such a record is refused. skip_bad: leave faulty records out and list them instead of raising.
    """

    def __init__(self, kind: str, *, user: str = "", at: datetime | str | None = None, skip_bad: bool = False) -> None:
        self.kind = kind
        self.user = user
        self.at = None if at is None else utc(at, field="at")
        self.skip_bad = skip_bad
        self.records = 0
        self.files: list[str] = []
        self.mapped, self.guessed, self.kept_out, self.unread, self.left_out = (Tally() for _ in range(5))
        self.refused: list[str] = []
        self.users: dict[str, dict[str, AnyEntry]] = {}
        self._examples: dict[str, str] = {}

    def refuse(self, where: str, reason: object) -> None:
        """Count a faulty record, or raise DataError with its place and reason."""
        message = clipped(f"{where}: {reason}")
        if not self.skip_bad:
            raise DataError(f"{message} (with --skip-bad the good records are kept and this one is counted)") from None
        self.refused.append(message)

    def add(self, row: Mapping[str, Any], where: str) -> None:
        """Take one entry as a row of the documented fields; a user and a time that are missing are filled in as documented.

        An entry that is there already, equal in every field, is left out and counted. Raises DataError naming the field.
        """
        values = {key: value for key, value in row.items() if value is not None}
        if self.user:
            values["user_id"] = self.user
        elif not values.get("user_id"):
            values["user_id"] = DEFAULT_USER
            self.guessed.add(f"no user is named: all such records belong to {DEFAULT_USER!r} (--user names another)", where)
        self._times(values, where)
        made = not values.get("id")
        if made:
            values["id"] = content_id(values)
            self.guessed.add("no id: made from the entry's text, so that the same text always gets the same id", where)
        user_id, entry = entry_from_row(values)
        known = self.users.setdefault(user_id, {})
        first = known.get(entry.id)
        if made and first is not None and first != entry:
            user_id, entry = self._numbered(values, known)
            first = known.get(entry.id)
        if first == entry:
            self.left_out.add("the same entry once more", where)
        elif first is not None:
            raise DataError(f"id {shown(entry.id)} of user {shown(user_id)} is taken by another entry")
        else:
            known[entry.id] = entry

    def _numbered(self, values: dict[str, Any], known: Mapping[str, AnyEntry]) -> tuple[str, AnyEntry]:
        """The entry under a made id that is free, or that the same entry already has: the same text may be told twice."""
        for number in count(2):
            user_id, entry = entry_from_row({**values, "id": f"{content_id(values)}-{number}"})
            if known.get(entry.id) in (None, entry):
                break
        return user_id, entry

    def _times(self, values: dict[str, Any], where: str) -> None:
        layer = values.get("layer")
        if layer == "soul":
            return
        field = "occurred_at" if layer == "episode" else "created_at"
        updated = values.pop("updated_at", None)
        if values.get(field) is None:
            if updated is not None:
                values[field] = updated
                self.guessed.add(f"no {field}: the time of the last change stands for it", where)
            elif self.at is not None:
                values[field] = self.at
                self.guessed.add(f"no time: taken as {self.at.isoformat()} (--at)", where)
            else:
                raise DataError(f"{field} is missing, and no time was given for records without one: say --at 2026-01-31")
        if updated is not None and field == "created_at":
            if utc(updated, field="updated_at") >= utc(values[field], field=field):
                values["updated_at"] = updated
            else:
                self.guessed.add("updated_at lies before created_at: created_at stands for both", where)

    def unread_field(self, field: str, value: object, where: str) -> None:
        """Note a field that nothing reads; its first value is kept as an example."""
        self.unread.add(f"{field} = {self._examples.setdefault(field, example(value))}", where)

    def report(self) -> ImportReport:
        """The account so far."""
        layers = Counter(entry.layer for entries in self.users.values() for entry in entries.values())
        return ImportReport(
            kind=self.kind,
            files=tuple(self.files),
            records=self.records,
            users=len(self.users),
            entries={layer: layers.get(layer, 0) for layer in ENTRY_TYPES},  # type: ignore[call-overload]
            mapped=self.mapped.noted(),
            guessed=self.guessed.noted(),
            kept_out=self.kept_out.noted(),
            unread=self.unread.noted(),
            left_out=self.left_out.noted(),
            refused=tuple(self.refused),
        )

    def dataset(self, *, name: str, licence: str, checksum: str) -> JudgedDataset:
        """What was gathered, without judgements. Raises DataError when nothing was."""
        users = {user: list(entries.values()) for user, entries in self.users.items() if entries}
        if not users:
            reason = f"; the first reason: {self.refused[0]}" if self.refused else ""
            raise DataError(f"{', '.join(self.files)} gave no entry{reason}")
        notes = {"imported_records": self.records, "left_out_records": len(self.left_out), "refused_rows": len(self.refused)}
        return JudgedDataset(
            name=name,
            stores={user: store_of(user, entries) for user, entries in users.items()},
            queries=(),
            licence=licence,
            source=f"{self.kind} export",
            checksum=checksum,
            notes={**notes, "unread_fields": len(self.unread.noted()), "guesses": len(self.guessed)},
        )


class Record:
    """One record of an export. Every field that is read is accounted for; ``finish`` notes the rest as unread.

    loose: numbers may be given as text (CSV). prefix: what names of this record begin with in the report (``metadata.``).
    """

    def __init__(self, row: Mapping[str, Any], where: str, intake: Intake, *, prefix: str = "", loose: bool = False) -> None:
        self.row = row
        self.where = where
        self.intake = intake
        self.prefix = prefix
        self.loose = loose
        self._read: set[str] = set()

    def pick(self, names: Iterable[str], to: str) -> tuple[str, Any]:
        """``(name, value)`` of the first of ``names`` that holds something, ``("", None)`` when none does."""
        for name in names:
            value = self.row.get(name)
            if not _is_empty(value):
                self._read.add(name)
                self.intake.mapped.add(f"{self.prefix}{name} -> {to}", self.where)
                return self.prefix + name, value
        return "", None

    def has_empty(self, *names: str) -> bool:
        """True when one of ``names`` is there and holds an empty text."""
        return any(self.row.get(name) == "" for name in names)

    def text(self, *names: str, to: str) -> str | None:
        """Text, exactly as it stands."""
        name, value = self.pick(names, to)
        if value is not None and not isinstance(value, str):
            raise DataError(f"{name} is {shown(value)}: must be text")
        return value

    def ident(self, *names: str, to: str) -> str | None:
        """An id: text, or a whole number that is kept as text."""
        name, value = self.pick(names, to)
        if isinstance(value, int) and not isinstance(value, bool):
            self.intake.guessed.add(f"{name} is a number: kept as text", self.where)
            return str(value)
        if value is not None and not isinstance(value, str):
            raise DataError(f"{name} is {shown(value)}: must be text or a whole number")
        return value

    def time(self, *names: str, to: str) -> datetime | None:
        """A time: ISO 8601 text, or a number of seconds (or milliseconds) since 1970."""
        name, value = self.pick(names, to)
        if value is None:
            return None
        if self.loose and isinstance(value, str) and _NUMBER.fullmatch(value):
            value = float(value)
        if isinstance(value, date) and not isinstance(value, datetime):
            return datetime(value.year, value.month, value.day, tzinfo=UTC)
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            unit = "milliseconds" if abs(value) >= _MILLISECONDS_FROM else "seconds"
            self.intake.guessed.add(f"{name} is a number: read as {unit} since 1970", self.where)
            try:
                return _EPOCH + timedelta(**{unit: value})
            except (OverflowError, ValueError):
                raise DataError(f"{name} is {shown(value)}: outside the years 1 to 9999") from None
        return utc(value, field=name)

    def texts(self, *names: str, to: str) -> list[str]:
        """A list of texts; a single text stands for a list of one."""
        name, value = self.pick(names, to)
        if value is None:
            return []
        if isinstance(value, str):
            return [value]
        if not isinstance(value, (list, tuple)) or not all(isinstance(item, str) for item in value):
            raise DataError(f"{name} is {shown(value)}: must be a list of texts")
        return list(value)

    def number(self, *names: str, to: str) -> Any:
        """A number, as it stands; entries check its range."""
        name, value = self.pick(names, to)
        if self.loose and isinstance(value, str):
            if not _NUMBER.fullmatch(value):
                raise DataError(f"{name} is {shown(value)}: must be a number")
            # int() first: a float would round 64-bit counts
            value = int(value) if value.strip().lstrip("+-").isdigit() and len(value.strip()) <= 20 else float(value)
        if value is None or (isinstance(value, (int, float)) and not isinstance(value, bool)):
            return value
        raise DataError(f"{name} is {shown(value)}: must be a number")

    def share(self, *names: str, to: str) -> float | None:
        """A number from 0 to 1."""
        value = self.number(*names, to=to)
        if value is not None and not (math.isfinite(value) and 0 <= value <= 1):
            raise DataError(f"{self.prefix}{names[0]} is {shown(value)}: must be a number from 0 to 1")
        return None if value is None else float(value)

    def part(self, name: str) -> Record:
        """A nested object as a record of its own (an empty one when there is none)."""
        value = self.row.get(name)
        if value is not None and not isinstance(value, Mapping):
            raise DataError(f"{self.prefix}{name} is {shown(value)}: must be an object")
        self._read.add(name)
        return Record(value or {}, self.where, self.intake, prefix=f"{self.prefix}{name}.", loose=self.loose)

    def keep_out(self, *names: str) -> None:
        """Note fields that are known and have no place in a store."""
        for name in names:
            if name in self.row and name not in self._read:
                self._read.add(name)
                if not _is_empty(self.row[name]):
                    self.intake.kept_out.add(f"{self.prefix}{name}", self.where)

    def finish(self) -> None:
        """Note every field that nothing read."""
        for name, value in self.row.items():
            if name not in self._read and not _is_empty(value):
                self.intake.unread_field(f"{self.prefix}{name}", value, self.where)


def _is_empty(value: object) -> bool:
    """Nothing is lost with these: null, an empty text, list or object."""
    return value is None or (isinstance(value, (str, list, dict)) and not value)


def content_id(values: Mapping[str, Any]) -> str:
    """An id from layer and text: ``m-`` and twelve hexadecimal digits."""
    text = values.get("text") or values.get("summary") or values.get("name") or ""
    digest = hashlib.sha256(f"{values.get('layer')}\0{text}".encode("utf-8", "surrogatepass")).hexdigest()
    return f"{str(values.get('layer') or 'x')[:1]}-{digest[:12]}"
