"""Sweeps: spaces that lose no point, tables, goals, fronts, and blocks that survive a killed process."""

from __future__ import annotations

import math
import os
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workbench.config import AssemblyConfig, Weights
from workbench.embedding.cache import EmbeddingCache
from workbench.errors import ConfigError, DataError, RunError
from workbench.experiments.constraints import Goal, choose
from workbench.experiments.pareto import marginal_recall, pareto_front, propose_split
from workbench.experiments.poolstore import PoolStore, build_pools, effective_config
from workbench.experiments.replay import Replayer, replay
from workbench.experiments.space import Space, parse_grid, simplex, weight_points
from workbench.experiments.sweep import Sweep, read_partial, sweep

SHARED = ("conflict_test", "cache", "store")
METRICS = ("ContextRecall", "Recall@10", "StaleExposure", "Tokens")


@pytest.fixture(scope="module")
def options(toys: SimpleNamespace, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    home = tmp_path_factory.mktemp("sweeps")
    return {
        "conflict_test": toys.conflict_test,
        "cache": EmbeddingCache(home / "embeddings"),
        "store": PoolStore(home / "pools"),
        "metrics": METRICS,
        "engine": "serial",
    }


def test_the_lattice_has_every_point() -> None:
    points = weight_points("lattice:10")
    assert len(points) == len({point.as_tuple() for point in points}) == 1001
    for point in points:
        assert sum(round(value * 10) for value in point.as_tuple()) == 10
    assert Weights(relevance=0.3, importance=0.7, confidence=0.0, recency=0.0, frequency=0.0) in points


@given(st.integers(1, 8), st.integers(1, 5))
def test_the_simplex_is_complete_and_ordered(steps: int, parts: int) -> None:
    points = list(simplex(steps, parts))
    assert len(points) == math.comb(steps + parts - 1, parts - 1)
    assert points == sorted(set(points))
    assert all(sum(point) == steps and min(point) >= 0 for point in points)


def test_dirichlet_draws_are_seeded_and_sum_to_one() -> None:
    assert weight_points("dirichlet:20:3") == weight_points("dirichlet:20:3") != weight_points("dirichlet:20:4")
    assert all(abs(sum(point.as_tuple()) - 1) < 1e-12 for point in weight_points("dirichlet:20"))


@pytest.mark.parametrize("plan", ["lattice", "lattice:0", "lattice:x", "grid:3", "lattice:3:1", "dirichlet:-1", ""])
def test_bad_weight_plans_are_refused(plan: str) -> None:
    with pytest.raises(ConfigError, match="weights plan"):
        weight_points(plan)


def test_spaces_are_products_and_name_bad_points() -> None:
    grid = parse_grid(["budgets.memories=100,200", "fill=stop,skip", "half_life_days=7"])
    points = Space(weights="lattice:2", grid=grid).points()
    assert len(points) == 15 * 4
    assert points[0][0]["budgets.memories"] == 100
    assert points[-1][1].fill == "skip"
    assert len(Space().points()) == 1
    with pytest.raises(ConfigError, match="alpha"):
        Space(grid={"alpha": [0.5, 7]}).points()
    for bad in ({"alfa": [1]}, {"budgets.tea": [1]}, {"alpha.x": [1]}, {"alpha": []}, {"fill": "stop"}):
        with pytest.raises(ConfigError):
            Space(grid=bad)
    with pytest.raises(ConfigError, match="one way"):
        Space(weights="lattice:2", grid={"weights.recency": [0.1]})
    for text in ("alpha", "alpha="):
        with pytest.raises(ConfigError, match="NAME=VALUE"):
            parse_grid([text])


def test_a_sweep_equals_replaying_each_point(toys: SimpleNamespace, options: dict[str, Any]) -> None:
    dataset = toys.dataset(21, users=3)
    space = Space(base=AssemblyConfig(fill="skip"), weights="lattice:2", grid={"budgets.memories": [20, 60], "top_k": [3, 50]})
    result = sweep(dataset, space, toys.encoder, block=7, **options)
    assert len(result.table) == 60
    for row in (0, 17, 59):
        config = result.configs[row]
        pools = build_pools(
            dataset, config, toys.encoder, **{name: options[name] for name in ("conflict_test", "cache", "store")}
        )
        expected = replay(pools, [config], METRICS)
        for name in METRICS:
            assert np.array_equal(result.values[name][row], expected[name][0], equal_nan=True)
            mean = np.nanmean(expected[name][0])
            assert result.table[f"mean_{name}"][row] == pytest.approx(mean, abs=1e-12)
    assert {"param_weights.relevance", "param_budgets.memories", "param_top_k"} <= set(result.table)
    assert result.table["rank_ContextRecall"].min() == 1
    best = result.table["mean_ContextRecall"].idxmax()
    assert result.table["rank_ContextRecall"][best] == 1
    assert result.table["rank_Tokens"][result.table["mean_Tokens"].idxmin()] == 1


def test_what_is_varied_wins_over_the_settings_of_the_dataset(toys: SimpleNamespace, options: dict[str, Any]) -> None:
    own = {"budgets": {"memories": 44}, "top_k": 7, "min_score": 0.1}
    dataset = replace(toys.dataset(21), config=own)
    # 2000 and 100 are the defaults, which must not be mistaken for settings that nobody chose
    result = sweep(dataset, Space(grid={"budgets.memories": [20, 2000], "top_k": [3, 100]}), toys.encoder, **options)
    assert [config.budgets.memories for config in result.configs] == [20, 20, 2000, 2000]
    assert [config.top_k for config in result.configs] == [3, 100, 3, 100]
    assert {config.min_score for config in result.configs} == {0.1}
    for row, config in enumerate(result.configs):
        pools = build_pools(dataset, config, toys.encoder, as_is=True, **{key: options[key] for key in SHARED})
        expected = replay(pools, [config], METRICS)
        assert np.array_equal(result.values["ContextRecall"][row], expected["ContextRecall"][0], equal_nan=True)
    plain = sweep(dataset, Space(), toys.encoder, **options)
    assert (plain.configs[0].budgets.memories, plain.configs[0].top_k) == (44, 7)


def test_a_sweep_is_saved_and_read_back(toys: SimpleNamespace, options: dict[str, Any], tmp_path: Path) -> None:
    result = sweep(toys.dataset(21), Space(weights="lattice:1"), toys.encoder, **options)
    result.save(tmp_path)
    again = Sweep.load(tmp_path)
    pd.testing.assert_frame_equal(again.table, result.table)
    assert again.configs == result.configs
    assert again.users == result.users
    for name in METRICS:
        assert np.array_equal(again.values[name], result.values[name], equal_nan=True)
    assert "biased upwards" in str(again)
    assert "<table" in again._repr_html_()


SCRIPT = """
import os, signal, sys
sys.path.insert(0, {tests!r})
from importlib import util
spec = util.spec_from_file_location("toys", {tests!r} + "/conftest.py")
toys = util.module_from_spec(spec); spec.loader.exec_module(toys)
from workbench.config import AssemblyConfig
from workbench.embedding.cache import EmbeddingCache
from workbench.experiments.poolstore import PoolStore
from workbench.experiments.space import Space
from workbench.experiments.sweep import sweep
home, seen = {home!r}, 0
def step(kind, count):
    global seen
    seen += count if kind == "rows" else 0
    if seen >= 7:
        os.kill(os.getpid(), signal.SIGKILL)
sweep(
    toys.random_dataset(33), Space(grid={{"min_score": [number / 20 for number in range(12)]}}), toys.ToyEncoder(),
    metrics={metrics!r}, partial=home + "/partial", engine="serial", step=step, conflict_test=toys.ToyConflictTest(),
    cache=EmbeddingCache(home + "/embeddings"), store=PoolStore(home + "/pools"),
)
"""


def test_sw1_a_killed_sweep_goes_on_and_a_changed_weight_starts_anew(toys: SimpleNamespace, tmp_path: Path) -> None:
    script = SCRIPT.format(tests=str(Path(__file__).parent), home=str(tmp_path), metrics=METRICS)
    died = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=300)
    assert died.returncode == -signal.SIGKILL, died.stderr
    left = read_partial(tmp_path / "partial")
    assert len(left) >= 6
    assert left["config_hash"].is_unique
    assert left["mean_Tokens"].notna().all()

    dataset = toys.dataset(33)
    space = Space(grid={"min_score": [number / 20 for number in range(12)]})
    shared: dict[str, Any] = {
        "metrics": METRICS,
        "engine": "serial",
        "conflict_test": toys.conflict_test,
        "cache": EmbeddingCache(tmp_path / "embeddings"),
        "store": PoolStore(tmp_path / "pools"),
    }
    steps: list[tuple[str, int]] = []
    resumed = sweep(
        dataset, space, toys.encoder, partial=tmp_path / "partial", step=lambda kind, n: steps.append((kind, n)), **shared
    )
    assert steps == [("rows", len(left)), *[("rows", 1)] * (12 - len(left))]
    unbroken = sweep(dataset, space, toys.encoder, **shared)
    pd.testing.assert_frame_equal(resumed.table, unbroken.table)
    for name in METRICS:
        assert np.array_equal(resumed.values[name], unbroken.values[name], equal_nan=True)

    def reused(space: Space, data: Any, **changes: Any) -> int:
        seen: list[int] = []
        given = shared | changes
        sweep(data, space, toys.encoder, partial=tmp_path / "partial", step=lambda kind, n: seen.append(n), **given)
        return sum(1 for n in seen if n > 1)

    changed = Space(base=AssemblyConfig(weights=Weights(recency=0.2)), grid=space.grid)
    assert reused(changed, dataset) == 0
    assert reused(space, toys.dataset(34)) == 0  # another dataset
    assert reused(space, dataset, metrics=("ContextRecall",)) == 0  # another question
    assert reused(space, dataset) == 1


def test_damaged_and_foreign_block_files_are_not_used(toys: SimpleNamespace, options: dict[str, Any], tmp_path: Path) -> None:
    dataset, space = toys.dataset(21), Space(weights="lattice:1")
    first = sweep(dataset, space, toys.encoder, partial=tmp_path, block=2, **options)
    files = sorted(tmp_path.glob("*.parquet"))
    files[0].write_bytes(files[0].read_bytes()[:200])
    data = bytearray(files[1].read_bytes())
    data[20:60] = bytes(40)
    files[1].write_bytes(bytes(data))
    (tmp_path / "stray.parquet").write_bytes(b"not a table")
    pd.DataFrame({"x": [1]}).to_parquet(tmp_path / "other.parquet")
    again = sweep(dataset, space, toys.encoder, partial=tmp_path, block=2, **options)
    pd.testing.assert_frame_equal(again.table, first.table)


def frame(recall: list[float], tokens: list[float], **more: Any) -> pd.DataFrame:
    return pd.DataFrame({"mean_ContextRecall": recall, "mean_Tokens": tokens, **more})


def test_goals_choose_under_limits() -> None:
    table = frame([0.9, 0.8, 0.8, 0.7], [2000, 1500, 1400, 900])
    assert choose(table, "max ContextRecall").row == 0
    choice = choose(table, "max ContextRecall subject to Tokens <= 1600")
    assert (choice.row, choice.feasible, choice.ties, choice.n_feasible) == (2, True, 2, 3)
    choice = choose(table, "max ContextRecall subject to Tokens <= 800 and ContextRecall >= 0.75")
    assert not choice.feasible
    assert "infeasible" in str(choice)
    assert choice.row == 3
    assert choice.broken[0].startswith("Tokens <= 800")
    timed = frame([0.9, 0.8], [2000, 1500], p95=[120.0, 60.0])
    assert choose(timed, "max ContextRecall subject to p95 <= 100 ms").row == 1


def test_no_limit_is_dropped_in_silence() -> None:
    table = frame([0.9, np.nan], [2000, 10])
    with pytest.raises(ConfigError, match="latency"):
        choose(table, "max ContextRecall subject to p95 <= 100 ms")
    with pytest.raises(ConfigError, match="no column"):
        choose(table, "max nDCG@10")
    for bad in (
        "max",
        "ContextRecall",
        "max ContextRecall subject to",
        "max ContextRecall subject to Tokens < 5",
        "max X subject to Y <= z",
    ):
        with pytest.raises(ConfigError):
            Goal.parse(bad)
    undefined = frame([0.9], [np.nan])
    assert not choose(undefined, "max ContextRecall subject to Tokens <= 5000").feasible
    assert choose(table, "max ContextRecall subject to Tokens <= 100").feasible is False  # the only row inside has no recall


def test_a_goal_brings_its_metrics_and_names_unknown_ones() -> None:
    goal = Goal.parse("max Recall@20 subject to Tokens <= 900 and p95 <= 100 ms")
    assert goal.measured_in(("ContextRecall", "Tokens")) == ["ContextRecall", "Tokens", "Recall@20"]
    with pytest.raises(ConfigError, match="unknown metric 'Foo'; known: ContextRecall"):
        Goal.parse("max Foo").measured_in(METRICS)


def test_a_goal_that_is_undefined_everywhere_says_no_data() -> None:
    choice = choose(frame([math.nan, math.nan], [10.0, 20.0]), "max ContextRecall")
    assert not choice.feasible
    assert str(choice) == "max ContextRecall: no data, ContextRecall is undefined on these queries in all 2 rows"


def test_without_queries_there_is_nothing_to_sweep(toys: SimpleNamespace, options: dict[str, Any]) -> None:
    dataset = replace(toys.dataset(21), queries=())
    with pytest.raises(DataError, match="has no judged queries"):
        sweep(dataset, Space(weights="lattice:1"), toys.encoder, **options)


@settings(max_examples=100)
@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), max_size=30))
def test_the_front_is_what_nothing_beats(points: list[tuple[int, int]]) -> None:
    merit = np.array([point[0] for point in points], dtype=np.float64)
    cost = np.array([point[1] for point in points], dtype=np.float64)
    front = pareto_front(merit, cost).tolist()
    for at in range(len(points)):
        beaten = any(
            (merit[b] >= merit[at] and cost[b] <= cost[at]) and (merit[b] > merit[at] or cost[b] < cost[at])
            for b in range(len(points))
        )
        same = [b for b in range(at) if points[b] == points[at]]
        assert (at in front) == (not beaten and not same)


def test_marginal_recall_and_the_proposed_split(toys: SimpleNamespace, options: dict[str, Any]) -> None:
    dataset = toys.dataset(40, users=4, queries=6)
    config = effective_config(
        dataset, AssemblyConfig(budgets={"memories": 100, "episodes": 60, "procedures": 40, "soul": 30}), toys.encoder
    )
    pools = build_pools(dataset, config, toys.encoder, **{name: options[name] for name in ("conflict_test", "cache", "store")})
    rows = marginal_recall(pools, config).to_dataframe()
    whole = replay(pools, [config.override(budgets={"memories": budget}) for budget in (0, 200)], ["ContextRecall"])
    gained = np.nanmean(whole["ContextRecall"][1]) - np.nanmean(whole["ContextRecall"][0])
    assert rows[rows.tier == "memories"]["recall"].sum() == pytest.approx(gained)
    split = propose_split(pools, config, 200, parts=10)
    assert sum(split.budgets.values()) <= 200 - split.soul
    assert split.recall >= split.present_recall - 1e-12
    check = replay(pools, [config.override(budgets={**split.budgets, "total": 200})], ["ContextRecall"])
    assert np.nanmean(check["ContextRecall"]) == pytest.approx(split.recall)
    with pytest.raises(ConfigError, match="Soul"):
        propose_split(pools, config, split.soul)


def test_engines_are_checked(toys: SimpleNamespace, options: dict[str, Any]) -> None:
    for engine in ("threads", "processes:0", "dask:"):
        with pytest.raises(ConfigError, match="engine"):
            sweep(toys.dataset(21), Space(), toys.encoder, **{**options, "engine": engine})


@pytest.mark.slow
def test_processes_and_a_cluster_give_the_same_table(toys: SimpleNamespace, options: dict[str, Any]) -> None:
    distributed = pytest.importorskip("dask.distributed")
    dataset, space = toys.dataset(21, users=3), Space(weights="lattice:3", grid={"top_k": [3, 50]})
    serial = sweep(dataset, space, toys.encoder, block=8, **options)
    processes = sweep(dataset, space, toys.encoder, block=8, **{**options, "engine": "processes:2"})
    pd.testing.assert_frame_equal(processes.table, serial.table)
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None) as cluster:
        engine = cluster.scheduler_address.replace("tcp://", "dask://")
        spread = sweep(dataset, space, toys.encoder, block=8, **{**options, "engine": engine})
        pd.testing.assert_frame_equal(spread.table, serial.table)
        killed = []

        def step(kind: str, count: int) -> None:
            if not killed:
                killed.append(next(iter(cluster.workers.values())).pid)
                os.kill(killed[0], signal.SIGKILL)

        again = sweep(dataset, space, toys.encoder, block=2, step=step, **{**options, "engine": engine})
        assert killed
    pd.testing.assert_frame_equal(again.table, serial.table)
    for name in METRICS:
        assert np.array_equal(spread.values[name], serial.values[name], equal_nan=True)
        assert np.array_equal(again.values[name], serial.values[name], equal_nan=True)


@pytest.mark.slow
def test_a_scheduler_that_does_not_answer_is_named(toys: SimpleNamespace, options: dict[str, Any]) -> None:
    pytest.importorskip("dask.distributed")
    with pytest.raises(RunError, match="scheduler"):
        sweep(toys.dataset(21), Space(), toys.encoder, **{**options, "engine": "dask://127.0.0.1:1"})


def test_read_only_pools_are_replayed(toys: SimpleNamespace, options: dict[str, Any]) -> None:
    dataset = toys.dataset(21)
    config = effective_config(dataset, AssemblyConfig(), toys.encoder)
    pools = build_pools(dataset, config, toys.encoder, **{name: options[name] for name in ("conflict_test", "cache", "store")})
    expected = replay(pools, [config], METRICS)
    for array in (pools.relevance, pools.tokens, pools.offsets, pools.wanted.at):
        array.setflags(write=False)
    found = Replayer(pools)
    assert found.pools.relevance.flags.writeable
    again = replay(pools, [config], METRICS)
    assert all(np.array_equal(again[name], expected[name], equal_nan=True) for name in METRICS)
