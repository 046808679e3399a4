"""Bayesian search: same seed, same rows; the base is never lost; rows are what a sweep of the same configurations gives."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from workbench.config import AssemblyConfig
from workbench.embedding.cache import EmbeddingCache
from workbench.errors import ConfigError
from workbench.experiments.bayesian import Range, Search, bayesian_search, parse_ranges
from workbench.experiments.poolstore import PoolStore
from workbench.experiments.space import Listed
from workbench.experiments.sweep import sweep

METRICS = ("ContextRecall", "Tokens")


@pytest.fixture(scope="module")
def options(toys: SimpleNamespace, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    home = tmp_path_factory.mktemp("searches")
    return {
        "conflict_test": toys.conflict_test,
        "cache": EmbeddingCache(home / "embeddings"),
        "store": PoolStore(home / "pools"),
        "metrics": METRICS,
        "engine": "serial",
    }


SEARCH = Search(
    trials=40, ranges={"budgets.memories": Range(low=20, high=200), "half_life_days": Range(low=1.0, high=365.0, log=True)}
)


def test_a_search_is_seeded_and_its_rows_are_those_of_a_sweep(toys: SimpleNamespace, options: dict[str, Any]) -> None:
    dataset = toys.dataset(51, users=3, queries=8, size=40)
    found = bayesian_search(dataset, SEARCH, toys.encoder, seed=3, **options)
    again = bayesian_search(dataset, SEARCH, toys.encoder, seed=3, **options)
    other = bayesian_search(dataset, replace(SEARCH, trials=12), toys.encoder, seed=4, **options)
    pd.testing.assert_frame_equal(found.table, again.table)
    assert list(found.table["config_hash"])[:12] != list(other.table["config_hash"])
    assert len(found) == 40
    assert found.configs[0].weights == AssemblyConfig().weights
    names = [name for name in found.table if name.startswith("param_")]
    assert found.table[names].notna().all().all()
    weights = found.table[[name for name in names if "weights" in name]].to_numpy()
    np.testing.assert_allclose(weights.sum(axis=1), 1.0, atol=1e-9)
    assert found.table["param_budgets.memories"].between(20, 2000).all()
    changes = [
        {name.removeprefix("param_"): value for name, value in row.items()} for row in found.table[names].to_dict("records")
    ]
    plain = sweep(dataset, Listed(base=SEARCH.base, changes=changes), toys.encoder, seed=3, **options)
    for name in METRICS:
        np.testing.assert_array_equal(found.values[name], plain.values[name])
        pd.testing.assert_series_equal(found.table[f"rank_{name}"], plain.table[f"rank_{name}"])


def test_a_search_finds_the_best_of_a_space_whose_optimum_is_known(toys: SimpleNamespace, options: dict[str, Any]) -> None:
    dataset = toys.dataset(52, users=3, queries=8, size=40)
    search = Search(trials=60, weights=False, ranges={"budgets.memories": Range(low=1, high=400)})
    shared = {**options, "metrics": ("ContextRecall", "Tokens")}
    found = bayesian_search(dataset, search, toys.encoder, goal="max ContextRecall subject to Tokens <= 60", **shared)
    choice = found.best("max ContextRecall subject to Tokens <= 60")
    grid = Listed(base=search.base, changes=[{"budgets.memories": value} for value in range(1, 401)])
    best = sweep(dataset, grid, toys.encoder, **shared).best("max ContextRecall subject to Tokens <= 60")
    assert choice.feasible == best.feasible
    if best.feasible:
        assert choice.values["Tokens"] <= 60
        assert choice.values["ContextRecall"] >= best.values["ContextRecall"] - 0.02


def test_a_killed_search_uses_its_finished_batches(toys: SimpleNamespace, options: dict[str, Any], tmp_path: Path) -> None:
    dataset = toys.dataset(53)
    seen: list[tuple[str, int]] = []

    def stop(kind: str, n: int) -> None:
        seen.append((kind, n))
        if kind == "rows" and sum(count for name, count in seen if name == "rows") >= 20:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        bayesian_search(dataset, SEARCH, toys.encoder, partial=tmp_path / "partial", step=stop, **options)
    fresh: list[int] = []
    whole = bayesian_search(dataset, SEARCH, toys.encoder, **options)
    resumed = bayesian_search(
        dataset, SEARCH, toys.encoder, partial=tmp_path / "partial", step=lambda kind, n: fresh.append(n), **options
    )
    pd.testing.assert_frame_equal(resumed.table, whole.table)
    assert any(n > 1 for n in fresh), "nothing was taken over"


def test_ranges_and_searches_are_checked() -> None:
    assert parse_ranges(["budgets.memories=200:4000", "half_life_days=0.5:365:log"]) == {
        "budgets.memories": Range(low=200, high=4000),
        "half_life_days": Range(low=0.5, high=365, log=True),
    }
    for text in ("budgets.memories", "budgets.memories=1", "=1:2", "a=1:2:lin", "a=x:2", "a=2:1", "a=0:1:log", "a=1:inf"):
        with pytest.raises(ConfigError, match="range"):
            parse_ranges([text])
    with pytest.raises(ConfigError, match="no setting"):
        Search(ranges={"budget.memories": Range(low=1, high=2)})
    with pytest.raises(ConfigError, match="top_k"):
        Search(ranges={"top_k": Range(low=-5, high=2)})
    with pytest.raises(ConfigError, match="trials"):
        Search(trials=1)
    with pytest.raises(ConfigError, match="nothing to search"):
        Search(weights=False)
    assert Search.from_dict(SEARCH.to_dict()) == SEARCH


def test_goals_that_cannot_be_and_a_missing_optuna_are_said(
    toys: SimpleNamespace, options: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(ConfigError, match="p95"):
        bayesian_search(toys.dataset(54), SEARCH, toys.encoder, goal="max ContextRecall subject to p95 <= 100 ms", **options)
    monkeypatch.setitem(sys.modules, "optuna", None)
    with pytest.raises(ConfigError, match=r"context-workbench\[search\]"):
        bayesian_search(toys.dataset(54), SEARCH, toys.encoder, **options)
