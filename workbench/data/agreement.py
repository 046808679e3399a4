"""How far two people who labelled the same entries agree: Cohen's kappa with its size and interval."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from workbench.data.labels import LABELS, Judgements
from workbench.data.strict_json import shown
from workbench.errors import DataError
from workbench.tabular import Tabular

if TYPE_CHECKING:
    from workbench.reports.cells import Table

RESAMPLES = 9_999
_ENOUGH_QUERIES = 2


@dataclass(frozen=True, kw_only=True, repr=False)
class Agreement(Tabular):
    """Agreement of two people over the ``n`` entries of ``n_queries`` queries that both labelled.

    kappa: (observed - expected) / (1 - expected), Cohen 1960, doi 10.1177/001316446002000104; None where it is not defined
    (no common label, or both used one and the same label only). ci95: percentile interval, whole queries resampled, because
    labels of one query go together; None with fewer than two queries. kappa_relevant: the same for relevant (helps,
    answers) against not. table: label of the first -> label of the second -> count.
    """

    people: tuple[str, str]
    n: int
    n_queries: int
    observed: float | None
    expected: float | None
    kappa: float | None
    ci95: tuple[float, float] | None
    kappa_relevant: float | None
    ci95_relevant: tuple[float, float] | None
    table: Mapping[str, Mapping[str, int]]

    def to_dict(self) -> dict[str, Any]:
        """Strict JSON."""
        return asdict(self)

    def tables(self) -> tuple[Table, ...]:
        """Kappa, and how often which labels met; see ``Tabular``."""
        from workbench.reports.result_tables import frame_table

        first, second = self.people
        rows = []
        for what, kappa, ci95 in (
            ("label", self.kappa, self.ci95), ("relevant or not", self.kappa_relevant, self.ci95_relevant),
        ):  # fmt: skip
            low, high = ci95 or (None, None)
            rows.append({"of": what, "kappa": kappa, "low": low, "high": high, "n": self.n, "queries": self.n_queries})
        columns = {"of": "agreement on", "kappa": "kappa", "low": "95 % from", "high": "to", "n": "n", "queries": "queries"}
        note = "Cohen's kappa, unweighted; percentile intervals, queries resampled. A dash: not defined."
        met = [{"label": f"{first}: {one}", **others} for one, others in self.table.items()]
        heads = {"label": "", **{name: f"{second}: {name}" for name in self.table}}
        return (
            frame_table(f"Agreement of {first} and {second}", rows, columns, notes=(note,)),
            frame_table("Labels given to the same entries", met, heads),
        )

    def __str__(self) -> str:
        first, second = self.people
        head = f"{first} and {second}: n = {self.n} entries of {self.n_queries} queries"
        if not self.n:
            return f"{head}; nothing was labelled by both"
        return (
            f"{head}; kappa {_number(self.kappa, self.ci95)}, "
            f"of relevant or not: {_number(self.kappa_relevant, self.ci95_relevant)}; "
            f"observed agreement {self.observed:.3f}, by chance {self.expected:.3f} (Cohen's kappa, unweighted; 95 % percentile "
            "interval, queries resampled)"
        )


def _number(kappa: float | None, ci95: tuple[float, float] | None) -> str:
    if kappa is None:
        return "not defined (only one label was used)"
    return f"{kappa:.3f} ({'no interval' if ci95 is None else f'{ci95[0]:.3f} to {ci95[1]:.3f}'})"


def agreement(judgements: Judgements, first: str, second: str, *, seed: int = 0, resamples: int = RESAMPLES) -> Agreement:
    """Agreement of two people. Raises DataError when one of them has not labelled, or both are one."""
    for name in (first, second):
        if name not in judgements.entries:
            raise DataError(f"nobody called {shown(name)} has labelled; there are {', '.join(judgements.people) or 'no labels'}")
    if first == second:
        raise DataError(f"both are {shown(first)}: agreement needs two people")
    one, two = judgements.entries[first], judgements.entries[second]
    common = sorted(set(one) & set(two))
    names = list(LABELS)
    queries = sorted({query for query, _ in common})
    at = {query: row for row, query in enumerate(queries)}
    counts = np.zeros((len(queries), len(names), len(names)), dtype=np.int64)
    for key in common:
        counts[at[key[0]], names.index(one[key]), names.index(two[key])] += 1
    relevant = np.array([LABELS[name] > 0 for name in names])
    sides = np.stack([~relevant, relevant]).astype(np.int64)
    binary = np.einsum("ai,qij,bj->qab", sides, counts, sides)
    total = counts.sum(axis=0)
    observed, expected = _parts(total[None])
    return Agreement(
        people=(first, second),
        n=len(common),
        n_queries=len(queries),
        observed=float(observed[0]) if common else None,
        expected=float(expected[0]) if common else None,
        kappa=_kappa(total),
        ci95=_interval(counts, seed, resamples),
        kappa_relevant=_kappa(binary.sum(axis=0)),
        ci95_relevant=_interval(binary, seed, resamples),
        table={a: {b: int(total[i, j]) for j, b in enumerate(names)} for i, a in enumerate(names)},
    )


def all_agreements(judgements: Judgements, *, seed: int = 0) -> tuple[Agreement, ...]:
    """Agreement of every two people, in the order of their first labels."""
    return tuple(agreement(judgements, a, b, seed=seed) for a, b in combinations(judgements.people, 2))


def cohen_kappa(table: npt.ArrayLike) -> float | None:
    """Cohen's kappa of a square table of counts (rows: the first person's labels); None where it is not defined.

    Example:
        >>> cohen_kappa([[20, 5], [10, 15]])
        0.4
    """
    counts = np.asarray(table, dtype=np.int64)
    if counts.ndim != 2 or counts.shape[0] != counts.shape[1] or (counts < 0).any():
        raise DataError(f"the table has the shape {counts.shape}: must be a square table of counts from 0")
    return _kappa(counts)


def _parts(tables: npt.NDArray[np.int64]) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """(B, K, K) counts -> (B,) observed and expected agreement; NaN for an empty table."""
    n = tables.sum(axis=(1, 2)).astype(np.float64)
    n[n == 0] = np.nan
    observed = np.trace(tables, axis1=1, axis2=2) / n
    expected = (tables.sum(axis=2) * tables.sum(axis=1)).sum(axis=1) / n**2
    return observed, expected


def _kappa(table: npt.NDArray[np.int64]) -> float | None:
    observed, expected = (float(part[0]) for part in _parts(table[None]))
    if not expected < 1.0:
        return None
    # rounded where two ways to add the same counts would differ in the last bits
    return round((observed - expected) / (1.0 - expected), 12)


def _interval(tables: npt.NDArray[np.int64], seed: int, resamples: int) -> tuple[float, float] | None:
    """Percentile interval of kappa over resampled queries; (q, K, K) counts. None when it cannot be made."""
    queries = len(tables)
    if queries < _ENOUGH_QUERIES or _kappa(tables.sum(axis=0)) is None:
        return None
    draws = np.random.default_rng(seed).multinomial(queries, np.full(queries, 1.0 / queries), size=resamples)
    observed, expected = _parts(np.tensordot(draws, tables, axes=1))
    usable = expected < 1.0
    if not usable.any():
        return None
    kappas = (observed[usable] - expected[usable]) / (1.0 - expected[usable])
    low, high = np.quantile(kappas, [0.025, 0.975])
    return float(low), float(high)
