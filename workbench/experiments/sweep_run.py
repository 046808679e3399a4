"""Sweeps and tunings as run folders."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from workbench.assembly.assembler import Assembler
from workbench.config import AssemblyConfig
from workbench.data.judged import JudgedDataset
from workbench.embedding.cache import EmbeddingCache
from workbench.embedding.encoder import Encoder
from workbench.errors import ConfigError
from workbench.experiments.ablation import ablate
from workbench.experiments.arms import measure_latency
from workbench.experiments.bayesian import Search, bayesian_search
from workbench.experiments.constraints import Choice, Goal
from workbench.experiments.identifiability import identifiability
from workbench.experiments.losses import losses
from workbench.experiments.manifest import Clock, Source, write_manifest
from workbench.experiments.metrics import evaluate
from workbench.experiments.pareto import marginal_recall, propose_split
from workbench.experiments.pools import search_key
from workbench.experiments.poolstore import PoolStore, build_pools, effective_config
from workbench.experiments.record import run_folder, write_json
from workbench.experiments.replay import Replayer
from workbench.experiments.replay_contexts import replay_contexts
from workbench.experiments.space import Space
from workbench.experiments.splits import note_test_use
from workbench.experiments.sweep import SWEEP_METRICS, Step, Sweep, discard_partial, partial_folder, points_of, sweep
from workbench.experiments.tuning import CrossTuning, Tuning, leave_one_user_out, params_of, tune

BY = ("user", "split")


def space_to_dict(space: Space | Search) -> dict[str, Any]:
    """A space as JSON: order of the grid included. Raises ConfigError for weights that are given as a list."""
    if isinstance(space, Search):
        return space.to_dict()
    if space.weights is not None and not isinstance(space.weights, str):
        raise ConfigError("a recorded sweep needs its weights as a plan, such as lattice:10")
    grid = [[name, list(values)] for name, values in space.grid.items()]
    return {"base": space.base.to_record(), "weights": space.weights, "grid": grid}


def space_from_dict(row: Mapping[str, Any]) -> Space | Search:
    """The inverse of ``space_to_dict``."""
    if "search" in row:
        return Search.from_dict(row)
    return Space(base=AssemblyConfig.from_record(row["base"]), weights=row["weights"], grid=dict(row["grid"]))


def search_latency(
    dataset: JudgedDataset, space: Space, encoder: Encoder, *, sample: int, cache: EmbeddingCache | None = None
) -> dict[str, float]:
    """p95 of a whole assembly in ms, embedding included, per ``search_key``: one configuration of each kind is timed,
    interleaved."""
    configs: dict[str, AssemblyConfig] = {}
    for _, config in points_of(dataset, space, encoder):
        configs.setdefault(search_key(config), config)
    assemblers = {user: Assembler(store, encoder=encoder, cache=cache) for user, store in dataset.stores.items()}
    samples = measure_latency(dataset, configs, assemblers, sample=sample)
    return {key: float(np.percentile(timed["total"], 95)) for key, timed in samples.items()}


def sweep_run(
    source: Source,
    space: Space | Search,
    encoder: Encoder,
    *,
    out: str | Path,
    goal: str = "max ContextRecall",
    total: int | None = None,
    metrics: Iterable[str] = SWEEP_METRICS,
    latency: Mapping[str, float] | int = 0,
    engine: str = "auto",
    block: int | None = None,
    seed: int = 0,
    cache: EmbeddingCache | None = None,
    store: PoolStore | None = None,
    step: Step | None = None,
) -> tuple[Sweep, Choice]:
    """A sweep with what it says about its best row, written as a run folder.

    space: every point of a Space, or a Search for a good one. goal: see ``constraints.Goal``. total: also propose a split of that
    many tokens over the tiers. latency: how many queries to time per search setting, or the p95 already measured. Finished blocks
    lie in ``<out>.partial`` until the folder is complete.
    """
    clock = Clock()
    names = Goal.parse(goal).measured_in(metrics)
    dataset = source.load()
    settings = {"space": space_to_dict(space), "goal": goal, "total": total, "metrics": names}
    timed = latency if isinstance(latency, Mapping) else None
    if isinstance(space, Search) and latency:
        raise ConfigError("a search is not timed; leave latency out, or sweep a grid")
    if isinstance(latency, int) and latency > 0 and isinstance(space, Space):
        timed = search_latency(dataset, space, encoder, sample=latency, cache=cache)
    partial = partial_folder(out)
    with run_folder(Path(out)) as folder:
        shared: dict[str, Any] = {
            "metrics": names, "partial": partial, "engine": engine, "block": block, "seed": seed, "cache": cache, "store": store,
            "step": step,
        }  # fmt: skip
        if isinstance(space, Search):
            result = bayesian_search(dataset, space, encoder, goal=goal, **shared)
        else:
            result = sweep(dataset, space, encoder, latency=timed, **shared)
        choice = result.best(goal, near=space.base)
        result.save(folder)
        config = result.configs[choice.row]
        replayer = Replayer(build_pools(dataset, config, encoder, cache=cache, store=store, as_is=True))
        contexts = replay_contexts(replayer, config)
        lost = losses(
            dataset, contexts.fates(), [contexts.selected(at) for at in range(len(dataset.queries))], arm="the chosen row"
        )
        signals = identifiability(replayer, config, dataset=dataset.name)
        parts: list[Any] = [result, choice, signals, lost, marginal_recall(replayer, config, seed=seed)]
        content = {
            "goal": str(choice.goal),
            "feasible": choice.feasible,
            "row": choice.row,
            "params": params_of(result, choice.row),
            "values": choice.values,
            "ties": choice.ties,
            "config": config.to_dict(),
            "front": [int(row) for row in result.front().index] if {"ContextRecall", "Tokens"} <= set(names) else [],
            "signals": signals.to_dict(),
            "losses": lost.to_dict()["rows"],
            "marginal": list(parts[4].rows),
        }
        if total is not None:
            split = propose_split(replayer, config, total)
            parts.append(split)
            content["split"] = {
                "total": total,
                "soul": split.soul,
                "budgets": split.budgets,
                "recall": split.recall,
                "tokens": split.tokens,
            }
        write_json(folder / "metrics.json", content)
        (folder / "summary.txt").write_text("\n\n".join(map(str, parts)) + "\n", encoding="utf-8")
        write_manifest(folder, "sweep", dataset, source, encoder.name, clock, seed=seed, settings={**settings, "latency": timed})
    discard_partial(partial)
    return result, choice


def tuning_run(
    source: Source,
    space: Space,
    encoder: Encoder,
    *,
    out: str | Path,
    by: str = "user",
    goal: str = "max ContextRecall",
    metrics: Iterable[str] = SWEEP_METRICS,
    engine: str = "auto",
    seed: int = 0,
    cache: EmbeddingCache | None = None,
    store: PoolStore | None = None,
    step: Step | None = None,
) -> Tuning | CrossTuning:
    """Tune over ``space`` against ``space.base``: ``by`` user leaves one user out at a time, ``by`` split uses train,
    validation and a locked test. Written as a run folder with the ablation of each signal."""
    clock = Clock()
    if by not in BY:
        raise ConfigError(f"by is {by!r}: must be one of {', '.join(BY)}")
    if source.part is not None:
        raise ConfigError("tuning splits the users itself; leave the part of the source out")
    names = Goal.parse(goal).measured_in(metrics)
    dataset = source.load()
    partial = partial_folder(out)
    with run_folder(Path(out)) as folder:
        swept = sweep(
            dataset, space, encoder, metrics=names, partial=partial, engine=engine, seed=seed, cache=cache, store=store, step=step
        )
        base = effective_config(dataset, space.base, encoder)
        replayer = Replayer(build_pools(dataset, base, encoder, cache=cache, store=store, as_is=True))
        baseline = evaluate(replayer.facts(replayer.counts([base]), 0), names)
        signals = identifiability(replayer, base, dataset=dataset.name)
        result: Tuning | CrossTuning
        if by == "user":
            result = leave_one_user_out(swept, baseline, goal=goal, near=base, signals=signals, seed=seed)
        else:
            result = tune(swept, baseline, source.split(dataset), goal=goal, near=base, signals=signals, seed=seed)
            note_test_use(result.split, {"arms": sorted([base.hash, result.config.hash])})
        ablation = ablate(replayer, base, metrics=(Goal.parse(goal).metric,), dataset=dataset.name, seed=seed)
        swept.save(folder)
        result.comparison.save(folder / "comparison.json")
        write_json(folder / "metrics.json", {"by": by, "tuning": result.to_dict(), "ablation": ablation.to_dict()})
        (folder / "summary.txt").write_text(f"{result}\n\nablation: {ablation}\n", encoding="utf-8")
        settings = {"space": space_to_dict(space), "goal": goal, "by": by, "metrics": names}
        write_manifest(folder, "tune", dataset, source, encoder.name, clock, seed=seed, settings=settings)
    discard_partial(partial)
    return result
