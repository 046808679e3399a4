"""Honest tuning: choose on one set of users, report on another, and say how much the choice flattered itself.

Both work on the per-query values of a finished sweep, so that trying another split costs nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from workbench.columns import frame_text
from workbench.config import AssemblyConfig
from workbench.errors import ConfigError, DataError
from workbench.experiments.comparison import Comparison, compare_values
from workbench.experiments.constraints import Goal, choose
from workbench.experiments.identifiability import Identifiability
from workbench.experiments.outcome import Bools, Floats, Ints
from workbench.experiments.splits import UserSplit
from workbench.experiments.sweep_table import Sweep
from workbench.tabular import Tabular

if TYPE_CHECKING:
    import pandas as pd

    from workbench.reports.cells import Table


@dataclass(frozen=True, kw_only=True, repr=False)
class Tuning(Tabular):
    """The configuration chosen on validation, and its one report on the test users.

    row: in the sweep. params: what the sweep varied. train, validation, test: mean of the goal's metric for the chosen
    configuration; gap: train minus test, in the metric's unit. comparison: chosen against the baseline on the test users, all
    metrics. shortlist: rows that were best on train, of which validation chose. earlier_uses: choices this test part was used
    for before.
    """

    goal: Goal
    row: int
    config: AssemblyConfig
    params: Mapping[str, Any]
    train: float
    validation: float
    test: float
    gap: float
    comparison: Comparison
    shortlist: tuple[int, ...]
    split: UserSplit
    n_tried: int
    signals: Identifiability | None = None
    earlier_uses: int = 0

    def __str__(self) -> str:
        params = ", ".join(f"{name} {value}" for name, value in self.params.items())
        lines = [
            f"{self.goal}: chosen of {self.n_tried} configurations, {len(self.shortlist)} of them tried on validation: {params}",
            f"{self.goal.metric}: train {self.train:.4f}, validation {self.validation:.4f}, test {self.test:.4f}; "
            f"train - test gap {self.gap:+.4f}; {self.split}",
        ]
        if self.earlier_uses:
            lines.append(f"this test part was used for {self.earlier_uses} other choices before: it is no longer unseen")
        lines.append(str(self.comparison))
        return "\n".join([*lines, *([self.signals.warning, str(self.signals)] if self.signals else [])])

    def tables(self) -> tuple[Table, ...]:
        """The result as tables; see ``Tabular``."""
        from workbench.reports.tables_of import tuning

        return tuning(self)

    def to_dict(self) -> dict[str, Any]:
        """Strict JSON."""
        return {
            "goal": str(self.goal),
            "row": self.row,
            "config": self.config.to_dict(),
            "params": dict(self.params),
            "train": self.train,
            "validation": self.validation,
            "test": self.test,
            "gap": self.gap,
            "comparison": self.comparison.to_dict(),
            "shortlist": list(self.shortlist),
            "split": {"train": self.split.train, "validation": self.split.validation, "test": self.split.test},
            "n_tried": self.n_tried,
            "signals": None if self.signals is None else self.signals.to_dict(),
        }


def tune(
    sweep: Sweep,
    baseline: Mapping[str, Floats],
    split: UserSplit,
    *,
    goal: str | Goal = "max ContextRecall",
    shortlist: int = 20,
    near: AssemblyConfig | None = None,
    signals: Identifiability | None = None,
    seed: int = 0,
) -> Tuning:
    """Shortlist on train, choose on validation, report once on test.

    baseline: metric -> (Q,) values of the configuration to beat, on the sweep's queries. near: of rows that tie, the one whose
    weights are nearest to this configuration's wins (a signal that is constant in the data makes many rows tie). Limits of the
    goal hold on train and on validation. Raises ConfigError when nothing satisfies them, DataError on values of other queries.
    """
    goal = Goal.parse(goal)
    parts = {name: split.mask(sweep.users, name) for name in ("train", "validation", "test")}
    _check(sweep, baseline, goal)
    order = sweep.nearness(near)
    tables = {name: means(sweep, inside) for name, inside in parts.items()}
    short = _best_rows(tables["train"], goal, order, shortlist)
    row = int(short[_best_rows(tables["validation"].iloc[short].reset_index(drop=True), goal, order[short], 1)[0]])
    column = f"mean_{goal.metric}"
    train, validation, test = (float(tables[name][column][row]) for name in ("train", "validation", "test"))
    inside = parts["test"]
    comparison = compare_values(
        {name: np.asarray(baseline[name])[inside] for name in sweep.metrics},
        {name: sweep.values[name][row][inside] for name in sweep.metrics},
        np.array(sweep.users)[inside],
        names=("baseline", "tuned"),
        seed=seed,
        primary=goal.metric if goal.metric in sweep.metrics else None,
    )
    return Tuning(
        goal=goal, row=row, config=sweep.configs[row], params=params_of(sweep, row), train=train, validation=validation,
        test=test, gap=train - test, comparison=comparison, shortlist=tuple(short.tolist()), split=split,
        n_tried=len(sweep), signals=signals,
    )  # fmt: skip


@dataclass(frozen=True, kw_only=True, repr=False)
class CrossTuning(Tabular):
    """Leave-one-user-out: each user's queries are judged under the configuration that is best on all other users.

    folds: per user: row chosen, params, train (mean on the others), held_out, baseline, n. comparison: over all queries, each
    under its own fold's choice, against the baseline. gap: mean over folds of train minus held_out. final: row that is best on
    all users; its own mean flatters it, the comparison says what to expect.
    """

    goal: Goal
    folds: tuple[dict[str, Any], ...]
    comparison: Comparison
    gap: float
    final: int
    final_params: Mapping[str, Any]
    final_mean: float
    n_tried: int
    signals: Identifiability | None = None

    def to_dataframe(self) -> pd.DataFrame:
        """One row per fold."""
        import pandas as pd

        return pd.DataFrame([{**{key: fold[key] for key in fold if key != "params"}, **fold["params"]} for fold in self.folds])

    def __str__(self) -> str:
        params = ", ".join(f"{name} {value}" for name, value in self.final_params.items())
        choices = len({fold["row"] for fold in self.folds})
        lines = [
            f"{self.goal}, leave one user out: {self.n_tried} configurations, {len(self.folds)} folds, "
            f"{choices} different choice{'s' * (choices != 1)}",
            frame_text(self.to_dataframe(), "{:.4f}".format),
            f"train - held-out gap, mean over folds: {self.gap:+.4f}",
            f"best on all users: {params}, {self.goal.metric} {self.final_mean:.4f} (chosen on the same data, so too good)",
            str(self.comparison),
        ]
        return "\n".join([*lines, *([self.signals.warning, str(self.signals)] if self.signals else [])])

    def tables(self) -> tuple[Table, ...]:
        """The result as tables; see ``Tabular``."""
        from workbench.reports.tables_of import cross_tuning

        return cross_tuning(self)

    def to_dict(self) -> dict[str, Any]:
        """Strict JSON."""
        return {
            "goal": str(self.goal),
            "folds": list(self.folds),
            "comparison": self.comparison.to_dict(),
            "gap": self.gap,
            "final": self.final,
            "final_params": dict(self.final_params),
            "final_mean": self.final_mean,
            "n_tried": self.n_tried,
            "signals": None if self.signals is None else self.signals.to_dict(),
        }


def leave_one_user_out(
    sweep: Sweep,
    baseline: Mapping[str, Floats],
    *,
    goal: str | Goal = "max ContextRecall",
    near: AssemblyConfig | None = None,
    signals: Identifiability | None = None,
    seed: int = 0,
) -> CrossTuning:
    """Tune once per user on all the others; arguments as in ``tune``. Raises ConfigError with fewer than two users."""
    goal = Goal.parse(goal)
    _check(sweep, baseline, goal)
    users = np.array(sweep.users)
    names = sorted(set(sweep.users))
    if len(names) < 2:
        raise ConfigError(f"leave-one-user-out needs at least two users, the sweep has {len(names)}")
    order = sweep.nearness(near)
    column = f"mean_{goal.metric}"
    folds: list[dict[str, Any]] = []
    values = {name: np.full(len(users), np.nan) for name in sweep.metrics}
    for user in names:
        held = users == user
        train, test = means(sweep, ~held), means(sweep, held)
        row = int(_best_rows(train, goal, order, 1)[0])
        for name in sweep.metrics:
            values[name][held] = sweep.values[name][row][held]
        own = np.asarray(baseline[goal.metric])[held]
        judged = ~np.isnan(own)
        folds.append(
            {
                "held_out_user": user,
                "row": row,
                "train": float(train[column][row]),
                "held_out": _number(test[column][row]),
                "baseline": float(own[judged].mean()) if judged.any() else None,
                "n": int(judged.sum()),
                "params": params_of(sweep, row),
            }
        )
    everywhere = means(sweep, np.ones(len(users), dtype=np.bool_))
    final = int(_best_rows(everywhere, goal, order, 1)[0])
    gaps = [fold["train"] - fold["held_out"] for fold in folds if fold["held_out"] is not None]
    comparison = compare_values(
        {name: baseline[name] for name in sweep.metrics},
        values,
        users,
        names=("baseline", "tuned"),
        seed=seed,
        primary=goal.metric if goal.metric in sweep.metrics else None,
    )
    return CrossTuning(
        goal=goal, folds=tuple(folds), comparison=comparison, gap=float(np.mean(gaps)) if gaps else 0.0, final=final,
        final_params=params_of(sweep, final), final_mean=float(everywhere[column][final]), n_tried=len(sweep), signals=signals,
    )  # fmt: skip


def means(sweep: Sweep, inside: Bools) -> pd.DataFrame:
    """Mean of each metric over some queries, one row per configuration; NaN where no query has a value."""
    import pandas as pd

    columns = {}
    for name in sweep.metrics:
        part = sweep.values[name][:, inside]
        known = ~np.isnan(part)
        counts = known.sum(axis=1)
        sums = np.where(known, part, 0.0).sum(axis=1)
        columns[f"mean_{name}"] = np.divide(sums, counts, out=np.full(len(sweep), np.nan), where=counts > 0)
    if "p95" in sweep.table:
        columns["p95"] = sweep.table["p95"].to_numpy()
    return pd.DataFrame(columns)


def params_of(sweep: Sweep, row: int) -> dict[str, Any]:
    """What the sweep varied, for one row, JSON-ready."""
    names = [str(name) for name in sweep.table if str(name).startswith("param_")]
    values = {name.removeprefix("param_"): sweep.table[name].iloc[row] for name in names}
    return {name: value.item() if isinstance(value, np.generic) else value for name, value in values.items()}


def _best_rows(table: pd.DataFrame, goal: Goal, order: Ints, count: int) -> Ints:
    """The best rows that satisfy the goal's limits, best first, ties by ``order``."""
    answer = choose(table, goal)
    if not answer.feasible:
        raise ConfigError(f"nothing to tune: {answer}")
    merit = table[f"mean_{goal.metric}"].to_numpy() * (1 if goal.maximise else -1)
    inside = np.isfinite(merit)
    for limit in goal.limits:
        inside &= limit.violation(table["p95" if limit.name == "p95" else f"mean_{limit.name}"]) == 0.0
    # means that differ only by rounding are ties
    ranked = np.lexsort((order, -np.round(merit, 12), ~inside))
    return np.asarray(ranked[: min(count, int(inside.sum()))], dtype=np.int64)


def _check(sweep: Sweep, baseline: Mapping[str, Floats], goal: Goal) -> None:
    missing = [name for name in sweep.metrics if name not in baseline]
    if missing or any(np.shape(baseline[name]) != (len(sweep.users),) for name in sweep.metrics):
        raise DataError(f"the baseline needs {len(sweep.users)} values of each of {', '.join(sweep.metrics)}")
    if goal.metric not in sweep.metrics:
        raise ConfigError(f"the goal names {goal.metric!r}; the sweep measured {', '.join(sweep.metrics)}")


def _number(value: Any) -> float | None:
    return None if np.isnan(value) else float(value)
