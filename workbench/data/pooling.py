"""Which entries a person is shown for a query: the union of what several configurations found, in an order that tells nothing."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from workbench.config import AssemblyConfig, load_config
from workbench.data.importers.documents import Document, read_json_or_text
from workbench.data.judged import JudgedDataset, JudgedQuery
from workbench.data.rows import QUERY_FIELDS, query_from_row
from workbench.data.strict_json import clipped, shown
from workbench.embedding.encoder import Encoder
from workbench.errors import DataError

DEFAULT_CONFIGS = ("production", "relevance-only", "rrf")
"""Presets whose finds are pooled when no configuration is named: other weights, and another way to join the two searches."""


@dataclass(frozen=True, kw_only=True)
class Ask:
    """One query with the ids of the entries to label, in the order in which they are shown."""

    query: JudgedQuery
    candidates: tuple[str, ...]


def pool(query: JudgedQuery, rankings: Iterable[Sequence[str]], *, seed: int) -> Ask:
    """The union of rankings in seeded random order: it shows neither who found an entry nor at which place.

    The order depends on ``seed``, query and entry ids alone, so it is the same in every session.
    """
    found = {key for ranking in rankings for key in ranking}

    def place(key: str) -> tuple[bytes, str]:
        return hashlib.sha256(f"{seed}\0{query.id}\0{key}".encode("utf-8", "surrogatepass")).digest(), key

    return Ask(query=query, candidates=tuple(sorted(found, key=place)))


def configs_of(names: Sequence[str]) -> dict[str, AssemblyConfig]:
    """Configurations by name or path (``load_config``); without any, ``DEFAULT_CONFIGS``. Raises ConfigError."""
    return {name: load_config(name) for name in (names or DEFAULT_CONFIGS)}


def build_pools(
    dataset: JudgedDataset,
    queries: Sequence[JudgedQuery],
    configs: Mapping[str, AssemblyConfig],
    *,
    depth: int = 20,
    seed: int = 0,
    encoder: Encoder | None = None,
    cache: Any = None,
    step: Callable[[int], None] | None = None,
) -> tuple[Ask, ...]:
    """Pool the candidates of every query from the first ``depth`` of each configuration and from its prompt.

    Entries that a configuration took for superseded by, or a duplicate of, one of these are shown too: whether they are
    stale is for the person to say. encoder, cache: as ``Assembler`` takes them. Raises DataError, ConfigError.
    """
    # the data layer lies below the assembler: only this function reaches up, and only when it is called
    from workbench.assembly.assembler import Assembler
    from workbench.experiments.arms import dataset_config

    if isinstance(depth, bool) or not isinstance(depth, int) or depth < 1:
        raise DataError(f"depth is {shown(depth)}: must be a whole number of entries from 1")
    if not configs:
        raise DataError("no configuration is given to find candidates with")
    settings = [dataset_config(dataset, config) for config in configs.values()]
    assemblers: dict[str, Assembler] = {}
    asks = []
    for query in queries:
        if query.user_id not in dataset.stores:
            raise DataError(f"query {query.id!r} is of user {query.user_id!r}, who has no store in {dataset.name}")
        if query.user_id not in assemblers:
            store = dataset.stores[query.user_id]
            assemblers[query.user_id] = Assembler(store, encoder=encoder, cache=cache)
        contexts = [assemblers[query.user_id].assemble(query.query, now=query.now, config=config) for config in settings]
        asks.append(pool(query, [_shown(context, depth) for context in contexts], seed=seed))
        if step:
            step(1)
    return tuple(asks)


def _shown(context: Any, depth: int) -> tuple[str, ...]:
    """Ids of one context: its first candidates, its prompt, and what was held for older or other words of these."""
    from workbench.assembly.fates import Fate

    snapshot = context.snapshot
    chosen = dict.fromkeys(context.ranking[:depth])
    chosen.update(dict.fromkeys(key for key in context.selected_ids if key in snapshot.row_of))
    pairs = zip(context.retrieved.row.tolist(), context.fate.tolist(), context.other.tolist(), strict=True)
    for row, fate, other in pairs:
        if fate in (Fate.SUPERSEDED, Fate.DUPLICATE) and other >= 0 and snapshot.ids[other] in chosen:
            chosen[snapshot.ids[row]] = None
    return tuple(chosen)


def read_queries(path: Path, dataset: JudgedDataset, *, now: datetime | str | None = None) -> tuple[JudgedQuery, ...]:
    """One's own queries to be judged: JSON Lines or a JSON list of the fields of ``queries*.jsonl``, or text, one a line.

    Only ``query`` is needed: ``id`` defaults to q1, q2 ..., ``user_id`` to the only user of the dataset, ``now`` to the time
    given here. What a file says of relevant entries is not read. Raises DataError with file and line.
    """
    found = read_json_or_text(path)
    rows: list[tuple[Any, str]]
    if isinstance(found, Document):
        value = found.value if isinstance(found.value, list) else [found.value]
        rows = [(row, found.where(row, f"element {number}")) for number, row in enumerate(value, start=1)]
    else:
        rows = [
            ({"query": line.strip()}, f"{path}, line {number}")
            for number, line in enumerate(found.split("\n"), start=1)
            if line.strip()
        ]
    queries: list[JudgedQuery] = []
    for number, (row, where) in enumerate(rows, start=1):
        try:
            queries.append(_query(row, f"q{number}", dataset, now))
        except DataError as error:
            raise DataError(clipped(f"{where}: {error}")) from None
        if any(query.id == queries[-1].id for query in queries[:-1]):
            raise DataError(f"{where}: id {shown(queries[-1].id)} is taken by an earlier query")
    if not queries:
        raise DataError(f"{path} holds no query; write one a line")
    return tuple(queries)


def _query(row: Any, default_id: str, dataset: JudgedDataset, now: datetime | str | None) -> JudgedQuery:
    if isinstance(row, str):
        row = {"query": row}
    if not isinstance(row, dict):
        raise DataError(f"the query is {shown(row)}: must be an object or a text")
    unknown = sorted(key for key in row if key not in QUERY_FIELDS)
    if unknown:
        raise DataError(f"unknown field {', '.join(map(shown, unknown))} of a query; allowed: {', '.join(QUERY_FIELDS)}")
    values = {key: value for key, value in row.items() if key in ("id", "user_id", "query", "now", "scenario", "lang")}
    values.setdefault("id", default_id)
    if "user_id" not in values:
        if len(dataset.stores) != 1:
            raise DataError(f"user_id is missing, and {dataset.name} has {len(dataset.stores)} users; say whose query it is")
        values["user_id"] = next(iter(dataset.stores))
    if "now" not in values:
        if now is None:
            raise DataError("now is missing: say at which time the question is asked, for all queries with --now 2026-06-01")
        values["now"] = now
    query = query_from_row({**values, "judged": False})
    if query.user_id not in dataset.stores:
        raise DataError(f"user_id is {shown(query.user_id)}: {dataset.name} has no such user")
    return query
