"""The figures of a latency profile, each with the sentence that says what it shows; None where there is nothing to draw."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from workbench.assembly.stages import PARTS
from workbench.reports import draw, style
from workbench.reports.labels import label, short
from workbench.reports.numbers import number, whole
from workbench.reports.style import ARMS, INK, MARKERS, OKABE_ITO, Drawing, Key

_COLOURS = dict(zip(PARTS, ("#0072B2", *OKABE_ITO[1:5], OKABE_ITO[0], "#999999"), strict=True))
_DASHES: tuple[Any, ...] = ("-", (0, (5, 2)), (0, (1.5, 1.5)), (0, (6, 2, 1.5, 2)))
_PLOT = 2.5

Figure = tuple[Drawing, str]
Samples = Mapping[tuple[int, str], Mapping[str, Sequence[float]]]


def latency_figures(content: Mapping[str, Any], samples: Samples) -> dict[str, Figure]:
    """Every figure that the profile has something for, by name, with its sentence. content: of a timed profile."""
    made = {
        "stages": stages(content),
        "distribution": distribution(content, samples),
        "growth": growth(content),
        "tradeoff": tradeoff(content),
    }
    return {name: figure for name, figure in made.items() if figure is not None}


def _timed(content: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return [cell for cell in content["cells"] if cell.get("latency", {}).get("stages", {}).get("total", {}).get("n")]


def _name(cell: Mapping[str, Any]) -> str:
    return f"{cell['size']:,} · {short(str(cell['config']), 16)}"


def stages(content: Mapping[str, Any]) -> Figure | None:
    """Medians of the stages stacked, and the 95th percentile of the total with its interval, per size and configuration."""
    cells = _timed(content)
    if not cells:
        return None
    table = {id(cell): cell["latency"]["stages"] for cell in cells}
    longest = max(sum(table[id(cell)][stage]["p50"] for stage in PARTS) for cell in cells)
    seen = [stage for stage in PARTS if any(table[id(cell)][stage]["p50"] > 1e-3 * longest for cell in cells)]
    totals = [table[id(cell)]["total"] for cell in cells]
    limit = float(content["latency"]["limit_ms"])
    end = 1.06 * max(longest, *(item["p95"] for item in totals), *(bound for item in totals for bound in item["p95_ci95"] or ()))
    keys = [Key(label(stage), _COLOURS[stage]) for stage in seen] + [Key("p95 of the total, 95 % interval", INK, "D")]
    with style.settings("latency-stages"):
        tall = 1.5 * draw.ROW * len(cells)
        height = 0.45 + draw.legend_height([key.text for key in keys]) + 0.25 + tall + draw.AXIS
        figure = style.canvas(height, "Where the time of a query goes")
        top = style.legend(figure, keys, height - 0.38) - 0.25
        left = draw.left([_name(cell) for cell in cells])
        right = draw.right([f"n {whole(item['n'])}" for item in totals])
        ax = style.axes(figure, left, top - tall, style.WIDTH - left - right, tall)
        for row, cell in enumerate(cells):
            start = 0.0
            for stage in seen:
                size = max(table[id(cell)][stage]["p50"], 0.0)
                draw.segment(ax, row - 0.14, start, size, _COLOURS[stage], number(size, "ms"), 0.013 * end / 100, height=0.42)
                start += size
            item = table[id(cell)]["total"]
            if item["p95_ci95"]:
                ax.plot(item["p95_ci95"], [row + 0.25] * 2, color=INK, linewidth=1.6, solid_capstyle="butt")
            ax.plot([item["p95"]], [row + 0.25], **style.marker("D", INK), zorder=3)
            draw.count(ax, row, f"n {whole(item['n'])}")
        if limit <= end:
            ax.axvline(limit, color=INK, linestyle=(0, (4, 3)), linewidth=1.2)
            place: dict[str, Any] = {"transform": ax.get_xaxis_transform(), "ha": "right", "va": "bottom", "fontsize": 9}
            ax.text(limit, 1.0, f"limit {limit:g} ms ", **place)
        draw.rows(ax, [_name(cell) for cell in cells])
        ax.set_xlim(0, end)
        ax.set_xlabel("milliseconds per query; bars: medians of the stages")
        drawing = style.render(figure, "latency-stages", "Where the time of a query goes")
    longest_cell = max(cells, key=lambda cell: table[id(cell)]["total"]["p50"])
    stage = max(PARTS, key=lambda name: table[id(longest_cell)][name]["p50"])
    share = 100 * table[id(longest_cell)][stage]["p50"] / max(table[id(longest_cell)]["total"]["p50"], 1e-9)
    beyond = "" if limit <= end else f" The limit of {limit:g} ms lies beyond the axis."
    return drawing, (
        f"At {longest_cell['size']:,} entries under {label(longest_cell['config'])} the longest stage is {stage}: its median is "
        f"{share:.0f} % of the median total of {number(table[id(longest_cell)]['total']['p50'], 'ms')} ms.{beyond}"
    )


def distribution(content: Mapping[str, Any], samples: Samples) -> Figure | None:
    """Share of the queries answered within a time, per size (colour) and configuration (dashes), with the limit."""
    cells = [cell for cell in _timed(content) if samples.get((cell["size"], cell["config"]), {}).get("total")]
    if not cells:
        return None
    sizes = sorted({cell["size"] for cell in cells})
    names = list(dict.fromkeys(cell["config"] for cell in cells))
    limit = float(content["latency"]["limit_ms"])
    keys = [Key(_with_n(cell), ARMS[sizes.index(cell["size"]) % 4], "bar") for cell in cells if cell["config"] == names[0]]
    with style.settings("latency-distribution"):
        height = 0.45 + draw.legend_height([key.text for key in keys]) + 0.25 + _PLOT + draw.AXIS
        figure = style.canvas(height, "Share of queries answered within a time")
        top = style.legend(figure, keys, height - 0.38) - 0.25
        ax = style.axes(figure, 0.75, top - _PLOT, style.WIDTH - 1.0, _PLOT)
        ax.grid(axis="y")
        ends = [limit]
        for cell in cells:
            values = np.sort(np.asarray(samples[cell["size"], cell["config"]]["total"], dtype=np.float64))
            shares = 100.0 * np.arange(1, values.size + 1) / values.size
            ends += [float(values[0]), float(values[-1])]
            ax.step(
                np.concatenate(([values[0]], values)),
                np.concatenate(([0.0], shares)),
                where="post",
                color=ARMS[sizes.index(cell["size"]) % 4],
                linestyle=_DASHES[names.index(cell["config"]) % 4],
                linewidth=1.8,
            )
        ax.axvline(limit, color=INK, linestyle=(0, (4, 3)), linewidth=1.2)
        place: dict[str, Any] = {"transform": ax.get_xaxis_transform(), "ha": "right", "va": "bottom", "fontsize": 9}
        ax.text(limit, 1.0, f"limit {limit:g} ms ", **place)
        ax.axhline(95, color=INK, linewidth=0.8, linestyle=(0, (1, 2)))
        ax.set_xscale("log")
        _decades(ax, "x", min(ends) / 1.15, max(ends) * 1.15)
        ax.set_ylim(0, 100)
        ax.set_ylabel("queries (%)")
        ax.set_xlabel("milliseconds per query, logarithmic" + _dashed(names))
        drawing = style.render(figure, "latency-distribution", "Share of queries answered within a time")
    over = sum(cell["latency"]["limit"]["over"] for cell in cells)
    n = sum(cell["latency"]["limit"]["n"] for cell in cells)
    return drawing, f"{whole(over)} of {whole(n)} timed queries took longer than {limit:g} ms; the dotted line marks 95 %."


def _with_n(cell: Mapping[str, Any]) -> str:
    return f"{cell['size']:,} entries, n {whole(cell['latency']['stages']['total']['n'])}"


def _dashed(names: Sequence[str]) -> str:
    if len(names) < 2:
        return ""
    words = ("solid", "dashed", "dotted", "dash-dotted")
    return "; " + ", ".join(f"{words[at % 4]}: {short(name, 18)}" for at, name in enumerate(names))


def growth(content: Mapping[str, Any]) -> Figure | None:
    """Medians over store sizes on logarithmic axes, the whole (filled) and without embedding (hollow), with fitted power laws."""
    cells = _timed(content)
    fits = content["latency"].get("growth", {})
    if len({cell["size"] for cell in cells}) < 2:
        return None
    names = list(dict.fromkeys(cell["config"] for cell in cells))
    kinds = ("total", "without embed")
    keys = []
    for at, name in enumerate(names):
        for kind in kinds:
            fit = fits.get(name, {}).get(kind)
            said = "no fit" if fit is None else f"exponent {fit['exponent']:.2f} [{fit['ci95'][0]:.2f}, {fit['ci95'][1]:.2f}]"
            keys.append(Key(f"{short(name, 18)}, {kind}: {said}", ARMS[at % 4], MARKERS[at % 4], hollow=kind != "total"))
    with style.settings("latency-growth"):
        height = 0.45 + draw.legend_height([key.text for key in keys]) + 0.1 + _PLOT + draw.AXIS
        figure = style.canvas(height, "Time per query as the store grows")
        top = style.legend(figure, keys, height - 0.38) - 0.1
        ax = style.axes(figure, 0.75, top - _PLOT, style.WIDTH - 1.0, _PLOT)
        ax.grid(axis="y")
        values = []
        for at, name in enumerate(names):
            for kind in kinds:
                mine = [(cell["size"], cell["latency"]["stages"][kind]) for cell in cells if cell["config"] == name]
                for size, item in mine:
                    values += [item["p50"], *(item["p50_ci95"] or ())]
                    if item["p50_ci95"]:
                        ax.plot([size, size], item["p50_ci95"], color=ARMS[at % 4], linewidth=1.6)
                    ax.plot([size], [item["p50"]], **style.marker(MARKERS[at % 4], ARMS[at % 4], kind != "total"), zorder=3)
                fit = fits.get(name, {}).get(kind)
                if fit is not None:
                    ends = np.array([mine[0][0], mine[-1][0]], dtype=np.float64)
                    line = "-" if kind == "total" else (0, (5, 2))
                    ax.plot(ends, fit["factor"] * ends ** fit["exponent"], color=ARMS[at % 4], linewidth=1.2, linestyle=line)
        ax.set_xscale("log")
        ax.set_yscale("log")
        sizes = sorted({cell["size"] for cell in cells})
        _decades(ax, "y", min(values) / 1.3, max(values) * 1.3)
        ax.set_xlim(sizes[0] / 1.4, sizes[-1] * 1.4)
        ax.set_xticks(sizes, [f"{size:,}" for size in sizes])
        ax.minorticks_off()
        ax.set_xlabel(f"entries in the store, logarithmic; n {_sizes_n(cells)} a point")
        ax.set_ylabel("median ms per query")
        drawing = style.render(figure, "latency-growth", "Time per query as the store grows")
    fit = fits.get(names[0], {}).get("total")
    if fit is None:
        return drawing, "There are too few sizes with timings to fit the growth."
    return drawing, (
        f"Under {label(names[0])} ten times the entries take {10 ** fit['exponent']:.1f} times the time (exponent "
        f"{fit['exponent']:.2f}, 95 % interval {fit['ci95'][0]:.2f} to {fit['ci95'][1]:.2f}); no median is off the line by "
        f"more than a factor of {fit['worst_ratio']:.2f}."
    )


def _sizes_n(cells: Sequence[Mapping[str, Any]]) -> str:
    return " / ".join(dict.fromkeys(whole(cell["latency"]["stages"]["total"]["n"]) for cell in cells))


def tradeoff(content: Mapping[str, Any]) -> Figure | None:
    """Median time against the recall of the candidate pool, by index kind; the numbers at the points are candidate caps."""
    points = [row for row in content.get("recall", []) if row["pool_recall"] is not None and row.get("latency", {}).get("n")]
    if not points:
        return None
    kinds = sorted({(row["encoder"], row["index"]) for row in points})
    encoders = len({row["encoder"] for row in points})
    keys = [
        Key(f"{index} index" + (f", {short(encoder, 24)}" if encoders > 1 else ""), ARMS[at % 4], MARKERS[at % 4], at % 2 == 1)
        for at, (encoder, index) in enumerate(kinds)
    ]
    with style.settings("latency-tradeoff"):
        height = 0.45 + draw.legend_height([key.text for key in keys]) + 0.1 + _PLOT + draw.AXIS
        figure = style.canvas(height, "Time against recall, by candidate cap and index")
        top = style.legend(figure, keys, height - 0.38) - 0.1
        ax = style.axes(figure, 0.75, top - _PLOT, style.WIDTH - 1.0, _PLOT)
        ax.grid(axis="y")
        for at, kind in enumerate(kinds):
            mine = sorted((row for row in points if (row["encoder"], row["index"]) == kind), key=lambda row: row["cap"])
            x, y = [row["latency"]["p50"] for row in mine], [100 * row["pool_recall"] for row in mine]
            ax.plot(x, y, color=ARMS[at % 4], linewidth=1.0, linestyle=_DASHES[at % 4])
            for row, one, two in zip(mine, x, y, strict=True):
                if row["latency"]["p50_ci95"]:
                    ax.plot(row["latency"]["p50_ci95"], [two, two], color=ARMS[at % 4], linewidth=1.6)
                ax.plot([one], [two], **style.marker(MARKERS[at % 4], ARMS[at % 4], at % 2 == 1), zorder=3 + at)
                below = at % 2 == 1
                ax.annotate(
                    str(row["cap"]),
                    (one, two),
                    xytext=(0, -9 if below else 7),
                    textcoords="offset points",
                    ha="center",
                    va="top" if below else "bottom",
                    fontsize=9,
                    color=INK,
                )
        shares = [100 * row["pool_recall"] for row in points]
        room = max(4.0, 0.18 * (max(shares) - min(shares)))
        ax.set_ylim(min(shares) - room, max(shares) + room)
        ends = [end for row in points for end in (row["latency"]["p50"], *(row["latency"]["p50_ci95"] or ()))]
        ax.set_xlim(0, 1.06 * max(ends))
        ax.set_ylabel("recall of the pool (%)")
        queries = max(row["n_queries"] for row in points)
        ax.set_xlabel(f"median ms per query without embedding; {points[0]['size']:,} entries, n {queries} judged queries")
        drawing = style.render(figure, "latency-tradeoff", "Time against recall")
    best = max(points, key=lambda row: (row["pool_recall"], -row["latency"]["p50"]))
    found = [row["index_recall"] for row in points if row["index"] != "exact" and row["index_recall"] is not None]
    other = f" The other index finds at least {min(found):.3f} of the exact nearest rows at every cap." if found else ""
    return drawing, (
        f"The highest recall, {100 * best['pool_recall']:.1f} % of the relevant entries in the pool, takes "
        f"{number(best['latency']['p50'], 'ms')} ms with the {best['index']} index and a cap of {best['cap']}.{other}"
    )


def _decades(ax: Any, which: str, low: float, high: float) -> None:
    """Ticks at 1, 2 and 5 times powers of ten, written out, from low to high."""
    ticks = [
        factor * 10.0**power
        for power in range(int(np.floor(np.log10(low))), int(np.ceil(np.log10(high))) + 1)
        for factor in (1, 2, 5)
        if low <= factor * 10.0**power <= high
    ]
    (ax.set_xlim if which == "x" else ax.set_ylim)(low, high)
    (ax.set_xticks if which == "x" else ax.set_yticks)(ticks, [f"{tick:g}" for tick in ticks])
    ax.minorticks_off()
