"""Run folders: listed, compared, run again and verified; nothing half-written, changed or timed elsewhere passes."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pandas as pd
import pytest
import typer
from typer.testing import CliRunner

from workbench.config import AssemblyConfig, preset
from workbench.data.saving import save_directory
from workbench.embedding.cache import EmbeddingCache
from workbench.errors import ConfigError, RunError
from workbench.experiments.ab import ab_run, compare
from workbench.experiments.manifest import Source, read_manifest
from workbench.experiments.record import run_folder
from workbench.experiments.run import run
from workbench.experiments.runs import diff_runs, list_runs, rerun
from workbench.experiments.space import Space
from workbench.experiments.sweep import partial_folder
from workbench.experiments.sweep_run import sweep_run, tuning_run
from workbench.experiments.verification import _compare, verify

METRICS = ("ContextRecall", "Recall@10", "StaleExposure", "Tokens")
ARMS = [("production", preset("production")), ("relevance-only", preset("relevance-only"))]


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory, toys: SimpleNamespace) -> Any:
    folder = tmp_path_factory.mktemp("runs")
    save_directory(toys.dataset(90, users=4, queries=4, size=40), folder / "data")
    patch = pytest.MonkeyPatch()
    patch.setenv("WORKBENCH_CACHE", str(folder / "cache"))
    yield folder
    patch.undo()


@pytest.fixture(scope="module")
def results(home: Path, toys: SimpleNamespace) -> Path:
    source, out = Source(name=str(home / "data")), home / "results"
    cache = EmbeddingCache(home / "embeddings")
    space = Space(weights="lattice:2", grid={"budgets.memories": [40, 400]})
    shared: dict[str, Any] = {"cache": cache, "metrics": METRICS}
    ab_run(source, ARMS, toys.encoder, out=out / "ab", latency_sample=3, **shared)
    sweep_run(source, space, toys.encoder, out=out / "sweep", total=300, engine="serial", **shared)
    tuning_run(source, Space(weights="lattice:2"), toys.encoder, out=out / "tune", engine="serial", **shared)
    tuning_run(source, Space(weights="lattice:2"), toys.encoder, out=out / "tune-split", by="split", engine="serial", **shared)
    run(source.load(), ARMS[0], ARMS[1], out=out / "run", encoder=toys.encoder, cache=cache, latency_sample=2, progress=False)
    return out


@pytest.mark.parametrize("name", ["ab", "sweep", "tune", "tune-split"])
def test_a_run_is_verified_by_computing_it_again(results: Path, home: Path, toys: SimpleNamespace, name: str) -> None:
    found = verify(results / name, encoder=toys.encoder, cache=EmbeddingCache(home / "embeddings"))
    assert found.ok, str(found)
    assert found.compared > 100
    assert "verified" in str(found)
    assert not partial_folder(results / name).exists()


def test_a_report_run_is_verified_too(results: Path, home: Path, toys: SimpleNamespace) -> None:
    manifest = read_manifest(results / "run")
    manifest["dataset"]["load"] = Source(name=str(home / "data")).to_dict()
    (results / "run" / "manifest.json").write_text(json.dumps(manifest))
    found = verify(results / "run", encoder=toys.encoder, cache=EmbeddingCache(home / "embeddings"))
    assert found.ok, str(found)


def test_changed_results_are_found(results: Path, home: Path, toys: SimpleNamespace, tmp_path: Path) -> None:
    copy = tmp_path / "ab"
    shutil.copytree(results / "ab", copy)
    content = json.loads((copy / "metrics.json").read_text())
    content["arms"]["production"]["metrics"]["ContextRecall"]["mean"] += 1e-9
    (copy / "metrics.json").write_text(json.dumps(content))
    frame = pd.read_parquet(copy / "per_query.parquet")
    frame.loc[2, "Tokens"] += 1
    frame.to_parquet(copy / "per_query.parquet", index=False)
    found = verify(copy, encoder=toys.encoder, cache=EmbeddingCache(home / "embeddings"))
    assert not found.ok
    assert set(found.changed) == {"metrics.json", "per_query.parquet"}
    places = " ".join(where for where, _, _ in found.different)
    assert "arms.production.metrics.ContextRecall.mean" in places
    assert "per_query.parquet:Tokens[2]" in places


def test_timings_are_not_compared(results: Path, home: Path, toys: SimpleNamespace, tmp_path: Path) -> None:
    copy = tmp_path / "ab"
    shutil.copytree(results / "ab", copy)
    manifest = read_manifest(copy)
    del manifest["files"]
    manifest["wall_seconds"] = 99999
    (copy / "manifest.json").write_text(json.dumps(manifest))
    content = json.loads((copy / "metrics.json").read_text())
    content["arms"]["production"]["latency_ms"]["total"]["p50"] = 12345.0
    (copy / "metrics.json").write_text(json.dumps(content))
    assert verify(copy, encoder=toys.encoder, cache=EmbeddingCache(home / "embeddings")).ok


def test_other_data_or_encoder_is_refused(results: Path, home: Path, toys: SimpleNamespace, tmp_path: Path) -> None:
    copy = tmp_path / "ab"
    shutil.copytree(results / "ab", copy)
    manifest = read_manifest(copy)
    manifest["dataset"]["checksum"] = "f" * 64
    (copy / "manifest.json").write_text(json.dumps(manifest))
    with pytest.raises(RunError, match="checksum"):
        rerun(copy, tmp_path / "again", encoder=toys.encoder)

    class Other(type(toys.encoder)):  # type: ignore[misc]
        name = "toy-encoder@2"

    with pytest.raises(RunError, match="encoder"):
        rerun(results / "ab", tmp_path / "again", encoder=Other())
    assert not (tmp_path / "again").exists()


def test_runs_are_listed_and_half_written_ones_are_not_done(results: Path) -> None:
    rows = {row["run"]: row for row in list_runs(results)}
    assert {"ab", "sweep", "tune", "tune-split", "run"} <= set(rows)
    assert all(row["status"] == "complete" for row in rows.values())
    with pytest.raises(RunError, match="no folder"):
        list_runs(results / "absent")
    with pytest.raises(RunError, match="no run folder"):
        read_manifest(results)


def test_differences_between_runs(results: Path, home: Path, toys: SimpleNamespace, tmp_path: Path) -> None:
    assert diff_runs(results / "ab", results / "ab") == []
    changed = [ARMS[0], ("relevance-only", ARMS[1][1].override(min_score=0.4))]
    source = Source(name=str(home / "data"))
    ab_run(
        source,
        changed,
        toys.encoder,
        out=tmp_path / "b",
        cache=EmbeddingCache(home / "embeddings"),
        metrics=METRICS,
        latency_sample=0,
    )
    places = [row["where"] for row in diff_runs(results / "ab", tmp_path / "b")]
    assert "manifest.json:arms.relevance-only.config.min_score" in places
    assert not any("latency_ms" in place or "wall_seconds" in place for place in places)


def test_latency_across_machines_is_refused_unless_forced(results: Path, tmp_path: Path) -> None:
    copy = tmp_path / "ab"
    shutil.copytree(results / "ab", copy)
    manifest = read_manifest(copy)
    manifest["environment"]["machine"]["cpu"] = "another processor"
    (copy / "manifest.json").write_text(json.dumps(manifest))
    with pytest.raises(RunError, match="different machines"):
        diff_runs(results / "ab", copy, latency=True)
    assert diff_runs(results / "ab", copy, latency=True, force=True)
    assert diff_runs(results / "ab", copy)


def test_several_arms_share_one_family(home: Path, toys: SimpleNamespace) -> None:
    arms = [*ARMS, ("no-contradictions", preset("no-contradictions"))]
    cache = EmbeddingCache(home / "embeddings")
    dataset = Source(name=str(home / "data")).load()
    result = compare(dataset, arms, toys.encoder, cache=cache, metrics=METRICS, latency_sample=0)
    assert result.comparison.arms == ("relevance-only", "no-contradictions")
    assert set(result.content["arms"]) == {"production", "relevance-only", "no-contradictions"}
    assert set(result.flips) == {"relevance-only", "no-contradictions"}
    assert set(result.losses) == set(result.content["arms"])
    same = compare(
        dataset, [("a", AssemblyConfig()), ("b", AssemblyConfig())], toys.encoder, cache=cache, metrics=METRICS, latency_sample=0
    )
    assert {row.verdict for row in same.comparison} <= {"no difference", "not enough data"}
    assert not same.flips["b"].rows
    with pytest.raises(ConfigError, match="differently named"):
        compare(dataset, [ARMS[0], ARMS[0]], toys.encoder, cache=cache)


def test_the_commands_list_show_and_diff(results: Path) -> None:
    from workbench.commands import runs as command

    app = typer.Typer()
    command.register(app)

    @app.command()
    def other() -> None:
        """A second command, so that ``runs`` stays a sub-command."""

    runner = CliRunner()
    listed = runner.invoke(app, ["runs", "list", str(results)])
    assert listed.exit_code == 0, listed.output
    assert "sweep" in listed.output
    shown = runner.invoke(app, ["runs", "show", str(results / "ab")])
    assert "relevance-only" in shown.output
    assert "0 differences" in runner.invoke(app, ["runs", "diff", str(results / "ab"), str(results / "ab")]).output


def test_what_a_killed_run_left_is_removed_by_the_next_and_nothing_else(tmp_path: Path) -> None:
    killed = (
        "import os, signal, sys\nfrom pathlib import Path\nfrom workbench.experiments.record import run_folder\n"
        "with run_folder(Path(sys.argv[1])) as folder:\n"
        "    (folder / 'half').write_text('x')\n    os.kill(os.getpid(), signal.SIGKILL)"
    )
    target = tmp_path / "mine"
    subprocess.run([sys.executable, "-c", killed, str(target)], check=False)
    left = list(tmp_path.iterdir())
    assert len(left) == 1
    assert (left[0] / "half").is_file()
    for name in (".mine-notes", ".mine-0-1-x", ".other-1", "mine.partial"):
        (tmp_path / name).mkdir()
    with run_folder(target) as folder:
        # a run that goes on beside this one is left alone
        with run_folder(tmp_path / "mine"):
            assert folder.is_dir()
        (folder / "done").write_text("x")
        shutil.rmtree(target)
    assert sorted(path.name for path in tmp_path.iterdir()) == [".mine-0-1-x", ".mine-notes", ".other-1", "mine", "mine.partial"]


def test_pools_may_have_other_keys_but_rows_share_the_same_ones(tmp_path: Path) -> None:
    def differences(*keys: str) -> int:
        for name, pool_keys in (("old", ["a", "a", "b"]), ("new", list(keys))):
            (tmp_path / f"{name}.json").write_text(json.dumps({"pool_keys": pool_keys, "rows": 3}))
        return len(_compare(tmp_path / "old.json", tmp_path / "new.json", "sweep.json")[1])

    assert differences("x", "x", "y") == 0
    assert differences("x", "y", "y") == 1
