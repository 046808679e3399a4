"""The vector arm against brute force, and what FAISS does on its own that must not get out."""

from __future__ import annotations

from typing import Any

import faiss
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.errors import StoreError
from workbench.search.vectors import SKETCHES_FROM, VectorIndex, switch_over


def unit(shape: tuple[int, ...], seed: int = 0) -> Any:
    rows = np.random.default_rng(seed).normal(size=shape)
    return (rows / np.linalg.norm(rows, axis=-1, keepdims=True)).astype(np.float32)


def brute_force(rows: Any, query: Any, k: int) -> list[int]:
    scores = rows.astype(np.float64) @ query.astype(np.float64)
    return [int(row) for row in np.lexsort((np.arange(len(rows)), -scores))[:k]]


@pytest.mark.parametrize("exact", [True, False])
@pytest.mark.parametrize(("n", "k"), [(1, 1), (2, 10), (7, 3), (300, 1), (300, 100), (300, 299), (300, 300), (2000, 150)])
def test_nearest_rows_are_those_of_brute_force(n: int, k: int, exact: bool) -> None:
    rows, queries = unit((n, 32), seed=n), unit((5, 32), seed=k)
    index = VectorIndex(rows, exact=exact)
    for query in queries:
        found = index.search(query, k)
        assert found.dtype == np.int64
        wanted = brute_force(rows, query, k)
        if exact:
            assert found.tolist() == wanted
        else:
            assert len(set(found.tolist()) & set(wanted)) >= 0.99 * len(wanted)
            assert len(found) == len(set(found.tolist()))


@given(
    values=st.lists(st.integers(0, 3), min_size=1, max_size=250),
    k=st.integers(1, 260),
    exact=st.booleans(),
)
def test_ties_at_the_cut_go_to_the_lower_rows(values: list[int], k: int, exact: bool) -> None:
    # left to itself, FAISS keeps any of the rows that tie for the last place
    cosine = np.array(values) / 3.0
    rows = np.stack([cosine, np.sqrt(1 - cosine**2)], axis=1).astype(np.float32)
    query = np.array([1.0, 0.0], dtype=np.float32)
    found = VectorIndex(rows, exact=exact).search(query, k).tolist()
    if exact:
        assert found == brute_force(rows, query, k)
    else:
        assert [values[row] for row in found] == sorted((values[row] for row in found), reverse=True)


@pytest.mark.parametrize("exact", [True, False])
@pytest.mark.parametrize("n", [1, 2, 5, 100, 101, 400])
def test_equal_rows_come_in_their_order(n: int, exact: bool) -> None:
    rows = np.repeat(unit((1, 24)), n, axis=0)
    found = VectorIndex(rows, exact=exact).search(rows[0], 100)
    if exact:
        assert found.tolist() == list(range(min(n, 100)))
    assert len(set(found.tolist())) == len(found)


@pytest.mark.parametrize("exact", [True, False])
def test_nothing_to_find(exact: bool) -> None:
    index = VectorIndex(np.zeros((0, 5)), dim=5, exact=exact)
    assert index.search(np.ones(5, dtype=np.float32), 10).shape == (0,)
    assert VectorIndex([], dim=5).search(np.ones(5, dtype=np.float32), 10).shape == (0,)
    full = VectorIndex(unit((4, 5)), exact=exact)
    assert full.search(np.ones(5, dtype=np.float32), 0).shape == (0,)
    assert full.search(np.ones(5, dtype=np.float32), -1).shape == (0,)


def test_no_padding_when_k_exceeds_the_size() -> None:
    rows = unit((2, 8))
    raw = faiss.IndexFlatIP(8)
    raw.add(rows)
    assert -1 in raw.search(rows[:1], 10)[1]  # this is what it guards against
    for exact in (True, False):
        assert sorted(VectorIndex(rows, exact=exact).search(rows[0], 10).tolist()) == [0, 1]


def test_rows_are_normalised_so_that_inner_products_are_cosines() -> None:
    # inner products alone would put the long vector first
    index = VectorIndex([[10, 10], [0, 1]])
    assert index.search(np.array([0, 1], dtype=np.float32), 2).tolist() == [1, 0]
    tiny = VectorIndex([[3e-39, 3e-39], [0, 1e-30], [1e30, 0]])
    assert tiny.search(np.array([0, 1], dtype=np.float32), 3).tolist() == [1, 0, 2]


def test_zero_rows_are_similar_to_nothing() -> None:
    index = VectorIndex([[0, 0], [1, 0], [-1, 0]])
    assert index.search(np.array([1, 0], dtype=np.float32), 3).tolist() == [1, 0, 2]


@pytest.mark.parametrize(
    "layout",
    [
        lambda rows: rows.astype(np.float64),
        lambda rows: rows.tolist(),
        lambda rows: np.asfortranarray(rows),
        lambda rows: np.ascontiguousarray(rows.T).T,
        lambda rows: np.repeat(rows, 2, axis=0)[::2],
        lambda rows: rows.astype(">f8"),
    ],
)
def test_any_layout_gives_the_result_of_contiguous_float32(layout: Any) -> None:
    rows, query = unit((50, 12)), unit((12,), seed=1)
    assert VectorIndex(layout(rows)).search(query, 10).tolist() == VectorIndex(rows).search(query, 10).tolist()
    assert VectorIndex(rows).search(query.astype(np.float64), 10).tolist() == VectorIndex(rows).search(query, 10).tolist()


@pytest.mark.parametrize(
    ("vectors", "message"),
    [
        ([[1, 1, 1]], "vectors have size 3, expected 4; use the model that indexed the store"),
        (np.zeros((2, 5)), "vectors have size 5, expected 4"),
        ([1, 2, 3, 4], r"1 dimensions, shape \(4,\); expected \(n, dim\)"),
        (np.zeros((1, 2, 4)), "3 dimensions"),
        (5, "0 dimensions|dimensions"),
        ([[1, 2], [1]], "rectangular array of numbers"),
        ([["a"] * 4], "rectangular array of numbers"),
        (None, "dimensions|rectangular"),
        ([[1, np.nan, 0, 0]], "NaN or infinity"),
        ([[1, np.inf, 0, 0]], "NaN or infinity"),
        ([[1e300, 0, 0, 0]], "NaN or infinity"),
    ],
)
def test_bad_vectors_are_refused_with_both_sizes(vectors: Any, message: str) -> None:
    with pytest.raises(StoreError, match=message):
        VectorIndex(vectors, dim=4)


@pytest.mark.parametrize("exact", [True, False])
def test_bad_queries_are_refused(exact: bool) -> None:
    index = VectorIndex(unit((3, 4)), exact=exact)
    with pytest.raises(StoreError, match="the query vector has size 3, the index 4; use the model that indexed the store"):
        index.search(np.ones(3, dtype=np.float32), 2)
    with pytest.raises(StoreError, match="query vector contains NaN"):
        index.search(np.array([np.nan, 0, 0, 0], dtype=np.float32), 2)
    assert index.search(np.ones(4, dtype=np.float32), 2).shape == (2,)


def test_the_given_array_is_not_changed() -> None:
    rows = np.array([[3.0, 4.0]], dtype=np.float32)
    VectorIndex(rows)
    assert rows.tolist() == [[3.0, 4.0]]


def test_the_kind_of_index_goes_by_size() -> None:
    rows = unit((10, 4))
    assert VectorIndex(rows).exact
    assert SKETCHES_FROM > 1000
    assert not VectorIndex(rows, exact=False).exact
    with switch_over(10):
        assert not VectorIndex(rows).exact
        assert VectorIndex(rows[:9]).exact
    assert VectorIndex(rows).exact


def like_text(n: int, dim: int = 96, seed: int = 0) -> Any:
    """Unit rows whose coordinates differ in weight and which share a direction, as embeddings do."""
    rng = np.random.default_rng(seed)
    scale = 1 / np.sqrt(np.arange(1, dim + 1))
    rows = rng.normal(size=(n, dim)) * scale + 0.5 * rng.normal(size=dim) * scale
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


@pytest.mark.parametrize("k", [10, 100, 200])
def test_sketches_find_nearly_all(k: int) -> None:
    rows = like_text(12 * max(16 * k, 1024) + 40)
    rows, queries = rows[:-40], rows[-40:]
    some, every = VectorIndex(rows, exact=False), VectorIndex(rows, exact=True)
    shares = []
    for query in queries:
        found, wanted = some.search(query, k), every.search(query, k)
        assert len(found) == k
        shares.append(len(set(found.tolist()) & set(wanted.tolist())) / k)
        # in the order of the exact search
        assert found[np.isin(found, wanted)].tolist() == wanted[np.isin(wanted, found)].tolist()
    assert np.mean(shares) >= 0.99


def test_sketches_are_left_alone_where_an_exact_search_is_faster() -> None:
    rows, queries = unit((13_000, 32), seed=5), unit((5, 32), seed=6)
    some = VectorIndex(rows, exact=False)
    asked = []
    sketches = some._sketches
    assert sketches is not None
    nearest = sketches.nearest
    sketches.nearest = lambda *given: asked.append(given[1]) or nearest(*given)  # type: ignore[method-assign, func-returns-value]
    for query in queries:
        assert some.search(query, 500).tolist() == brute_force(rows, query, 500)
    assert not asked
    some.search(queries[0], 64)
    assert asked == [1024]


@pytest.mark.parametrize("exact", [True, False])
def test_the_length_of_a_query_does_not_matter(exact: bool) -> None:
    rows = like_text(13_000)
    index = VectorIndex(rows, exact=exact)
    wanted = index.search(rows[3], 20).tolist()
    for length in (1e-30, 0.5, 1e30):
        assert index.search(rows[3] * np.float32(length), 20).tolist() == wanted
    assert len(index.search(np.zeros(96, dtype=np.float32), 20)) == 20
    assert len(index.search(np.full(96, 3e38, dtype=np.float32), 20)) == 20


@pytest.mark.parametrize("exact", [True, False])
def test_an_index_keeps_its_own_rows(exact: bool) -> None:
    rows = like_text(13_000)
    query = rows[5].copy()
    index = VectorIndex(rows, exact=exact)
    wanted = index.search(query, 10).tolist()
    rows[:] = 0
    assert index.search(query, 10).tolist() == wanted


def test_building_leaves_the_thread_setting_as_it_was() -> None:
    before = faiss.omp_get_max_threads()
    try:
        faiss.omp_set_num_threads(2)
        VectorIndex(unit((10, 4)))
        VectorIndex(unit((10, 4)), exact=False)
        assert faiss.omp_get_max_threads() == 2
    finally:
        faiss.omp_set_num_threads(before)
