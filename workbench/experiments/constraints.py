"""Choosing a row of a sweep: one metric to maximise or minimise, under limits that are never dropped in silence."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from workbench.errors import ConfigError
from workbench.experiments.metrics import parse_metric
from workbench.tabular import Tabular

if TYPE_CHECKING:
    import pandas as pd

    from workbench.reports.cells import Table

_P95 = "p95"
_NAME = r"[A-Za-z][A-Za-z0-9@]*"
_GOAL = re.compile(rf"\s*(max|min)\s+({_NAME})\s*(?:subject\s+to\s+(.+?))?\s*", re.IGNORECASE | re.DOTALL)
_LIMIT = re.compile(rf"({_NAME})\s*(<=|>=)\s*([-+]?[0-9]*\.?[0-9]+(?:[eE][-+]?[0-9]+)?)\s*(ms|tokens)?", re.IGNORECASE)


@dataclass(frozen=True, kw_only=True)
class Limit:
    """``name <= bound`` (``at_most``) or ``name >= bound`` on the mean of a metric, or on the latency percentile ``p95`` in
    ms."""

    name: str
    at_most: bool
    bound: float

    def __str__(self) -> str:
        return f"{self.name} {'<=' if self.at_most else '>='} {self.bound:g}"

    def violation(self, values: Any) -> Any:
        """(n,) how far each value is beyond the bound, relative to it; infinite where the value is undefined."""
        array = np.asarray(values, dtype=np.float64)
        over = array - self.bound if self.at_most else self.bound - array
        return np.where(np.isnan(array), np.inf, np.maximum(over, 0.0) / max(abs(self.bound), 1e-9))


@dataclass(frozen=True, kw_only=True)
class Goal:
    """What to optimise under which limits, parsed from text such as ``max ContextRecall subject to Tokens <= 1500 and p95 <=
    100 ms``."""

    metric: str
    maximise: bool
    limits: tuple[Limit, ...] = ()

    def measured_in(self, metrics: Iterable[str]) -> list[str]:
        """``metrics`` and those the goal names, by their canonical names. Raises ConfigError for an unknown one."""
        named = [self.metric, *(limit.name for limit in self.limits)]
        return list(dict.fromkeys(parse_metric(name).name for name in [*metrics, *named] if name != _P95))

    @classmethod
    def parse(cls, text: str | Goal) -> Goal:
        """Raises ConfigError for text that is not fully understood."""
        if isinstance(text, Goal):
            return text
        match = _GOAL.fullmatch(text)
        if not match:
            raise ConfigError(
                f"goal is {text!r}: write for example 'max ContextRecall subject to Tokens <= 1500 and p95 <= 100 ms'"
            )
        limits = []
        for part in re.split(r"\s+and\s+|\s*,\s*", match[3].strip(), flags=re.IGNORECASE) if match[3] else []:
            found = _LIMIT.fullmatch(part.strip())
            if not found:
                raise ConfigError(f"limit is {part!r}: write NAME <= NUMBER or NAME >= NUMBER, such as Tokens <= 1500")
            limits.append(Limit(name=found[1], at_most=found[2] == "<=", bound=float(found[3])))
        return cls(metric=match[2], maximise=match[1].lower() == "max", limits=tuple(limits))

    def __str__(self) -> str:
        limits = " and ".join(map(str, self.limits))
        return f"{'max' if self.maximise else 'min'} {self.metric}" + (f" subject to {limits}" if limits else "")


@dataclass(frozen=True, kw_only=True, repr=False)
class Choice(Tabular):
    """The answer to a goal: ``feasible``, and the row chosen, or the nearest one when nothing satisfies the limits.

    row: position in the table. n_feasible: rows that satisfy all limits. ties: rows equal in the goal's metric among them.
    broken: limits the nearest row breaks, with its values.
    """

    goal: Goal
    feasible: bool
    row: int
    values: dict[str, float | None]
    n_feasible: int
    n: int
    ties: int
    broken: tuple[str, ...] = ()

    def tables(self) -> tuple[Table, ...]:
        """The result as tables; see ``Tabular``."""
        from workbench.reports.tables_of import choice

        return choice(self)

    def __str__(self) -> str:
        shown = ", ".join(
            f"{name} {'undefined' if value is None else format(value, '.4g')}" for name, value in self.values.items()
        )
        if self.feasible:
            tie = f" ({self.ties} rows tie; fewest tokens decide, then closeness to the base)" if self.ties > 1 else ""
            return f"{self.goal}: row {self.row}{tie}, {shown}; {self.n_feasible} of {self.n} rows satisfy the limits"
        if not self.broken:
            return f"{self.goal}: no data, {self.goal.metric} is undefined on these queries in all {self.n} rows"
        nearest = f"nearest is row {self.row}, {shown}; it breaks {', '.join(self.broken)}"
        return f"{self.goal}: infeasible, none of {self.n} rows satisfies the limits; {nearest}"


def choose(table: pd.DataFrame, goal: str | Goal, *, order: Any = None) -> Choice:
    """The best row of a sweep's table; rows that tie go by fewest tokens, then by ``order`` (a rank per row; None: as they are).

    Means that differ only by rounding tie. Raises ConfigError when the table lacks a column that the goal names.
    """
    goal = Goal.parse(goal)
    names = list(dict.fromkeys([goal.metric, *(limit.name for limit in goal.limits)]))
    columns = {name: _column(table, name) for name in names}
    if not len(table):
        raise ConfigError("the sweep has no rows to choose from")
    beyond = np.stack([np.zeros(len(table)), *(limit.violation(columns[limit.name]) for limit in goal.limits)])
    worst = beyond.sum(axis=0)
    merit = columns[goal.metric] if goal.maximise else -columns[goal.metric]
    merit = np.where(np.isnan(merit), -np.inf, np.round(merit, 12))
    tokens = _column(table, "Tokens") if "mean_Tokens" in table else np.zeros(len(table))
    order = np.arange(len(table)) if order is None else order
    inside = (worst == 0.0) & np.isfinite(merit)
    feasible = bool(inside.any())
    first = np.where(inside, 0.0, 1.0) if feasible else worst
    # least violation, then best merit, then fewest tokens, then the order given
    row = int(np.lexsort((order, np.round(tokens, 9), -merit, first))[0])
    broken = tuple(
        f"{limit} ({_shown(columns[limit.name][row])})"
        for limit, part in zip(goal.limits, beyond[1:, row].tolist(), strict=True)
        if part > 0
    )
    return Choice(
        goal=goal,
        feasible=feasible,
        row=row,
        values={name: None if np.isnan(column[row]) else float(column[row]) for name, column in columns.items()},
        n_feasible=int(inside.sum()),
        n=len(table),
        ties=int((merit[inside] == merit[row]).sum()) if feasible else 0,
        broken=broken,
    )


def _shown(value: float) -> str:
    return "undefined" if np.isnan(value) else f"is {value:.4g}"


def _column(table: pd.DataFrame, name: str) -> Any:
    column = name if name == _P95 else f"mean_{name}"
    if column not in table:
        hint = "; time the search settings with latency= (--latency)" if name == _P95 else ""
        known = [str(key)[5:] for key in table.columns if str(key).startswith("mean_")]
        raise ConfigError(f"the sweep has no column for {name!r}{hint}; it measured {', '.join(known)}")
    return table[column].to_numpy(dtype=np.float64)
