"""The bench of a whole assembly: its arms do what they say, its switch changes the index, memory stays flat."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from workbench.errors import ConfigError
from workbench.experiments.bench import main
from workbench.experiments.bench_assemble import ARMS, bench_assemble, bench_store
from workbench.experiments.bench_memory import bench_memory
from workbench.experiments.latency.baselines import Floor, Naive
from workbench.experiments.latency.indexes import index_recall, indexes


@pytest.fixture(scope="module")
def bench() -> Any:
    return bench_store(300, queries=6)


def test_the_floor_finds_what_the_search_finds(bench: Any) -> None:
    snapshot = bench.assembler.snapshot()
    floor = Floor(snapshot)
    for query, vector in zip(bench.queries, bench.vectors, strict=True):
        floor.prepare(query.query)
        for layer, (near, _) in enumerate(floor(query.query, vector)):
            assert set(near.tolist()) == set(snapshot.indexes[layer].search(vector, 100).tolist())


def test_the_naive_assembly_shows_mostly_what_ours_shows(bench: Any) -> None:
    settings = bench.assembler.settings().override(contradictions=False)
    naive = Naive(bench.assembler.snapshot(), settings)
    shared = []
    for query, vector in zip(bench.queries, bench.vectors, strict=True):
        ours = set(bench.assembler.assemble_embedded(query.query, vector, now=query.now, config=settings).prompt.splitlines())
        theirs = set(naive(query.query, vector, query.now.timestamp()).splitlines())
        shared.append(len(ours & theirs) / len(theirs))
    assert np.mean(shared) > 0.4  # other BM25, other spread; but the same job


def test_every_arm_is_timed() -> None:
    found = bench_assemble([300], queries=4, naive=2, warm_up=1)
    (size,) = found.sizes
    assert {arm: len(size.samples[arm]) for arm in ARMS} == {"floor": 4, "ours": 4, "ours, contradictions": 4, "naive": 2}
    assert size.ratio("floor") == 1.0
    assert size.exact
    assert size.index_recall is None
    assert "300" in str(found)
    json.dumps(found.to_dict(), allow_nan=False)


def test_an_arm_left_out_has_no_data() -> None:
    found = bench_assemble([300], queries=2, naive=0, warm_up=0)
    assert found.sizes[0].percentile("naive", 50) is None
    assert "no data" in str(found)


def test_sketches_are_made_when_asked_for_and_find_nearly_all() -> None:
    made = bench_store(600, queries=10, exact=False)
    snapshot = made.assembler.snapshot()
    assert not snapshot.indexes[0].exact
    assert made.index_recall is not None
    assert made.index_recall > 0.99
    assert index_recall(bench_store(300, queries=1).assembler.snapshot(), made.vectors, 10) is None


def test_the_switch_ends_with_its_block(kit: Any) -> None:
    vectors = np.eye(4, dtype=np.float32)
    from workbench.search.vectors import VectorIndex

    with indexes(False):
        assert not VectorIndex(vectors).exact
        with indexes(True):
            assert VectorIndex(vectors).exact
    assert VectorIndex(vectors).exact


def test_bad_input_ends_in_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["assemble", "--sizes", "three"]) == 2
    assert "sizes is 'three'" in capsys.readouterr().err
    with pytest.raises(ConfigError, match="at least 1"):
        bench_assemble([300], queries=0)


@pytest.mark.slow
def test_memory_stays_flat_over_many_queries() -> None:
    found = bench_memory(size=300, queries=20_000)
    assert found.growth < 0.05, str(found)
