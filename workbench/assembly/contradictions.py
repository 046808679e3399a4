"""Pairs of the pool that cannot both be true: the newer one wins, the older one leaves for this turn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from workbench.assembly.conflict_test import ConflictTest
from workbench.assembly.scoring import FUTURE_TOLERANCE_DAYS
from workbench.search.merge import Products, exact_cosines, similar_pairs
from workbench.search.pool import IntArray
from workbench.store.snapshot import Snapshot


@dataclass(frozen=True, kw_only=True)
class Conflict:
    """One conflicting pair: ids, cosine, the reason the test gave, and whether the newer superseded the older.

    ``decided`` is False when neither is newer (equal times, or the later time lies in the future): both stay.
    """

    newer: str
    older: str
    similarity: float
    reason: str
    decided: bool


@dataclass(frozen=True, kw_only=True)
class ConflictReport:
    """What the contradiction stage did: conflicts found, pairs tested, pairs skipped for being below the band."""

    conflicts: tuple[Conflict, ...] = ()
    tested: int = 0
    below_band: int = 0


def find_conflicts(
    snapshot: Snapshot,
    pools: Sequence[IntArray],
    band: tuple[float, float],
    conflict_test: ConflictTest,
    now: float,
    products: Sequence[Products] | None = None,
) -> tuple[dict[int, int], ConflictReport]:
    """Conflicts within each of ``pools`` (ascending rows, one layer each).

    Pairs below the band are not tested; pairs above it are, because conflict outranks duplicate. Returns superseded row ->
    the newest row that conflicts with it, and the report, whose conflicts follow the pools. now: seconds since 1970 UTC.
    products: of each pool's rows and others, if they are known.
    """
    known = products or (None,) * len(pools)
    found = [similar_pairs(snapshot, rows, band[0], own) for rows, own in zip(pools, known, strict=True) if rows.size > 1]
    filled = [rows for rows in pools if rows.size > 1]
    if not found:
        return {}, ConflictReport()
    # one question for all layers: most of what a small one takes is the same for any size
    a = np.concatenate([rows[left] for rows, (left, _, _) in zip(filled, found, strict=True)])
    b = np.concatenate([rows[right] for rows, (_, right, _) in zip(filled, found, strict=True)])
    codes = conflict_test.decide(snapshot.conflict_features, a, b, np.concatenate([proposed for _, _, proposed in found]))
    hit = np.flatnonzero(codes)
    cosine = exact_cosines(snapshot, a[hit], b[hit])
    inside = cosine >= band[0]
    hit, cosine = hit[inside], cosine[inside]
    # a date further in the future is a mistake, and wins nothing by being "newer"
    latest = now + FUTURE_TOLERANCE_DAYS * 86_400.0
    newer, older, reasons = a[hit], b[hit], conflict_test.reasons
    decided = (snapshot.changed[older] < snapshot.changed[newer]) & (snapshot.changed[newer] <= latest)
    superseded: dict[int, int] = {}
    for one, two in zip(newer[decided].tolist(), older[decided].tolist(), strict=True):
        superseded.setdefault(two, one)
    columns = (newer.tolist(), older.tolist(), np.round(cosine, 6).tolist(), codes[hit].tolist(), decided.tolist())
    conflicts = [
        Conflict(newer=snapshot.ids[one], older=snapshot.ids[two], similarity=similarity, reason=reasons[code], decided=settled)
        for one, two, similarity, code, settled in zip(*columns, strict=True)
    ]
    pairs = sum(rows.size * (rows.size - 1) // 2 for rows in filled)
    return superseded, ConflictReport(conflicts=tuple(conflicts), tested=int(a.size), below_band=pairs - int(a.size))


def combine(reports: list[ConflictReport]) -> ConflictReport:
    """The reports of several layers as one."""
    return ConflictReport(
        conflicts=tuple(conflict for report in reports for conflict in report.conflicts),
        tested=sum(report.tested for report in reports),
        below_band=sum(report.below_band for report in reports),
    )
