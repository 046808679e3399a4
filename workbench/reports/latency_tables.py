"""The tables of a latency profile: every one with its n, and "no data" where nothing was timed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from workbench.assembly.stages import PARTS
from workbench.experiments.latency.order import cold_items, growth_items
from workbench.reports.cells import Cell, Column, Table, count_cell, flat, number_cell, text_cell, verdict_cell
from workbench.reports.document import Bullets
from workbench.reports.numbers import interval, number, plural, whole

NO_DATA = "no data"
TONES = {"within the limit": "good", "over the limit": "bad"}


def _ms(item: Mapping[str, Any], key: str) -> Cell:
    value = item.get(key)
    if value is None:
        return Cell(text=NO_DATA, numeric=True)
    bounds = item.get(f"{key}_ci95")
    return Cell(text=number(value, "ms"), subs=(interval(bounds, "ms"),) if bounds else (), sort=value, numeric=True)


def _head(cell: Mapping[str, Any]) -> tuple[Cell, Cell]:
    return Cell(text=whole(cell["size"]), sort=cell["size"], head="row"), text_cell(cell["config"])


def _columns(*names: str) -> tuple[Column, ...]:
    return (Column(text="Entries"), Column(text="Configuration"), *(Column(text=name, numeric=True) for name in names))


def totals(cells: Sequence[Mapping[str, Any]]) -> Table:
    """Percentiles of the total with intervals, and the verdict, per size and configuration."""
    rows = []
    for cell in cells:
        total, limit = cell["latency"]["stages"]["total"], cell["latency"]["limit"]
        verdict = Cell(
            text=limit["verdict"], subs=(f"{limit['over']} of {limit['n']} over",), tone=TONES.get(limit["verdict"], "muted")
        )
        rows.append(
            (*_head(cell), count_cell(total["n"]), *(_ms(total, key) for key in ("p50", "p90", "p95", "p99", "max")), verdict)
        )
    return Table(
        caption="Milliseconds per query, embedding included",
        columns=(*_columns("n", "p50", "p90", "p95", "p99", "max"), Column(text="Limit")),
        bodies=flat(rows),
        source="metrics.json: cells[].latency.stages.total",
        sortable=True,
    )


def stage_table(cells: Sequence[Mapping[str, Any]]) -> Table:
    """Median and 95th percentile of every stage, the residual, and the total without embedding."""
    names = (*PARTS, "total", "without embed", "cpu")
    rows = []
    for cell in cells:
        items = cell["latency"]["stages"]
        row = [
            Cell(text=number(items[name]["p50"], "ms"), subs=(f"p95 {number(items[name]['p95'], 'ms')}",), numeric=True)
            if items[name]["p50"] is not None
            else Cell(text=NO_DATA, numeric=True)
            for name in names
        ]
        rows.append((*_head(cell), count_cell(items["total"]["n"]), *row))
    return Table(
        caption="Median per stage in ms, p95 below",
        columns=_columns("n", *names),
        bodies=flat(rows),
        source="metrics.json: cells[].latency.stages",
        notes=(
            "Stages and residual of a query add up to its total; medians of parts need not add up to the median of the whole.",
            "cpu: processor time of the calling thread; keyword search runs beside the encoder in another thread.",
        ),
    )


def growth_table(content: Mapping[str, Any]) -> Table:
    """Fitted exponents with intervals."""
    rows = []
    for config, kind, fit in growth_items(content):
        head = (text_cell(config, head="row"), text_cell(kind))
        if fit is None:
            rows.append((*head, Cell(text=NO_DATA, numeric=True), Cell(text=""), Cell(text="")))
            continue
        rows.append(
            (
                *head,
                Cell(text=f"{fit['exponent']:.2f}", subs=(f"[{fit['ci95'][0]:.2f}, {fit['ci95'][1]:.2f}]",), numeric=True),
                Cell(text=f"{fit['worst_ratio']:.2f}", numeric=True),
                Cell(text=" / ".join(whole(n) for n in fit["n"]), numeric=True),
            )
        )
    return Table(
        caption="Growth of the median: time = factor × entries ^ exponent",
        columns=(
            Column(text="Configuration"),
            Column(text="Part"),
            Column(text="Exponent", sub="95 % interval", numeric=True),
            Column(text="Worst ratio", sub="median to line", numeric=True),
            Column(text="n", sub="per size", numeric=True),
        ),
        bodies=flat(rows),
        source="metrics.json: latency.growth",
        notes=("The interval says how well the medians are known, not whether the growth is a power law; the worst ratio does.",),
    )


def load_table(cells: Sequence[Mapping[str, Any]]) -> Table:
    """Open loop and threads."""
    rows = []
    for cell in cells:
        queue = cell["latency"].get("open")
        if queue:
            item = queue["latency"]
            kind = Cell(text="open loop", subs=(f"{queue['late']} had to wait",))
            rows.append(
                (
                    *_head(cell),
                    kind,
                    count_cell(item["n"]),
                    _ms(item, "p50"),
                    _ms(item, "p95"),
                    _ms(item, "max"),
                    number_cell(queue["rate"], ""),
                    text_cell(""),
                )
            )
        for row in cell["latency"].get("parallel", []):
            item = row["latency"]
            same = verdict_cell("equal") if row["equal"] else Cell(text="prompts differ", tone="bad")
            rows.append(
                (
                    *_head(cell),
                    text_cell(plural(row["workers"], "thread")),
                    count_cell(item["n"]),
                    _ms(item, "p50"),
                    _ms(item, "p95"),
                    _ms(item, "max"),
                    number_cell(row["per_second"], ""),
                    same,
                )
            )
    return Table(
        caption="Milliseconds per query under load",
        columns=(
            Column(text="Entries"),
            Column(text="Configuration"),
            Column(text="Load"),
            *(Column(text=name, numeric=True) for name in ("n", "p50", "p95", "max", "queries/s")),
            Column(text="Prompts", sub="against one thread"),
        ),
        bodies=flat(rows),
        source="metrics.json: cells[].latency.open, cells[].latency.parallel",
    )


def recall_table(content: Mapping[str, Any]) -> Table | None:
    """Recall and time per index kind and cap; None where nothing was judged."""
    rows = []
    for row in content["recall"]:
        item = row.get("latency") or {}
        shares = [
            Cell(text=NO_DATA if row[key] is None else number(row[key]), sort=row[key], numeric=True)
            for key in ("pool_recall", "context_recall", "index_recall")
        ]
        rows.append(
            (
                text_cell(row["index"], head="row"),
                count_cell(row["cap"]),
                count_cell(row["n_queries"]),
                *shares,
                _ms(item, "p50"),
                _ms(item, "p95"),
                text_cell(row["encoder"]),
            )
        )
    if not rows:
        return None
    return Table(
        caption=f"{content['recall'][0]['size']:,} entries, judged queries of the store's user",
        columns=(
            Column(text="Index"),
            *(
                Column(text=name, numeric=True)
                for name in ("cap", "queries", "pool recall", "context recall", "index recall", "p50 ms", "p95 ms")
            ),
            Column(text="Encoder"),
        ),
        bodies=flat(rows),
        source="metrics.json: recall",
        sortable=True,
        notes=(
            "Index recall: share of the exact nearest rows (as many as the cap) that the index finds. Times leave out embedding.",
        ),
    )


def cold_table(content: Mapping[str, Any]) -> Table:
    """Phases of a cold start."""
    rows = [
        (
            text_cell(phase, head="row"),
            number_cell(item["median"], "ms"),
            number_cell(item["min"], "ms"),
            number_cell(item["max"], "ms"),
            count_cell(item["n"]),
        )
        for phase, item in cold_items(content)
    ]
    if not rows:
        nothing = Cell(text=NO_DATA, numeric=True)
        rows = [(text_cell("cold start", head="row"), nothing, nothing, nothing, nothing)]
    return Table(
        caption="Milliseconds of a new process",
        columns=(Column(text="Phase"), *(Column(text=name, numeric=True) for name in ("median", "least", "most", "n"))),
        bodies=flat(rows),
        source="metrics.json: latency.cold",
    )


def ab_table(content: Mapping[str, Any]) -> Table | None:
    """Configurations against the first; None with only one."""
    rows = []
    for row in content["latency"].get("ab", []):
        bounds = interval(row["interval"], "ms", signed=True) if row["interval"] else ""
        rows.append(
            (
                Cell(text=whole(row["size"]), head="row"),
                text_cell(f"{row['b']} against {row['a']}"),
                Cell(text=number(row["median"], "ms", signed=True), subs=(bounds,) if bounds else (), numeric=True),
                count_cell(row["n"]),
                verdict_cell(str(row["verdict"])),
            )
        )
    if not rows:
        return None
    return Table(
        caption="Latency A/B: paired difference per query in ms",
        columns=(
            Column(text="Entries"),
            Column(text="Pair"),
            Column(text="Median difference", sub="95 % interval", numeric=True),
            Column(text="n", sub="pairs", numeric=True),
            Column(text="Verdict"),
        ),
        bodies=flat(rows),
        source="metrics.json: latency.ab",
        notes=("Equivalent: the interval lies within 5 % of the first configuration's median.",),
    )


def against_table(content: Mapping[str, Any]) -> Table | Bullets:
    """This run over an earlier one."""
    rows = [
        (Cell(text=whole(row["size"]), head="row"), text_cell(row["config"]), text_cell(row["text"]))
        for row in content["latency"].get("against", [])
    ]
    if not rows:
        return Bullets((*content["latency"].get("against_notes", ()), "No earlier run was given to compare with."))
    return Table(
        caption="Against an earlier run on this machine",
        columns=(Column(text="Entries"), Column(text="Configuration"), Column(text="New over old")),
        bodies=flat(rows),
        source="metrics.json: latency.against",
        notes=tuple(content["latency"].get("against_notes", ())),
    )
