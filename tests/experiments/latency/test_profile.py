"""A whole profile on a tiny dataset: stages add up, parts are kept, the run folder verifies."""

from __future__ import annotations

import json
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from workbench.assembly.stages import PARTS
from workbench.config import AssemblyConfig, preset
from workbench.data.judged import JudgedDataset
from workbench.data.saving import save_directory
from workbench.embedding.cache import EmbeddingCache
from workbench.errors import ConfigError, RunError
from workbench.experiments.latency.measure import Plan
from workbench.experiments.latency.profile import LatencyProfile
from workbench.experiments.latency.profiler import profile_latency
from workbench.experiments.latency.run import latency_run
from workbench.experiments.latency.stages import add_up, closed_loop, turns
from workbench.experiments.latency.units import Units
from workbench.experiments.manifest import Source, read_manifest
from workbench.experiments.percentile import percentiles
from workbench.experiments.verification import verify

ARMS = {"production": preset("production"), "relevance-only": preset("relevance-only")}
PLAN = Plan(queries=12, warm_up=1, rate=2_000.0, concurrency=(1, 3))


@pytest.fixture(scope="module")
def profile(small: JudgedDataset, kit: Any, tmp_path_factory: pytest.TempPathFactory) -> LatencyProfile:
    cache = EmbeddingCache(tmp_path_factory.mktemp("profile"))
    return profile_latency(small, ARMS, sizes=(40, 8), plan=PLAN, encoder=kit.Encoder(), cache=cache)


def test_stages_and_residual_are_the_total(profile: LatencyProfile) -> None:
    assert set(profile.samples) == {(8, "production"), (8, "relevance-only"), (40, "production"), (40, "relevance-only")}
    for columns in profile.samples.values():
        assert len(columns["total"]) == 12
        for at, total in enumerate(columns["total"]):
            assert sum(columns[part][at] for part in PARTS) == pytest.approx(total, abs=1e-9)
            assert columns["residual"][at] > 0  # the call does more than its stages
        assert add_up(columns) < 1e-9


def test_percentiles_are_those_of_the_samples(profile: LatencyProfile) -> None:
    for cell in profile.cells:
        total = profile.samples[cell["size"], cell["config"]]["total"]
        item = cell["latency"]["stages"]["total"]
        assert (item["p50"], item["p95"], item["p99"]) == percentiles(total, [50, 95, 99])
        assert item["max"] == max(total)
        assert item["n"] == 12
        low, high = item["p95_ci95"]
        assert low <= item["p95"] <= high


def test_everything_promised_is_there(profile: LatencyProfile) -> None:
    assert [cell["size"] for cell in profile.cells] == [8, 8, 40, 40]
    cell = profile.cell(40, "production")
    assert cell["own_entries"] == 6
    assert cell["latency"]["open"]["latency"]["n"] == 12
    assert [row["workers"] for row in cell["latency"]["parallel"]] == [1, 3]
    assert all(row["equal"] for row in cell["latency"]["parallel"])
    assert cell["latency"]["limit"]["n"] == 12
    timed = profile.content["latency"]
    assert timed["growth"]["production"]["total"]["sizes"] == [8, 40]
    assert [(row["size"], row["b"]) for row in timed["ab"]] == [(8, "relevance-only"), (40, "relevance-only")]
    assert timed["cold"] == {}
    assert {(row["index"], row["cap"]) for row in profile.content["recall"]} >= {("exact", 100), ("sketch", 10)}
    assert all(row["n_queries"] == 2 for row in profile.content["recall"])
    with pytest.raises(RunError, match="no cell of size 9"):
        profile.cell(9, "production")


def test_text_and_table_name_n_and_what_is_missing(profile: LatencyProfile) -> None:
    text = str(profile)
    assert "cold start: no data" in text
    assert "12" in text
    frame = profile.to_dataframe()
    assert set(frame["stage"]) == {*PARTS, "total", "cpu", "without embed"}
    assert (frame["n"] == 12).all()
    assert "<table>" in profile._repr_html_()
    assert "p95" in profile.to_markdown()


def test_configurations_take_turns(small: JudgedDataset, kit: Any, cache: EmbeddingCache) -> None:
    order: list[str] = []

    class Watched:
        def assemble(self, query: str, *, now: Any, config: AssemblyConfig) -> Any:
            order.append(config.hash)
            return assembler.assemble(query, now=now, config=config)

    assembler = kit.assembler([kit.memory("m1", "The ferry sails")])
    closed_loop(Watched(), ARMS, turns(small.queries, 4), warm_up=0)  # type: ignore[arg-type]
    one, two = (config.hash for config in ARMS.values())
    assert order == [one, two, two, one, one, two, two, one]


def test_an_interrupted_profile_goes_on(small: JudgedDataset, kit: Any, cache: EmbeddingCache, tmp_path: Path) -> None:
    shared: dict[str, Any] = {"plan": PLAN, "encoder": kit.Encoder(), "cache": cache, "keep": tmp_path / "kept"}

    def stop(what: str, _: int) -> None:
        if what == "time 40":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        profile_latency(small, ARMS, sizes=(8, 40), step=stop, **shared)
    kept = {path.name: path.read_bytes() for path in (tmp_path / "kept").iterdir()}
    assert any(name.startswith("closed-8-") for name in kept)
    assert not any(name.startswith("closed-40-") for name in kept)
    seen: list[str] = []
    whole = profile_latency(small, ARMS, sizes=(8, 40), step=lambda what, _: seen.append(what), **shared)
    assert "time 40" in seen
    assert "time 8" not in seen
    recorded = json.loads(next(data for name, data in kept.items() if name.startswith("closed-8-")))
    assert whole.samples[8, "production"]["total"] == recorded["samples"]["production"]["total"]


def test_parts_of_other_content_are_not_taken(tmp_path: Path) -> None:
    assert Units(tmp_path, {"a": 1}).get("part", lambda: 1) == 1
    assert Units(tmp_path, {"a": 2}).get("part", lambda: 2) == 2
    assert Units(tmp_path, {"a": 1}).get("part", lambda: 3) == 1
    assert Units(tmp_path, {"a": 1}).get("part", lambda: 4, more=1) == 4
    for path in tmp_path.iterdir():
        path.write_text("{broken")
    assert Units(tmp_path, {"a": 1}).get("part", lambda: 5) == 5


def test_nothing_to_time_is_refused(small: JudgedDataset, kit: Any, cache: EmbeddingCache) -> None:
    with pytest.raises(ConfigError, match="at least one of each"):
        profile_latency(small, {}, encoder=kit.Encoder(), cache=cache)
    with pytest.raises(ConfigError, match="at least one of each"):
        profile_latency(small, ARMS, sizes=(), encoder=kit.Encoder(), cache=cache)


@dataclass(frozen=True)
class Recorded:
    """A run that was recorded once: its folder, what it returned, and how it was made. The folder is not to be changed."""

    folder: Path
    result: LatencyProfile
    source: Source
    settings: dict[str, Any]

    @property
    def cache(self) -> EmbeddingCache:
        cache: EmbeddingCache = self.settings["cache"]
        return cache


@pytest.fixture(scope="module")
def recorded(small: JudgedDataset, kit: Any, tmp_path_factory: pytest.TempPathFactory) -> Recorded:
    home = tmp_path_factory.mktemp("recorded")
    save_directory(small, home / "small")
    source = Source(name=str(home / "small"))
    settings = {"sizes": (8, 40), "plan": PLAN, "cache": EmbeddingCache(home / "embeddings"), "cold": 0}
    result = latency_run(source, ARMS, kit.Encoder(), out=home / "one", **settings)
    return Recorded(home / "one", result, source, settings)


def test_a_run_folder_loads_verifies_and_is_compared(recorded: Recorded, kit: Any, tmp_path: Path) -> None:
    folder, first = recorded.folder, recorded.result
    names = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
    assert {"manifest.json", "metrics.json", "samples.parquet", "report.html", "summary.txt"} <= names
    assert "figures/latency-stages.svg" in names
    assert not folder.with_name("one.partial").exists()
    loaded = LatencyProfile.load(folder)
    assert loaded.content == json.loads(json.dumps(first.content))
    assert {key: dict(value) for key, value in loaded.samples.items()} == {key: dict(v) for key, v in first.samples.items()}
    result = verify(folder, encoder=kit.Encoder(), cache=recorded.cache)
    assert result.ok, str(result)
    assert result.compared > 50
    again = latency_run(recorded.source, ARMS, kit.Encoder(), out=tmp_path / "two", against=folder, **recorded.settings)
    assert len(again.content["latency"]["against"]) == 12
    assert any("load average" in note for note in again.content["latency"]["against_notes"])
    assert "against the earlier run" in (tmp_path / "two" / "summary.txt").read_text()


def test_a_run_that_was_tampered_with_does_not_verify(recorded: Recorded, kit: Any, tmp_path: Path) -> None:
    shutil.copytree(recorded.folder, tmp_path / "one")
    path = tmp_path / "one" / "metrics.json"
    content = json.loads(path.read_text())
    content["cells"][0]["prompts"] = "0" * 64
    path.write_text(json.dumps(content))
    result = verify(tmp_path / "one", encoder=kit.Encoder(), cache=recorded.cache)
    assert not result.ok
    assert any("prompts" in where for where, _, _ in result.different)


def test_a_run_of_another_machine_is_refused(recorded: Recorded, kit: Any, tmp_path: Path) -> None:
    shutil.copytree(recorded.folder, tmp_path / "one")
    manifest = read_manifest(tmp_path / "one")
    manifest["environment"]["machine"]["cpu"] = "Another CPU"
    (tmp_path / "one" / "manifest.json").write_text(json.dumps(manifest))
    with pytest.raises(RunError, match=r"different machines.*Another CPU"):
        latency_run(recorded.source, ARMS, kit.Encoder(), out=tmp_path / "two", against=tmp_path / "one", **recorded.settings)
    assert not (tmp_path / "two").exists()
