"""The candidate pool: a struct of arrays that every later stage takes and returns."""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np
import numpy.typing as npt

IntArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]

VECTOR_ARM = 1
KEYWORD_ARM = 2


@dataclass(frozen=True, eq=False)
class Pool:
    """Candidates of one query, one row each, ordered by snapshot row (layer, newer first, id).

    row: snapshot row. layer: 0 memories, 1 episodes, 2 procedures. arms: bit 1 vector, bit 2 keyword. cosine in [-1, 1],
    bm25 >= 0, relevance in [0, 1]; importance and confidence in [0, 1]; changed in seconds since 1970 UTC; tokens of the
    rendered line.
    """

    row: IntArray
    layer: IntArray
    arms: IntArray
    cosine: FloatArray
    bm25: FloatArray
    relevance: FloatArray
    importance: FloatArray
    confidence: FloatArray
    changed: FloatArray
    access_count: IntArray
    category: IntArray
    tokens: IntArray

    def __len__(self) -> int:
        return int(self.row.size)

    def take(self, index: npt.NDArray[np.bool_] | IntArray) -> Pool:
        """The candidates chosen by a boolean mask or by positions."""
        return Pool(**{item.name: getattr(self, item.name)[index] for item in fields(self)})
