"""The verbs: compare, sweep, tune, profile_latency, report and the like. Thin: they load what is named and hand it on.

Everywhere, ``dataset`` is a name, a folder, or a ``JudgedDataset``; a configuration is a preset's name, the path of a TOML or
JSON file, or an ``AssemblyConfig``; ``out`` is the run folder to write (None: nothing is written; a written run must be loadable
again, so it takes its dataset by name or folder). ``data`` is the local file of a public dataset.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.config import AssemblyConfig, load_config
from workbench.errors import ConfigError
from workbench.progress import progress_steps

if TYPE_CHECKING:
    from workbench.data.judged import JudgedDataset
    from workbench.embedding.encoder import Encoder
    from workbench.experiments.ab import ABResult
    from workbench.experiments.conflict_eval import ConflictEvaluation
    from workbench.experiments.difficulty_result import Difficulty
    from workbench.experiments.latency.profile import LatencyProfile
    from workbench.experiments.manifest import Source
    from workbench.experiments.pareto import Marginal, Split
    from workbench.experiments.replay import Replayer
    from workbench.experiments.sweep_table import Sweep
    from workbench.experiments.tuning import CrossTuning, Tuning

Config = str | os.PathLike[str] | AssemblyConfig


def compare(
    *arms: Config | Mapping[str, Config],
    dataset: str | os.PathLike[str] | JudgedDataset = "starter",
    data: str | os.PathLike[str] | None = None,
    out: str | os.PathLike[str] | None = None,
    split: str | None = None,
    latency_sample: int = 200,
    seed: int = 0,
    encoder: str | Encoder = "bundled",
    progress: bool = True,
    **options: Any,
) -> ABResult:
    """Configurations on the same judged queries; the first is the baseline.

    arms: configurations, or mappings from names to them: ``compare("production", {"recency up": config})``; an AssemblyConfig
    needs a name. split: only users of ``train``, ``validation`` or ``test``. latency_sample: queries timed per arm, interleaved.
    options: ``metrics`` and ``primary`` as in ``experiments.ab.compare``. Raises ConfigError for arms without a name or with the
    same one.
    """
    from workbench.experiments.ab import ab_run
    from workbench.experiments.ab import compare as compare_arms

    named = [pair for arm in arms for pair in _named(arm)]
    source, judged = _source(dataset, data, split, out)
    totals = {"assemble": len(judged.queries), "compile": len(judged.stores), "time": None}
    shared: dict[str, Any] = {"seed": seed, "latency_sample": latency_sample, **options}
    with progress_steps(progress, totals) as step:
        if out is None:
            return compare_arms(judged, named, _encoder(encoder), step=step, **shared)
        return ab_run(_known(source), named, _encoder(encoder), out=Path(out), dataset=judged, step=step, **shared)


def sweep(
    *,
    dataset: str | os.PathLike[str] | JudgedDataset = "starter",
    weights: str | None = None,
    grid: Mapping[str, Sequence[Any]] | None = None,
    base: Config = "production",
    data: str | os.PathLike[str] | None = None,
    out: str | os.PathLike[str] | None = None,
    split: str | None = None,
    seed: int = 0,
    encoder: str | Encoder = "bundled",
    progress: bool = True,
    **options: Any,
) -> Sweep:
    """Many configurations on the judged queries, replayed from cached pools.

    weights: ``lattice:10``, ``dirichlet:500`` or None. grid: setting -> values, such as ``{"budgets.memories": [500, 1000]}``;
    the sweep is the product of both. options: as in ``experiments.sweep.sweep`` (``metrics``, ``engine``, ``block``), with
    ``out`` also ``goal`` and ``total`` as in ``experiments.sweep_run.sweep_run``. Raises ConfigError for a point that cannot be.
    """
    from workbench.experiments.space import Space
    from workbench.experiments.sweep import sweep as run_sweep
    from workbench.experiments.sweep_run import sweep_run

    space = Space(base=_config(base), weights=weights, grid=dict(grid or {}))
    source, judged = _source(dataset, data, split, out)
    with progress_steps(progress, {"rows": len(space.points()), "pools": None}) as step:
        if out is None:
            return run_sweep(judged, space, _encoder(encoder), seed=seed, step=step, **options)
        return sweep_run(_known(source), space, _encoder(encoder), out=Path(out), seed=seed, step=step, **options)[0]


def tune(
    *,
    dataset: str | os.PathLike[str] = "starter",
    weights: str | None = "lattice:10",
    grid: Mapping[str, Sequence[Any]] | None = None,
    base: Config = "production",
    by: str = "user",
    goal: str = "max ContextRecall",
    data: str | os.PathLike[str] | None = None,
    out: str | os.PathLike[str],
    seed: int = 0,
    encoder: str | Encoder = "bundled",
    progress: bool = True,
    **options: Any,
) -> Tuning | CrossTuning:
    """Choose on some users, report on others.

    by: ``user`` leaves one user out at a time, ``split`` uses a train, a validation and a locked test part. Always written to
    ``out``, because a test part is only unseen once. Other arguments as in ``sweep``.
    """
    from workbench.experiments.space import Space
    from workbench.experiments.sweep_run import tuning_run

    space = Space(base=_config(base), weights=weights, grid=dict(grid or {}))
    source, _ = _source(dataset, data, None, out)
    with progress_steps(progress, {"rows": len(space.points()), "pools": None}) as step:
        return tuning_run(
            _known(source), space, _encoder(encoder), out=Path(out), by=by, goal=goal, seed=seed, step=step, **options
        )


def difficulty(
    dataset: str | os.PathLike[str] | JudgedDataset,
    *,
    users: int | None = None,
    seed: int = 0,
    encoder: str | Encoder = "bundled",
    progress: bool = True,
    **options: Any,
) -> Difficulty:
    """How hard a judged dataset is, per scenario: recall of random, newest-first, BM25, dense, fused, production and an oracle.

    users: measure a sample of so many. options: as in ``experiments.difficulty.difficulty`` (``planted``, ``config``, ``cache``).
    """
    from workbench.experiments.difficulty import difficulty as measure

    _, judged = _source(dataset, None, None, None)
    with progress_steps(progress, {"queries": None}) as step:
        return measure(judged, _encoder(encoder), users=users, seed=seed, progress=lambda n: step("queries", n), **options)


def marginal_recall(
    *,
    dataset: str | os.PathLike[str] | JudgedDataset = "starter",
    config: Config = "production",
    data: str | os.PathLike[str] | None = None,
    seed: int = 0,
    encoder: str | Encoder = "bundled",
    progress: bool = True,
) -> Marginal:
    """What each next 100 tokens of a tier's budget buy in context recall, the other tiers as they are."""
    from workbench.experiments.pareto import marginal_recall as measure

    replayer, effective = _replayer(dataset, data, config, encoder, progress)
    return measure(replayer, effective, seed=seed)


def propose_split(
    total: int,
    *,
    dataset: str | os.PathLike[str] | JudgedDataset = "starter",
    config: Config = "production",
    data: str | os.PathLike[str] | None = None,
    encoder: str | Encoder = "bundled",
    progress: bool = True,
) -> Split:
    """The split of ``total`` tokens over the tiers that reaches the highest context recall on these queries."""
    from workbench.experiments.pareto import propose_split as propose

    replayer, effective = _replayer(dataset, data, config, encoder, progress)
    return propose(replayer, effective, total)


def profile_latency(
    *arms: Config | Mapping[str, Config],
    dataset: str | os.PathLike[str] | JudgedDataset = "starter",
    sizes: Sequence[int] = (300, 3_000),
    queries: int = 100,
    data: str | os.PathLike[str] | None = None,
    seed: int = 0,
    encoder: str | Encoder = "bundled",
    progress: bool = True,
    **options: Any,
) -> LatencyProfile:
    """Time whole assemblies on stores of the given sizes, production by default; arms as in ``compare``.

    options: as in ``experiments.latency.profiler.profile_latency`` (``cold``, ``limit_ms``, ``keep``).
    """
    from workbench.experiments.latency.measure import Plan
    from workbench.experiments.latency.profiler import profile_latency as measure

    configs = dict(pair for arm in arms or ("production",) for pair in _named(arm))
    source, judged = _source(dataset, data, None, None)
    with progress_steps(progress, {}) as step:
        return measure(
            judged, configs, sizes=sizes, plan=Plan(queries=queries), encoder=_encoder(encoder), source=source, seed=seed,
            step=step, **options,
        )  # fmt: skip


def report(
    *runs: str | os.PathLike[str],
    out: str | os.PathLike[str] = "report.html",
    data: str | os.PathLike[str] | None = None,
) -> Path:
    """Write one self-contained HTML report of run folders and return its path; several begin with an overview.

    data: local file of a public dataset, for prompts of flipped queries where the licence lets them be shown. Raises RunError for
    a folder that is no run.
    """
    from workbench.reports.html import render, write_text
    from workbench.reports.run_pages import document_of

    return write_text(Path(out), render(document_of([Path(run) for run in runs], data=None if data is None else Path(data))))


def evaluate_conflicts(
    pairs: str | os.PathLike[str], *, encoder: str | Encoder | None = "bundled", **options: Any
) -> ConflictEvaluation:
    """The contradiction test on labelled pairs of statements (JSONL: a, b, label, kind, lang), and the band of an encoder."""
    from workbench.experiments.conflict_eval import evaluate_conflicts as evaluate

    return evaluate(pairs, encoder=None if encoder is None else _encoder(encoder), **options)


def _replayer(
    dataset: str | os.PathLike[str] | JudgedDataset,
    data: str | os.PathLike[str] | None,
    config: Config,
    encoder: str | Encoder,
    progress: bool,
) -> tuple[Replayer, AssemblyConfig]:
    from workbench.experiments.poolstore import build_pools, effective_config
    from workbench.experiments.replay import Replayer

    _, judged = _source(dataset, data, None, None)
    loaded = _encoder(encoder)
    effective = effective_config(judged, _config(config), loaded)
    with progress_steps(progress, {"pools": len(judged.queries)}) as step:
        pools = build_pools(judged, effective, loaded, step=lambda n: step("pools", n), as_is=True)
    return Replayer(pools), effective


def _config(config: Config) -> AssemblyConfig:
    return config if isinstance(config, AssemblyConfig) else load_config(os.fspath(config))


def _named(arm: Config | Mapping[str, Config]) -> Iterator[tuple[str, AssemblyConfig]]:
    if isinstance(arm, Mapping):
        for name, config in arm.items():
            yield name, _config(config)
    elif isinstance(arm, AssemblyConfig):
        raise ConfigError('an AssemblyConfig needs a name as an arm; write {"my name": config}')
    else:
        text = os.fspath(arm)
        yield (Path(text).stem if text.endswith((".toml", ".json")) else text), load_config(text)


def _source(
    dataset: str | os.PathLike[str] | JudgedDataset,
    data: str | os.PathLike[str] | None,
    split: str | None,
    out: str | os.PathLike[str] | None,
) -> tuple[Source | None, JudgedDataset]:
    from workbench.data.judged import JudgedDataset
    from workbench.experiments.manifest import Source
    from workbench.experiments.splits import restrict, split_users

    if isinstance(dataset, JudgedDataset):
        if out is not None:
            raise ConfigError(
                "a run that is written must be loadable again; save the dataset with save_directory(dataset, folder) "
                "and give the folder, or leave out= away"
            )
        judged = dataset if split is None else restrict(dataset, split_users(dataset.stores).of(split))
        return None, judged
    source = Source(name=os.fspath(dataset), part=split, data=None if data is None else Path(data))
    return source, source.load()


def _known(source: Source | None) -> Source:
    if source is None:
        raise ConfigError("this needs a dataset by name or folder")
    return source


def _encoder(encoder: str | Encoder) -> Encoder:
    from workbench.embedding.encoder import load_encoder

    return load_encoder(encoder) if isinstance(encoder, str) else encoder
