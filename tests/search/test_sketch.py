"""Sketches: a rotation that is exact to the bit, estimates that find near rows, nothing that depends on history or threads."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import Any

import faiss
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.search.sketch import Sketches, _factors, rotated, sketch_width


def unit(shape: tuple[int, ...], seed: int = 0) -> Any:
    rows = np.random.default_rng(seed).normal(size=shape)
    return (rows / np.linalg.norm(rows, axis=-1, keepdims=True)).astype(np.float32)


def packed(sketches: Sketches) -> bytes:
    return faiss.vector_to_array(sketches._index.codes).tobytes()


@pytest.mark.parametrize("dim", [1, 100, 256, 257, 300, 384, 500, 641, 768, 1000, 1024, 1536])
def test_the_rotation_is_orthogonal_and_wide_enough(dim: int) -> None:
    width = sketch_width(dim)
    assert max(dim, 256) <= width <= 1.34 * max(dim, 256)
    signs, outer, inner = _factors(width)
    assert set(np.unique(signs)) == {-1.0, 1.0}
    whole = np.kron(outer, inner)
    assert np.array_equal(whole @ whole.T, width * np.eye(width))
    rows = unit((20, dim))
    turned = rotated(rows)
    assert turned.shape == (20, width)
    assert np.abs(turned @ turned.T - rows @ rows.T).max() < 1e-4


@pytest.mark.parametrize("dim", [48, 384, 1000])
def test_a_row_is_turned_the_same_in_any_company(dim: int) -> None:
    rows = unit((500, dim))
    rows[3], rows[4], rows[5] = 0, np.eye(1, dim), dim**-0.5
    whole = rotated(rows)
    for start, stop in ((0, 1), (3, 6), (7, 20), (123, 500)):
        assert np.array_equal(rotated(rows[start:stop]), whole[start:stop])
    assert np.array_equal(rotated(rows[::-1])[::-1], whole)


@given(seed=st.integers(0, 2**32), dim=st.sampled_from([5, 64, 300]))
def test_any_row_is_turned_exactly(seed: int, dim: int) -> None:
    # float64 has room for every sum, so if float32 had to round anywhere the two would differ
    rng = np.random.default_rng(seed)
    rows = rng.standard_t(1.5, size=(4, dim))
    rows = (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)
    width = sketch_width(dim)
    signs, outer, inner = _factors(width)
    scale = np.float32(2.0 ** np.floor(23 - np.log2(width) / 2))
    turned = np.zeros((4, width), dtype=np.float32)
    turned[:, :dim] = rows
    for sign in signs:
        whole = (np.rint(turned * scale) * sign).astype(np.float64)
        assert np.abs(whole).sum(axis=1).max() < 2**24
        exact = whole @ np.kron(outer, inner)
        # the coordinates come out in the order of a transposed product
        exact = exact.reshape(4, len(outer), len(inner)).transpose(0, 2, 1).reshape(4, width)
        turned = exact.astype(np.float32) * np.float32(1.0 / (float(scale) * np.sqrt(width)))
    assert np.array_equal(rotated(rows), turned)


def test_what_is_found_is_near() -> None:
    rows, queries = unit((6000, 384), seed=1), unit((20, 384), seed=2)
    sketches = Sketches(rows)
    for query in queries:
        found = sketches.nearest(query[None], 600)
        assert len(set(found.tolist())) == 600
        cosine = rows @ query
        best = np.argsort(-cosine)[:10]
        assert len(set(best.tolist()) & set(found.tolist())) >= 9  # a tenth of rows with nothing in common


@pytest.mark.parametrize("dim", [1, 2, 7, 48, 384])
@pytest.mark.parametrize("n", [1, 31, 32, 33, 1000])
def test_each_row_once_and_no_padding(n: int, dim: int) -> None:
    rows = unit((n, dim), seed=n)
    rows[n // 2] = 0
    sketches = Sketches(rows)
    for query in (rows[:1], np.zeros((1, dim), dtype=np.float32)):
        assert sorted(sketches.nearest(query, n + 7).tolist()) == list(range(n))
        assert len(sketches.nearest(query, max(1, n // 2))) == max(1, n // 2)


def test_equal_rows_have_equal_sketches_wherever_they_stand() -> None:
    rows = unit((9000, 64))
    rows[5000:5100] = rows[17]
    found = set(Sketches(rows).nearest(rows[17:18], 101).tolist())
    assert found == {17, *range(5000, 5100)}


def test_threads_change_nothing() -> None:
    rows = unit((9000, 384))
    before = faiss.omp_get_max_threads()
    try:
        kept = []
        for threads in (1, 4):
            faiss.omp_set_num_threads(threads)
            kept.append(packed(Sketches(rows)))
    finally:
        faiss.omp_set_num_threads(before)
    assert kept[0] == kept[1]


def test_processes_and_their_threads_change_nothing() -> None:
    code = (
        "import hashlib, numpy as np\nfrom workbench.search.vectors import VectorIndex\n"
        "rows = np.random.default_rng(0).normal(size=(13_000, 96))\n"
        "index = VectorIndex(rows, exact=False)\n"
        "found = [index.search(row.astype('f4'), 60).tolist() for row in rows[:20]]\n"
        "print(hashlib.sha256(repr(found).encode()).hexdigest())"
    )
    said = {
        subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True,
            env={**os.environ, "OMP_NUM_THREADS": threads, "OPENBLAS_NUM_THREADS": threads, "PYTHONHASHSEED": threads},
        ).stdout
        for threads in ("1", "3")
    }  # fmt: skip
    assert len(said) == 1
