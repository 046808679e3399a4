"""Replay: what the assembler would select under other weights, budgets and thresholds, computed from cached pools.

``replay`` counts what the metrics need for many configurations; ``replay_contexts`` (in the module of that name) gives one
configuration's contexts entry by entry. Both equal re-running the assembler.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from workbench.assembly.prompt import HEADINGS, LAYER_SECTIONS, line_tokens
from workbench.assembly.scoring import boost_factors
from workbench.config import AssemblyConfig
from workbench.experiments.metrics import DEFAULT, Metric, evaluate
from workbench.experiments.outcome import Facts
from workbench.experiments.pools import Floats, Ints, Pools, writable
from workbench.experiments.replay_tables import (
    Prefix,
    check_settings,
    ideal_ranking,
    prefix_key,
    prefix_of,
    sharing,
    signal_table,
    tiers_of,
)


@dataclass(frozen=True, eq=False)
class Counts:
    """What C configurations did with Q queries.

    found, stale, entries, repeated: (C, Q) as in ``outcome.Facts`` (entries is ``shown``). sections: (C, Q, 5) tokens per
    section of ``prompt.SECTIONS``, headings included. ranks: (C, m) rank of each wanted member in the scored pool, 0 where it
    is not in it; empty if ranks were not asked for.
    """

    found: Ints
    stale: Ints
    entries: Ints
    repeated: Ints
    sections: Ints
    ranks: Ints

    @property
    def tokens(self) -> Ints:
        """(C, Q) tokens of the whole prompt."""
        return np.asarray(self.sections.sum(axis=2))


class Replayer:
    """Pools with the tables that several configurations share, computed once each."""

    def __init__(self, pools: Pools) -> None:
        # arrays that came from another process may be read-only, for which numba would compile everything once more
        self.pools = pools = writable(pools)
        encoding = str(pools.settings["encoding"])
        self.heading = np.array([line_tokens(HEADINGS[name], encoding) for name in LAYER_SECTIONS], dtype=np.int64)
        self._tables: dict[Any, Any] = {}
        self._ideal = ideal_ranking(pools)

    def _once(self, key: tuple[Any, ...], make: Any) -> Any:
        if key not in self._tables:
            if len(self._tables) >= 64:
                self._tables.clear()
            self._tables[key] = make()
        return self._tables[key]

    def tables(self, config: AssemblyConfig) -> tuple[Floats, Floats, Prefix, npt.NDArray[np.uint8]]:
        """Signals (5, N), factors (N,), prefix, and (N,) 1 where a candidate is already shown as a preference."""
        pools, boosts = self.pools, tuple(config.boosts.items())
        half, saturation = config.half_life_days, config.frequency_saturation
        signals = self._once(("signals", half, saturation), lambda: signal_table(pools, half, saturation))
        factors = self._once(("factors", boosts), lambda: boost_factors(pools.category, pools.categories, config.boosts))
        prefix, shown = self._once(("prefix", prefix_key(config)), lambda: self._prefix(config))
        return signals, factors, prefix, shown

    def _prefix(self, config: AssemblyConfig) -> tuple[Prefix, npt.NDArray[np.uint8]]:
        prefix = prefix_of(self.pools, config)
        shown = np.zeros(self.pools.row.size, dtype=np.uint8)
        known = np.flatnonzero(self.pools.pref >= 0)
        shown[known] = prefix.shown[self.pools.pref[known]]
        return prefix, shown

    def counts(self, configs: Sequence[AssemblyConfig], *, ranks: bool = True) -> Counts:
        """Replay every configuration over every query."""
        from workbench.experiments.kernels import replay_counts

        pools, n, q = self.pools, len(configs), len(self.pools)
        check_settings(pools, configs)
        out = {name: np.zeros((n, q), dtype=np.int32) for name in ("found", "stale", "entries", "repeated")}
        sections = np.zeros((n, q, 5), dtype=np.int32)
        placed = np.zeros((n, pools.wanted.at.size if ranks else 0), dtype=np.int32)
        for rows, config in sharing(configs):
            signals, factor, prefix, shown = self.tables(config)
            inside = [configs[row] for row in rows.tolist()]
            part = {name: np.zeros((q, len(inside)), dtype=np.int32) for name in out}
            used = np.zeros((q, len(inside), 3), dtype=np.int32)
            rank = np.zeros((placed.shape[1], len(inside)), dtype=np.int32)
            replay_counts(
                pools.offsets, pools.layers, signals, factor, pools.tokens, pools.user,
                shown, prefix.shown, prefix.count, prefix.tokens, prefix.left, self.heading,
                np.array([item.weights.as_tuple() for item in inside], dtype=np.float64),
                np.array([item.min_score for item in inside], dtype=np.float64),
                np.array([tiers_of(item) for item in inside], dtype=np.int64),
                config.fill == "skip",
                pools.wanted.offsets, pools.wanted.group, pools.wanted.at, pools.wanted.pref,
                pools.unwanted.offsets, pools.unwanted.group, pools.unwanted.at, pools.unwanted.pref,
                pools.same.offsets, pools.same.group, pools.same.at, pools.same.pref,
                ranks, part["found"], part["stale"], part["entries"], part["repeated"], used, rank,
            )  # fmt: skip
            for name, values in part.items():
                out[name][rows] = values.T
            sections[rows, :, 0] = prefix.soul_tokens[pools.user]
            sections[rows, :, 1] = prefix.tokens[pools.user]
            sections[rows, :, 2:] = used.transpose(1, 0, 2)
            placed[rows] = rank.T
        return Counts(**out, sections=sections, ranks=placed)  # type: ignore[arg-type]

    def recall(self, counts: Counts) -> Floats:
        """(C, Q) context recall, NaN where it is undefined: what ``evaluate`` gives, for all configurations at once."""
        wanted = self.pools.n_wanted
        out = np.full(counts.found.shape, np.nan)
        np.divide(counts.found, wanted, out=out, where=np.broadcast_to(wanted > 0, out.shape))
        return out

    def facts(self, counts: Counts, row: int) -> Facts:
        """One configuration's counts in the form that every metric is computed from."""
        pools, q = self.pools, len(self.pools)
        hit_row, hit_rank, hit_gain = self._hits(counts.ranks[row]) if counts.ranks.size else _no_hits()
        ideal = self._ideal
        zeros, none = np.zeros(q, dtype=np.int64), np.zeros(q, dtype=np.bool_)
        return Facts(
            relevant=pools.n_wanted,
            hit_row=hit_row,
            hit_rank=hit_rank,
            hit_gain=hit_gain,
            ideal_row=ideal[0],
            ideal_rank=ideal[1],
            ideal_gain=ideal[2].astype(np.float64),
            found=counts.found[row].astype(np.int64),
            shown=counts.entries[row].astype(np.int64),
            repeated=counts.repeated[row].astype(np.int64),
            forbidden=pools.n_unwanted,
            stale=counts.stale[row].astype(np.int64),
            tokens=counts.sections[row].sum(axis=1).astype(np.int64),
            foreign=zeros,
            unanswerable=pools.unanswerable,
            failed=none,
            follows=pools.follows,
            # identity and preferences depend on the user alone, so under one configuration they never change
            stable=np.where(pools.follows, 1.0, np.nan),
            ranking_repeats=zeros,
        )

    def _hits(self, ranks: Ints) -> tuple[Ints, Ints, Floats]:
        """Row, first rank and grade of each relevant statement in a ranking, by row and rank."""
        wanted = self.pools.wanted
        query = np.repeat(np.arange(len(self.pools)), np.diff(wanted.offsets))
        inside = np.flatnonzero(ranks > 0)
        order = inside[np.lexsort((ranks[inside], query[inside]))]
        statement = query[order] * (int(wanted.group.max(initial=0)) + 1) + wanted.group[order]
        first = np.sort(np.unique(statement, return_index=True)[1])
        kept = order[first]
        return query[kept], ranks[kept].astype(np.int64), self.pools.gain[kept].astype(np.float64)


def replay(pools: Pools, configs: Sequence[AssemblyConfig], metrics: Iterable[str | Metric] = DEFAULT) -> dict[str, Floats]:
    """Metric name -> (C, Q) values, NaN where undefined: what ``evaluate`` gives for a run of each configuration."""
    names = list(metrics)
    replayer = Replayer(pools)
    counts = replayer.counts(configs)
    rows = [evaluate(replayer.facts(counts, row), names) for row in range(len(configs))]
    return {name: np.stack([row[name] for row in rows]) for name in (rows[0] if rows else {})}


def _no_hits() -> tuple[Ints, Ints, Floats]:
    return np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64), np.empty(0)
