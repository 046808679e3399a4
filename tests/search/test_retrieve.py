"""Both arms, and the relevance that fuses them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from workbench.config import FUSIONS, AssemblyConfig
from workbench.search.pool import KEYWORD_ARM, VECTOR_ARM
from workbench.search.retrieve import cosines, fuse_linear, retrieve, spread, top_rows
from workbench.text.analysis import analyze_query

scores = hnp.arrays(np.float64, st.integers(0, 60), elements=st.sampled_from([0.0, 0.5, 1.0, 1.0, 2.5, 7.0]))


@given(scores, st.integers(1, 70))
def test_top_rows_against_brute_force(values: Any, k: int) -> None:
    order = sorted((row for row in range(len(values)) if values[row] > 0), key=lambda row: (-values[row], row))
    found = top_rows(values, k)
    assert found.dtype == np.int64
    assert found.tolist() == sorted(order[:k])


@given(hnp.arrays(np.float64, st.integers(1, 60), elements=st.floats(0, 50)), st.integers(1, 70))
def test_top_rows_of_any_scores(values: Any, k: int) -> None:
    order = sorted((row for row in range(len(values)) if values[row] > 0), key=lambda row: (-values[row], row))
    assert top_rows(values, k).tolist() == sorted(order[:k])


def test_cosines_do_not_depend_on_company() -> None:
    rows = np.random.default_rng(0).normal(size=(300, 384)).astype(np.float32)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    query = rows[7]
    together = cosines(rows, query)
    assert together.dtype == np.float64
    assert together.max() <= 1.0
    np.testing.assert_allclose(together, rows.astype(np.float64) @ query, atol=1e-6)
    for part in (slice(0, 1), slice(3, 5), slice(0, 128), slice(131, 300)):
        assert cosines(rows[part], query).tobytes() == together[part].tobytes()
    assert cosines(np.zeros((0, 384), np.float32), query).shape == (0,)


arm = st.floats(-1, 1)
keyword = st.floats(0, 40) | st.just(0.0)
rows_of = st.lists(st.tuples(arm, keyword), min_size=1, max_size=30)


@given(rows_of, st.floats(0, 1))
def test_linear_fusion_is_bounded_and_finite(rows: list[tuple[float, float]], alpha: float) -> None:
    cosine, bm25 = (np.array(part) for part in zip(*rows, strict=True))
    fused = fuse_linear(cosine, bm25, float(bm25.max()), alpha)
    assert np.isfinite(fused).all()
    assert ((fused >= 0) & (fused <= 1)).all()


@given(rows_of, st.floats(0, 1), st.floats(0, 1))
def test_spread_is_bounded_and_keeps_the_order(rows: list[tuple[float, float]], floor: float, reference: float) -> None:
    cosine, bm25 = (np.array(part) for part in zip(*rows, strict=True))
    fused = fuse_linear(cosine, bm25, float(bm25.max()), 0.6)
    relevance = spread(fused, floor, reference)
    assert np.isfinite(relevance).all()
    assert ((relevance >= 0) & (relevance <= 1)).all()
    order = np.argsort(fused, kind="stable")
    assert (np.diff(relevance[order]) >= 0).all()


def test_spread_by_hand() -> None:
    fused = np.array([0.2, 0.5, 0.8])
    np.testing.assert_allclose(spread(fused, 0.2, 0.6), [0, 0.5, 1])
    # a weak best match stays weak
    np.testing.assert_allclose(spread(np.array([0.1, 0.2]), 0.0, 0.8), [0.125, 0.25])
    assert spread(np.empty(0), 0.1, 0.6).shape == (0,)
    assert spread(np.array([0.3, 0.3]), 0.3, 0.0).tolist() == [0, 0]


class Case:
    """A store of memories with wanted cosines to the query, and the pool of that query."""

    def __init__(self, kit: Any, texts: list[str], cosine: list[float], query: str, **settings: Any) -> None:
        # the query is the first axis; every text has an axis of its own for the rest
        assert query not in texts, "a text has one vector"
        vectors = {query: [1.0, *[0.0] * len(texts)]}
        for number, (text, value) in enumerate(zip(texts, cosine, strict=True)):
            row = [value, *[0.0] * len(texts)]
            row[number + 1] = float(np.sqrt(1 - value**2))
            vectors[text] = row
        self.ids = [f"m{number:03d}" for number in range(len(texts))]
        self.assembler = kit.assembler(
            [kit.memory(key, text) for key, text in zip(self.ids, texts, strict=True)], encoder=kit.Given(vectors)
        )
        self.config = self.assembler.settings(settings or None)
        self.snapshot = self.assembler.snapshot(self.config)
        self.vector = kit.Given(vectors).encode([query])[0]
        self.keyword = self.snapshot.keyword.scores(analyze_query(query))
        self.pool = retrieve(self.snapshot, self.vector, self.keyword, self.config)
        self.relevance = {
            self.snapshot.ids[row]: float(value) for row, value in zip(self.pool.row, self.pool.relevance, strict=True)
        }
        self.arms = {self.snapshot.ids[row]: int(value) for row, value in zip(self.pool.row, self.pool.arms, strict=True)}


@pytest.mark.parametrize("fusion", FUSIONS)
def test_every_fusion_is_bounded_and_likes_evidence(kit: Any, fusion: str) -> None:
    case = Case(
        kit,
        ["ferry noon", "boat", "lamp", "mug", "vase"],
        [0.9, 0.7, 0.3, -0.2, 0.0],
        "ferry",
        fusion=fusion,
        reference_relevance=0.5,
    )
    values = case.relevance
    assert all(0 <= value <= 1 for value in values.values())
    assert max(values, key=lambda key: values[key]) == "m000"
    assert values["m000"] > values["m001"] > values["m002"] >= values["m003"]


@pytest.mark.parametrize("fusion", FUSIONS)
def test_without_a_keyword_hit_the_order_is_that_of_the_vectors(kit: Any, fusion: str) -> None:
    case = Case(kit, ["boat", "ship", "raft"], [0.2, 0.8, 0.5], "ferry", fusion=fusion)
    assert not case.keyword.any()
    assert sorted(case.relevance, key=lambda key: -case.relevance[key]) == ["m001", "m002", "m000"]


@pytest.mark.parametrize("fusion", ["spread", "linear", "rrf"])
def test_a_hit_of_one_arm_alone_can_win(kit: Any, fusion: str) -> None:
    texts = ["xylophone repair", "boat", "ship", "raft", "lamp", "mug"]
    keyword_only = Case(kit, texts, [0.0, 0.3, 0.2, 0.1, 0.0, 0.0], "xylophone", fusion=fusion)
    assert max(keyword_only.relevance, key=lambda key: keyword_only.relevance[key]) == "m000"
    vector_only = Case(kit, texts, [0.1, 0.95, 0.2, 0.1, 0.0, 0.0], "ferry", fusion=fusion)
    assert max(vector_only.relevance, key=lambda key: vector_only.relevance[key]) == "m001"


@pytest.mark.parametrize("fusion", FUSIONS)
def test_one_candidate_alone_is_not_stretched(kit: Any, fusion: str) -> None:
    alone = Case(kit, ["boat"], [0.4], "ferry", fusion=fusion, reference_relevance=0.6).relevance["m000"]
    assert 0 < alone < 1


@pytest.mark.parametrize("fusion", ["spread", "linear", "calibrated"])
def test_relevance_depends_on_the_store_and_not_on_the_pool(kit: Any, fusion: str) -> None:
    texts = [f"ferry number {number}" for number in range(30)] + [f"lamp {number}" for number in range(30)]
    cosine = [0.9 - 0.01 * number for number in range(60)]
    wide = Case(kit, texts, cosine, "ferry", fusion=fusion, top_k=60)
    narrow = Case(kit, texts, cosine, "ferry", fusion=fusion, top_k=5)
    assert len(narrow.relevance) < len(wide.relevance) == 60
    assert all(wide.relevance[key] == value for key, value in narrow.relevance.items())


def test_arms_say_which_search_found_an_entry(kit: Any) -> None:
    case = Case(kit, ["ferry ride", "boat", "lamp"], [-0.5, 0.9, 0.8], "ferry", top_k=2)
    assert case.arms == {"m000": KEYWORD_ARM, "m001": VECTOR_ARM, "m002": VECTOR_ARM}
    both = Case(kit, ["ferry ride", "boat", "lamp"], [0.9, 0.8, 0.1], "ferry", top_k=1)
    assert both.arms == {"m000": KEYWORD_ARM | VECTOR_ARM}


def test_a_query_without_a_vector_is_keyword_search(kit: Any) -> None:
    case = Case(kit, ["ferry ride", "boat"], [0.9, 0.8], "ferry")
    for fusion in FUSIONS:
        config = case.config.override(fusion=fusion)
        pool = retrieve(case.snapshot, np.zeros_like(case.vector), case.keyword, config)
        assert [case.snapshot.ids[row] for row in pool.row] == ["m000"]
        assert pool.arms.tolist() == [KEYWORD_ARM]
        assert 0 < pool.relevance[0] <= 1
        nothing = retrieve(case.snapshot, np.zeros_like(case.vector), np.zeros(2), config)
        assert len(nothing) == 0


@pytest.mark.parametrize("fusion", FUSIONS)
def test_without_a_query_vector_no_fusion_invents_vector_evidence(kit: Any, fusion: str) -> None:
    case = Case(kit, ["ferry tea", "ferry tea pot lid", "ferry tea pot lid spoon saucer"], [0.1, 0.2, 0.3], "ferry")
    pool = retrieve(case.snapshot, np.zeros_like(case.vector), case.keyword, case.config.override(fusion=fusion))
    order = np.argsort(-pool.relevance, kind="stable")
    assert (np.diff(pool.bm25[order]) <= 0).all()
    if fusion == "rrf":
        assert pool.relevance.max() <= 0.5  # one arm of two


def test_hits_per_layer_and_arm(kit: Any) -> None:
    assembler = kit.assembler(
        [kit.memory(f"m{n}", f"ferry memory {n}") for n in range(12)],
        episodes=[kit.episode(f"e{n}", f"ferry episode {n}") for n in range(12)],
        procedures=[kit.procedure(f"p{n}", f"ferry procedure {n}") for n in range(2)],
        config=AssemblyConfig(top_k=3),
    )
    pool = assembler.assemble("ferry", now=kit.now).retrieved
    assert all(3 <= (pool.layer == layer).sum() <= 6 for layer in (0, 1))
    assert (pool.layer == 2).sum() == 2
    assert (np.diff(pool.row) > 0).all()
    assert len({*pool.row.tolist()}) == len(pool)


def test_an_empty_layer_in_the_middle(kit: Any) -> None:
    assembler = kit.assembler([kit.memory("m", "ferry")], procedures=[kit.procedure("p", "ferry")])
    context = assembler.assemble("ferry", now=kit.now)
    assert context.retrieved.layer.tolist() == [0, 2]
    assert context.selected_ids == ("m", "p")


def test_superseded_archived_and_wordless_entries_are_never_hits(kit: Any) -> None:
    assembler = kit.assembler(
        [
            kit.memory("old", "ferry at noon", status="superseded"),
            kit.memory("gone", "ferry at dusk", status="archived"),
            kit.memory("dots", "…"),
            kit.memory("blank", " "),
            kit.memory("new", "ferry at one"),
            kit.memory("emoji", "🍣"),
        ]
    )
    assert set(assembler.assemble("ferry", now=kit.now).ranking) == {"new", "emoji"}
    assert assembler.assemble("🍣", now=kit.now).ranking[0] == "emoji"
