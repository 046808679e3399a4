"""Metrics as values: one name each, with cut-off, direction, unit, and what it is a share of.

The name (``ContextRecall``, ``Recall@10``) is at once the column, the command-line argument and the axis label.
Ranking metrics judge the scored pool before budgets, the others the assembled prompt. Formulas agree with trec_eval
as wrapped by ir-measures: linear gain and ``log2(1 + rank)`` discount for nDCG with the ideal taken over all judged
statements, P@k divided by k however short the ranking is, ties decided by the order displayed.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Literal

import numpy as np

from workbench.errors import ConfigError, DataError
from workbench.experiments.outcome import Bools, Facts, Floats, Ints, Outcome, facts

Scope = Literal["answerable", "forbidden", "unanswerable", "sequence", "every"]

SCOPES: Mapping[Scope, str] = {
    "answerable": "queries with at least one relevant entry",
    "forbidden": "queries that name entries which must not appear",
    "unanswerable": "queries without an answer in the store",
    "sequence": "queries that follow another one of the same user",
    "every": "all queries",
}


@dataclass(frozen=True, kw_only=True)
class Metric:
    """One measure of an outcome.

    name: the canonical one. cutoff: the k of ``@k`` or None. unit: of a value. definition: one line with its
    denominator. scope: the queries it is defined for (``SCOPES``), decided by the query and never by what an arm did.
    low, high: range of a value; None is unbounded. margin: smallest difference of means that matters in practice, the
    default for equivalence.
    """

    name: str
    higher_is_better: bool
    unit: str
    definition: str
    scope: Scope = "every"
    cutoff: int | None = None
    low: float | None = 0.0
    high: float | None = 1.0
    margin: float | None = None
    compute: Callable[[Facts, int], Floats] | None = field(default=None, repr=False, compare=False)

    def __str__(self) -> str:
        return self.name

    @property
    def worst(self) -> float | None:
        """The worst possible value, None when there is no bound on how bad it can be."""
        return self.low if self.higher_is_better else self.high

    @property
    def direction(self) -> str:
        return "higher is better" if self.higher_is_better else "lower is better"

    def better(self, difference: float) -> bool:
        """True when a difference (new minus old) is an improvement."""
        return difference > 0 if self.higher_is_better else difference < 0


def _ratio(part: Ints, whole: Ints) -> Floats:
    result = np.full(len(part), np.nan)
    np.divide(part, whole, out=result, where=whole > 0)
    return result


def _hits_at(known: Facts, k: int) -> Ints:
    return np.bincount(known.hit_row[known.hit_rank <= k], minlength=len(known)).astype(np.int64)


def _gain_at(rows: Ints, ranks: Ints, gains: Floats, k: int, n: int) -> Floats:
    inside = ranks <= k
    discounted = gains[inside] / np.log2(1.0 + ranks[inside])
    return np.bincount(rows[inside], weights=discounted, minlength=n).astype(np.float64)


def _ndcg(known: Facts, k: int) -> Floats:
    n = len(known)
    ideal = _gain_at(known.ideal_row, known.ideal_rank, known.ideal_gain, k, n)
    result = np.full(n, np.nan)
    np.divide(_gain_at(known.hit_row, known.hit_rank, known.hit_gain, k, n), ideal, out=result, where=ideal > 0)
    return result


def _reciprocal_rank(known: Facts, _: int) -> Floats:
    first = np.full(len(known), np.inf)
    np.minimum.at(first, known.hit_row, known.hit_rank)
    return np.asarray(1.0 / first)


_RECALL = partial(Metric, unit="share", higher_is_better=True, scope="answerable", margin=0.01)
_RATE = partial(Metric, unit="share", higher_is_better=False, margin=0.01)
_COUNT = partial(Metric, higher_is_better=False, high=None)

_ALL = (
    _RECALL(
        name="ContextRecall",
        definition="relevant statements in the assembled prompt / relevant statements",
        compute=lambda f, k: _ratio(f.found, f.relevant),
    ),
    _RECALL(
        name="AnyRecall",
        definition="queries with at least one relevant statement in the prompt / queries",
        compute=lambda f, k: (f.found > 0).astype(np.float64),
    ),
    _RECALL(
        name="AllRecall",
        definition="queries with every relevant statement in the prompt / queries",
        compute=lambda f, k: (f.found == f.relevant).astype(np.float64),
    ),
    _RECALL(
        name="Recall@k",
        definition="relevant statements in the first k of the ranking / relevant statements",
        compute=lambda f, k: _ratio(_hits_at(f, k), f.relevant),
    ),
    _RECALL(
        name="nDCG@k",
        definition="discounted grades in the first k of the ranking / those of the best ranking of all judged ones",
        compute=_ndcg,
    ),
    _RECALL(
        name="Precision@k",
        definition="relevant statements in the first k of the ranking / k",
        compute=lambda f, k: _hits_at(f, k) / k,
    ),
    _RECALL(
        name="RR",
        definition="1 / rank of the first relevant statement, 0 when the ranking has none; mean over queries",
        compute=_reciprocal_rank,
    ),
    _RECALL(
        name="ContextPrecision",
        definition="relevant statements in the prompt / entries in the prompt; 0 for a prompt without entries",
        compute=lambda f, k: np.where(f.shown > 0, f.found / np.maximum(f.shown, 1), 0.0),
    ),
    _RATE(
        name="StaleExposure",
        scope="forbidden",
        definition="forbidden statements in the prompt / forbidden statements of the query",
        compute=lambda f, k: _ratio(f.stale, f.forbidden),
    ),
    _RATE(
        name="DuplicateRate",
        definition="entries in the prompt that repeat a statement already shown / entries in the prompt; "
        "undefined when there are none",
        compute=lambda f, k: _ratio(f.repeated, f.shown),
    ),
    _COUNT(
        name="Tokens",
        unit="tokens",
        margin=25.0,
        definition="tokens of the whole prompt; mean over queries",
        compute=lambda f, k: f.tokens.astype(np.float64),
    ),
    _COUNT(
        name="TokensPerHit",
        unit="tokens",
        scope="answerable",
        margin=25.0,
        definition="tokens of the prompt / relevant statements in it; undefined when there are none (see AnyRecall)",
        compute=lambda f, k: _ratio(f.tokens, f.found),
    ),
    _RECALL(
        name="PrefixStability",
        scope="sequence",
        definition="queries whose identity and preferences equal those of the user's previous query / "
        "queries with a previous one",
        compute=lambda f, k: f.stable,
    ),
    _COUNT(
        name="Leaks",
        unit="entries",
        definition="entries in the prompt that are not in the user's store; mean over queries, must be 0",
        compute=lambda f, k: f.foreign.astype(np.float64),
    ),
    _COUNT(
        name="FalseContext",
        unit="entries",
        scope="unanswerable",
        margin=0.5,
        definition="entries in the prompt of a query that no entry answers; mean over such queries",
        compute=lambda f, k: f.shown.astype(np.float64),
    ),
)

REGISTRY: Mapping[str, Metric] = {metric.name: metric for metric in _ALL}
"""Every metric by name; ``@k`` stands for a whole number of at least 1."""

DEFAULT = (
    "ContextRecall", "AnyRecall", "AllRecall", "Recall@5", "Recall@10", "Recall@20", "nDCG@10", "Precision@10", "RR",
    "ContextPrecision", "StaleExposure", "DuplicateRate", "Tokens", "TokensPerHit", "PrefixStability", "Leaks",
    "FalseContext",
)  # fmt: skip
"""Names of the metrics a report shows."""


def parse_metric(name: str | Metric) -> Metric:
    """The metric of a canonical name: ``parse_metric("Recall@10").cutoff == 10``. A Metric is returned as it is.

    Raises ConfigError for anything that is not exactly a canonical name, with the nearest one.
    """
    if isinstance(name, Metric):
        return name
    if not isinstance(name, str):
        raise ConfigError(f"metric is {name!r}: must be a name such as 'Recall@10'")
    match = re.fullmatch(r"([A-Za-z]+)@([1-9][0-9]{0,8})", name)
    if match and f"{match[1]}@k" in REGISTRY:
        k = int(match[2])
        base = REGISTRY[f"{match[1]}@k"]
        definition = re.sub(r"\bk\b", str(k), base.definition)
        return replace(base, name=name, cutoff=k, definition=definition)
    if name in REGISTRY and not name.endswith("@k"):
        return REGISTRY[name]
    stem = name.strip().partition("@")[0].casefold()
    folded = {known.partition("@")[0].casefold(): known for known in REGISTRY}
    near = difflib.get_close_matches(stem, folded, n=1, cutoff=0.6)
    hint = f"; did you mean {folded[near[0]]!r}" if near else ""
    raise ConfigError(f"unknown metric {name!r}{hint}; known: {', '.join(REGISTRY)}, where k is a whole number of at least 1")


def evaluate(
    outcomes: Sequence[Outcome] | Facts,
    metrics: Iterable[str | Metric] = DEFAULT,
    *,
    worst: Mapping[str, float] | None = None,
) -> dict[str, Floats]:
    """Every metric of every outcome: name -> (n,) float64 in the order of the outcomes, NaN where undefined.

    A failed outcome gets the worst value of each metric that applies to its query. Where badness has no bound
    (Tokens, TokensPerHit, Leaks, FalseContext) that is ``worst[name]`` if given, else the worst value this arm had
    elsewhere, else NaN. Raises ConfigError for an unknown or computed-elsewhere metric, DataError when a query has
    two outcomes.
    """
    known = outcomes if isinstance(outcomes, Facts) else facts(outcomes)
    result: dict[str, Floats] = {}
    for metric in map(parse_metric, metrics):
        if metric.compute is None:
            raise ConfigError(f"metric {metric.name!r} has no formula over outcomes; pass its values yourself")
        applies = in_scope(known, metric)
        values = np.where(applies & ~known.failed, metric.compute(known, metric.cutoff or 0), np.nan)
        lost = applies & known.failed
        if lost.any():
            values[lost] = _worst(metric, values, worst or {})
        result[metric.name] = values
    return result


def in_scope(known: Facts, metric: Metric) -> Bools:
    """(n,) True for the queries the metric is defined for, by the query alone."""
    if metric.scope == "answerable":
        return known.relevant > 0
    if metric.scope == "forbidden":
        return known.forbidden > 0
    if metric.scope == "unanswerable":
        return known.unanswerable
    if metric.scope == "sequence":
        return known.follows
    return np.ones(len(known), dtype=np.bool_)


def _worst(metric: Metric, values: Floats, given: Mapping[str, float]) -> float:
    if metric.name in given:
        value = float(given[metric.name])
        if not np.isfinite(value):
            raise DataError(f"worst value of {metric.name} is {value!r}: must be a finite number")
        return value
    if metric.worst is not None:
        return metric.worst
    seen = values[~np.isnan(values)]
    if not len(seen):
        return float("nan")
    return float(seen.min() if metric.higher_is_better else seen.max())
