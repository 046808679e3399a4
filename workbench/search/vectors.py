"""The vector arm: exact inner-product search with FAISS, and above a measured size an exact look at what sketches point to.

Rows are unit vectors, so inner products are cosines. FAISS pads missing results with id -1 and -3.4e38; those never leave this
module.

Both kinds of index are made in passing (a second for 100,000 rows) and answer by the rows alone, so a store that has grown or
shrunk answers like one built at once. A graph (HNSW) does neither: it takes minutes to build and depends on the order of growth.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import faiss
import numpy as np
import numpy.typing as npt

from workbench.errors import StoreError
from workbench.search.sketch import Sketches

# Measured on one thread of a busy two-core machine, 384-d, made from real embeddings, top 100, CPU ms a query: exact / sketches
# (their recall@100; CPU s to make): 10,000 rows 1.2 / 1.8 (1.0000; 0.1), 20,000 rows 2.5 / 1.9 (0.9999; 0.2), 50,000 rows
# 6.6 / 2.8 (0.9995; 0.4), 100,000 rows 12 / 3.5 (0.9985; 0.9), 200,000 rows 22 / 4.5 (0.9984; 1.8). Below the switch-over exact
# search takes under 4 ms.
SKETCHES_FROM = 30_000
_LOOKED_AT = 16
_LEAST_LOOKED_AT = 1024
# with fewer rows for each that would be looked at, exact search is faster (100,000 rows: top 500 13 / 11 ms, 1,000 14 / 19 ms)
_PAYS_FROM = 12
_switch_over = ContextVar("switch_over", default=SKETCHES_FROM)

# One query against a flat index is slower on two threads than on one, and results must not depend on the thread count.
faiss.omp_set_num_threads(1)


@contextmanager
def switch_over(rows: int) -> Iterator[None]:
    """In this block indexes use sketches from ``rows`` rows on instead of ``SKETCHES_FROM``: to measure one beside the other."""
    token = _switch_over.set(rows)
    try:
        yield
    finally:
        _switch_over.reset(token)


class VectorIndex:
    """Nearest rows by cosine. ``exact=None`` chooses by size.

    exact: every row is looked at for every query. Otherwise the 16 k rows (at least 1,024) of the best sketches are, where that
    is faster, and of those the nearest are found exactly, with the very scores of an exact search. What is found depends on the
    rows and their order alone.
    """

    def __init__(self, vectors: npt.ArrayLike, *, dim: int | None = None, exact: bool | None = None) -> None:
        """``vectors``: shape (n, dim), any numeric type or layout. Raises StoreError naming expected and actual sizes."""
        try:
            with np.errstate(over="ignore"):  # too large for float32 becomes infinity, refused below
                matrix = np.ascontiguousarray(vectors, dtype=np.float32)
        except (TypeError, ValueError):
            raise StoreError("vectors must be a rectangular array of numbers, shape (n, dim)") from None
        if matrix.size == 0 and matrix.ndim == 1:
            matrix = matrix.reshape(0, dim or 1)
        if matrix.ndim != 2:
            raise StoreError(f"vectors have {matrix.ndim} dimensions, shape {matrix.shape}; expected (n, dim)")
        if dim is not None and matrix.shape[1] != dim:
            raise StoreError(f"vectors have size {matrix.shape[1]}, expected {dim}; use the model that indexed the store")
        if not np.isfinite(matrix).all():
            raise StoreError("vectors contain NaN or infinity; encode the texts again")
        self.dim = int(matrix.shape[1])
        self.count = int(matrix.shape[0])
        self.exact = self.count < _switch_over.get() if exact is None else exact
        norms = np.sqrt(np.einsum("ij,ij->i", matrix, matrix, dtype=np.float64))
        off = (np.abs(norms - 1.0) > 1e-5) & (norms > 0)
        if off.any():
            matrix = matrix.copy()
            matrix[off] = matrix[off] / norms[off, None]
        threads = faiss.omp_get_max_threads()
        faiss.omp_set_num_threads(1)
        try:
            self._flat: Any = faiss.IndexFlatIP(self.dim)
            if self.count:
                self._flat.add(matrix)
            self._sketches = None if self.exact else Sketches(matrix)
        finally:
            faiss.omp_set_num_threads(threads)

    def search(self, query: npt.NDArray[np.float32], k: int) -> npt.NDArray[np.int64]:
        """Row numbers of at most ``k`` nearest rows, nearest first, ties by row number; each row at most once.

        ``query``: shape (dim,), finite. Raises StoreError.
        """
        vector = np.ascontiguousarray(query, dtype=np.float32).reshape(1, -1)
        if vector.shape[1] != self.dim:
            raise StoreError(
                f"the query vector has size {vector.shape[1]}, the index {self.dim}; use the model that indexed the store"
            )
        if not np.isfinite(vector).all():
            raise StoreError("the query vector contains NaN or infinity; encode the query again")
        norm = float(np.linalg.norm(vector.astype(np.float64)))
        if norm > 0 and abs(norm - 1.0) > 1e-5:  # the order is the same, and no product can overflow
            vector = (vector.astype(np.float64) / norm).astype(np.float32)
        k = min(k, self.count)
        if k <= 0:
            return np.empty(0, dtype=np.int64)
        looked_at = max(_LOOKED_AT * k, _LEAST_LOOKED_AT)
        if self._sketches is None or self.count < _PAYS_FROM * looked_at:
            return self._all(vector, k)
        rows = np.sort(self._sketches.nearest(vector, looked_at))
        scores = np.empty(rows.size, dtype=np.float32)
        self._flat.compute_distance_subset(1, faiss.swig_ptr(vector), rows.size, faiss.swig_ptr(scores), faiss.swig_ptr(rows))
        return rows[np.argsort(-scores, kind="stable")[:k]]

    def _all(self, query: npt.NDArray[np.float32], k: int) -> npt.NDArray[np.int64]:
        # FAISS keeps any of the rows that tie at the cut, so it is asked for more until the tie is complete
        wide = min(k + 1, self.count)
        scores, rows = self._flat.search(query, wide)
        while wide < self.count and scores[0, -1] == scores[0, k - 1]:
            wide = min(2 * wide, self.count)
            scores, rows = self._flat.search(query, wide)
        order: npt.NDArray[np.int64] = rows[0][np.lexsort((rows[0], -scores[0]))[:k]].astype(np.int64, copy=False)
        return order
