"""Marks that the figures share: rows with names at the left, counts at the right, and the room that they take."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from matplotlib.axes import Axes

from workbench.reports import style
from workbench.reports.labels import columns, short
from workbench.reports.numbers import whole
from workbench.reports.style import ARMS, MARKERS, MUTED, SURFACE

ROW = 0.34
"""Height of one row of a figure in inches."""
AXIS = 0.55
"""Height of an axis with its label in inches."""
_NAME_COLUMNS = 26

Summaries = Sequence[Mapping[str, Any]]


def lines(ax: Axes, at: int, lines: Sequence[tuple[float, float, float]], width: float) -> None:
    """Horizontal lines of arm ``at``: (y, from, to) each."""
    if lines:
        y, start, end = zip(*lines, strict=True)
        ax.hlines(y, start, end, colors=ARMS[at % 4], linewidth=width, clip_on=False)


def points(ax: Axes, at: int, points: Sequence[tuple[float, float]], *, hollow: bool = False) -> None:
    """Markers of arm ``at``: (y, value) each."""
    if points:
        y, x = zip(*points, strict=True)
        ax.plot(x, y, **style.marker(MARKERS[at % 4], ARMS[at % 4], hollow), clip_on=False, zorder=3 + at + (not hollow))


def rows(ax: Axes, names: Sequence[str]) -> None:
    """Names at the rows, the first one on top, and no line of the frame beside them."""
    ax.set_yticks(range(len(names)), [short(name, _NAME_COLUMNS) if name else "" for name in names])
    ax.set_ylim(len(names) - 0.5, -0.5)


def segment(
    ax: Axes, y: float, start: float, size: float, colour: str, text: str, per_column: float, height: float = 0.62
) -> None:
    """One part of a stacked bar with its value inside if it fits. per_column: width of a character / 100, in units of x."""
    if size <= 0:
        return
    ax.barh([y], [size], left=[start], height=height, color=colour, edgecolor=SURFACE, linewidth=0.8)
    if size > 100 * per_column * (len(text) + 1.5):
        ax.text(start + size / 2, y, text, ha="center", va="center", color=style.contrast(colour), fontsize=9)


def sizes(items: Summaries) -> str:
    """``n 12``, or ``n 12 / 11`` where the arms differ."""
    return f"n {' / '.join(dict.fromkeys(whole(item.get('n')) for item in items))}"


def count(ax: Axes, row: float, text: str) -> None:
    """A small text at the right of a row."""
    ax.text(1.03, row, text, transform=ax.get_yaxis_transform(), va="center", ha="left", fontsize=9, color=MUTED)


def offset(at: int, number: int) -> float:
    """Where arm ``at`` of ``number`` lies around the middle of its row."""
    return 0.0 if number == 1 else (at / (number - 1) - 0.5) * 0.36


def left(names: Sequence[str]) -> float:
    """Inches that the names at the rows need at the left."""
    return 0.35 + 0.083 * max((columns(short(name, _NAME_COLUMNS)) for name in names), default=0)


def right(texts: Sequence[str]) -> float:
    """Inches that texts at the right of the rows need."""
    return 0.3 + 0.075 * max((len(text) for text in texts), default=0)


def legend_height(texts: Sequence[str]) -> float:
    """Inches that a legend of these texts takes at most."""
    lines, x = 1, 0.12
    for text in texts:
        width = 0.5 + 0.085 * columns(short(text, 60))
        if x > 0.12 and x + width > style.WIDTH:
            lines, x = lines + 1, 0.12
        x += width
    return 0.22 * lines + 0.05


def cycle(colours: Sequence[str], number: int) -> list[str]:
    """The first ``number`` colours, from the beginning again when there are fewer."""
    return [colours[at % len(colours)] for at in range(number)]
