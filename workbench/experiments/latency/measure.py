"""One cell of a profile: a store of one size, every configuration, closed loop, open loop and several threads."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from workbench.assembly.assembler import Assembler
from workbench.config import AssemblyConfig
from workbench.embedding.cache import EmbeddingCache
from workbench.embedding.encoder import Encoder
from workbench.experiments.latency.indexes import index_recall
from workbench.experiments.latency.load import open_loop, parallel
from workbench.experiments.latency.stages import closed_loop, prompt_digest, prompts_of, turns
from workbench.experiments.latency.stores import PartlyMadeUp, SizedStore
from workbench.experiments.percentile import percentiles

Step = Callable[[str, int], None]


@dataclass(frozen=True, kw_only=True)
class Plan:
    """What is measured: queries and warm-up queries per configuration; rate of the open loop in queries a second (None: half of
    what the closed loop reached, 0: none); threads of the concurrency runs."""

    queries: int = 200
    warm_up: int = 10
    rate: float | None = None
    concurrency: tuple[int, ...] = (1, 2, 4, 8)
    embed_limit: int = 20_000


def open_cell(
    sized: SizedStore, encoder: Encoder, cache: EmbeddingCache, embed_limit: int, step: Step
) -> tuple[Assembler, dict[str, Any], float]:
    """A compiled store with what is to be said of it, and the seconds it took to compile (its vectors included)."""
    vectors = PartlyMadeUp(cache, embed_limit, progress=lambda n: step(f"embed {sized.size:,}", n))
    assembler = Assembler(sized.store, encoder=encoder, cache=vectors)
    began = time.perf_counter()
    snapshot = assembler.snapshot(assembler.settings())
    took = time.perf_counter() - began
    asked = [query.query for query in sized.queries if query.query.strip()][:25]
    found = cache.encode(encoder, asked, template="query") if asked else np.zeros((0, encoder.dim), dtype=np.float32)
    facts = {
        "size": sized.size,
        "layers": np.diff(snapshot.bounds).tolist(),
        "soul": len(sized.store.soul),
        "own_entries": sized.own,
        "made_up_vectors": vectors.made_up,
        "exact_index": bool(snapshot.indexes[0].exact),
        "index_recall": index_recall(snapshot, found, 100),
    }
    return assembler, facts, took


def closed(
    assembler: Assembler, sized: SizedStore, configs: Mapping[str, AssemblyConfig], plan: Plan, step: Step
) -> dict[str, Any]:
    """The closed loop of all configurations in turns: samples and prompts by configuration, load before and after."""
    before = os.getloadavg()
    result = closed_loop(
        assembler,
        configs,
        turns(sized.queries, plan.queries),
        warm_up=plan.warm_up,
        step=lambda n: step(f"time {sized.size:,}", n),
    )
    return {
        "samples": result.samples,
        "prompts": dict(result.prompts),
        "load": {"before": list(before), "after": list(os.getloadavg())},
    }


def prompts_only(assembler: Assembler, sized: SizedStore, configs: Mapping[str, AssemblyConfig], plan: Plan) -> dict[str, str]:
    """What ``closed`` gives as prompts, without timing anything."""
    result = closed_loop(assembler, configs, turns(sized.queries, plan.queries), warm_up=0)
    return dict(result.prompts)


def open_arrivals(
    assembler: Assembler, sized: SizedStore, config: AssemblyConfig, plan: Plan, total: Sequence[float], step: Step
) -> dict[str, Any] | None:
    """Fixed arrivals on one worker. total: closed-loop times in ms, for the rate where none is given. None when switched off."""
    middle = percentiles(total, [50])
    rate = plan.rate if plan.rate is not None else 500.0 / middle[0] if middle and middle[0] > 0 else 0.0
    if not rate:
        return None
    queries = turns(sized.queries, plan.queries)
    found = open_loop(
        lambda at: assembler.assemble(queries[at].query, now=queries[at].now, config=config),
        len(queries),
        rate,
        step=lambda n: step(f"open loop {sized.size:,}", n),
    )
    return {"rate": rate, "latency": list(found.latency), "service": list(found.service), "late": found.late}


def side_by_side(assembler: Assembler, sized: SizedStore, config: AssemblyConfig, plan: Plan, step: Step) -> list[dict[str, Any]]:
    """The same queries asked by 1, 2, ... threads of one assembler; equal: every prompt was that of a single thread."""
    queries = turns(sized.queries, min(plan.queries, 100))
    expected = prompts_of(assembler, config, queries) if plan.concurrency else []

    def call(at: int) -> bytes:
        query = queries[at]
        return prompt_digest(assembler.assemble(query.query, now=query.now, config=config).prompt)

    rows = []
    for workers in plan.concurrency:
        found = parallel(call, len(queries), workers)
        rows.append(
            {
                "workers": workers,
                "latency": list(found.latency),
                "per_second": found.per_second,
                "equal": list(found.results) == expected,
            }
        )
        step(f"threads {sized.size:,}", 1)
    return rows
