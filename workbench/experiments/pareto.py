"""Recall against tokens: the Pareto front, what another 100 tokens buy in each tier, and how to split a total budget."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from workbench.columns import frame_text
from workbench.config import AssemblyConfig
from workbench.errors import ConfigError
from workbench.experiments.comparison import paired_differences
from workbench.experiments.pools import Floats, Ints, Pools
from workbench.experiments.replay import Replayer
from workbench.experiments.resampling import cluster_bootstrap_ci
from workbench.experiments.space import simplex
from workbench.tabular import Tabular

if TYPE_CHECKING:
    import pandas as pd

    from workbench.reports.cells import Table

SPLIT_TIERS = ("memories", "episodes", "procedures")


def pareto_front(merit: Floats, cost: Floats) -> Ints:
    """Positions that no other beats: none has at least the merit at no more cost and is better in one of them; cheapest first.

    Of equal positions the first stays; undefined (NaN) ones are never on the front.
    """
    usable = np.flatnonzero(~(np.isnan(merit) | np.isnan(cost)))
    order = usable[np.lexsort((usable, -merit[usable], cost[usable]))]
    front, best = [], -np.inf
    for at in order.tolist():
        if merit[at] > best:
            front.append(at)
            best = merit[at]
    return np.array(front, dtype=np.int64)


def _means(replayer: Replayer, configs: Sequence[AssemblyConfig]) -> tuple[Floats, Floats]:
    """Context recall (C, Q) and tokens of the whole prompt (C, Q)."""
    counts = replayer.counts(configs, ranks=False)
    return replayer.recall(counts), counts.tokens.astype(np.float64)


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class Marginal(Tabular):
    """What tokens buy. rows: tier, budget_from, budget_to, tokens (mean used more), recall (mean gained), its 95 % interval, and
    recall_per_100_tokens (None where no more tokens were used); n queries with an answer."""

    rows: tuple[dict[str, Any], ...]

    def to_dataframe(self) -> pd.DataFrame:
        """One row per tier and step."""
        import pandas as pd

        return pd.DataFrame(list(self.rows))

    def __str__(self) -> str:
        return (
            f"{frame_text(self.to_dataframe(), '{:.4g}'.format, keys=3)}\n"
            "paired over queries; intervals 95 %, wild cluster bootstrap by user, one step each, uncorrected"
        )

    def tables(self) -> tuple[Table, ...]:
        """The result as tables; see ``Tabular``."""
        from workbench.reports.tables_of import marginal

        return marginal(self)


def marginal_recall(
    pools: Pools | Replayer,
    config: AssemblyConfig,
    *,
    tiers: Sequence[str] = SPLIT_TIERS,
    steps: Sequence[float] = (0.0, 0.25, 0.5, 0.75, 1.0, 1.5, 2.0),
    seed: int = 0,
) -> Marginal:
    """Context recall gained by each step of one tier's budget, the other tiers as they are.

    steps: multiples of the tier's budget in ``config``, ascending.
    """
    replayer = pools if isinstance(pools, Replayer) else Replayer(pools)
    rows: list[dict[str, Any]] = []
    for tier in tiers:
        if tier not in SPLIT_TIERS:
            raise ConfigError(f"tier is {tier!r}: must be one of {', '.join(SPLIT_TIERS)}")
        own = getattr(config.budgets, tier)
        budgets = sorted({round(own * step) for step in steps})
        recall, tokens = _means(replayer, [config.override(budgets={tier: budget}) for budget in budgets])
        for at, (low, high) in enumerate(pairwise(budgets)):
            gain = paired_differences(recall[at], recall[at + 1])
            kept = ~np.isnan(gain)
            more = float((tokens[at + 1] - tokens[at])[kept].mean()) if kept.any() else 0.0
            gained = float(gain[kept].mean()) if kept.any() else None
            interval = cluster_bootstrap_ci(gain[kept], replayer.pools.user[kept], seed=seed) if kept.any() else None
            rows.append(
                {
                    "tier": tier,
                    "budget_from": low,
                    "budget_to": high,
                    "n": int(kept.sum()),
                    "tokens": more,
                    "recall": gained,
                    "ci95_low": None if interval is None else interval.low,
                    "ci95_high": None if interval is None else interval.high,
                    "recall_per_100_tokens": None if gained is None or more <= 0 else 100 * gained / more,
                }
            )
    return Marginal(rows=tuple(rows))


@dataclass(frozen=True, kw_only=True, repr=False)
class Split(Tabular):
    """A split of ``total`` tokens over the tiers: budgets, mean recall and tokens used with it and with the present budgets.

    ties: how many splits reach the same recall; the one that uses fewest tokens is given.
    """

    total: int
    soul: int
    budgets: dict[str, int]
    recall: float
    tokens: float
    present_recall: float
    present_tokens: float
    n: int
    tried: int
    ties: int

    def tables(self) -> tuple[Table, ...]:
        """The result as tables; see ``Tabular``."""
        from workbench.reports.tables_of import split

        return split(self)

    def __str__(self) -> str:
        parts = ", ".join(f"{tier} {budget}" for tier, budget in self.budgets.items())
        return (
            f"{self.total} tokens: soul {self.soul}, {parts}; recall {self.recall:.4f} with {self.tokens:.0f} tokens a prompt "
            f"(present budgets cut to this total: {self.present_recall:.4f} with {self.present_tokens:.0f}); "
            f"best of {self.tried} splits on {self.n} queries"
            f"{f', {self.ties} reach it' if self.ties > 1 else ''}; confirm on other data"
        )


def propose_split(pools: Pools | Replayer, config: AssemblyConfig, total: int, *, parts: int = 20) -> Split:
    """The best split of ``total`` tokens over memories, episodes and procedures, by replaying every split in steps of 1 /
    ``parts``.

    The Soul budget stays as it is; what the longest identity of any user takes of it comes off first. Raises ConfigError when
    nothing is left after that.
    """
    replayer = pools if isinstance(pools, Replayer) else Replayer(pools)
    soul = int(replayer.tables(config)[2].soul_tokens.max(initial=0))
    rest = total - soul
    if rest <= 0 or not 1 <= parts <= 60:
        raise ConfigError(f"total is {total} and parts {parts!r}: total must exceed the Soul's {soul} tokens, parts be 1 to 60")
    splits = [tuple(rest * unit // parts for unit in point) for point in simplex(parts, len(SPLIT_TIERS))]
    configs = [config.override(budgets={**dict(zip(SPLIT_TIERS, split, strict=True)), "total": total}) for split in splits]
    recall, tokens = _means(replayer, [*configs, config.override(budgets={"total": total})])
    judged = ~np.isnan(recall[0])
    if not judged.any():
        raise ConfigError("no query of these pools has a relevant entry, so no split can be judged")
    means, used = recall[:, judged].mean(axis=1), tokens.mean(axis=1)
    best = int(np.lexsort((np.arange(len(splits)), used[:-1], -means[:-1]))[0])
    return Split(
        total=total,
        soul=soul,
        budgets=dict(zip(SPLIT_TIERS, splits[best], strict=True)),
        recall=float(means[best]),
        tokens=float(used[best]),
        present_recall=float(means[-1]),
        present_tokens=float(used[-1]),
        n=int(judged.sum()),
        tried=len(splits),
        ties=int((means[:-1] == means[best]).sum()),
    )
