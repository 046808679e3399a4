"""Figures of what was chosen of many: recall against tokens, what a step of budget buys, held-out users, differences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from workbench.reports import draw, style
from workbench.reports.labels import label, short
from workbench.reports.numbers import known, number, whole
from workbench.reports.style import ARMS, INK, MARKERS, MUTED, Drawing, Key

Point = tuple[float, float]


def frontier(
    points: Sequence[Point],
    front: Sequence[int],
    chosen: int | None,
    *,
    metric: str,
    unit: str,
    n: int,
    cost: str = "Tokens",
    intervals: Sequence[tuple[float, float]] | None = None,
    mark: str = "chosen",
) -> Drawing | None:
    """Every configuration at (cost, metric), the Pareto front as a line, one row as a diamond called ``mark``.

    points: (cost, merit) per row, NaN where undefined. n: queries behind a mean. intervals: 95 % of the merit per row, drawn on
    the front.
    """
    usable = [(x, y) for x, y in points if known(x) and known(y)]
    if len(usable) < 2:
        return None
    title = f"{label(metric)} against {label(cost)}, {whole(len(usable))} configurations"
    keys = [Key("configuration", MUTED, "o", hollow=True)]
    best = [points[at] for at in front if known(points[at][0]) and known(points[at][1])]
    front_text = "not beaten in both (Pareto front)" + (", 95 % interval" if intervals is not None else "")
    keys += [Key(front_text, ARMS[0], "o")] if best else []
    keys += [Key(mark, ARMS[1], "D")] if chosen is not None else []
    with style.settings("frontier"):
        tall, legend = 3.1, draw.legend_height([key.text for key in keys])
        height = 0.4 + legend + tall + draw.AXIS + 0.3
        figure = style.canvas(height, title)
        top = style.legend(figure, keys, height - 0.38) - 0.3
        style.write(figure, 0.12, top + 0.16, f"mean {label(metric)} ({label(unit)})", color=MUTED, fontsize=9)
        ax = style.axes(figure, 0.75, top - tall, style.WIDTH - 1.0, tall)
        ax.grid(axis="y")
        ax.plot(
            [x for x, _ in usable], [y for _, y in usable], linestyle="none", marker="o", markersize=3.5,
            markerfacecolor="none", markeredgecolor=MUTED, markeredgewidth=0.7,
        )  # fmt: skip
        if best and intervals is not None:
            ends = [(points[at][0], *intervals[at]) for at in front if known(points[at][0]) and all(map(known, intervals[at]))]
            ax.vlines([x for x, _, _ in ends], [y for _, y, _ in ends], [y for _, _, y in ends], color=ARMS[0], linewidth=1.1)
        if best:
            ax.plot([x for x, _ in best], [y for _, y in best], color=ARMS[0], linewidth=1.4, marker="o", markersize=5)
        if chosen is not None and known(points[chosen][0]) and known(points[chosen][1]):
            ax.plot(*([value] for value in points[chosen]), **style.marker("D", ARMS[1]), zorder=5)
        ax.set_xlabel(f"mean {label(cost)} per prompt; each point over {whole(n)} queries")
        ax.margins(0.04)
        return style.render(figure, "frontier", title)


def marginal(rows: Sequence[Mapping[str, Any]]) -> Drawing | None:
    """Recall gained by each step of one tier's budget, with its interval."""
    shown = [row for row in rows if known(row["recall"])]
    if not shown:
        return None
    title = "What another step of a tier's budget buys, mean and 95 % interval"
    names = [f"{label(row['tier'])} {whole(row['budget_from'])}–{whole(row['budget_to'])}" for row in shown]
    texts = [f"+{number(row['tokens'], 'tokens')} tokens, n {whole(row['n'])}" for row in shown]
    with style.settings("marginal"):
        tall = draw.ROW * len(shown)
        height = 0.5 + tall + draw.AXIS
        figure = style.canvas(height, title)
        left, right = draw.left(names), draw.right(texts)
        ax = style.axes(figure, left, height - 0.45 - tall, style.WIDTH - left - right, tall)
        ax.axvline(0.0, color=MUTED, linewidth=0.8)
        bounds = [(at, row["ci95_low"], row["ci95_high"]) for at, row in enumerate(shown) if known(row["ci95_low"])]
        draw.lines(ax, 0, bounds, 1.6)
        draw.points(ax, 0, [(at, row["recall"]) for at, row in enumerate(shown)])
        for at, text in enumerate(texts):
            draw.count(ax, at, text)
        draw.rows(ax, names)
        ax.set_xlabel("context recall gained (share); right: tokens used more")
        return style.render(figure, "marginal", title)


def folds(rows: Sequence[Mapping[str, Any]], metric: str, unit: str) -> Drawing | None:
    """Per held-out user: the baseline, the choice made without that user, and the mean it was chosen by."""
    shown = [row for row in rows if known(row["held_out"])]
    if not shown:
        return None
    title = f"{label(metric)} of users that were held out"
    keys = [Key("baseline", ARMS[0], MARKERS[0]), Key("chosen without this user", ARMS[1], MARKERS[1])]
    keys.append(Key("hollow: mean on the users it was chosen by", INK, "D", hollow=True))
    sizes = [f"n {whole(row['n'])}" for row in shown]
    with style.settings("folds"):
        tall = draw.ROW * len(shown)
        legend = draw.legend_height([key.text for key in keys])
        height = 0.4 + legend + tall + draw.AXIS + 0.08
        figure = style.canvas(height, title)
        top = style.legend(figure, keys, height - 0.38) - 0.08
        left, right = draw.left([row["held_out_user"] for row in shown]), draw.right(sizes)
        ax = style.axes(figure, left, top - tall, style.WIDTH - left - right, tall)
        ends: list[float] = []
        for at, row in enumerate(shown):
            pair = [value for value in (row["baseline"], row["held_out"]) if known(value)]
            ends += [*pair, row["train"]]
            ax.plot(pair, [at] * len(pair), color=MUTED, linewidth=1.0, zorder=1)
            ax.plot([row["train"]], [at], **style.marker("D", INK, hollow=True), zorder=2)
        draw.points(ax, 0, [(at, row["baseline"]) for at, row in enumerate(shown) if known(row["baseline"])])
        draw.points(ax, 1, [(at, row["held_out"]) for at, row in enumerate(shown)])
        for at, text in enumerate(sizes):
            draw.count(ax, at, text)
        draw.rows(ax, [short(row["held_out_user"], 24) for row in shown])
        room = 0.08 * (max(ends) - min(ends)) or 0.01
        ax.set_xlim(min(ends) - room, max(ends) + room)
        ax.set_xlabel(f"mean {label(metric)} ({label(unit)}); the axis does not begin at 0")
        return style.render(figure, "folds", title)


def differences(rows: Sequence[tuple[str, Mapping[str, Any]]], *, name: str, title: str, axis: str) -> Drawing | None:
    """Differences with their intervals, one row each: (name, a recorded row of a comparison)."""
    shown = [(text, row) for text, row in rows if known(row.get("difference"))]
    if not shown:
        return None
    texts = [f"n {whole(row['n'])}" for _, row in shown]
    with style.settings(name):
        tall = draw.ROW * len(shown)
        height = 0.5 + tall + draw.AXIS
        figure = style.canvas(height, title)
        left, right = draw.left([text for text, _ in shown]), draw.right(texts)
        ax = style.axes(figure, left, height - 0.45 - tall, style.WIDTH - left - right, tall)
        ax.axvline(0.0, color=MUTED, linewidth=0.8)
        draw.lines(ax, 1, [(at, *row["ci95"]) for at, (_, row) in enumerate(shown) if row.get("ci95")], 1.6)
        draw.points(ax, 1, [(at, row["difference"]) for at, (_, row) in enumerate(shown)])
        for at, text in enumerate(texts):
            draw.count(ax, at, text)
        draw.rows(ax, [text for text, _ in shown])
        ax.set_xlabel(axis)
        return style.render(figure, name, title)
