"""Replay in full: one configuration's contexts, entry for entry and in order, with the fate of every relevant entry."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from workbench.assembly.fates import Fate
from workbench.assembly.prompt import LAYER_SECTIONS
from workbench.assembly.selection import CHOSEN, SHOWN_AS_PREFERENCE, WEAK
from workbench.config import AssemblyConfig
from workbench.experiments.pools import Floats, Ints, Pools
from workbench.experiments.replay import Replayer
from workbench.experiments.replay_tables import Prefix, check_settings, tiers_of


@dataclass(frozen=True, eq=False)
class ReplayedContexts:
    """One configuration's contexts. outcome, scores: (N,) per candidate. sections: (Q, 5) tokens."""

    pools: Pools
    config: AssemblyConfig
    prefix: Prefix
    outcome: npt.NDArray[np.int8]
    scores: Floats
    sections: Ints

    def selected(self, query: int) -> tuple[str, ...]:
        """Ids of the entries in the prompt of one query, in prompt order, without Soul blocks."""
        return tuple(key for part in self.by_section(query).values() for key in part)

    def by_section(self, query: int) -> Mapping[str, tuple[str, ...]]:
        """Ids per section of the prompt, in order."""
        pools, user = self.pools, int(self.pools.user[query])
        ids = pools.ids[user]
        start, stop = pools.pref_offsets[user], pools.pref_offsets[user + 1]
        rows = pools.pref_rows[start:stop][self.prefix.shown[start:stop] == 1]
        out = {"preferences": tuple(ids[row] for row in rows.tolist())}
        for layer, section in enumerate(LAYER_SECTIONS):
            a, b = pools.layers[query, layer], pools.layers[query, layer + 1]
            order = np.argsort(-self.scores[a:b], kind="stable")
            chosen = order[self.outcome[a:b][order] == CHOSEN]
            out[section] = tuple(ids[row] for row in pools.row[a:b][chosen].tolist())
        return out

    def ranking(self, query: int) -> tuple[str, ...]:
        """Ids of the scored pool before budgets, best first."""
        pools = self.pools
        a, b = pools.offsets[query], pools.offsets[query + 1]
        order = np.argsort(-self.scores[a:b], kind="stable")
        ids = pools.ids[int(pools.user[query])]
        return tuple(ids[row] for row in pools.row[a:b][order].tolist())

    def fates(self) -> Iterator[dict[str, Fate]]:
        """Per query, the fate of each relevant entry, as the assembler records it."""
        pools, named = self.pools, self.pools.relevant
        for query in range(len(pools)):
            out = {}
            for m in range(named.offsets[query], named.offsets[query + 1]):
                fate = Fate(int(pools.relevant_fate[m]))
                if named.pref[m] >= 0 and self.prefix.shown[named.pref[m]]:
                    fate = Fate.SELECTED
                elif named.at[m] >= 0:
                    code = int(self.outcome[named.at[m]])
                    fate = Fate.OVER_BUDGET
                    if code in (CHOSEN, SHOWN_AS_PREFERENCE):
                        fate = Fate.SELECTED
                    elif code == WEAK:
                        fate = Fate.BELOW_MINIMUM
                out[pools.ids[int(pools.user[query])][int(pools.relevant_row[m])]] = fate
            yield out


def replay_contexts(pools: Pools | Replayer, config: AssemblyConfig) -> ReplayedContexts:
    """The contexts of every query under one configuration."""
    from workbench.experiments.kernels import replay_outcomes

    replayer = pools if isinstance(pools, Replayer) else Replayer(pools)
    pools = replayer.pools
    check_settings(pools, [config])
    signals, factor, prefix, shown = replayer.tables(config)
    n = pools.row.size
    scores, outcome = np.zeros(n), np.zeros(n, dtype=np.int8)
    used = np.zeros((len(pools), 3), dtype=np.int64)
    replay_outcomes(
        pools.offsets, pools.layers, signals, factor, pools.tokens, pools.user, shown, prefix.tokens, prefix.left,
        replayer.heading, np.array(config.weights.as_tuple()), config.min_score, np.array(tiers_of(config), dtype=np.int64),
        config.fill == "skip", scores, outcome, used,
    )  # fmt: skip
    sections = np.column_stack([prefix.soul_tokens[pools.user], prefix.tokens[pools.user], used])
    return ReplayedContexts(pools, config, prefix, outcome, scores, sections)
