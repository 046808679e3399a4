"""A small judged dataset to time."""

from __future__ import annotations

from typing import Any

import pytest

from workbench.data.judged import JudgedDataset, JudgedQuery
from workbench.data.saving import save_directory
from workbench.embedding.cache import EmbeddingCache
from workbench.experiments.manifest import Source
from workbench.store.user import UserStore

NOW = "2026-06-01T09:00:00Z"
FACTS = ("The kettle hums at dawn", "The ferry sails on Tuesdays", "Rhubarb grows behind the shed", "The attic key is brass")


@pytest.fixture(scope="session")
def small(kit: Any) -> JudgedDataset:
    """Two users, five entries each, three queries each."""
    stores, queries = {}, []
    for user in ("figgle", "quibble"):
        stores[user] = UserStore(
            user,
            memories=[kit.memory(f"{user}-m{at}", text) for at, text in enumerate(FACTS)],
            episodes=[kit.episode(f"{user}-e0", "Repaired the gate hinge")],
            soul=[kit.soul(f"{user}-s0", "A patient helper")],
        )
        queries += [
            JudgedQuery(id=f"{user}-1", user_id=user, query="when does the ferry sail", now=NOW, relevant={f"{user}-m1": 1}),
            JudgedQuery(id=f"{user}-2", user_id=user, query="who mended the gate", now=NOW, relevant={f"{user}-e0": 1}),
            JudgedQuery(id=f"{user}-3", user_id=user, query="what about the moon", now=NOW, answerable=False),
        ]
    return JudgedDataset(
        name="small", stores=stores, queries=tuple(queries), licence="Apache-2.0", source="made here", checksum="0" * 64
    )


@pytest.fixture
def cache(tmp_path: Any) -> EmbeddingCache:
    return EmbeddingCache(tmp_path / "embeddings")


@pytest.fixture
def source(small: JudgedDataset, tmp_path: Any) -> Source:
    """The small dataset as a folder to load."""
    save_directory(small, tmp_path / "small")
    return Source(name=str(tmp_path / "small"))
