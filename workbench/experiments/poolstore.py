"""Pools on disk, by the hash of everything they were made from. A pool set is written whole or not at all, and never wrong."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from workbench.assembly.conflict_rules import RuleConflictTest
from workbench.assembly.conflict_test import ConflictTest
from workbench.config import AssemblyConfig
from workbench.data.judged import JudgedDataset
from workbench.embedding.cache import EmbeddingCache
from workbench.embedding.calibration import closed
from workbench.embedding.encoder import Encoder
from workbench.experiments.arms import dataset_config, embed_queries
from workbench.experiments.build import build
from workbench.experiments.pools import Pools, from_arrays, search_key, search_settings, to_arrays
from workbench.paths import cache_dir
from workbench.text.analysis import ANALYSIS_VERSION

POOL_SCHEMA = 1
UNUSED_SECONDS = 86_400.0
# a change in any of these files may change a pool
_STAGE_SOURCES = (
    "assembly/*.py",
    "search/*.py",
    "store/snapshot.py",
    "text/*.py",
    "entries.py",
    "experiments/build.py",
    "experiments/outcome.py",
)


@cache
def stage_version() -> str:
    """16 hex digits over the source of every stage before scoring and of the builder of pools."""
    root = Path(__file__).parents[1]
    digest = hashlib.sha256()
    for pattern in _STAGE_SOURCES:
        for path in sorted(root.glob(pattern)):
            digest.update(path.relative_to(root).as_posix().encode())
            digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def dataset_digest(dataset: JudgedDataset) -> str:
    """SHA-256 over every entry, query and judgement as loaded, whatever the file they came from."""
    digest = hashlib.sha256()
    for user_id, store in dataset.stores.items():
        digest.update(json.dumps([user_id, store.fingerprint]).encode())
    for query in dataset.queries:
        row = [
            query.id, query.user_id, query.query, query.now.isoformat(), list(query.relevant.items()), query.forbidden,
            query.duplicates, query.group, query.lang, query.answerable, query.judged,
        ]  # fmt: skip
        digest.update(json.dumps(row).encode())
    return digest.hexdigest()


def effective_config(dataset: JudgedDataset, config: AssemblyConfig, encoder: Encoder) -> AssemblyConfig:
    """``config`` under the dataset's own settings, with the encoder's numbers where both leave them open."""
    return closed(dataset_config(dataset, config), encoder)


def pool_key(dataset: JudgedDataset, config: AssemblyConfig, encoder: Encoder, conflict_test: ConflictTest) -> str:
    """32 hex digits; equal keys mean equal pools. ``config`` must be effective."""
    identity = {
        "schema": POOL_SCHEMA,
        "dataset": dataset_digest(dataset),
        "encoder": encoder.name,
        "settings": search_settings(config),
        "analysis": ANALYSIS_VERSION,
        "conflict_test": conflict_test.name,
        "stages": stage_version(),
    }
    return hashlib.sha256(json.dumps(identity, sort_keys=True, allow_nan=False).encode()).hexdigest()[:32]


class PoolStore:
    """Pool sets under ``folder`` (default: the user's cache directory), one directory each; safe to delete at any time.

    limit: bytes that the folder may take. When a new set is saved beyond it, those unused for longest go, but none that was used
    within the last day: a running sweep may still need it.
    """

    def __init__(self, folder: str | Path | None = None, *, limit: int = 4 * 2**30) -> None:
        self.folder = Path(folder) if folder is not None else cache_dir() / "pools"
        self.limit = limit

    def load(self, key: str) -> Pools | None:
        """The pools of a key, or None when there are none. A damaged set is removed: it is cheap to build again."""
        home = self.folder / key
        try:
            meta = json.loads((home / "meta.json").read_text(encoding="utf-8"))
            arrays = {}
            for name, sha in meta["arrays"].items():
                data = (home / f"{name}.npy").read_bytes()
                if hashlib.sha256(data).hexdigest() != sha:
                    raise ValueError(f"{name} is damaged")
                arrays[name] = np.load(home / f"{name}.npy", allow_pickle=False)
            os.utime(home / "meta.json")
            return from_arrays(meta["texts"], arrays)
        except FileNotFoundError:
            return None
        except (OSError, ValueError, KeyError, TypeError):
            shutil.rmtree(home, ignore_errors=True)
            return None

    def save(self, pools: Pools) -> None:
        """Write a pool set; does nothing when the key is there already."""
        home = self.folder / pools.key
        if (home / "meta.json").is_file():
            return
        self.folder.mkdir(parents=True, exist_ok=True)
        work = Path(tempfile.mkdtemp(prefix=".making-", dir=self.folder))
        try:
            texts, arrays = to_arrays(pools)
            shas = {}
            for name, array in arrays.items():
                np.save(work / f"{name}.npy", array, allow_pickle=False)
                shas[name] = hashlib.sha256((work / f"{name}.npy").read_bytes()).hexdigest()
            meta = json.dumps({"texts": texts, "arrays": shas}, allow_nan=False)
            (work / "meta.json").write_text(meta, encoding="utf-8")
            # another process may have been first; its set is the same
            with suppress(OSError):
                os.rename(work, home)
        finally:
            shutil.rmtree(work, ignore_errors=True)
        self._prune()

    def _prune(self) -> None:
        """Remove sets beyond the limit; what another process removes at the same time is no error."""
        sets = []
        for meta in self.folder.glob("*/meta.json"):
            with suppress(OSError):
                size = sum(path.stat().st_size for path in meta.parent.iterdir())
                sets.append((meta.stat().st_mtime, meta.parent.name, size))
        sets.sort()
        total, newest = sum(size for _, _, size in sets), time.time() - UNUSED_SECONDS
        for used, name, size in sets:
            if total <= self.limit or used > newest:
                break
            shutil.rmtree(self.folder / name, ignore_errors=True)
            total -= size


def build_pools(
    dataset: JudgedDataset,
    config: AssemblyConfig,
    encoder: Encoder,
    *,
    conflict_test: ConflictTest | None = None,
    cache: EmbeddingCache | None = None,
    store: PoolStore | None = None,
    step: Callable[[int], None] | None = None,
    as_is: bool = False,
) -> Pools:
    """The pools of every query of ``dataset`` under ``config``, from ``store`` (default: the cache directory) if they are there.

    The dataset's own settings apply, as everywhere; replay them with ``effective_config(dataset, config, encoder)``. as_is: they
    do not, because ``config`` is effective already (applied twice, they would undo a setting that was varied to its default).
    """
    config = config if as_is else effective_config(dataset, config, encoder)
    keys, found = pools_for(dataset, [config], encoder, conflict_test=conflict_test, cache=cache, store=store, step=step)
    return found[keys[0]]


def pools_for(
    dataset: JudgedDataset,
    configs: Iterable[AssemblyConfig],
    encoder: Encoder,
    *,
    conflict_test: ConflictTest | None = None,
    cache: EmbeddingCache | None = None,
    store: PoolStore | None = None,
    step: Callable[[int], None] | None = None,
) -> tuple[list[str], Mapping[str, Pools]]:
    """The pool key of each configuration, and the pools of each key. Those that are missing are built together and stored.

    configs: as they are to be run; the dataset's own settings are not applied (see ``effective_config``). step: told 1 after each
    query that is searched for; never called when everything is there.
    """
    test: ConflictTest = conflict_test if conflict_test is not None else RuleConflictTest()
    store = store if store is not None else PoolStore()
    cache = cache if cache is not None else EmbeddingCache()
    keys: list[str] = []
    wanted: dict[str, AssemblyConfig] = {}
    known: dict[str, str] = {}
    for config in configs:
        effective = closed(config, encoder)
        settings = search_key(effective)
        if settings not in known:
            known[settings] = pool_key(dataset, effective, encoder, test)
        keys.append(known[settings])
        wanted.setdefault(known[settings], effective)
    found: dict[str, Pools] = {}
    for key in wanted:
        pools = store.load(key)
        if pools is not None:
            found[key] = pools
    missing: dict[str, Any] = {key: config for key, config in wanted.items() if key not in found}
    if missing:
        vectors = embed_queries(encoder, dataset.queries, cache)
        made = build(dataset, missing, encoder, vectors, conflict_test=test, cache=cache, step=step)
        for key, pools in made.items():
            store.save(pools)
            found[key] = pools
    return keys, found
