"""Judged datasets: user stores, and queries whose right answers are known."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from types import MappingProxyType
from typing import Any

from workbench.entries import checked_text, checked_texts, utc
from workbench.errors import DataError
from workbench.store.user import UserStore


@dataclass(frozen=True, kw_only=True)
class JudgedQuery:
    """One query of one user with its judgement.

    relevant: entry id -> grade (a whole number >= 1); empty when the store holds no answer. forbidden: ids that must not be in
    the prompt (superseded facts). duplicates: groups of ids that say the same thing; finding any member counts as finding
    the group, and showing a second one is a duplicate. group: scenario or category, the unit of the report's
    breakdown. answerable: False for questions with no answer in the store (their recall is undefined).
    judged: False when the source gives no usable evidence at all (left out and counted).
    """

    id: str
    user_id: str
    query: str
    now: datetime
    relevant: Mapping[str, int] = field(default_factory=dict)
    forbidden: tuple[str, ...] = ()
    duplicates: tuple[tuple[str, ...], ...] = ()
    group: str = "all"
    lang: str = "en"
    answerable: bool = True
    judged: bool = True
    decided_by: str = ""

    def __post_init__(self) -> None:
        put = object.__setattr__
        for name in ("id", "user_id", "query", "group", "lang", "decided_by"):
            checked_text(getattr(self, name), f"query {self.id!r}: {name}", empty=name not in ("id", "user_id"))
        for name in ("answerable", "judged"):
            if not isinstance(getattr(self, name), bool):
                raise DataError(f"query {self.id!r}: {name} is {getattr(self, name)!r}: must be true or false")
        put(self, "now", utc(self.now, field=f"query {self.id!r}: now"))
        if not isinstance(self.relevant, Mapping):
            raise DataError(f"query {self.id!r}: relevant is {self.relevant!r}: must map entry ids to grades")
        for key, grade in self.relevant.items():
            if not isinstance(key, str) or isinstance(grade, bool) or not isinstance(grade, int) or grade < 1:
                raise DataError(
                    f"query {self.id!r}: relevant has {key!r}: {grade!r}; must map an entry id to a whole number >= 1"
                )
        put(self, "relevant", MappingProxyType(dict(self.relevant)))
        put(self, "forbidden", checked_texts(self.forbidden, f"query {self.id!r}: forbidden"))
        if isinstance(self.duplicates, str) or not isinstance(self.duplicates, Iterable):
            raise DataError(f"query {self.id!r}: duplicates is {self.duplicates!r}: must be a list of lists of ids")
        groups = tuple(checked_texts(part, f"query {self.id!r}: duplicates") for part in self.duplicates)
        put(self, "duplicates", groups)
        clash = sorted(set(self.relevant) & set(self.forbidden))
        if clash:
            raise DataError(f"query {self.id!r}: {', '.join(clash)} is both relevant and forbidden")
        if self.answerable and self.judged and not self.relevant:
            raise DataError(f"query {self.id!r}: relevant is empty; name the entries that answer it, or say answerable: false")


@dataclass(frozen=True, kw_only=True)
class JudgedDataset:
    """Stores by user id, judged queries in order, and where it all comes from.

    config: settings (AssemblyConfig.override form) under which the dataset is meant to be judged; they and the reason
    (``config_note``) are shown in every report. group_name: what ``JudgedQuery.group`` means (scenario, category).
    checksum: SHA-256 over the source files. rollups: further rows of the breakdown, each over several groups. notes: counts
    of what the loader met (left out, repaired, split).
    """

    name: str
    stores: Mapping[str, UserStore]
    queries: tuple[JudgedQuery, ...]
    licence: str
    source: str
    checksum: str
    group_name: str = "scenario"
    version: str = "1"
    config: Mapping[str, Any] = field(default_factory=dict)
    config_note: str = ""
    notes: Mapping[str, int] = field(default_factory=dict)
    rollups: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        seen: set[str] = set()
        for query in self.queries:
            if query.id in seen:
                raise DataError(f"two judged queries have the id {query.id!r}; ids must be unique in a dataset")
            seen.add(query.id)
            if query.user_id not in self.stores:
                raise DataError(f"query {query.id!r} is of user {query.user_id!r}, who has no store in {self.name}")
            store = self.stores[query.user_id]
            named = [*query.relevant, *query.forbidden, *(key for part in query.duplicates for key in part)]
            missing = sorted({key for key in named if key not in store})
            if missing:
                raise DataError(f"query {query.id!r} names entries that user {query.user_id!r} lacks: {missing}")

    def __str__(self) -> str:
        entries = sum(len(store) for store in self.stores.values())
        drawn = f"of {self.notes['queries_in_all']} drawn " if "sample_of_queries" in self.notes else ""
        text = (
            f"{self.name} {self.version}: {len(self.stores)} users, {entries} entries, {len(self.queries)} {drawn}queries "
            f"({sum(query.judged and query.answerable for query in self.queries)} judged) [{self.licence}]"
        )
        own = [
            f"{name}.{part}={inner}" if part else f"{name}={inner}"
            for name, value in self.config.items()
            for part, inner in (value.items() if isinstance(value, Mapping) else [("", value)])
        ]
        return f"{text}\nits own settings, where a configuration states none: {', '.join(own)}" if own else text

    def queries_of(self, user_id: str) -> Iterator[JudgedQuery]:
        """The queries of one user, in order."""
        return (query for query in self.queries if query.user_id == user_id)
