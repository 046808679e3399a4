"""Tables of a comparison: metrics, groups, settings. Every number names where it is recorded."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from workbench.reports.cells import TONES, Cell, Column, Table, flat, pointer
from workbench.reports.facts import Run
from workbench.reports.labels import label
from workbench.reports.numbers import MISSING, interval, known, number, p_value, plural, whole


def arm_cell(run: Run, arm: str, head: str = "row") -> Cell:
    """The name of an arm with its marker."""
    return Cell(text=label(arm), head=head, arm=run.arms.index(arm))


def arm_column(run: Run, arm: str, sub: str = "") -> Column:
    """A column of numbers of one arm."""
    return Column(text=label(arm), sub=sub, numeric=True, arm=run.arms.index(arm))


def value_cell(item: Mapping[str, Any], unit: str, *, counts: bool = True, path: str = "") -> Cell:
    """A mean with its interval and n below. counts: say also how many values are undefined or failed. path: of the mean."""
    mean = item.get("mean")
    if mean is None:
        return Cell(text=MISSING, subs=(f"n {whole(item.get('n'))}",) if item else (), numeric=True)
    lost = [f"{whole(item[key])} {word}" for key, word in (("n_undefined", "undefined"), ("n_failed", "failed")) if item.get(key)]
    lines = (f"{interval(item.get('ci95'), unit)} · n {whole(item.get('n'))}", ", ".join(lost) if counts else "")
    return Cell(text=number(mean, unit), subs=tuple(line for line in lines if line), sort=mean, numeric=True, path=path)


def _mean(*parts: str) -> str:
    return f"metrics.json#{pointer(*parts, 'mean')}"


def headline(run: Run) -> Table:
    """Every metric: mean per arm with interval and n, then the difference and what it amounts to."""
    rows = []
    for name in run.metrics:
        unit, row = run.unit(name), run.row(name)
        arrow = "↑" if run.higher_is_better(name) else "↓"
        verdict = str(row.get("verdict") or "not enough data")
        size = f"n {whole(row.get('n'))}, {plural(int(row.get('n_clusters') or 0), 'user')}" if row else ""
        bounds = "" if row.get("ci95") is None else interval(row["ci95"], unit, signed=True)
        rows.append(
            (
                Cell(text=f"{label(name)}\u00a0{arrow}", subs=(label(unit),), head="row", sort=name),
                *(value_cell(run.summary(arm, name), unit, path=_mean("arms", arm, "metrics", name)) for arm in run.arms),
                Cell(
                    text=number(row.get("difference"), unit, signed=True),
                    subs=tuple(part for part in (bounds, size) if part),
                    sort=row.get("difference"),
                    numeric=True,
                    path=run.compared(name, "difference"),
                ),
                Cell(text=p_value(row.get("p_value")), sort=row.get("p_value"), numeric=True, path=run.compared(name, "p_value")),
                Cell(
                    text=p_value(row.get("p_adjusted")),
                    sort=row.get("p_adjusted"),
                    numeric=True,
                    path=run.compared(name, "p_adjusted"),
                ),
                Cell(text=verdict, sort=verdict, tone=TONES.get(verdict, "muted"), path=run.compared(name, "verdict")),
            )
        )
    columns = (
        Column(text="Metric", sub="↑ higher is better"),
        *(arm_column(run, arm, "mean [95 % interval] · n") for arm in run.arms),
        Column(text="Difference", sub="[95 % interval]", numeric=True),
        Column(text="p", sub="raw", numeric=True),
        Column(text="p", sub="adjusted", numeric=True),
        Column(text="Verdict"),
    )
    return Table(
        caption="Metrics of both arms and their difference" if len(run.arms) == 2 else "Metrics of the arms and their difference",
        columns=columns,
        bodies=flat(rows),
        source="metrics.json: arms.<arm>.metrics, comparison",
        sortable=True,
    )


def definitions(run: Run) -> Table:
    """What each metric is a share of, and over which queries it is taken."""
    from workbench.errors import ConfigError
    from workbench.experiments.metrics import SCOPES, parse_metric

    rows = []
    for name in run.metrics:
        try:
            metric = parse_metric(name)
            scope, direction, own = SCOPES[metric.scope], metric.direction, metric.definition
        except ConfigError:  # a metric of the caller's own
            direction = "higher is better" if run.higher_is_better(name) else "lower is better"
            scope, own = MISSING, MISSING
        text = (run.content.get("metric_definitions") or {}).get(name) or own
        margin = run.row(name).get("margin")
        rows.append(
            (
                Cell(text=label(name), head="row"),
                Cell(text=label(text)),
                Cell(text=scope),
                Cell(text=direction),
                Cell(text=MISSING if not known(margin) else f"±{number(margin, run.unit(name))}", numeric=True),
            )
        )
    names = ("Metric", "Definition", "Taken over", "Direction")
    columns = (*(Column(text=name) for name in names), Column(text="Counts as equal", numeric=True))
    return Table(caption="Definitions", columns=columns, bodies=flat(rows), source="metrics.json: metric_definitions")


def by_group(run: Run) -> Table:
    """The main metrics of every group and arm with intervals and n."""
    bodies = []
    for group in run.groups:
        rows = []
        for position, arm in enumerate(run.arms):
            cells = [
                value_cell(
                    run.summary(arm, name, group), run.unit(name), counts=False, path=_mean("arms", arm, "groups", group, name)
                )
                for name in run.group_metrics
            ]
            head = [Cell(text=label(group), head="rowgroup", rows=len(run.arms))] if position == 0 else []
            rows.append((*head, arm_cell(run, arm), *cells))
        bodies.append(tuple(rows))
    columns = (
        Column(text=run.group_name.capitalize()),
        Column(text="Arm"),
        *(
            Column(
                text=f"{label(name)}\u00a0{'↑' if run.higher_is_better(name) else '↓'}",
                sub="mean [95 % interval] · n",
                numeric=True,
            )
            for name in run.group_metrics
        ),
    )
    caption = f"Metrics per {run.group_name} and arm"
    return Table(caption=caption, columns=columns, bodies=tuple(bodies), source="metrics.json: arms.<arm>.groups.<group>")


def settings_difference(run: Run) -> Table | None:
    """The settings in which the arms differ; None when they are all the same."""
    given = [flatten(run.arm(arm, "config")) for arm in run.arms]
    keys = {key for config in given for key in config}
    rows = [
        (Cell(text=label(key), head="row"), *(Cell(text=setting(config.get(key, MISSING)), numeric=True) for config in given))
        for key in sorted(keys)
        if len({setting(config.get(key, MISSING)) for config in given}) > 1
    ]
    if not rows:
        return None
    columns = (Column(text="Setting"), *(arm_column(run, arm) for arm in run.arms))
    return Table(
        caption="Settings in which the arms differ", columns=columns, bodies=flat(rows), source="metrics.json: arms.<arm>.config"
    )


def flatten(tree: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Nested mappings as one: ``{"a": {"b": 1}}`` is ``{"a.b": 1}``."""
    out: dict[str, Any] = {}
    for key, value in tree.items():
        name = f"{prefix}{key}"
        if isinstance(value, Mapping) and value:
            out.update(flatten(value, f"{name}."))
        else:
            out[name] = value
    return out


def setting(value: Any) -> str:
    """A setting as shown: lists in brackets, absent ones in words, nothing rounded."""
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, Mapping):
        return ", ".join(f"{label(key)} {setting(part)}" for key, part in sorted(value.items())) or "none"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(setting(part) for part in value) + "]"
    return label(f"{value:g}" if isinstance(value, float) and float(f"{value:g}") == value else value)
