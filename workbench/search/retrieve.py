"""Both search arms over the three layers, and the relevance that fuses them."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from workbench.config import AssemblyConfig
from workbench.search.pool import KEYWORD_ARM, VECTOR_ARM, FloatArray, IntArray, Pool
from workbench.store.snapshot import Snapshot

# Stores smaller than this have no reliable median: the floor shrinks towards 0 as n / (n + this).
_FLOOR_SHRINK = 20.0
# RRF's usual constant (Cormack, Clarke, Buettcher 2009).
_RRF_K = 60.0
# A BM25 score of this many nats of matched idf counts as a certain keyword match in the calibrated variant.
_BM25_SCALE = 8.0


def top_rows(scores: FloatArray, k: int) -> IntArray:
    """Positions of the ``k`` highest positive scores, ascending; ties go to the lower position."""
    rows = np.flatnonzero(scores > 0)
    if rows.size > k:
        found = scores[rows]
        kth = np.partition(found, rows.size - k)[rows.size - k]
        above = rows[found > kth]
        rows = np.sort(np.concatenate((above, rows[found == kth][: k - above.size])))
    return rows.astype(np.int64, copy=False)


def cosines(vectors: npt.NDArray[np.float32], query: npt.NDArray[np.float32]) -> FloatArray:
    """Cosine of each unit row with the unit query, float64 in [-1, 1].

    Without BLAS on purpose: its last bits depend on the shape and on the number of threads, these do not.
    """
    products: FloatArray = np.einsum("ij,j->i", vectors, query).astype(np.float64)
    return np.clip(products, -1.0, 1.0)


def retrieve(
    snapshot: Snapshot, query_vector: npt.NDArray[np.float32], keyword_scores: FloatArray, config: AssemblyConfig
) -> Pool:
    """Union over the arms of the ``top_k`` hits per layer, with relevance.

    query_vector: shape (dim,), unit norm or zero (then the vector arm finds nothing). keyword_scores: BM25, shape (n,).
    """
    has_vector = bool(np.any(query_vector))
    parts, sizes = [], []
    for layer in range(3):
        start, stop = snapshot.bounds[layer], snapshot.bounds[layer + 1]
        if has_vector:
            parts.append(snapshot.index_rows[layer][snapshot.indexes[layer].search(query_vector, config.top_k)])
            sizes.append((parts[-1].size, VECTOR_ARM))
        parts.append(top_rows(keyword_scores[start:stop], config.top_k) + start)
        sizes.append((parts[-1].size, KEYWORD_ARM))
    rows, arms = _union(np.concatenate(parts), np.repeat([arm for _, arm in sizes], [size for size, _ in sizes]))
    cosine = cosines(snapshot.vectors[rows], query_vector)
    bm25 = keyword_scores[rows]
    relevance = _relevance(snapshot, rows, cosine, bm25, query_vector, keyword_scores, config)
    return Pool(
        row=rows,
        layer=np.searchsorted(np.asarray(snapshot.bounds[1:3]), rows, side="right").astype(np.int64),
        arms=arms,
        cosine=cosine,
        bm25=bm25,
        relevance=relevance,
        importance=snapshot.importance[rows],
        confidence=snapshot.confidence[rows],
        changed=snapshot.changed[rows],
        access_count=snapshot.access_count[rows],
        category=snapshot.category[rows],
        tokens=snapshot.tokens[rows],
    )


def _union(hits: IntArray, arms: IntArray) -> tuple[IntArray, IntArray]:
    """The rows of ``hits`` ascending, each once, and the arms that found them together; an arm finds a row at most once."""
    order = np.argsort(hits, kind="stable")
    hits, arms = hits[order], arms[order]
    if hits.size == 0:
        return hits, arms
    first = np.concatenate(([0], np.flatnonzero(hits[1:] != hits[:-1]) + 1))
    return hits[first], np.add.reduceat(arms, first)


def _relevance(
    snapshot: Snapshot,
    rows: IntArray,
    cosine: FloatArray,
    bm25: FloatArray,
    query_vector: npt.NDArray[np.float32],
    keyword_scores: FloatArray,
    config: AssemblyConfig,
) -> FloatArray:
    if rows.size == 0:
        return np.empty(0, dtype=np.float64)
    best = float(bm25.max())  # the store's best is among the hits of its layer
    fused = fuse_linear(cosine, bm25, best, config.alpha)
    if config.fusion == "linear":
        return fused
    if config.fusion == "spread":
        sample = fuse_linear(
            cosines(snapshot.floor_vectors, query_vector), keyword_scores[snapshot.floor_rows], best, config.alpha
        )
        size = sum(part.size for part in snapshot.index_rows)
        floor = median(sample) * size / (size + _FLOOR_SHRINK)
        return spread(fused, floor, config.reference_relevance or 0.0)
    if config.fusion == "minmax":
        return config.alpha * _minmax(cosine) + (1 - config.alpha) * _minmax(bm25)
    if config.fusion == "rrf":
        return _rrf(rows, cosine, bm25, snapshot.bounds)
    # calibrated: each arm through a fixed saturating curve, nothing depends on the rest of the store
    return config.alpha * np.maximum(cosine, 0.0) + (1 - config.alpha) * (1.0 - np.exp(-bm25 / _BM25_SCALE))


def fuse_linear(cosine: FloatArray, bm25: FloatArray, best_bm25: float, alpha: float) -> FloatArray:
    """``alpha * max(0, cosine) + (1 - alpha) * bm25 / best_bm25`` in [0, 1]; no keyword hit anywhere adds 0 to everyone."""
    dense = alpha * np.maximum(cosine, 0.0)
    if best_bm25 <= 0.0:
        return dense
    return dense + (1.0 - alpha) * (bm25 / best_bm25)


def spread(fused: FloatArray, floor: float, reference: float) -> FloatArray:
    """Relevance in [0, 1]: ``(fused - floor) / (max(top, reference) - floor)``, clipped.

    floor: the store's (shrunk) median fused score; reference: the encoder's score of a match that is not weak. One
    candidate alone keeps its own value, it is not stretched to 1 for being alone.
    """
    if fused.size == 0:
        return fused
    scale = max(float(fused.max()), reference) - floor
    if scale <= 1e-9:
        return np.zeros_like(fused)
    return np.clip((fused - floor) / scale, 0.0, 1.0)


def median(values: FloatArray) -> float:
    """As ``np.median`` of a non-empty array without NaN, bit for bit, at a fraction of its overhead."""
    half = values.size // 2
    if values.size % 2:
        return float(np.partition(values, half)[half])
    part = np.partition(values, (half - 1, half))
    return float((part[half - 1] + part[half]) / 2.0)


def _minmax(values: FloatArray) -> FloatArray:
    low, high = float(values.min()), float(values.max())
    # a constant arm tells nothing about the order; it keeps its (clipped) value instead of dividing by zero
    return (values - low) / (high - low) if high > low else np.clip(values, 0.0, 1.0)


def _rrf(rows: IntArray, cosine: FloatArray, bm25: FloatArray, bounds: tuple[int, int, int, int]) -> FloatArray:
    """Reciprocal rank fusion within each layer, scaled so that first in both arms is 1; an arm without evidence adds 0."""
    out = np.zeros(rows.size, dtype=np.float64)
    for layer in range(3):
        inside = np.flatnonzero((rows >= bounds[layer]) & (rows < bounds[layer + 1]))
        # a query without a vector has cosine 0 with everyone
        for values, least in ((cosine[inside], -2.0 if cosine.any() else 0.0), (bm25[inside], 0.0)):
            order = np.argsort(-values, kind="stable")
            ranks = np.empty(inside.size, dtype=np.float64)
            ranks[order] = np.arange(1, inside.size + 1)
            out[inside] += np.where(values > least, (_RRF_K + 1) / (_RRF_K + ranks) / 2, 0.0)
    return out
