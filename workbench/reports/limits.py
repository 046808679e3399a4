"""What a run cannot say, derived from its numbers, so that every report names its own limits."""

from __future__ import annotations

from workbench.reports.facts import Run
from workbench.reports.labels import label, listed, portable
from workbench.reports.numbers import plural, whole

FEW_CLUSTERS = 20
"""Below this many users the coverage of intervals is only roughly the nominal one."""
FEW_QUERIES = 10
_ENOUGH_FOR_P99 = 300
_NAMED = 12


def limits(run: Run) -> list[str]:
    """Sentences, the weightiest first."""
    return [*_clusters(run), *_signals(run), *_notes(run), *_groups(run), *_left_out(run), *_latency(run)]


def _clusters(run: Run) -> list[str]:
    rows = [row for _, row in run.comparisons() if row.get("ci95") is not None]
    sizes = [int(row.get("n_clusters") or 0) for row in rows]
    methods = dict.fromkeys(str(row.get("interval_method") or "method not recorded") for row in rows)
    if not sizes:
        return ["No difference has an interval: at least two users with two judged queries are needed."]
    out = []
    if max(sizes) < FEW_CLUSTERS:
        out.append(
            f"Few users: queries of one user are not independent, so {plural(max(sizes), 'user')} and not the number of queries "
            "decide how sure a result can be. It holds for users like these; more of them narrow the intervals."
        )
    out.append(f"Intervals of differences: {listed([label(method) for method in methods])}.")
    parts = [run.summary(arm, name, group) for arm in run.arms for name in run.metrics for group in (None, *run.groups)]
    if any(bounds[0] == bounds[1] for bounds in (part.get("ci95") for part in parts) if bounds is not None):
        out.append("An interval without width means that all its values are equal, not that the next ones would be.")
    return out


def _signals(run: Run) -> list[str]:
    together: dict[tuple[str, ...], list[str]] = {}
    for signal, arms in run.undecidable().items():
        together.setdefault(arms, []).append(signal)
    return [
        f"This data cannot judge {listed(signals)}: weighted with {listed(arms)}, yet the same for all candidates of every "
        "query and so without any effect here. Nothing in this report is a reason to change such a weight."
        for arms, signals in together.items()
    ]


def _notes(run: Run) -> list[str]:
    """Remarks of the comparison, each once with the metrics it is about."""
    found: dict[str, list[str]] = {}
    for name, row in run.comparisons():
        if row.get("note"):
            found.setdefault(label(row["note"]), []).append(label(name))
    return [f"{listed(names)}: {note}." for note, names in found.items()]


def _groups(run: Run) -> list[str]:
    metric = run.main
    if metric is None or not run.groups:
        return []
    small = [
        label(group)
        for group in run.groups
        if 0 < max(int(run.summary(arm, metric, group).get("n") or 0) for arm in run.arms) < FEW_QUERIES
    ]
    out = []
    if small:
        out.append(
            f"Fewer than {FEW_QUERIES} queries with a value of {label(metric)} in {listed(small, most=_NAMED)}: "
            "read those rows as single cases."
        )
    if len(run.groups) > 1:
        out.append(f"Differences per {run.group_name} are not tested: the intervals describe each arm alone, uncorrected.")
    return out


def _left_out(run: Run) -> list[str]:
    queries, judged, answerable = (run.content.get(key) for key in ("n_queries", "n_judged", "n_answerable"))
    out = []
    if queries is not None and judged is not None and judged < queries:
        out.append(f"{plural(queries - judged, 'query has', 'queries have')} no usable judgement and count for costs only.")
    if judged is not None and answerable is not None and answerable < judged:
        out.append(
            f"{plural(judged - answerable, 'judged query has', 'judged queries have')} no answer in the store: "
            "recall is undefined for them."
        )
    note = run.content.get("dataset_config_note")
    if run.content.get("dataset_config"):
        text = f"The dataset is judged under settings of its own; other settings may order the arms differently. {_end(note)}"
        out.append(text.strip())
    return out


def _end(note: object) -> str:
    text = portable(label(note)) if note else ""
    return text if not text or text.endswith((".", "!", "?")) else f"{text}."


def _latency(run: Run) -> list[str]:
    counts = [int((run.arm(arm, "latency_ms").get("total") or {}).get("n") or 0) for arm in run.arms]
    if not any(counts):
        return ["Time was not measured."]
    load = ((run.manifest.get("environment") or {}).get("machine") or {}).get("load_average")
    busy = f" (load average {', '.join(str(part) for part in load)} at the end)" if load else ""
    out = [f"Times are of the machine named below, as busy as it was{busy}; compare arms of one run, not of several machines."]
    if min(counts) < _ENOUGH_FOR_P99:
        out.append(
            f"With {whole(min(counts))} timings per arm the 99th percentile rests on very few of them, and the upper end of its "
            "interval is too low."
        )
    return out
