"""Bayesian search over weights and ranges of settings, through Optuna's tree-structured Parzen estimator.

For spaces too large for a grid: the sampler proposes a batch of configurations, a sweep measures them by replay, and the values
go back. The result is a Sweep like any other. The search only sees the queries it is given, so hand it the training users alone
(``--split train``) and confirm its choice on others.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from workbench.config import SIGNALS, AssemblyConfig
from workbench.data.judged import JudgedDataset
from workbench.embedding.encoder import Encoder
from workbench.errors import ConfigError
from workbench.experiments.arms import dataset_config
from workbench.experiments.constraints import Goal
from workbench.experiments.space import MOST_POINTS, Listed, Space, value_of
from workbench.experiments.sweep import SWEEP_METRICS, sweep
from workbench.experiments.sweep_table import Sweep

if TYPE_CHECKING:
    import pandas as pd

BATCH = 16


@dataclass(frozen=True, kw_only=True)
class Range:
    """Values of one setting: from ``low`` to ``high``, both included; whole numbers when both are; ``log`` spreads by ratio."""

    low: float
    high: float
    log: bool = False

    def __post_init__(self) -> None:
        if not (np.isfinite(self.low) and np.isfinite(self.high) and self.low < self.high):
            raise ConfigError(f"range is {self.low}:{self.high}: the first number must be below the second, both finite")
        if self.log and self.low <= 0:
            raise ConfigError(f"range is {self.low}:{self.high}:log: must start above 0 to be spread by ratio")

    @property
    def whole(self) -> bool:
        """Whether the setting takes whole numbers."""
        return isinstance(self.low, int) and isinstance(self.high, int)


@dataclass(frozen=True, kw_only=True)
class Search:
    """What to search: ``trials`` configurations around ``base``, over the weights (all of the simplex) and over ``ranges`` by
    dotted name (``budgets.memories``). The base is always the first trial, so the result never falls behind it on these queries.
    """

    base: AssemblyConfig = field(default_factory=AssemblyConfig)
    trials: int = 200
    weights: bool = True
    ranges: Mapping[str, Range] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if isinstance(self.trials, bool) or not isinstance(self.trials, int) or not 2 <= self.trials <= MOST_POINTS:
            raise ConfigError(f"trials is {self.trials!r}: must be a whole number from 2 to {MOST_POINTS}")
        if not self.weights and not self.ranges:
            raise ConfigError("nothing to search: give ranges, or search the weights")
        grid = {name: [of.low, of.high] for name, of in self.ranges.items()}
        # both ends must be possible values of settings that exist
        Space(base=self.base, weights="lattice:1" if self.weights else None, grid=grid).points()

    def to_dict(self) -> dict[str, Any]:
        """Strict JSON; ``from_dict`` reads it."""
        ranges = [[name, of.low, of.high, of.log] for name, of in self.ranges.items()]
        return {"base": self.base.to_record(), "search": {"trials": self.trials, "weights": self.weights, "ranges": ranges}}

    @classmethod
    def from_dict(cls, row: Mapping[str, Any]) -> Search:
        """The inverse of ``to_dict``."""
        plan = row["search"]
        ranges = {name: Range(low=low, high=high, log=log) for name, low, high, log in plan["ranges"]}
        return cls(base=AssemblyConfig.from_record(row["base"]), trials=plan["trials"], weights=plan["weights"], ranges=ranges)


def parse_ranges(texts: Sequence[str]) -> dict[str, Range]:
    """``budgets.memories=200:4000`` or ``half_life_days=1:365:log`` as ranges by name. Raises ConfigError."""
    out: dict[str, Range] = {}
    for text in texts:
        name, equals, rest = text.partition("=")
        parts = rest.split(":")
        log = len(parts) == 3 and parts[2] == "log"
        try:
            low, high = (
                int(part) if part.strip().lstrip("+-").isdecimal() else float(part) for part in parts[: 2 if log else None]
            )
        except ValueError:
            low, high = 0, 0
            equals = ""
        if not equals or not name:
            raise ConfigError(f"range is {text!r}: write NAME=LOW:HIGH or NAME=LOW:HIGH:log, such as budgets.memories=200:4000")
        if name in out:
            raise ConfigError(f"range names {name!r} twice")
        out[name] = Range(low=low, high=high, log=log)
    return out


def bayesian_search(
    dataset: JudgedDataset,
    search: Search,
    encoder: Encoder,
    *,
    goal: str | Goal = "max ContextRecall",
    metrics: Sequence[str] = SWEEP_METRICS,
    seed: int = 0,
    **options: Any,
) -> Sweep:
    """Run the search; rows come in the order of the trials. Same seed, same rows: batches are of a fixed size on every engine.

    options: as in ``sweep``, such as ``engine``, ``cache``, ``partial``; finished batches in ``partial`` are used again. Limits
    of the goal reach the sampler as constraints. Raises ConfigError without Optuna and for a goal on p95.
    """
    optuna = _optuna()
    goal = Goal.parse(goal)
    wanted = [goal.metric, *(limit.name for limit in goal.limits)]
    if "p95" in wanted:
        raise ConfigError("a search cannot take p95 as a goal or limit: time is measured per grid point; use a grid")
    metrics = list(dict.fromkeys([*metrics, *wanted]))
    study = optuna.create_study(
        direction="maximize" if goal.maximise else "minimize",
        sampler=optuna.samplers.TPESampler(seed=seed, multivariate=True, constant_liar=True),
    )
    base = dataset_config(dataset, search.base)
    varied = [*(f"weights.{name}" for name in SIGNALS if search.weights), *search.ranges]
    changes: list[dict[str, Any]] = [{name: value_of(base, name) for name in varied}]
    parts: list[Sweep] = []
    trials: list[Any] = [None]
    while True:
        part = sweep(dataset, Listed(base=search.base, changes=changes), encoder, metrics=metrics, seed=seed, **options)
        parts.append(part)
        _tell(optuna, study, trials, part, goal)
        missing = search.trials - sum(map(len, parts))
        if missing <= 0:
            return joined(parts)
        trials = [study.ask() for _ in range(min(BATCH, missing))]
        changes = [_proposal(trial, search) for trial in trials]


def joined(parts: Sequence[Sweep]) -> Sweep:
    """Sweeps of the same queries as one, ranks made anew."""
    import pandas as pd

    from workbench.experiments.sweep_table import ranks

    table: pd.DataFrame = pd.concat([part.table for part in parts], ignore_index=True)
    first = parts[0]
    for name in first.metrics:
        table[f"rank_{name}"] = ranks(table[f"mean_{name}"], name)
    return Sweep(
        table=table,
        values={name: np.concatenate([part.values[name] for part in parts]) for name in first.metrics},
        configs=tuple(config for part in parts for config in part.configs),
        pool_keys=tuple(key for part in parts for key in part.pool_keys),
        queries=first.queries, users=first.users, metrics=first.metrics, dataset=first.dataset,
        dataset_checksum=first.dataset_checksum, encoder=first.encoder, seed=first.seed,
    )  # fmt: skip


def _proposal(trial: Any, search: Search) -> dict[str, Any]:
    out: dict[str, Any] = {}
    if search.weights:
        # normalised exponentials are spread evenly over the simplex (Devroye 1986, ch. V.4)
        draws = [-np.log(trial.suggest_float(f"weights.{name}", 1e-6, 1.0)) for name in SIGNALS]
        shares = np.round(np.array(draws) / sum(draws), 6)
        shares[int(shares.argmax())] += 1.0 - shares.sum()
        out.update({f"weights.{name}": round(float(share), 6) for name, share in zip(SIGNALS, shares, strict=True)})
    for name, of in search.ranges.items():
        if of.whole:
            out[name] = trial.suggest_int(name, int(of.low), int(of.high), log=of.log)
        else:
            out[name] = trial.suggest_float(name, of.low, of.high, log=of.log)
    return out


def _tell(optuna: Any, study: Any, trials: Sequence[Any], part: Sweep, goal: Goal) -> None:
    names = {name: part.table[f"mean_{name}"].to_numpy() for name in part.metrics}
    for at, trial in enumerate(trials):
        if trial is None:
            continue  # the base lies outside what the sampler proposes
        for limit in goal.limits:
            trial.set_constraint(str(limit), min(float(limit.violation(names[limit.name][at : at + 1])[0]), 1e9))
        value = float(names[goal.metric][at])
        if np.isnan(value):
            study.tell(trial, state=optuna.trial.TrialState.FAIL)
        else:
            study.tell(trial, value)


def _optuna() -> Any:
    try:
        import optuna
    except ModuleNotFoundError:
        raise ConfigError("Bayesian search needs Optuna; install it with pip install 'context-workbench[search]'") from None
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    return optuna
