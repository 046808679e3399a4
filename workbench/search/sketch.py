"""One-bit sketches of unit vectors: a scan over them says which rows are worth an exact look.

A row becomes the signs of its coordinates after a fixed rotation, with a factor that makes the estimate of an inner product
unbiased: RaBitQ (Gao and Long, SIGMOD 2024, https://arxiv.org/abs/2405.12497), as FAISS packs and scans it, around the origin. A
sketch depends on its row alone. So nothing is trained, a store that grew has the sketches it would have had if built at once, and
what a scan finds depends on the rows and their order only.

The rotation is a change of signs and a Hadamard matrix, twice. Before each, rows are rounded to multiples of a power of two, so
that every sum is exact in float32: the same bits in batches of any size, on any number of threads, whatever BLAS does.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import faiss
import numpy as np
import numpy.typing as npt

Matrix = npt.NDArray[np.float32]

# Hadamard matrices exist for these orders by Paley's construction, and for each times any power of two
_PALEY = (1, 12, 20)
_SEED = 7
_TURNS = 2  # after one, rows with a few large coordinates lose up to a percent of their neighbours
_LEAST_WIDTH = 256  # an estimate's error falls with the root of the width, so a short row is turned into more coordinates
_BLOCK = 4096
_QUERY_BITS = 8


class Sketches:
    """Sketches of n rows: a bit for each of ``sketch_width(dim)`` coordinates, and two factors."""

    def __init__(self, rows: Matrix) -> None:
        """``rows``: shape (n, dim), each of length 1 or 0. Takes some 10 microseconds a row of 384 coordinates."""
        width = sketch_width(rows.shape[1])
        self._index: Any = faiss.IndexRaBitQFastScan(width, faiss.METRIC_INNER_PRODUCT)
        self._index.train(np.zeros((1, width), dtype=np.float32))  # sketches are taken around this point
        self._index.qb = _QUERY_BITS
        for start in range(0, len(rows), _BLOCK):
            self._index.add(rotated(rows[start : start + _BLOCK]))

    def nearest(self, query: Matrix, count: int) -> npt.NDArray[np.int64]:
        """Numbers of the ``count`` rows of the largest estimated inner product with ``query``, shape (1, dim), in any order."""
        found: npt.NDArray[np.int64] = self._index.search(rotated(query), count)[1][0]
        return found[found >= 0]


def sketch_width(dim: int) -> int:
    """Bits of a sketch: the least order of at least ``dim`` and 256 with a Hadamard matrix, 1, 12 or 20 times a power of two.

    >>> [sketch_width(dim) for dim in (3, 300, 384, 768, 1000)]
    [256, 320, 384, 768, 1024]
    """
    wanted = max(dim, _LEAST_WIDTH)
    return min(base << max(0, (-(-wanted // base) - 1).bit_length()) for base in _PALEY)


def rotated(rows: Matrix) -> Matrix:
    """``rows`` (n, dim), of length at most 1, rounded and turned: float32, shape (n, sketch_width(dim)).

    Each row depends on itself alone, bit for bit; inner products stay, up to the rounding to 2 ** -17 or finer (dim <= 4096).
    """
    count, dim = rows.shape
    width = sketch_width(dim)
    signs, outer, inner = _factors(width)
    # no sum can exceed scale * (sum of the absolute coordinates of a row) <= scale * sqrt(width) <= 2 ** 23
    scale = np.float32(2.0 ** np.floor(23 - np.log2(width) / 2))
    turned = np.zeros((count, width), dtype=np.float32)
    turned[:, :dim] = rows
    for sign in signs:
        whole = np.rint(turned * scale) * sign
        halfway = (whole.reshape(-1, len(inner)) @ inner).reshape(count, len(outer), len(inner))
        turned = (halfway.transpose(0, 2, 1).reshape(-1, len(outer)) @ outer).reshape(count, width)
        turned *= np.float32(1.0 / (float(scale) * np.sqrt(width)))
    return turned


@cache
def _factors(width: int) -> tuple[Matrix, Matrix, Matrix]:
    """Signs, shape (turns, width), and two Hadamard matrices whose Kronecker product turns a row."""
    base = next(base for base in _PALEY if width % base == 0 and (width // base).bit_count() == 1)
    power = (width // base).bit_length() - 1
    # two products of small matrices cost a fraction of one large one
    split = power if base > 1 else power // 2
    pair = np.array([[1, 1], [1, -1]], dtype=np.float32)
    outer, inner = _paley(base), np.ones((1, 1), dtype=np.float32)
    for at in range(power):
        if at < split:
            inner = np.kron(inner, pair)
        else:
            outer = np.kron(outer, pair)
    signs = np.where(np.random.Generator(np.random.PCG64(_SEED)).random((_TURNS, width)) < 0.5, -1, 1).astype(np.float32)
    return signs, outer, inner


def _paley(order: int) -> Matrix:
    """A Hadamard matrix of order q + 1 for a prime q that is 3 modulo 4: skew, from the squares modulo q (Paley, 1933)."""
    if order == 1:
        return np.ones((1, 1), dtype=np.float32)
    prime = order - 1
    squares = {number * number % prime for number in range(1, prime)}
    character = np.array([0] + [1 if number in squares else -1 for number in range(1, prime)])
    out = np.ones((order, order), dtype=np.float32)
    out[1:, 0] = -1
    numbers = np.arange(prime)
    out[1:, 1:] = character[(numbers[None, :] - numbers[:, None]) % prime] + np.eye(prime)
    return out
