"""Arms compared on the same queries: one row per arm and metric, one family of tests, one verdict each."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from workbench.errors import ConfigError, DataError
from workbench.experiments.comparison_table import Comparison, ComparisonRow
from workbench.experiments.metrics import Metric, parse_metric
from workbench.experiments.outcome import Floats, Ints
from workbench.experiments.resampling import TEST_RESAMPLES, cluster_bootstrap_ci, cluster_codes, cluster_permutation_test
from workbench.experiments.statistics import (
    Verdict,
    benjamini_hochberg,
    effect_size,
    holm,
    is_constant,
    minimum_detectable_effect,
    verdict,
)

__all__ = ["Comparison", "ComparisonRow", "compare_arms", "compare_values"]

Values = Mapping[str, ArrayLike]


@dataclass(frozen=True)
class _Design:
    """What all rows share."""

    codes: Ints
    alpha: float
    n_resamples: int
    seed: int


def compare_values(
    a: Values,
    b: Values,
    clusters: ArrayLike,
    *,
    names: tuple[str, str] = ("a", "b"),
    metrics: Mapping[str, Metric] | None = None,
    margins: Mapping[str, float | None] | None = None,
    alpha: float = 0.05,
    n_resamples: int = TEST_RESAMPLES,
    seed: int = 0,
    primary: str | None = None,
) -> Comparison:
    """Arm b against the baseline a: differences are b minus a, and "better" means that b is better.

    a, b: metric name -> (n,) numbers of the same queries in the same order, NaN where undefined, as ``evaluate``
    returns them; both must have the same metrics. clusters: (n,) user ids. metrics: definitions of names outside the
    registry (a latency, say). margins: metric name -> equivalence margin in the metric's unit, over the metric's own;
    None never claims equivalence. A query counts for a metric if it is defined for both arms; the others are counted
    in the row. primary: the metric the question is about, named before the data are seen; it is corrected over the arms
    only, all other metrics form a second family. Raises DataError on unequal metrics
    or lengths, ConfigError on unknown metrics or bad settings.
    """
    return compare_arms(
        {names[0]: a, names[1]: b},
        clusters,
        baseline=names[0],
        metrics=metrics,
        margins=margins,
        alpha=alpha,
        n_resamples=n_resamples,
        seed=seed,
        primary=primary,
    )


def compare_arms(
    arms: Mapping[str, Values],
    clusters: ArrayLike,
    *,
    baseline: str,
    metrics: Mapping[str, Metric] | None = None,
    margins: Mapping[str, float | None] | None = None,
    alpha: float = 0.05,
    n_resamples: int = TEST_RESAMPLES,
    seed: int = 0,
    primary: str | None = None,
) -> Comparison:
    """Every other arm against the baseline; p-values are corrected over all metrics x all other arms together.

    With ``primary`` that metric is a family of its own (over the arms), and the other metrics are the second one.
    """
    if baseline not in arms or len(arms) < 2:
        raise ConfigError(f"baseline {baseline!r} needs to be one of at least two differently named arms: {list(arms)}")
    if not 0.0 < alpha <= 0.5:
        raise ConfigError(f"alpha is {alpha!r}: must be above 0 and at most 0.5, such as 0.05")
    design = _Design(cluster_codes(clusters), alpha, n_resamples, seed)
    first = arms[baseline]
    known = {name: (metrics or {}).get(name) or parse_metric(name) for name in first}
    _check_margins(margins or {}, known)
    if primary is not None and primary not in known:
        raise ConfigError(f"primary is {primary!r}, which is not compared; compared are: {', '.join(known)}")
    rows = []
    for arm, values in arms.items():
        if arm == baseline:
            continue
        if set(values) != set(first):
            raise DataError(
                f"arms {baseline!r} and {arm!r} differ in metrics: {sorted(set(values) ^ set(first))}; "
                "evaluate both with the same"
            )
        for name, metric in known.items():
            margin = (margins or {}).get(name, metric.margin)
            left, right = _column(baseline, name, first, design), _column(arm, name, values, design)
            rows.append(_row((baseline, arm), metric, margin, left, right, design))
    return Comparison(
        baseline=baseline,
        arms=tuple(arm for arm in arms if arm != baseline),
        alpha=alpha,
        n_resamples=n_resamples,
        seed=seed,
        rows=_corrected(rows, alpha, primary),
        primary=primary,
    )


def _check_margins(margins: Mapping[str, float | None], known: Mapping[str, Metric]) -> None:
    for name, margin in margins.items():
        if name not in known:
            raise ConfigError(f"margin for {name!r}, which is not compared; compared are: {', '.join(known)}")
        if margin is not None and not 0.0 <= margin < math.inf:
            raise ConfigError(f"margin of {name} is {margin!r}: must be a finite number >= 0, or None for no equivalence")


def _column(arm: str, name: str, values: Values, design: _Design) -> Floats:
    column = np.asarray(values[name], dtype=np.float64)
    if column.shape != design.codes.shape:
        raise DataError(
            f"{name} of arm {arm!r} has shape {column.shape}, clusters {design.codes.shape}: both need one element per query"
        )
    if np.isinf(column).any():
        raise DataError(f"{name} of arm {arm!r} has infinite values: use NaN for undefined")
    return column


def paired_differences(left: Floats, right: Floats) -> Floats:
    """right - left, with differences that are only rounding set to 0."""
    difference = right - left
    difference[np.abs(difference) <= 1e-12 * np.maximum(np.abs(left), np.abs(right))] = 0.0
    return difference


def _row(
    arms: tuple[str, str], metric: Metric, margin: float | None, left: Floats, right: Floats, design: _Design
) -> ComparisonRow:
    undefined_a, undefined_b = np.isnan(left), np.isnan(right)
    both = ~(undefined_a | undefined_b)
    codes, a, b = design.codes[both], left[both], right[both]
    n, g = len(a), len(np.unique(codes))
    difference = paired_differences(a, b)
    gains = difference if metric.higher_is_better else -difference
    row = ComparisonRow(
        arm_a=arms[0],
        arm_b=arms[1],
        metric=metric.name,
        unit=metric.unit,
        higher_is_better=metric.higher_is_better,
        n=n,
        n_clusters=g,
        n_undefined=int((undefined_a & undefined_b).sum()),
        n_undefined_a_only=int((undefined_a & ~undefined_b).sum()),
        n_undefined_b_only=int((undefined_b & ~undefined_a).sum()),
        mean_a=float(a.mean()) if n else None,
        mean_b=float(b.mean()) if n else None,
        difference=float(difference.mean()) if n else None,
        wins=int((gains > 0).sum()),
        ties=int((gains == 0).sum()),
        losses=int((gains < 0).sum()),
        margin=margin,
    )
    options = {"n_resamples": design.n_resamples, "seed": design.seed}
    interval = cluster_bootstrap_ci(difference, codes, **options) if n else None
    test = cluster_permutation_test(difference, codes, **options) if n else None
    if interval is None or test is None:
        return row
    scale = float(max(np.abs(a).max(), np.abs(b).max()))
    constant = is_constant(difference, scale) and bool(difference.any())
    if constant:
        interval = interval._replace(low=float(difference[0]), high=float(difference[0]), method="zero variance")
    at_alpha = interval
    if abs(design.alpha - 0.05) > 1e-12:
        at_alpha = cluster_bootstrap_ci(difference, codes, level=1.0 - design.alpha, **options) or interval
    width = None if metric.low is None or metric.high is None else metric.high - metric.low
    interval = interval.clipped(None if width is None else -width, width)
    return replace(
        row,
        ci95=interval.bounds,
        interval_method=interval.method,
        p_value=test.p_value,
        p_floor=test.p_floor,
        effect_size=None if constant else effect_size(difference),
        mde=None if constant else minimum_detectable_effect(at_alpha),
    )


def _corrected(rows: list[ComparisonRow], alpha: float, primary: str | None) -> tuple[ComparisonRow, ...]:
    """Adjusted p-values over each family of the rows that have one, then verdicts and notes."""
    judged: dict[int, ComparisonRow] = {}
    for own in (True, False):
        family = [row for row in rows if (row.metric == primary) is own]
        tested = [row for row in family if row.p_value is not None]
        raw = np.array([row.p_value for row in tested], dtype=np.float64)
        adjusted = {id(row): pair for row, *pair in zip(tested, holm(raw), benjamini_hochberg(raw), strict=True)}
        judged.update({id(row): _judged(row, adjusted.get(id(row)), len(tested), alpha) for row in family})
    return tuple(judged[id(row)] for row in rows)


def _judged(row: ComparisonRow, adjusted: list[float] | None, family: int, alpha: float) -> ComparisonRow:
    p_holm, q = (None, None) if adjusted is None else (float(adjusted[0]), float(adjusted[1]))
    constant = row.interval_method == "zero variance" and bool(row.difference)
    out_of_reach = row.p_floor is not None and row.p_floor > alpha
    result = verdict(
        n=row.n,
        n_clusters=row.n_clusters,
        identical=row.p_value is not None and row.wins == row.losses == 0,
        difference=row.difference,
        ci=row.ci95,
        p_adjusted=p_holm,
        margin=None if constant and out_of_reach else row.margin,
        higher_is_better=row.higher_is_better,
        alpha=alpha,
    )
    notes = []
    if result is Verdict.NOT_ENOUGH_DATA:
        notes.append(f"{row.n} queries of {row.n_clusters} users; at least two of each are needed")
    if constant:
        notes.append("zero variance: every difference is the same, so the interval has no width")
    if row.p_floor is not None and result is not Verdict.NO_DIFFERENCE:
        if out_of_reach:
            notes.append(f"p cannot fall under {row.p_floor:.3g} with these {row.n_clusters} clusters")
        elif row.p_floor * family > alpha:
            notes.append(f"p cannot fall under {row.p_floor:.3g}, so corrected over {family} tests it may never reach {alpha:g}")
    if result is Verdict.EQUIVALENT and p_holm is not None and p_holm <= alpha:
        notes.append("significant, but smaller than the margin")
    lost_a, lost_b = row.n_undefined_a_only, row.n_undefined_b_only
    if lost_a or lost_b:
        notes.append(f"undefined for only one arm: {lost_a} queries in {row.arm_a}, {lost_b} in {row.arm_b}")
        if (result is Verdict.BETTER and lost_b > lost_a) or (result is Verdict.WORSE and lost_a > lost_b):
            result = Verdict.INCONCLUSIVE
            notes.append("the arm ahead is also undefined more often, which may be why it is ahead")
    return replace(row, p_adjusted=p_holm, q_value=q, verdict=str(result), note="; ".join(notes))
