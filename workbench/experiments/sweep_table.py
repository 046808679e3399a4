"""The result of a sweep: one flat table, the per-query values behind it, and the questions asked of it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from workbench.columns import frame_text
from workbench.config import AssemblyConfig
from workbench.errors import DataError
from workbench.experiments.constraints import Choice, Goal, choose
from workbench.experiments.metrics import parse_metric
from workbench.experiments.pools import Floats, Ints
from workbench.experiments.record import write_json
from workbench.tabular import Tabular

if TYPE_CHECKING:
    import pandas as pd

    from workbench.reports.cells import Table

SCHEMA = "workbench.sweep/2"


def flat_table(
    params: Sequence[Mapping[str, Any]],
    hashes: Sequence[str],
    rows: Sequence[Mapping[str, float | None]],
    metrics: Sequence[str],
    p95: Sequence[float | None] | None = None,
) -> pd.DataFrame:
    """One row per configuration: config_hash, param_*, then mean_*, ci_low_*, ci_high_*, n_*, rank_* per metric, and p95 (ms)
    if timed.

    rank_*: 1 is the best mean by the metric's direction, ties share the smaller number, undefined is NaN.
    """
    import pandas as pd

    frame = pd.DataFrame({"config_hash": list(hashes)})
    names = list(dict.fromkeys(name for row in params for name in row))
    for name in names:
        frame[f"param_{name}"] = [row.get(name) for row in params]
    columns: dict[str, Any] = {}
    for name in metrics:
        for part in ("mean", "ci_low", "ci_high", "n"):
            columns[f"{part}_{name}"] = np.array([row[f"{part}_{name}"] for row in rows], dtype=np.float64)
        columns[f"n_{name}"] = columns[f"n_{name}"].astype(np.int64)
        columns[f"rank_{name}"] = ranks(columns[f"mean_{name}"], name)
    frame = pd.concat([frame, pd.DataFrame(columns)], axis=1)
    if p95 is not None:
        frame["p95"] = np.array(p95, dtype=np.float64)
    return frame


def ranks(means: Any, metric: str) -> pd.Series:
    """(C,) rank of each mean by the metric's direction: 1 is best, ties share the smaller number, NaN stays NaN."""
    import pandas as pd

    return pd.Series(means).rank(method="min", ascending=not parse_metric(metric).higher_is_better)


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class Sweep(Tabular):
    """C configurations on Q queries.

    table: see ``flat_table``. values: metric -> (C, Q), NaN where undefined. configs, queries, users: of the rows and columns of
    ``values``. pool_keys: the pools each row was replayed from.
    """

    table: pd.DataFrame
    values: Mapping[str, Floats]
    configs: tuple[AssemblyConfig, ...]
    queries: tuple[str, ...]
    users: tuple[str, ...]
    metrics: tuple[str, ...]
    dataset: str
    dataset_checksum: str
    encoder: str
    seed: int
    pool_keys: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.configs)

    def best(self, goal: str | Goal = "max ContextRecall", *, near: AssemblyConfig | None = None) -> Choice:
        """The row that a goal chooses; "infeasible" with the nearest row when nothing satisfies its limits.

        near: of rows that tie, take the one whose weights are nearest to this configuration's.
        """
        return choose(self.table, goal, order=self.nearness(near))

    def nearness(self, near: AssemblyConfig | None) -> Ints:
        """(C,) rank of each row by closeness of its weights to ``near`` (sum of absolute differences), then as they are."""
        if near is None:
            return np.arange(len(self), dtype=np.int64)
        goal = np.array(near.weights.as_tuple())
        distance = np.array([np.abs(np.array(config.weights.as_tuple()) - goal).sum() for config in self.configs])
        rank = np.empty(len(self), dtype=np.int64)
        rank[np.lexsort((np.arange(len(self)), np.round(distance, 12)))] = np.arange(len(self))
        return rank

    def top(self, metric: str = "ContextRecall", n: int = 10) -> pd.DataFrame:
        """The n best rows by a metric, ties in the order of the sweep."""
        self._check(metric)
        return self.table.sort_values(f"rank_{metric}", kind="stable").head(n)

    def front(self, metric: str = "ContextRecall", cost: str = "Tokens") -> pd.DataFrame:
        """The Pareto front: rows that no other row beats in both, cheapest first."""
        from workbench.experiments.pareto import pareto_front

        self._check(metric)
        self._check(cost)
        merit = self.table[f"mean_{metric}"].to_numpy() * (1 if parse_metric(metric).higher_is_better else -1)
        return self.table.iloc[pareto_front(merit, self.table[f"mean_{cost}"].to_numpy())]

    def to_dataframe(self) -> pd.DataFrame:
        """The flat table."""
        return self.table

    def _check(self, metric: str) -> None:
        if metric not in self.metrics:
            raise DataError(f"the sweep did not measure {metric!r}; it measured {', '.join(self.metrics)}")

    def _shown(self) -> pd.DataFrame:
        first = self.metrics[0]
        params = [name for name in self.table if str(name).startswith("param_")]
        kept = [f"rank_{first}", *params, f"mean_{first}", f"ci_low_{first}", f"ci_high_{first}", f"n_{first}"]
        kept += [f"mean_{name}" for name in self.metrics[1:]]
        return self.top(first)[kept].rename(columns=lambda name: str(name).removeprefix("param_"))

    @property
    def _caption(self) -> str:
        return (
            f"sweep of {len(self)} configurations on {len(self.queries)} queries of {len(set(self.users))} users of "
            f"{self.dataset}; "
            "intervals 95 %, wild cluster bootstrap by user, one row each: the best of many rows is biased upwards, "
            "so confirm it on data it was not chosen on"
        )

    def __str__(self) -> str:
        return f"{self._caption}\n{frame_text(self._shown(), '{:.4g}'.format, keys=0)}"

    def tables(self) -> tuple[Table, ...]:
        """The result as tables; see ``Tabular``."""
        from workbench.reports.tables_of import sweep

        return sweep(self)

    def save(self, folder: str | Path) -> None:
        """Write ``sweep.parquet`` (the table), ``per_query.parquet`` and ``sweep.json`` into an existing folder."""
        import pandas as pd

        home = Path(folder)
        self.table.to_parquet(home / "sweep.parquet", index=False)
        c, q = len(self), len(self.queries)
        frame = pd.DataFrame(
            {
                # query by query: one query's values hardly change from row to row, which halves the file
                "row": np.tile(np.arange(c, dtype=np.int32), q),
                "query_id": pd.Categorical.from_codes(np.repeat(np.arange(q), c), list(self.queries)),
                **{name: column.T.ravel() for name, column in self.values.items()},
            }
        )
        frame.to_parquet(
            home / "per_query.parquet",
            index=False,
            compression="zstd",
            row_group_size=max(len(frame), 1),
            use_dictionary=[name for name in frame.columns if name != "row"],
            column_encoding={"row": "DELTA_BINARY_PACKED"},
        )
        write_json(
            home / "sweep.json",
            {
                "schema": SCHEMA,
                "configs": [config.to_dict() for config in self.configs],
                "queries": list(self.queries),
                "users": list(self.users),
                "metrics": list(self.metrics),
                "dataset": self.dataset,
                "dataset_checksum": self.dataset_checksum,
                "encoder": self.encoder,
                "seed": self.seed,
                "pool_keys": list(self.pool_keys),
            },
        )

    @classmethod
    def load(cls, folder: str | Path) -> Sweep:
        """Read what ``save`` wrote. Raises DataError naming the folder."""
        import pandas as pd

        home = Path(folder)
        try:
            meta = json.loads((home / "sweep.json").read_text(encoding="utf-8"))
            if meta.get("schema") != SCHEMA:
                raise ValueError(f"schema is {meta.get('schema')!r}, must be {SCHEMA!r}")
            table = pd.read_parquet(home / "sweep.parquet")
            frame = pd.read_parquet(home / "per_query.parquet", columns=list(meta["metrics"]))
            shape = (len(meta["queries"]), len(meta["configs"]))
            rest: dict[str, Any] = {
                **{name: tuple(meta[name]) for name in ("queries", "users", "metrics", "pool_keys")},
                **{name: meta[name] for name in ("dataset", "dataset_checksum", "encoder", "seed")},
            }
            return cls(
                table=table,
                values={name: np.ascontiguousarray(frame[name].to_numpy().reshape(shape).T) for name in meta["metrics"]},
                configs=tuple(AssemblyConfig.from_dict(row) for row in meta["configs"]),
                **rest,
            )
        except (OSError, KeyError, TypeError, ValueError) as error:
            raise DataError(f"cannot read a sweep from {home}: {error}") from None
