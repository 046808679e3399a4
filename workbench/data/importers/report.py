"""What an import did: which fields went where, what was guessed, what nothing reads, and what was refused, with places."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from workbench.data.strict_json import shown
from workbench.tabular import Tabular

if TYPE_CHECKING:
    from workbench.reports.cells import Table

_SHOWN_REFUSALS = 20


@dataclass(frozen=True, kw_only=True)
class Noted:
    """Something met ``count`` times, the first time at ``first`` (file and line)."""

    what: str
    count: int
    first: str


@dataclass(frozen=True, kw_only=True, repr=False)
class ImportReport(Tabular):
    """The account of one import.

    records: rows, items or lines met. entries: layer -> entries made. mapped: ``field -> our field``, each with its count.
    guessed: what the file did not say and how it was filled in. kept_out: fields that are known and have no place in a store
    (vectors, hashes). unread: fields that nothing reads, with an example of their values. left_out: records that are no entries
    (empty, deleted, the same once more). refused: every faulty record, ``file, line n: reason``.
    """

    kind: str
    files: tuple[str, ...]
    records: int
    users: int
    entries: Mapping[str, int]
    mapped: tuple[Noted, ...] = ()
    guessed: tuple[Noted, ...] = ()
    kept_out: tuple[Noted, ...] = ()
    unread: tuple[Noted, ...] = ()
    left_out: tuple[Noted, ...] = ()
    refused: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Strict JSON."""
        return asdict(self) | {"entries": dict(self.entries), "files": list(self.files), "refused": list(self.refused)}

    @property
    def _parts(self) -> tuple[tuple[str, tuple[Noted, ...]], ...]:
        return (
            ("mapped", self.mapped),
            ("guessed", self.guessed),
            ("known fields without a place in a store", self.kept_out),
            ("fields that nothing reads", self.unread),
            ("records left out", self.left_out),
        )

    def tables(self) -> tuple[Table, ...]:
        """The account as tables; see ``Tabular``."""
        from workbench.reports.result_tables import frame_table

        rows: list[dict[str, Any]] = [
            {"kind": title, "what": note.what, "count": note.count, "first": note.first}
            for title, notes in self._parts
            for note in notes
        ]
        rows += [{"kind": "refused", "what": reason, "count": 1, "first": ""} for reason in self.refused]
        caption = f"Import of {self.kind}: {self.records} records met, {sum(self.entries.values())} entries made"
        columns = {"kind": "kind", "what": "what", "count": "times", "first": "first met"}
        return (frame_table(caption, rows, columns),)

    def __str__(self) -> str:
        made = ", ".join(f"{count} {layer}" for layer, count in self.entries.items() if count) or "none"
        lines = [
            f"import of {self.kind}: {', '.join(self.files)}",
            f"  records met    {self.records}",
            f"  entries made   {sum(self.entries.values())} ({made}) of {self.users} user{'s' * (self.users != 1)}",
        ]
        for title, notes in self._parts:
            if notes:
                lines.append(f"  {title}:")
                lines += [f"    {note.count:>7} x {note.what}  (first: {note.first})" for note in notes]
        if self.refused:
            lines.append(f"  refused: {len(self.refused)}")
            lines += [f"    {reason}" for reason in self.refused[:_SHOWN_REFUSALS]]
            if len(self.refused) > _SHOWN_REFUSALS:
                lines.append(f"    ... and {len(self.refused) - _SHOWN_REFUSALS} more (all of them are in the report file)")
        return "\n".join(lines)


class Tally:
    """Counts of things met, each with the place of the first."""

    def __init__(self) -> None:
        self._seen: dict[str, tuple[int, str]] = {}

    def add(self, what: str, where: str) -> None:
        """Count ``what`` once more."""
        count, first = self._seen.get(what, (0, where))
        self._seen[what] = (count + 1, first)

    def noted(self) -> tuple[Noted, ...]:
        """In the order in which they were first met."""
        return tuple(Noted(what=what, count=count, first=first) for what, (count, first) in self._seen.items())

    def __len__(self) -> int:
        return sum(count for count, _ in self._seen.values())


def example(value: object) -> str:
    """A value for the list of unread fields."""
    return shown(value, 40)
