"""The experiment commands from end to end: real stores, the bundled model, run folders that verify and run again."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner, Result

from workbench.cli import app, main
from workbench.errors import ConfigError

pytestmark = pytest.mark.slow
runner = CliRunner()


def do(*arguments: str) -> Result:
    done = runner.invoke(app, [*arguments])
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    assert done.exit_code == 0, done.output
    return done


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("cli") / "set"
    do("data", "generate", "--users", "5", "--size", "190", "--seed", "11", "--languages", "en", "--out", str(out),
       "--no-difficulty", "--no-progress")  # fmt: skip
    return out


def test_a_sweep_its_record_and_its_repetition(folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "sweep"
    arguments = [
        "sweep",
        "--dataset",
        str(folder),
        "--weights",
        "lattice:3",
        "--grid",
        "budgets.memories=100,300",
        "--out",
        str(out),
    ]
    done = do(*arguments, "--total", "600", "--no-progress")
    table = pd.read_parquet(out / "sweep.parquet")
    assert len(table) == 35 * 2
    recall, tokens = table["mean_ContextRecall"], table["mean_Tokens"]
    assert recall.between(0.05, 1).all()
    small = table["param_budgets.memories"] == 100
    assert tokens[small].mean() < tokens[~small].mean()
    values = pd.read_parquet(out / "per_query.parquet")
    means = values.groupby("row")["ContextRecall"].mean()
    np.testing.assert_allclose(means, recall, atol=1e-12)
    assert "max ContextRecall" in done.output
    assert json.loads((out / "metrics.json").read_text())["split"]["total"] == 600
    assert "verif" in do("runs", "verify", str(out)).output
    assert not (tmp_path / "sweep.partial").exists()


def test_a_search_through_optuna(folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "search"
    do("sweep", "--dataset", str(folder), "--search", "20", "--range", "budgets.memories=50:400", "--split", "train",
       "--goal", "max ContextRecall subject to Tokens <= 400", "--out", str(out), "--no-progress")  # fmt: skip
    table = pd.read_parquet(out / "sweep.parquet")
    assert len(table) == 20
    assert table["config_hash"].is_unique
    manifest = json.loads((out / "manifest.json").read_text())
    assert manifest["settings"]["space"]["search"]["trials"] == 20
    with pytest.raises(ConfigError, match="--range belongs to --search"):
        do("sweep", "--dataset", str(folder), "--range", "budgets.memories=50:400", "--out", str(tmp_path / "no"))


def test_tuning_reports_on_users_it_was_not_chosen_on(folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "tuning"
    done = do("tune", "--dataset", str(folder), "--weights", "lattice:2", "--out", str(out), "--no-progress")
    tuning = json.loads((out / "metrics.json").read_text())["tuning"]
    assert len(tuning["folds"]) == 5
    assert tuning["n_tried"] == 15
    assert "held-out gap" in done.output


def test_arms_are_compared_and_the_run_verifies_and_repeats(folder: Path, tmp_path: Path) -> None:
    out, again = tmp_path / "ab", tmp_path / "again"
    done = do("ab", "--dataset", str(folder), "--a", "production", "--b", "relevance-only", "--latency", "10", "--out", str(out),
              "--no-progress")  # fmt: skip
    assert "ContextRecall" in done.output
    first = json.loads((out / "comparison.json").read_text())
    do("runs", "verify", str(out))
    do("ab", "--dataset", str(folder), "--a", "production", "--b", "relevance-only", "--latency", "0", "--out", str(again),
       "--no-progress")  # fmt: skip
    second = json.loads((again / "comparison.json").read_text())
    assert first["rows"] == second["rows"]
    (out / "comparison.json").write_text("{}")
    changed = runner.invoke(app, ["runs", "verify", str(out)])
    assert changed.exit_code != 0 or changed.exception is not None


def test_identical_arms_show_no_difference(folder: Path, tmp_path: Path) -> None:
    config = tmp_path / "same.toml"
    config.write_text("[weights]\nrelevance = 0.5\nimportance = 0.15\nconfidence = 0.15\nrecency = 0.1\nfrequency = 0.1\n")
    out = tmp_path / "same"
    done = do("ab", "--dataset", str(folder), "--b", str(config), "--latency", "0", "--out", str(out), "--no-progress")
    assert "no difference" in done.output
    assert "better" not in done.output.replace("lower is better", "").replace("higher is better", "")


def test_the_weights_are_those_of_the_ledger() -> None:
    assert "0.5" in do("weights", "show").output
    assert "ledger entry" in do("weights", "verify").output


def test_another_systems_ranking_is_scored(folder: Path, tmp_path: Path) -> None:
    from workbench.data.files import load_directory

    dataset = load_directory(folder)
    run = tmp_path / "theirs.trec"
    lines = []
    for query in dataset.queries:
        wanted = sorted(query.relevant)
        lines += [f"{query.id} Q0 {key} {rank} {1 / rank:.4f} theirs" for rank, key in enumerate(wanted, start=1)]
    run.write_text("\n".join(lines) + "\n")
    done = do("score", str(run), "--dataset", str(folder))
    assert "nDCG@10" in done.output
    assert "1.0" in done.output


def test_an_interrupt_says_what_stays(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def interrupted(_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("workbench.experiments.runs.list_runs", interrupted)
    monkeypatch.setattr(sys, "argv", ["workbench", "runs", "list"])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 130
    assert capsys.readouterr().err == "interrupted; what was finished stays cached\n"
