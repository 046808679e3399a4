"""Building pools: the search stages of every query, run once, for one or several search settings side by side."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from workbench.assembly.assembler import Assembler, Candidates
from workbench.assembly.conflict_test import ConflictTest
from workbench.assembly.fates import Fate
from workbench.assembly.preferences import Preferences
from workbench.assembly.scoring import ages
from workbench.config import AssemblyConfig
from workbench.data.judged import JudgedDataset, JudgedQuery
from workbench.embedding.cache import EmbeddingCache
from workbench.embedding.encoder import Encoder, FloatMatrix
from workbench.entries import epoch_seconds
from workbench.experiments.outcome import statements
from workbench.experiments.pools import RETRIEVE_FIELDS, Members, Pools, follows, search_settings
from workbench.search.pool import Pool
from workbench.search.retrieve import retrieve
from workbench.search.threads import one_blas_thread
from workbench.store.snapshot import Snapshot
from workbench.text.analysis import analyze

Step = Callable[[int], None]
Triple = tuple[int, int, int]


def build(
    dataset: JudgedDataset,
    configs: Mapping[str, AssemblyConfig],
    encoder: Encoder,
    vectors: FloatMatrix,
    *,
    conflict_test: ConflictTest | None = None,
    cache: EmbeddingCache | bool | None = None,
    step: Step | None = None,
) -> dict[str, Pools]:
    """Pools of all queries under each of ``configs`` (key -> configuration with nothing left open).

    vectors: (Q, dim) of the query texts. Configurations that share templates, BM25 settings and encoding share the compiled
    store and the keyword scores; those that agree in ``RETRIEVE_FIELDS`` also share the hits, so only what a setting touches is
    computed again. ``step`` is told 1 after each query.
    """
    parts = {key: _Builder(dataset) for key in configs}
    for number, (user_id, store) in enumerate(dataset.stores.items()):
        assembler = Assembler(store, encoder=encoder, conflict_test=conflict_test, cache=cache)
        for key, config in configs.items():
            parts[key].add_user(number, assembler.snapshot(config), assembler, config)
        for row, query in enumerate(dataset.queries):
            if query.user_id != user_id:
                continue
            hits: dict[Any, Pool] = {}
            words: dict[int, npt.NDArray[np.float64]] = {}
            now = epoch_seconds(query.now)
            for key, config in configs.items():
                snapshot = assembler.snapshot(config)
                with one_blas_thread():
                    if id(snapshot) not in words:
                        words[id(snapshot)] = snapshot.keyword.scores(analyze(query.query))
                    wanted = tuple(getattr(config, name) for name in RETRIEVE_FIELDS)
                    if wanted not in hits:
                        hits[wanted] = retrieve(snapshot, vectors[row], words[id(snapshot)], config)
                    found, _ = assembler.candidates(
                        snapshot, vectors[row], words[id(snapshot)], now, config, retrieved=hits[wanted]
                    )
                parts[key].add_query(row, number, query, snapshot, found, now)
            if step:
                step(1)
    return {key: parts[key].finish(key, config) for key, config in configs.items()}


@dataclass
class _Builder:
    """Collects one pool set; queries may arrive in any order."""

    dataset: JudgedDataset
    categories: dict[str, int] = field(default_factory=dict)
    ids: list[tuple[str, ...]] = field(default_factory=list)
    soul: list[tuple[tuple[str, int], ...]] = field(default_factory=list)
    pref_rows: list[npt.NDArray[np.int64]] = field(default_factory=list)
    pref_tokens: list[npt.NDArray[np.int64]] = field(default_factory=list)
    position: dict[int, int] = field(default_factory=dict)
    standing: Preferences = field(default_factory=lambda: Preferences(np.empty(0, dtype=np.int64), {}, {}, ()))
    queries: dict[int, dict[str, Any]] = field(default_factory=dict)

    def add_user(self, number: int, snapshot: Snapshot, assembler: Assembler, config: AssemblyConfig) -> None:
        for name in snapshot.categories:
            self.categories.setdefault(name, len(self.categories))
        self.standing = assembler.preferences(snapshot, config)
        rows = self.standing.rows
        start = sum(part.size for part in self.pref_rows)
        # preferences of this user only: the builder works store by store
        self.position = {row: start + at for at, row in enumerate(rows.tolist())}
        self.ids.append(snapshot.ids)
        self.soul.append(tuple((block.group, block.tokens) for block in snapshot.soul))
        self.pref_rows.append(rows)
        self.pref_tokens.append(snapshot.tokens[rows])

    def add_query(self, row: int, user: int, query: JudgedQuery, snapshot: Snapshot, found: Candidates, now: float) -> None:
        pool = found.pool
        code = np.array([self.categories[name] for name in snapshot.categories] or [0], dtype=np.int64)
        self.queries[row] = {
            "user": user,
            "n": len(pool),
            "layers": np.searchsorted(pool.layer, np.arange(4)),
            "row": pool.row,
            "relevance": pool.relevance,
            "importance": pool.importance,
            "confidence": pool.confidence,
            "age": ages(pool.changed, now),
            "access_count": pool.access_count,
            "category": code[pool.category],
            "tokens": pool.tokens,
            "pref": np.array([self.position.get(at, -1) for at in pool.row.tolist()], dtype=np.int64),
            **self._judgement(query, snapshot, found),
        }

    def _judgement(self, query: JudgedQuery, snapshot: Snapshot, found: Candidates) -> dict[str, Any]:
        judged = statements(query)
        at = {row: number for number, row in enumerate(found.pool.row.tolist())}
        fates = dict(zip(found.retrieved.row.tolist(), found.fate.tolist(), strict=True))

        def where(key: str) -> tuple[int, int, int]:
            row = snapshot.row_of.get(key, -1)  # an id of the Soul has no row
            return row, at.get(row, -1), self.position.get(row, -1)

        def numbered(groups: Mapping[str, str]) -> list[Triple]:
            numbers = {head: number for number, head in enumerate(dict.fromkeys(groups.values()))}
            return [(numbers[head], *where(key)[1:]) for key, head in groups.items()]

        relevant, fate_of = [], []
        for key in query.relevant:
            row, position, preference = where(key)
            relevant.append((row, position, preference))
            fate_of.append(int(fates[row]) if row in fates else int(self._unfound(snapshot, row)))
        return {
            "n_wanted": len(judged.gains),
            "n_unwanted": len(set(judged.unwanted.values())),
            "gain": [judged.gains[head] for head in judged.wanted.values()],
            "wanted": numbered(judged.wanted),
            "unwanted": numbered(judged.unwanted),
            "same": numbered(judged.same),
            "relevant": [(number, *rest) for number, (_, *rest) in enumerate(relevant)],
            "relevant_row": [row for row, _, _ in relevant],
            "relevant_fate": fate_of,
        }

    def _unfound(self, snapshot: Snapshot, row: int) -> Fate:
        """Fate of an entry no arm found, as ``AssembledContext`` tells it; a shown preference is selected later."""
        if row < 0:
            return Fate.NOT_RETRIEVED
        if snapshot.entries[row].status == "superseded":
            return Fate.SUPERSEDED
        if not snapshot.searchable[row]:
            return Fate.NOT_RETRIEVED
        if row in self.standing.superseded:
            return Fate.SUPERSEDED
        if row in self.standing.duplicates:
            return Fate.DUPLICATE
        return Fate.OVER_BUDGET if row in self.position else Fate.NOT_RETRIEVED

    def finish(self, key: str, config: AssemblyConfig) -> Pools:
        rows = [self.queries[row] for row in range(len(self.dataset.queries))]
        offsets = np.concatenate(([0], np.cumsum([row["n"] for row in rows], dtype=np.int64))).astype(np.int64)
        layers = np.array([row["layers"] for row in rows], dtype=np.int64).reshape(-1, 4) + offsets[:-1, None]
        user = np.array([row["user"] for row in rows], dtype=np.int64)

        def joined(name: str, kind: type) -> Any:
            return np.concatenate([np.empty(0, dtype=kind), *(np.asarray(row[name], dtype=kind) for row in rows)])

        def members(name: str) -> Members:
            starts = offsets[:-1].tolist()
            return Members.build(
                [
                    [(group, at + start if at >= 0 else -1, pref) for group, at, pref in row[name]]
                    for row, start in zip(rows, starts, strict=True)
                ]
            )

        return Pools(
            key=key,
            settings=search_settings(config),
            users=tuple(self.dataset.stores),
            queries=tuple(query.id for query in self.dataset.queries),
            groups=tuple(query.group for query in self.dataset.queries),
            categories=tuple(self.categories),
            ids=tuple(self.ids),
            soul=tuple(self.soul),
            user=user,
            offsets=offsets,
            layers=layers,
            **{name: joined(name, np.float64) for name in ("relevance", "importance", "confidence", "age")},
            **{name: joined(name, np.int64) for name in ("row", "access_count", "category", "tokens", "pref")},
            pref_offsets=np.concatenate(([0], np.cumsum([part.size for part in self.pref_rows]))).astype(np.int64),
            pref_rows=_concatenated(self.pref_rows),
            pref_tokens=_concatenated(self.pref_tokens),
            n_wanted=np.array([row["n_wanted"] for row in rows], dtype=np.int64),
            n_unwanted=np.array([row["n_unwanted"] for row in rows], dtype=np.int64),
            gain=joined("gain", np.int64),
            unanswerable=np.array([query.judged and not query.answerable for query in self.dataset.queries], dtype=np.bool_),
            follows=follows(user),
            relevant_row=joined("relevant_row", np.int64),
            relevant_fate=joined("relevant_fate", np.int64),
            wanted=members("wanted"),
            unwanted=members("unwanted"),
            same=members("same"),
            relevant=members("relevant"),
        )


def _concatenated(parts: Sequence[npt.NDArray[np.int64]]) -> npt.NDArray[np.int64]:
    return np.concatenate([np.empty(0, dtype=np.int64), *parts])
