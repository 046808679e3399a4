"""``bench memory``: does a process that answers many queries keep growing?"""

from __future__ import annotations

import gc
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from workbench.errors import ConfigError
from workbench.experiments.bench_assemble import bench_store

_MIB = 2**20
_DISTINCT = 500


@dataclass(frozen=True, kw_only=True)
class MemoryBench:
    """Resident memory in MiB after so many queries: marks of (queries, MiB), the first one after the warm-up."""

    size: int
    marks: tuple[tuple[int, float], ...]

    @property
    def growth(self) -> float:
        """Last mark over the first, less 1: 0.05 is 5 % more."""
        return self.marks[-1][1] / self.marks[0][1] - 1.0

    def __str__(self) -> str:
        lines = [f"{queries:>8,} queries  {mib:8.1f} MiB" for queries, mib in self.marks]
        return "\n".join([f"resident memory of the process, {self.size:,} entries", *lines, f"growth {100 * self.growth:+.1f} %"])

    def to_dict(self) -> dict[str, Any]:
        """Strict JSON."""
        return {"size": self.size, "marks": [list(mark) for mark in self.marks], "growth": self.growth}


def bench_memory(*, size: int = 3000, queries: int = 20_000, say: Callable[[str], None] | None = None) -> MemoryBench:
    """Answer ``queries`` queries, no two of the same text and vector, and read the resident memory ten times on the way.

    The first tenth warms up: caches of bounded size fill then. Raises ConfigError for fewer than 100 queries.
    """
    import psutil

    if queries < 100:
        raise ConfigError(f"queries is {queries!r}: must be at least 100, so that there is something to grow")
    bench = bench_store(size, queries=_DISTINCT, say=say)
    settings, process = bench.assembler.settings(), psutil.Process()
    marks: list[tuple[int, float]] = []
    for at in range(queries):
        query, vector = bench.queries[at % _DISTINCT], bench.vectors[(at * 7) % _DISTINCT]
        bench.assembler.assemble_embedded(f"{query.query} {at}", vector, now=query.now, config=settings)
        if (at + 1) % max(1, queries // 10) == 0:
            gc.collect()
            marks.append((at + 1, process.memory_info().rss / _MIB))
            if say:
                say(f"{at + 1:,} queries")
    return MemoryBench(size=size, marks=tuple(marks))
