"""``bench assemble``: the whole assembly beside its floor and beside a naive one, interleaved in one process.

The query's vector is given, so nothing here depends on an encoder. *Floor*: the exact top 100 per layer from FAISS and the top
100 per layer by sparse BM25, nothing else; the query is tokenised beforehand for it. *Naive*: rank-bm25 over all entries, a
numpy cosine over all entries, Python loops, tokens counted while the budget is filled. Texts come from the synthetic generator,
vectors are made up (see ``latency.vectors``); results are not judged here, only timed.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from workbench.assembly.assembler import Assembler
from workbench.data.judged import JudgedQuery
from workbench.data.synthetic.user import synthesize_user
from workbench.data.synthetic.wording import LANGUAGES
from workbench.embedding.encoder import FloatMatrix
from workbench.errors import ConfigError
from workbench.experiments.latency.baselines import Floor, Naive
from workbench.experiments.latency.indexes import index_recall, indexes
from workbench.experiments.latency.vectors import MadeUpEncoder, made_up_vectors
from workbench.experiments.percentile import percentiles

ARMS = ("floor", "ours", "ours, contradictions", "naive")
SEED = 7


@dataclass(frozen=True, eq=False)
class BenchStore:
    """A compiled store of one synthetic user with queries and their vectors. index_recall: share of the exact top 100 of the
    largest layer that its index finds; None when the index is exact."""

    assembler: Assembler
    queries: tuple[JudgedQuery, ...]
    vectors: FloatMatrix
    build_seconds: float
    index_recall: float | None


def bench_store(size: int, *, queries: int, exact: bool | None = None, say: Callable[[str], None] | None = None) -> BenchStore:
    """A user with ``size`` entries; the queries are his own judged ones, in turn, each with a vector near some entry's."""
    user = synthesize_user(0, size=size, seed=SEED, languages=LANGUAGES)
    encoder = MadeUpEncoder()
    assembler = Assembler(user.store, encoder=encoder, cache=False)
    began = time.perf_counter()
    if say:
        say(f"compiling {size:,} entries")
    with indexes(exact):
        snapshot = assembler.snapshot(assembler.settings())
        assembler.preferences(snapshot, assembler.settings())
    took = time.perf_counter() - began
    asked = tuple(user.queries[at % len(user.queries)] for at in range(queries))
    rng = np.random.Generator(np.random.PCG64(SEED))
    near = snapshot.vectors[rng.choice(np.flatnonzero(snapshot.searchable), size=queries)]
    off = made_up_vectors([f"query {at}" for at in range(queries)], encoder.bank)
    vectors = near + np.float32(0.6) * off
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    return BenchStore(assembler, asked, vectors, took, index_recall(snapshot, vectors[:50], 100))


@dataclass(frozen=True, kw_only=True)
class SizeBench:
    """Samples of one size in ms, per arm, and what was built. exact: whether the largest layer is searched exactly.

    samples: elapsed time. cpu: time of the calling thread on a processor, which other work on the machine hardly changes.
    """

    size: int
    layers: tuple[int, int, int]
    exact: bool
    build_seconds: float
    index_recall: float | None
    samples: Mapping[str, tuple[float, ...]]
    cpu: Mapping[str, tuple[float, ...]]

    def percentile(self, arm: str, q: float, *, cpu: bool = False) -> float | None:
        """A percentile of an arm in ms; None without samples."""
        found = percentiles((self.cpu if cpu else self.samples)[arm], [q])
        return None if found is None else found[0]

    def ratio(self, arm: str, q: float = 50.0, *, cpu: bool = False) -> float | None:
        """A percentile of an arm over the floor's; None without samples."""
        one, floor = self.percentile(arm, q, cpu=cpu), self.percentile("floor", q, cpu=cpu)
        return None if one is None or not floor else one / floor


@dataclass(frozen=True, kw_only=True)
class AssembleBench:
    """Sizes in order; load: load average of one minute before and after."""

    sizes: tuple[SizeBench, ...]
    load: tuple[float, float]

    def __str__(self) -> str:
        lines = [
            "Whole assembly, the query's vector given; ms a query, one thread, arms interleaved in one process.",
            "elapsed: wall clock. CPU: processor time of the thread, which other work hardly changes. x: p50 over the floor's.",
            f"load average {self.load[0]:.1f} before, {self.load[1]:.1f} after; {os.cpu_count()} cores",
            f"{'entries':>8}  {'arm':22}{'n':>5}  {'elapsed p50':>12}{'p95':>9}{'x':>7}  {'CPU p50':>9}{'p95':>9}{'x':>7}",
        ]
        for part in self.sizes:
            for arm in ARMS:
                cells = [
                    "no data" if value is None else f"{value:.2f}"
                    for cpu in (False, True)
                    for value in (part.percentile(arm, 50, cpu=cpu), part.percentile(arm, 95, cpu=cpu), part.ratio(arm, cpu=cpu))
                ]
                lines.append(
                    f"{part.size:>8,}  {arm:22}{len(part.samples[arm]):>5}  {cells[0]:>12}{cells[1]:>9}{cells[2]:>7}  "
                    f"{cells[3]:>9}{cells[4]:>9}{cells[5]:>7}"
                )
            found = "exact"
            if not part.exact and part.index_recall is not None:
                found = f"sketches, find {part.index_recall:.4f} of the exact top 100"
            lines.append(
                f"{'':8}  layers {' + '.join(f'{n:,}' for n in part.layers)}; vector index of the memories: {found}; "
                f"built in {part.build_seconds:.1f} s"
            )
        return "\n".join(lines)

    def to_dict(self) -> dict[str, Any]:
        """Strict JSON."""
        return {
            "load": list(self.load),
            "sizes": [
                {
                    "size": part.size,
                    "layers": list(part.layers),
                    "exact": part.exact,
                    "build_seconds": part.build_seconds,
                    "index_recall": part.index_recall,
                    "arms": {
                        arm: {
                            "n": len(part.samples[arm]),
                            "p50": part.percentile(arm, 50),
                            "p95": part.percentile(arm, 95),
                            "ratio": part.ratio(arm),
                            "cpu_p50": part.percentile(arm, 50, cpu=True),
                            "cpu_p95": part.percentile(arm, 95, cpu=True),
                            "cpu_ratio": part.ratio(arm, cpu=True),
                        }
                        for arm in ARMS
                    },
                }
                for part in self.sizes
            ],
        }


def bench_assemble(
    sizes: Sequence[int],
    *,
    queries: int = 200,
    naive: int = 40,
    warm_up: int = 10,
    exact: bool | None = None,
    say: Callable[[str], None] | None = None,
) -> AssembleBench:
    """Time all arms at every size. naive: how many queries the naive arm answers. exact: None lets the size choose the index."""
    if queries < 1 or naive < 0:
        raise ConfigError(f"queries is {queries!r}, naive {naive!r}: must be at least 1 and 0")
    before = os.getloadavg()[0]
    parts = []
    for size in sizes:
        bench = bench_store(size, queries=queries, exact=exact, say=say)
        parts.append(_time_arms(size, bench, naive, warm_up))
        if say:
            say(f"timed {size:,} entries")
    return AssembleBench(sizes=tuple(parts), load=(before, os.getloadavg()[0]))


def _time_arms(size: int, bench: BenchStore, naive: int, warm_up: int) -> SizeBench:
    assembler = bench.assembler
    settings = assembler.settings()
    plain = settings.override(contradictions=False)
    snapshot = assembler.snapshot(settings)
    floor, slow = Floor(snapshot), Naive(snapshot, settings) if naive else None
    calls: dict[str, Callable[[JudgedQuery, FloatMatrix], object]] = {
        "floor": lambda query, vector: floor(query.query, vector),
        "ours": lambda query, vector: assembler.assemble_embedded(query.query, vector, now=query.now, config=plain),
        "ours, contradictions": lambda query, vector: assembler.assemble_embedded(
            query.query, vector, now=query.now, config=settings
        ),
    }
    if slow is not None:
        calls["naive"] = lambda query, vector: slow(query.query, vector, query.now.timestamp())
    names = list(calls)
    samples: dict[str, list[float]] = {arm: [] for arm in ARMS}
    cpu: dict[str, list[float]] = {arm: [] for arm in ARMS}
    every = max(1, len(bench.queries) // naive) if naive else 0
    for turn in range(-warm_up, len(bench.queries)):
        at = turn % len(bench.queries)
        query, vector = bench.queries[at], bench.vectors[at]
        floor.prepare(query.query)
        # every arm is first, second, ... equally often
        for name in names[turn % len(names) :] + names[: turn % len(names)]:
            if name == "naive" and (turn % every or (turn < 0 and turn != -every)):
                continue
            busy, start = time.thread_time_ns(), time.perf_counter_ns()
            calls[name](query, vector)
            end, worked = time.perf_counter_ns(), time.thread_time_ns()
            if turn >= 0:
                samples[name].append((end - start) / 1e6)
                cpu[name].append((worked - busy) / 1e6)
    sizes = np.diff(snapshot.bounds).tolist()
    return SizeBench(
        size=size,
        layers=(sizes[0], sizes[1], sizes[2]),
        exact=snapshot.indexes[0].exact,
        build_seconds=bench.build_seconds,
        index_recall=bench.index_recall,
        samples={arm: tuple(values) for arm, values in samples.items()},
        cpu={arm: tuple(values) for arm, values in cpu.items()},
    )
