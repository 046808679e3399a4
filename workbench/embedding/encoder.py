"""What an encoder is, how its vectors are checked, and how one is found by its name.

Any object with ``name``, ``dim`` and ``encode`` serves. Vectors are unit-norm float32, so that inner products are cosines.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from numbers import Integral
from typing import Any, Final, Literal, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from workbench.embedding.bundled import BUNDLED, BUNDLED_SHA256, bundled_folder
from workbench.errors import ConfigError, StoreError

FloatMatrix = npt.NDArray[np.float32]
Backend = Literal["onnx", "torch"]

# the backends agree to 1e-6, not to the bit: each has a name of its own, so that no cache mixes their vectors
BUNDLED_NAMES: Final[dict[str, Backend]] = {
    f"{BUNDLED}@{BUNDLED_SHA256[:12]}+onnx": "onnx",
    f"{BUNDLED}@{BUNDLED_SHA256[:12]}": "torch",
}
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
    off = np.abs(norms - 1.0) > 1e-5
    if off.any():
        off &= np.any(matrix != 0, axis=1)
    if off.any():
        matrix = matrix.copy()
        # the largest part first: squares of very large or small numbers leave the range of a float
        matrix[off] /= np.abs(matrix[off]).max(axis=1, keepdims=True)
        matrix[off] /= np.sqrt(np.einsum("ij,ij->i", matrix[off], matrix[off]))[:, None]
    return np.ascontiguousarray(matrix, dtype=np.float32)


def load_encoder(name: str = BUNDLED, *, backend: Backend | None = None) -> Encoder:
    """The encoder by preset (``bundled``, ``bge-m3``), folder or sentence-transformers name; loaded once per process.

    backend: what computes the vectors: ``onnx`` (ONNX Runtime; the bundled model only, its default) or ``torch``
    (sentence-transformers; every model). Raises ConfigError for a backend the model does not have, StoreError when it
    cannot be loaded.
    """
    if not isinstance(name, str) or not name:
        raise ConfigError(f"encoder is {name!r}: must be a preset ({', '.join(PRESETS)}), a folder or a model name")
    if backend not in (None, "onnx", "torch"):
        raise ConfigError(f"backend is {backend!r}: must be onnx, torch or None for the model's own")
    name = PRESETS.get(name, name)
    if backend == "onnx" and name != BUNDLED:
        raise ConfigError(f"backend is 'onnx' for {name}: only the bundled model runs on ONNX Runtime; use backend='torch'")
    return _loaded(name, backend or ("onnx" if name == BUNDLED else "torch"))


def recorded_encoder(recorded: str) -> Encoder:
    """The encoder whose name a run recorded, on the same backend; its weights may differ, which its name then tells.

    Raises as ``load_encoder``.
    """
    return load_encoder(recorded.partition("@")[0], backend=BUNDLED_NAMES.get(recorded))


@cache
def _loaded(name: str, backend: Backend) -> Encoder:
    # each library is imported by the one who uses it: torch alone takes seconds
    if backend == "onnx":
        from workbench.embedding.onnx_encoder import OnnxEncoder

        return OnnxEncoder(bundled_folder(), name=_bundled_name("onnx"))
    from workbench.embedding.sentence import SentenceEncoder

    if name == BUNDLED:
        return SentenceEncoder(bundled_folder(), name=_bundled_name("torch"))
    return SentenceEncoder(name)


def _bundled_name(backend: Backend) -> str:
    return next(name for name, runs_on in BUNDLED_NAMES.items() if runs_on == backend)
