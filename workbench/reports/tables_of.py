"""The tables of every kind of result, for notebooks, terminals and exports; the results ask for them by ``tables()``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from workbench.assembly.fates import Fate
from workbench.config import SIGNALS
from workbench.reports.cells import Cell, Column, Table, flat, text_cell
from workbench.reports.labels import label
from workbench.reports.numbers import interval, number, whole
from workbench.reports.result_tables import comparison_table, conflict_tables, frame_table, loss_table, signals_table

if TYPE_CHECKING:
    from workbench.assembly.context import AssembledContext
    from workbench.experiments.ab import ABResult
    from workbench.experiments.ablation import Ablation
    from workbench.experiments.comparison_table import Comparison
    from workbench.experiments.conflict_eval import ConflictEvaluation
    from workbench.experiments.constraints import Choice
    from workbench.experiments.difficulty_result import Difficulty
    from workbench.experiments.flips import Flips
    from workbench.experiments.identifiability import Identifiability
    from workbench.experiments.losses import LossReport
    from workbench.experiments.pareto import Marginal, Split
    from workbench.experiments.scorefile import Score
    from workbench.experiments.sweep_table import Sweep
    from workbench.experiments.tuning import CrossTuning, Tuning

STAGES = tuple(fate.label for fate in Fate if fate is not Fate.SELECTED)
_TOP = 15


def comparison(result: Comparison) -> tuple[Table, ...]:
    """A row per arm and metric."""
    return (comparison_table(result),)


def ab(result: ABResult) -> tuple[Table, ...]:
    """The comparison, what flipped, where entries were lost, and the time per query."""
    arms = result.content["arms"]
    columns = {
        "arm": "arm",
        "n": "n",
        "p50": "p50",
        "p50_ci95": "95 % interval",
        "p95": "p95",
        "p95_ci95": "95 % interval ",
        "verdict": "verdict",
    }
    rows = []
    for name, arm in arms.items():
        total = arm["latency_ms"]["total"]
        bounds = {key: interval(total.get(key), "ms") for key in ("p50_ci95", "p95_ci95")}
        rows.append({"arm": name, **{key: total.get(key) for key in ("n", "p50", "p95", "verdict")}, **bounds})
    units = {"p50": "ms", "p95": "ms"}
    timed = frame_table("Time per query in milliseconds, embedding included", rows, columns, units=units)
    flipped = tuple(table for item in result.flips.values() for table in flips(item))
    lost = tuple(table for item in result.losses.values() for table in losses(item))
    return (comparison_table(result.comparison), *flipped, *lost, timed)


def ablation(result: Ablation) -> tuple[Table, ...]:
    """The comparison of arms without one signal, and which signals can be judged."""
    return comparison_table(result.comparison), signals_table(result.signals.to_dict())


def identifiability(result: Identifiability) -> tuple[Table, ...]:
    """A row per signal."""
    return (signals_table(result.to_dict()),)


def losses(result: LossReport) -> tuple[Table, ...]:
    """A row per group, the last over all."""
    caption = result.caption[:1].upper() + result.caption[1:]
    return (loss_table(result.rows, STAGES, caption=caption, group=result.group_name),)


def flips(result: Flips) -> tuple[Table, ...]:
    """A row per relevant entry that only one arm shows."""
    columns = {
        "query_id": "query", "group": "group", "outcome": f"outcome for {result.arm_b}", "value_a": result.arm_a,
        "value_b": result.arm_b, "entry_id": "entry", "stage_a": f"fate with {result.arm_a}",
        "stage_b": f"fate with {result.arm_b}", "user_id": "user",
    }  # fmt: skip
    return (
        frame_table(
            result.caption, result.rows, columns, notes=(f"{result.arm_a}, {result.arm_b}: {result.metric} of the query.",)
        ),
    )


def marginal(result: Marginal) -> tuple[Table, ...]:
    """A row per tier and step."""
    columns = {
        "tier": "tier", "budget_from": "budget from", "budget_to": "to", "n": "n", "tokens": "tokens used more",
        "recall": "recall gained", "ci95_low": "95 % from", "ci95_high": "to ", "recall_per_100_tokens": "per 100 tokens",
    }  # fmt: skip
    note = "Paired over queries; intervals 95 %, wild cluster bootstrap by user, one step each, uncorrected."
    return (
        frame_table("Recall bought by each step of a budget", result.rows, columns, units={"tokens": "tokens"}, notes=(note,)),
    )


def split(result: Split) -> tuple[Table, ...]:
    """Budgets, recall and tokens of the proposed split beside the present one."""
    rows = [
        {
            "split": "proposed",
            **result.budgets,
            "soul": result.soul,
            "recall": result.recall,
            "tokens": result.tokens,
            "n": result.n,
        },
        {"split": "present, cut to the total", "recall": result.present_recall, "tokens": result.present_tokens, "n": result.n},
    ]
    columns = {
        "split": "split",
        "soul": "soul",
        **{tier: tier for tier in result.budgets},
        "recall": "recall",
        "tokens": "tokens",
        "n": "n",
    }
    note = f"Best of {whole(result.tried)} splits, {whole(result.ties)} reach it; confirm on other data."
    return (frame_table(f"Split of {whole(result.total)} tokens", rows, columns, units={"tokens": "tokens"}, notes=(note,)),)


def choice(result: Choice) -> tuple[Table, ...]:
    """The values of the chosen row."""
    rows = [{"name": name, "value": value} for name, value in result.values.items()]
    state = (
        f"{whole(result.n_feasible)} of {whole(result.n)} rows satisfy the limits"
        if result.feasible
        else "Infeasible: the nearest row"
    )
    notes = (f"{state}; row {result.row}, {whole(result.ties)} tie.", *(f"Broken: {text}." for text in result.broken))
    return (frame_table(str(result.goal), rows, {"name": "metric", "value": "mean"}, units=_units(result.values), notes=notes),)


def sweep(result: Sweep, notes: tuple[str, ...] = ()) -> tuple[Table, ...]:
    """The best rows by the first metric."""
    first = result.metrics[0]
    params = [str(name) for name in result.table if str(name).startswith("param_")]
    names = {
        "row": "row", **{name: name.removeprefix("param_") for name in params}, f"mean_{first}": first,
        f"ci_low_{first}": "95 % from", f"ci_high_{first}": "to", f"n_{first}": "n",
        **{f"mean_{name}": name for name in result.metrics[1:]},
    }  # fmt: skip
    if "p95" in result.table:
        names["p95"] = "p95 (ms)"
    records = []
    for at, record in result.top(first, _TOP).iterrows():
        plain = {key: record[key] for key in names if key != "row"}
        records.append(
            {"row": int(at), **{key: value.item() if hasattr(value, "item") else value for key, value in plain.items()}}
        )
    units = {f"mean_{name}": unit for name, unit in _units(dict.fromkeys(result.metrics)).items()}
    units |= {f"ci_low_{first}": units[f"mean_{first}"], f"ci_high_{first}": units[f"mean_{first}"], "p95": "ms"}
    units |= dict.fromkeys(params, "setting")
    caption = (
        f"The first {len(records)} of {whole(len(result))} configurations by {label(first)}, on {whole(len(result.queries))} "
        f"queries of {whole(len(set(result.users)))} users of {label(result.dataset)}"
    )
    note = (
        "Intervals 95 %, by user, one row each: the best of many is biased upwards, so confirm it on data it was not chosen on."
    )
    return (frame_table(caption, records, names, units=units, notes=(*notes, note)),)


def tuning(result: Tuning) -> tuple[Table, ...]:
    """The comparison on the test users, the three parts, and which signals can be judged."""
    unit = _units({result.goal.metric: None})[result.goal.metric]
    rows = [{"part": name, "mean": getattr(result, name)} for name in ("train", "validation", "test")]
    notes = [
        f"Chosen of {whole(result.n_tried)}: {_params(result.params)}.",
        f"Train minus test: {number(result.gap, unit, signed=True)}.",
    ]
    if result.earlier_uses:
        notes.append(f"This test part was used for {result.earlier_uses} choices before: it is no longer unseen.")
    parts = frame_table(
        f"{result.goal}", rows, {"part": "part", "mean": f"mean {result.goal.metric}"}, units={"mean": unit}, notes=notes
    )
    return (comparison_table(result.comparison), parts, *_judged(result.signals))


def cross_tuning(result: CrossTuning) -> tuple[Table, ...]:
    """The comparison on held-out users, the folds, and which signals can be judged."""
    unit = _units({result.goal.metric: None})[result.goal.metric]
    params = list(dict.fromkeys(name for fold in result.folds for name in fold["params"]))
    columns = {
        "held_out_user": "held-out user", "n": "n", "baseline": "baseline", "held_out": "chosen", "train": "mean elsewhere",
        "row": "row", **{name: name for name in params},
    }  # fmt: skip
    rows = [{**{key: fold[key] for key in fold if key != "params"}, **fold["params"]} for fold in result.folds]
    units = {**dict.fromkeys(("baseline", "held_out", "train"), unit), **dict.fromkeys(params, "setting")}
    notes = (
        f"Train minus held-out, mean over folds: {number(result.gap, unit, signed=True)}.",
        f"Best on all users: {_params(result.final_params)}; its {label(result.goal.metric)} "
        f"{number(result.final_mean, unit)} was measured where it was chosen, so it is too good.",
    )
    folds = frame_table(f"{result.goal}, one user held out at a time", rows, columns, units=units, notes=notes)
    return (comparison_table(result.comparison), folds, *_judged(result.signals))


def score(result: Score) -> tuple[Table, ...]:
    """A row per metric."""
    rows = []
    for name, item in result.summaries.items():
        bounds = None if item.ci95 is None else list(item.ci95)
        value = Cell(text=number(item.mean, item.unit), sort=item.mean, numeric=True)
        counts = [Cell(text=whole(count), sort=count, numeric=True) for count in (item.n, item.n_undefined, item.n_failed)]
        rows.append((text_cell(name, head="row"), value, Cell(text=interval(bounds, item.unit), numeric=True), *counts))
    names = ("metric", "mean", "95 % interval", "n", "undefined", "missing")
    columns = tuple(Column(text=name, numeric=at > 0) for at, name in enumerate(names))
    return (
        Table(
            caption=f"{label(result.name)} on {label(result.dataset)}",
            columns=columns,
            bodies=flat(rows),
            sortable=True,
            notes=(label(result.caption),),
        ),
    )


def difficulty(result: Difficulty) -> tuple[Table, ...]:
    """Clean recall per scenario and way to answer, then whether each secondary signal decides its scenario."""
    frame = result.to_dataframe()
    columns = {str(name): str(name) for name in frame}
    records = [{str(key): value for key, value in row.items()} for row in frame.to_dict("records")]
    scenarios = frame_table(
        f"Difficulty of {label(result.dataset)}: clean recall in the context, {whole(result.n_queries)} queries of "
        f"{whole(result.n_users)} users",
        records,
        columns,
        notes=tuple(f"Problem: {label(problem)}." for problem in result.problems),
    )
    rows = [
        {"signal": row.signal, "scenario": row.scenario, "n": row.n, "recall": row.recall, "without": row.without,
         "noisy": row.noisy, "holds": row.holds}
        for row in result.signal_dependence
    ]  # fmt: skip
    heads = {
        "signal": "signal",
        "scenario": "scenario",
        "n": "n",
        "recall": "recall",
        "without": "without it",
        "noisy": "others noisy",
        "holds": "decides",
    }
    return scenarios, frame_table("Does the signal decide its scenario?", rows, heads)


def conflicts(result: ConflictEvaluation) -> tuple[Table, ...]:
    """Precision and recall by language, then shares by kind."""
    return conflict_tables(result.to_dict())


def context(result: AssembledContext) -> tuple[Table, ...]:
    """The entries in the prompt in its order, with their signals."""
    known = {row["id"]: row for row in result.fate_rows}
    columns = {
        "section": "section",
        "id": "id",
        "score": "score",
        **{name: name for name in SIGNALS},
        "tokens": "tokens",
        "reason": "why",
    }
    rows = [{**known[key], "section": str(known[key]["section"]).replace("_", " ")} for key in result.selected_ids]
    lost: dict[str, int] = {}
    for row in result.fate_rows:
        if row["fate"] != Fate.SELECTED.label:
            lost[row["fate"]] = lost.get(row["fate"], 0) + 1
    rest = ", ".join(f"{fate} {whole(lost[fate])}" for fate in STAGES if fate in lost)
    notes = (
        f"Not in the prompt: {rest}." if rest else "Every entry is in the prompt.",
        *(f"Warning: {label(text)}." for text in result.warnings),
    )
    return (frame_table(label(str(result)), rows, columns, notes=notes, head=2),)


def _judged(signals: Identifiability | None) -> tuple[Table, ...]:
    return () if signals is None else (signals_table(signals.to_dict()),)


def _params(params: Mapping[str, Any]) -> str:
    return ", ".join(f"{label(name)} {label(value)}" for name, value in params.items()) or "the base configuration"


def _units(names: Mapping[str, Any]) -> dict[str, str]:
    from workbench.reports.sweep_page import metric_unit

    return {name: "ms" if name == "p95" else metric_unit(name.removeprefix("mean_")) for name in names}
