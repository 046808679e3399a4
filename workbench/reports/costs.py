"""Tables of what an arm loses and costs: fates of relevant entries, time, weights that count, tokens."""

from __future__ import annotations

from typing import Any

from workbench.config import SIGNALS
from workbench.reports.cells import Cell, Column, Table, flat
from workbench.reports.facts import Run
from workbench.reports.labels import label
from workbench.reports.numbers import MISSING, interval, known, number, percent, whole
from workbench.reports.tables import arm_cell, arm_column

PERCENTILES = ("p50", "p95", "p99")
_BUDGET_OF_SECTION = {
    "identity": "soul",
    "preferences": "memories",
    "relevant_facts": "memories",
    "recent_context": "episodes",
    "workflows": "procedures",
}


def losses(run: Run) -> Table:
    """Relevant entries by what became of them, in the order of the stages."""
    counts = {arm: run.arm(arm, "relevant_entries") for arm in run.arms}
    total = {arm: sum(int(value or 0) for value in counts[arm].values()) for arm in run.arms}
    rows = [
        (
            Cell(text=label(fate), head="row"),
            *(
                Cell(text=whole(counts[arm].get(fate)), subs=(percent(counts[arm].get(fate), total[arm]),), numeric=True)
                for arm in run.arms
            ),
        )
        for fate in run.fates
    ]
    rows.append((Cell(text="all", head="row"), *(Cell(text=whole(total[arm]), numeric=True) for arm in run.arms)))
    columns = (Column(text="Fate"), *(arm_column(run, arm, "entries, share") for arm in run.arms))
    caption = "Relevant entries by fate, counted once per query that needs them"
    return Table(caption=caption, columns=columns, bodies=flat(rows), source="metrics.json: arms.<arm>.relevant_entries")


def latency(run: Run) -> Table:
    """Percentiles of every stage and of the total per arm, in milliseconds."""
    bodies = []
    for stage in (*run.stages, "total"):
        rows = []
        for position, arm in enumerate(run.arms):
            item = run.arm(arm, "latency_ms").get(stage) or {}
            head = [Cell(text=label(stage), head="rowgroup", rows=len(run.arms))] if position == 0 else []
            rows.append((*head, arm_cell(run, arm), *_percentiles(item), Cell(text=whole(item.get("n")), numeric=True)))
        bodies.append(tuple(rows))
    columns = (
        Column(text="Stage"),
        Column(text="Arm"),
        *(Column(text=name, sub="ms [95 % interval]", numeric=True) for name in PERCENTILES),
        Column(text="n", sub="timings", numeric=True),
    )
    caption = "Time per query and stage, embedding of the query included"
    return Table(caption=caption, columns=columns, bodies=tuple(bodies), source="metrics.json: arms.<arm>.latency_ms.<stage>")


def _percentiles(item: Any) -> list[Cell]:
    return [
        Cell(text=number(item.get(name), "ms"), subs=(interval(item.get(f"{name}_ci95"), "ms"),), numeric=True)
        for name in PERCENTILES
    ]


def weights(run: Run) -> Table:
    """Nominal and effective weight of every signal, and what cannot be judged."""
    undecidable = run.undecidable()
    rows = []
    for signal in SIGNALS:
        cells = []
        for arm in run.arms:
            nominal, effective = run.nominal(arm)[signal], run.arm(arm, "effective_weights").get(signal)
            cells += [Cell(text=number(nominal), numeric=True), Cell(text=number(effective), numeric=True)]
        used = any(run.nominal(arm)[signal] > 0 for arm in run.arms)
        remark = "undecidable on this data" if signal in undecidable else "" if used else "no weight in any arm"
        rows.append((Cell(text=signal, head="row"), *cells, Cell(text=remark, tone="bad" if signal in undecidable else "muted")))
    columns: list[Column] = [Column(text="Signal")]
    for arm in run.arms:
        columns += [arm_column(run, arm, "nominal"), arm_column(run, arm, "effective")]
    return Table(
        caption="Weights as shares of their sum: as configured, and as they count in the pools",
        columns=(*columns, Column(text="Remark")),
        bodies=flat(rows),
        source="metrics.json: arms.<arm>.config.weights, arms.<arm>.effective_weights",
    )


def tokens(run: Run) -> Table:
    """Mean tokens per section of the prompt, with the budget that limits it."""
    rows = []
    for section in run.sections:
        cells = []
        for arm in run.arms:
            budget = (run.arm(arm, "config").get("budgets") or {}).get(_BUDGET_OF_SECTION.get(section, ""))
            value = run.arm(arm, "section_tokens").get(section)
            limit = () if budget is None else (f"budget {whole(budget)}",)
            cells.append(Cell(text=number(value, "tokens"), subs=limit, numeric=True))
        rows.append((Cell(text=label(section).replace("_", " "), head="row"), *cells))
    sums = []
    for arm in run.arms:
        values = [value for value in run.arm(arm, "section_tokens").values() if known(value)]
        sums.append(Cell(text=number(sum(values), "tokens") if values else MISSING, numeric=True))
    rows.append((Cell(text="whole prompt", head="row"), *sums))
    for key, text, unit in (
        ("budget_breaks", "prompts over a budget (must be 0)", "count"),
        ("conflicts_per_query", "contradictions found per query", "entries"),
    ):
        cells = []
        for arm in run.arms:
            value = run.content["arms"][arm].get(key)
            tone = "bad" if unit == "count" and value else ""
            cells.append(Cell(text=whole(value) if unit == "count" else number(value, unit), numeric=True, tone=tone))
        rows.append((Cell(text=text, head="row"), *cells))
    columns = (Column(text="Section"), *(arm_column(run, arm, "mean tokens per query") for arm in run.arms))
    caption = "Tokens per section of the prompt; preferences and relevant facts share one budget"
    source = "metrics.json: arms.<arm>.section_tokens, budget_breaks, conflicts_per_query"
    return Table(caption=caption, columns=columns, bodies=flat(rows), source=source)
