"""Random stores, judged queries and configurations for the tests of replay and what is built on it."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from workbench.config import AssemblyConfig, Budgets, Weights
from workbench.data.judged import JudgedDataset, JudgedQuery
from workbench.entries import Episode, Memory, Procedure, SoulBlock
from workbench.store.user import UserStore

NOW = "2026-06-01T09:00:00Z"
WORDS = [
    "kettle",
    "ferry",
    "rhubarb",
    "attic",
    "lamp",
    "barn",
    "goose",
    "pier",
    "quilt",
    "ladle",
    "moss",
    "fern",
    "cobalt",
    "turnip",
    "anvil",
]


class ToyEncoder:
    """Vectors from a hash of the words: close texts share words. Few dimensions, so that ties and near pairs are common."""

    name = "toy-encoder@1"
    dim = 6
    conflict_band = (0.6, 0.95)
    duplicate_threshold = 0.97
    reference_relevance = 0.5

    def encode(self, texts: list[str], /) -> np.ndarray:
        out = np.zeros((len(texts), self.dim), dtype=np.float32)
        for row, text in enumerate(texts):
            for word in text.lower().split():
                seed = int.from_bytes(hashlib.sha256(word.encode()).digest()[:8], "little")
                out[row] += np.random.default_rng(seed).standard_normal(self.dim).astype(np.float32)
            norm = np.linalg.norm(out[row])
            out[row] /= norm if norm else 1.0
        return out


class ToyConflictTest:
    """Two statements conflict when they begin alike and end differently."""

    name = "toy-conflicts-1"
    reasons = ("", "end")

    def features(self, texts: Sequence[str]) -> Any:
        return [text.split() for text in texts]

    def decide(self, features: Any, left: Any, right: Any, similarity: Any) -> Any:
        pairs = [(features[a], features[b]) for a, b in zip(left.tolist(), right.tolist(), strict=True)]
        return np.array([int(bool(a and b) and a[:2] == b[:2] and a[-1] != b[-1]) for a, b in pairs], dtype=np.int64)

    def relation(self, features: Any, left: Any, right: Any, similarity: Any, *, duplicate_at: float) -> Any:
        same = np.asarray(similarity) >= duplicate_at
        return np.where(self.decide(features, left, right, similarity) != 0, 2, same.astype(np.int64))


def random_store(rng: np.random.Generator, user: str, size: int) -> UserStore:
    def text() -> str:
        return " ".join(rng.choice(WORDS, size=rng.integers(1, 7)).tolist())

    def shared() -> dict[str, Any]:
        return {
            "importance": float(rng.choice([0.2, 0.5, 0.7, 0.9])),
            "confidence": float(rng.choice([0.5, 1.0])),
            "access_count": int(rng.choice([0, 0, 3, 500])),
            "status": str(rng.choice(["active"] * 8 + ["superseded", "archived"])),
        }

    def day() -> str:
        return f"2026-05-{rng.integers(1, 32):02d}T00:00:00Z"

    memories = [
        Memory(
            id=f"m{number}",
            text=text(),
            created_at=day() if rng.random() < 0.95 else "2026-09-01",
            category=str(rng.choice(["fact", "fact", "work", "preference"])),
            **shared(),
        )
        for number in range(size)
    ]
    episodes = [Episode(id=f"e{number}", summary=text(), occurred_at=day(), **shared()) for number in range(size // 3)]
    procedures = [
        Procedure(id=f"w{number}", name=text(), steps=(text(),), created_at=day(), **shared()) for number in range(size // 4)
    ]
    soul = [
        SoulBlock(id=f"s{number}", text=text(), group=str(rng.choice(["soul", "style", "context"])))
        for number in range(int(rng.integers(0, 5)))
    ]
    return UserStore(user, memories=memories, episodes=episodes, procedures=procedures, soul=soul)


def random_dataset(seed: int, *, users: int = 2, queries: int = 3, size: int = 30) -> JudgedDataset:
    rng = np.random.default_rng(seed)
    stores, judged = {}, []
    for number in range(users):
        user = f"user-{number}"
        store = stores[user] = random_store(rng, user, int(rng.integers(0, size + 1)))
        ids = [entry.id for entry in store if entry.layer != "soul"]
        for at in range(queries):
            picked = rng.permutation(ids)[:8].tolist() if ids else []
            answerable = bool(picked) and rng.random() < 0.85
            judged.append(
                JudgedQuery(
                    id=f"{user}-q{at}",
                    user_id=user,
                    query=" ".join(rng.choice(WORDS, size=rng.integers(0, 4)).tolist()),
                    now=NOW,
                    relevant={key: int(rng.integers(1, 4)) for key in picked[:3]} if answerable else {},
                    forbidden=tuple(picked[3:5]),
                    duplicates=(tuple(picked[i] for i in (0, 5) if i < len(picked)), tuple(picked[3:7:3])),
                    group=f"group-{at % 2}",
                    answerable=answerable,
                )
            )
    order = rng.permutation(len(judged)).tolist()
    return JudgedDataset(
        name="random",
        stores=stores,
        queries=tuple(judged[at] for at in order),
        licence="Apache-2.0",
        source="made here",
        checksum=f"{seed:064d}",
    )


def random_config(rng: np.random.Generator, **search: Any) -> AssemblyConfig:
    """Tiny budgets, totals, both fill rules, tied weights: the edges rather than the middle."""
    weights = rng.choice([0.0, 0.1, 0.25, 0.5, 1.0], size=5).tolist()
    return AssemblyConfig(
        weights=Weights(**dict(zip(("relevance", "importance", "confidence", "recency", "frequency"), weights, strict=True))),
        budgets=Budgets(
            soul=int(rng.choice([0, 20, 60, 500])),
            memories=int(rng.choice([0, 3, 20, 41, 80, 150, 2000])),
            episodes=int(rng.choice([0, 15, 30, 60, 1000])),
            procedures=int(rng.choice([0, 12, 40, 500])),
            total=None if rng.random() < 0.5 else int(rng.choice([0, 10, 50, 90, 140, 300])),
        ),
        boosts={} if rng.random() < 0.5 else {"work": 1.5, "event": 0.0, "absent": 2.0},
        min_score=float(rng.choice([0.0, 0.0, 0.2, 0.5])),
        half_life_days=float(rng.choice([1.0, 30.0])),
        frequency_saturation=int(rng.choice([1, 100])),
        preference_share=float(rng.choice([0.0, 0.25, 0.6, 1.0])),
        fill=str(rng.choice(["stop", "skip"])),
        **search,
    )


@pytest.fixture(scope="session")
def toys() -> SimpleNamespace:
    return SimpleNamespace(
        encoder=ToyEncoder(),
        conflict_test=ToyConflictTest(),
        dataset=random_dataset,
        config=random_config,
        now=NOW,
    )
