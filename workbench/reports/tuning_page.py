"""The page of a tuning: what was chosen on some users, and what it is worth on others."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from workbench.experiments.comparison_table import Comparison
from workbench.reports import advice_choice, choice_figures, record
from workbench.reports.comparison_page import record_blocks
from workbench.reports.document import Answer, Block, Bullets, Card, Facts, Page, Picture, Section, paragraph, section
from workbench.reports.facts import Run
from workbench.reports.labels import label, listed
from workbench.reports.numbers import interval, number, span, whole
from workbench.reports.result_tables import comparison_table, frame_table, signals_table
from workbench.reports.sweep_page import metric_unit, params_text
from workbench.reports.verdicts import answer

METRICS = "metrics.json"
PLACE = f"{METRICS}#/tuning/comparison/rows"


def tuning_page(content: Mapping[str, Any], manifest: Mapping[str, Any], *, run_id: str) -> Page:
    """The page, for tuning by user (leave one user out) and by split (train, validation, locked test)."""
    from workbench.experiments.constraints import Goal

    tuning, dataset = content["tuning"], label(manifest["dataset"]["name"])
    goal = Goal.parse(tuning["goal"])
    comparison = Comparison.from_dict(tuning["comparison"])
    by_user = content["by"] == "user"
    where = "one user at a time held out" if by_user else "a locked test part of the users"
    said = _answer(tuning, comparison, goal.metric, by_user)
    parts: list[Section | None] = [
        advice_choice.after_tuning(tuning, said.word, by_user, manifest),
        _results(tuning, comparison, by_user),
        _folds(tuning, goal.metric) if by_user else None,
        _signals(tuning),
        _ablation(content.get("ablation")),
        section("limits", "Limits", [Bullets(tuple(_limits(tuning, by_user)))]),
        section(
            "record",
            "Run record",
            [Facts((*record.recorded_dataset(manifest), *record.made(manifest))), *record_blocks(manifest)],
        ),
    ]
    return Page(
        run_id=run_id,
        kind="tune",
        kicker="Context assembly · tuning",
        title=f"Tuning on {dataset}",
        question=(
            f"Does the best of {whole(tuning['n_tried'])} configurations by “{label(goal)}” beat the base configuration on "
            f"queries of {dataset} that it was not chosen on ({where})?"
        ),
        answer=said,
        cards=tuple(_cards(tuning, comparison, goal.metric)),
        sections=tuple(part for part in parts if part is not None),
        dataset=dataset,
    )


def _as_run(comparison: Comparison) -> Run:
    """What sentences need of a comparison: its rows by metric."""
    arms: dict[str, dict[str, Any]] = {comparison.baseline: {}, comparison.arms[0]: {}}
    return Run(
        {
            "dataset": "",
            "arms": arms,
            "comparison": {row.metric: row.to_dict() for row in comparison.rows},
            "comparison_arms": {"a": comparison.baseline, "b": comparison.arms[0]},
        },
        {},
    )


def _answer(tuning: Mapping[str, Any], comparison: Comparison, metric: str, by_user: bool) -> Answer:
    said = answer(_as_run(comparison)) if any(row.metric == metric for row in comparison.rows) else None
    params = params_text(tuning["final_params"] if by_user else tuning["params"])
    choice = f"Best on all users: {params}." if by_user else f"Chosen on validation: {params}."
    size = number(tuning["gap"], metric_unit(metric), signed=True)
    gap = f"Gap between the users it was chosen on and the held-out ones: {size}."
    if by_user:
        rows = {fold["row"] for fold in tuning["folds"]}
        folds = whole(len(tuning["folds"]))
        gap += (
            f" All {folds} folds made the same choice." if len(rows) == 1 else f" {folds} folds made {whole(len(rows))} choices."
        )
    earlier = int(tuning.get("earlier_uses") or 0)
    more = [f"This test part was used for {earlier} choices before: it is no longer unseen."] if earlier else []
    if said is None:
        return Answer(
            word="not enough data", tone="muted", sentence=f"{label(metric)} was not compared.", details=(choice, gap, *more)
        )
    return Answer(
        word=said.word,
        tone=said.tone,
        sentence=said.sentence,
        details=(*said.details, choice, gap, *more),
        source=f"{METRICS}: tuning",
    )


def _cards(tuning: Mapping[str, Any], comparison: Comparison, metric: str) -> list[Card]:
    out = []
    for at, row in enumerate(comparison.rows):
        if row.metric in (metric, "StaleExposure", "Tokens"):
            bounds = interval(row.ci95, row.unit, signed=True)
            out.append(
                Card(
                    title=f"{label(row.metric)}, difference on held-out users",
                    value=number(row.difference, row.unit, signed=True),
                    sub=f"{bounds} · n {whole(row.n)} · {row.verdict}",
                    tone={"better": "good", "worse": "bad"}.get(row.verdict, "muted"),
                    path=f"{PLACE}/{at}/difference",
                )
            )
    gap = number(tuning["gap"], metric_unit(metric), signed=True)
    out.append(Card(title="Train minus held-out", value=gap, sub=label(metric), tone="plain", path=f"{METRICS}#/tuning/gap"))
    return out


def _results(tuning: Mapping[str, Any], comparison: Comparison, by_user: bool) -> Section:
    blocks: list[Block] = [comparison_table(comparison, source=f"{METRICS}: tuning.comparison", place=PLACE)]
    if not by_user:
        parts = [{"part": part, "mean": tuning[part]} for part in ("train", "validation", "test")]
        unit = {"mean": metric_unit(str(tuning["goal"]).split()[1])}
        table = frame_table("The chosen configuration on each part", parts, {"part": "part", "mean": "mean"}, units=unit)
        blocks.append(table)
    return section("results", "Results", blocks)


def _folds(tuning: Mapping[str, Any], metric: str) -> Section | None:
    folds, unit = tuning["folds"], metric_unit(metric)
    names = list(dict.fromkeys(name for fold in folds for name in fold["params"]))
    columns = {
        "held_out_user": "held-out user",
        "n": "n",
        "baseline": "baseline",
        "held_out": "chosen",
        "train": "mean elsewhere",
    }
    columns |= {"row": "row", **{name: name.removeprefix("weights.") for name in names}}
    records = [{**{key: fold[key] for key in fold if key != "params"}, **fold["params"]} for fold in folds]
    units = {**dict.fromkeys(("baseline", "held_out", "train"), unit), **dict.fromkeys(names, "setting")}
    source = f"{METRICS}: tuning.folds"
    table = frame_table("Folds", records, columns, units=units, source=source)
    drawing = choice_figures.folds(folds, metric, unit)
    pairs = [fold for fold in folds if fold["held_out"] is not None and fold["baseline"] is not None]
    better = sum(fold["held_out"] > fold["baseline"] for fold in pairs)
    worse = sum(fold["held_out"] < fold["baseline"] for fold in pairs)
    caption = f"The choice made without a user is above the baseline for {better} of {len(pairs)} users and below it for {worse}."
    return section(
        "folds", "User by user", [Picture(drawing=drawing, caption=caption, source=source) if drawing else None, table], "Folds"
    )


def _signals(tuning: Mapping[str, Any]) -> Section | None:
    signals = tuning.get("signals")
    if not signals:
        return None
    table = signals_table(signals, source=f"{METRICS}: tuning.signals", place=f"{METRICS}#/tuning/signals")
    return section("signals", "What the data can judge", [table], "Signals")


def _ablation(ablation: Mapping[str, Any] | None) -> Section | None:
    if not ablation:
        return None
    comparison = Comparison.from_dict(ablation["comparison"])
    metric = comparison.rows[0].metric if comparison.rows else ""
    rows = [(row.arm_b, row.to_dict()) for row in comparison.rows if row.metric == metric]
    drawing = choice_figures.differences(
        rows,
        name="ablation",
        title=f"{label(metric)} without one signal, difference and 95 % interval",
        axis=f"difference in mean {label(metric)} from all signals; n queries",
    )
    known = [(arm, row) for arm, row in rows if row["difference"] is not None]
    lowest = min(known, key=lambda item: item[1]["difference"], default=None)
    caption = "" if lowest is None else (
        f"Most is lost {lowest[0]}: {number(lowest[1]['difference'], signed=True)} (95 % interval "
        f"{span(lowest[1]['ci95'], signed=True)}, n {whole(lowest[1]['n'])})."
    )  # fmt: skip
    source = f"{METRICS}: ablation.comparison"
    table = comparison_table(comparison, source=source, place=f"{METRICS}#/ablation/comparison/rows")
    verdicts = ablation["verdicts"]
    blind = [name for name, verdict in verdicts.items() if verdict == "untestable here"]
    text = f"No verdict on {listed(blind)}: constant in these data." if blind else "Every signal varies in these data."
    picture = Picture(drawing=drawing, caption=caption, source=source) if drawing else None
    return section("ablation", "What each signal contributes", [paragraph(text), picture, table], "Ablation")


def _limits(tuning: Mapping[str, Any], by_user: bool) -> list[str]:
    signals = tuning.get("signals") or {}
    blind = [row["signal"] for row in signals.get("rows", ()) if row["verdict"] != "testable"]
    out = []
    if blind:
        out.append(
            f"This data cannot judge {listed(blind)}: constant in every pool, so any weight would do as well and the choice "
            "says nothing about them."
        )
    if signals and signals["n_users"] < 20:
        out.append(
            f"{whole(signals['n_users'])} users: intervals and p-values are by user, and with so few the smallest possible p is "
            "not small."
        )
    if by_user:
        out.append(
            f"The mean of the configuration that is best on all users ({number(tuning['final_mean'])}) was measured on the users "
            "it was chosen on, so it is too good; the held-out difference above is what to expect."
        )
    out.append("What holds for these users and these questions need not hold for others.")
    return out
