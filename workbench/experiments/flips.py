"""Flipped queries: on which queries two arms differ in what they found, and at which stage each difference arose."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from workbench.assembly.fates import Fate
from workbench.data.judged import JudgedDataset
from workbench.errors import DataError
from workbench.experiments.arms import ArmResult
from workbench.experiments.metrics import evaluate, parse_metric

if TYPE_CHECKING:
    import pandas as pd

_COLUMNS = ["query_id", "user_id", "group", "metric", "value_a", "value_b", "outcome", "entry_id", "stage_a", "stage_b"]


@dataclass(frozen=True, kw_only=True)
class Flips:
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
        return f"{self.caption}\n{self.stages().to_string(index=False)}"

    def _repr_html_(self) -> str:
        return f"<p>{escape(self.caption)}</p>{self.to_dataframe().to_html(index=False)}"


def flips(dataset: JudgedDataset, a: ArmResult, b: ArmResult, *, metric: str = "ContextRecall") -> Flips:
    """Compare what two arms found, query by query. Raises DataError when they did not answer the dataset's queries."""
    for arm in (a, b):
        if [outcome.query.id for outcome in arm.outcomes] != [query.id for query in dataset.queries]:
            raise DataError(f"arm {arm.name!r} did not answer the queries of {dataset.name}, in their order")
    name = parse_metric(metric).name
    left, right = evaluate(a.outcomes, [name])[name], evaluate(b.outcomes, [name])[name]
    gain = right - left if parse_metric(metric).higher_is_better else left - right
    gain = np.where(np.abs(gain) <= 1e-12, 0.0, gain)
    rows: list[dict[str, Any]] = []
    for at, query in enumerate(dataset.queries):
        changed = {
            key: (fate, b.fates[at][key])
            for key, fate in a.fates[at].items()
            if (fate is Fate.SELECTED) != (b.fates[at][key] is Fate.SELECTED)
        }
        if not changed and not (gain[at] != 0.0 and not np.isnan(gain[at])):
            continue
        shared = {
            "query_id": query.id,
            "user_id": query.user_id,
            "group": query.group,
            "metric": name,
            "value_a": None if np.isnan(left[at]) else float(left[at]),
            "value_b": None if np.isnan(right[at]) else float(right[at]),
            "outcome": "win" if gain[at] > 0 else "loss" if gain[at] < 0 else "tie",
        }
        rows += [
            {**shared, "entry_id": key, "stage_a": before.label, "stage_b": after.label}
            for key, (before, after) in changed.items()
        ] or [{**shared, "entry_id": None, "stage_a": None, "stage_b": None}]
    return Flips(
        arm_a=a.name,
        arm_b=b.name,
        metric=name,
        rows=tuple(rows),
        n_queries=len({row["query_id"] for row in rows}),
        wins=int((gain > 0).sum()),
        ties=int((gain == 0).sum()),
        losses=int((gain < 0).sum()),
    )
