"""Splits by user: no query of a user is ever on both sides, because a user's queries share one store."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from workbench.data.judged import JudgedDataset
from workbench.errors import ConfigError, RunError
from workbench.experiments.outcome import Bools
from workbench.paths import cache_dir

PARTS = ("train", "validation", "test")


@dataclass(frozen=True, kw_only=True)
class UserSplit:
    """Users by part. ``key`` identifies the split: the same users in the same parts have the same key."""

    train: tuple[str, ...]
    validation: tuple[str, ...]
    test: tuple[str, ...]

    @property
    def key(self) -> str:
        """16 hex digits."""
        return hashlib.sha256(json.dumps([sorted(getattr(self, part)) for part in PARTS]).encode()).hexdigest()[:16]

    def of(self, part: str) -> tuple[str, ...]:
        """The users of a part. Raises ConfigError for another name."""
        if part not in PARTS:
            raise ConfigError(f"split is {part!r}: must be one of {', '.join(PARTS)}")
        users: tuple[str, ...] = getattr(self, part)
        return users

    def mask(self, users: Sequence[str], part: str) -> Bools:
        """(Q,) True for queries of users of a part."""
        inside = set(self.of(part))
        return np.array([user in inside for user in users], dtype=np.bool_)

    def __str__(self) -> str:
        return ", ".join(f"{part} {len(getattr(self, part))} users" for part in PARTS) + f" (split {self.key})"


def split_users(users: Iterable[str], *, seed: int = 0, shares: tuple[float, float, float] = (0.5, 0.25, 0.25)) -> UserSplit:
    """Users into train, validation and test by the hash of seed and user id, at least one in each.

    A user stays in place when others come or go only as far as the shares allow. Raises ConfigError with fewer than three users.
    """
    names = sorted(set(users))
    if len(names) < 3:
        raise ConfigError(f"{len(names)} users cannot be split into train, validation and test; at least three are needed")
    if min(shares) <= 0 or abs(sum(shares) - 1) > 1e-9:
        raise ConfigError(f"shares are {shares!r}: must be three positive numbers that sum to 1")
    ordered = sorted(names, key=lambda name: hashlib.sha256(json.dumps([seed, name]).encode()).hexdigest())
    n = len(ordered)
    test = max(1, round(n * shares[2]))
    validation = max(1, min(round(n * shares[1]), n - test - 1))
    return UserSplit(
        test=tuple(sorted(ordered[:test])),
        validation=tuple(sorted(ordered[test : test + validation])),
        train=tuple(sorted(ordered[test + validation :])),
    )


def restrict(dataset: JudgedDataset, users: Iterable[str]) -> JudgedDataset:
    """The dataset with only some users' stores and queries."""
    kept = set(users)
    return replace(
        dataset,
        stores={name: store for name, store in dataset.stores.items() if name in kept},
        queries=tuple(query for query in dataset.queries if query.user_id in kept),
    )


def sample(dataset: JudgedDataset, limit: int, *, seed: int = 0) -> JudgedDataset:
    """``limit`` queries drawn by the hash of seed and query id, in the dataset's order, with the stores of their users.

    A larger limit takes the same queries and more. ``notes`` says how many there were. A limit that no query falls victim to
    changes nothing. Raises ConfigError for a limit under 1.
    """
    if isinstance(limit, bool) or not isinstance(limit, int) or limit < 1:
        raise ConfigError(f"limit is {limit!r}: must be a whole number of queries from 1")
    total = len(dataset.queries)
    if total <= limit:
        return dataset
    ordered = sorted(dataset.queries, key=lambda query: hashlib.sha256(json.dumps([seed, query.id]).encode()).hexdigest())
    taken = {query.id for query in ordered[:limit]}
    queries = tuple(query for query in dataset.queries if query.id in taken)
    kept = {query.user_id for query in queries}
    users = len(dataset.stores)
    return replace(
        dataset,
        stores={name: store for name, store in dataset.stores.items() if name in kept},
        queries=queries,
        notes={
            **dataset.notes, "sample_of_queries": limit, "queries_in_all": total, "sample_seed": seed, "users_in_all": users,
        },
    )  # fmt: skip


def note_test_use(split: UserSplit, use: Mapping[str, Any], *, folder: str | Path | None = None) -> int:
    """Record that the test part of a split was looked at for a choice; returns how many other choices it was used for before.

    Every look makes the test less of one. The record lies under the cache directory, one line per choice.
    """
    home = Path(folder) if folder is not None else cache_dir() / "locked-tests"
    path = home / f"{split.key}.jsonl"
    line = json.dumps(dict(use), sort_keys=True, allow_nan=False)
    try:
        known = path.read_text(encoding="utf-8").splitlines() if path.is_file() else []
        if line not in known:
            home.mkdir(parents=True, exist_ok=True)
            with path.open("a", encoding="utf-8") as file:
                file.write(line + "\n")
    except OSError as error:
        raise RunError(f"cannot record the use of the locked test in {path}: {error.strerror}") from None
    return len([other for other in known if other != line])
