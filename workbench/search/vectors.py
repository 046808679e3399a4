"""The vector arm: exact inner-product search with FAISS, and an HNSW graph above a measured size.

Rows are unit vectors, so inner products are cosines. FAISS pads missing results with id -1 and -3.4e38; those never leave this
module.
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

# Measured on one thread of a busy two-core machine, 384-d, top 100, CPU ms a query, exact / graph: 2,000 rows 0.31 / 0.97;
# 10,000 rows
# 2.2 / 1.5 (graph recall@100 0.995, 7 s to build); 20,000 rows 3.2 / 1.4 (0.997, 20 s to build); 50,000 rows 10.7 exact.
# The graph answers faster from about 8,000 rows on, but every process pays about a second per thousand rows to build it, so exact
# search stays as long as it takes a tenth of the 100 ms limit.
HNSW_FROM = 50_000
_M = 32
_EF_CONSTRUCTION = 200
_EF_SEARCH = 256
_switch_over = ContextVar("switch_over", default=HNSW_FROM)

# One query against a flat index is slower on two threads than on one, and results must not depend on the thread count.
faiss.omp_set_num_threads(1)


@contextmanager
def switch_over(rows: int) -> Iterator[None]:
    """In this block indexes become graphs from ``rows`` rows on instead of ``HNSW_FROM``: to measure one beside the other."""
    token = _switch_over.set(rows)
    try:
        yield
    finally:
        _switch_over.reset(token)


class VectorIndex:
    """Nearest rows by cosine. ``exact=None`` chooses by size; graphs are built on one thread, so they are reproducible."""

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
        if self.exact:
            self._index: Any = faiss.IndexFlatIP(self.dim)
        else:
            self._index = faiss.IndexHNSWFlat(self.dim, _M, faiss.METRIC_INNER_PRODUCT)
            self._index.hnsw.efConstruction = _EF_CONSTRUCTION
        threads = faiss.omp_get_max_threads()
        faiss.omp_set_num_threads(1)
        try:
            if self.count:
                self._index.add(matrix)
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
        k = min(k, self.count)
        if k <= 0:
            return np.empty(0, dtype=np.int64)
        # FAISS keeps any of the rows that tie at the cut, so it is asked for more until the tie is complete
        wide = min(k + 1, self.count)
        scores, rows = self._nearest(vector, wide)
        while rows.size == wide < self.count and scores[-1] == scores[k - 1]:
            wide = min(2 * wide, self.count)
            scores, rows = self._nearest(vector, wide)
        order = np.lexsort((rows, -scores))
        return rows[order[:k]]

    def _nearest(self, vector: npt.NDArray[np.float32], k: int) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.int64]]:
        if self.exact:
            scores, rows = self._index.search(vector, k)
        else:
            # missing from FAISS's type stubs
            parameters = faiss.SearchParametersHNSW(efSearch=max(_EF_SEARCH, 2 * k))  # type: ignore[attr-defined]
            scores, rows = self._index.search(vector, k, params=parameters)
        found = rows[0] >= 0
        return scores[0][found], rows[0][found].astype(np.int64, copy=False)
