"""The question of a run and its answer in plain words, made from the numbers of the comparison alone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from workbench.reports.cells import TONES
from workbench.reports.document import Answer, Card
from workbench.reports.facts import Run
from workbench.reports.labels import label
from workbench.reports.numbers import interval, known, number, p_value, plural, span, whole


def title(run: Run) -> str:
    """The title of the report."""
    return f"{run.b} against {run.a} on {run.dataset}"


def question(run: Run) -> str:
    """What the run asks, in one sentence."""
    return (
        f"Does {run.b} put more of what is relevant into the prompt than {run.a} on the judged queries of {run.dataset}, "
        "and what does it cost in outdated entries, tokens and time?"
    )


def answer(run: Run) -> Answer:
    """What the comparison of the main metric says."""
    metric = run.main
    if metric is None:
        return Answer(word="not enough data", tone="muted", sentence="No metric was compared, so there is no verdict.")
    row = run.row(metric)
    verdict = str(row.get("verdict") or "not enough data")
    unit, name = run.unit(metric), label(metric)
    means = f"{name} is {number(row.get('mean_b'), unit)} with {run.b} and {number(row.get('mean_a'), unit)} with {run.a}"
    bounds = "no interval" if row.get("ci95") is None else f"95 % interval {span(row['ci95'], unit, signed=True)}"
    size = f"a difference of {number(row.get('difference'), unit, signed=True)} ({bounds})"
    basis = f"over {_basis(row)}"
    sentences = {
        "better": f"Yes: {run.b} is better. {means}, {size}, {basis}.",
        "worse": f"No: {run.b} is worse. {means}, {size}, {basis}.",
        "equivalent": f"Equivalent: the difference is too small to matter. {means}, {size}, {basis}.",
        "no difference": f"No difference: {name} is the same with both on every query, "
        f"{number(row.get('mean_a'), unit)} on average, {basis}.",
        "inconclusive": f"Undecided: these data do not show whether {run.b} is better or worse. {means}, {size}, {basis}.",
    }
    nothing = f"Not enough data: {name} has a value for {_basis(row)}, so there is no verdict."
    return Answer(
        word=verdict,
        tone=TONES.get(verdict, "muted"),
        sentence=sentences.get(verdict, nothing),
        details=tuple(_details(row, verdict, unit)),
        source=run.compared(metric, "*"),
    )


def _basis(row: Mapping[str, Any]) -> str:
    return f"{plural(int(row.get('n') or 0), 'query', 'queries')} of {plural(int(row.get('n_clusters') or 0), 'user')}"


def _details(row: Mapping[str, Any], verdict: str, unit: str) -> list[str]:
    out = []
    bounds, margin, adjusted = row.get("ci95"), row.get("margin"), row.get("p_adjusted")
    if verdict == "equivalent" and margin is not None:
        out.append(f"The whole interval lies within ±{number(margin, unit)}, which counts as equal.")
    if verdict in ("better", "worse", "inconclusive") and known(adjusted):
        raw = row.get("p_value")
        corrected = f", and {p_value(adjusted)} once corrected for all metrics compared" if adjusted != raw else ""
        users = int(row.get("n_clusters") or 0)
        least = f"; no smaller one is possible with {plural(users, 'user')}" if known(raw) and raw == row.get("p_floor") else ""
        basis = f" (paired sign-flip test by user{least})"
        out.append(f"How sure: p is {p_value(raw)}{basis}{corrected}.")
        if users >= 2 and known(row.get("margin")) and known(row.get("mde")) and verdict != "inconclusive":
            seen = f"the smallest that {plural(users, 'such user')} show four times out of five is {number(row['mde'], unit)}"
            out.append(f"Differences up to ±{number(row['margin'], unit)} count as equal; {seen}.")
    if verdict == "inconclusive":
        if bounds is not None and bounds[0] <= 0.0 <= bounds[1]:
            out.append("The interval includes 0.")
        if known(row.get("mde")) and "p cannot fall" not in str(row.get("note")):
            out.append(f"Tested alone, a true difference of {number(row['mde'], unit)} would be found four times out of five.")
    if row.get("note"):
        note = label(row["note"])
        out.append(f"Note of the comparison: {note}.")
    return out


def cards(run: Run) -> list[Card]:
    """The key numbers: the main metric, stale exposure, tokens, and the 95th percentile of the time per query."""
    out = []
    for metric in dict.fromkeys((run.main, "StaleExposure", "Tokens")):
        row = run.row(metric) if metric else {}
        if not metric or not row:
            continue
        unit, verdict = run.unit(metric), str(row.get("verdict") or "not enough data")
        bounds = [] if row.get("ci95") is None else [interval(row["ci95"], unit, signed=True)]
        out.append(
            Card(
                title=f"{label(metric)}, difference",
                value=number(row.get("difference"), unit, signed=True),
                sub=" · ".join([*bounds, f"n {whole(row.get('n'))}", label(verdict)]),
                tone=TONES.get(verdict, "muted"),
                path=run.compared(metric, "difference"),
            )
        )
    totals = [run.arm(arm, "latency_ms").get("total") or {} for arm in run.arms]
    if any(known(total.get("p95")) for total in totals):
        verdicts = dict.fromkeys(str(total.get("verdict") or "not enough data") for total in totals)
        over = any(verdict.startswith("over") for verdict in verdicts)
        within = all(verdict.startswith("within") for verdict in verdicts)
        out.append(
            Card(
                title=f"Time per query, p95 ({' / '.join(label(arm) for arm in run.arms)})",
                value=" / ".join(number(total.get("p95"), "ms") for total in totals) + " ms",
                sub=f"limit {number(run.limit_ms, 'ms')} ms: {' / '.join(label(verdict) for verdict in verdicts)}",
                tone="bad" if over else "good" if within else "muted",
                path="metrics.json#/arms/*/latency_ms/total/p95",
            )
        )
    return out


def latency_verdicts(run: Run) -> list[str]:
    """One sentence per arm: its 95th percentile against the limit."""
    out = []
    for arm in run.arms:
        total = run.arm(arm, "latency_ms").get("total") or {}
        verdict = str(total.get("verdict") or "not enough data")
        if not known(total.get("p95")):
            out.append(f"{label(arm)}: {label(verdict)}.")
            continue
        n, over = int(total.get("n") or 0), total.get("over_limit")
        beyond = "" if over is None else f"; {whole(over)} of {plural(n, 'query', 'queries')} took longer than the limit"
        ci = total.get("p95_ci95")
        bounds = "" if ci is None else f" (95 % interval {span(ci, 'ms')})"
        out.append(
            f"{label(arm)}: {label(verdict)}. 95 % of queries take at most {number(total['p95'], 'ms')} ms{bounds}, "
            f"the limit is {number(run.limit_ms, 'ms')} ms{beyond}."
        )
    return out
