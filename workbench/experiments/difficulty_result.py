"""The result of measuring how hard a judged dataset is, with its tables."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from workbench.experiments.ambiguity import Ambiguity
from workbench.experiments.difficulty_arms import ARMS, NOISE
from workbench.experiments.planted_pairs import PairCheck
from workbench.tabular import Tabular

if TYPE_CHECKING:
    import pandas as pd

    from workbench.reports.cells import Table

COMPLETE = 0.995
"""Clean recall from which an arm is said to answer a scenario completely."""
ORACLE_AT_LEAST = 0.95
FEW = 8
"""With fewer queries than this a verdict on a scenario says so: chance may have made it."""
LOSS = 0.15
"""Recall that must be lost without a signal for the scenario to depend on it."""


@dataclass(frozen=True, kw_only=True)
class ScenarioDifficulty:
    """One scenario. n: queries with an answer. recall: arm -> clean recall in [0, 1], empty when n is 0.

    broken: why it measures nothing; empty if it does.
    """

    scenario: str
    n: int
    recall: Mapping[str, float]
    broken: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class SignalDependence:
    """Whether a secondary signal decides its scenario.

    recall: with production weights. without: its weight 0. noisy: noise on the other three secondary signals. holds:
    ``without`` loses at least ``LOSS`` and ``noisy`` does not.
    """

    signal: str
    scenario: str
    n: int
    recall: float
    without: float
    noisy: float

    @property
    def holds(self) -> bool:
        return self.recall - self.without >= LOSS > self.recall - self.noisy


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class Difficulty(Tabular):
    """How hard a dataset is. ``str()`` prints the tables.

    Recall is *clean*: relevant statements in the assembled context / relevant statements, and 0 for a query whose
    context shows an entry that must not be there. lost: what became of the relevant entries under production weights.
    pairs: what conflict and duplicate stages make of pairs with a known relation.
    """

    dataset: str
    checksum: str
    n_users: int
    n_users_total: int
    n_queries: int
    budgets: Mapping[str, int | None]
    config_note: str
    encoder: str
    scenarios: tuple[ScenarioDifficulty, ...]
    signal_dependence: tuple[SignalDependence, ...]
    lost: Mapping[str, int]
    pairs: tuple[PairCheck, ...]
    ambiguous: tuple[Ambiguity, ...]

    @property
    def problems(self) -> tuple[str, ...]:
        """Everything that is wrong with the dataset, in words; empty if nothing is."""
        out = [f"{row.scenario}: {reason}" for row in self.scenarios for reason in row.broken]
        for row in self.signal_dependence:
            if not row.holds:
                out.append(
                    f"{row.signal}: in {row.scenario} recall is {row.recall:.2f}, without the signal {row.without:.2f}, "
                    f"with noise on the others {row.noisy:.2f}; the signal does not decide"
                )
        return (*out, *(f"ambiguous: {item}" for item in self.ambiguous))

    def to_dataframe(self) -> pd.DataFrame:
        """One row per scenario: scenario, n, one column per arm (NaN where n is 0), broken."""
        import pandas as pd

        rows = [
            {"scenario": row.scenario, "n": row.n, **{arm: row.recall.get(arm) for arm in ARMS}, "broken": "; ".join(row.broken)}
            for row in self.scenarios
        ]
        frame = pd.DataFrame(rows, columns=["scenario", "n", *ARMS, "broken"])
        return frame.astype(dict.fromkeys(ARMS, "float64"))

    def to_dict(self) -> dict[str, Any]:
        """Everything as strict JSON values."""
        return {
            "dataset": self.dataset,
            "checksum": self.checksum,
            "n_users": self.n_users,
            "n_users_total": self.n_users_total,
            "n_queries": self.n_queries,
            "budgets": dict(self.budgets),
            "config_note": self.config_note,
            "encoder": self.encoder,
            "measure": "clean context recall",
            "scenarios": [
                {"scenario": row.scenario, "n": row.n, "recall": dict(row.recall), "broken": list(row.broken)}
                for row in self.scenarios
            ],
            "noise": NOISE,
            "signal_dependence": [
                {
                    "signal": row.signal, "scenario": row.scenario, "n": row.n, "recall": row.recall, "without": row.without,
                    "noisy": row.noisy, "holds": row.holds,
                }
                for row in self.signal_dependence
            ],
            "lost": dict(self.lost),
            "pairs": [row.to_dict() for row in self.pairs],
            "ambiguous": [str(item) for item in self.ambiguous],
            "problems": list(self.problems),
        }  # fmt: skip

    def tables(self) -> tuple[Table, ...]:
        """The result as tables; see ``Tabular``."""
        from workbench.reports.tables_of import difficulty

        return difficulty(self)

    def __str__(self) -> str:
        shown = f"{self.n_users} of {self.n_users_total} users" if self.n_users < self.n_users_total else f"{self.n_users} users"
        budgets = ", ".join(f"{tier} {tokens}" for tier, tokens in self.budgets.items() if tokens is not None)
        lines = [
            f"difficulty of {self.dataset}: {shown}, {self.n_queries} queries; clean recall in the context, in per cent",
            f"token budgets: {budgets}; encoder {self.encoder}",
            "",
            f"{'scenario':<22}{'n':>5}" + "".join(f"{arm:>12}" for arm in ARMS),
        ]
        for row in self.scenarios:
            cells = "".join(f"{100 * row.recall[arm]:>12.1f}" if row.n else f"{'-':>12}" for arm in ARMS)
            lines.append(f"{row.scenario:<22}{row.n:>5}{cells}" + (f"  broken: {'; '.join(row.broken)}" if row.broken else ""))
        lines += ["", f"signals: production weights, the signal's weight 0, noise of +-{NOISE:g} on the other secondary signals"]
        lines.append(f"{'signal':<12}{'scenario':<22}{'n':>5}{'all':>8}{'without':>9}{'noisy':>8}")
        for dep in self.signal_dependence:
            lines.append(
                f"{dep.signal:<12}{dep.scenario:<22}{dep.n:>5}{100 * dep.recall:>8.1f}{100 * dep.without:>9.1f}"
                f"{100 * dep.noisy:>8.1f}" + ("" if dep.holds else "  does not decide")
            )
        if self.pairs:
            lines += ["", "pairs with a known relation:", *(f"  {row}" for row in self.pairs)]
        fates = ", ".join(f"{label} {count}" for label, count in self.lost.items() if count)
        lines += ["", f"relevant entries under production weights: {fates or 'none'}"]
        lines.append(f"problems: {len(self.problems)}" + "".join(f"\n  {problem}" for problem in self.problems))
        return "\n".join(lines)
