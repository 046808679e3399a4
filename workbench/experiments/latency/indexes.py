"""Exact and sketch index side by side: which one is built, and how much of the exact result the sketches find."""

from __future__ import annotations

from contextlib import AbstractContextManager

import numpy as np
import numpy.typing as npt

from workbench.search.vectors import SKETCHES_FROM, switch_over
from workbench.store.snapshot import Snapshot


def indexes(exact: bool | None) -> AbstractContextManager[None]:
    """A block in which stores are compiled with exact indexes (True), sketches (False), or what their size asks for (None)."""
    return switch_over(SKETCHES_FROM if exact is None else 2**62 if exact else 0)


def index_recall(snapshot: Snapshot, queries: npt.NDArray[np.float32], k: int) -> float | None:
    """Mean share of the exact ``k`` nearest rows that the index of the largest layer finds; None when it is exact.

    queries: unit rows, shape (m, dim), m >= 1. A row that ties with the k-th counts as found.
    """
    layer = int(np.argmax(np.diff(snapshot.bounds)))
    index = snapshot.indexes[layer]
    if index.exact or not index.count or not len(queries):
        return None
    vectors = snapshot.vectors[snapshot.index_rows[layer]]
    k = min(k, index.count)
    shares = []
    for query in queries:
        cosine = vectors @ query
        least = np.partition(cosine, cosine.size - k)[cosine.size - k] - 1e-6
        shares.append(min(1.0, float((cosine[index.search(query, k)] >= least).sum()) / k))
    return float(np.mean(shares))
