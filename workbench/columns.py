"""Tables as plain text for screens of any width: what does not fit stands in a further table below, nothing is left out."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

_WIDTH: ContextVar[int | None] = ContextVar("width", default=None)
_GAP = "  "


@contextmanager
def fitted(width: int | None) -> Iterator[None]:
    """In this context texts of results keep to ``width`` columns; None (as outside): one table each, however wide."""
    token = _WIDTH.set(width)
    try:
        yield
    finally:
        _WIDTH.reset(token)


def screen_width() -> int | None:
    """The columns that texts have to keep to; None when they are free."""
    return _WIDTH.get()


def aligned(rows: Sequence[Mapping[str, str]], *, keys: int = 1, right: frozenset[str] | None = None) -> str:
    """Rows of cells as lines with a head; the columns are those of the first row.

    keys: so many first columns name the row and stand in every part. right: columns set to the right (None: all but the keys).
    """
    if not rows:
        return "(no rows)"
    names = list(rows[0])
    flush = right if right is not None else frozenset(names[keys:])
    size = {name: max(len(name), *(len(row[name]) for row in rows)) for name in names}
    parts = []
    width = screen_width()
    groups = [range(len(names))] if width is None else fitting([size[name] for name in names], width, keys=keys)
    for group in groups:
        part = [names[at] for at in group]
        lines = [{name: name for name in part}, *rows]
        padded = [
            [row[name].rjust(size[name]) if name in flush else row[name].ljust(size[name]) for name in part] for row in lines
        ]
        parts.append("\n".join(_GAP.join(cells).rstrip() for cells in padded))
    return "\n\n".join(parts)


def fitting(sizes: Sequence[int], width: int, *, keys: int = 1) -> list[list[int]]:
    """Numbers of columns in groups that take at most ``width`` with the gaps between them; the first ``keys`` are in each group.

    A column that is too wide beside the keys has a group of its own.
    """
    head = list(range(keys))
    groups = [list(head)]
    for at in range(keys, len(sizes)):
        taken = [*groups[-1], at]
        if len(taken) > keys + 1 and sum(sizes[each] for each in taken) + len(_GAP) * (len(taken) - 1) > width:
            groups.append(list(head))
        groups[-1].append(at)
    return groups


def frame_text(frame: pd.DataFrame, digits: Callable[[float], str] | None = None, *, keys: int = 1) -> str:
    """A table of pandas as text: whole where there is room, else in parts that repeat the first ``keys`` columns."""
    if screen_width() is None:
        text: str = frame.to_string(index=False, float_format=digits)
        return text
    if not keys:
        frame = frame.copy()
        frame.insert(0, "", range(1, len(frame) + 1))
    cells = {
        str(name): frame[[name]].to_string(index=False, header=False, float_format=digits).split("\n") if len(frame) else []
        for name in frame.columns
    }
    rows = [{name: column[at].strip() for name, column in cells.items()} for at in range(len(frame))]
    words = frozenset(str(name) for name in frame.columns if frame[name].dtype.kind not in "biuf")
    return aligned(rows, keys=max(keys, 1), right=frozenset(cells) - words) if rows else f"{_GAP.join(cells)}\n(no rows)"


def wrapped(text: str) -> str:
    """Lines of prose broken at the width of the screen; those of tables, which have gaps inside, stay as they are."""
    width = screen_width()
    if width is None:
        return text
    out = []
    for line in text.split("\n"):
        inner = line.lstrip(" ")
        indent = line[: len(line) - len(inner)]
        if len(line) <= width or _GAP in inner:
            out.append(line)
        else:
            more = f"{indent}  "
            out += textwrap.wrap(
                inner, width, initial_indent=indent, subsequent_indent=more, break_long_words=False, break_on_hyphens=False
            )
    return "\n".join(out)
