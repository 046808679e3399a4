"""The verbs of the package: names and paths in, result objects out, the same numbers as the functions below them."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import workbench
from workbench.config import AssemblyConfig, Weights
from workbench.data.saving import save_directory
from workbench.errors import ConfigError
from workbench.experiments.space import Space
from workbench.experiments.sweep import sweep as run_sweep


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = workbench.synthesize(users=3, size=190, seed=5)
    # every third query keeps all kinds of them
    return save_directory(replace(made, queries=made.queries[::3]), tmp_path_factory.mktemp("api") / "set")


def test_arms_are_named_and_compared(kit: SimpleNamespace, folder: Path, tmp_path: Path) -> None:
    config = tmp_path / "mine.toml"
    config.write_text("min_score = 0.2\n")
    shared = {"dataset": folder, "encoder": kit.encoder, "latency_sample": 0, "progress": False}
    result = workbench.compare("production", config, {"<b>": AssemblyConfig(fill="skip")}, **shared)
    assert list(result.losses) == ["production", "mine", "<b>"]
    same = workbench.compare("production", {"twin": "production"}, **shared)
    assert "no difference" in str(same)
    for arms, word in (
        (["production"], "at least two"),
        (["production", "production"], "differently"),
        ([AssemblyConfig()], "needs a name"),
    ):
        with pytest.raises(ConfigError, match=word):
            workbench.compare(*arms, **shared)


def test_a_written_run_needs_a_dataset_that_can_be_loaded_again(kit: SimpleNamespace, folder: Path, tmp_path: Path) -> None:
    dataset = workbench.load_dataset(folder)
    shared = {"encoder": kit.encoder, "latency_sample": 0, "progress": False}
    with pytest.raises(ConfigError, match="loadable again"):
        workbench.compare("production", "relevance-only", dataset=dataset, out=tmp_path / "no", **shared)
    assert not (tmp_path / "no").exists()
    written = workbench.compare("production", "relevance-only", dataset=folder, out=tmp_path / "run", **shared)
    held = workbench.compare("production", "relevance-only", dataset=dataset, **shared)
    assert json.loads((tmp_path / "run" / "comparison.json").read_text()) == json.loads(json.dumps(held.comparison.to_dict()))
    assert str(written.comparison) == str(held.comparison)


def test_a_sweep_is_the_product_of_weights_and_grid(kit: SimpleNamespace, folder: Path, tmp_path: Path) -> None:
    shared = {"encoder": kit.encoder, "progress": False}
    grid = {"budgets.memories": [60, 120]}
    result = workbench.sweep(dataset=folder, weights="lattice:1", grid=grid, **shared)
    assert len(result) == 10
    plain = run_sweep(workbench.load_dataset(folder), Space(weights="lattice:1", grid=grid), kit.encoder)
    np.testing.assert_array_equal(result.values["ContextRecall"], plain.values["ContextRecall"])
    base = AssemblyConfig(weights=Weights(relevance=1.0, importance=0, confidence=0, recency=0, frequency=0))
    tuned = workbench.tune(dataset=folder, weights="lattice:1", base=base, out=tmp_path / "tuning", **shared)
    assert tuned.n_tried == 5
    assert (tmp_path / "tuning" / "manifest.json").is_file()


def test_difficulty_of_one_users_set(kit: SimpleNamespace, folder: Path) -> None:
    measured = workbench.difficulty(folder, users=1, encoder=kit.encoder, progress=False)
    assert "oracle" in str(measured)
