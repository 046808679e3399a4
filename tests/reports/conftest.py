"""Contents of metrics.json made with the real statistics over made-up values, and what a page is checked with."""

from __future__ import annotations

import copy
import gc
import pickle
from collections.abc import Callable, Sequence
from functools import lru_cache
from html.parser import HTMLParser
from typing import Any

import numpy as np
import psutil
import pytest

from workbench.assembly.fates import Fate
from workbench.assembly.prompt import SECTIONS
from workbench.assembly.stages import STAGES
from workbench.config import SIGNALS, AssemblyConfig, Weights
from workbench.experiments.comparison import compare_values
from workbench.experiments.metrics import parse_metric
from workbench.experiments.percentile import describe
from workbench.experiments.summary import summarise, summarise_groups

METRICS = ("ContextRecall", "Recall@5", "Recall@10", "nDCG@10", "StaleExposure", "Tokens", "Leaks")
HOSTILE = (
    ("saves $$ daily", "a_b$c^$"),
    ("_baseline", "茶 run"),
    ("<script>alert(1)</script>", '"><img onerror=f()>'),
    ("{{ 7*7 }}", "\x1b[31m\x00\ud800"),
)

Make = Callable[..., dict[str, Any]]


def build(
    arms: Sequence[str] = ("production", "relevance-only"),
    *,
    groups: Sequence[str] = ("exact term", "how-to", "nothing to find"),
    dataset: str = "toy",
    users: int = 10,
    per_user: int = 6,
    lift: float = 0.2,
    timings: int = 40,
    seed: int = 0,
    undecidable: bool = False,
) -> dict[str, Any]:
    """The content of a run whose second arm is better by ``lift`` on average; every call gives one of its own."""
    made = _pickled(tuple(arms), tuple(groups), dataset, users, per_user, lift, timings, seed, undecidable)
    content: dict[str, Any] = pickle.loads(made)
    return content


@lru_cache(maxsize=64)
def _pickled(
    arms: tuple[str, ...],
    groups: tuple[str, ...],
    dataset: str,
    users: int,
    per_user: int,
    lift: float,
    timings: int,
    seed: int,
    undecidable: bool,
) -> bytes:
    """The statistics are real and take their time, so each content is computed once."""
    rng = np.random.default_rng(seed)
    n = users * per_user
    clusters = [f"user-{at // per_user}" for at in range(n)]
    names = [groups[at % len(groups)] for at in range(n)]
    base = rng.uniform(0.2, 0.7, n)
    values = {}
    for position, arm in enumerate(arms):
        shares = np.clip(base + position * (lift + (rng.normal(0, 0.02, n) if lift else 0.0)), 0, 1)
        columns = {metric: shares.copy() for metric in METRICS}
        columns["Tokens"] = 900 + 300 * base + position * 5
        columns["Leaks"] = np.zeros(n)
        columns["StaleExposure"] = np.where(np.arange(n) % 3 == 0, 1 - shares, np.nan)
        for metric in ("ContextRecall", "Recall@5", "Recall@10", "nDCG@10"):
            columns[metric][[name == groups[-1] and len(groups) > 1 for name in names]] = np.nan
        values[arm] = columns
    second = Weights(relevance=1.0, importance=0.0, confidence=0.0, recency=0.0, frequency=0.0)
    configs = (AssemblyConfig(), AssemblyConfig(weights=second))
    content: dict[str, Any] = {
        "schema_version": 1,
        "dataset": dataset,
        "dataset_licence": "Apache-2.0",
        "dataset_checksum": "ab" * 32,
        "dataset_notes": {"left_out_no_evidence": 4},
        "dataset_config": {"budgets": {"memories": 400}},
        "dataset_config_note": "Budgets are scaled to small stores.",
        "group_name": "scenario",
        "n_users": users,
        "n_entries": 321,
        "n_queries": n,
        "n_judged": n - 2,
        "n_answerable": n - 5,
        "metric_definitions": {metric: parse_metric(metric).definition for metric in METRICS},
        "arms": {},
        "latency_limit_ms": 100.0,
        "seed": 0,
    }
    for position, arm in enumerate(arms):
        samples = {stage: rng.gamma(2.0, 2.0 + 5 * (stage == "embed"), timings) for stage in STAGES}
        samples["residual"] = np.zeros(timings)
        samples["total"] = sum(samples[stage] for stage in STAGES)
        latency = {stage: describe(column) for stage, column in samples.items()}
        latency["total"] |= {
            "over_limit": 0,
            "verdict": "within the limit" if timings >= 20 else f"not enough data: {timings} timings",
        }
        effective = np.array([0.7, 0.1, 0.0 if undecidable else 0.1, 0.05, 0.05])
        content["arms"][arm] = {
            "config": configs[position].to_dict(),
            "config_hash": configs[position].hash,
            "metrics": {key: item.to_dict() for key, item in summarise(values[arm], clusters).items()},
            "groups": {
                group: {key: item.to_dict() for key, item in part.items()}
                for group, part in summarise_groups(values[arm], clusters, names).items()
            },
            "section_tokens": dict(zip(SECTIONS, (200.0, 120.5, 300.25, 90.0, 0.0), strict=True)),
            "effective_weights": dict(zip(SIGNALS, (effective / effective.sum()).tolist(), strict=True)),
            "relevant_entries": {fate.label: 3 * position + int(fate) * 7 for fate in Fate},
            "conflicts_per_query": 0.25,
            "budget_breaks": 0,
            "latency_ms": latency,
        }
    comparison = compare_values(values[arms[0]], values[arms[1]], clusters, names=(arms[0], arms[1]))
    content["comparison"] = {row.metric: row.to_dict() for row in comparison}
    content["comparison_arms"] = {"a": arms[0], "b": arms[1], "difference": "b minus a"}
    content["comparison_family"] = comparison.family
    return pickle.dumps(content)


def manifest_of(content: dict[str, Any]) -> dict[str, Any]:
    """A manifest with the paths of a machine in it, as a user's command would leave them."""
    return {
        "schema_version": 1,
        "status": "complete",
        "command": [
            "workbench",
            "run",
            "--data",
            "/home/figgle/secret dir/data.json",
            "--out=/srv/results/one",
            "--a",
            "C:\\Users\\figgle\\a.toml",
        ],
        "started": "2026-06-01T09:00:00Z",
        "wall_seconds": 12.5,
        "seed": 0,
        "dataset": {"name": content["dataset"], "version": "1", "source": "/home/figgle/stores/mine", "checksum": "ab" * 32},
        "encoder": "toy-encoder@1",
        "environment": {
            "python": "3.11.7",
            "packages": {"numpy": "2.4.6", "torch": None},
            "machine": {"system": "Linux", "logical_cores": 2, "load_average": [1.0, 2.0, 3.0]},
            "git": {"commit": None, "dirty": False},
        },
    }


def emptied(content: dict[str, Any]) -> dict[str, Any]:
    """The content with every number that may be missing missing."""

    def lose(tree: Any) -> Any:
        if not isinstance(tree, dict):
            return tree
        out = {}
        for key, value in tree.items():
            if key in _MAY_BE_NONE:
                out[key] = None
            elif key in ("n", "n_clusters", "over_limit"):
                out[key] = 0
            elif key == "verdict":
                out[key] = "not enough data"
            else:
                out[key] = lose(value)
        return out

    content = copy.deepcopy(content)
    content["comparison"] = lose(content["comparison"])
    for arm in content["arms"].values():
        for part in ("metrics", "groups", "latency_ms"):
            arm[part] = lose(arm[part])
        arm["section_tokens"] = dict.fromkeys(arm["section_tokens"])
        arm["effective_weights"] = dict.fromkeys(arm["effective_weights"])
        arm["relevant_entries"] = dict.fromkeys(arm["relevant_entries"], 0)
        arm["conflicts_per_query"] = None
    content |= {"dataset_config": {}, "dataset_config_note": "", "dataset_notes": {}}
    return content


_MAY_BE_NONE = {
    "mean", "ci95", "mean_a", "mean_b", "difference", "p_value", "p_floor", "p_adjusted", "q_value", "effect_size", "mde",
    "margin", "p50", "p95", "p99", "p50_ci95", "p95_ci95", "p99_ci95",
}  # fmt: skip


class Page(HTMLParser):
    """A page read strictly: every element closed in order, its text and attributes kept."""

    VOID = frozenset(("meta", "br", "img", "link", "input", "hr"))

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[tuple[str, str]] = []
        self.feed(text)
        self.close()
        assert not self.open, f"never closed: {self.open}"

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        names = [name for name, _ in attrs]
        assert len(names) == len(set(names)), f"attribute twice in {tag}: {names}"
        self.elements.append((tag, dict(attrs)))
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open, f"</{tag}> closes nothing"
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.texts.append((self.open[-1] if self.open else "", data))

    def text(self, skip: tuple[str, ...] = ("style", "script", "text")) -> str:
        return " ".join(data for tag, data in self.texts if tag not in skip)

    def all(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.elements if name == tag]


@pytest.fixture
def make() -> Make:
    return build


@pytest.fixture
def manifest() -> Callable[[dict[str, Any]], dict[str, Any]]:
    return manifest_of


@pytest.fixture(scope="session")
def usual() -> tuple[dict[str, Any], dict[str, Any]]:
    """The content that ``make()`` gives and its manifest, for what is made of them once; not to be changed."""
    content = build()
    return content, manifest_of(content)


@pytest.fixture
def empty() -> Callable[[dict[str, Any]], dict[str, Any]]:
    return emptied


@pytest.fixture
def page() -> type[Page]:
    return Page


@pytest.fixture(params=HOSTILE, ids=ascii)
def hostile(request: pytest.FixtureRequest) -> tuple[str, str]:
    """Two names, of arms, groups or anything else, that must appear as they are and do nothing."""
    first, second = request.param
    return first, second


@pytest.fixture
def memory_stays() -> Callable[..., None]:
    """``memory_stays(work, times=20)``: neither Python objects nor resident memory grow while ``work`` is done so many times."""

    def held() -> tuple[int, int]:
        gc.collect()
        return len(gc.get_objects()), psutil.Process().memory_info().rss

    def check(work: Callable[[], object], *, times: int) -> None:
        for _ in range(5):
            work()
        objects, resident = held()
        for _ in range(times):
            work()
        more, now = held()
        assert more - objects < 1_000  # one report alone makes many times that
        assert now - resident < times * 2**19  # half a megabyte each: less than the page itself

    return check
