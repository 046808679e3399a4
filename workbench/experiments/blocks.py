"""The unit of work of a sweep: some configurations over all queries, and the file that keeps them.

A block file is a parquet table, one row per configuration and query, that names in its metadata what it was computed from. It is
complete or not there, so whatever ends a sweep costs at most the blocks in work.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from workbench.config import AssemblyConfig
from workbench.errors import RunError
from workbench.experiments.kernels import KERNEL_VERSION
from workbench.experiments.metrics import evaluate, parse_metric
from workbench.experiments.pools import Floats, Pools
from workbench.experiments.replay import Replayer
from workbench.experiments.resampling import cluster_bootstrap_ci

_META = b"workbench.block"
_CODE = ("blocks", "kernels", "metrics", "outcome", "replay", "replay_tables", "resampling")


@cache
def replay_version() -> str:
    """16 hex digits over the source of everything that computes a block."""
    digest = hashlib.sha256()
    for name in _CODE:
        digest.update((Path(__file__).parent / f"{name}.py").read_bytes())
    return digest.hexdigest()[:16]


@dataclass(frozen=True, eq=False, kw_only=True)
class Block:
    """Results of c configurations. rows: one summary per configuration (mean, interval, n per metric). values: metric -> (c,
    Q)."""

    hashes: tuple[str, ...]
    rows: tuple[dict[str, float | None], ...]
    values: Mapping[str, Floats]


def context_key(pool_key: str, queries: Sequence[str], metrics: Sequence[str], seed: int) -> str:
    """What a row of a sweep depends on beside its own configuration; rows of another key are never reused."""
    content = {
        "pools": pool_key,
        "queries": list(queries),
        "metrics": [repr(parse_metric(name)) for name in metrics],
        "seed": seed,
        "kernel": KERNEL_VERSION,
        "code": replay_version(),
    }
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:32]


def run_block(pools: Pools | Replayer, configs: Sequence[AssemblyConfig], metrics: Sequence[str], seed: int) -> Block:
    """Replay, evaluate and summarise some configurations."""
    replayer = pools if isinstance(pools, Replayer) else Replayer(pools)
    parsed = [parse_metric(name) for name in metrics]
    ranked = any(item.cutoff is not None or item.name == "RR" for item in parsed)
    counts = replayer.counts(configs, ranks=ranked)
    clusters = replayer.pools.user
    values: dict[str, list[Floats]] = {name: [] for name in metrics}
    rows = []
    for at in range(len(configs)):
        found = evaluate(replayer.facts(counts, at), metrics)
        row: dict[str, float | None] = {}
        for item in parsed:
            column = found[item.name]
            values[item.name].append(column)
            kept = ~np.isnan(column)
            n = int(kept.sum())
            interval = cluster_bootstrap_ci(column[kept], clusters[kept], seed=seed) if n else None
            low, high = (None, None) if interval is None else interval.clipped(item.low, item.high).bounds
            row[f"mean_{item.name}"] = float(column[kept].mean()) if n else None
            row[f"ci_low_{item.name}"] = low
            row[f"ci_high_{item.name}"] = high
            row[f"n_{item.name}"] = n
        rows.append(row)
    return Block(
        hashes=tuple(config.hash for config in configs),
        rows=tuple(rows),
        values={name: np.stack(columns) for name, columns in values.items()},
    )


def write_block(folder: Path, block: Block, queries: Sequence[str], context: str) -> Path:
    """Write a block under a name of its content's identity; atomic."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    c, q = len(block.hashes), len(queries)
    columns = {
        "config_hash": pa.DictionaryArray.from_arrays(pa.array(np.repeat(np.arange(c, dtype=np.int32), q)), list(block.hashes)),
        "query_id": pa.DictionaryArray.from_arrays(pa.array(np.tile(np.arange(q, dtype=np.int32), c)), list(queries)),
        **{name: pa.array(column.ravel(), from_pandas=True) for name, column in block.values.items()},
    }
    meta = json.dumps({"context": context, "hashes": block.hashes, "rows": block.rows}, allow_nan=False)
    table = pa.table(columns).replace_schema_metadata({_META: meta.encode()})
    name = hashlib.sha256(json.dumps([context, block.hashes]).encode()).hexdigest()[:24]
    target, part = folder / f"{name}.parquet", folder / f".{name}.{os.getpid()}.part"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        pq.write_table(table, part, compression="zstd")
        with part.open("rb") as file:
            os.fsync(file.fileno())
        part.replace(target)
    except OSError as error:
        with suppress(OSError):
            part.unlink()
        raise RunError(f"cannot write the block {target}: {error.strerror or error}") from None
    return target


def block_meta(path: Path) -> dict[str, Any] | None:
    """Context, hashes and summary rows of a block file; None when it is not one (a stray or damaged file is not ours to use)."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        meta = json.loads((pq.read_schema(path).metadata or {})[_META])
        return meta if {"context", "hashes", "rows"} <= set(meta) else None
    except (OSError, KeyError, ValueError, pa.ArrowException):
        return None


def read_values(path: Path, metrics: Sequence[str], n_queries: int) -> dict[str, Floats] | None:
    """Per-query values of a block file: metric -> (c, Q); None when the file is damaged."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        table = pq.read_table(path, columns=list(metrics))
        return {name: table[name].to_numpy(zero_copy_only=False).astype(np.float64).reshape(-1, n_queries) for name in metrics}
    except (OSError, ValueError, pa.ArrowException):
        return None
