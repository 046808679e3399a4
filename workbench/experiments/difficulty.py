"""How hard a judged dataset is, and whether its scenarios measure what they say: recall of reference rankings per scenario."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from workbench.assembly.assembler import Assembler
from workbench.assembly.fates import Fate
from workbench.config import AssemblyConfig
from workbench.data.judged import JudgedDataset, JudgedQuery
from workbench.data.synthetic.draft import Planted
from workbench.embedding.cache import EmbeddingCache
from workbench.embedding.encoder import Encoder, load_encoder
from workbench.errors import ConfigError, DataError
from workbench.experiments.ambiguity import ambiguities
from workbench.experiments.arms import dataset_config, embed_queries
from workbench.experiments.difficulty_arms import (
    ARMS,
    BM25,
    DRAWS,
    NEWEST,
    ORACLE,
    PRODUCTION,
    SECONDARY,
    Scene,
    assembled,
    outcomes_of,
    scenes,
    with_noise,
    without,
)
from workbench.experiments.difficulty_result import (
    COMPLETE,
    FEW,
    ORACLE_AT_LEAST,
    Difficulty,
    ScenarioDifficulty,
    SignalDependence,
)
from workbench.experiments.metrics import evaluate
from workbench.experiments.outcome import Outcome
from workbench.experiments.planted_pairs import check_pairs

__all__ = ["Difficulty", "ScenarioDifficulty", "SignalDependence", "clean_recall", "difficulty"]


def difficulty(
    dataset: JudgedDataset,
    encoder: Encoder | None = None,
    *,
    config: AssemblyConfig | None = None,
    users: int | None = None,
    planted: Sequence[Planted] = (),
    cache: EmbeddingCache | None = None,
    seed: int = 0,
    progress: Callable[[int], None] | None = None,
) -> Difficulty:
    """Measure ``dataset`` with random, newest-first, BM25, dense, fused, production and oracle rankings, per scenario.

    The budgets are those of ``config`` under the settings that the dataset brings (``dataset_config``); they are the
    cut-off, so they must be small enough to leave something out. users: measure only the first so many (None: all).
    planted: the labels of a generated set, to report what the conflict and duplicate stages make of its pairs; without
    them the judged pairs are reported. progress: told 1 a query. Raises DataError when there is nothing to measure,
    ConfigError for a bad ``users``.
    """
    if users is not None and (isinstance(users, bool) or not isinstance(users, int) or users < 1):
        raise ConfigError(f"users is {users!r}: must be a whole number of at least 1, or None for all")
    chosen = list(dataset.stores)[:users]
    inside = set(chosen)
    queries = [query for query in dataset.queries if query.user_id in inside and query.judged]
    if not queries:
        raise DataError(f"the dataset {dataset.name} has no judged queries to measure its difficulty with")
    settings = dataset_config(dataset, config or AssemblyConfig())
    encoder = encoder or load_encoder()
    cache = cache or EmbeddingCache()
    vectors = embed_queries(encoder, queries, cache)
    asked = [query for query in queries if query.relevant]
    values: dict[str, dict[str, float]] = {arm: {} for arm in ARMS}
    less: dict[str, dict[str, float]] = {signal: {} for signal in SECONDARY}
    noisy: dict[str, dict[str, float]] = {signal: {} for signal in SECONDARY}
    lost = {fate.label: 0 for fate in Fate}
    compiled: dict[str, Assembler] = {}
    for assembler, parts in scenes(dataset, queries, vectors, encoder, settings, cache, seed):
        compiled[assembler.store.user_id] = assembler
        for scene in parts:
            if progress is not None:
                progress(1)
            if not scene.query.relevant:
                continue
            _measure(scene, values, less, noisy)
            _count_lost(scene, lost)
    groups = list(dict.fromkeys(query.group for query in queries))
    return Difficulty(
        dataset=dataset.name,
        checksum=dataset.checksum,
        n_users=len(chosen),
        n_users_total=len(dataset.stores),
        n_queries=len(queries),
        budgets={name: getattr(settings.budgets, name) for name in ("soul", "memories", "episodes", "procedures", "total")},
        config_note=dataset.config_note,
        encoder=encoder.name,
        scenarios=tuple(_scenario(group, asked, values) for group in sorted(groups)),
        signal_dependence=tuple(
            _dependence(signal, asked, values[PRODUCTION], less[signal], noisy[signal]) for signal in SECONDARY
        ),
        lost=lost,
        pairs=check_pairs(dataset, compiled, settings, planted),
        ambiguous=tuple(item for item in ambiguities(dataset) if item.user_id in inside),
    )


def clean_recall(outcomes: Sequence[Outcome]) -> float:
    """Mean over outcomes of one query: recall in the context, 0 where it shows an entry that must not be there."""
    total = 0.0
    for outcome in outcomes:
        measured = evaluate([outcome], ("ContextRecall", "StaleExposure"))
        stale = float(np.nan_to_num(measured["StaleExposure"][0]))
        total += 0.0 if stale > 0 else float(measured["ContextRecall"][0])
    return total / len(outcomes)


def _measure(
    scene: Scene, values: dict[str, dict[str, float]], less: dict[str, dict[str, float]], noisy: dict[str, dict[str, float]]
) -> None:
    key, weights, pool = scene.query.id, scene.config.weights, scene.found.pool
    for arm in ARMS:
        values[arm][key] = clean_recall(outcomes_of(scene, arm))
    for signal in SECONDARY:
        less[signal][key] = clean_recall([assembled(scene, pool, without(weights, signal))])
        others = [name for name in SECONDARY if name != signal]
        noisy[signal][key] = clean_recall([assembled(scene, with_noise(scene, others, draw), weights) for draw in range(DRAWS)])


def _count_lost(scene: Scene, lost: dict[str, int]) -> None:
    shown = set(assembled(scene, scene.found.pool, scene.config.weights).selected)
    position = {scene.snapshot.ids[row]: at for at, row in enumerate(scene.found.retrieved.row.tolist())}
    for key in scene.query.relevant:
        if key in shown:
            fate = Fate.SELECTED
        elif key not in position:
            fate = Fate.NOT_RETRIEVED
        else:
            fate = Fate(int(scene.found.fate[position[key]])) if scene.found.fate[position[key]] else Fate.OVER_BUDGET
        lost[fate.label] += 1


def _mean(of: Mapping[str, float], queries: Sequence[JudgedQuery]) -> float:
    return sum(of[query.id] for query in queries) / len(queries)


def _scenario(group: str, queries: Sequence[JudgedQuery], values: Mapping[str, Mapping[str, float]]) -> ScenarioDifficulty:
    inside = [query for query in queries if query.group == group]
    if not inside:
        return ScenarioDifficulty(scenario=group, n=0, recall={}, broken=())
    recall = {arm: _mean(values[arm], inside) for arm in ARMS}
    broken = []
    if recall[BM25] >= COMPLETE:
        broken.append("BM25 alone answers it completely")
    if recall[NEWEST] >= COMPLETE:
        broken.append("newest-first alone answers it completely")
    if recall[ORACLE] < ORACLE_AT_LEAST:
        broken.append(f"the oracle reaches only {100 * recall[ORACLE]:.0f} %")
    if len(inside) < FEW:
        broken = [f"{reason} (of only {len(inside)} queries)" for reason in broken]
    return ScenarioDifficulty(scenario=group, n=len(inside), recall=recall, broken=tuple(broken))


def _dependence(
    signal: str,
    queries: Sequence[JudgedQuery],
    full: Mapping[str, float],
    less: Mapping[str, float],
    noisy: Mapping[str, float],
) -> SignalDependence:
    """The scenario that the signal decides: among those that hold (all, if none does) its namesake, else what loses most."""
    rows = []
    for group in dict.fromkeys(query.group for query in queries):
        inside = [query for query in queries if query.group == group]
        rows.append(
            SignalDependence(
                signal=signal,
                scenario=group,
                n=len(inside),
                recall=_mean(full, inside),
                without=_mean(less, inside),
                noisy=_mean(noisy, inside),
            )
        )
    return max(rows, key=lambda row: (row.holds, row.scenario == f"{signal}_decides", row.recall - row.without))
