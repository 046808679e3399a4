"""The figures of a run's report. Each is a function of the run; None where there is nothing to draw."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from matplotlib.axes import Axes

from workbench.config import SIGNALS
from workbench.reports import style
from workbench.reports.facts import MAIN_METRIC, Run
from workbench.reports.labels import columns, label, short
from workbench.reports.numbers import known, number, whole
from workbench.reports.style import ARMS, INK, MARKERS, MUTED, OKABE_ITO, SURFACE, Drawing, Key

ROW = 0.34
"""Height of one row of a figure in inches."""
MOST_GROUPS = 60
"""Groups drawn; the table has all of them."""
_NAME_COLUMNS = 26
_AXIS = 0.55
_STAGE_COLOURS = ("#0072B2", *OKABE_ITO[1:5], OKABE_ITO[0], "#999999", "#D55E00")

Summaries = Sequence[Mapping[str, Any]]


def all_figures(run: Run) -> dict[str, Drawing]:
    """Every figure that this run has something for, by name."""
    made = (draw(run) for draw in (metrics, groups, losses, latency, weights))
    return {drawing.name: drawing for drawing in made if drawing is not None}


def metrics(run: Run) -> Drawing | None:
    """Mean and interval of every metric per arm; one panel per unit."""
    panels: dict[str, list[tuple[str, Summaries]]] = {}
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


def losses(run: Run) -> Drawing | None:
    """What became of the relevant entries: all fates as parts of the whole, then the losses alone on their own scale."""
    counts = {arm: {fate: int(run.arm(arm, "relevant_entries").get(fate) or 0) for fate in run.fates} for arm in run.arms}
    total = {arm: sum(counts[arm].values()) for arm in run.arms}
    if not any(total.values()):
        return None
    colours = dict(zip(reversed(run.fates), _cycle(OKABE_ITO, len(run.fates)), strict=True))
    shown = [fate for fate in reversed(run.fates) if any(counts[arm][fate] for arm in run.arms)]
    lost = [fate for fate in run.fates[:-1] if fate in shown]
    with style.settings("losses"):
        lower = 0.08 + _legend_height(run.arms) + ROW * max(len(lost), 1) + _AXIS
        height = 0.4 + _legend_height(shown) + ROW * len(run.arms) * 1.3 + _AXIS + lower
        figure = style.canvas(height, "What became of the relevant entries")
        top = style.legend(figure, [Key(label(fate), colours[fate]) for fate in shown], height - 0.38)
        left, width = _left([*run.arms, *lost]), style.WIDTH
        pairs = {fate: " / ".join(whole(counts[arm][fate]) for arm in run.arms) for fate in lost}
        right = _right([*pairs.values(), *(f"n {whole(total[arm])}" for arm in run.arms)])
        tall = ROW * len(run.arms) * 1.3
        ax = style.axes(figure, left, top - 0.05 - tall, width - left - right, tall)
        for position, arm in enumerate(run.arms):
            start = 0.0
            for fate in shown:
                size = 100.0 * counts[arm][fate] / total[arm] if total[arm] else 0.0
                _segment(ax, position, start, size, colours[fate], whole(counts[arm][fate]), 0.011)
                start += size
            _count(ax, position, f"n {whole(total[arm])}")
        _rows(ax, run.arms)
        ax.set_xlim(0, 100)
        ax.set_xlabel("share of relevant entries (%)")
        keys = [Key(short(arm), ARMS[at % 4], MARKERS[at % 4]) for at, arm in enumerate(run.arms)]
        top = style.legend(figure, keys, top - 0.05 - tall - _AXIS)
        tall = ROW * max(len(lost), 1)
        ax = style.axes(figure, left, top - 0.08 - tall, width - left - right, tall)
        if not lost:
            ax.text(0.5, 0.5, "no relevant entry was lost", transform=ax.transAxes, ha="center", va="center", color=MUTED)
        for at, arm in enumerate(run.arms):
            shares = [100.0 * counts[arm][fate] / total[arm] if total[arm] else 0.0 for fate in lost]
            places = [row + _offset(at, len(run.arms)) for row in range(len(lost))]
            _lines(ax, at, [(y, 0.0, share) for y, share in zip(places, shares, strict=True)], 2.0)
            _points(ax, at, list(zip(places, shares, strict=True)))
        for row, fate in enumerate(lost):
            _count(ax, row, pairs[fate])
        _rows(ax, lost or [""])
        ax.set_xlim(left=0)
        ax.set_xlabel("lost there, share of relevant entries (%); right: entries")
        return style.render(figure, "losses", "What became of the relevant entries")


def latency(run: Run) -> Drawing | None:
    """Stage medians stacked per arm, the total's 95th percentile with its interval, and the limit."""
    medians = {arm: {stage: run.arm(arm, "latency_ms").get(stage, {}).get("p50") for stage in run.stages} for arm in run.arms}
    totals = {arm: run.arm(arm, "latency_ms").get("total") or {} for arm in run.arms}
    if not any(known(totals[arm].get("p95")) for arm in run.arms):
        return None
    # a stage that nobody could see gets no entry in the legend
    longest = max(sum(value for value in medians[arm].values() if known(value)) for arm in run.arms)
    seen = [stage for stage in run.stages if any((medians[arm][stage] or 0.0) > 1e-4 * longest for arm in run.arms)]
    colours = dict(zip(run.stages, _cycle(_STAGE_COLOURS, len(run.stages)), strict=True))
    keys = [Key(label(stage), colours[stage]) for stage in seen]
    keys += [Key("p95 of the total", INK, "D")]
    tall = 0.62 * len(run.arms)
    with style.settings("latency"):
        height = 0.4 + _legend_height([key.text for key in keys]) + 0.25 + tall + _AXIS + 0.05
        figure = style.canvas(height, "Time per query: stage medians and the total's 95th percentile")
        top = style.legend(figure, keys, height - 0.38) - 0.25
        left = _left(run.arms)
        right = _right([f"n {whole(totals[arm].get('n'))}" for arm in run.arms])
        ax = style.axes(figure, left, top - tall, style.WIDTH - left - right, tall)
        limit = run.limit_ms
        ends = [totals[arm]["p95"] for arm in run.arms if known(totals[arm].get("p95"))]
        ends += [value for arm in run.arms for value in totals[arm].get("p95_ci95") or ()]
        end = 1.06 * max(limit, longest, *ends)
        for position, arm in enumerate(run.arms):
            start = 0.0
            for stage in seen:
                size = medians[arm][stage] or 0.0
                _segment(ax, position - 0.12, start, size, colours[stage], number(size, "ms"), 0.013 * end / 100, height=0.44)
                start += size
            y = position + 0.28
            if totals[arm].get("p95_ci95"):
                ax.plot(totals[arm]["p95_ci95"], [y, y], color=INK, linewidth=1.6, solid_capstyle="butt")
            if known(totals[arm].get("p95")):
                ax.plot([totals[arm]["p95"]], [y], **style.marker("D", INK), zorder=3)
            _count(ax, position, f"n {whole(totals[arm].get('n'))}")
        ax.axvline(limit, color=INK, linestyle=(0, (4, 3)), linewidth=1.2)
        above: dict[str, Any] = {"transform": ax.get_xaxis_transform(), "ha": "right", "va": "bottom", "fontsize": 9}
        ax.text(limit, 1.0, f"limit {number(limit, 'ms')} ms ", **above)
        _rows(ax, run.arms)
        ax.set_xlim(0, end)
        ax.set_xlabel("milliseconds per query; n timings")
        return style.render(figure, "latency", "Time per query")


def weights(run: Run) -> Drawing | None:
    """Nominal against effective weight of every signal per arm."""
    effective = {arm: run.arm(arm, "effective_weights") for arm in run.arms}
    if not any(known(value) for given in effective.values() for value in given.values()):
        return None
    keys = [Key(f"{short(arm)}: effective", ARMS[at % 4], MARKERS[at % 4]) for at, arm in enumerate(run.arms)]
    keys += [Key("hollow: nominal", INK, "o", hollow=True)]
    tall = 1.25 * ROW * len(SIGNALS)
    with style.settings("weights"):
        height = 0.4 + _legend_height([key.text for key in keys]) + 0.05 + tall + _AXIS
        figure = style.canvas(height, "Nominal and effective weight of the five signals")
        top = style.legend(figure, keys, height - 0.38) - 0.05
        left = _left(SIGNALS)
        ax = style.axes(figure, left, top - tall, style.WIDTH - left - 0.25, tall)
        for at, arm in enumerate(run.arms):
            places = {signal: row + _offset(at, len(run.arms)) for row, signal in enumerate(SIGNALS)}
            nominal = run.nominal(arm)
            counted = {signal: effective[arm][signal] for signal in SIGNALS if known(effective[arm].get(signal))}
            _lines(ax, at, [(places[signal], nominal[signal], value) for signal, value in counted.items()], 1.2)
            _points(ax, at, [(places[signal], nominal[signal]) for signal in SIGNALS], hollow=True)
            _points(ax, at, [(places[signal], value) for signal, value in counted.items()])
        _rows(ax, SIGNALS)
        ax.set_xlim(0, 1)
        queries = whole(run.content.get("n_queries"))
        ax.set_xlabel(f"share of the weight (sum 1); effective: mean over {queries} queries")
        return style.render(figure, "weights", "Nominal and effective weights")


def _dots(run: Run, name: str, title: str, panels: Sequence[tuple[Sequence[tuple[str, Summaries]], str, str]]) -> Drawing | None:
    """Rows of means with intervals, one marker per arm, n at the right; one panel per (rows, unit, label of the axis)."""
    if not any(known(item.get("mean")) for rows, _, _ in panels for _, items in rows for item in items):
        return None
    keys = [Key(short(arm), ARMS[at % 4], MARKERS[at % 4]) for at, arm in enumerate(run.arms)]
    left = _left([text for rows, _, _ in panels for text, _ in rows])
    right = _right([_sizes(items) for rows, _, _ in panels for _, items in rows])
    with style.settings(name):
        height = 0.4 + _legend_height([key.text for key in keys]) + sum(ROW * len(rows) + _AXIS + 0.08 for rows, _, _ in panels)
        figure = style.canvas(height, title)
        top = style.legend(figure, keys, height - 0.38)
        for rows, unit, text in panels:
            tall = ROW * len(rows)
            ax = style.axes(figure, left, top - 0.08 - tall, style.WIDTH - left - right, tall)
            _dot_panel(ax, rows, unit)
            ax.set_xlabel(text)
            top -= tall + _AXIS + 0.08
        return style.render(figure, name, title)


def _dot_panel(ax: Axes, rows: Sequence[tuple[str, Summaries]], unit: str) -> None:
    ends = [0.0]
    for at in range(len(rows[0][1])):
        places = [(row + _offset(at, len(items)), items[at]) for row, (_, items) in enumerate(rows)]
        lines = [(y, item["ci95"][0], item["ci95"][1]) for y, item in places if item.get("ci95") is not None]
        points = [(y, item["mean"]) for y, item in places if known(item.get("mean"))]
        _lines(ax, at, lines, 1.6)
        _points(ax, at, points)
        ends += [end for line in lines for end in line[1:]] + [value for _, value in points]
    for row, (_, items) in enumerate(rows):
        if not any(known(item.get("mean")) for item in items):
            ax.text(0.01, row, "no data", transform=ax.get_yaxis_transform(), va="center", color=MUTED, fontsize=9)
        _count(ax, row, _sizes(items))
    _rows(ax, [text for text, _ in rows])
    if unit == "share":
        ax.set_xlim(min(0.0, *ends), max(1.0, *ends))
    else:
        ax.set_xlim(min(0.0, *ends), max(ends) * 1.04 or 1.0)


def _lines(ax: Axes, at: int, lines: Sequence[tuple[float, float, float]], width: float) -> None:
    """Horizontal lines of arm ``at``: (y, from, to) each."""
    if lines:
        y, start, end = zip(*lines, strict=True)
        ax.hlines(y, start, end, colors=ARMS[at % 4], linewidth=width, clip_on=False)


def _points(ax: Axes, at: int, points: Sequence[tuple[float, float]], *, hollow: bool = False) -> None:
    """Markers of arm ``at``: (y, value) each."""
    if points:
        y, x = zip(*points, strict=True)
        ax.plot(x, y, **style.marker(MARKERS[at % 4], ARMS[at % 4], hollow), clip_on=False, zorder=3 + at + (not hollow))


def _rows(ax: Axes, names: Sequence[str]) -> None:
    """Names at the rows, the first one on top, and no line of the frame beside them."""
    ax.set_yticks(range(len(names)), [short(name, _NAME_COLUMNS) if name else "" for name in names])
    ax.set_ylim(len(names) - 0.5, -0.5)


def _segment(
    ax: Axes, y: float, start: float, size: float, colour: str, text: str, per_column: float, height: float = 0.62
) -> None:
    """One part of a stacked bar with its value inside if it fits. per_column: width of a character / 100, in units of x."""
    if size <= 0:
        return
    ax.barh([y], [size], left=[start], height=height, color=colour, edgecolor=SURFACE, linewidth=0.8)
    if size > 100 * per_column * (len(text) + 1.5):
        ax.text(start + size / 2, y, text, ha="center", va="center", color=style.contrast(colour), fontsize=9)


def _sizes(items: Summaries) -> str:
    """``n 12``, or ``n 12 / 11`` where the arms differ."""
    return f"n {' / '.join(dict.fromkeys(whole(item.get('n')) for item in items))}"


def _count(ax: Axes, row: float, text: str) -> None:
    ax.text(1.03, row, text, transform=ax.get_yaxis_transform(), va="center", ha="left", fontsize=9, color=MUTED)


def _offset(at: int, count: int) -> float:
    """Where arm ``at`` of ``count`` lies around the middle of its row."""
    return 0.0 if count == 1 else (at / (count - 1) - 0.5) * 0.36


def _left(names: Sequence[str]) -> float:
    """Inches that the names at the rows need at the left."""
    return 0.35 + 0.083 * max((columns(short(name, _NAME_COLUMNS)) for name in names), default=0)


def _right(texts: Sequence[str]) -> float:
    """Inches that texts at the right of the rows need."""
    return 0.3 + 0.075 * max((len(text) for text in texts), default=0)


def _legend_height(texts: Sequence[str]) -> float:
    """Inches that a legend of these texts takes at most."""
    lines, x = 1, 0.12
    for text in texts:
        width = 0.5 + 0.085 * columns(short(text, 60))
        if x > 0.12 and x + width > style.WIDTH:
            lines, x = lines + 1, 0.12
        x += width
    return 0.22 * lines + 0.05


def _cycle(colours: Sequence[str], count: int) -> list[str]:
    return [colours[at % len(colours)] for at in range(count)]
