"""Sweeps: many configurations on the judged queries of one dataset, replayed from pools in blocks that survive an
interruption."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from workbench.assembly.conflict_test import ConflictTest
from workbench.config import AssemblyConfig
from workbench.data.judged import JudgedDataset
from workbench.embedding.cache import EmbeddingCache
from workbench.embedding.calibration import closed
from workbench.embedding.encoder import Encoder
from workbench.errors import ConfigError, RunError
from workbench.experiments.arms import dataset_config, require_queries
from workbench.experiments.blocks import Block, block_meta, context_key, read_values, write_block
from workbench.experiments.engines import Job, run_jobs
from workbench.experiments.metrics import parse_metric
from workbench.experiments.pools import Floats, Pools, search_key
from workbench.experiments.poolstore import PoolStore, pools_for
from workbench.experiments.space import Listed, Space
from workbench.experiments.sweep_table import Sweep, flat_table

SWEEP_METRICS = (
    "ContextRecall", "AnyRecall", "AllRecall", "Recall@10", "nDCG@10", "ContextPrecision", "StaleExposure", "DuplicateRate",
    "Tokens", "FalseContext",
)  # fmt: skip
LARGEST_BLOCK = 64
Step = Callable[[str, int], None]


def partial_folder(out: str | Path) -> Path:
    """Where the finished blocks of an unfinished sweep lie."""
    target = Path(out)
    return target.with_name(target.name + ".partial")


def sweep(
    dataset: JudgedDataset,
    space: Space | Listed,
    encoder: Encoder,
    *,
    metrics: Iterable[str] = SWEEP_METRICS,
    partial: str | Path | None = None,
    engine: str = "auto",
    block: int | None = None,
    seed: int = 0,
    latency: Mapping[str, float] | None = None,
    conflict_test: ConflictTest | None = None,
    cache: EmbeddingCache | None = None,
    store: PoolStore | None = None,
    step: Step | None = None,
) -> Sweep:
    """Every point of ``space`` on every query of ``dataset``.

    partial: folder for finished blocks; what a killed sweep left there is used again as far as it was computed from the same
    data, settings and code. block: configurations per block (None: 16 blocks, at most 64 each). engine: see ``engines.run_jobs``.
    latency: p95 in ms by ``search_key`` of a configuration, for goals that limit it. step: told ("pools", 1) after each
    query searched for, ("rows", n) after each n configurations. Raises ConfigError for points that cannot be,
    DataError without a query.
    """
    require_queries(dataset)
    names = [parse_metric(name).name for name in metrics]
    points = points_of(dataset, space, encoder)
    plan = _Plan.make(dataset, points, encoder, names, seed, conflict_test, cache, store, step)
    size = block if block is not None else max(1, min(LARGEST_BLOCK, -(-len(points) // 16)))
    if size < 1:
        raise ConfigError(f"block is {block!r}: must be at least 1")
    folder = Path(partial) if partial is not None else None
    done = _finished(folder, plan, names) if folder is not None else {}
    if step and done:
        step("rows", len(done))
    jobs = plan.jobs(size, set(done))
    rows: list[dict[str, float | None] | None] = [None] * len(points)
    values = {name: np.full((len(points), len(dataset.queries)), np.nan) for name in names}

    def keep(number: int, row: dict[str, float | None], of: Mapping[str, Floats], at: int) -> None:
        for point in plan.places[plan.identity[number]]:
            rows[point] = row
            for name in names:
                values[name][point] = of[name][at]

    for number, (row, stored, at) in done.items():
        keep(number, row, stored, at)
    for job, result in run_jobs(jobs, plan.pools, names, seed, engine=engine, store=store):
        if folder is not None:
            write_block(folder, result, plan.query_ids, plan.contexts[job.pool_key])
        for at, number in enumerate(plan.members[job.number]):
            keep(number, result.rows[at], result.values, at)
        if step:
            step("rows", len(job.configs))
    complete = [row for row in rows if row is not None]
    if len(complete) != len(points):
        raise RunError(f"{len(points) - len(complete)} of {len(points)} rows of the sweep were not computed; start it again")
    p95 = None if latency is None else [latency.get(search_key(config)) for config in plan.configs]
    return Sweep(
        table=flat_table([params for params, _ in points], [config.hash for config in plan.configs], complete, names, p95),
        values=values,
        configs=tuple(plan.configs),
        queries=tuple(plan.query_ids),
        users=tuple(query.user_id for query in dataset.queries),
        metrics=tuple(names),
        dataset=dataset.name,
        dataset_checksum=dataset.checksum,
        encoder=encoder.name,
        seed=seed,
        pool_keys=tuple(plan.keys),
    )


def points_of(dataset: JudgedDataset, space: Space | Listed, encoder: Encoder) -> list[tuple[dict[str, Any], AssemblyConfig]]:
    """The points as they are run: the dataset's own settings apply to the base, what the space varies wins over them."""
    around = replace(space, base=dataset_config(dataset, space.base))
    return [(params, closed(config, encoder)) for params, config in around.points()]


@dataclass
class _Plan:
    """What has to be computed: configurations made effective, each distinct one once."""

    configs: list[AssemblyConfig]
    keys: list[str]
    pools: Mapping[str, Pools]
    query_ids: list[str]
    contexts: dict[str, str]
    identity: list[tuple[str, str]]
    places: dict[tuple[str, str], list[int]] = field(default_factory=dict)
    members: dict[int, list[int]] = field(default_factory=dict)

    @classmethod
    def make(
        cls,
        dataset: JudgedDataset,
        points: Sequence[tuple[dict[str, Any], AssemblyConfig]],
        encoder: Encoder,
        names: Sequence[str],
        seed: int,
        conflict_test: ConflictTest | None,
        cache: EmbeddingCache | None,
        store: PoolStore | None,
        step: Step | None,
    ) -> _Plan:
        configs = [config for _, config in points]

        def searched(count: int) -> None:
            if step:
                step("pools", count)

        keys, pools = pools_for(dataset, configs, encoder, conflict_test=conflict_test, cache=cache, store=store, step=searched)
        queries = [query.id for query in dataset.queries]
        contexts = {key: context_key(key, queries, names, seed) for key in pools}
        identity = [(contexts[key], config.hash) for key, config in zip(keys, configs, strict=True)]
        plan = cls(configs, keys, pools, queries, contexts, identity)
        for number, name in enumerate(identity):
            plan.places.setdefault(name, []).append(number)
        return plan

    def jobs(self, size: int, done: set[int]) -> list[Job]:
        """Blocks of the distinct configurations that are missing; a block has one pool set."""
        out: list[Job] = []
        for key in self.pools:
            numbers = [places[0] for places in self.places.values() if self.keys[places[0]] == key and places[0] not in done]
            for start in range(0, len(numbers), size):
                part = numbers[start : start + size]
                self.members[len(out)] = part
                out.append(Job(number=len(out), pool_key=key, configs=tuple(self.configs[at] for at in part)))
        return out


def _finished(
    folder: Path, plan: _Plan, names: Sequence[str]
) -> dict[int, tuple[dict[str, float | None], Mapping[str, Floats], int]]:
    """What is on disk already: point -> (summary row, values of its block, position in it)."""
    out: dict[int, tuple[dict[str, float | None], Mapping[str, Floats], int]] = {}
    for path in sorted(folder.glob("*.parquet")) if folder.is_dir() else []:
        meta = block_meta(path)
        wanted = meta is not None and any((meta["context"], key) in plan.places for key in meta["hashes"])
        if meta is None or not wanted:
            continue
        values = read_values(path, names, len(plan.query_ids))
        for at, key in enumerate(meta["hashes"] if values is not None else []):
            places = plan.places.get((meta["context"], key))
            if places and values is not None:
                out[places[0]] = (meta["rows"][at], values, at)
    return out


def read_partial(folder: str | Path) -> Any:
    """The complete rows that an unfinished sweep has on disk, as a table: config_hash and the summary columns."""
    import pandas as pd

    rows = []
    for path in sorted(Path(folder).glob("*.parquet")):
        meta = block_meta(path)
        for key, row in zip(meta["hashes"], meta["rows"], strict=True) if meta is not None else []:
            rows.append({"config_hash": key, **row})
    return pd.DataFrame(rows)


def discard_partial(folder: str | Path) -> None:
    """Remove the blocks of a sweep that is complete."""
    shutil.rmtree(folder, ignore_errors=True)


__all__ = ["LARGEST_BLOCK", "SWEEP_METRICS", "Block", "Sweep", "discard_partial", "partial_folder", "read_partial", "sweep"]
