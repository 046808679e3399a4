"""Running an arm: every judged query of a dataset through the assembler under one configuration."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from workbench.assembly.assembler import Assembler
from workbench.assembly.context import AssembledContext
from workbench.assembly.fates import Fate
from workbench.assembly.prompt import SECTIONS
from workbench.assembly.stages import PARTS
from workbench.config import SIGNALS, AssemblyConfig
from workbench.data.judged import JudgedDataset, JudgedQuery
from workbench.embedding.cache import EmbeddingCache
from workbench.embedding.encoder import Encoder, FloatMatrix
from workbench.errors import DataError
from workbench.experiments.outcome import Outcome
from workbench.text.tokens import count

Step = Callable[[str, int], None]


@dataclass(frozen=True, eq=False, kw_only=True)
class ArmResult:
    """What one arm did with all queries, in the order of the dataset.

    fates: per query, relevant id -> its fate. section_tokens: (n, sections). effective: (n, 5) effective weights. conflicts: (n,)
    pairs found. budget_breaks: prompts in which a recount of a section exceeded its budget; must be 0.
    """

    name: str
    config: AssemblyConfig
    outcomes: tuple[Outcome, ...]
    fates: tuple[Mapping[str, Fate], ...]
    section_tokens: np.ndarray
    effective: np.ndarray
    conflicts: np.ndarray
    budget_breaks: int


def dataset_config(dataset: JudgedDataset, config: AssemblyConfig) -> AssemblyConfig:
    """``config`` under the settings the dataset is meant to be judged with; settings that ``config`` states or changes win."""
    default, own = AssemblyConfig().to_dict(), config.to_dict()
    changes: dict[str, Any] = {}
    for name, value in dataset.config.items():
        if isinstance(value, Mapping) and name != "boosts":
            kept = {
                key: part
                for key, part in value.items()
                if f"{name}.{key}" not in config.given and own[name].get(key) == default[name].get(key)
            }
            if kept:
                changes[name] = kept
        elif name not in config.given and own[name] == default[name]:
            changes[name] = value
    return config.override(**changes) if changes else config


def require_queries(dataset: JudgedDataset) -> None:
    """Raises DataError when the dataset has no query, so that there is nothing to measure."""
    if not dataset.queries:
        raise DataError(
            f"the dataset {dataset.name} has no judged queries ({len(dataset.stores)} users); label some with: workbench data "
            "judge, or put them in queries.jsonl"
        )


def embed_queries(
    encoder: Encoder, queries: Sequence[JudgedQuery], cache: EmbeddingCache, step: Callable[[int], None] | None = None
) -> FloatMatrix:
    """Vectors of the query texts, shape (n, dim), through the embedding cache; blank queries get zero vectors."""
    vectors = cache.encode(encoder, [query.query for query in queries], template="query", progress=step)
    for row, query in enumerate(queries):
        if not query.query.strip():
            vectors[row] = 0.0
    return vectors


def run_arms(
    dataset: JudgedDataset,
    configs: Mapping[str, AssemblyConfig],
    encoder: Encoder,
    vectors: FloatMatrix,
    *,
    cache: EmbeddingCache | None = None,
    step: Step | None = None,
) -> tuple[list[ArmResult], dict[str, Assembler]]:
    """All arms over all queries; store by store, so that each is compiled once. Returns the results and the assemblers.

    step: told ("compile", 1) after each store and ("assemble", k) after each query of k arms.
    """
    assemblers: dict[str, Assembler] = {}
    contexts: dict[str, dict[int, _Kept]] = {name: {} for name in configs}
    for user_id, store in dataset.stores.items():
        rows = [row for row, query in enumerate(dataset.queries) if query.user_id == user_id]
        assembler = Assembler(store, encoder=encoder, cache=cache)
        assemblers[user_id] = assembler
        for config in configs.values():
            assembler.snapshot(assembler.settings(config=config))
        if step:
            step("compile", 1)
        for row in rows:
            query = dataset.queries[row]
            for name, config in configs.items():
                context = assembler.assemble_embedded(query.query, vectors[row], now=query.now, config=config)
                contexts[name][row] = _keep(query, context)
            if step:
                step("assemble", 1)
    results = []
    for name, config in configs.items():
        kept = [contexts[name][row] for row in range(len(dataset.queries))]
        results.append(
            ArmResult(
                name=name,
                config=config,
                outcomes=tuple(item.outcome for item in kept),
                fates=tuple(item.fates for item in kept),
                section_tokens=np.array([item.tokens for item in kept], dtype=np.int64).reshape(len(kept), -1),
                effective=np.array([item.effective for item in kept], dtype=np.float64).reshape(len(kept), -1),
                conflicts=np.array([item.conflicts for item in kept], dtype=np.int64),
                budget_breaks=sum(item.broke_budget for item in kept),
            )
        )
    return results, assemblers


@dataclass(frozen=True, kw_only=True)
class _Kept:
    outcome: Outcome
    fates: Mapping[str, Fate]
    tokens: tuple[int, ...]
    effective: tuple[float, ...]
    conflicts: int
    broke_budget: bool


def _keep(query: JudgedQuery, context: AssembledContext) -> _Kept:
    store_ids = context.snapshot.row_of
    soul = {block.id for block in context.snapshot.soul}
    shown = context.selected_ids
    entries = tuple(key for key in shown if key not in soul)
    prefix = context.tokens["identity"] + context.tokens["preferences"]
    stable = "".join(
        (
            *[context.snapshot.soul[at].id for at in context.selection.soul],
            "|",
            *(f"{row}," for row in context.selection.rows["preferences"].tolist()),
        )
    )
    recount = count(context.prompt, context.config.encoding)
    return _Kept(
        outcome=Outcome(
            query=query,
            ranking=context.ranking,
            selected=entries,
            tokens=recount,
            prefix=hashlib.sha256(f"{prefix}:{stable}".encode()).hexdigest()[:16],
            foreign=sum(key not in store_ids for key in entries),
        ),
        fates={key: context.fate_of(key) for key in query.relevant},
        tokens=tuple(context.tokens[section] for section in SECTIONS),
        effective=tuple(context.effective_weights[name] for name in SIGNALS),
        conflicts=len(context.conflicts.conflicts),
        broke_budget=recount != context.tokens["total"] or _over(context),
    )


def _over(context: AssembledContext) -> bool:
    budgets, used = context.config.budgets, context.tokens
    return (
        used["identity"] > budgets.soul
        or used["preferences"] + used["relevant_facts"] > budgets.memories
        or used["recent_context"] > budgets.episodes
        or used["workflows"] > budgets.procedures
        or (budgets.total is not None and used["total"] > budgets.total)
    )


def assemble_one(
    dataset: JudgedDataset, query: str, *, user: str | None, now: str | None, config: AssemblyConfig
) -> AssembledContext:
    """The context of one query of one user (None: the dataset's first) at ``now`` (None: the time of the user's judged queries).

    Raises DataError for an unknown user, or when no time is given and the dataset has none.
    """
    user_id = user if user is not None else next(iter(dataset.stores), "")
    if user_id not in dataset.stores:
        raise DataError(f"user is {user_id!r}: {dataset.name} has {', '.join(sorted(dataset.stores)) or 'no users'}")
    moment = now if now is not None else max((known.now for known in dataset.queries_of(user_id)), default=None)
    if moment is None:
        raise DataError(f"{dataset.name} has no judged query of user {user_id!r} to take the time from; give --now")
    assembler = Assembler(dataset.stores[user_id], dataset_config(dataset, config))
    return assembler.assemble(query, now=moment)


def measure_latency(
    dataset: JudgedDataset,
    configs: Mapping[str, AssemblyConfig],
    assemblers: Mapping[str, Assembler],
    *,
    sample: int,
    warm_up: int = 5,
    step: Callable[[int], None] | None = None,
) -> dict[str, dict[str, list[float]]]:
    """Milliseconds per stage and in total: arm -> stage -> samples. Everything is real work, the query's embedding included.

    Queries are spread evenly over the dataset; arms are interleaved query by query, in turns first and second, so that
    whatever else the machine does falls on all of them alike. The first ``warm_up`` queries of each arm are run and not counted.
    """
    require_queries(dataset)
    rows = np.unique(np.linspace(0, len(dataset.queries) - 1, min(sample, len(dataset.queries))).astype(int)).tolist()
    samples: dict[str, dict[str, list[float]]] = {name: {stage: [] for stage in (*PARTS, "total")} for name in configs}
    names = list(configs)
    for turn, row in enumerate([*rows[:warm_up], *rows]):
        query = dataset.queries[row]
        order = names if turn % 2 == 0 else names[::-1]
        for name in order:
            context = assemblers[query.user_id].assemble(query.query, now=query.now, config=configs[name])
            if turn >= min(warm_up, len(rows)):
                for stage, milliseconds in context.timings.items():
                    samples[name][stage].append(milliseconds)
        if step:
            step(1)
    return samples
