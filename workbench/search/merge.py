"""After the search: exact and near duplicates collapse, then each layer is capped by relevance."""

from __future__ import annotations

from collections import defaultdict
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from workbench.search.pool import IntArray, Pool
from workbench.store.snapshot import Snapshot

if TYPE_CHECKING:
    from workbench.assembly.conflict_test import ConflictTest

# Proposals from a BLAS product may be off in the last bits; they are taken with this slack and then checked exactly.
_SLACK = 1e-4


class Products:
    """Inner products of ``rows`` (ascending), computed once for the duplicates and the contradictions of one layer."""

    def __init__(self, snapshot: Snapshot, rows: IntArray) -> None:
        self.rows = rows
        vectors = snapshot.vectors[rows]
        self._gram = vectors @ vectors.T

    def among(self, rows: IntArray) -> npt.NDArray[np.float32]:
        """(n, n) products of some of the rows."""
        if rows.size == self.rows.size:
            return self._gram
        at = np.searchsorted(self.rows, rows)
        return self._gram[at[:, None], at]


def similar_pairs(
    snapshot: Snapshot, rows: IntArray, threshold: float, products: Products | None = None
) -> tuple[IntArray, IntArray, npt.NDArray[np.float64]]:
    """Pairs of ``rows`` (positions i < j) with cosine >= threshold or just below it, and their cosines; one matrix product.

    The product only proposes: its last bits depend on BLAS. What decides is checked with ``exact_cosines``. products: of these
    rows and others, if they are known.
    """
    gram = (products or Products(snapshot, rows)).among(rows)
    near = gram >= threshold - _SLACK
    near &= _above(1 << max(rows.size - 1, 1).bit_length())[: rows.size, : rows.size]
    flat = np.flatnonzero(near)
    left = np.repeat(np.arange(rows.size), np.count_nonzero(near, axis=1))
    return left, flat - left * rows.size, gram.ravel()[flat].astype(np.float64)


@lru_cache(maxsize=16)
def _above(n: int) -> npt.NDArray[np.bool_]:
    """Where the column is beyond the row, shape (n, n)."""
    return np.triu(np.ones((n, n), dtype=np.bool_), 1)


def exact_cosines(snapshot: Snapshot, left: IntArray, right: IntArray) -> npt.NDArray[np.float64]:
    """Cosines of pairs of snapshot rows, float64, the same bits on any thread count."""
    a, b = snapshot.vectors[left].astype(np.float64), snapshot.vectors[right].astype(np.float64)
    products: npt.NDArray[np.float64] = np.einsum("ij,ij->i", a, b)
    return products


def find_duplicates(
    snapshot: Snapshot,
    rows: IntArray,
    layer: int,
    threshold: float,
    conflict_test: ConflictTest,
    *,
    standing: IntArray | None = None,
    products: Products | None = None,
) -> dict[int, int]:
    """Duplicates among ``rows`` of one layer: snapshot row of the duplicate -> row of the newest entry that says the same.

    Exact: equal canonical text. Near: cosine >= threshold, unless the two conflict. Episodes on different days are
    never duplicates. ``rows`` ascending, i.e. newer first. standing: rows that stay whatever repeats them, also newer ones:
    preferences that the prompt shows anyway.
    """
    if rows.size < 2:
        return {}
    left, right, _ = similar_pairs(snapshot, rows, threshold, products)
    a, b = rows[left], rows[right]
    keys = snapshot.text_key[rows]
    differ = snapshot.text_key[a] != snapshot.text_key[b]
    a, b = a[differ], b[differ]
    if a.size:
        cosine = exact_cosines(snapshot, a, b)
        near = cosine >= threshold
        a, b, cosine = a[near], b[near], cosine[near]
    if a.size:
        apart = conflict_test.decide(snapshot.conflict_features, a, b, cosine) != 0
        a, b = a[~apart], b[~apart]
    if layer == 1 and a.size:
        together = snapshot.day[a] == snapshot.day[b]
        a, b = a[together], b[together]
    near_to = defaultdict(list)
    for one, two in zip(a.tolist(), b.tolist(), strict=True):
        near_to[one].append(two)
        near_to[two].append(one)
    # an entry with a text of its own and nothing near it stays, and decides about no other
    involved = np.isin(rows, np.concatenate((a, b))) if a.size else np.zeros(rows.size, dtype=bool)
    order = np.argsort(keys, kind="stable")
    again = np.flatnonzero(keys[order[1:]] == keys[order[:-1]])
    involved[order[again]] = involved[order[again + 1]] = True
    if not involved.any():
        return {}
    rows, keys = rows[involved], keys[involved]
    first = np.isin(rows, standing) if standing is not None else np.zeros(rows.size, dtype=bool)
    stays: set[int] = set()
    says: dict[int, int] = {}  # text key -> the entry that stays for this text
    found: dict[int, int] = {}
    for position in [*np.flatnonzero(first).tolist(), *np.flatnonzero(~first).tolist()]:
        row, key = int(rows[position]), int(keys[position])
        # similarity is not transitive: only entries that stay can absorb others; exact copies share one fate
        by = says.get(key, min((other for other in near_to[row] if other in stays), default=-1))
        if by < 0:
            stays.add(row)
        else:
            found[row] = by
        says.setdefault(key, row if by < 0 else by)
    return found


def over_cap(pool: Pool, cap: int) -> npt.NDArray[np.bool_]:
    """Mask of the candidates beyond ``cap`` per layer, in order of relevance (ties: newer first, then id)."""
    beyond = np.zeros(len(pool), dtype=bool)
    for layer in range(3):
        inside = np.flatnonzero(pool.layer == layer)
        if inside.size > cap:
            order = np.argsort(-pool.relevance[inside], kind="stable")
            beyond[inside[order[cap:]]] = True
    return beyond
