"""The prose of results/README.md quotes recorded runs: each quoted number is read again from the run's metrics.json."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parent.parent
RESULTS = ROOT / "results"
PROSE = " ".join((RESULTS / "README.md").read_text(encoding="utf-8").partition("## What they say")[2].split())


def metrics(run: str) -> Any:
    return json.loads((RESULTS / run / "metrics.json").read_text(encoding="utf-8"))


def quoted(found: Any, digits: int = 3, scale: float = 1.0) -> str:
    low, high = (scale * bound for bound in found["ci95"])
    return f"{scale * found['mean']:.{digits}f} [{low:.{digits}f}, {high:.{digits}f}]"


def starter() -> list[str]:
    run = metrics("ab-starter")
    arms = {name: arm["metrics"] for name, arm in run["arms"].items()}
    found = run["comparison"]["ContextRecall"]
    low, high = found["ci95"]
    stale = arms["production"]["StaleExposure"]
    assert stale == arms["relevance-only"]["StaleExposure"]
    return [
        f"{found['n_clusters']} users, {found['n']} answerable queries",
        f"context recall {quoted(arms['production']['ContextRecall'])} with the production weights",
        f"{quoted(arms['relevance-only']['ContextRecall'])} with relevance alone",
        f"difference {found['difference']:.3f} [{low:.3f}, {high:.3f}], p = {found['p_value']:.3f}",
        f"Stale exposure {quoted(stale)} over the {stale['n']} queries",
    ]


def locomo() -> list[str]:
    lines = []
    for run, template in (("locomo", "date: speaker: text"), ("locomo-plain", "speaker: text")):
        arms = metrics(run)["arms"]
        for arm, weights in (("relevance-only", "relevance only"), ("production", "production")):
            found = arms[arm]["metrics"]
            lines.append(
                f"| {template} | {weights} | {quoted(found['Recall@10'], 1, 100)} | {100 * found['nDCG@10']['mean']:.1f} "
                f"| {quoted(found['ContextRecall'], 1, 100)} |"
            )
    groups = {name: arm["groups"] for name, arm in metrics("locomo")["arms"].items()}
    means = {arm: {name: metric["ContextRecall"]["mean"] for name, metric in found.items()} for arm, found in groups.items()}
    named = ("1", "2", "3", "4", "categories 1-4", "5")
    lines.append(", ".join(f"{name.removeprefix('categories ')}: {means['relevance-only'][name]:.3f}" for name in named))
    lines.append(", ".join(f"{means['production'][name]:.3f}" for name in named))
    return lines


def tuning() -> list[str]:
    rows = metrics("tuning-locomo")["tuning"]["comparison"]["rows"]
    (found,) = (row for row in rows if row["metric"] == "ContextRecall")
    return [f"held-out difference {found['difference']:+.3f}"]


def latency() -> list[str]:
    run = metrics("latency")
    sizes = {cell["size"]: cell["latency"]["stages"] for cell in run["cells"]}
    bare = {size: found["without embed"]["p95"] for size, found in sizes.items()}
    growth = {
        kind: f"{fit['exponent']:.2f} [{fit['ci95'][0]:.2f}, {fit['ci95'][1]:.2f}]"
        for kind, fit in run["latency"]["growth"]["production"].items()
    }
    cold = run["latency"]["cold"]
    seconds = {name: f"{found['median'] / 1000:.1f} s" for name, found in cold.items()}
    pairs, stage = (
        {size: f"{found[name]['p50']:.1f} / {found[name]['p95']:.1f}" for size, found in sizes.items()}
        for name in ("total", "contradictions")
    )
    return [
        f"p50 / p95 {pairs[300]} ms at 300 entries, {pairs[3000]} at 3,000, {pairs[10000]} at 10,000",
        f"p95 is {bare[300]:.1f}, {bare[3000]:.1f} and {bare[10000]:.1f} ms",
        f"contradiction stage takes {stage[300]}, {stage[3000]} and {stage[10000]} ms",
        f"exponent of {growth['total']}",
        f"without the embedding {growth['without embed']}",
        f"needs {seconds['first answer']} to its first answer, {seconds['model']} of them for loading the model, "
        f"besides {seconds['data']} for reading the judged dataset",
    ]


def conflicts() -> list[str]:
    found = metrics("conflicts")["overall"]
    said = [
        f"{kind} {found[kind]['hits']}/{found[kind]['n']} = {found[kind]['share']:.2f} "
        f"[{found[kind]['interval'][0]:.2f}, {found[kind]['interval'][1]:.2f}]"
        for kind in ("precision", "recall")
    ]
    alarms = metrics("conflicts")["false_alarms"]
    assert all(found["hits"] == 0 for found in alarms.values())
    lowest = metrics("conflicts")["similarity"]["percentiles"]["conflict"]["5"]
    return [
        *said,
        f"no false alarm among {alarms['duplicate']['n']} duplicates and {alarms['compatible']['n']} compatible pairs",
        f"5 % of the conflicts lie below a cosine of {lowest:.3f}",
    ]


@pytest.mark.parametrize("claims", [starter, locomo, tuning, latency, conflicts])
def test_the_prose_of_the_results_says_what_the_runs_recorded(claims: Any) -> None:
    missing = [claim for claim in claims() if claim not in PROSE]
    assert not missing, f"results/README.md does not say: {missing}"


def test_pictures_and_folders_named_by_the_readmes_are_there() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8") + (RESULTS / "README.md").read_text(encoding="utf-8")
    for name in re.findall(r"`((?:results/)?(?:ab|locomo|tuning|latency|budgets|conflicts)[a-z-]*)`", text):
        assert (RESULTS / name.removeprefix("results/")).is_dir(), name
