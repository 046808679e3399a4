"""The standing preferences of a user: the same for every query, so that a provider can cache the start of the prompt."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from workbench.assembly.conflict_test import ConflictTest
from workbench.assembly.contradictions import Conflict
from workbench.config import AssemblyConfig
from workbench.search.merge import exact_cosines, find_duplicates
from workbench.search.pool import IntArray
from workbench.store.snapshot import Snapshot

# How many of the nearest memories can overrule a preference, or be overruled by it.
_NEIGHBOURS = 1000


@dataclass(frozen=True, eq=False)
class Preferences:
    """rows: snapshot rows in order of (importance descending, id). superseded, duplicates: row -> the row that replaces it.

    conflicts: (newer row, older row, what was found) of every conflict that a preference takes part in, newest first. They settle
    which preferences stand, and a preference that stands also supersedes older memories, whether a query finds it or not.
    """

    rows: IntArray
    superseded: dict[int, int]
    duplicates: dict[int, int]
    conflicts: tuple[tuple[int, int, Conflict], ...]


def standing_preferences(
    snapshot: Snapshot,
    config: AssemblyConfig,
    band: tuple[float, float],
    duplicate_threshold: float,
    conflict_test: ConflictTest,
) -> Preferences:
    """Active memories flagged as preference with enough importance, less those that a newer memory contradicts or repeats.

    Neither the query nor the time of the query has a say, so that the start of the prompt stays the same.
    """
    rows = np.flatnonzero(
        snapshot.is_preference & snapshot.searchable & (snapshot.importance >= config.preference_min_importance)
    )
    conflicts = _conflicts(snapshot, rows, band[0], conflict_test) if config.contradictions else ()
    wanted = set(rows.tolist())
    superseded: dict[int, int] = {}
    for newer, older, _ in conflicts:
        if older in wanted:
            superseded.setdefault(older, newer)
    kept = np.array([row for row in rows.tolist() if row not in superseded], dtype=np.int64)
    duplicates = find_duplicates(snapshot, kept, 0, duplicate_threshold, conflict_test)
    order = sorted(
        (row for row in kept.tolist() if row not in duplicates),
        key=lambda row: (-snapshot.importance[row], snapshot.ids[row]),
    )
    return Preferences(np.array(order, dtype=np.int64), superseded, duplicates, conflicts)


def _conflicts(
    snapshot: Snapshot, rows: IntArray, low: float, conflict_test: ConflictTest
) -> tuple[tuple[int, int, Conflict], ...]:
    pairs: set[tuple[int, int]] = set()
    for row in rows.tolist():
        near = snapshot.index_rows[0][snapshot.indexes[0].search(snapshot.vectors[row], _NEIGHBOURS)]
        near = near[snapshot.changed[near] != snapshot.changed[row]]
        near = near[exact_cosines(snapshot, near, np.full(near.size, row, dtype=np.int64)) >= low]
        # a lower row is a newer one
        pairs.update((min(row, other), max(row, other)) for other in near.tolist())
    if not pairs:
        return ()
    newer, older = np.array(sorted(pairs), dtype=np.int64).T
    cosine = exact_cosines(snapshot, newer, older)
    codes = conflict_test.decide(snapshot.conflict_features, newer, older, cosine)
    return tuple(
        (
            int(newer[hit]),
            int(older[hit]),
            Conflict(
                newer=snapshot.ids[newer[hit]],
                older=snapshot.ids[older[hit]],
                similarity=round(float(cosine[hit]), 6),
                reason=conflict_test.reasons[int(codes[hit])],
                decided=True,
            ),
        )
        for hit in np.flatnonzero(codes).tolist()
    )
