"""What a run knows per query: losses of every group, and the queries on which two arms differ, with both prompts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.assembly.fates import Fate
from workbench.errors import DataError
from workbench.experiments.flips import Flips, flips_of_table
from workbench.experiments.losses import OVERALL, LossReport, losses_of_table
from workbench.reports.cells import Cell, Column, Table, count_cell, flat, number_cell, text_cell
from workbench.reports.document import Block, Details, Heading, paragraph, small
from workbench.reports.facts import Run, pairs_of
from workbench.reports.labels import label, listed
from workbench.reports.numbers import number, plural, whole
from workbench.reports.reassemble import PromptPairs, Quoted, prompt_pairs
from workbench.reports.tables import arm_cell

if TYPE_CHECKING:
    import pandas as pd

QUERIES_FILE = "per_query.parquet"
MOST_FLIPS = 200
"""Flipped entries in the table; all of them are in the run folder."""
QUOTED = 10
"""Flipped queries whose prompts are shown."""
_TONE = {"win": "good", "loss": "bad", "tie": "plain"}


@dataclass(frozen=True, kw_only=True)
class QueryTables:
    """losses: fates of the relevant entries per group and arm. flips: blocks of the section on flipped queries."""

    losses: Table | None
    flips: tuple[Block, ...]


def query_tables(
    folder: Path,
    content: Mapping[str, Any],
    manifest: Mapping[str, Any],
    *,
    data: Path | None = None,
    own: bool = False,
    quoted: int = 0,
) -> QueryTables | None:
    """Read ``per_query.parquet`` (and the loss reports) of a run folder; None when it has none.

    quoted: show the prompts of this many flipped queries per pair of arms, assembled again from ``data``; see ``prompt_pairs``.
    Raises DataError when the table is damaged.
    """
    path = folder / QUERIES_FILE
    if not path.is_file():
        return None
    import pandas as pd

    try:
        frame = pd.read_parquet(path)
    except (OSError, ValueError) as error:
        raise DataError(f"{path} cannot be read: {error}; run again to write it anew") from None
    run, pairs = pairs_of(content, manifest, folder.name)
    blocks: list[Block] = []
    for pair in pairs:
        if pair.main is None:
            continue
        found = flips_of_table(frame, *pair.arms, metric=pair.main)
        if len(pairs) > 1:
            blocks.append(Heading(f"{pair.b} against {pair.a}"))
        blocks += _flip_blocks(pair, found, frame, manifest, data=data, own=own, quoted=quoted)
    return QueryTables(losses=losses_table(run, loss_reports(folder, run, frame)), flips=tuple(blocks))


def loss_reports(folder: Path, run: Run, frame: pd.DataFrame) -> tuple[LossReport, ...]:
    """One per arm: as recorded where the run did so (they know what else says the same), else from the table of queries."""
    recorded: dict[str, LossReport] = {}
    for path in sorted(folder.glob("losses-*.json")):
        report = LossReport.load(path)
        recorded[report.arm] = report
    named = {"dataset": str(run.content["dataset"]), "group_name": str(run.content.get("group_name") or "group")}
    return tuple(recorded[arm] if arm in recorded else losses_of_table(frame, arm, **named) for arm in run.arms)


def losses_table(run: Run, reports: Sequence[LossReport]) -> Table | None:
    """Rows of a group and an arm: relevant entries, what each stage took, what is in the prompt, and what of the lost another
    entry says."""
    stages = [fate.label for fate in Fate if fate is not Fate.SELECTED]
    rows = {(report.arm, row["group"]): row for report in reports for row in report.rows}
    groups = list(dict.fromkeys(group for _, group in rows))
    idle = [stage for stage in stages if not any(row[stage] for row in rows.values())]
    stages = [stage for stage in stages if stage not in idle]
    if not groups or groups == [OVERALL]:
        return None
    bodies = []
    for group in [*(name for name in groups if name != OVERALL), OVERALL]:
        body = []
        for at, arm in enumerate(run.arms):
            row = rows.get((arm, group))
            counts = [None if row is None else row[name] for name in ("relevant", *stages, Fate.SELECTED.label)]
            covered = None if row is None else row["covered"]
            head = [Cell(text=label(group), head="rowgroup", rows=len(run.arms))] if at == 0 else []
            body.append((*head, arm_cell(run, arm), *(count_cell(value) for value in counts), count_cell(covered)))
        bodies.append(tuple(body))
    columns = (
        Column(text=run.group_name.capitalize()),
        Column(text="Arm"),
        Column(text="relevant", sub="entries", numeric=True),
        *(Column(text=stage, sub="lost", numeric=True) for stage in stages),
        Column(text="in the prompt", numeric=True),
        Column(text="covered", sub="of the lost", numeric=True),
    )
    known = any(row["covered"] is not None for row in rows.values())
    nothing = (f"No arm lost an entry at these stages: {listed(idle)}.",) if idle else ()
    note = "Covered: lost, but another entry in the prompt says the same, so recall did not suffer."
    return Table(
        caption=f"Relevant entries per {run.group_name} and arm, by the stage that lost them",
        columns=columns,
        bodies=tuple(bodies),
        source="losses-<arm>.json: rows" if known else f"{QUERIES_FILE}: relevant, relevant_fate",
        notes=(*nothing, note if known else f"{note} This run did not record it."),
    )


def _flip_blocks(
    run: Run, found: Flips, frame: pd.DataFrame, manifest: Mapping[str, Any], *, data: Path | None, own: bool, quoted: int
) -> list[Block]:
    unit = run.unit(found.metric)
    said = (
        f"{label(found.metric)} of {run.b} against {run.a}: higher on {plural(found.wins, 'query', 'queries')}, lower on "
        f"{whole(found.losses)}, the same on {whole(found.ties)}. On {plural(found.n_queries, 'query', 'queries')} the prompts "
        "show other relevant entries."
    )
    if not run.higher_is_better(found.metric):
        said = said.replace("higher on", "better on").replace("lower on", "worse on")
    if not found.rows:
        return [paragraph(said)]
    order = {"loss": 0, "win": 1, "tie": 2}
    ranked = sorted(
        found.rows,
        key=lambda row: (order[row["outcome"]], -abs((row["value_b"] or 0.0) - (row["value_a"] or 0.0)), row["query_id"]),
    )
    blocks: list[Block] = [paragraph(said), _flip_table(run, ranked, unit)]
    ids = list(dict.fromkeys(row["query_id"] for row in ranked))
    if quoted <= 0:
        return blocks
    chosen = ids[:quoted]
    own_rows = frame[frame["query_id"].isin(chosen)]
    recorded = {
        (arm, key): list(shown)
        for arm, key, shown in zip(own_rows["arm"], own_rows["query_id"], own_rows["selected"], strict=True)
    }  # fmt: skip
    pairs = prompt_pairs(manifest, run.arms, chosen, recorded, data=data, own=own)
    if pairs.why_not:
        return [*blocks, small(f"Ids and numbers only: {pairs.why_not}.")]
    return [*blocks, Heading("Both prompts"), *_quoted(run, pairs, chosen, ids, ranked, unit)]


def _quoted(
    run: Run, pairs: PromptPairs, chosen: Sequence[str], ids: Sequence[str], ranked: Sequence[Mapping[str, Any]], unit: str
) -> list[Block]:
    count = f"the first {len(chosen)} of {len(ids)} such queries" if len(chosen) < len(ids) else "every such query"
    out: list[Block] = [
        paragraph(
            f"Assembled again from the dataset for {count}. A line that only {run.a} shows is marked −, one that only {run.b} "
            "shows +; entries that the judgement names are labelled."
        )
    ]
    first = {row["query_id"]: row for row in reversed(ranked)}
    for key in chosen:
        item: Quoted = pairs.pairs[key]
        row = first[key]
        values = f"{label(row['metric'])} {number(row['value_a'], unit)} → {number(row['value_b'], unit)}"
        blocks: list[Block] = [item.prompts]
        if item.inspected is not None:
            summary = paragraph(
                f"Every candidate of this query under {run.b}, with its score, its fate and what {run.a} did otherwise"
            )
            blocks.append(Details(summary=summary, blocks=(item.inspected,)))
        if item.differs:
            text = (
                f"Note: {', '.join(item.differs)} no longer shows the entries that the run recorded; the code has changed since."
            )
            blocks.insert(0, small(text))
        summary = paragraph(f"{label(item.query)} ({label(key)}, {label(row['group'])}; {values})")
        out.append(Details(summary=summary, blocks=tuple(blocks)))
    return out


def _flip_table(run: Run, rows: Sequence[Mapping[str, Any]], unit: str) -> Table:
    body = []
    for row in rows[:MOST_FLIPS]:
        body.append(
            (
                text_cell(row["query_id"], head="row"),
                text_cell(row["group"]),
                Cell(text=row["outcome"], sort=row["outcome"], tone=_TONE[row["outcome"]]),
                number_cell(row["value_a"], unit),
                number_cell(row["value_b"], unit),
                text_cell(row["entry_id"] or "none"),
                text_cell(row["stage_a"] or "–"),
                text_cell(row["stage_b"] or "–"),
                text_cell(row["user_id"]),
            )
        )
    metric = label(rows[0]["metric"])
    columns = (
        Column(text="Query"),
        Column(text=run.group_name.capitalize()),
        Column(text="Outcome", sub=f"for {run.b}"),
        Column(text=metric, sub=run.a, numeric=True, arm=0),
        Column(text=metric, sub=run.b, numeric=True, arm=1),
        Column(text="Entry"),
        Column(text="Fate", sub=run.a, arm=0),
        Column(text="Fate", sub=run.b, arm=1),
        Column(text="User"),
    )
    shown = f"the first {MOST_FLIPS} of {whole(len(rows))}" if len(rows) > MOST_FLIPS else f"{whole(len(rows))}"
    return Table(
        caption=f"Relevant entries that only one arm shows ({shown}), losses first",
        columns=columns,
        bodies=flat(body),
        source=f"{QUERIES_FILE}: {metric}, relevant, relevant_fate",
        sortable=True,
    )
