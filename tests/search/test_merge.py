"""Duplicates collapse to the newest, conflicts are no duplicates, and each layer is capped by relevance."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from workbench.config import AssemblyConfig
from workbench.search.merge import exact_cosines, find_duplicates, over_cap, similar_pairs
from workbench.search.pool import Pool


def snapshot_of(
    kit: Any, texts: list[str], gram: Any, *, conflict_test: Any = None, layer: str = "memories", **fields: Any
) -> Any:
    """Texts with these cosines; the first is the newest."""
    vectors = dict(zip(texts, kit.with_cosines(gram), strict=True))
    make = {"memories": kit.memory, "episodes": kit.episode, "procedures": kit.procedure}[layer]
    entries = []
    for number, text in enumerate(texts):
        when = f"2026-02-{28 - number:02d}T00:00:00Z"
        dates = {"occurred_at": fields.get("at", when)} if layer == "episodes" else {"created_at": when}
        entries.append(make(f"x{number}", text, **dates))
    assembler = kit.assembler(
        encoder=kit.Given(vectors),
        conflict_test=conflict_test,
        config=AssemblyConfig(templates={"episodes": "{summary}", "procedures": "{name}"}),  # type: ignore[arg-type]
        **{layer: entries},
    )
    return assembler.snapshot(), assembler.conflict_test


def pairs(kit: Any, *cosines: float) -> list[list[float]]:
    """A Gram matrix of as many texts as needed, given row by row above the diagonal."""
    size = int(np.sqrt(2 * len(cosines))) + 1
    gram = np.eye(size)
    gram[np.triu_indices(size, 1)] = cosines
    return (gram + gram.T - np.eye(size)).tolist()


def test_near_duplicates_go_to_the_newest(kit: Any) -> None:
    snapshot, test = snapshot_of(kit, ["a", "b", "c"], pairs(kit, 0.95, 0.2, 0.2))
    assert find_duplicates(snapshot, np.arange(3), 0, 0.92, test) == {1: 0}
    assert find_duplicates(snapshot, np.arange(3), 0, 0.96, test) == {}
    assert find_duplicates(snapshot, np.array([1]), 0, 0.92, test) == {}
    assert find_duplicates(snapshot, np.array([], dtype=np.int64), 0, 0.92, test) == {}


def test_the_threshold_is_inclusive_and_exact(kit: Any) -> None:
    snapshot, test = snapshot_of(kit, ["a", "b"], pairs(kit, 0.9))
    cosine = float(exact_cosines(snapshot, np.array([0]), np.array([1]))[0])
    assert find_duplicates(snapshot, np.arange(2), 0, cosine, test) == {1: 0}
    assert find_duplicates(snapshot, np.arange(2), 0, float(np.nextafter(cosine, 2)), test) == {}


def test_similarity_is_not_transitive(kit: Any) -> None:
    # b is like a, c is like b, but c is not like a: only entries that stay absorb others
    snapshot, test = snapshot_of(kit, ["a", "b", "c"], pairs(kit, 0.95, 0.82, 0.95))
    assert find_duplicates(snapshot, np.arange(3), 0, 0.92, test) == {1: 0}


def test_exact_duplicates_need_no_similarity(kit: Any) -> None:
    snapshot, test = snapshot_of(kit, ["Ada feeds the geese", "ADA feeds  the geese ", "ada feeds the geese"], np.eye(3))
    assert find_duplicates(snapshot, np.arange(3), 0, 0.92, test) == {1: 0, 2: 0}


def test_exact_copies_share_one_fate_also_when_the_newest_copy_is_absorbed(kit: Any) -> None:
    # b, B and "b " are one text whose vectors differ (as under a template with dates); only the newest of them is near a
    gram = np.eye(4)
    gram[0, 1] = gram[1, 0] = 0.95
    snapshot, test = snapshot_of(kit, ["a", "b", "B", "b "], gram)
    assert find_duplicates(snapshot, np.arange(4), 0, 0.92, test) == {1: 0, 2: 0, 3: 0}


def test_conflict_outranks_duplicate(kit: Any) -> None:
    texts = ["door = locked", "door = open", "door=locked"]
    snapshot, test = snapshot_of(kit, texts, pairs(kit, 0.97, 0.97, 0.97))
    assert find_duplicates(snapshot, np.arange(3), 0, 0.92, test) == {2: 0}


@pytest.mark.parametrize(("times", "found"), [("2026-02-03T00:00:00Z", {1: 0}), (None, {})])
def test_episodes_on_different_days_are_never_duplicates(kit: Any, times: str | None, found: dict[int, int]) -> None:
    fields = {"at": times} if times else {}
    for texts, gram in ((["a", "b"], pairs(kit, 0.99)), (["same", "SAME"], np.eye(2))):
        snapshot, test = snapshot_of(kit, texts, gram, layer="episodes", **fields)
        assert find_duplicates(snapshot, np.arange(2), 1, 0.92, test) == found


def test_episodes_of_one_utc_day_whatever_the_zone(kit: Any) -> None:
    entries = [
        kit.episode("e0", "tea", occurred_at="2026-03-02T01:00:00+02:00"),
        kit.episode("e1", "TEA", occurred_at="2026-03-01T00:00:00Z"),
    ]
    context = kit.assembler(episodes=entries).assemble("tea", now=kit.now)
    assert context.selected_ids == ("e0",)


def test_standing_entries_stay_and_absorb_newer_ones(kit: Any) -> None:
    snapshot, test = snapshot_of(kit, ["a", "b", "c"], pairs(kit, 0.95, 0.95, 0.95))
    assert find_duplicates(snapshot, np.arange(3), 0, 0.92, test, standing=np.array([1])) == {0: 1, 2: 1}
    assert find_duplicates(snapshot, np.array([0, 2]), 0, 0.92, test, standing=np.array([1])) == {2: 0}


gram_values = st.lists(st.sampled_from([-1.0, -0.5, 0.0, 0.3, 0.5, 0.9, 1.0]), min_size=12, max_size=12)


@given(rows=st.lists(gram_values, min_size=2, max_size=8), same=st.lists(st.integers(0, 3), min_size=8, max_size=8))
def test_duplicates_against_a_plain_loop(kit: Any, rows: list[list[float]], same: list[int]) -> None:
    matrix = np.array(rows) + 1e-3 * np.arange(1, 13)
    matrix /= np.linalg.norm(matrix, axis=1, keepdims=True)
    texts = [f"text {same[number]}" + " " * number for number in range(len(rows))]
    snapshot, test = snapshot_of(kit, texts, matrix @ matrix.T)
    threshold = 0.8
    found = find_duplicates(snapshot, np.arange(len(rows)), 0, threshold, test)
    # what must hold, said without the algorithm
    for older, newer in found.items():
        assert newer < older
        assert newer not in found
    stays = [row for row in range(len(rows)) if row not in found]
    every = exact_cosines(snapshot, np.repeat(stays, len(stays)), np.tile(stays, len(stays))).reshape(len(stays), -1)
    for one in range(len(stays)):
        for two in range(one):
            assert every[one, two] < threshold
            assert same[stays[one]] != same[stays[two]]


def test_proposals_include_every_pair_at_the_threshold(kit: Any) -> None:
    snapshot, _ = snapshot_of(kit, ["a", "b", "c"], pairs(kit, 0.9, 0.5, 0.7))
    left, right, cosine = similar_pairs(snapshot, np.arange(3), 0.7)
    assert list(zip(left.tolist(), right.tolist(), strict=True)) == [(0, 1), (1, 2)]
    np.testing.assert_allclose(cosine, [0.9, 0.7], atol=1e-5)
    np.testing.assert_allclose(exact_cosines(snapshot, np.array([0]), np.array([2])), [0.5], atol=1e-6)
    assert [part.size for part in similar_pairs(snapshot, np.arange(0), 0.7)] == [0, 0, 0]


def pool_of(layer: list[int], relevance: list[float]) -> Pool:
    n = len(layer)
    zeros = np.zeros(n)
    whole = np.zeros(n, dtype=np.int64)
    empty = Pool(
        np.arange(n),
        np.array(layer, dtype=np.int64),
        whole,
        zeros,
        zeros,
        np.array(relevance),
        zeros,
        zeros,
        zeros,
        whole,
        whole,
        whole,
    )
    return replace(empty)


@given(
    st.lists(st.tuples(st.integers(0, 2), st.sampled_from([0.0, 0.25, 0.5, 1.0])), max_size=60).map(
        lambda rows: sorted(rows, key=lambda r: r[0])
    ),
    st.integers(0, 30),
)
def test_the_cap_keeps_the_most_relevant_of_each_layer(rows: list[tuple[int, float]], cap: int) -> None:
    pool = pool_of([layer for layer, _ in rows], [relevance for _, relevance in rows])
    beyond = over_cap(pool, cap)
    for layer in range(3):
        inside = [row for row in range(len(rows)) if rows[row][0] == layer]
        kept = sorted(inside, key=lambda row: (-rows[row][1], row))[:cap]
        assert [row for row in inside if not beyond[row]] == sorted(kept)


@given(hnp.arrays(np.bool_, st.integers(0, 20)))
def test_taking_from_a_pool_keeps_columns_together(mask: Any) -> None:
    pool = pool_of([0] * len(mask), [float(number) for number in range(len(mask))])
    part = pool.take(mask)
    assert len(part) == mask.sum()
    assert part.row.tolist() == part.relevance.tolist() == np.flatnonzero(mask).tolist()
