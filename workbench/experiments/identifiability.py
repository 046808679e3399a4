"""Which weights a dataset can tell anything about: a signal that is the same for all candidates decides nothing, whatever its
weight."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from workbench.columns import frame_text
from workbench.config import SIGNALS, AssemblyConfig
from workbench.experiments.pools import Pools
from workbench.experiments.replay import Replayer
from workbench.tabular import Tabular

if TYPE_CHECKING:
    import pandas as pd

    from workbench.reports.cells import Table

UNTESTABLE = "untestable here"
TESTABLE = "testable"
# a spread below this is rounding
_CONSTANT = 1e-9


@dataclass(frozen=True, kw_only=True, repr=False)
class Identifiability(Tabular):
    """rows: per signal its nominal weight; spread (mean standard deviation in a pool); least and most (range over all pools);
    share of pools in which it varies; effective weight (nominal x spread, normalised per pool, mean over pools); and whether it
    is testable."""

    dataset: str
    rows: tuple[dict[str, Any], ...]
    n_pools: int
    n_users: int

    @property
    def untestable(self) -> tuple[str, ...]:
        """Signals that are constant in every pool: this dataset gives no verdict on their weights."""
        return tuple(row["signal"] for row in self.rows if row["verdict"] == UNTESTABLE)

    @property
    def warning(self) -> str:
        """What a chosen set of weights does not mean; empty when every signal is testable."""
        if not self.untestable:
            return ""
        names, verb = ", ".join(self.untestable), "is" if len(self.untestable) == 1 else "are"
        return f"{names} {verb} constant in these data: any weight would do as well, so the choice says nothing about them"

    def to_dataframe(self) -> pd.DataFrame:
        """One row per signal."""
        import pandas as pd

        return pd.DataFrame(list(self.rows))

    @property
    def caption(self) -> str:
        return (
            f"signals in {self.n_pools} pools of at least two candidates, {self.n_users} users of {self.dataset}; "
            "effective = nominal weight x standard deviation in the pool, normalised, mean over pools; "
            "a signal that is constant in every pool is untestable here"
        )

    def __str__(self) -> str:
        return f"{self.caption}\n{frame_text(self.to_dataframe(), '{:.4f}'.format)}"

    def tables(self) -> tuple[Table, ...]:
        """The result as tables; see ``Tabular``."""
        from workbench.reports.tables_of import identifiability

        return identifiability(self)

    def to_dict(self) -> dict[str, Any]:
        """Strict JSON."""
        return {"dataset": self.dataset, "n_pools": self.n_pools, "n_users": self.n_users, "rows": list(self.rows)}


def identifiability(pools: Pools | Replayer, config: AssemblyConfig, *, dataset: str = "dataset") -> Identifiability:
    """Spread and effective weight of each signal in the pools under ``config`` (its weights, half-life and saturation matter)."""
    replayer = pools if isinstance(pools, Replayer) else Replayer(pools)
    pools = replayer.pools
    values = replayer.tables(config)[0]
    sizes = np.diff(pools.offsets)
    kept = np.flatnonzero(sizes >= 2)
    weights = np.array(config.weights.as_tuple())
    spread = np.array([values[:, pools.offsets[at] : pools.offsets[at + 1]].std(axis=1) for at in kept.tolist()]).reshape(
        -1, len(SIGNALS)
    )
    spread[spread <= _CONSTANT] = 0.0
    product = spread * weights
    total = product.sum(axis=1, keepdims=True)
    effective = np.divide(product, total, out=np.zeros_like(product), where=total > 0)
    rows = []
    for at, name in enumerate(SIGNALS):
        varies = spread[:, at] > 0
        rows.append(
            {
                "signal": name,
                "weight": float(weights[at]),
                "spread": float(spread[:, at].mean()) if kept.size else 0.0,
                "least": float(values[at].min()) if values.size else None,
                "most": float(values[at].max()) if values.size else None,
                "varies_in": float(varies.mean()) if kept.size else 0.0,
                "effective": float(effective[:, at].mean()) if kept.size else 0.0,
                "verdict": TESTABLE if varies.any() else UNTESTABLE,
            }
        )
    return Identifiability(
        dataset=dataset, rows=tuple(rows), n_pools=int(kept.size), n_users=int(np.unique(pools.user[kept]).size)
    )
