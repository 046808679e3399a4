"""Where blocks of a sweep run: in this process, in processes beside it (joblib), or on a Dask cluster. The results are the
same."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from workbench.config import AssemblyConfig
from workbench.errors import ConfigError, RunError
from workbench.experiments.blocks import Block, run_block
from workbench.experiments.pools import Pools
from workbench.experiments.poolstore import PoolStore
from workbench.experiments.replay import Replayer

# Starting processes costs a few seconds; below this many contexts one process is done sooner.
_WORTH_PROCESSES = 20_000_000


@dataclass(frozen=True, eq=False, kw_only=True)
class Job:
    """One block to compute: its number, the key of its pools, the configurations."""

    number: int
    pool_key: str
    configs: tuple[AssemblyConfig, ...]


def run_jobs(
    jobs: Sequence[Job],
    pools: Mapping[str, Pools],
    metrics: Sequence[str],
    seed: int,
    *,
    engine: str = "auto",
    store: PoolStore | None = None,
) -> Iterator[tuple[Job, Block]]:
    """Blocks as they are finished, in any order.

    engine: ``serial``; ``processes`` or ``processes:N``; ``dask://host:port`` or ``tcp://host:port`` of a scheduler; ``auto``
    takes processes when there is enough to do. Raises ConfigError for another engine, RunError when the cluster cannot be
    reached.
    """
    store = store if store is not None else PoolStore()
    match = re.fullmatch(r"(auto|serial|processes)(?::([1-9][0-9]?))?|(?:dask|tcp)://(.+)", engine)
    if not match:
        raise ConfigError(f"engine is {engine!r}: must be auto, serial, processes, processes:N or dask://host:port")
    if match[3]:
        yield from _dask(jobs, pools, metrics, seed, match[3])
        return
    cores = int(match[2]) if match[2] else min(len(os.sched_getaffinity(0)), 16)
    contexts = sum(len(job.configs) * len(pools[job.pool_key]) for job in jobs)
    wanted = match[1] == "processes" or (match[1] == "auto" and contexts >= _WORTH_PROCESSES)
    if wanted and cores > 1 and len(jobs) > 1:
        yield from _processes(jobs, pools, metrics, seed, cores, store)
        return
    replayers: dict[str, Replayer] = {}
    for job in jobs:
        if job.pool_key not in replayers:
            replayers = {job.pool_key: Replayer(pools[job.pool_key])}
        yield job, run_block(replayers[job.pool_key], job.configs, metrics, seed)


_REPLAYERS: dict[str, Replayer] = {}


def _stored(number: int, key: str, configs: Sequence[AssemblyConfig], metrics: Sequence[str], seed: int, folder: Path) -> Any:
    """Runs in a worker process: the pools come from disk, once per process."""
    if key not in _REPLAYERS:
        pools = PoolStore(folder).load(key)
        if pools is None:
            raise RunError(f"the pools {key} are not in {folder}; start the sweep again")
        _REPLAYERS.clear()
        _REPLAYERS[key] = Replayer(pools)
    return number, run_block(_REPLAYERS[key], configs, metrics, seed)


def _processes(
    jobs: Sequence[Job], pools: Mapping[str, Pools], metrics: Sequence[str], seed: int, cores: int, store: PoolStore
) -> Iterator[tuple[Job, Block]]:
    from joblib import Parallel, delayed

    for part in pools.values():
        store.save(part)
    by_number = {job.number: job for job in jobs}
    tasks = (delayed(_stored)(job.number, job.pool_key, job.configs, metrics, seed, store.folder) for job in jobs)
    # batches of one, so that a block is on disk as soon as it is done
    runner = Parallel(n_jobs=cores, return_as="generator_unordered", batch_size=1, inner_max_num_threads=1)
    for number, block in runner(tasks):
        yield by_number[number], block


def _given(pools: Pools, number: int, configs: Sequence[AssemblyConfig], metrics: Sequence[str], seed: int) -> Any:
    """Runs on a cluster: the pools come with the task, so that machines need no common disk."""
    if pools.key not in _REPLAYERS:
        _REPLAYERS.clear()
        _REPLAYERS[pools.key] = Replayer(pools)
    return number, run_block(_REPLAYERS[pools.key], configs, metrics, seed)


def _hold(pools: Pools) -> Pools:
    return pools


def _dask(
    jobs: Sequence[Job], pools: Mapping[str, Pools], metrics: Sequence[str], seed: int, address: str
) -> Iterator[tuple[Job, Block]]:
    try:
        from dask.distributed import Client, as_completed
    except ModuleNotFoundError:
        raise ConfigError("the engine dask:// needs the package distributed; install context-workbench[cluster]") from None
    try:
        client: Any = cast(Any, Client)(f"tcp://{address}", timeout="10s", set_as_default=False)
    except (OSError, TimeoutError) as error:
        raise RunError(f"no Dask scheduler answers at {address}: {error}; start one, or leave --engine out") from None
    by_number = {job.number: job for job in jobs}
    with client:
        # submitted, not scattered: what a task made can be made again when its worker dies, scattered data cannot
        held = {key: client.submit(_hold, part, key=f"pools-{key}", pure=False) for key, part in pools.items()}
        futures = [
            client.submit(_given, held[job.pool_key], job.number, job.configs, list(metrics), seed, pure=False, retries=3)
            for job in jobs
        ]
        for future in cast(Any, as_completed)(futures, loop=client.loop):
            number, block = future.result()
            yield by_number[number], block
            future.release()
