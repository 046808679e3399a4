"""Tables cut to the width of a screen: columns that do not fit go into a further table that names its rows again."""

from __future__ import annotations

from dataclasses import replace

from workbench.columns import fitting
from workbench.reports.cells import Cell, Column, Table, flat

# longer texts are folded within their cell
_LONGEST = 36


def parts_of(table: Table, width: int) -> tuple[Table, ...]:
    """The table itself where it fits ``width`` columns of text, else several with the same rows; no column is left out."""
    rows = table.rows
    sizes = [_size(column, [row[at] for row in rows if at < len(row)]) for at, column in enumerate(table.columns)]
    if len(fitting(sizes, width)) == 1 or len(sizes) < 3:
        return (table,)
    keys = 0
    while keys < len(table.columns) - 1 and all(row[keys].head for row in rows if keys < len(row)) and rows:
        keys += 1
    groups = fitting(sizes, width, keys=max(keys, 1))
    return tuple(
        replace(
            table,
            caption=table.caption if not number else f"{table.caption} (continued)",
            columns=tuple(table.columns[at] for at in group),
            bodies=flat([[row[at] for at in group if at < len(row)] for row in rows]),
            notes=table.notes if number == len(groups) - 1 else (),
        )
        for number, group in enumerate(groups)
    )


def _size(column: Column, cells: list[Cell]) -> int:
    lines = [column.text, column.sub, *(line for cell in cells for line in (cell.text, *cell.subs))]
    return min(_LONGEST, max(map(len, lines)))
