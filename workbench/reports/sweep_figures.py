"""Two views of a sweep: what each weight did to the metric, and what recall costs in tokens."""

from __future__ import annotations

from typing import Any

import numpy as np

from workbench.config import SIGNALS, AssemblyConfig
from workbench.errors import DataError
from workbench.experiments.metrics import parse_metric
from workbench.experiments.sweep_table import Sweep
from workbench.reports import draw, style
from workbench.reports.choice_figures import frontier
from workbench.reports.labels import label
from workbench.reports.style import ARMS, GRID, INK, Drawing, Key

BINS = 10
"""Weights are grouped in tenths, which is exact for a lattice in tenths."""


def weights_figure(sweep: Sweep, metric: str = "ContextRecall", *, base: AssemblyConfig | None = None) -> Drawing:
    """One panel per signal: best, median and worst mean of ``metric`` over all rows with about this weight of the signal.

    base: a configuration whose weights are marked. Raises DataError for a sweep that did not vary the weights.
    """
    missing = [name for name in SIGNALS if f"param_weights.{name}" not in sweep.table]
    if missing:
        raise DataError("the sweep did not vary the weights; sweep them with weights='lattice:10'")
    means = _means(sweep, metric)
    keys = [Key("best row", ARMS[0], "o"), Key("median row", ARMS[1], "s"), Key("from worst to best", GRID)]
    keys += [Key("dashed: base", INK)] if base is not None else []
    with style.settings("sweep-weights"):
        height = 0.4 + draw.legend_height([key.text for key in keys]) + 2.5
        figure = style.canvas(height, f"{label(metric)} against each weight, over {len(sweep):,} configurations")
        top = style.legend(figure, keys, height - 0.38) - 0.3
        gap, left = 0.14, 0.62
        width = (style.WIDTH - left - 0.1 - gap * (len(SIGNALS) - 1)) / len(SIGNALS)
        low, high = float(np.nanmin(means)), float(np.nanmax(means))
        room = 0.05 * (high - low or 1.0)
        for at, name in enumerate(SIGNALS):
            ax = style.axes(figure, left + at * (width + gap), 0.62, width, top - 0.62)
            ax.grid(axis="y")
            places = np.round(sweep.table[f"param_weights.{name}"].to_numpy(dtype=np.float64) * BINS) / BINS
            rows = [(place, means[(places == place) & ~np.isnan(means)]) for place in np.unique(places)]
            rows = [(place, values) for place, values in rows if values.size]
            x = [place for place, _ in rows]
            ax.fill_between(x, [v.min() for _, v in rows], [v.max() for _, v in rows], color=GRID, linewidth=0)
            for colour, shape, of in ((ARMS[0], "o", np.max), (ARMS[1], "s", np.median)):
                options = {**style.marker(shape, colour), "linestyle": "-", "color": colour, "linewidth": 1.2, "markersize": 3.5}
                ax.plot(x, [float(of(values)) for _, values in rows], **options)
            if base is not None:
                ax.axvline(getattr(base.weights, name), color=INK, linestyle=(0, (4, 3)), linewidth=1.0)
            ax.set_xlim(-0.04, 1.04)
            ax.set_ylim(low - room, high + room)
            ax.set_xticks([0, 0.5, 1], ["0", "0.5", "1"])
            ax.set_title(name, fontsize=10)
            if at:
                ax.set_yticklabels([])
            else:
                ax.set_ylabel(f"mean {label(metric)} ({_unit(metric)})")
        n = int(sweep.table[f"n_{metric}"].max())
        style.write(figure, left, 0.14, f"weight of the signal (the five sum to 1); each mean over n {n} queries", fontsize=10)
        return style.render(figure, "sweep-weights", "Metric against each weight")


def frontier_figure(
    sweep: Sweep, metric: str = "ContextRecall", cost: str = "Tokens", *, base: AssemblyConfig | None = None
) -> Drawing:
    """Mean of ``metric`` against mean ``cost`` of every row, with the Pareto front and its 95 % intervals.

    base: a configuration that is marked, if it is among the rows. Raises DataError when there are not two rows to compare.
    """
    means, costs = _means(sweep, metric), _means(sweep, cost)
    table = sweep.table
    at_base = None if base is None else next((row for row, of in enumerate(sweep.configs) if of.hash == base.hash), None)
    drawing = frontier(
        list(zip(costs.tolist(), means.tolist(), strict=True)),
        [int(row) for row in sweep.front(metric, cost).index],
        at_base,
        metric=metric,
        unit=_unit(metric),
        n=int(table[f"n_{metric}"].max()),
        cost=cost,
        intervals=list(zip(table[f"ci_low_{metric}"].tolist(), table[f"ci_high_{metric}"].tolist(), strict=True)),
        mark="base",
    )
    if drawing is None:
        raise DataError(f"fewer than two rows of the sweep have both {metric} and {cost}; there is no frontier to draw")
    return drawing


def _means(sweep: Sweep, metric: str) -> Any:
    if f"mean_{metric}" not in sweep.table:
        raise DataError(f"the sweep did not measure {metric!r}; it measured {', '.join(sweep.metrics)}")
    values = sweep.table[f"mean_{metric}"].to_numpy(dtype=np.float64)
    if np.isnan(values).all():
        raise DataError(f"{metric} is undefined in every row of the sweep, so there is nothing to draw")
    return values


def _unit(metric: str) -> str:
    return parse_metric(metric).unit
