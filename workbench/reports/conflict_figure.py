"""The contradiction test in two figures: how similar each kind of pair is, and what share of it the test flags.

Both take what is recorded, ``ConflictEvaluation.to_dict()``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from workbench.errors import DataError
from workbench.reports import draw, style
from workbench.reports.labels import label
from workbench.reports.style import ARMS, GRID, INK, MARKERS, MUTED, Drawing, Key


def similarity_figure(content: Mapping[str, Any]) -> Drawing:
    """Spread of the cosine per label with the band in which pairs are proposed. Raises DataError without an encoder's cosines."""
    profile = content.get("similarity")
    if not profile:
        raise DataError("the evaluation has no cosines; measure it with an encoder, such as encoder='bundled'")
    percentiles = profile["percentiles"]
    names = list(percentiles)
    tall = 0.5 * len(names)
    keys = [Key("median", INK, "o"), Key("25th to 75th percentile", MUTED), Key("thin: 5th to 95th", MUTED), Key("band", GRID)]
    with style.settings("similarity"):
        height = 0.4 + draw.legend_height([key.text for key in keys]) + 0.15 + tall + draw.AXIS
        figure = style.canvas(height, "How similar are conflicting, equal and compatible statements?")
        top = style.legend(figure, keys, height - 0.38) - 0.1
        left = draw.left(names)
        ax = style.axes(figure, left, top - tall, style.WIDTH - left - 0.3, tall)
        if profile["band"] is not None:
            ax.axvspan(*profile["band"], color=GRID, zorder=0)
        for y, name in enumerate(names):
            spread = {int(rank): value for rank, value in percentiles[name].items()}
            colour = ARMS[y % len(ARMS)]
            ax.plot([spread[5], spread[95]], [y, y], color=colour, linewidth=1.4)
            ax.plot([spread[25], spread[75]], [y, y], color=colour, linewidth=6, solid_capstyle="butt")
            ax.plot([spread[50]], [y], **style.marker("o", INK), zorder=4)
        draw.rows(ax, names)
        ax.set_xlim(min(0.0, *(min(values.values()) for values in percentiles.values())), 1.0)
        encoder = str(profile["encoder"]).partition("@")[0]
        ax.set_xlabel(f"cosine of the two statements, {label(encoder)}; n {content['overall']['n']} pairs")
        return style.render(figure, "similarity", "Cosine per label")


def flagged_figure(content: Mapping[str, Any]) -> Drawing | None:
    """Share of each kind of pair that the test calls a conflict, with 95 % Wilson intervals; a colour and marker per label.
    None without pairs."""
    rows = list(content["by_kind"])
    if not rows:
        return None
    labels = list(dict.fromkeys(row["label"] for row in rows))
    names = [row["kind"] if row["label"] == labels[0] else f"{row['kind']} ({row['label']})" for row in rows]
    tall = draw.ROW * len(rows)
    keys = [Key(name, ARMS[at % 4], MARKERS[at % 4]) for at, name in enumerate(labels)]
    with style.settings("flagged"):
        height = 0.4 + draw.legend_height([key.text for key in keys]) + 0.15 + tall + draw.AXIS
        figure = style.canvas(height, f"What does the test {label(content['test'])} call a conflict?")
        top = style.legend(figure, keys, height - 0.38) - 0.1
        left, right = draw.left(names), draw.right(["n 999"])
        ax = style.axes(figure, left, top - tall, style.WIDTH - left - right, tall)
        for y, row in enumerate(rows):
            at = labels.index(row["label"])
            if row["interval"] is not None and row["share"] is not None:
                draw.lines(ax, at, [(y, *row["interval"])], 1.6)
                draw.points(ax, at, [(y, row["share"])])
            draw.count(ax, y, f"n {row['n']}")
        draw.rows(ax, names)
        ax.set_xlim(0, 1)
        ax.set_xlabel("share of n pairs called a conflict, 95 % Wilson interval")
        return style.render(figure, "flagged", "Share flagged per kind of pair")
