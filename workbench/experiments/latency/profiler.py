"""``profile_latency``: stores x sizes x configurations, part by part, so that it can go on after an interruption."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from workbench.assembly.stages import PARTS
from workbench.config import AssemblyConfig
from workbench.data.judged import JudgedDataset
from workbench.embedding.cache import EmbeddingCache
from workbench.embedding.encoder import Encoder, load_encoder
from workbench.errors import ConfigError
from workbench.experiments.arms import dataset_config
from workbench.experiments.latency.cold import cold_start, summarise_cold
from workbench.experiments.latency.growth import fit_growth
from workbench.experiments.latency.measure import (
    Plan,
    Step,
    closed,
    open_arrivals,
    open_cell,
    prompts_only,
    side_by_side,
)
from workbench.experiments.latency.pairs import paired
from workbench.experiments.latency.profile import QS, CellKey, LatencyProfile
from workbench.experiments.latency.stages import add_up
from workbench.experiments.latency.stores import BANK, sized_store
from workbench.experiments.latency.tradeoff import CAPS, tradeoff
from workbench.experiments.latency.units import Units
from workbench.experiments.latency.verdict import LIMIT_MS, judge_limit
from workbench.experiments.manifest import Source
from workbench.experiments.percentile import describe
from workbench.experiments.poolstore import stage_version
from workbench.experiments.record import SCHEMA_VERSION

SIZES = (300, 3_000, 10_000)


def profile_latency(
    dataset: JudgedDataset,
    configs: Mapping[str, AssemblyConfig],
    *,
    sizes: Sequence[int] = SIZES,
    plan: Plan | None = None,
    encoder: Encoder | None = None,
    cache: EmbeddingCache | None = None,
    source: Source | None = None,
    cold: int = 0,
    cold_encoder: str = "bundled",
    limit_ms: float = LIMIT_MS,
    seed: int = 0,
    timed: bool = True,
    keep: str | Path | None = None,
    step: Step | None = None,
) -> LatencyProfile:
    """Time assemblies of the dataset's queries on stores of the given sizes under every configuration (name -> settings).

    All is real work, the query's embedding included; see ``sized_store`` for what the stores hold. cold: new processes that
    answer a first query (needs ``source``, which they load the dataset from, and the encoder's name). limit_ms: what the
    verdict is against. timed: False computes everything but times. keep: folder for finished parts; the same call with it
    goes on where an interrupted one was. step: told (what, how much) of each unit of work.

    Raises ConfigError for sizes that are none, DataError for a dataset without queries, RunError when the cold start fails.
    """
    plan = plan or Plan(embed_limit=20_000)
    if not sizes or not configs or plan.queries < 1:
        raise ConfigError(f"sizes is {list(sizes)!r}, configurations {list(configs)}: give at least one of each, and one query")
    cache, encoder, told = cache or EmbeddingCache(), encoder or load_encoder(), step or _silent
    effective = {name: dataset_config(dataset, config) for name, config in configs.items()}
    order = sorted(set(sizes))
    units = Units(keep, _identity(dataset, encoder, effective, plan))
    cells: list[dict[str, Any]] = []
    samples: dict[CellKey, dict[str, list[float]]] = {}
    points: list[dict[str, Any]] = []
    embedded = [size for size in order if size <= plan.embed_limit]
    for size in order:
        part = _Size(dataset, size, effective, plan, encoder, cache, units, told, timed)
        found, timings = part.run(limit_ms, seed)
        cells += found
        samples |= timings
        if embedded and size == embedded[-1]:
            points = part.tradeoff(next(iter(effective.values())))
    content: dict[str, Any] = {
        "schema_version": SCHEMA_VERSION,
        "dataset": dataset.name,
        "dataset_licence": dataset.licence,
        "encoder": encoder.name,
        "plan": {
            "queries": plan.queries,
            "warm_up": plan.warm_up,
            "distinct_queries": min(plan.queries, len(dataset.queries)),
            "embed_limit": plan.embed_limit,
        },
        "configs": {name: {"hash": config.hash, "config": config.to_dict()} for name, config in effective.items()},
        "cells": cells,
        "recall": points,
        "notes": _notes(cells, plan),
    }
    if timed:
        rows: list[dict[str, float]] = []
        if cold and source is not None:
            rows = units.get(
                "cold",
                lambda: cold_start(
                    source,
                    order[0],
                    encoder=cold_encoder,
                    embed_limit=plan.embed_limit,
                    repeats=cold,
                    step=lambda n: told("cold start", n),
                ),
                repeats=cold,
                size=order[0],
            )
        content["latency"] = {
            "cold": summarise_cold(rows),
            "cold_size": order[0] if rows else None,
            "growth": _growth(samples, list(effective), seed),
            "ab": _ab(samples, list(effective), order, seed),
            "limit_ms": limit_ms,
            "threads": _threads(),
        }
    return LatencyProfile(content=content, samples=samples)


class _Size:
    """The cells of one size; the store is compiled only if some part of them is not finished yet."""

    def __init__(
        self,
        dataset: JudgedDataset,
        size: int,
        configs: Mapping[str, AssemblyConfig],
        plan: Plan,
        encoder: Encoder,
        cache: EmbeddingCache,
        units: Units,
        step: Step,
        timed: bool,
    ) -> None:
        self.sized = sized_store(dataset, size, queries=plan.queries)
        self.configs, self.plan, self.encoder, self.cache = configs, plan, encoder, cache
        self.units, self.step, self.timed, self.size = units, step, timed, size
        self._opened: Any = None

    def _open(self) -> Any:
        if self._opened is None:
            self._opened = open_cell(self.sized, self.encoder, self.cache, self.plan.embed_limit, self.step)
        return self._opened

    def run(self, limit_ms: float, seed: int) -> tuple[list[dict[str, Any]], dict[CellKey, dict[str, list[float]]]]:
        """The cells in the order of the configurations, and their samples."""
        plan, sized, size = self.plan, self.sized, self.size
        facts = self.units.get(f"store-{size}", lambda: {"facts": self._open()[1], "seconds": self._open()[2]}, size=size)
        if not self.timed:
            prompts = prompts_only(self._open()[0], sized, self.configs, plan)
            cells = [{**facts["facts"], "config": name, "prompts": prompts[name]} for name in self.configs]
            return cells, {}
        loop = self.units.get(f"closed-{size}", lambda: closed(self._open()[0], sized, self.configs, plan, self.step), size=size)
        cells, samples = [], {}
        for name, config in self.configs.items():
            columns = loop["samples"][name]
            total = columns["total"]
            queue = self.units.get(
                f"open-{size}-{config.hash}",
                lambda c=config, t=total: open_arrivals(self._open()[0], sized, c, plan, t, self.step),  # type: ignore[misc]
                size=size,
                config=config.hash,
            )
            rows = self.units.get(
                f"threads-{size}-{config.hash}",
                lambda c=config: side_by_side(self._open()[0], sized, c, plan, self.step),  # type: ignore[misc]
                size=size,
                config=config.hash,
            )
            samples[(size, name)] = columns
            latency = {
                "stages": stage_table(columns, seed),
                "add_up_ms": add_up(columns),
                "limit": judge_limit(total, limit_ms=limit_ms).to_dict(),
                "compile_seconds": facts["seconds"],
                "load": loop["load"],
                "open": None
                if queue is None
                else {**queue, "latency": summary(queue["latency"], seed), "service": summary(queue["service"], seed)},
                "parallel": [{**row, "latency": summary(row["latency"], seed)} for row in rows],
            }
            cells.append({**facts["facts"], "config": name, "prompts": loop["prompts"][name], "latency": latency})
        return cells, samples

    def tradeoff(self, config: AssemblyConfig) -> list[dict[str, Any]]:
        """Latency against recall on this store."""
        caps = CAPS
        rows: list[dict[str, Any]] = self.units.get(
            f"recall-{self.size}",
            lambda: tradeoff(
                self.sized,
                config,
                self.encoder,
                self.cache,
                caps=caps,
                timed=self.timed,
                step=lambda n: self.step("recall", n),
            ),
            size=self.size,
            caps=list(caps),
            timed=self.timed,
        )
        return rows


def summary(samples: Sequence[float], seed: int) -> dict[str, Any]:
    """n, p50 to p99 with intervals, and the largest; None where there is no data."""
    return {**describe(samples, QS, seed=seed), "max": max(samples) if samples else None}


def stage_table(columns: Mapping[str, Sequence[float]], seed: int) -> dict[str, Any]:
    """Summary of every stage, the residual, the total, the total without embedding, and the processor time of the thread."""
    without = (np.asarray(columns["total"]) - np.asarray(columns["embed"])).tolist()
    return {
        **{name: summary(columns[name], seed) for name in (*PARTS, "total", "cpu")},
        "without embed": summary(without, seed),
    }


def _growth(samples: Mapping[CellKey, Mapping[str, Sequence[float]]], names: Sequence[str], seed: int) -> dict[str, Any]:
    out: dict[str, Any] = {}
    for name in names:
        whole = {size: columns["total"] for (size, config), columns in samples.items() if config == name}
        rest = {
            size: (np.asarray(columns["total"]) - np.asarray(columns["embed"])).tolist()
            for (size, config), columns in samples.items()
            if config == name
        }
        fits = {"total": fit_growth(whole, seed=seed), "without embed": fit_growth(rest, seed=seed)}
        out[name] = {kind: None if fit is None else fit.to_dict() for kind, fit in fits.items()}
    return out


def _ab(
    samples: Mapping[CellKey, Mapping[str, Sequence[float]]], names: Sequence[str], sizes: Sequence[int], seed: int
) -> list[dict[str, Any]]:
    """Every further configuration against the first, size by size."""
    return [
        {
            "size": size,
            **paired(samples[size, names[0]]["total"], samples[size, name]["total"], names=(names[0], name), seed=seed).to_dict(),
        }
        for size in sizes
        for name in names[1:]
    ]


def _identity(dataset: JudgedDataset, encoder: Encoder, configs: Mapping[str, AssemblyConfig], plan: Plan) -> dict[str, Any]:
    return {
        "dataset": dataset.checksum,
        "encoder": encoder.name,
        "configs": {name: config.hash for name, config in configs.items()},
        "plan": {**vars(plan), "concurrency": list(plan.concurrency)},
        "stages": stage_version(),
    }


def _notes(cells: Sequence[Mapping[str, Any]], plan: Plan) -> list[str]:
    notes = []
    filled = sorted({cell["size"] for cell in cells if cell["own_entries"] < cell["size"]})
    if filled:
        notes.append(
            f"stores of {', '.join(f'{size:,}' for size in filled)} entries hold a user's own, filled up with synthetic ones"
        )
    made_up = sorted({cell["size"] for cell in cells if cell["made_up_vectors"]})
    if made_up:
        notes.append(
            f"at {', '.join(f'{size:,}' for size in made_up)} entries layers over {plan.embed_limit:,} are not embedded but for "
            f"{BANK:,} texts: the others have MADE-UP vectors that resemble them (times are real, rankings there mean nothing)"
        )
    return notes


def _threads() -> dict[str, Any]:
    import faiss
    from threadpoolctl import threadpool_info

    return {
        "faiss": faiss.omp_get_max_threads(),
        "OMP_NUM_THREADS": os.environ.get("OMP_NUM_THREADS"),
        "pools": sorted({f"{pool['internal_api']} {pool['num_threads']}" for pool in threadpool_info()}),
    }


def _silent(_: str, __: int) -> None:
    return None
