"""What replay computes once for many configurations: signals, the stable prefix of each user, the ideal rankings."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from workbench.assembly.budget import FITS, fill_budget
from workbench.assembly.prompt import HEADINGS, line_tokens
from workbench.assembly.scoring import frequency, recency
from workbench.assembly.selection import fill_soul
from workbench.config import AssemblyConfig
from workbench.errors import ConfigError
from workbench.experiments.pools import Floats, Ints, Pools, search_settings
from workbench.store.snapshot import SoulLine

_UNLIMITED = 2**62


@dataclass(frozen=True, eq=False)
class Prefix:
    """What comes before the query's own sections, per user: it does not depend on the query.

    soul: positions of the shown blocks. soul_tokens, tokens, count, left: (U,) identity, preferences, how many of them, and what
    is left of the total. shown: (P,) 1 for preferences that are shown.
    """

    soul: tuple[tuple[int, ...], ...]
    soul_tokens: Ints
    tokens: Ints
    count: Ints
    left: Ints
    shown: npt.NDArray[np.uint8]


def prefix_of(pools: Pools, config: AssemblyConfig) -> Prefix:
    """Identity and preferences of every user under ``config``; the assembler's own functions decide."""
    total = config.budgets.total if config.budgets.total is not None else _UNLIMITED
    soul, soul_tokens, tokens, count, left = [], [], [], [], []
    shown = np.zeros(pools.pref_tokens.size, dtype=np.uint8)
    share = int(config.budgets.memories * config.preference_share)
    heading = line_tokens(HEADINGS["preferences"], config.encoding)
    for number, blocks in enumerate(pools.soul):
        lines = tuple(SoulLine(str(at), group, f"{at}\n", size) for at, (group, size) in enumerate(blocks))
        chosen, used = fill_soul(lines, min(config.budgets.soul, total), config)
        rest = total - used
        start, stop = pools.pref_offsets[number], pools.pref_offsets[number + 1]
        needs = pools.pref_tokens[start:stop]
        fits = fill_budget(needs, min(share, rest) - heading, min(share, rest) - heading, config.fill) == FITS
        shown[start:stop] = fits
        spent = int(needs[fits].sum())
        spent += heading if spent else 0
        soul.append(chosen)
        soul_tokens.append(used)
        tokens.append(spent)
        count.append(int(fits.sum()))
        left.append(rest - spent)
    whole = [np.array(part, dtype=np.int64) for part in (soul_tokens, tokens, count, left)]
    return Prefix(tuple(soul), whole[0], whole[1], whole[2], whole[3], shown)


def signal_table(pools: Pools, half_life_days: float, saturation: int) -> Floats:
    """The five signals of every candidate, float64 (5, N), rows in the order of ``config.SIGNALS``."""
    return np.stack(
        [
            pools.relevance,
            pools.importance,
            pools.confidence,
            recency(pools.age, half_life_days),
            frequency(pools.access_count, saturation),
        ]
    )


def check_settings(pools: Pools, configs: Iterable[AssemblyConfig]) -> None:
    """Raises ConfigError when a configuration would search differently than the pools were."""
    for config in {id(item): item for item in configs}.values():
        own = search_settings(config)
        wrong = sorted(name for name, value in own.items() if pools.settings.get(name, value) != value and value is not None)
        if wrong:
            raise ConfigError(
                f"these pools were searched with another {', '.join(wrong)} "
                f"({', '.join(f'{name} = {pools.settings[name]!r}' for name in wrong)}); build pools for this configuration"
            )


def ideal_ranking(pools: Pools) -> tuple[Ints, Ints, Ints]:
    """Row, rank and grade of the best possible ranking of each query's relevant statements."""
    query = np.repeat(np.arange(len(pools)), np.diff(pools.wanted.offsets))
    statement = query * (int(pools.wanted.group.max(initial=0)) + 1) + pools.wanted.group
    first = np.unique(statement, return_index=True)[1]
    rows, gains = query[first], pools.gain[first]
    order = np.lexsort((-gains, rows))
    rows, gains = rows[order], gains[order]
    starts = np.searchsorted(rows, rows, side="left")
    return rows, np.arange(rows.size) - starts + 1, gains


def tiers_of(config: AssemblyConfig) -> tuple[int, int, int]:
    """Budgets of memories, episodes and procedures."""
    return config.budgets.memories, config.budgets.episodes, config.budgets.procedures


def prefix_key(config: AssemblyConfig) -> tuple[Any, ...]:
    """Configurations with equal keys have the same prefix."""
    share = int(config.budgets.memories * config.preference_share)
    return config.budgets.soul, share, config.budgets.total, config.fill


def sharing(configs: Sequence[AssemblyConfig]) -> Iterator[tuple[Ints, AssemblyConfig]]:
    """Positions of configurations that share all tables, with one of them."""
    groups: dict[tuple[Any, ...], list[int]] = {}
    for row, config in enumerate(configs):
        tables = (config.half_life_days, config.frequency_saturation, tuple(config.boosts.items()))
        groups.setdefault((prefix_key(config), tables), []).append(row)
    for rows in groups.values():
        yield np.array(rows, dtype=np.int64), configs[rows[0]]
