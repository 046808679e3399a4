"""Ablation: what each signal contributes, by taking its weight away and leaving everything else as it is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from workbench.config import SIGNALS, AssemblyConfig
from workbench.experiments.comparison import Comparison, compare_arms
from workbench.experiments.identifiability import UNTESTABLE, Identifiability, identifiability
from workbench.experiments.metrics import evaluate
from workbench.experiments.pools import Pools
from workbench.experiments.replay import Replayer
from workbench.tabular import Tabular

if TYPE_CHECKING:
    import pandas as pd

    from workbench.reports.cells import Table

FULL = "all signals"


@dataclass(frozen=True, kw_only=True, repr=False)
class Ablation(Tabular):
    """comparison: one arm per signal, named ``without <signal>``, against all signals. signals: the identifiability of each.
    verdicts: per signal that of the first metric, "untestable here" where the signal is constant."""

    comparison: Comparison
    signals: Identifiability
    metrics: tuple[str, ...]
    verdicts: dict[str, str]

    def to_dataframe(self) -> pd.DataFrame:
        """Rows of the comparison."""
        return self.comparison.to_dataframe()

    def __str__(self) -> str:
        lines = [f"without {name}: {verdict}" for name, verdict in self.verdicts.items()]
        return "\n".join(
            [f"{self.metrics[0]}, weight set to 0, the others unchanged", *lines, str(self.comparison), str(self.signals)]
        )

    def tables(self) -> tuple[Table, ...]:
        """The result as tables; see ``Tabular``."""
        from workbench.reports.tables_of import ablation

        return ablation(self)

    def to_dict(self) -> dict[str, Any]:
        """Strict JSON."""
        return {"verdicts": self.verdicts, "comparison": self.comparison.to_dict(), "signals": self.signals.to_dict()}


def ablate(
    pools: Pools | Replayer,
    config: AssemblyConfig,
    *,
    metrics: Sequence[str] = ("ContextRecall",),
    dataset: str = "dataset",
    seed: int = 0,
) -> Ablation:
    """Replay ``config`` with each signal's weight set to 0. The weights are not normalised again, so a minimum score keeps its
    meaning for the signals that stay. Signals whose weight is 0 already are left out: nothing would change."""
    replayer = pools if isinstance(pools, Replayer) else Replayer(pools)
    used = [name for name in SIGNALS if getattr(config.weights, name) > 0]
    configs = [config, *(config.override(weights={name: 0.0}) for name in used)]
    counts = replayer.counts(configs)
    names = [FULL, *(f"without {name}" for name in used)]
    values = {name: evaluate(replayer.facts(counts, at), metrics) for at, name in enumerate(names)}
    comparison = compare_arms(values, list(replayer.pools.user_ids), baseline=FULL, seed=seed)
    known = identifiability(replayer, config, dataset=dataset)
    comparison = _without_verdicts(comparison, {f"without {name}" for name in known.untestable})
    found = {name: comparison.row(metrics[0], f"without {name}").verdict for name in used}
    return Ablation(comparison=comparison, signals=known, metrics=tuple(metrics), verdicts=found)


def _without_verdicts(comparison: Comparison, arms: set[str]) -> Comparison:
    """The same with no verdict on some arms: no difference between them and the baseline was possible in these data."""
    note = "the signal is constant in these data"
    rows = (replace(row, verdict=UNTESTABLE, note=note) if row.arm_b in arms else row for row in comparison.rows)
    return replace(comparison, rows=tuple(rows))
