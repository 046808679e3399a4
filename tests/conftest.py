"""Real, fast parts to test with: a hashing encoder, vectors with wanted cosines, a conflict test that a reader can predict."""

from __future__ import annotations

import gc
import hashlib
import os
import socket
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import HealthCheck, settings

from workbench.assembly.assembler import Assembler
from workbench.config import AssemblyConfig
from workbench.embedding.encoder import Encoder, load_encoder
from workbench.entries import Episode, Memory, Procedure, SoulBlock
from workbench.store.user import UserStore

_CALM = [HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large]
settings.register_profile("workbench", deadline=None, derandomize=True, max_examples=30, suppress_health_check=_CALM)
# HYPOTHESIS_PROFILE=fuzz looks longer, and elsewhere each time
settings.register_profile("fuzz", deadline=None, max_examples=1500, suppress_health_check=_CALM)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "workbench"))


def pytest_collection_finish() -> None:
    """What collecting made stays until the end, so no later collection of garbage needs to look at it: a tenth of the time."""
    gc.collect()
    gc.freeze()


NOW = "2026-03-02T09:00:00Z"
Matrix = npt.NDArray[np.float32]


@lru_cache(maxsize=100_000)
def _hashed(text: str, dim: int) -> Matrix:
    vector = np.zeros(dim)
    folded = f" {text.lower()} "
    for start in range(max(len(folded) - 2, 1)):
        digest = hashlib.blake2b(folded[start : start + 3].encode("utf-8", "surrogatepass"), digest_size=8).digest()
        vector[int.from_bytes(digest[:4], "little") % dim] += 1.0 if digest[4] & 1 else -1.0
    norm = np.linalg.norm(vector)
    return (vector / norm if norm else vector).astype(np.float32)


class HashedEncoder:
    """Signed hashed character trigrams: texts that share letters are similar, the same text is always the same vector."""

    def __init__(self, dim: int = 64, *, name: str | None = None) -> None:
        self.name = name or f"hashed-trigrams-{dim}"
        self.dim = dim
        self.conflict_band = (0.3, 0.95)
        self.duplicate_threshold = 0.95
        self.calls: list[list[str]] = []

    def encode(self, texts: list[str], /) -> Matrix:
        self.calls.append(list(texts))
        return np.stack([_hashed(text[:2000], self.dim) for text in texts]) if texts else np.zeros((0, self.dim), np.float32)


class GivenVectors:
    """Exactly the vectors it was given, by text; an unknown text is an error of the test."""

    def __init__(self, vectors: Mapping[str, Sequence[float]], *, name: str = "given", **calibration: Any) -> None:
        self.vectors = {text: np.asarray(vector, dtype=np.float32) for text, vector in vectors.items()}
        self.name = name
        self.dim = len(next(iter(self.vectors.values())))
        self.conflict_band: tuple[float, float] = calibration.get("conflict_band", (0.75, 0.92))
        self.duplicate_threshold: float = calibration.get("duplicate_threshold", 0.92)

    def encode(self, texts: list[str], /) -> Matrix:
        return np.stack([self.vectors[text] for text in texts])


def with_cosines(gram: npt.ArrayLike) -> Matrix:
    """Unit rows whose inner products are ``gram`` (symmetric, ones on the diagonal, positive semidefinite)."""
    values, basis = np.linalg.eigh(np.asarray(gram, dtype=np.float64))
    assert values.min() > -1e-9, "no vectors have these cosines"
    rows = basis * np.sqrt(np.clip(values, 0.0, None))
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


class TopicConflict:
    """Texts of the form ``topic = value`` conflict if the topic is the same and the value is not; other texts never do."""

    name = "topic-equals-value"
    reasons = ("", "exclusive value")

    def features(self, texts: Sequence[str]) -> list[tuple[str, str]]:
        return [(topic.strip(), value.strip()) for topic, _, value in (text.partition("=") for text in texts)]

    def decide(self, features: Any, left: Any, right: Any, similarity: Any) -> Any:
        codes: dict[str, int] = {"": 0}
        coded = [(codes.setdefault(topic, len(codes)), codes.setdefault(value, len(codes))) for topic, value in features]
        topics, values = np.array(coded, dtype=np.int64).reshape(-1, 2).T
        one, two = np.asarray(left), np.asarray(right)
        stated = (values[one] != 0) & (values[two] != 0)
        return (stated & (topics[one] == topics[two]) & (values[one] != values[two])).astype(np.int64)

    def relation(self, features: Any, left: Any, right: Any, similarity: Any, *, duplicate_at: float) -> Any:
        return np.where(self.decide(features, left, right, similarity) != 0, 2, np.where(similarity >= duplicate_at, 1, 0))


class NamedConflict(TopicConflict):
    """Exactly the pairs of texts it was given conflict."""

    name = "named-pairs"

    def __init__(self, *pairs: tuple[str, str]) -> None:
        self.pairs = {frozenset(pair) for pair in pairs}

    def features(self, texts: Sequence[str]) -> Any:
        return list(texts)

    def decide(self, features: Any, left: Any, right: Any, similarity: Any) -> Any:
        pairs = zip(left.tolist(), right.tolist(), strict=True)
        return np.array([int(frozenset((features[a], features[b])) in self.pairs) for a, b in pairs], dtype=np.int64)


class Kit:
    """Short names for what nearly every test builds."""

    now = NOW
    Encoder = HashedEncoder
    Given = GivenVectors
    Topic = TopicConflict
    Named = NamedConflict
    with_cosines = staticmethod(with_cosines)

    def __init__(self) -> None:
        self.encoder = HashedEncoder()

    @staticmethod
    def memory(id: str, text: str, **fields: Any) -> Memory:
        return Memory(id=id, text=text, **{"created_at": "2026-02-01T00:00:00Z", **fields})

    @staticmethod
    def episode(id: str, summary: str, **fields: Any) -> Episode:
        return Episode(id=id, summary=summary, **{"occurred_at": "2026-02-01T00:00:00Z", **fields})

    @staticmethod
    def procedure(id: str, name: str, **fields: Any) -> Procedure:
        return Procedure(id=id, name=name, **{"created_at": "2026-02-01T00:00:00Z", **fields})

    @staticmethod
    def soul(id: str, text: str, **fields: Any) -> SoulBlock:
        return SoulBlock(id=id, text=text, **fields)

    def assembler(
        self,
        memories: Sequence[Memory] = (),
        *,
        config: AssemblyConfig | None = None,
        encoder: Encoder | None = None,
        conflict_test: Any = None,
        cache: Any = False,
        user_id: str = "ana",
        **layers: Any,
    ) -> Assembler:
        """An assembler over a store of these entries; hashing encoder, conflicts by topic, no cache on disk."""
        return Assembler(
            UserStore(user_id, memories=memories, **layers),
            config,
            encoder or self.encoder,
            conflict_test=conflict_test or TopicConflict(),
            cache=cache,
        )


@pytest.fixture(scope="session")
def kit() -> Kit:
    return Kit()


@contextmanager
def _offline() -> Iterator[None]:
    def refuse(self: socket.socket, address: object) -> None:
        raise AssertionError(f"tried to connect to {address!r}")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(socket.socket, "connect", refuse)
        yield


@pytest.fixture
def no_network() -> Iterator[None]:
    """Any attempt to reach another machine fails the test that makes it."""
    with _offline():
        yield


@pytest.fixture(scope="session")
def bundled() -> Encoder:
    """The encoder that the package brings, loaded without a network."""
    with _offline():
        return load_encoder()


@pytest.fixture(scope="session")
def recount() -> Callable[[str, str], int]:
    """Tokens of a text by tiktoken alone."""
    from workbench.text.tokens import encoding

    return lambda text, name: len(encoding(name).encode_ordinary(text))
