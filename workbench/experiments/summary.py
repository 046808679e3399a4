"""Means of metrics over queries, with what was left out and an interval clustered by user."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from workbench.errors import DataError
from workbench.experiments.metrics import Metric, parse_metric
from workbench.experiments.outcome import Bools, Floats
from workbench.experiments.resampling import cluster_bootstrap_ci, cluster_codes
from workbench.tabular import Tabular

if TYPE_CHECKING:
    from workbench.reports.cells import Table


@dataclass(frozen=True, kw_only=True, repr=False)
class Summary(Tabular):
    """One metric over a set of queries.

    mean: over the n queries with a value; None when n is 0. n_undefined: queries left out because the metric is not
    defined for them. n_failed: failed queries among the n, counted with the worst value. ci95: of the mean, resampled
    by cluster (None with fewer than two clusters), and interval_method, the way it was made.
    """

    metric: str
    mean: float | None
    n: int
    n_undefined: int
    n_failed: int
    n_clusters: int
    ci95: tuple[float, float] | None
    interval_method: str
    unit: str
    higher_is_better: bool

    def to_dict(self) -> dict[str, Any]:
        """Strict JSON: no NaN, tuples as lists."""
        return asdict(self) | {"ci95": None if self.ci95 is None else list(self.ci95)}

    def tables(self) -> tuple[Table, ...]:
        """The result as tables; see ``Tabular``."""
        from workbench.reports.result_tables import frame_table

        low, high = self.ci95 or (None, None)
        row = {**self.to_dict(), "low": low, "high": high}
        columns = {
            "metric": "metric", "mean": "mean", "low": "95 % from", "high": "to", "n": "n", "n_clusters": "users",
            "n_undefined": "undefined", "n_failed": "failed",
        }  # fmt: skip
        note = f"Interval: {self.interval_method}, by user; {'higher' if self.higher_is_better else 'lower'} is better."
        units = dict.fromkeys(("mean", "low", "high"), self.unit)
        return (frame_table("Mean over queries", [row], columns, units=units, notes=(note,)),)

    def __str__(self) -> str:
        left_out = f", {self.n_undefined} undefined" if self.n_undefined else ""
        failed = f", {self.n_failed} failed" if self.n_failed else ""
        if self.mean is None:
            return f"{self.metric}: no data (n = 0{left_out}{failed})"
        interval = "no interval" if self.ci95 is None else f"95 % interval {self.ci95[0]:.3f} to {self.ci95[1]:.3f}"
        return f"{self.metric} {self.mean:.3f} ({interval}, n = {self.n}{left_out}{failed})"


def summarise(
    values: Mapping[str, ArrayLike],
    clusters: ArrayLike,
    *,
    failed: ArrayLike | None = None,
    metrics: Mapping[str, Metric] | None = None,
    seed: int = 0,
) -> dict[str, Summary]:
    """Mean, counts and 95 % interval of each metric.

    values: name -> (n,) numbers, NaN where undefined, as ``evaluate`` returns them. clusters: (n,) what repeats
    together, the user id. failed: (n,) flags. metrics: for names that are not in the registry. Raises DataError when
    lengths differ.
    """
    codes = cluster_codes(clusters)
    lost = np.zeros(len(codes), dtype=np.bool_) if failed is None else np.asarray(failed, dtype=np.bool_)
    if lost.shape != codes.shape:
        raise DataError(f"failed has shape {lost.shape}, clusters {codes.shape}: both need one element per query")
    result = {}
    for name, column in values.items():
        metric = (metrics or {}).get(name) or parse_metric(name)
        array = np.asarray(column, dtype=np.float64)
        if array.shape != codes.shape:
            raise DataError(f"{name} has shape {array.shape}, clusters {codes.shape}: both need one element per query")
        result[name] = _summary(metric, array, codes, lost, seed)
    return result


def _summary(metric: Metric, values: Floats, codes: Any, lost: Bools, seed: int) -> Summary:
    defined = ~np.isnan(values)
    kept = values[defined]
    interval = cluster_bootstrap_ci(kept, codes[defined], seed=seed) if len(kept) else None
    return Summary(
        metric=metric.name,
        mean=float(kept.mean()) if len(kept) else None,
        n=len(kept),
        n_undefined=int((~defined).sum()),
        n_failed=int((lost & defined).sum()),
        n_clusters=len(np.unique(codes[defined])),
        ci95=None if interval is None else interval.clipped(metric.low, metric.high).bounds,
        interval_method="not enough data" if interval is None else interval.method,
        unit=metric.unit,
        higher_is_better=metric.higher_is_better,
    )


def summarise_groups(
    values: Mapping[str, ArrayLike],
    clusters: ArrayLike,
    groups: Sequence[str],
    *,
    failed: ArrayLike | None = None,
    metrics: Mapping[str, Metric] | None = None,
    seed: int = 0,
) -> dict[str, dict[str, Summary]]:
    """``summarise`` for each group (scenario, category): group -> metric -> Summary, groups in sorted order."""
    names = np.asarray(groups, dtype=str)
    codes = cluster_codes(clusters)
    if names.shape != codes.shape:
        raise DataError(f"groups has {len(names)} elements, clusters {len(codes)}: both need one per query")
    columns = {name: np.asarray(column, dtype=np.float64) for name, column in values.items()}
    lost = None if failed is None else np.asarray(failed, dtype=np.bool_)
    result = {}
    for group in sorted(set(names.tolist())):
        inside = names == group
        result[group] = summarise(
            {name: column[inside] for name, column in columns.items()},
            codes[inside],
            failed=None if lost is None else lost[inside],
            metrics=metrics,
            seed=seed,
        )
    return result
