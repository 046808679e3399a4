"""What each figure shows, in a sentence or two made from the numbers it draws."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from workbench.config import SIGNALS
from workbench.reports.facts import MAIN_METRIC, Run
from workbench.reports.figures import MOST_GROUPS, drawn_groups
from workbench.reports.labels import label, listed
from workbench.reports.numbers import known, number, percent, plural, whole

_VERDICTS = ("better", "worse", "equivalent", "no difference", "inconclusive", "not enough data")
_NAMED = 5


def captions(run: Run) -> Mapping[str, str]:
    """Name of the figure -> its caption."""
    return {name: write(run) for name, write in _CAPTIONS.items()}


def _metrics(run: Run) -> str:
    found: dict[str, list[str]] = {}
    for name, row in run.comparisons():
        found.setdefault(str(row.get("verdict") or "not enough data"), []).append(label(name))
    parts = [f"{verdict} on {listed(found[verdict], most=_NAMED)}" for verdict in _VERDICTS if verdict in found]
    without = [label(name) for name in run.metrics if all(run.summary(arm, name).get("ci95") is None for arm in run.arms)]
    text = f"Verdicts on {run.b} against {run.a}: {'; '.join(parts)}." if parts else "Nothing was compared."
    return text + (f" Without interval: {listed(without, most=_NAMED)}." if without else "")


def _groups(run: Run) -> str:
    metric = MAIN_METRIC if MAIN_METRIC in run.metrics else run.main
    if metric is None or not run.groups:
        return ""
    unit, shown = run.unit(metric), drawn_groups(run, metric)
    mean = {(arm, group): run.summary(arm, metric, group).get("mean") for arm in run.arms for group in shown}
    text = []
    gaps = {}
    for group in shown:
        before, after = mean[run.arms[0], group], mean[run.arms[1], group]
        if group not in run.rollups and known(before) and known(after):
            gaps[group] = after - before
    if gaps:
        moved = {group: gap for group, gap in gaps.items() if gap}
        if moved:
            widest = max(moved, key=lambda group: abs(moved[group]))
            second, first = (number(mean[arm, widest], unit) for arm in (run.arms[1], run.arms[0]))
            pair = f"{second} with {run.b}, {first} with {run.a}"
            n = whole(run.summary(run.arms[1], metric, widest).get("n"))
            same = len(gaps) - len(moved)
            text.append(f"The widest gap in {label(metric)} is in {run.group_name} {label(widest)}: {pair} (n {n}).")
            if same:
                text.append(f"In {same} of {len(gaps)} the means are equal.")
        else:
            text.append(f"{label(metric)} is equal in every {run.group_name}.")
    empty = [group for group in shown if not any(known(mean[arm, group]) for arm in run.arms)]
    if empty:
        text.append(f"No {label(metric)} is defined for {listed([label(group) for group in empty], most=_NAMED)}.")
    if len(shown) < len(run.groups):
        text.append(f"Drawn are the {MOST_GROUPS} with most queries of {len(run.groups)}; the table has all.")
    return " ".join(text)


def _losses(run: Run) -> str:
    parts = []
    for arm in run.arms:
        counts = {fate: int(run.arm(arm, "relevant_entries").get(fate) or 0) for fate in run.fates}
        total = sum(counts.values())
        if not total:
            continue
        kept = counts.get(run.fates[-1], 0)
        entries = plural(total, "relevant entry", "relevant entries")
        text = f"{label(arm)} shows {whole(kept)} of {entries} ({percent(kept, total)})"
        lost = {fate: counts[fate] for fate in run.fates[:-1] if counts[fate]}
        if lost:
            worst = max(lost, key=lambda fate: lost[fate])
            part = "the largest part of the rest" if len(lost) > 1 else "the rest"
            text += f"; {part} is lost as “{label(worst)}” ({whole(lost[worst])})"
        parts.append(text + ".")
    return " ".join(parts)


def _latency(run: Run) -> str:
    parts = []
    for arm in run.arms:
        medians = {stage: run.arm(arm, "latency_ms").get(stage, {}).get("p50") for stage in run.stages}
        medians = {stage: value for stage, value in medians.items() if known(value)}
        total = run.arm(arm, "latency_ms").get("total") or {}
        if not medians or not known(total.get("p50")):
            continue
        longest = max(medians, key=lambda stage: medians[stage])
        parts.append(
            f"With {label(arm)} the longest stage is {label(longest)} (median {number(medians[longest], 'ms')} ms, "
            f"{percent(medians[longest], sum(medians.values()))} of the bar); the total's median is "
            f"{number(total['p50'], 'ms')} ms, its 95th percentile {number(total.get('p95'), 'ms')} ms."
        )
    if parts:
        parts.append("Medians of stages do not add up to the median of the total exactly.")
    return " ".join(parts)


def _weights(run: Run) -> str:
    parts = []
    for arm in run.arms:
        effective = run.arm(arm, "effective_weights")
        if not any(known(value) for value in effective.values()):
            continue
        nominal = run.nominal(arm)
        shift = {name: (effective.get(name) or 0.0) - nominal[name] for name in SIGNALS}
        name = max(SIGNALS, key=lambda signal: abs(shift[signal]))
        if abs(shift[name]) < 0.0005:
            parts.append(f"With {label(arm)} every signal counts as configured.")
        else:
            parts.append(
                f"With {label(arm)}, {name} differs most: {number(nominal[name])} as configured, "
                f"{number(effective.get(name))} in effect."
            )
    blind = run.undecidable()
    if blind:
        parts.append(f"Without any effect: {listed([f'{name} ({listed(arms)})' for name, arms in blind.items()])}.")
    return " ".join(parts)


_CAPTIONS: Mapping[str, Callable[[Run], str]] = {
    "metrics": _metrics,
    "groups": _groups,
    "losses": _losses,
    "latency": _latency,
    "weights": _weights,
}
