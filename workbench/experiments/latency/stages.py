"""Closed loop: one query after the other, the stages of each recorded, configurations in turns on the same query."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from workbench.assembly.assembler import Assembler
from workbench.assembly.stages import PARTS, STAGES
from workbench.config import AssemblyConfig
from workbench.data.judged import JudgedQuery
from workbench.errors import ConfigError

Samples = dict[str, dict[str, list[float]]]


@dataclass(frozen=True, eq=False)
class ClosedLoop:
    """samples: configuration -> stage, residual, total and "cpu" -> ms per query, in the order asked. prompts: configuration ->
    SHA-256 over all prompts, which says what was assembled. cpu is the processor time of the calling thread alone (the
    keyword arm of a query runs in another)."""

    samples: Samples
    prompts: Mapping[str, str]


def turns(queries: Sequence[JudgedQuery], count: int) -> list[JudgedQuery]:
    """``count`` queries: all in order, then again from the start. Raises ConfigError for none."""
    if not queries or count < 1:
        raise ConfigError(f"{count} of {len(queries)} queries: at least one is needed to time anything")
    return [queries[at % len(queries)] for at in range(count)]


def closed_loop(
    assembler: Assembler,
    configs: Mapping[str, AssemblyConfig],
    queries: Sequence[JudgedQuery],
    *,
    warm_up: int = 5,
    step: Callable[[int], None] | None = None,
) -> ClosedLoop:
    """Assemble every query under every configuration, embedding included; warm-up queries are run first and not counted.

    Configurations take turns at being first, so that whatever else the machine does falls on all of them alike.
    """
    names = list(configs)
    samples: Samples = {name: {part: [] for part in (*PARTS, "total", "cpu")} for name in names}
    digests = {name: hashlib.sha256() for name in names}
    for query in turns(queries, warm_up) if warm_up else []:
        for name in names:
            assembler.assemble(query.query, now=query.now, config=configs[name])
    for turn, query in enumerate(queries):
        at = turn % len(names)
        for name in names[at:] + names[:at]:
            busy, start = time.thread_time_ns(), time.perf_counter_ns()
            context = assembler.assemble(query.query, now=query.now, config=configs[name])
            end, worked = time.perf_counter_ns(), time.thread_time_ns()
            total, staged = (end - start) / 1e6, [context.timings[stage] for stage in STAGES]
            for part, milliseconds in zip((*PARTS, "total"), (*staged, total - sum(staged), total), strict=True):
                samples[name][part].append(milliseconds)
            samples[name]["cpu"].append((worked - busy) / 1e6)
            digests[name].update(prompt_digest(context.prompt))
        if step:
            step(1)
    return ClosedLoop(samples, {name: digest.hexdigest() for name, digest in digests.items()})


def prompt_digest(prompt: str) -> bytes:
    """SHA-256 of a prompt."""
    return hashlib.sha256(prompt.encode("utf-8", "surrogatepass")).digest()


def prompts_of(assembler: Assembler, config: AssemblyConfig, queries: Sequence[JudgedQuery]) -> list[bytes]:
    """The digest of every query's prompt, one after the other: what a parallel run has to give too."""
    return [prompt_digest(assembler.assemble(query.query, now=query.now, config=config).prompt) for query in queries]


def add_up(samples: Mapping[str, Sequence[float]]) -> float:
    """The largest difference in ms between a query's total and the sum of its stages and residual; 0 up to rounding."""
    columns: list[Any] = [samples[part] for part in PARTS]
    return max((abs(sum(parts) - total) for *parts, total in zip(*columns, samples["total"], strict=True)), default=0.0)
