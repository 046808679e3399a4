"""The order of the stages, what is computed once, and what runs side by side."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

from workbench import Assembler
from workbench.config import AssemblyConfig
from workbench.entries import epoch_seconds, utc
from workbench.search.retrieve import retrieve
from workbench.text.analysis import analyze_query


def entries(kit: Any, n: int = 30) -> list[Any]:
    return [kit.memory(f"m{number}", f"boat number {number} is {'blue' if number % 2 else 'red'}") for number in range(n)]


def test_keyword_search_runs_while_the_query_is_encoded(kit: Any) -> None:
    searched = threading.Event()

    class Watching(Assembler):
        @staticmethod
        def _keyword_scores(snapshot: Any, query: str) -> Any:
            scores = Assembler._keyword_scores(snapshot, query)
            searched.set()
            return scores

    class Waiting(kit.Encoder):  # type: ignore[name-defined, misc]
        def encode(self, texts: list[str], /) -> Any:
            if texts == ["blue boat"]:
                # would wait in vain if the keyword arm came after it
                assert searched.wait(timeout=60)
            return super().encode(texts)

    store = kit.assembler(entries(kit)).store
    context = Watching(store, None, Waiting(name="waiting"), conflict_test=kit.Topic(), cache=False).assemble(
        "blue boat", now=kit.now
    )
    assert context.selected_ids


def test_the_store_is_compiled_once_per_set_of_settings_that_matter(kit: Any) -> None:
    encoder = kit.Encoder(name="counted")
    assembler = kit.assembler(entries(kit), encoder=encoder)
    for overrides in (
        {},
        {"min_score": 0.1},
        {"weights": {"recency": 1.0}},
        {"top_k": 3},
        {"fusion": "rrf"},
        {"budgets": {"total": 9}},
    ):
        assembler.assemble("boat", now=kit.now, **overrides)
    assert [len(call) for call in encoder.calls if len(call) > 1] == [30]
    one = assembler.snapshot()
    assert assembler.snapshot(AssemblyConfig(min_score=0.4)) is one
    for config in (
        AssemblyConfig(encoding="cl100k_base"),
        AssemblyConfig(bm25_k1=1.2),
        AssemblyConfig(templates={"memories": "{date} {text}"}),
    ):  # type: ignore[arg-type]
        assert assembler.snapshot(config) is not one


def test_a_given_vector_and_given_hits_give_the_same_context(kit: Any) -> None:
    assembler = kit.assembler(entries(kit))
    wanted = assembler.assemble("blue boat", now=kit.now)
    vector = kit.encoder.encode(["blue boat"])[0]
    assert assembler.assemble_embedded("blue boat", vector, now=kit.now).prompt == wanted.prompt
    config, snapshot = assembler.settings(), assembler.snapshot()
    keyword = snapshot.keyword.scores(analyze_query("blue boat"))
    hits = retrieve(snapshot, vector, keyword, config)
    found, times = assembler.candidates(snapshot, vector, keyword, epoch_seconds(utc(kit.now)), config, retrieved=hits)
    assert found.retrieved is hits
    assert found.scored.tolist() == np.flatnonzero(found.fate == 0).tolist()
    assert [snapshot.ids[row] for row in found.pool.row] == sorted(wanted.ranking, key=lambda key: snapshot.row_of[key])
    assert list(times) == sorted(times)


def test_the_settings_are_filled_from_the_encoder_and_kept_where_given(kit: Any) -> None:
    assembler = kit.assembler(config=AssemblyConfig(duplicate_threshold=0.5))
    settings = assembler.settings()
    assert (settings.conflict_band, settings.duplicate_threshold, settings.reference_relevance) == ((0.3, 0.95), 0.5, 0.6)
    assert assembler.settings({"conflict_band": (0.1, 0.2)}).conflict_band == (0.1, 0.2)
    assert assembler.config.conflict_band is None
    given = AssemblyConfig(top_k=7)
    assert assembler.settings(None, given).top_k == 7
    assert assembler.settings({"cap": 3}, given).cap == 3


def test_one_assembler_serves_several_threads(kit: Any) -> None:
    assembler = kit.assembler(entries(kit))
    queries = [f"boat number {number}" for number in range(24)]
    wanted = [assembler.assemble(query, now=kit.now).prompt for query in queries]
    fresh = kit.assembler(entries(kit))
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda query: fresh.assemble(query, now=kit.now).prompt, queries))
    assert found == wanted


def test_the_store_and_its_snapshot_are_not_changed_by_assembling(kit: Any) -> None:
    assembler = kit.assembler(
        [*entries(kit), kit.memory("a", "seat = aisle", created_at="2026-01-01"), kit.memory("b", "seat = window")]
    )
    fingerprint, snapshot = assembler.store.fingerprint, assembler.snapshot()
    arrays = {name: value.copy() for name, value in vars(snapshot).items() if isinstance(value, np.ndarray)}
    for query in ("seat", "boat", ""):
        assembler.assemble(query, now=kit.now)
    assert assembler.store.fingerprint == fingerprint
    assert all(np.array_equal(getattr(snapshot, name), value) for name, value in arrays.items())


@pytest.mark.parametrize("size", [150, 400])
def test_a_layer_is_capped_by_relevance(kit: Any, size: int) -> None:
    context = kit.assembler(entries(kit, size)).assemble("boat number 7", now=kit.now, cap=10)
    assert len(context.ranking) <= 10
    kept = min(context.explain(key).signals["relevance"] for key in context.ranking)
    over = context.retrieved.relevance[context.fate == 1]
    assert over.size
    assert over.max() <= kept
