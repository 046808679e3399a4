"""Latency against recall: exact and sketch indexes under several candidate caps, on judged queries."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from workbench.assembly.assembler import Assembler
from workbench.config import AssemblyConfig
from workbench.embedding.cache import EmbeddingCache
from workbench.embedding.encoder import Encoder, FloatMatrix
from workbench.experiments.arms import embed_queries
from workbench.experiments.latency.indexes import index_recall, indexes
from workbench.experiments.latency.stores import SizedStore
from workbench.experiments.percentile import describe

CAPS = (10, 25, 50, 100, 200)
_ROUNDS = 3


def tradeoff(
    sized: SizedStore,
    config: AssemblyConfig,
    encoder: Encoder,
    cache: EmbeddingCache,
    *,
    caps: Sequence[int] = CAPS,
    timed: bool = True,
    step: Callable[[int], None] | None = None,
) -> list[dict[str, Any]]:
    """One row per index kind and cap: recall of the candidate pool and of the prompt, and ms of an assembly without embedding.

    A cap is also the number of hits per layer and search arm. Recall is the mean over the judged queries of the store's user of
    the share of relevant entries; None without any. index_recall: share of the exact nearest ``cap`` rows that the index finds.
    Everything but ``latency`` depends on the store, the encoder and the configuration alone.
    """
    queries = sized.judged
    vectors = embed_queries(encoder, queries, cache) if queries else np.zeros((0, encoder.dim), dtype=np.float32)
    arms: list[_Arm] = []
    for exact in (True, False):
        assembler = Assembler(sized.store, encoder=encoder, cache=cache)
        with indexes(exact):
            assembler.snapshot(assembler.settings(config=config))
        arms += [_Arm(exact, cap, assembler, assembler.settings({"top_k": cap, "cap": cap}, config)) for cap in caps]
    # all arms in turns on the same query, so that whatever else the machine does falls on all of them; the first round warms up
    for turn in range(_ROUNDS if timed else 1):
        for at, query in enumerate(queries):
            first = at % len(arms)
            for arm in arms[first:] + arms[:first]:
                began = time.perf_counter_ns()
                context = arm.assembler.assemble_embedded(query.query, vectors[at], now=query.now, config=arm.settings)
                took = (time.perf_counter_ns() - began) / 1e6
                if turn:
                    arm.spent.append(took)
                else:
                    arm.pool.append(_share(query.relevant, context.ranking))
                    arm.prompt.append(_share(query.relevant, context.selected_ids))
            if step:
                step(1)
    return [arm.row(sized, encoder, vectors, timed) for arm in arms]


@dataclass(eq=False)
class _Arm:
    exact: bool
    cap: int
    assembler: Assembler
    settings: AssemblyConfig
    spent: list[float] = field(default_factory=list)
    pool: list[float] = field(default_factory=list)
    prompt: list[float] = field(default_factory=list)

    def row(self, sized: SizedStore, encoder: Encoder, vectors: FloatMatrix, timed: bool) -> dict[str, Any]:
        out: dict[str, Any] = {
            "size": sized.size,
            "index": "exact" if self.exact else "sketch",
            "cap": self.cap,
            "encoder": encoder.name,
            "n_queries": len(vectors),
            "pool_recall": float(np.mean(self.pool)) if self.pool else None,
            "context_recall": float(np.mean(self.prompt)) if self.prompt else None,
            "index_recall": 1.0 if self.exact else index_recall(self.assembler.snapshot(self.settings), vectors, self.cap),
        }
        return {**out, "latency": describe(self.spent)} if timed else out


def _share(relevant: Any, found: Sequence[str]) -> float:
    return len(set(relevant) & set(found)) / len(relevant)
