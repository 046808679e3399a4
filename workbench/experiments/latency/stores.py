"""Stores of a wanted size: a user's own entries, filled up with synthetic ones, each size contained in the next larger one."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import lru_cache

import numpy as np

from workbench.data.judged import JudgedDataset, JudgedQuery
from workbench.data.synthetic.plan import MAX_SIZE
from workbench.data.synthetic.user import synthesize_user
from workbench.embedding.cache import EmbeddingCache
from workbench.embedding.encoder import Encoder, FloatMatrix
from workbench.entries import Entry, Episode, Memory, Procedure
from workbench.errors import ConfigError, DataError
from workbench.experiments.latency.vectors import made_up_vectors
from workbench.store.user import UserStore

EMBED_LIMIT = 20_000
"""Stores up to this size are embedded for real; beyond it the filling gets made-up vectors (encoding takes 5 to 35 ms a text)."""
BANK = 2_000
_FILL_SIZES = (10_000, 100_000, MAX_SIZE)
_FILL_SEED = 11
_PREFIX = "fill-"


@dataclass(frozen=True, eq=False)
class SizedStore:
    """A store of ``size`` entries (Soul blocks included). own: how many are the dataset's; the rest is synthetic filling.

    queries: of the dataset, to be asked of this store. judged: those of the store's own user whose relevant entries it holds.
    """

    store: UserStore
    size: int
    own: int
    queries: tuple[JudgedQuery, ...]
    judged: tuple[JudgedQuery, ...]

    @property
    def filling(self) -> frozenset[str]:
        """Ids of the synthetic entries."""
        return frozenset(entry.id for entry in self.store if entry.id.startswith(_PREFIX))


def sized_store(dataset: JudgedDataset, size: int, *, queries: int | None = None) -> SizedStore:
    """The first user's store brought to ``size`` entries, and ``queries`` queries spread over the dataset (None: all).

    A larger store is cut to the entries whose ids hash lowest; a smaller one gets entries of a synthetic user, whose dates are
    moved so that the newest is as old as the newest of the user's own. Raises ConfigError for a size out of range, DataError
    for a dataset without users or queries.
    """
    if isinstance(size, bool) or not isinstance(size, int) or not 1 <= size <= MAX_SIZE:
        raise ConfigError(f"size is {size!r}: must be a whole number of entries from 1 to {MAX_SIZE:,}")
    if not dataset.stores or not dataset.queries:
        raise DataError(f"the dataset {dataset.name} has no users or no queries, so there is nothing to time")
    base = next(iter(dataset.stores.values()))
    store = _cut(base, size) if len(base) >= size else _fill(base, size)
    asked = dataset.queries
    if queries is not None and queries < len(asked):
        asked = tuple(asked[at] for at in np.linspace(0, len(asked) - 1, queries).astype(int).tolist())
    mine = (query for query in dataset.queries if query.user_id == base.user_id and query.judged and query.answerable)
    judged = tuple(query for query in mine if all(key in store for key in query.relevant))
    own = sum(not entry.id.startswith(_PREFIX) for entry in store)
    return SizedStore(store, size, own, asked, judged)


def _rank(entry_id: str) -> str:
    return hashlib.sha256(entry_id.encode("utf-8", "surrogatepass")).hexdigest()


def _cut(store: UserStore, size: int) -> UserStore:
    kept = {entry.id for entry in sorted(store, key=lambda entry: _rank(entry.id))[:size]}
    return UserStore(
        store.user_id,
        memories=[entry for entry in store.memories if entry.id in kept],
        episodes=[entry for entry in store.episodes if entry.id in kept],
        procedures=[entry for entry in store.procedures if entry.id in kept],
        soul=[entry for entry in store.soul if entry.id in kept],
    )


def _fill(store: UserStore, size: int) -> UserStore:
    missing = size - len(store)
    # a fixed source for a range of sizes, so that a larger store holds all of a smaller one
    source = next(limit for limit in _FILL_SIZES if limit - 100 >= missing or limit == MAX_SIZE)
    pool = _filling(source)
    chosen = pool[:missing]
    if len(chosen) < missing:
        raise ConfigError(f"size is {size!r}: at most {len(store) + len(pool):,} entries can be made")
    mine: Sequence[Entry] = (*store.memories, *store.episodes, *store.procedures)
    own = [entry.changed_at for entry in mine]
    newest = max(entry.changed_at for entry in pool)
    shift = (max(own) if own else newest) - newest
    moved = [_moved(entry, shift) for entry in chosen]
    return UserStore(
        store.user_id,
        memories=[*store.memories, *(entry for entry in moved if isinstance(entry, Memory))],
        episodes=[*store.episodes, *(entry for entry in moved if isinstance(entry, Episode))],
        procedures=[*store.procedures, *(entry for entry in moved if isinstance(entry, Procedure))],
        soul=store.soul,
    )


@lru_cache(maxsize=1)
def _filling(source: int) -> tuple[Entry, ...]:
    """Entries of a synthetic user in the order of their hashes."""
    made = synthesize_user(0, size=source, seed=_FILL_SEED, languages=("en",)).store
    return tuple(sorted((*made.memories, *made.episodes, *made.procedures), key=lambda entry: _rank(entry.id)))


def _moved(entry: Entry, shift: timedelta) -> Entry:
    def later(moment: datetime) -> datetime:
        return moment + shift

    if isinstance(entry, Episode):
        return replace(entry, id=_PREFIX + entry.id, occurred_at=later(entry.occurred_at))
    return replace(entry, id=_PREFIX + entry.id, created_at=later(entry.created_at), updated_at=later(entry.updated_at))


class PartlyMadeUp(EmbeddingCache):
    """An embedding cache that encodes at most ``limit`` texts of a store; further ones get vectors made up from the encoded ones.

    For timing only. ``made_up`` counts the texts that were not encoded.
    """

    def __init__(self, inner: EmbeddingCache, limit: int = EMBED_LIMIT, *, progress: Callable[[int], None] | None = None) -> None:
        super().__init__(inner.folder)
        self.inner, self.limit, self.made_up, self._progress = inner, limit, 0, progress

    def encode(
        self, encoder: Encoder, texts: Sequence[str], *, template: str = "", progress: Callable[[int], None] | None = None
    ) -> FloatMatrix:
        """Unit vectors, shape (len(texts), encoder.dim)."""
        progress = progress or self._progress
        if len(texts) <= self.limit:
            return self.inner.encode(encoder, texts, template=template, progress=progress)
        # a bank by hash, so that a larger store shares it with a smaller one
        ranked = sorted(range(len(texts)), key=lambda at: (_rank(texts[at]), at))[:BANK]
        bank = self.inner.encode(encoder, [texts[at] for at in ranked], template=template, progress=progress)
        out = made_up_vectors(texts, bank)
        out[ranked] = bank
        self.made_up += len(texts) - len(ranked)
        return out
