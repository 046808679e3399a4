"""The page of a sweep: what was chosen of many configurations, and what that is worth."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.assembly.fates import Fate
from workbench.errors import RunError
from workbench.reports import advice_choice, choice_figures, record
from workbench.reports.cells import Table
from workbench.reports.comparison_page import record_blocks
from workbench.reports.document import Answer, Block, Bullets, Card, Facts, Page, Picture, Section, paragraph, section
from workbench.reports.labels import label, listed
from workbench.reports.numbers import known, number, plural, span, whole
from workbench.reports.result_tables import frame_table, loss_table, signals_table
from workbench.reports.tables import setting

if TYPE_CHECKING:
    import pandas as pd

TABLE = "sweep.parquet"
METRICS = "metrics.json"
TOP = 15
COSTS = ("StaleExposure", "Tokens")
"""Metrics shown beside the one that was chosen by."""


def sweep_page(folder: Path, content: Mapping[str, Any], manifest: Mapping[str, Any], *, run_id: str) -> Page:
    """The page. Raises RunError without the table of the sweep."""
    import pandas as pd

    from workbench.experiments.constraints import Goal

    try:
        table = pd.read_parquet(folder / TABLE)
    except (OSError, ValueError) as error:
        raise RunError(f"{folder / TABLE} cannot be read: {error}; run the sweep again") from None
    goal = Goal.parse(content["goal"])
    dataset = label(manifest["dataset"]["name"])
    unit = metric_unit(goal.metric)
    row = int(content["row"])
    made = Facts((*record.recorded_dataset(manifest), *record.made(manifest)))
    signals = signals_table(content["signals"], source=f"{METRICS}: signals", place=f"{METRICS}#/signals")
    results = [paragraph(_chosen(content)), _frontier(table, content, goal.metric), _top(table, goal.metric, content)]
    parts: list[Section | None] = [
        advice_choice.after_sweep(content, manifest),
        section("results", "Results", results),
        _marginal(content),
        section("signals", "What the data can judge", [signals], "Signals"),
        _losses(content, str((manifest.get("dataset") or {}).get("group_name") or "group")),
        section("limits", "Limits", [Bullets(tuple(_limits(table, content, goal.metric)))]),
        section("record", "Run record", [made, *record_blocks(manifest)]),
    ]  # fmt: skip
    return Page(
        run_id=run_id,
        kind="sweep",
        kicker="Context assembly · sweep",
        title=f"{whole(len(table))} configurations on {dataset}",
        question=f"Which of {whole(len(table))} configurations is best by “{label(goal)}” on the judged queries of {dataset}?",
        answer=_answer(table, content, goal.metric, unit),
        cards=tuple(_cards(table, row, goal.metric, unit)),
        sections=tuple(part for part in parts if part is not None),
        dataset=dataset,
    )


def metric_unit(name: str) -> str:
    """The unit of a metric by its name; a name of the caller's own counts as a share."""
    from workbench.errors import ConfigError
    from workbench.experiments.metrics import parse_metric

    try:
        return str(parse_metric(name).unit)
    except ConfigError:
        return "share"


def params_text(params: Mapping[str, Any]) -> str:
    """``weights.relevance 0.5, weights.recency 0``."""
    return ", ".join(f"{label(name)} {setting(value)}" for name, value in params.items()) or "the base configuration"


def _bounds(table: pd.DataFrame, row: int, metric: str, unit: str) -> str:
    low, high = (float(table[f"{end}_{metric}"].iloc[row]) for end in ("ci_low", "ci_high"))
    return span((low, high), unit) if known(low) and known(high) else "not known"


def _answer(table: pd.DataFrame, content: Mapping[str, Any], metric: str, unit: str) -> Answer:
    row = int(content["row"])
    mean, n = float(table[f"mean_{metric}"].iloc[row]), int(table[f"n_{metric}"].iloc[row])
    value = f"{label(metric)} {number(mean, unit)} (95 % interval {_bounds(table, row, metric, unit)}) over {whole(n)} queries"
    params = params_text(content["params"])
    if not content["feasible"]:
        text = f"Infeasible: no configuration satisfies the limits. The nearest is {params}, with {value}."
        return Answer(word="infeasible", tone="bad", sentence=text, source=f"{METRICS}: feasible, row; {TABLE}: row {row}")
    details = ["The best of many is biased upwards: confirm it on queries it was not chosen on (workbench tune does so)."]
    if int(content.get("ties") or 1) > 1:
        details.insert(0, f"{whole(content['ties'])} configurations tie; the one nearest to the base configuration is named.")
    return Answer(
        word="best of the sweep",
        tone="plain",
        sentence=f"Best of {whole(len(table))}: {params}, with {value}.",
        details=tuple(details),
        source=f"{METRICS}: feasible, row, params; {TABLE}: row {row}",
    )


def _cards(table: pd.DataFrame, row: int, metric: str, unit: str) -> list[Card]:
    cards = []
    for name in dict.fromkeys((metric, "StaleExposure", "Tokens")):
        if f"mean_{name}" in table:
            own = metric_unit(name)
            value, n = float(table[f"mean_{name}"].iloc[row]), int(table[f"n_{name}"].iloc[row])
            sub = f"[{_bounds(table, row, name, own)}] · n {whole(n)}" if known(value) else f"n {whole(n)}"
            path = f"{TABLE}: mean_{name}, row {row}"
            cards.append(Card(title=f"{label(name)}, chosen row", value=number(value, own), sub=sub, tone="plain", path=path))
    if "p95" in table and known(float(table["p95"].iloc[row])):
        text = f"{number(float(table['p95'].iloc[row]), 'ms')} ms"
        cards.append(
            Card(
                title="Time per query, p95",
                value=text,
                sub="of its search settings",
                tone="plain",
                path=f"{TABLE}: p95, row {row}",
            )
        )
    return cards


def _chosen(content: Mapping[str, Any]) -> str:
    return f"Goal: {label(content['goal'])}. Chosen: {params_text(content['params'])}."


def _frontier(table: pd.DataFrame, content: Mapping[str, Any], metric: str) -> Picture | None:
    if f"mean_{metric}" not in table or "mean_Tokens" not in table or metric == "Tokens":
        return None
    points = list(zip(table["mean_Tokens"].tolist(), table[f"mean_{metric}"].tolist(), strict=True))
    front = content["front"] if metric == "ContextRecall" else []
    n = int(table[f"n_{metric}"].max())
    intervals = list(zip(table[f"ci_low_{metric}"].tolist(), table[f"ci_high_{metric}"].tolist(), strict=True))
    drawing = choice_figures.frontier(
        points, front, int(content["row"]), metric=metric, unit=metric_unit(metric), n=n, intervals=intervals
    )
    if drawing is None:
        return None
    x, y = points[int(content["row"])]
    text = f"The chosen row reaches {label(metric)} {number(y, metric_unit(metric))} with {number(x, 'tokens')} tokens a prompt."
    if front:
        cheapest, dearest = points[front[0]], points[front[-1]]
        text += (
            f" {whole(len(front))} configurations are beaten by none in both: from {number(cheapest[1])} at "
            f"{number(cheapest[0], 'tokens')} tokens to {number(dearest[1])} at {number(dearest[0], 'tokens')}."
        )
    return Picture(drawing=drawing, caption=text, source=f"{TABLE}: mean_Tokens, mean_{metric}; {METRICS}: front, row")


def _top(table: pd.DataFrame, metric: str, content: Mapping[str, Any]) -> Table:
    measured = [str(name).removeprefix("mean_") for name in table if str(name).startswith("mean_") and name != f"mean_{metric}"]
    others = [name for name in measured if name in COSTS or name in str(content["goal"]).split()]
    params = [str(name) for name in table if str(name).startswith("param_")]
    ranked = table.sort_values(f"rank_{metric}", kind="stable").head(TOP)
    keys = [
        "row",
        *params,
        f"mean_{metric}",
        f"ci_low_{metric}",
        f"ci_high_{metric}",
        f"n_{metric}",
        *(f"mean_{name}" for name in others),
    ]
    names = {
        "row": "row",
        **{name: name.removeprefix("param_") for name in params},
        f"mean_{metric}": metric,
        f"ci_low_{metric}": "95 % from",
        f"ci_high_{metric}": "to",
        f"n_{metric}": "n",
        **{f"mean_{name}": name for name in others},
    }
    records = [{"row": int(at), **{key: _plain(record[key]) for key in keys[1:]}} for at, record in ranked.iterrows()]
    units = {f"mean_{name}": metric_unit(name) for name in (metric, *others)}
    units |= dict.fromkeys((f"ci_low_{metric}", f"ci_high_{metric}"), metric_unit(metric)) | dict.fromkeys(params, "setting")
    note = f"The first {len(records)} of {whole(len(table))} rows by {label(metric)}; the chosen row is number {content['row']}."
    if len(others) < len(measured):
        note += f" {TABLE} holds {plural(len(measured) - len(others), 'more metric')}."
    caption = f"The best configurations by {label(metric)}"
    return frame_table(caption, records, names, units=units, notes=(note,), source=f"{TABLE}: mean_*, ci_*, n_*, param_*")


def _plain(value: Any) -> Any:
    value = value.item() if hasattr(value, "item") else value
    return tuple(value.tolist()) if hasattr(value, "tolist") else value


def _marginal(content: Mapping[str, Any]) -> Section | None:
    rows: Sequence[Mapping[str, Any]] = content.get("marginal") or ()
    if not rows:
        return None
    drawing = choice_figures.marginal(rows)
    best = max(
        (row for row in rows if row.get("recall_per_100_tokens") is not None),
        key=lambda row: row["recall_per_100_tokens"],
        default=None,
    )
    text = "No step of a budget used more tokens." if best is None else (
        f"Most recall per token comes from {label(best['tier'])} between {whole(best['budget_from'])} and "
        f"{whole(best['budget_to'])} tokens: {number(best['recall_per_100_tokens'])} per 100 tokens (n {whole(best['n'])})."
    )  # fmt: skip
    columns = {
        "tier": "tier", "budget_from": "budget from", "budget_to": "to", "tokens": "tokens used more", "recall": "recall gained",
        "ci95_low": "95 % from", "ci95_high": "to ", "recall_per_100_tokens": "recall per 100 tokens", "n": "n",
    }  # fmt: skip
    note = "Paired over queries, the other tiers as chosen; intervals by user, one step each, uncorrected."
    source = f"{METRICS}: marginal"
    table = frame_table(
        "Recall bought by each step of a budget", rows, columns, units={"tokens": "tokens"}, notes=(note,), source=source
    )
    blocks: list[Block | None] = [
        Picture(drawing=drawing, caption=text, source=source) if drawing else paragraph(text),
        table,
        paragraph(_split(content["split"])) if content.get("split") else None,
    ]
    return section("budgets", "What more budget buys", blocks, "Budgets")


def _split(split: Mapping[str, Any]) -> str:
    parts = listed([f"{label(tier)} {whole(budget)}" for tier, budget in split["budgets"].items()])
    return (
        f"Proposed split of {whole(split['total'])} tokens: soul {whole(split['soul'])}, {parts}; recall "
        f"{number(split['recall'])} with {number(split['tokens'], 'tokens')} tokens a prompt. "
        "Chosen on these queries, so confirm it on others."
    )


def _losses(content: Mapping[str, Any], group: str) -> Section | None:
    rows = content.get("losses")
    if not rows:
        return None
    total = rows[-1]
    stages = [fate.label for fate in Fate if fate is not Fate.SELECTED]
    worst = max(stages, key=lambda stage: total[stage])
    text = f"{whole(total['selected'])} of {whole(total['relevant'])} relevant entries reach the prompt under the chosen row"
    text += f"; most of the others are lost as “{worst}” ({whole(total[worst])})." if total[worst] else "."
    table = loss_table(
        rows, stages, caption="Relevant entries by the stage that lost them", group=group, source=f"{METRICS}: losses"
    )
    return section("losses", "Where relevant entries were lost", [paragraph(text), table], "Losses")


def _limits(table: pd.DataFrame, content: Mapping[str, Any], metric: str) -> list[str]:
    blind = [row["signal"] for row in content["signals"]["rows"] if row["verdict"] != "testable"]
    out = [
        f"One configuration was picked of {whole(len(table))} on the same queries: its mean is too good. Intervals are of "
        "one row each, uncorrected.",
    ]
    if blind:
        out.insert(0, f"This data cannot judge {listed(blind)}: constant in every pool, so any weight would do as well.")
    undefined = [str(name).removeprefix("n_") for name in table if str(name).startswith("n_") and not int(table[name].max())]
    if undefined:
        out.append(f"No query has a value of {listed(undefined)}.")
    if content["signals"]["n_users"] < 20:
        out.append(f"{whole(content['signals']['n_users'])} users: intervals by user are rough with fewer than 20.")
    return out
