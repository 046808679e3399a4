"""Splits by user, tuning that never looks at the test users, ablation, and signals the data cannot judge."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.config import SIGNALS, AssemblyConfig
from workbench.data.judged import JudgedDataset
from workbench.embedding.cache import EmbeddingCache
from workbench.errors import ConfigError, DataError
from workbench.experiments.ablation import ablate
from workbench.experiments.identifiability import UNTESTABLE, identifiability
from workbench.experiments.metrics import evaluate
from workbench.experiments.poolstore import PoolStore, build_pools, effective_config
from workbench.experiments.replay import Replayer
from workbench.experiments.space import Space
from workbench.experiments.splits import note_test_use, restrict, split_users
from workbench.experiments.sweep import Sweep, sweep
from workbench.experiments.tuning import leave_one_user_out, tune
from workbench.store.user import UserStore

BASE = AssemblyConfig(budgets={"memories": 60, "episodes": 40, "procedures": 30, "soul": 30})
METRICS = ("ContextRecall", "Tokens")


def flattened(dataset: JudgedDataset) -> JudgedDataset:
    """The same with one confidence and no accesses for all: two signals become constant."""
    stores = {}
    for user, store in dataset.stores.items():
        parts = {
            name: [replace(entry, confidence=1.0, access_count=0) for entry in getattr(store, name)]
            for name in ("memories", "episodes", "procedures")
        }
        stores[user] = UserStore(user, soul=store.soul, **parts)
    return replace(dataset, stores=stores)


@pytest.fixture(scope="module")
def study(toys: SimpleNamespace, tmp_path_factory: pytest.TempPathFactory) -> SimpleNamespace:
    home = tmp_path_factory.mktemp("tuning")
    dataset = flattened(toys.dataset(50, users=6, queries=5, size=50))
    options: dict[str, Any] = {
        "conflict_test": toys.conflict_test, "cache": EmbeddingCache(home / "e"), "store": PoolStore(home / "p"),
    }  # fmt: skip
    swept = sweep(dataset, Space(base=BASE, weights="lattice:3"), toys.encoder, metrics=METRICS, engine="serial", **options)
    base = effective_config(dataset, BASE, toys.encoder)
    replayer = Replayer(build_pools(dataset, BASE, toys.encoder, **options))
    baseline = evaluate(replayer.facts(replayer.counts([base]), 0), METRICS)
    return SimpleNamespace(dataset=dataset, sweep=swept, base=base, replayer=replayer, baseline=baseline)


@given(st.integers(3, 40), st.integers(0, 5))
def test_splits_cover_every_user_once_and_do_not_depend_on_order(count: int, seed: int) -> None:
    users = [f"u{number}" for number in range(count)]
    split = split_users(users, seed=seed)
    parts = [*split.train, *split.validation, *split.test]
    assert sorted(parts) == sorted(users)
    assert min(len(split.train), len(split.validation), len(split.test)) >= 1
    assert split == split_users(reversed(users), seed=seed)


def test_bad_splits_are_refused() -> None:
    with pytest.raises(ConfigError, match="three"):
        split_users(["a", "b"])
    with pytest.raises(ConfigError, match="shares"):
        split_users("abc", shares=(0.5, 0.5, 0.0))
    with pytest.raises(ConfigError, match="split"):
        split_users("abc").of("holdout")


def test_a_restricted_dataset_has_only_those_users(toys: SimpleNamespace) -> None:
    part = restrict(toys.dataset(50, users=3), ["user-1"])
    assert list(part.stores) == ["user-1"]
    assert {query.user_id for query in part.queries} == {"user-1"}


def scrambled(swept: Sweep, inside: np.ndarray) -> Sweep:
    """The same sweep with other results on some queries."""
    rng = np.random.default_rng(1)
    values = {name: column.copy() for name, column in swept.values.items()}
    for column in values.values():
        column[:, inside] = rng.permutation(column[:, inside], axis=0)
    return replace(swept, values=values)


def test_tuning_never_looks_at_the_test_users(study: SimpleNamespace) -> None:
    split = split_users(study.dataset.stores)
    found = tune(study.sweep, study.baseline, split, near=study.base)
    test = split.mask(study.sweep.users, "test")
    other = tune(scrambled(study.sweep, test), study.baseline, split, near=study.base)
    assert (other.row, other.train, other.validation) == (found.row, found.train, found.validation)
    for part in ("train", "validation", "test"):
        mean = np.nanmean(study.sweep.values["ContextRecall"][found.row][split.mask(study.sweep.users, part)])
        assert getattr(found, part) == pytest.approx(mean)
    assert found.gap == pytest.approx(found.train - found.test)
    row = found.comparison.row("ContextRecall")
    assert row.n == int((test & ~np.isnan(study.baseline["ContextRecall"])).sum())
    assert "gap" in str(found)


def test_validation_decides_among_the_shortlist(study: SimpleNamespace) -> None:
    split = split_users(study.dataset.stores)
    found = tune(study.sweep, study.baseline, split, shortlist=8)
    train = split.mask(study.sweep.users, "train")
    means = np.nanmean(study.sweep.values["ContextRecall"][:, train], axis=1)
    assert len(found.shortlist) == 8
    assert min(means[list(found.shortlist)]) >= np.sort(means)[-8] - 1e-12
    inside = split.mask(study.sweep.users, "validation")
    validation = np.nanmean(study.sweep.values["ContextRecall"][:, inside], axis=1)
    assert validation[found.row] == pytest.approx(max(validation[list(found.shortlist)]))


def test_ties_go_to_the_weights_nearest_to_those_in_force(study: SimpleNamespace) -> None:
    split = split_users(study.dataset.stores)
    level = replace(study.sweep, values={name: np.ones_like(column) for name, column in study.sweep.values.items()})
    found = tune(level, study.baseline, split, near=study.base, shortlist=len(level))
    distances = [
        float(np.abs(np.array(config.weights.as_tuple()) - study.base.weights.as_tuple()).sum()) for config in level.configs
    ]
    assert distances[found.row] == pytest.approx(min(distances))


def test_leave_one_user_out_judges_each_user_by_the_others(study: SimpleNamespace) -> None:
    found = leave_one_user_out(study.sweep, study.baseline, near=study.base)
    assert [fold["held_out_user"] for fold in found.folds] == sorted(study.dataset.stores)
    users = np.array(study.sweep.users)
    for fold in found.folds:
        others = study.sweep.values["ContextRecall"][:, users != fold["held_out_user"]]
        assert fold["train"] == pytest.approx(np.nanmean(others, axis=1).max())
        changed = scrambled(study.sweep, users == fold["held_out_user"])
        again = leave_one_user_out(changed, study.baseline, near=study.base)
        assert next(f["row"] for f in again.folds if f["held_out_user"] == fold["held_out_user"]) == fold["row"]
    expected = np.mean([fold["train"] - fold["held_out"] for fold in found.folds if fold["held_out"] is not None])
    assert found.gap == pytest.approx(expected)
    assert len(found.to_dataframe()) == len(study.dataset.stores)
    one = replace(study.sweep, users=("a",) * len(users))
    with pytest.raises(ConfigError, match="two users"):
        leave_one_user_out(one, study.baseline)


def test_limits_hold_and_infeasible_is_said(study: SimpleNamespace) -> None:
    split = split_users(study.dataset.stores)
    with pytest.raises(ConfigError, match="infeasible"):
        tune(study.sweep, study.baseline, split, goal="max ContextRecall subject to Tokens <= 1")
    with pytest.raises(DataError, match="baseline"):
        tune(study.sweep, {"Tokens": study.baseline["Tokens"]}, split)


def test_constant_signals_are_untestable_and_get_no_verdict(study: SimpleNamespace) -> None:
    known = identifiability(study.replayer, study.base)
    assert known.untestable == ("confidence", "frequency")
    table = known.to_dataframe().set_index("signal")
    assert table.loc["confidence", "effective"] == 0.0
    assert table["effective"].sum() == pytest.approx(1.0)
    result = ablate(study.replayer, study.base)
    assert set(result.verdicts) == set(SIGNALS)
    assert result.verdicts["confidence"] == result.verdicts["frequency"] == UNTESTABLE
    frame = result.to_dataframe()
    assert set(frame.loc[frame["arm_b"] == "without frequency", "verdict"]) == {UNTESTABLE}
    # taking away a constant signal changes no order, so it changes nothing
    row = result.comparison.row("ContextRecall", "without confidence")
    assert row.wins == row.losses == 0
    assert "says nothing about them" in known.warning
    assert "no difference" not in str(result)


def test_ablation_is_the_weight_set_to_zero(study: SimpleNamespace) -> None:
    result = ablate(study.replayer, study.base, metrics=("ContextRecall", "Tokens"))
    counts = study.replayer.counts([study.base.override(weights={"relevance": 0.0})])
    expected = evaluate(study.replayer.facts(counts, 0), ["ContextRecall"])["ContextRecall"]
    row = result.comparison.row("ContextRecall", "without relevance")
    assert row.mean_b == pytest.approx(np.nanmean(expected))
    assert "untestable here" in str(result)


def test_every_use_of_a_locked_test_is_counted(tmp_path: Path) -> None:
    split = split_users(["a", "b", "c", "d"])
    assert note_test_use(split, {"arms": ["x", "y"]}, folder=tmp_path) == 0
    assert note_test_use(split, {"arms": ["x", "y"]}, folder=tmp_path) == 0
    assert note_test_use(split, {"arms": ["x", "z"]}, folder=tmp_path) == 1
    assert note_test_use(split, {"arms": ["x", "y"]}, folder=tmp_path) == 1
    assert note_test_use(split_users(["a", "b", "c"]), {"arms": ["x", "y"]}, folder=tmp_path) == 0


def test_tables_hold_no_nan_verdicts(study: SimpleNamespace) -> None:
    assert isinstance(identifiability(study.replayer, study.base).to_dataframe(), pd.DataFrame)
    assert all(row["verdict"] for row in identifiability(study.replayer, study.base).rows)
