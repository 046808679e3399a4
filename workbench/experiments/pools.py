"""Candidate pools of many queries as flat arrays: everything about a dataset that re-ranking does not change.

One array per attribute over the candidates of all queries, one query after the other; ``offsets[q]:offsets[q + 1]`` are the
candidates of query q, ordered as in ``search.pool.Pool``. The judgement is resolved to positions in these arrays, so that
counting what a metric needs never looks up an id.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import numpy.typing as npt

from workbench.config import AssemblyConfig
from workbench.errors import DataError

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Flags = npt.NDArray[np.uint8]

RERANK_FIELDS = (
    "weights", "budgets", "boosts", "min_score", "half_life_days", "frequency_saturation", "preference_share", "fill",
)  # fmt: skip
"""Settings that replay can change. Every other one, also one yet to be invented, belongs to the search and makes pools of its
own."""

RETRIEVE_FIELDS = (
    "templates", "bm25_k1", "bm25_b", "encoding", "top_k", "fusion", "alpha", "reference_relevance",
)  # fmt: skip
"""Settings that decide the hits of both arms; pools that agree in them are searched for once."""


def search_settings(config: AssemblyConfig) -> dict[str, Any]:
    """The settings that a pool depends on, JSON-ready."""
    return {name: value for name, value in config.to_dict().items() if name not in RERANK_FIELDS}


def search_key(config: AssemblyConfig) -> str:
    """16 hex digits; configurations with equal keys search alike, so they also take equally long, ranking and prompt apart."""
    text = json.dumps(search_settings(config), sort_keys=True, allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


@dataclass(frozen=True, eq=False)
class Members:
    """Entries that the judgement of each query names, as positions.

    offsets: (Q + 1,) members per query. group: (m,) number of the statement within its query. at: (m,) absolute position among
    the candidates, -1 where the entry is in no pool. pref: (m,) absolute position among the users' preferences, -1 where it is
    none.
    """

    offsets: Ints
    group: Ints
    at: Ints
    pref: Ints

    @classmethod
    def build(cls, rows: Sequence[Sequence[tuple[int, int, int]]]) -> Members:
        """rows: per query, its members as (group, at, pref)."""
        flat = np.array([item for row in rows for item in row], dtype=np.int64).reshape(-1, 3)
        offsets = np.concatenate(([0], np.cumsum([len(row) for row in rows], dtype=np.int64))).astype(np.int64)
        return cls(offsets, *(np.ascontiguousarray(flat[:, column]) for column in range(3)))

    def take(self, rows: Ints, at: Ints) -> Members:
        """The members of some queries. at: (N,) old candidate position -> new one."""
        index = ragged(self.offsets, rows)
        moved = np.where(self.at[index] >= 0, at[self.at[index]] if at.size else -1, -1)
        sizes = np.diff(self.offsets)[rows]
        return Members(np.concatenate(([0], np.cumsum(sizes))), self.group[index], moved, self.pref[index])


def ragged(offsets: Ints, rows: Ints) -> Ints:
    """Positions of the elements of some rows of a ragged array, in the order of ``rows``."""
    sizes = offsets[rows + 1] - offsets[rows]
    starts = np.repeat(offsets[rows] - np.concatenate(([0], np.cumsum(sizes)[:-1])), sizes)
    return np.asarray(starts + np.arange(int(sizes.sum())), dtype=np.int64)


def follows(user: Ints) -> npt.NDArray[np.bool_]:
    """(Q,) True where an earlier query is of the same user."""
    out = np.ones(user.size, dtype=np.bool_)
    out[np.unique(user, return_index=True)[1]] = False
    return out


@dataclass(frozen=True, eq=False)
class Pools:
    """The pools of Q queries of U users with N candidates in all.

    key: identity of what they were made from. settings: the search settings. user: (Q,) user number. layers: (Q, 4) absolute
    bounds of the three layers. row: (N,) snapshot row. age: days. category: number in ``categories``. pref: (N,) absolute
    position among the preferences, or -1. pref_offsets: (U + 1,); pref_rows, pref_tokens: (P,) in order of showing. soul: per
    user (group, tokens) of the active blocks. ids: per user, entry id of each snapshot row. wanted, unwanted, same: relevant
    statements, forbidden ones, and groups of entries that say the same. n_wanted, n_unwanted: (Q,) statements. gain: (m,) grade
    of each wanted member's statement. relevant: (r,) members for ``query.relevant`` one by one; relevant_row their snapshot
    rows, relevant_fate what became of them before scoring (``Fate``). unanswerable, follows: (Q,) flags as in
    ``outcome.Facts``.
    """

    key: str
    settings: Mapping[str, Any]
    users: tuple[str, ...]
    queries: tuple[str, ...]
    groups: tuple[str, ...]
    categories: tuple[str, ...]
    ids: tuple[tuple[str, ...], ...]
    soul: tuple[tuple[tuple[str, int], ...], ...]
    user: Ints
    offsets: Ints
    layers: Ints
    row: Ints
    relevance: Floats
    importance: Floats
    confidence: Floats
    age: Floats
    access_count: Ints
    category: Ints
    tokens: Ints
    pref: Ints
    pref_offsets: Ints
    pref_rows: Ints
    pref_tokens: Ints
    n_wanted: Ints
    n_unwanted: Ints
    gain: Ints
    unanswerable: npt.NDArray[np.bool_]
    follows: npt.NDArray[np.bool_]
    relevant_row: Ints
    relevant_fate: Ints
    wanted: Members
    unwanted: Members
    same: Members
    relevant: Members

    def __len__(self) -> int:
        return len(self.queries)

    def __str__(self) -> str:
        return f"pools of {len(self)} queries of {len(self.users)} users, {self.row.size} candidates, key {self.key}"

    @property
    def user_ids(self) -> tuple[str, ...]:
        """The user of each query, the cluster of all statistics."""
        return tuple(self.users[number] for number in self.user.tolist())

    def take(self, rows: npt.ArrayLike) -> Pools:
        """The pools of some queries (positions, each at most once, in any order), for a split of the data."""
        index = np.asarray(rows, dtype=np.int64)
        if index.size and (index.min() < 0 or index.max() >= len(self) or np.unique(index).size != index.size):
            raise DataError(f"rows must be distinct positions from 0 to {len(self) - 1}")
        candidates = ragged(self.offsets, index)
        moved = np.full(self.row.size, -1, dtype=np.int64)
        moved[candidates] = np.arange(candidates.size)
        offsets = np.concatenate(([0], np.cumsum(np.diff(self.offsets)[index]))).astype(np.int64)
        shift = offsets[:-1] - self.offsets[index]
        per_query = {name: getattr(self, name)[index] for name in ("user", "n_wanted", "n_unwanted", "unanswerable")}
        per_candidate = {name: getattr(self, name)[candidates] for name in CANDIDATE_ARRAYS}
        members = {name: getattr(self, name).take(index, moved) for name in MEMBER_TABLES}
        named = ragged(self.relevant.offsets, index)
        return Pools(
            key=f"{self.key}/{index.size} of {len(self)}",
            settings=self.settings,
            users=self.users,
            queries=tuple(self.queries[at] for at in index.tolist()),
            groups=tuple(self.groups[at] for at in index.tolist()),
            categories=self.categories,
            ids=self.ids,
            soul=self.soul,
            offsets=offsets,
            layers=self.layers[index] + shift[:, None],
            pref_offsets=self.pref_offsets,
            pref_rows=self.pref_rows,
            pref_tokens=self.pref_tokens,
            gain=self.gain[ragged(self.wanted.offsets, index)],
            relevant_row=self.relevant_row[named],
            relevant_fate=self.relevant_fate[named],
            follows=follows(self.user[index]),
            **per_query,
            **per_candidate,
            **members,
        )


CANDIDATE_ARRAYS = ("row", "relevance", "importance", "confidence", "age", "access_count", "category", "tokens", "pref")
MEMBER_TABLES = ("wanted", "unwanted", "same", "relevant")
_TEXTS = ("key", "settings", "users", "queries", "groups", "categories", "ids", "soul")


def to_arrays(pools: Pools) -> tuple[dict[str, Any], dict[str, npt.NDArray[Any]]]:
    """A pool set as JSON-ready texts and named arrays."""
    texts = {name: getattr(pools, name) for name in _TEXTS}
    return texts, dict(_arrays(pools))


def _arrays(pools: Pools) -> Iterator[tuple[str, npt.NDArray[Any]]]:
    for item in fields(Pools):
        value = getattr(pools, item.name)
        if isinstance(value, Members):
            for part in fields(Members):
                yield f"{item.name}.{part.name}", getattr(value, part.name)
        elif isinstance(value, np.ndarray):
            yield item.name, value


def from_arrays(texts: Mapping[str, Any], arrays: Mapping[str, npt.NDArray[Any]]) -> Pools:
    """The inverse of ``to_arrays``."""
    members = {name: Members(*(arrays[f"{name}.{part.name}"] for part in fields(Members))) for name in MEMBER_TABLES}
    content: dict[str, Any] = {
        "key": texts["key"],
        "settings": dict(texts["settings"]),
        "ids": tuple(tuple(part) for part in texts["ids"]),
        "soul": tuple(tuple((group, tokens) for group, tokens in part) for part in texts["soul"]),
        **{name: tuple(texts[name]) for name in ("users", "queries", "groups", "categories")},
        **members,
        **{name: value for name, value in arrays.items() if "." not in name},
    }
    return Pools(**content)


def writable(pools: Pools) -> Pools:
    """The same pools with read-only arrays copied."""
    texts, arrays = to_arrays(pools)
    if all(array.flags.writeable for array in arrays.values()):
        return pools
    return from_arrays(texts, {name: np.require(array, requirements="W") for name, array in arrays.items()})
