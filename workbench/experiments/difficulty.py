"""How hard a judged dataset is, and whether its scenarios measure what they say: recall of reference rankings per scenario."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from workbench.assembly.assembler import Assembler
from workbench.assembly.fates import Fate
from workbench.config import AssemblyConfig
from workbench.data.judged import JudgedDataset, JudgedQuery
from workbench.data.synthetic.draft import Planted
from workbench.embedding.cache import EmbeddingCache
from workbench.embedding.encoder import Encoder, load_encoder
from workbench.errors import ConfigError, DataError
from workbench.experiments.ambiguity import Ambiguity, ambiguities
from workbench.experiments.arms import dataset_config, embed_queries
from workbench.experiments.difficulty_arms import (
    ARMS,
    BM25,
    DRAWS,
    NEWEST,
    NOISE,
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
from workbench.experiments.metrics import evaluate
from workbench.experiments.outcome import Outcome
from workbench.experiments.planted_pairs import PairCheck, check_pairs

if TYPE_CHECKING:
    import pandas as pd

COMPLETE = 0.995
"""Clean recall from which an arm is said to answer a scenario completely."""
ORACLE_AT_LEAST = 0.95
LOSS = 0.15
"""Recall that must be lost without a signal for the scenario to depend on it."""


@dataclass(frozen=True, kw_only=True)
class ScenarioDifficulty:
    """One scenario. n: queries with an answer. recall: arm -> clean recall in [0, 1], empty when n is 0. broken: why it measures nothing."""

    scenario: str
    n: int
    recall: Mapping[str, float]
    broken: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class SignalDependence:
    """Whether a secondary signal decides its scenario.

    recall: with production weights. without: its weight 0. noisy: noise on the other three secondary signals. holds: ``without`` loses
    at least ``LOSS`` and ``noisy`` does not.
    """

    signal: str
    scenario: str
    n: int
    recall: float
    without: float
    noisy: float

    @property
    def holds(self) -> bool:
        return self.recall - self.without >= LOSS > self.recall - self.noisy


@dataclass(frozen=True, eq=False, kw_only=True)
class Difficulty:
    """How hard a dataset is. ``str()`` prints the tables.

    Recall is *clean*: relevant statements in the assembled context / relevant statements, and 0 for a query whose context shows an
    entry that must not be there. lost: what became of the relevant entries under production weights. pairs: what conflict
    and duplicate stages make of pairs with a known relation.
    """

    dataset: str
    checksum: str
    n_users: int
    n_users_total: int
    n_queries: int
    budgets: Mapping[str, int | None]
    config_note: str
    encoder: str
    scenarios: tuple[ScenarioDifficulty, ...]
    signal_dependence: tuple[SignalDependence, ...]
    lost: Mapping[str, int]
    pairs: tuple[PairCheck, ...]
    ambiguous: tuple[Ambiguity, ...]

    @property
    def problems(self) -> tuple[str, ...]:
        """Everything that is wrong with the dataset, in words; empty if nothing is."""
        out = [f"{row.scenario}: {reason}" for row in self.scenarios for reason in row.broken]
        for row in self.signal_dependence:
            if not row.holds:
                out.append(
                    f"{row.signal}: in {row.scenario} recall is {row.recall:.2f}, without the signal {row.without:.2f}, "
                    f"with noise on the others {row.noisy:.2f}; the signal does not decide"
                )
        return (*out, *(f"ambiguous: {item}" for item in self.ambiguous))

    def to_dataframe(self) -> pd.DataFrame:
        """One row per scenario: scenario, n, one column per arm (NaN where n is 0), broken."""
        import pandas as pd

        rows = [
            {"scenario": row.scenario, "n": row.n, **{arm: row.recall.get(arm) for arm in ARMS}, "broken": "; ".join(row.broken)}
            for row in self.scenarios
        ]
        frame = pd.DataFrame(rows, columns=["scenario", "n", *ARMS, "broken"])
        return frame.astype(dict.fromkeys(ARMS, "float64"))

    def to_dict(self) -> dict[str, Any]:
        """Everything as strict JSON values."""
        return {
            "dataset": self.dataset,
            "checksum": self.checksum,
            "n_users": self.n_users,
            "n_users_total": self.n_users_total,
            "n_queries": self.n_queries,
            "budgets": dict(self.budgets),
            "config_note": self.config_note,
            "encoder": self.encoder,
            "measure": "clean context recall",
            "scenarios": [
                {"scenario": row.scenario, "n": row.n, "recall": dict(row.recall), "broken": list(row.broken)}
                for row in self.scenarios
            ],
            "noise": NOISE,
            "signal_dependence": [
                {
                    "signal": row.signal, "scenario": row.scenario, "n": row.n, "recall": row.recall, "without": row.without,
                    "noisy": row.noisy, "holds": row.holds,
                }
                for row in self.signal_dependence
            ],
            "lost": dict(self.lost),
            "pairs": [row.to_dict() for row in self.pairs],
            "ambiguous": [str(item) for item in self.ambiguous],
            "problems": list(self.problems),
        }  # fmt: skip

    def __str__(self) -> str:
        shown = f"{self.n_users} of {self.n_users_total} users" if self.n_users < self.n_users_total else f"{self.n_users} users"
        budgets = ", ".join(f"{tier} {tokens}" for tier, tokens in self.budgets.items() if tokens is not None)
        lines = [
            f"difficulty of {self.dataset}: {shown}, {self.n_queries} queries; clean recall in the assembled context, in per cent",
            f"token budgets: {budgets}; encoder {self.encoder}",
            "",
            f"{'scenario':<22}{'n':>5}" + "".join(f"{arm:>12}" for arm in ARMS),
        ]
        for row in self.scenarios:
            cells = "".join(f"{100 * row.recall[arm]:>12.1f}" if row.n else f"{'-':>12}" for arm in ARMS)
            lines.append(f"{row.scenario:<22}{row.n:>5}{cells}" + (f"  broken: {'; '.join(row.broken)}" if row.broken else ""))
        lines += ["", f"signals: production weights, the signal's weight 0, noise of +-{NOISE:g} on the other secondary signals"]
        lines.append(f"{'signal':<12}{'scenario':<22}{'n':>5}{'all':>8}{'without':>9}{'noisy':>8}")
        for dep in self.signal_dependence:
            lines.append(
                f"{dep.signal:<12}{dep.scenario:<22}{dep.n:>5}{100 * dep.recall:>8.1f}{100 * dep.without:>9.1f}"
                f"{100 * dep.noisy:>8.1f}" + ("" if dep.holds else "  does not decide")
            )
        if self.pairs:
            lines += ["", "pairs with a known relation:", *(f"  {row}" for row in self.pairs)]
        fates = ", ".join(f"{label} {count}" for label, count in self.lost.items() if count)
        lines += ["", f"relevant entries under production weights: {fates or 'none'}"]
        lines.append(f"problems: {len(self.problems)}" + "".join(f"\n  {problem}" for problem in self.problems))
        return "\n".join(lines)


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

    The budgets are those of ``config`` under the settings that the dataset brings (``dataset_config``); they are the cut-off, so they
    must be small enough to leave something out. users: measure only the first so many (None: all). planted: the labels
    of a generated set, to report what the conflict and duplicate stages make of its pairs; without them the judged superseded
    pairs are reported. progress: told 1 a query. Raises DataError when there is nothing to measure, ConfigError for a bad ``users``.
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
        signal_dependence=tuple(_dependence(signal, asked, values[PRODUCTION], less[signal], noisy[signal]) for signal in SECONDARY),
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
    return ScenarioDifficulty(scenario=group, n=len(inside), recall=recall, broken=tuple(broken))


def _dependence(
    signal: str,
    queries: Sequence[JudgedQuery],
    full: Mapping[str, float],
    less: Mapping[str, float],
    noisy: Mapping[str, float],
) -> SignalDependence:
    """The scenario that loses most without the signal; among several that hold, the one that suffers least from noise."""
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
    return max(rows, key=lambda row: (row.holds, row.recall - row.without))
