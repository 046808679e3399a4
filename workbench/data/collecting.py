"""Entries and judged queries gathered row by row into a dataset, whatever file they come from.

Every reader of own stores (JSONL, CSV, Parquet, SQLite) hands its rows to one ``Collector``, so that all of them refuse
the same things with the same words.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from workbench.data.judged import JudgedDataset, JudgedQuery
from workbench.data.rows import AnyEntry, entry_from_row, meta_from_row, query_from_row
from workbench.data.strict_json import JsonFault, clipped, shown
from workbench.errors import DataError
from workbench.store.user import UserStore

REFUSED_NOTE = "refused_rows"


class Collector:
    """What has been gathered: where each id was met, and which rows were refused.

    place: the file or directory, for messages. skip_bad: leave faulty rows out and list them in ``refused`` instead of raising.
    """

    def __init__(self, place: str, *, skip_bad: bool) -> None:
        self.place = place
        self.skip_bad = skip_bad
        self.refused: list[str] = []
        self.users: dict[str, list[AnyEntry]] = {}
        self.queries: list[JudgedQuery] = []
        self._entry_at: dict[tuple[str, str], str] = {}
        self._query_at: dict[str, str] = {}

    def refuse(self, where: str, reason: object) -> None:
        """Count a faulty row, or raise DataError with its place and reason."""
        message = clipped(f"{where}: {reason}")
        if not self.skip_bad:
            raise DataError(message) from None
        self.refused.append(message)

    def entry_row(self, row: object, where: str, short: str = "") -> None:
        """Take one row of the documented entry fields; ``short`` is the place as later messages name it."""
        try:
            self.add_entry(*entry_from_row(row), short or where)
        except (DataError, JsonFault) as error:
            self.refuse(where, error)

    def query_row(self, row: object, where: str, short: str = "") -> None:
        """Take one row of the documented query fields."""
        try:
            self.add_query(query_from_row(row), short or where)
        except (DataError, JsonFault) as error:
            self.refuse(where, error)

    def add_entry(self, user_id: str, entry: AnyEntry, where: str) -> None:
        """Take an entry. Raises DataError when the user already has one of its id."""
        first = self._entry_at.get((user_id, entry.id))
        if first is not None:
            raise DataError(
                f"id {shown(entry.id)} of user {shown(user_id)} already stands in {first}; "
                "ids must be unique over all layers of a user"
            )
        self._entry_at[user_id, entry.id] = where
        self.users.setdefault(user_id, []).append(entry)

    def add_query(self, query: JudgedQuery, where: str) -> None:
        """Take a judged query. Raises DataError when its id is taken or it names a user or an entry that is not there."""
        first = self._query_at.get(query.id)
        if first is not None:
            raise DataError(f"id {shown(query.id)} already stands in {first}; ids of judged queries must be unique")
        if query.user_id not in self.users:
            raise DataError(f"user_id is {shown(query.user_id)}: no entries file holds an entry of that user")
        for field, ids in (
            ("relevant", query.relevant),
            ("forbidden", query.forbidden),
            ("duplicates", (key for group in query.duplicates for key in group)),
        ):
            for key in ids:
                if (query.user_id, key) not in self._entry_at:
                    raise DataError(f"{field} names {shown(key)}: user {shown(query.user_id)} has no such entry")
        self._query_at[query.id] = where
        self.queries.append(query)

    def add_users(self, users: object) -> None:
        """Name users in the order they shall have, also those without entries."""
        for user_id in users or ():  # type: ignore[attr-defined]  # a list, or None when the file names none
            self.users.setdefault(user_id, [])

    def dataset(self, meta: Mapping[str, Any], checksum: str) -> JudgedDataset:
        """Everything gathered as a dataset. ``meta``: as ``meta_from_row`` gives it. Raises DataError when nothing is left."""
        if not self.users and meta["users"] is None:
            reason = f"; the first reason: {self.refused[0]}" if self.refused else ""
            raise DataError(f"{self.place}: every entry was refused{reason}")
        notes = dict(meta["notes"])
        if self.skip_bad:
            notes[REFUSED_NOTE] = notes.get(REFUSED_NOTE, 0) + len(self.refused)
        known = {key: value for key, value in meta.items() if key not in ("users", "description", "notes")}
        return JudgedDataset(
            **known,
            notes=notes,
            stores={user_id: store_of(user_id, entries) for user_id, entries in self.users.items()},
            queries=tuple(self.queries),
            checksum=checksum,
        )


def checked_meta(row: object, where: str, *, default_name: str) -> dict[str, Any]:
    """``meta_from_row`` with the place in front of its message."""
    try:
        return meta_from_row(row, default_name=default_name)
    except DataError as error:
        raise DataError(clipped(f"{where}: {error}")) from None


def store_of(user_id: str, entries: list[AnyEntry]) -> UserStore:
    """A store of entries of any layers."""

    def of(layer: str) -> list[Any]:
        return [entry for entry in entries if entry.layer == layer]

    return UserStore(user_id, memories=of("memory"), episodes=of("episode"), procedures=of("procedure"), soul=of("soul"))
