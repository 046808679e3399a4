"""Replay equals re-running the assembler: entries, order, tokens, fates and every metric."""

from __future__ import annotations

import os
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from workbench.assembly.assembler import Assembler
from workbench.assembly.prompt import SECTIONS
from workbench.config import AssemblyConfig
from workbench.embedding.cache import EmbeddingCache
from workbench.errors import ConfigError, DataError
from workbench.experiments.arms import _keep, embed_queries
from workbench.experiments.build import build
from workbench.experiments.kernels import fill_layer
from workbench.experiments.metrics import DEFAULT, evaluate
from workbench.experiments.pools import RERANK_FIELDS, Pools, to_arrays
from workbench.experiments.poolstore import PoolStore, build_pools, effective_config, pool_key, pools_for
from workbench.experiments.replay import Replayer, replay
from workbench.experiments.replay_contexts import replay_contexts


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> EmbeddingCache:
    return EmbeddingCache(tmp_path_factory.mktemp("embeddings"))


def assembled(toys: SimpleNamespace, dataset: Any, config: AssemblyConfig, cache: EmbeddingCache) -> list[Any]:
    vectors = embed_queries(toys.encoder, dataset.queries, cache)
    assemblers = {
        user: Assembler(store, encoder=toys.encoder, conflict_test=toys.conflict_test, cache=cache)
        for user, store in dataset.stores.items()
    }
    return [
        assemblers[query.user_id].assemble_embedded(query.query, vectors[row], now=query.now, config=config)
        for row, query in enumerate(dataset.queries)
    ]


def pools_of(toys: SimpleNamespace, dataset: Any, config: AssemblyConfig, cache: EmbeddingCache) -> Pools:
    effective = effective_config(dataset, config, toys.encoder)
    vectors = embed_queries(toys.encoder, dataset.queries, cache)
    return build(dataset, {"k": effective}, toys.encoder, vectors, conflict_test=toys.conflict_test, cache=cache)["k"]


SEARCHES = st.fixed_dictionaries(
    {
        "top_k": st.sampled_from([2, 10, 100]),
        "cap": st.sampled_from([0, 3, 100]),
        "fusion": st.sampled_from(["spread", "rrf"]),
        "contradictions": st.booleans(),
        "preference_min_importance": st.sampled_from([0.0, 0.7]),
    }
)


@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(seed=st.integers(0, 10**6), search=SEARCHES)
def test_replay_equals_rerunning(toys: SimpleNamespace, cache: EmbeddingCache, seed: int, search: dict[str, Any]) -> None:
    dataset = toys.dataset(seed)
    rng = np.random.default_rng(seed + 1)
    configs = [toys.config(rng, **search) for _ in range(3)]
    replayer = Replayer(pools_of(toys, dataset, configs[0], cache))
    counts = replayer.counts(configs)
    for row, config in enumerate(configs):
        contexts = assembled(toys, dataset, config, cache)
        again = replay_contexts(replayer, config)
        fates = list(again.fates())
        for at, (query, context) in enumerate(zip(dataset.queries, contexts, strict=True)):
            soul = {block.id for block in context.snapshot.soul}
            assert again.selected(at) == tuple(key for key in context.selected_ids if key not in soul)
            assert again.ranking(at) == context.ranking
            sections = [context.tokens[name] for name in SECTIONS]
            assert again.sections[at].tolist() == sections
            assert counts.sections[row, at].tolist() == sections
            assert fates[at] == {key: context.fate_of(key) for key in query.relevant}
            inside = slice(replayer.pools.offsets[at], replayer.pools.offsets[at + 1])
            assert np.array_equal(again.outcome[inside], context.selection.outcome)
            assert np.array_equal(again.scores[inside], context.selection.scores)
        kept = [_keep(query, context).outcome for query, context in zip(dataset.queries, contexts, strict=True)]
        expected = evaluate(kept, DEFAULT)
        found = evaluate(replayer.facts(counts, row), DEFAULT)
        for name in DEFAULT:
            assert np.array_equal(found[name], expected[name], equal_nan=True), name
        assert np.array_equal(replayer.recall(counts)[row], expected["ContextRecall"], equal_nan=True)


@settings(max_examples=200, deadline=None)
@given(
    scores=st.lists(st.sampled_from([0.0, 0.1, 0.1 + 1e-16, 0.3, 0.30000000000000004, 0.7, 1.0]), max_size=60),
    data=st.data(),
)
def test_fill_layer_equals_a_plain_loop(scores: list[float], data: st.DataObject) -> None:
    n = len(scores)
    need = np.array(data.draw(st.lists(st.integers(0, 30), min_size=n, max_size=n)), dtype=np.int64)
    takes_part = np.array(data.draw(st.lists(st.booleans(), min_size=n, max_size=n)), dtype=bool)
    room, skip = data.draw(st.integers(-5, 400)), data.draw(st.booleans())
    key = np.where(takes_part, np.array(scores, dtype=np.float64), -1.0)
    need = np.where(takes_part, need, 0)
    chosen = np.zeros(n, dtype=np.uint8)
    used = fill_layer(key, need, room, skip, chosen)
    left, expected = room, np.zeros(n, dtype=np.uint8)
    for at in sorted(np.flatnonzero(takes_part).tolist(), key=lambda at: (-key[at], at)):
        if need[at] <= left:
            expected[at] = 1
            left -= int(need[at])
        elif not skip:
            break
    assert chosen.tolist() == expected.tolist()
    assert used == room - left


def test_many_ties_at_the_edge_of_the_budget() -> None:
    key, need = np.full(300, 0.5), np.full(300, 7, dtype=np.int64)
    chosen = np.zeros(300, dtype=np.uint8)
    assert fill_layer(key, need, 100, False, chosen) == 98
    assert np.flatnonzero(chosen).tolist() == list(range(14))


def test_pools_are_stored_and_found_again(toys: SimpleNamespace, cache: EmbeddingCache, tmp_path: Any) -> None:
    dataset, store = toys.dataset(5), PoolStore(tmp_path)
    options = {"conflict_test": toys.conflict_test, "cache": cache, "store": store}
    steps: list[int] = []
    first = build_pools(dataset, AssemblyConfig(), toys.encoder, step=steps.append, **options)
    assert len(steps) == len(dataset.queries)
    again = build_pools(dataset, AssemblyConfig(min_score=0.3), toys.encoder, step=steps.append, **options)
    assert len(steps) == len(dataset.queries)  # a setting that only re-ranks makes no new pools
    texts, arrays = to_arrays(first)
    texts_again, arrays_again = to_arrays(again)
    assert texts == texts_again
    assert all(np.array_equal(arrays[name], arrays_again[name]) for name in arrays)
    build_pools(dataset, AssemblyConfig(top_k=3), toys.encoder, step=steps.append, **options)
    assert len(steps) == 2 * len(dataset.queries)


def test_a_damaged_pool_is_built_again(toys: SimpleNamespace, cache: EmbeddingCache, tmp_path: Any) -> None:
    dataset, store = toys.dataset(5), PoolStore(tmp_path)
    options = {"conflict_test": toys.conflict_test, "cache": cache, "store": store}
    pools = build_pools(dataset, AssemblyConfig(), toys.encoder, **options)
    file = tmp_path / pools.key / "relevance.npy"
    data = bytearray(file.read_bytes())
    data[-1] ^= 1
    file.write_bytes(bytes(data))
    assert store.load(pools.key) is None
    assert np.array_equal(build_pools(dataset, AssemblyConfig(), toys.encoder, **options).relevance, pools.relevance)
    assert store.load(pools.key) is not None


def test_sets_beyond_the_limit_go_unless_they_were_used_today(
    toys: SimpleNamespace, cache: EmbeddingCache, tmp_path: Any
) -> None:
    options = {"conflict_test": toys.conflict_test, "cache": cache}
    dataset, roomy = toys.dataset(5), PoolStore(tmp_path)
    keys = [build_pools(dataset, AssemblyConfig(top_k=k), toys.encoder, store=roomy, **options).key for k in (3, 4, 5)]
    for days, key in zip((3, 2), keys, strict=False):
        used = (tmp_path / key / "meta.json").stat().st_mtime - 86_400 * days
        os.utime(tmp_path / key / "meta.json", (used, used))
    sizes = [sum(path.stat().st_size for path in (tmp_path / key).iterdir()) for key in keys]
    tight = PoolStore(tmp_path, limit=sizes[1] + sizes[2] + 3 * sizes[2] // 2)
    build_pools(dataset, AssemblyConfig(top_k=6), toys.encoder, store=tight, **options)
    assert tight.load(keys[0]) is None, "the set unused for longest stayed"
    assert tight.load(keys[1]) is not None, "more was removed than the limit asks for"
    smallest = PoolStore(tmp_path, limit=0)
    build_pools(dataset, AssemblyConfig(top_k=7), toys.encoder, store=smallest, **options)
    assert len(list(tmp_path.glob("*/meta.json"))) == 4, "a set that was used today is gone"


def test_the_key_follows_data_encoder_conflict_test_and_search_settings(toys: SimpleNamespace) -> None:
    base = effective_config(toys.dataset(5), AssemblyConfig(), toys.encoder)

    class Other(type(toys.encoder)):  # type: ignore[misc]
        name = "toy-encoder@2"

    class Conflicts(type(toys.conflict_test)):  # type: ignore[misc]
        name = "toy-conflicts-2"

    keys = {
        pool_key(toys.dataset(5), base, toys.encoder, toys.conflict_test),
        pool_key(toys.dataset(6), base, toys.encoder, toys.conflict_test),
        pool_key(toys.dataset(5), base, Other(), toys.conflict_test),
        pool_key(toys.dataset(5), base, toys.encoder, Conflicts()),
        pool_key(toys.dataset(5), base.override(alpha=0.5), toys.encoder, toys.conflict_test),
        pool_key(toys.dataset(5), base.override(preference_min_importance=0.1), toys.encoder, toys.conflict_test),
    }
    assert len(keys) == 6
    for name in RERANK_FIELDS:
        assert name in base.to_dict()


def test_search_variants_built_together_equal_those_built_alone(
    toys: SimpleNamespace, cache: EmbeddingCache, tmp_path: Any
) -> None:
    dataset = toys.dataset(8)
    configs = [AssemblyConfig(cap=cap, top_k=k) for cap in (2, 50) for k in (3, 50)]
    options = {"conflict_test": toys.conflict_test, "cache": cache}
    keys, together = pools_for(dataset, configs, toys.encoder, store=PoolStore(tmp_path / "a"), **options)
    for key, config in zip(keys, configs, strict=True):
        alone = build_pools(dataset, config, toys.encoder, store=PoolStore(tmp_path / "b"), **options)
        left, right = to_arrays(together[key])[1], to_arrays(alone)[1]
        assert all(np.array_equal(left[name], right[name]) for name in left)


def test_a_part_of_the_queries_gives_the_same_values(toys: SimpleNamespace, cache: EmbeddingCache) -> None:
    dataset = toys.dataset(11, users=3)
    rng = np.random.default_rng(0)
    configs = [toys.config(rng) for _ in range(3)]
    pools = pools_of(toys, dataset, configs[0], cache)
    rows = np.array([7, 2, 4, 0])
    names = [name for name in DEFAULT if name != "PrefixStability"]  # which depends on the user's earlier queries
    whole, part = replay(pools, configs, names), replay(pools.take(rows), configs, names)
    for name in names:
        assert np.array_equal(whole[name][:, rows], part[name], equal_nan=True), name
    with pytest.raises(DataError, match="distinct"):
        pools.take([0, 0])


def test_replay_refuses_a_configuration_that_searches_differently(toys: SimpleNamespace, cache: EmbeddingCache) -> None:
    pools = pools_of(toys, toys.dataset(3), AssemblyConfig(), cache)
    with pytest.raises(ConfigError, match="alpha"):
        replay(pools, [AssemblyConfig(alpha=0.1)])
