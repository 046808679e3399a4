"""Run folders of every kind over three made-up users, made by the product itself; names and texts may be hostile."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from workbench.config import AssemblyConfig
from workbench.data.judged import JudgedDataset, JudgedQuery
from workbench.data.saving import save_directory
from workbench.embedding.cache import EmbeddingCache
from workbench.entries import Memory
from workbench.experiments.ab import ab_run
from workbench.experiments.manifest import Source
from workbench.experiments.run import run
from workbench.experiments.space import Space
from workbench.experiments.sweep_run import sweep_run, tuning_run
from workbench.store.user import UserStore

NOW = "2026-06-01T09:00:00Z"
NAMES = ("production", "relevance-only")
SCRIPT = "<script>window.pwned = 1</script>"
IMAGE = '"><img src=x onerror="window.pwned = 2">'
THINGS = ("kettle", "ferry", "lantern", "piano", "orchard", "sextant", "violin", "compass")


def dataset(folder: Path, *, licence: str = "CC0-1.0", hostile: bool = False) -> Path:
    """Three users with the same eight memories and four queries each, in the JSONL layout; returns the folder."""
    mark = f" {SCRIPT}{IMAGE} ``` | $x$" if hostile else ""
    stores, queries = {}, []
    for number, user in enumerate(("ana", "ben", "cho")):
        entries = [
            Memory(
                id=f"m{at}", text=f"The {thing} of {user} stands in room {at}{mark}.", created_at="2026-01-01T00:00:00Z",
                updated_at=f"2026-05-{at + 1:02d}T00:00:00Z",
                importance=(0.2, 0.9)[(at + number) % 2], confidence=0.5 + 0.05 * at, access_count=at,
            )
            for at, thing in enumerate(THINGS)
        ]  # fmt: skip
        stores[user] = UserStore(user, memories=entries)
        queries += [
            JudgedQuery(
                id=f"{user}-q{at}", user_id=user, query=f"Where is the {THINGS[at]}?{mark}", now=NOW, relevant={f"m{at}": 1},
                group=(SCRIPT if hostile else "place", "order")[at % 2],
            )
            for at in range(4)
        ]  # fmt: skip
    made = JudgedDataset(
        name=IMAGE[:40] if hostile else "rooms", stores=stores, queries=tuple(queries), licence=licence,
        source="made up", checksum="",
        config={"budgets": {"memories": 40}}, config_note="Small budgets for small stores.",
    )  # fmt: skip
    save_directory(made, folder)
    return folder


def arms(names: Sequence[str]) -> list[tuple[str, AssemblyConfig]]:
    """Production, and per further name a configuration that looks at fewer signals."""
    weights: list[dict[str, float]] = [
        {},
        {"relevance": 0.0, "importance": 0.0, "confidence": 0.0, "recency": 0.0, "frequency": 1.0},
        {"relevance": 1.0, "importance": 0.0, "confidence": 0.0, "recency": 0.0, "frequency": 0.0},
    ]
    return [
        (name, AssemblyConfig().override(weights=given) if given else AssemblyConfig())
        for name, given in zip(names, weights, strict=False)
    ]


def make_runs(home: Path, encoder: Any, kinds: Sequence[str], *, names: Sequence[str] = NAMES, **given: Any) -> Path:
    """Runs of ``kinds`` under ``home``; returns it."""
    source = Source(name=str(dataset(home / "data", **given)))
    cache = EmbeddingCache(home / "embeddings")
    shared: dict[str, Any] = {"cache": cache, "metrics": ("ContextRecall", "Recall@10", "Tokens")}
    if "ab" in kinds:
        ab_run(source, arms(names[:2]), encoder, out=home / "ab", latency_sample=3, **shared)
    if "ab3" in kinds:
        ab_run(source, arms([*names[:2], "third"]), encoder, out=home / "ab3", latency_sample=0, **shared)
    if "run" in kinds:
        pair = arms(names[:2])
        run(source.load(), pair[0], pair[1], out=home / "run", encoder=encoder, cache=cache, latency_sample=2, progress=False)
    space = Space(weights="lattice:2", grid={"budgets.memories": [30, 90]})
    if "sweep" in kinds:
        sweep_run(source, space, encoder, out=home / "sweep", total=200, engine="serial", **shared)
    if "tune" in kinds:
        tuning_run(source, space, encoder, out=home / "tune", engine="serial", **shared)
    if "split" in kinds:
        tuning_run(source, space, encoder, out=home / "split", by="split", engine="serial", **shared)
    return home
