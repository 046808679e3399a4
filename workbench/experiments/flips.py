"""Flipped queries: on which queries two arms differ in what they found, and at which stage each difference arose."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from workbench.assembly.fates import Fate
from workbench.columns import frame_text
from workbench.data.judged import JudgedDataset
from workbench.errors import DataError
from workbench.experiments.metrics import evaluate, parse_metric
from workbench.tabular import Tabular

if TYPE_CHECKING:
    import pandas as pd

    from workbench.experiments.arms import ArmResult
    from workbench.reports.cells import Table

_COLUMNS = ["query_id", "user_id", "group", "metric", "value_a", "value_b", "outcome", "entry_id", "stage_a", "stage_b"]


@dataclass(frozen=True, kw_only=True, repr=False)
class Flips(Tabular):
    """rows: one per relevant entry that only one arm shows (or one without entry where the metric differs for another reason):
    query_id, user_id, group, metric, value_a, value_b, outcome of b (win, loss, tie), entry_id, stage_a and stage_b (its fate
    in each arm). n_queries: queries concerned; wins, ties, losses: of arm b over all queries with a value."""

    arm_a: str
    arm_b: str
    metric: str
    rows: tuple[dict[str, Any], ...]
    n_queries: int
    wins: int
    ties: int
    losses: int

    def to_dataframe(self) -> pd.DataFrame:
        """One row per flipped entry."""
        import pandas as pd

        return pd.DataFrame(list(self.rows), columns=_COLUMNS)

    def stages(self) -> pd.DataFrame:
        """How many entries flipped from which stage to which."""
        frame = self.to_dataframe().dropna(subset=["entry_id"])
        counts = frame.groupby(["stage_a", "stage_b"]).size().rename("entries").reset_index()
        return counts.sort_values(["entries", "stage_a", "stage_b"], ascending=[False, True, True], ignore_index=True)

    @property
    def caption(self) -> str:
        return (
            f"{self.metric} of {self.arm_b} against {self.arm_a}: {self.wins} wins, {self.ties} ties, {self.losses} losses; "
            f"{self.n_queries} queries show other relevant entries"
        )

    def __str__(self) -> str:
        return f"{self.caption}\n{frame_text(self.stages())}"

    def tables(self) -> tuple[Table, ...]:
        """The result as tables; see ``Tabular``."""
        from workbench.reports.tables_of import flips

        return flips(self)


def flips(dataset: JudgedDataset, a: ArmResult, b: ArmResult, *, metric: str = "ContextRecall") -> Flips:
    """Compare what two arms found, query by query. Raises DataError when they did not answer the dataset's queries."""
    for arm in (a, b):
        if [outcome.query.id for outcome in arm.outcomes] != [query.id for query in dataset.queries]:
            raise DataError(f"arm {arm.name!r} did not answer the queries of {dataset.name}, in their order")
    name = parse_metric(metric).name
    left, right = evaluate(a.outcomes, [name])[name], evaluate(b.outcomes, [name])[name]
    labels = [[{key: fate.label for key, fate in fates.items()} for fates in arm.fates] for arm in (a, b)]
    queries = [(query.id, query.user_id, query.group) for query in dataset.queries]
    return _flips(queries, labels[0], labels[1], left, right, arms=(a.name, b.name), metric=name)


def flips_of_table(frame: pd.DataFrame, a: str, b: str, *, metric: str = "ContextRecall") -> Flips:
    """The same from the ``per_query.parquet`` of a recorded run.

    frame: columns arm, query_id, user_id, group, relevant, relevant_fate and the metric's. Raises DataError when one is missing
    or the arms did not answer the same queries.
    """
    name = parse_metric(metric).name
    wanted = ["arm", "query_id", "user_id", "group", "relevant", "relevant_fate", name]
    missing = [column for column in wanted if column not in frame]
    if missing:
        raise DataError(f"the table of queries lacks {', '.join(missing)}; run again to write it anew")
    parts = [frame[frame["arm"] == arm] for arm in (a, b)]
    if list(parts[0]["query_id"]) != list(parts[1]["query_id"]):
        raise DataError(f"arms {a!r} and {b!r} did not answer the same queries in the same order")
    labels = [
        [dict(zip(keys, fates, strict=True)) for keys, fates in zip(part["relevant"], part["relevant_fate"], strict=True)]
        for part in parts
    ]
    queries = list(zip(*(parts[0][column] for column in ("query_id", "user_id", "group")), strict=True))
    left, right = (part[name].to_numpy(dtype=np.float64) for part in parts)
    return _flips(queries, labels[0], labels[1], left, right, arms=(a, b), metric=name)


def _flips(
    queries: Sequence[tuple[str, str, str]],
    fates_a: Sequence[Mapping[str, str]],
    fates_b: Sequence[Mapping[str, str]],
    left: npt.NDArray[np.float64],
    right: npt.NDArray[np.float64],
    *,
    arms: tuple[str, str],
    metric: str,
) -> Flips:
    gain = right - left if parse_metric(metric).higher_is_better else left - right
    gain = np.where(np.abs(gain) <= 1e-12, 0.0, gain)
    selected = Fate.SELECTED.label
    rows: list[dict[str, Any]] = []
    for at, (query_id, user_id, group) in enumerate(queries):
        changed = {
            key: (fate, fates_b[at][key])
            for key, fate in fates_a[at].items()
            if (fate == selected) != (fates_b[at][key] == selected)
        }
        if not changed and not (gain[at] != 0.0 and not np.isnan(gain[at])):
            continue
        shared = {
            "query_id": query_id,
            "user_id": user_id,
            "group": group,
            "metric": metric,
            "value_a": None if np.isnan(left[at]) else float(left[at]),
            "value_b": None if np.isnan(right[at]) else float(right[at]),
            "outcome": "win" if gain[at] > 0 else "loss" if gain[at] < 0 else "tie",
        }
        rows += [
            {**shared, "entry_id": key, "stage_a": before, "stage_b": after} for key, (before, after) in changed.items()
        ] or [{**shared, "entry_id": None, "stage_a": None, "stage_b": None}]
    return Flips(
        arm_a=arms[0],
        arm_b=arms[1],
        metric=metric,
        rows=tuple(rows),
        n_queries=len({row["query_id"] for row in rows}),
        wins=int((gain > 0).sum()),
        ties=int((gain == 0).sum()),
        losses=int((gain < 0).sum()),
    )
