"""Where relevant entries are lost: for each one that is not in the prompt, the stage that dropped it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.assembly.fates import Fate
from workbench.columns import frame_text
from workbench.data.judged import JudgedDataset, JudgedQuery
from workbench.errors import DataError
from workbench.experiments.outcome import statements
from workbench.experiments.record import write_json
from workbench.tabular import Tabular

if TYPE_CHECKING:
    import pandas as pd

    from workbench.reports.cells import Table

STAGES = tuple(fate for fate in Fate if fate is not Fate.SELECTED)
"""The fates of a lost entry, in the order of the stages."""
OVERALL = "all"
SCHEMA = "workbench.losses/1"


@dataclass(frozen=True, kw_only=True, repr=False)
class LossReport(Tabular):
    """Fates of the relevant entries of an arm.

    rows: per group, then over all: group, relevant (entries), one count per stage in the order of the pipeline (keys are the
    labels of ``Fate``), selected, and covered: lost entries whose statement another entry in the prompt says (they cost no
    recall; None where that is not known). lost: one record per lost entry: query_id, user_id, group, entry_id, stage, covered.
    Relevant entries of queries without judgement are left out and counted in ``n_unjudged``.
    """

    arm: str
    dataset: str
    group_name: str
    rows: tuple[dict[str, Any], ...]
    lost: tuple[dict[str, Any], ...]
    n_queries: int
    n_unjudged: int

    def __iter__(self) -> Any:
        return iter(self.rows)

    @property
    def total(self) -> Mapping[str, Any]:
        """The row over all groups."""
        return self.rows[-1]

    def waterfall(self, group: str = OVERALL) -> list[tuple[str, int]]:
        """Relevant entries at the start, then how many each stage took, then how many reached the prompt; the numbers add up."""
        row = next((row for row in self.rows if row["group"] == group), None)
        if row is None:
            raise DataError(f"no group {group!r}; there are {', '.join(str(row['group']) for row in self.rows)}")
        steps = [(stage.label, -int(row[stage.label])) for stage in STAGES]
        return [("relevant", int(row["relevant"])), *steps, (Fate.SELECTED.label, int(row[Fate.SELECTED.label]))]

    def to_dataframe(self) -> pd.DataFrame:
        """One row per group, the overall one last."""
        import pandas as pd

        return pd.DataFrame(list(self.rows))

    def entries(self) -> pd.DataFrame:
        """One row per lost entry."""
        import pandas as pd

        return pd.DataFrame(list(self.lost), columns=["query_id", "user_id", "group", "entry_id", "stage", "covered"])

    @property
    def caption(self) -> str:
        """What the table counts."""
        without = f"; {self.n_unjudged} queries without judgement left out" if self.n_unjudged else ""
        return (
            f"relevant entries of {self.n_queries} queries of {self.dataset} under {self.arm}, by the stage that lost them, "
            f"per {self.group_name}{without}; covered: lost, but another entry in the prompt says the same"
        )

    def __str__(self) -> str:
        return f"{self.caption}\n{frame_text(self.to_dataframe())}"

    def tables(self) -> tuple[Table, ...]:
        """The result as tables; see ``Tabular``."""
        from workbench.reports.tables_of import losses

        return losses(self)

    def to_dict(self) -> dict[str, Any]:
        """Strict JSON."""
        return {
            "schema": SCHEMA, "arm": self.arm, "dataset": self.dataset, "group_name": self.group_name, "rows": list(self.rows),
            "lost": list(self.lost), "n_queries": self.n_queries, "n_unjudged": self.n_unjudged,
        }  # fmt: skip

    def save(self, path: str | Path) -> None:
        """Write as JSON."""
        write_json(Path(path), self.to_dict())

    @classmethod
    def load(cls, path: str | Path) -> LossReport:
        """Read what ``save`` wrote. Raises DataError for anything else."""
        try:
            data = json.loads(Path(path).read_text(encoding="utf-8"))
            if data.pop("schema") != SCHEMA:
                raise ValueError("another schema")
            return cls(**{**data, "rows": tuple(data["rows"]), "lost": tuple(data["lost"])})
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            raise DataError(f"cannot read a loss report from {path}: {error}") from None


def losses(
    dataset: JudgedDataset,
    fates: Iterable[Mapping[str, Fate]],
    selected: Iterable[Sequence[str]],
    *,
    arm: str = "arm",
) -> LossReport:
    """The loss report of one arm.

    fates: per query of the dataset, relevant id -> fate, as in ``ArmResult.fates`` or ``ReplayedContexts.fates()``. selected: per
    query, ids in the prompt (they decide what is covered). Raises DataError when the lengths differ.
    """
    fates, selected = list(fates), list(selected)
    if not len(fates) == len(selected) == len(dataset.queries):
        raise DataError(
            f"{len(fates)} fates and {len(selected)} selections for {len(dataset.queries)} queries: need one each per query"
        )
    empty = {"relevant": 0, **{fate.label: 0 for fate in Fate}, "covered": 0}
    tables: dict[str, dict[str, int]] = {}
    overall = dict(empty)
    lost: list[dict[str, Any]] = []
    judged = 0
    for query, known, shown in zip(dataset.queries, fates, selected, strict=True):
        if not query.judged or not query.answerable:
            continue
        judged += 1
        covered = _covered(query, shown)
        for row in (tables.setdefault(query.group, dict(empty)), overall):
            for key, fate in known.items():
                row["relevant"] += 1
                row[fate.label] += 1
                row["covered"] += fate is not Fate.SELECTED and key in covered
        lost += [
            {
                "query_id": query.id,
                "user_id": query.user_id,
                "group": query.group,
                "entry_id": key,
                "stage": fate.label,
                "covered": key in covered,
            }
            for key, fate in known.items()
            if fate is not Fate.SELECTED
        ]
    # a dataset without groups has one that is called like the overall row, and is the same
    rows = [{"group": group, **tables[group]} for group in sorted(tables) if group != OVERALL or len(tables) > 1]
    return LossReport(
        arm=arm,
        dataset=dataset.name,
        group_name=dataset.group_name,
        rows=(*rows, {"group": OVERALL, **overall}),
        lost=tuple(lost),
        n_queries=judged,
        n_unjudged=sum(not query.judged for query in dataset.queries),
    )


def losses_of_table(frame: pd.DataFrame, arm: str, *, dataset: str, group_name: str) -> LossReport:
    """The loss report of one arm of a recorded run, from its ``per_query.parquet``.

    frame: columns arm, query_id, user_id, group, judged, answerable, relevant and relevant_fate. What other entries say the
    same as a lost one is not in that table, so ``covered`` is None throughout. Raises DataError when a column is missing.
    """
    wanted = ["arm", "query_id", "user_id", "group", "judged", "answerable", "relevant", "relevant_fate"]
    missing = [name for name in wanted if name not in frame]
    if missing:
        raise DataError(f"the table of queries lacks {', '.join(missing)}; run again to write it anew")
    own = frame[frame["arm"] == arm]
    counted = own[own["judged"] & own["answerable"]]
    empty: dict[str, Any] = {"relevant": 0, **{fate.label: 0 for fate in Fate}}
    tables: dict[str, dict[str, Any]] = {}
    overall = dict(empty)
    lost: list[dict[str, Any]] = []
    for record in counted[wanted].itertuples(index=False):
        for key, fate in zip(record.relevant, record.relevant_fate, strict=True):
            for row in (tables.setdefault(record.group, dict(empty)), overall):
                row["relevant"] += 1
                row[fate] += 1
            if fate != Fate.SELECTED.label:
                shared = {"query_id": record.query_id, "user_id": record.user_id, "group": record.group}
                lost.append({**shared, "entry_id": key, "stage": fate, "covered": None})
    rows = [{"group": group, **tables[group], "covered": None} for group in sorted(tables) if group != OVERALL or len(tables) > 1]
    return LossReport(
        arm=arm, dataset=dataset, group_name=group_name, rows=(*rows, {"group": OVERALL, **overall, "covered": None}),
        lost=tuple(lost), n_queries=len(counted), n_unjudged=int((~own["judged"]).sum()),
    )  # fmt: skip


def _covered(query: JudgedQuery, shown: Sequence[str]) -> set[str]:
    judged = statements(query)
    said = {judged.wanted[key] for key in shown if key in judged.wanted}
    return {key for key, head in judged.wanted.items() if head in said}
