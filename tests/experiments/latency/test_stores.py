"""Stores of a wanted size, and vectors that stand in for real ones."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from workbench.data.judged import JudgedDataset
from workbench.embedding.cache import EmbeddingCache
from workbench.errors import ConfigError, DataError
from workbench.experiments.latency.stores import PartlyMadeUp, sized_store
from workbench.experiments.latency.vectors import MadeUpEncoder, gaussian_bank, made_up_vectors


@pytest.mark.parametrize("size", [1, 4, 6, 7, 50, 300])
def test_a_store_has_the_size_asked_for(small: JudgedDataset, size: int) -> None:
    sized = sized_store(small, size)
    assert len(sized.store) == size
    assert sized.own == min(size, 6)
    assert len(sized.filling) == size - sized.own
    assert all(key in sized.store for query in sized.judged for key in query.relevant)


def test_larger_stores_hold_the_smaller_ones(small: JudgedDataset) -> None:
    ids = [{entry.id for entry in sized_store(small, size).store} for size in (3, 6, 40, 400)]
    assert ids[0] < ids[1] < ids[2] < ids[3]
    assert sized_store(small, 40).store.fingerprint == sized_store(small, 40).store.fingerprint


def test_filling_is_not_newer_than_the_users_own(small: JudgedDataset) -> None:
    sized = sized_store(small, 200)
    entries = (*sized.store.memories, *sized.store.episodes, *sized.store.procedures)
    own = [entry.changed_at for entry in entries if entry.id not in sized.filling]
    assert max(entry.changed_at for entry in entries if entry.id in sized.filling) <= max(own)


def test_judged_queries_are_the_owners(small: JudgedDataset) -> None:
    assert [query.id for query in sized_store(small, 100).judged] == ["figgle-1", "figgle-2"]
    assert len(sized_store(small, 100).queries) == 6
    assert len(sized_store(small, 100, queries=2).queries) == 2


@pytest.mark.parametrize("size", [0, -1, True, 10**9])
def test_sizes_that_are_none_are_refused(small: JudgedDataset, size: Any) -> None:
    with pytest.raises(ConfigError, match="size is"):
        sized_store(small, size)


def test_a_dataset_without_queries_cannot_be_timed(small: JudgedDataset) -> None:
    empty = JudgedDataset(**{**small.__dict__, "queries": ()})
    with pytest.raises(DataError, match="nothing to time"):
        sized_store(empty, 10)


def test_made_up_vectors_are_unit_and_belong_to_their_text() -> None:
    bank = gaussian_bank(200, 32)
    texts = [f"text {at}" for at in range(300)]
    vectors = made_up_vectors(texts, bank)
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(1.0, abs=1e-5)
    assert np.array_equal(made_up_vectors(texts[::-1], bank)[::-1], vectors)
    assert np.array_equal(MadeUpEncoder(bank).encode(["text 7"])[0], vectors[7])
    # neighbours exist: the nearest other text is much nearer than an average one
    gram = vectors @ vectors.T - 2 * np.eye(300)
    assert gram.max(axis=1).mean() > gram[gram > -1].mean() + 0.4
    with pytest.raises(ConfigError, match="at least 3"):
        made_up_vectors(texts, bank[:2])


def test_only_a_store_over_the_limit_gets_made_up_vectors(kit: Any, cache: EmbeddingCache) -> None:
    texts = [f"note number {at}" for at in range(40)]
    real = cache.encode(kit.encoder, texts)
    partly = PartlyMadeUp(cache, 40)
    assert np.array_equal(partly.encode(kit.encoder, texts), real)
    assert partly.made_up == 0
    monkey = PartlyMadeUp(cache, 10)
    assert monkey.encode(kit.encoder, texts).shape == real.shape
    assert monkey.made_up == 0  # fewer texts than the bank holds are all encoded
