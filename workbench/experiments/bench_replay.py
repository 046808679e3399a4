"""``bench replay``: how fast replay is, beside re-running the assembler, on synthetic pools of 300 candidates.

Speeds are per second of processor time of one process, so that other work on the machine does not count; ``--processes 2`` adds
what two processes reach together while they share caches and memory.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import numpy as np

from workbench.assembly.assembler import Assembler
from workbench.config import SIGNALS, AssemblyConfig, Budgets, Weights
from workbench.data.judged import JudgedDataset, JudgedQuery
from workbench.entries import Episode, Memory, Procedure
from workbench.experiments.build import build
from workbench.experiments.pools import Pools
from workbench.experiments.replay import Replayer
from workbench.store.user import UserStore
from workbench.tabular import Tabular

if TYPE_CHECKING:
    from workbench.reports.cells import Table

_NOW = datetime(2026, 6, 1, 9, tzinfo=UTC)
_WORDS = tuple(f"{a}{b}" for a in "ba co du fe gi lo mu ne pi ro su ta".split() for b in "nd rk st lm ft".split())  # noqa: SIM905


class _RandomEncoder:
    """Random vectors, the same for the same text: what is timed begins after embedding."""

    name = "bench-random@1"
    dim = 64

    def encode(self, texts: list[str], /) -> Any:
        seeds = [int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "little") for text in texts]
        vectors = np.array([np.random.default_rng(seed).standard_normal(self.dim) for seed in seeds], dtype=np.float32)
        return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


class _NoConflicts:
    name = "bench-none"
    reasons = ("",)

    def features(self, texts: Sequence[str]) -> None:
        return None

    def decide(self, features: Any, left: Any, right: Any, similarity: Any) -> Any:
        return np.zeros(len(left), dtype=np.int64)

    def relation(self, features: Any, left: Any, right: Any, similarity: Any, *, duplicate_at: float) -> Any:
        return np.zeros(len(left), dtype=np.int64)


def bench_dataset(queries: int, *, per_layer: int = 140, seed: int = 5) -> JudgedDataset:
    """One user with ``per_layer`` entries in each layer; texts of 15 to 40 made-up words, two relevant entries per query."""
    rng = np.random.default_rng(seed)

    def text() -> str:
        return " ".join(rng.choice(_WORDS, size=int(rng.integers(15, 41))).tolist())

    def shared() -> dict[str, Any]:
        return {"importance": float(rng.random()), "confidence": float(rng.random()), "access_count": int(rng.integers(0, 100))}

    def when() -> datetime:
        return _NOW - timedelta(days=float(rng.integers(1, 300)))

    store = UserStore(
        "bench",
        memories=[Memory(id=f"m{at}", text=text(), created_at=when(), **shared()) for at in range(per_layer)],
        episodes=[Episode(id=f"e{at}", summary=text(), occurred_at=when(), **shared()) for at in range(per_layer)],
        procedures=[Procedure(id=f"w{at}", name=text(), created_at=when(), **shared()) for at in range(per_layer)],
    )
    judged = tuple(
        JudgedQuery(
            id=f"q{at}",
            user_id="bench",
            query=text(),
            now=_NOW,
            relevant={f"m{int(rng.integers(per_layer))}": 1, f"e{int(rng.integers(per_layer))}": 1},
        )
        for at in range(queries)
    )
    return JudgedDataset(
        name="bench", stores={"bench": store}, queries=judged, licence="Apache-2.0", source="made here", checksum="0" * 64
    )


@dataclass(frozen=True, kw_only=True, repr=False)
class ReplayBench(Tabular):
    """Contexts per second of processor time of one process: replayed (context recall included) and re-run. candidates: mean per
    pool. recall_equal: both gave the same context recall for every query re-run."""

    candidates: float
    contexts: int
    replayed_per_second: float
    rerun: int
    rerun_per_second: float
    recall_equal: bool
    compile_seconds: float
    side_by_side_per_second: float | None = None

    @property
    def ratio(self) -> float:
        """Replay over re-running."""
        return self.replayed_per_second / self.rerun_per_second

    def to_dict(self) -> dict[str, Any]:
        """The numbers as strict JSON."""
        return {**vars(self), "ratio": self.ratio}

    def tables(self) -> tuple[Table, ...]:
        """The result as tables; see ``Tabular``."""
        from workbench.reports.result_tables import frame_table

        rows = [
            {"way": "replay", "contexts": self.contexts, "speed": round(self.replayed_per_second), "ratio": round(self.ratio, 1)},
            {"way": "re-run", "contexts": self.rerun, "speed": round(self.rerun_per_second), "ratio": 1.0},
        ]
        if self.side_by_side_per_second is not None:
            rows.append({"way": "replay, processes side by side", "speed": round(self.side_by_side_per_second)})
        columns = {"way": "way", "contexts": "contexts", "speed": "contexts per second", "ratio": "times re-run"}
        notes = (
            f"Per second of processor time of one process; pools of {self.candidates:.0f} candidates, context recall included. "
            f"Context recall equal both ways: {'yes' if self.recall_equal else 'NO'}.",
        )
        units = {"ratio": "entries"}
        return (frame_table("Replay beside running the assembler again", rows, columns, units=units, notes=notes),)

    def __str__(self) -> str:
        lines = [
            f"pools of {self.candidates:.0f} candidates, context recall included; per second of processor time of one process",
            f"replay    {self.replayed_per_second:12,.0f} contexts/s  ({self.contexts:,} contexts)",
            f"re-run    {self.rerun_per_second:12,.0f} contexts/s  ({self.rerun:,} contexts)",
            f"ratio     {self.ratio:12,.0f}",
            f"context recall equal: {'yes' if self.recall_equal else 'NO'}",
            f"loading the compiled code took {self.compile_seconds:.1f} s; the first call on a machine compiles it",
        ]
        if self.side_by_side_per_second is not None:
            lines.append(f"processes side by side, sum of their rates: {self.side_by_side_per_second:,.0f} contexts/s")
        return "\n".join(lines)


def bench_configs(count: int, base: AssemblyConfig) -> list[AssemblyConfig]:
    """Random weights under a few budgets, tight enough to cut every tier."""
    rng = np.random.default_rng(3)
    budgets = [
        Budgets(memories=m, episodes=e, procedures=p) for m, e, p in ((2000, 1000, 500), (1000, 1000, 500), (3000, 500, 250))
    ]
    draws = rng.dirichlet(np.ones(len(SIGNALS)), size=count).tolist()
    return [
        base.override(weights=Weights(**dict(zip(SIGNALS, row, strict=True))), budgets=budgets[at % len(budgets)])
        for at, row in enumerate(draws)
    ]


def bench_replay(*, queries: int = 100, configs: int = 2000, rerun: int = 200, processes: int = 1) -> ReplayBench:
    """Time both ways over the same configurations and queries."""
    encoder, conflicts = _RandomEncoder(), _NoConflicts()
    dataset = bench_dataset(queries)
    assembler = Assembler(dataset.stores["bench"], encoder=encoder, conflict_test=conflicts, cache=False)
    base = assembler.settings()
    vectors = encoder.encode([query.query for query in dataset.queries])
    pools = build(dataset, {"bench": base}, encoder, vectors, conflict_test=conflicts, cache=False)["bench"]
    plans = bench_configs(configs, base)
    clock = time.process_time()
    recall_of(pools, plans[:4])
    compiled = time.process_time() - clock
    clock = time.process_time()
    recall = recall_of(pools, plans)
    replayed = time.process_time() - clock
    assembler.snapshot(base)
    again = np.empty(rerun)
    clock = time.process_time()
    for number in range(rerun):
        row, at = number % configs, number % queries
        query = dataset.queries[at]
        context = assembler.assemble_embedded(query.query, vectors[at], now=query.now, config=plans[row])
        shown = set(context.selected_ids)
        again[number] = sum(key in shown for key in query.relevant) / len(query.relevant)
    slow = time.process_time() - clock
    expected = np.array([recall[number % configs, number % queries] for number in range(rerun)])
    return ReplayBench(
        candidates=pools.row.size / len(pools),
        contexts=configs * queries,
        replayed_per_second=configs * queries / replayed,
        rerun=rerun,
        rerun_per_second=rerun / slow,
        recall_equal=bool(np.array_equal(expected, again)),
        compile_seconds=max(compiled, 0.0),
        side_by_side_per_second=_side_by_side(pools, plans, processes) if processes > 1 else None,
    )


def recall_of(pools: Pools, configs: Sequence[AssemblyConfig]) -> Any:
    """Context recall, shape (C, Q)."""
    replayer = Replayer(pools)
    return replayer.recall(replayer.counts(configs, ranks=False))


def _timed(pools: Pools, configs: Sequence[AssemblyConfig]) -> float:
    """Contexts per second of this process's processor time; a first small call loads the compiled code."""
    recall_of(pools, configs[:4])
    clock = time.process_time()
    recall_of(pools, configs)
    return len(configs) * len(pools) / (time.process_time() - clock)


def _side_by_side(pools: Pools, configs: Sequence[AssemblyConfig], processes: int) -> float:
    """Sum of the rates of processes that run at the same time."""
    from joblib import Parallel, delayed

    return float(sum(Parallel(n_jobs=processes)(delayed(_timed)(pools, configs) for _ in range(processes))))
