"""Tables as values: cells with the text shown, the number behind it and where that number is recorded.

One model serves the page, Markdown, LaTeX, CSV, the notebook and the terminal, so all of them say the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from workbench.reports.labels import label
from workbench.reports.numbers import interval, number, whole

TONES = {"better": "good", "worse": "bad", "equivalent": "plain", "no difference": "plain"}
"""Verdict -> tone; the others are muted."""


@dataclass(frozen=True, kw_only=True)
class Cell:
    """One cell. text: as shown. subs: smaller lines below. sort: the value behind it, what the column is sorted by and what
    CSV gets. numeric: set to the right.

    head: "row" or "rowgroup" for a header, spanning ``rows`` rows. arm: number of the arm whose marker stands before the text.
    tone: "good", "bad", "plain" or "muted". path: where the number is recorded, ``file#/json/pointer`` or ``file:column``.
    href: relative address that the text links to.
    """

    text: str
    subs: tuple[str, ...] = ()
    sort: float | str | None = None
    numeric: bool = False
    head: str = ""
    rows: int = 1
    arm: int | None = None
    tone: str = ""
    path: str = ""
    href: str = ""


@dataclass(frozen=True, kw_only=True)
class Column:
    """Head of a column. sub: a second, smaller line. arm: as in Cell."""

    text: str
    sub: str = ""
    numeric: bool = False
    arm: int | None = None


@dataclass(frozen=True, kw_only=True)
class Table:
    """A table. bodies: groups of rows that belong together. source: file and place of the numbers, such as
    ``metrics.json: arms.<arm>.metrics``; files of the run folder. notes: sentences below."""

    caption: str
    columns: tuple[Column, ...]
    bodies: tuple[tuple[tuple[Cell, ...], ...], ...]
    source: str = ""
    sortable: bool = False
    notes: tuple[str, ...] = ()

    @property
    def rows(self) -> tuple[tuple[Cell, ...], ...]:
        """All rows with the cells that span several rows repeated in each of them."""
        out: list[tuple[Cell, ...]] = []
        for body in self.bodies:
            kept: tuple[Cell, ...] = ()
            for row in body:
                if row and row[0].head == "rowgroup":
                    kept = row[:1]
                    out.append(row)
                else:
                    out.append((*kept, *row))
        return tuple(out)


def flat(rows: Sequence[Sequence[Cell]]) -> tuple[tuple[tuple[Cell, ...], ...], ...]:
    """Rows as the single body of a table."""
    return (tuple(tuple(row) for row in rows),)


def text_cell(value: object, *, head: str = "", tone: str = "", path: str = "") -> Cell:
    """A name or a sentence; nothing shows as nothing."""
    shown = "" if value is None or value == "" else label(value)
    return Cell(text=shown, sort=shown, head=head, tone=tone, path=path)


def number_cell(value: float | None, unit: str = "share", *, signed: bool = False, path: str = "") -> Cell:
    """A number in its unit; an undefined one as the sign for missing."""
    missing = value is None or value != value
    return Cell(text=number(value, unit, signed=signed), sort=None if missing else value, numeric=True, path=path)


def count_cell(value: int | None, *, path: str = "") -> Cell:
    """A count."""
    return Cell(text=whole(value), sort=value, numeric=True, path=path)


def interval_cell(low: float | None, high: float | None, unit: str = "share", *, signed: bool = False) -> Cell:
    """``[low, high]``, sorted by its lower end."""
    known = low is not None and high is not None
    text = interval((low, high), unit, signed=signed) if low is not None and high is not None else interval(None)
    return Cell(text=text, sort=low if known else None, numeric=True)


def verdict_cell(verdict: str, *, path: str = "") -> Cell:
    """A verdict in its tone."""
    return Cell(text=verdict, sort=verdict, tone=TONES.get(verdict, "muted"), path=path)


def pointer(*parts: object) -> str:
    """Parts as a JSON pointer (RFC 6901): ``/a/b~1c``."""
    return "".join("/" + str(part).replace("~", "~0").replace("/", "~1") for part in parts)
