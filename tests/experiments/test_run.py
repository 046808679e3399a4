"""The main job end to end on a small dataset with the bundled model, and the command line around it."""

from __future__ import annotations

import json
import math
import os
import pickle
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import pandas as pd
import pytest

from workbench import Episode, Memory, Procedure, SoulBlock, UserStore
from workbench.config import AssemblyConfig, Budgets, load_config, preset
from workbench.data.judged import JudgedDataset, JudgedQuery
from workbench.data.saving import save_directory
from workbench.embedding.cache import EmbeddingCache
from workbench.embedding.calibration import closed
from workbench.errors import ConfigError, DataError, RunError
from workbench.experiments.arms import dataset_config
from workbench.experiments.manifest import Source
from workbench.experiments.run import run
from workbench.experiments.splits import sample
from workbench.experiments.verification import verify

NOW = "2026-06-01T09:00:00Z"
FACTS = ("The kettle hums at dawn", "The ferry sails on Tuesdays", "Rhubarb grows behind the shed", "The attic key is brass")


def small_dataset() -> JudgedDataset:
    stores, queries = {}, []
    for user in ("figgle", "quibble", "mossop"):
        memories = [
            Memory(id=f"m{number}", text=text, created_at=f"2026-05-0{number + 1}", importance=0.2 + 0.1 * number)
            for number, text in enumerate(FACTS)
        ]
        memories.append(
            Memory(id="p1", text="Prefers short answers", category="preference", importance=0.9, created_at="2026-01-01")
        )
        stores[user] = UserStore(
            user,
            memories=memories,
            episodes=[Episode(id="e1", summary="Repaired the gate hinge", occurred_at="2026-05-20T10:00:00Z")],
            procedures=[Procedure(id="w1", name="Bake bread", steps=("mix", "wait", "bake"), created_at="2026-02-01")],
            soul=[SoulBlock(id="s1", text="A patient helper")],
        )
        queries += [
            JudgedQuery(
                id=f"{user}-1", user_id=user, query="when does the ferry sail", now=NOW, relevant={"m1": 2}, group="fact"
            ),
            JudgedQuery(id=f"{user}-2", user_id=user, query="how do I bake bread", now=NOW, relevant={"w1": 1}, group="how_to"),
            JudgedQuery(id=f"{user}-3", user_id=user, query="what about the moon", now=NOW, answerable=False, group="none"),
        ]
    return JudgedDataset(
        name="small", stores=stores, queries=tuple(queries), licence="Apache-2.0", source="made here", checksum="0" * 64
    )


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> EmbeddingCache:
    return EmbeddingCache(tmp_path_factory.mktemp("embeddings"))


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory, cache: EmbeddingCache) -> Path:
    out = tmp_path_factory.mktemp("runs") / "first"
    arms = (("production", preset("production")), ("relevance-only", preset("relevance-only")))
    run(small_dataset(), *arms, out=out, cache=cache, latency_sample=4, progress=False)
    return out


def strict(path: Path) -> dict:
    def refuse(literal: str) -> None:
        raise AssertionError(f"{literal} in {path.name}")

    return json.loads(path.read_text(encoding="utf-8"), parse_constant=refuse)


def without_timings(content: dict) -> dict:
    for arm in content["arms"].values():
        del arm["latency_ms"]
    return content


def test_folder_holds_what_it_promises(finished: Path) -> None:
    assert {"report.html", "metrics.json", "per_query.parquet", "manifest.json"} <= {path.name for path in finished.iterdir()}
    content = strict(finished / "metrics.json")
    assert (content["dataset"], content["n_queries"], content["n_judged"]) == ("small", 9, 9)
    for arm in ("production", "relevance-only"):
        for metric in ("ContextRecall", "Recall@5", "Recall@10", "Recall@20", "nDCG@10", "StaleExposure", "Tokens"):
            assert {"mean", "ci95", "n"} <= set(content["arms"][arm]["metrics"][metric])
            assert metric in content["arms"][arm]["groups"]["fact"]
        for stage in ("embed", "search", "merge", "contradictions", "score", "prompt", "total"):
            assert {"p50", "p95", "p99", "n"} <= set(content["arms"][arm]["latency_ms"][stage])
        assert content["arms"][arm]["budget_breaks"] == 0
    assert {"difference", "ci95", "p_value", "n"} <= set(content["comparison"]["ContextRecall"])
    assert content["arms"]["production"]["metrics"]["ContextRecall"]["n"] == 6
    assert content["arms"]["production"]["metrics"]["ContextRecall"]["mean"] == 1.0


def test_manifest_says_with_what_it_was_made(finished: Path) -> None:
    manifest = strict(finished / "manifest.json")
    assert manifest["status"] == "complete"
    assert manifest["arms"]["production"]["hash"] == strict(finished / "metrics.json")["arms"]["production"]["config_hash"]
    assert AssemblyConfig.from_record(manifest["arms"]["production"]["config"]).hash == manifest["arms"]["production"]["hash"]
    assert manifest["environment"]["packages"]["faiss-cpu"]


def test_per_query_rows_carry_ids_and_numbers_only(finished: Path) -> None:
    frame = pd.read_parquet(finished / "per_query.parquet")
    assert len(frame) == 18
    row = frame[(frame["arm"] == "production") & (frame["query_id"] == "figgle-1")].iloc[0]
    assert row["ContextRecall"] == 1.0
    assert list(row["relevant_fate"]) == ["selected"]
    assert math.isnan(frame[frame["query_id"] == "figgle-3"]["ContextRecall"].iloc[0])
    assert "ferry" not in frame.to_csv()


def test_a_second_run_gives_the_same_bytes_apart_from_timings(finished: Path, cache: EmbeddingCache, tmp_path: Path) -> None:
    arms = (("production", preset("production")), ("relevance-only", preset("relevance-only")))
    run(small_dataset(), *arms, out=tmp_path / "again", cache=cache, latency_sample=4, progress=False)
    first, again = (without_timings(strict(folder / "metrics.json")) for folder in (finished, tmp_path / "again"))
    assert json.dumps(first, sort_keys=True) == json.dumps(again, sort_keys=True)
    assert (finished / "per_query.parquet").read_bytes() == (tmp_path / "again" / "per_query.parquet").read_bytes()


def test_a_folder_that_is_not_a_run_is_left_alone(cache: EmbeddingCache, tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("years of work")
    arms = (("a", preset("production")), ("b", preset("relevance-only")))
    with pytest.raises(RunError, match="not a run folder"):
        run(small_dataset(), *arms, out=tmp_path, cache=cache, progress=False)
    assert (tmp_path / "thesis.txt").read_text() == "years of work"


def test_nothing_half_written_stays_when_a_run_breaks(tmp_path: Path) -> None:
    class Broken:
        name, dim = "broken", 3

        def encode(self, texts: list[str]) -> list[list[float]]:
            raise RuntimeError("no model today")

    arms = (("a", preset("production")), ("b", preset("relevance-only")))
    cache = EmbeddingCache(tmp_path / "cache")
    with pytest.raises(RuntimeError, match="no model today"):
        run(small_dataset(), *arms, out=tmp_path / "out", encoder=Broken(), cache=cache, progress=False)
    assert [path.name for path in tmp_path.iterdir()] == ["cache"]


def test_arms_need_two_names() -> None:
    with pytest.raises(ConfigError, match="both arms"):
        run(small_dataset(), ("a", preset("production")), ("a", preset("rrf")), out="nowhere", progress=False)


def test_dataset_settings_hold_unless_the_arm_changes_them() -> None:
    dataset = small_dataset()
    dataset = JudgedDataset(**{**dataset.__dict__, "config": {"budgets": {"memories": 300, "episodes": 120}, "cap": 50}})
    assert dataset_config(dataset, AssemblyConfig()).budgets.memories == 300
    own = AssemblyConfig().override(budgets={"memories": 700}, cap=7)
    effective = dataset_config(dataset, own)
    assert (effective.budgets.memories, effective.budgets.episodes, effective.cap) == (700, 120, 7)
    assert dataset_config(dataset, effective) == effective
    assert "its own settings, where a configuration states none: budgets.memories=300, budgets.episodes=120, cap=50" in str(
        dataset
    )


class NamedEncoder:
    name = "nobody/measured"


def test_a_default_that_is_stated_wins_over_the_dataset(tmp_path: Path) -> None:
    dataset = small_dataset()
    dataset = JudgedDataset(**{**dataset.__dict__, "config": {"budgets": {"memories": 300, "episodes": 120}, "cap": 50}})
    plain = AssemblyConfig()
    (tmp_path / "own.toml").write_text(f"cap = {plain.cap}\n[budgets]\nmemories = {plain.budgets.memories}\n")
    for stated in (
        load_config(str(tmp_path / "own.toml")),
        plain.override(cap=plain.cap, budgets={"memories": plain.budgets.memories}),
        pickle.loads(pickle.dumps(plain.override(cap=plain.cap, budgets={"memories": plain.budgets.memories}))),
    ):
        assert stated == plain
        assert stated.hash == plain.hash
        effective = dataset_config(dataset, stated)
        assert (effective.budgets.memories, effective.budgets.episodes) == (plain.budgets.memories, 120)
        assert effective.cap == plain.cap
    whole = plain.override(budgets=Budgets())
    assert dataset_config(dataset, whole).budgets == Budgets()
    assert closed(plain, NamedEncoder()).given == frozenset()
    assert closed(plain, NamedEncoder()).conflict_band == (0.75, 0.92)
    kept = AssemblyConfig.from_record(json.loads(json.dumps(whole.to_record())))
    assert dataset_config(dataset, kept).budgets == Budgets()
    assert dataset_config(dataset, AssemblyConfig.from_record(plain.to_record())).budgets.memories == 300
    assert dataset_config(dataset, pickle.loads(pickle.dumps(plain))).budgets.memories == 300


def test_unknown_configuration_is_named() -> None:
    with pytest.raises(ConfigError, match="no configuration named 'prod'"):
        load_config("prod")


def cli(*words: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, "WORKBENCH_CACHE": str(cwd / "cache"), "COLUMNS": "100"}
    return subprocess.run(
        [sys.executable, "-m", "workbench.cli", *words],
        cwd=cwd,
        env=env,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


def test_command_line_runs_assembles_and_explains(tmp_path: Path) -> None:
    save_directory(small_dataset(), tmp_path / "mine")
    done = cli("assemble", "--dataset", "mine", "--user", "quibble", "when does the ferry sail", "--explain", "m1", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "The ferry sails on Tuesdays" in done.stdout
    assert "m1 (memory): selected" in " ".join(done.stdout.split())


def test_command_line_errors_are_one_line(tmp_path: Path) -> None:
    done = cli("run", "--dataset", "no-such-set", cwd=tmp_path)
    assert done.returncode == 2
    assert "no-such-set" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_run_on_a_folder_of_ones_own_is_verified_from_its_record(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WORKBENCH_CACHE", str(tmp_path / "cache"))
    source = Source(name=str(save_directory(small_dataset(), tmp_path / "mine")), limit=5, limit_seed=3)
    dataset = source.load()
    assert "5 of 9 drawn queries" in str(dataset)
    arms = (("production", preset("production")), ("relevance-only", preset("relevance-only")))
    out = tmp_path / "out"
    run(dataset, *arms, out=out, source=source, latency_sample=2, metrics=("ContextRecall", "Tokens"), progress=False)
    manifest = strict(out / "manifest.json")
    assert manifest["dataset"]["load"] == {**source.to_dict(), "limit": 5, "limit_seed": 3}
    assert {"metrics.json", "per_query.parquet", "report.html"} <= set(manifest["files"])
    checked = verify(out)
    assert checked.ok, str(checked)
    content = strict(out / "metrics.json")
    assert list(content["arms"]["production"]["metrics"]) == ["ContextRecall", "Tokens"]
    assert content["dataset_notes"] | {"sample_of_queries": 5, "queries_in_all": 9, "sample_seed": 3} == content["dataset_notes"]
    assert "queries in all" in (out / "report.html").read_text(encoding="utf-8").lower()


def test_a_sample_grows_with_its_limit_and_changes_with_its_seed() -> None:
    dataset = small_dataset()
    ids = [[query.id for query in sample(dataset, limit).queries] for limit in range(1, 10)]
    assert [len(row) for row in ids] == list(range(1, 10))
    assert all(set(less) < set(more) for less, more in pairwise(ids))
    assert ids[-1] == [query.id for query in dataset.queries]
    assert sample(dataset, 9) is dataset
    assert len({tuple(query.id for query in sample(dataset, 4, seed=seed).queries) for seed in range(5)}) > 1
    some = sample(dataset, 2)
    assert set(some.stores) == {query.user_id for query in some.queries}
    with pytest.raises(ConfigError, match="limit is 0: must be a whole number of queries from 1"):
        sample(dataset, 0)


def test_a_dataset_without_queries_is_named_and_leaves_no_folder(cache: EmbeddingCache, tmp_path: Path) -> None:
    arms = (("production", preset("production")), ("relevance-only", preset("relevance-only")))
    for stores in (small_dataset().stores, {}):
        empty = JudgedDataset(**{**small_dataset().__dict__, "queries": (), "stores": stores})
        with pytest.raises(DataError, match=r"small has no judged queries \(\d users\); label some with: workbench data judge"):
            run(empty, *arms, out=tmp_path / "out", cache=cache, progress=False)
    assert list(tmp_path.iterdir()) == []
