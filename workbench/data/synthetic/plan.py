"""How many entries and questions of each kind a store of a given size gets."""

from __future__ import annotations

from dataclasses import dataclass

from workbench.errors import DataError

MIN_SIZE = 190
MAX_SIZE = 200_000


@dataclass(frozen=True, kw_only=True)
class Plan:
    """Entries by layer (they add up to ``size``) and how many of each thing are planted among the memories."""

    size: int
    memories: int
    episodes: int
    procedures: int
    soul: int
    families: int
    family_size: int
    superseded: int
    contradictions: int
    singles: int
    lookalikes: int
    exact: int
    identifiers: int
    bundles: int
    copies: int
    paraphrases: int
    preferences: int
    recurring: int
    foreign: int
    recent: int


def plan(size: int) -> Plan:
    """The plan for ``size`` entries a user, Soul blocks included. Raises DataError out of range."""
    if isinstance(size, bool) or not isinstance(size, int) or not MIN_SIZE <= size <= MAX_SIZE:
        raise DataError(
            f"size is {size!r}: must be a whole number of entries a user from {MIN_SIZE} to {MAX_SIZE}; smaller stores "
            "cannot hold all scenarios"
        )
    soul = 11
    small, large = size < 260, size >= 600
    episodes = max(14 if small else 18, size * 7 // 100)
    procedures = 8 if small else min(max(12, size * 4 // 100), 40 + size // 100)
    return Plan(
        size=size,
        memories=size - soul - episodes - procedures,
        episodes=episodes,
        procedures=procedures,
        soul=soul,
        families=4 if small else 8 if large else 6,
        family_size=14,
        superseded=2 if small else 6 if large else 4,
        contradictions=1 if small else 3 if large else 2,
        singles=2 if small else 8 if large else 5,
        lookalikes=1 if small else 4 if large else 3,
        exact=0 if small else 2 if large else 1,
        identifiers=1 if small else 2 if large else 1,
        bundles=1 if small else 3 if large else 2,
        copies=1 if small else 2 if large else 1,
        paraphrases=2 if small else 6 if large else 4,
        preferences=7 if small else 9,
        recurring=1 if small else 3 if large else 2,
        foreign=1,
        recent=10 if small else 16,
    )
