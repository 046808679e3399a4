"""From scored candidates to the entries of each section, within the token budgets.

Scoring and selection are the part that a change of weights, boosts, thresholds or budgets re-runs; the assembler and the replay
call the same functions.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from workbench.assembly.budget import FITS, TOO_LARGE, fill_budget
from workbench.assembly.preferences import Preferences
from workbench.assembly.prompt import HEADINGS, LAYER_SECTIONS, SECTIONS, line_tokens
from workbench.assembly.scoring import boost_factors, signals, weighted_score
from workbench.config import AssemblyConfig
from workbench.search.pool import FloatArray, IntArray, Pool
from workbench.store.snapshot import Snapshot, SoulLine

# What selection did with a candidate.
CHOSEN = 0
NO_ROOM = 1
OVERSIZE = 2
WEAK = 3
SHOWN_AS_PREFERENCE = 4


@dataclass(frozen=True, eq=False)
class Selection:
    """What goes into the prompt.

    soul: positions in ``snapshot.soul``. rows: section -> snapshot rows in prompt order. tokens: section -> count,
    headings included. outcome: what became of each pool candidate, int8, shape (n,). order: pool positions by score (ties: newer
    first, then id). soul_left_out: active blocks that did not fit.
    """

    soul: tuple[int, ...]
    rows: Mapping[str, IntArray]
    tokens: Mapping[str, int]
    outcome: npt.NDArray[np.int8]
    values: FloatArray
    scores: FloatArray
    order: IntArray
    soul_left_out: int


def rank(pool: Pool, snapshot: Snapshot, now: float, config: AssemblyConfig) -> tuple[FloatArray, FloatArray, IntArray]:
    """Signals (5, n), scores (n,) and the order of the pool by (-score, newer first, id), over all layers."""
    values = signals(pool, now, config)
    scores = weighted_score(values, config.weights, boost_factors(pool.category, snapshot.categories, config.boosts))
    order = np.lexsort((pool.row, -scores))
    return values, scores, order


def select(snapshot: Snapshot, pool: Pool, preferences: Preferences, now: float, config: AssemblyConfig) -> Selection:
    """Rank the pool and fill the tiers: identity, preferences, facts, episodes, procedures, in this order."""
    values, scores, order = rank(pool, snapshot, now, config)
    budgets = config.budgets
    left = budgets.total if budgets.total is not None else 2**62
    soul, soul_tokens = fill_soul(snapshot.soul, min(budgets.soul, left), config)
    left -= soul_tokens
    rows: dict[str, IntArray] = {}
    tokens = {"identity": soul_tokens}

    share = int(budgets.memories * config.preference_share)
    shown, used = _fill(preferences.rows, snapshot.tokens, "preferences", share, share, left, config)
    rows["preferences"] = preferences.rows[shown == FITS]
    tokens["preferences"] = used
    left -= used

    outcome = np.full(len(pool), NO_ROOM, dtype=np.int8)
    outcome[scores < config.min_score] = WEAK
    if len(pool) and rows["preferences"].size:
        # the pool's rows ascend
        at = np.minimum(np.searchsorted(pool.row, rows["preferences"]), len(pool) - 1)
        outcome[at[pool.row[at] == rows["preferences"]]] = SHOWN_AS_PREFERENCE
    tiers = (budgets.memories, budgets.episodes, budgets.procedures)
    for layer, section in enumerate(LAYER_SECTIONS):
        ranked = order[(pool.layer[order] == layer) & (outcome[order] == NO_ROOM)]
        room = tiers[layer] - (tokens["preferences"] if layer == 0 else 0)
        fate, used = _fill(pool.row[ranked], snapshot.tokens, section, room, tiers[layer], left, config)
        outcome[ranked[fate == FITS]] = CHOSEN
        outcome[ranked[fate == TOO_LARGE]] = OVERSIZE
        rows[section] = pool.row[ranked[fate == FITS]]
        tokens[section] = used
        left -= used
    tokens = {section: tokens[section] for section in SECTIONS}
    tokens["total"] = sum(tokens.values())
    return Selection(soul, rows, tokens, outcome, values, scores, order, len(snapshot.soul) - len(soul))


def _fill(
    rows: IntArray,
    line_counts: IntArray,
    section: str,
    room: int,
    tier: int,
    left: int,
    config: AssemblyConfig,
) -> tuple[npt.NDArray[np.int8], int]:
    """Fate of each row in one section and the tokens used, heading included (a heading without lines is not shown)."""
    heading = line_tokens(HEADINGS[section], config.encoding)
    needs = line_counts[rows]
    fate = fill_budget(needs, min(room, left) - heading, min(tier, left) - heading, config.fill)
    used = int(needs[fate == FITS].sum())
    return fate, used + heading if used else 0


def fill_soul(blocks: tuple[SoulLine, ...], room: int, config: AssemblyConfig) -> tuple[tuple[int, ...], int]:
    """Positions of the Soul blocks that fit, in order, and the tokens of the identity section with its tags."""
    chosen: list[int] = []
    used, group = 0, ""
    for position, block in enumerate(blocks):
        # counts of lines add up; the first block of a group brings that group's tags, the very first the outer ones
        alone = block.tokens + _tag_tokens(block.group, config.encoding)
        need = used + (block.tokens if block.group == group else alone)
        outer = 0 if chosen else _tag_tokens("identity", config.encoding)
        if need + outer <= room:
            chosen.append(position)
            used, group = need + outer, block.group
        elif config.fill == "stop" and alone + _tag_tokens("identity", config.encoding) <= room:
            # this block would fit alone, so the tier is full; one too large for the tier never closes it
            break
    return tuple(chosen), used


def _tag_tokens(tag: str, encoding: str) -> int:
    """Tokens of the opening and the closing line of an element."""
    return line_tokens(f"<{tag}>\n", encoding) + line_tokens(f"</{tag}>\n", encoding)
