"""Vectors for stores too large to embed in passing: made up, the same for the same text, and spread like real ones.

A made-up vector is ``unit(centre + spread * (one - other))`` where centre, one and other are rows of a *bank*, chosen by the hash
of the text. With real embeddings as the bank it inherits their directions and their spectrum; near neighbours share a centre.
Rankings made with such vectors mean nothing; the time a search takes, and how well an index finds the exact neighbours, do.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence

import numpy as np

from workbench.embedding.cache import EmbeddingCache
from workbench.embedding.encoder import Encoder, FloatMatrix
from workbench.errors import ConfigError

SPREAD = 0.55
_DIM = 384


def gaussian_bank(rows: int = 2048, dim: int = _DIM, *, seed: int = 0) -> FloatMatrix:
    """Unit rows of shape (rows, dim) with a spectrum that falls off like one over the square root of the rank, and a common part.

    The common part gives unrelated rows a mean cosine near 0.1, about what sentence encoders show.
    """
    rng = np.random.Generator(np.random.PCG64(seed))
    scale = 1.0 / np.sqrt(np.arange(1, dim + 1))
    common = rng.standard_normal(dim) * scale
    values = rng.standard_normal((rows, dim)) * scale + 0.35 * common
    unit: FloatMatrix = (values / np.linalg.norm(values, axis=1, keepdims=True)).astype(np.float32)
    return unit


def made_up_vectors(texts: Sequence[str], bank: FloatMatrix, *, spread: float = SPREAD) -> FloatMatrix:
    """Unit rows, shape (len(texts), dim), each from its text and the bank alone. Raises ConfigError for under 3 rows."""
    if len(bank) < 3:
        raise ConfigError(f"the bank has {len(bank)} vectors: at least 3 are needed to make others from")
    digests = b"".join(hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=24).digest() for text in texts)
    picks = (np.frombuffer(digests, dtype="<u8").reshape(len(texts), 3) % len(bank)).astype(np.int64)
    out = np.empty((len(texts), bank.shape[1]), dtype=np.float32)
    for start in range(0, len(texts), 4096):
        part = picks[start : start + 4096]
        rows = bank[part[:, 0]] + np.float32(spread) * (bank[part[:, 1]] - bank[part[:, 2]])
        out[start : start + len(part)] = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    return out


class MadeUpVectors(EmbeddingCache):
    """Stands in for the embedding cache of an assembler: whatever text it is asked for gets a made-up vector."""

    def __init__(self, bank: FloatMatrix) -> None:
        super().__init__()
        self.bank = bank

    def encode(
        self,
        encoder: Encoder,
        texts: Sequence[str],
        *,
        template: str = "",
        progress: Callable[[int], None] | None = None,
    ) -> FloatMatrix:
        """Made-up vectors, shape (len(texts), encoder.dim); nothing is encoded, read or written."""
        if self.bank.shape[1] != encoder.dim:
            raise ConfigError(f"the bank has vectors of size {self.bank.shape[1]}, the encoder {encoder.name} of {encoder.dim}")
        if progress is not None:
            progress(len(texts))
        return made_up_vectors(texts, self.bank)


class MadeUpEncoder:
    """The same vectors as an encoder, for what has to run without a model. Calibrated like the bundled one."""

    def __init__(self, bank: FloatMatrix | None = None) -> None:
        self.bank = gaussian_bank() if bank is None else bank
        self.name = "made-up-vectors"
        self.dim = int(self.bank.shape[1])
        self.conflict_band = (0.35, 0.95)
        self.duplicate_threshold = 0.95
        self.reference_relevance = 0.65

    def encode(self, texts: list[str], /) -> FloatMatrix:
        """Unit vectors, shape (len(texts), dim)."""
        return made_up_vectors(texts, self.bank)
