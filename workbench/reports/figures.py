"""The figures of a run's report. Each is a function of the run; None where there is nothing to draw."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from matplotlib.axes import Axes

from workbench.config import SIGNALS
from workbench.reports import draw, style
from workbench.reports.facts import MAIN_METRIC, Run
from workbench.reports.labels import label, short
from workbench.reports.losses_figure import losses
from workbench.reports.numbers import known, number, whole
from workbench.reports.style import ARMS, INK, MARKERS, MUTED, OKABE_ITO, Drawing, Key

_Panel = tuple[Sequence[tuple[str, draw.Summaries]], str, str]
MOST_GROUPS = 60
"""Groups drawn; the table has all of them."""
_STAGE_COLOURS = ("#0072B2", *OKABE_ITO[1:5], OKABE_ITO[0], "#999999", "#D55E00")


def all_figures(run: Run) -> dict[str, Drawing]:
    """Every figure that this run has something for, by name."""
    made = (figure(run) for figure in (metrics, groups, losses, latency, weights))
    return {drawing.name: drawing for drawing in made if drawing is not None}


def metrics(run: Run) -> Drawing | None:
    """Mean and interval of every metric per arm; one panel per unit."""
    panels: dict[str, list[tuple[str, draw.Summaries]]] = {}
    for name in run.metrics:
        arrow = "↑" if run.higher_is_better(name) else "↓"
        row = (f"{label(name)} {arrow}", [run.summary(arm, name) for arm in run.arms])
        panels.setdefault(run.unit(name), []).append(row)
    axis = {unit: f"mean over n queries ({'share' if unit == 'share' else label(unit)})" for unit in panels}
    return _dots(run, "metrics", "Metrics per arm, mean and 95 % interval", [(panels[unit], unit, axis[unit]) for unit in panels])


def groups(run: Run) -> Drawing | None:
    """Mean and interval of the main metric per group and arm."""
    metric = MAIN_METRIC if MAIN_METRIC in run.metrics else run.main
    if metric is None or not run.groups:
        return None
    rows = [(group, [run.summary(arm, metric, group) for arm in run.arms]) for group in drawn_groups(run, metric)]
    unit = run.unit(metric)
    title = f"{label(metric)} per {run.group_name} and arm, mean and 95 % interval"
    return _dots(run, "groups", title, [(rows, unit, f"mean {label(metric)} over n queries ({label(unit)})")])


def drawn_groups(run: Run, metric: str) -> tuple[str, ...]:
    """The groups a figure shows: all, or those with most queries, in the order of the table."""
    if len(run.groups) <= MOST_GROUPS:
        return run.groups
    size = {group: max(run.summary(arm, metric, group).get("n") or 0 for arm in run.arms) for group in run.groups}
    largest = set(sorted(run.groups, key=lambda group: -size[group])[:MOST_GROUPS])
    return tuple(group for group in run.groups if group in largest)


def latency(run: Run) -> Drawing | None:
    """Stage medians stacked per arm, the total's 95th percentile with its interval, and the limit."""
    medians = {arm: {stage: run.arm(arm, "latency_ms").get(stage, {}).get("p50") for stage in run.stages} for arm in run.arms}
    totals = {arm: run.arm(arm, "latency_ms").get("total") or {} for arm in run.arms}
    if not any(known(totals[arm].get("p95")) for arm in run.arms):
        return None
    # a stage that nobody could see gets no entry in the legend
    longest = max(sum(value for value in medians[arm].values() if known(value)) for arm in run.arms)
    seen = [stage for stage in run.stages if any((medians[arm][stage] or 0.0) > 1e-4 * longest for arm in run.arms)]
    colours = dict(zip(run.stages, draw.cycle(_STAGE_COLOURS, len(run.stages)), strict=True))
    keys = [Key(label(stage), colours[stage]) for stage in seen]
    keys += [Key("p95 of the total", INK, "D")]
    tall = 0.62 * len(run.arms)
    with style.settings("latency"):
        height = 0.4 + draw.legend_height([key.text for key in keys]) + 0.25 + tall + draw.AXIS + 0.05
        figure = style.canvas(height, "Time per query: stage medians and the total's 95th percentile")
        top = style.legend(figure, keys, height - 0.38) - 0.25
        left = draw.left(run.arms)
        right = draw.right([f"n {whole(totals[arm].get('n'))}" for arm in run.arms])
        ax = style.axes(figure, left, top - tall, style.WIDTH - left - right, tall)
        limit = run.limit_ms
        ends = [totals[arm]["p95"] for arm in run.arms if known(totals[arm].get("p95"))]
        ends += [value for arm in run.arms for value in totals[arm].get("p95_ci95") or ()]
        end = 1.06 * max(limit, longest, *ends)
        for position, arm in enumerate(run.arms):
            start = 0.0
            for stage in seen:
                size = medians[arm][stage] or 0.0
                draw.segment(ax, position - 0.12, start, size, colours[stage], number(size, "ms"), 0.013 * end / 100, height=0.44)
                start += size
            y = position + 0.28
            if totals[arm].get("p95_ci95"):
                ax.plot(totals[arm]["p95_ci95"], [y, y], color=INK, linewidth=1.6, solid_capstyle="butt")
            if known(totals[arm].get("p95")):
                ax.plot([totals[arm]["p95"]], [y], **style.marker("D", INK), zorder=3)
            draw.count(ax, position, f"n {whole(totals[arm].get('n'))}")
        ax.axvline(limit, color=INK, linestyle=(0, (4, 3)), linewidth=1.2)
        above: dict[str, Any] = {"transform": ax.get_xaxis_transform(), "ha": "right", "va": "bottom", "fontsize": 9}
        ax.text(limit, 1.0, f"limit {number(limit, 'ms')} ms ", **above)
        draw.rows(ax, run.arms)
        ax.set_xlim(0, end)
        ax.set_xlabel("milliseconds per query; n timings")
        return style.render(figure, "latency", "Time per query")


def weights(run: Run) -> Drawing | None:
    """Nominal against effective weight of every signal per arm."""
    arms = [(arm, run.nominal(arm), run.arm(arm, "effective_weights")) for arm in run.arms]
    if not any(known(value) for _, _, effective in arms for value in effective.values()):
        return None
    queries = whole(run.content.get("n_queries"))
    return weights_of(arms, f"share of the weight (sum 1); effective: mean over {queries} queries")


def weights_of(arms: Sequence[tuple[str, Mapping[str, float], Mapping[str, float | None]]], axis: str) -> Drawing:
    """The same of (name, nominal weights that sum to 1, effective ones as far as they are known) per arm."""
    keys = [Key(f"{short(arm)}: effective", ARMS[at % 4], MARKERS[at % 4]) for at, (arm, _, _) in enumerate(arms)]
    keys += [Key("hollow: nominal", INK, "o", hollow=True)]
    tall = 1.25 * draw.ROW * len(SIGNALS)
    with style.settings("weights"):
        height = 0.4 + draw.legend_height([key.text for key in keys]) + 0.05 + tall + draw.AXIS
        figure = style.canvas(height, "Nominal and effective weight of the five signals")
        top = style.legend(figure, keys, height - 0.38) - 0.05
        left = draw.left(SIGNALS)
        ax = style.axes(figure, left, top - tall, style.WIDTH - left - 0.25, tall)
        for at, (_, nominal, effective) in enumerate(arms):
            places = {signal: row + draw.offset(at, len(arms)) for row, signal in enumerate(SIGNALS)}
            counted = {signal: value for signal in SIGNALS if known(value := effective.get(signal))}
            draw.lines(ax, at, [(places[signal], nominal[signal], value) for signal, value in counted.items()], 1.2)
            draw.points(ax, at, [(places[signal], nominal[signal]) for signal in SIGNALS], hollow=True)
            draw.points(ax, at, [(places[signal], value) for signal, value in counted.items()])
        draw.rows(ax, SIGNALS)
        ax.set_xlim(0, 1)
        ax.set_xlabel(axis)
        return style.render(figure, "weights", "Nominal and effective weights")


def _dots(
    run: Run, name: str, title: str, panels: Sequence[tuple[Sequence[tuple[str, draw.Summaries]], str, str]]
) -> Drawing | None:
    """Rows of means with intervals, one marker per arm, n at the right; one panel per (rows, unit, label of the axis)."""
    if not any(known(item.get("mean")) for rows, _, _ in panels for _, items in rows for item in items):
        return None
    keys = [Key(short(arm), ARMS[at % 4], MARKERS[at % 4]) for at, arm in enumerate(run.arms)]
    left = draw.left([text for rows, _, _ in panels for text, _ in rows])
    right = draw.right([draw.sizes(items) for rows, _, _ in panels for _, items in rows])
    with style.settings(name):
        height = (
            0.4
            + draw.legend_height([key.text for key in keys])
            + sum(draw.ROW * len(rows) + draw.AXIS + 0.08 for rows, _, _ in panels)
        )
        figure = style.canvas(height, title)
        top = style.legend(figure, keys, height - 0.38)
        for rows, unit, text in panels:
            tall = draw.ROW * len(rows)
            ax = style.axes(figure, left, top - 0.08 - tall, style.WIDTH - left - right, tall)
            _dot_panel(ax, rows, unit)
            ax.set_xlabel(text)
            top -= tall + draw.AXIS + 0.08
        return style.render(figure, name, title)


def _dot_panel(ax: Axes, rows: Sequence[tuple[str, draw.Summaries]], unit: str) -> None:
    ends = [0.0]
    for at in range(len(rows[0][1])):
        places = [(row + draw.offset(at, len(items)), items[at]) for row, (_, items) in enumerate(rows)]
        lines = [(y, item["ci95"][0], item["ci95"][1]) for y, item in places if item.get("ci95") is not None]
        points = [(y, item["mean"]) for y, item in places if known(item.get("mean"))]
        draw.lines(ax, at, lines, 1.6)
        draw.points(ax, at, points)
        ends += [end for line in lines for end in line[1:]] + [value for _, value in points]
    for row, (_, items) in enumerate(rows):
        if not any(known(item.get("mean")) for item in items):
            ax.text(0.01, row, "no data", transform=ax.get_yaxis_transform(), va="center", color=MUTED, fontsize=9)
        draw.count(ax, row, draw.sizes(items))
    draw.rows(ax, [text for text, _ in rows])
    if unit == "share":
        ax.set_xlim(min(0.0, *ends), max(1.0, *ends))
    else:
        ax.set_xlim(min(0.0, *ends), max(ends) * 1.04 or 1.0)
