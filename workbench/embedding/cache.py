"""Embeddings kept on disk, so that a text is encoded once per encoder, ever.

One SQLite file per encoder; the key is the SHA-256 of encoder name, template and text. Each row carries a checksum, and a damaged
file is set aside and begun anew: a cache may be lost, it may never be wrong. Several processes can share it.
"""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from time import sleep

import numpy as np
import numpy.typing as npt

from workbench.embedding.encoder import Encoder, FloatMatrix, checked_encode
from workbench.errors import StoreError
from workbench.paths import CACHE_VARIABLE, cache_dir

_BLOCK = 64
_CHECK = 8
_TRIES = 100


class EmbeddingCache:
    """Vectors by content hash under ``folder`` (default: the user's cache directory)."""

    def __init__(self, folder: str | Path | None = None) -> None:
        self.folder = Path(folder) if folder is not None else cache_dir() / "embeddings"

    def encode(
        self,
        encoder: Encoder,
        texts: Sequence[str],
        *,
        template: str = "",
        progress: Callable[[int], None] | None = None,
    ) -> FloatMatrix:
        """Vectors of ``texts``, shape (len(texts), encoder.dim); only those not yet cached are encoded.

        Written block by block, so an interrupted run keeps what it has. ``progress`` is told how many texts each step finished.
        Raises StoreError if the folder cannot be used.
        """
        try:
            try:
                return self._encode(encoder, texts, template, progress)
            except sqlite3.DatabaseError as error:
                if not _is_damage(error):
                    raise
                self._set_aside(encoder.name)
                return self._encode(encoder, texts, template, progress)
        except (sqlite3.Error, OSError) as error:
            raise StoreError(
                f"cannot use the embedding cache in {self.folder}: {error}; name a folder that can be written in "
                f"{CACHE_VARIABLE}, or switch the cache off with cache=False"
            ) from error

    def _encode(
        self, encoder: Encoder, texts: Sequence[str], template: str, progress: Callable[[int], None] | None
    ) -> FloatMatrix:
        keys = [_key(encoder.name, template, text) for text in texts]
        out = np.zeros((len(texts), encoder.dim), dtype=np.float32)
        with self._open(encoder.name) as db:
            found = _read(db, set(keys), encoder.dim)
            rows_of: dict[bytes, list[int]] = {}
            for row, key in enumerate(keys):
                if key in found:
                    out[row] = found[key]
                else:
                    rows_of.setdefault(key, []).append(row)
            if progress is not None:
                progress(len(texts) - sum(map(len, rows_of.values())))
            missing = list(rows_of)
            for start in range(0, len(missing), _BLOCK):
                block = missing[start : start + _BLOCK]
                vectors = checked_encode(encoder, [texts[rows_of[key][0]] for key in block])
                with db:
                    db.executemany(
                        "INSERT OR REPLACE INTO vectors VALUES (?, ?)",
                        [(key, _packed(key, vector.tobytes())) for key, vector in zip(block, vectors, strict=True)],
                    )
                for key, vector in zip(block, vectors, strict=True):
                    out[rows_of[key]] = vector
                if progress is not None:
                    progress(sum(len(rows_of[key]) for key in block))
        return out

    @contextmanager
    def _open(self, encoder_name: str) -> Iterator[sqlite3.Connection]:
        self.folder.mkdir(parents=True, exist_ok=True)
        with closing(_connect(self._path(encoder_name))) as db:
            yield db

    def _path(self, encoder_name: str) -> Path:
        return self.folder / (hashlib.sha256(encoder_name.encode()).hexdigest()[:24] + ".sqlite")

    def _set_aside(self, encoder_name: str) -> None:
        # a log left beside it does no harm: SQLite drops the log of an empty file
        path = self._path(encoder_name)
        path.replace(path.with_suffix(".damaged"))


def _is_damage(error: sqlite3.DatabaseError) -> bool:
    """Whether the file is at fault, and not the disk, the rights or another process."""
    code = getattr(error, "sqlite_errorcode", None)
    return code is not None and (
        code & 0xFF in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_FORMAT, sqlite3.SQLITE_SCHEMA)
        # a table of another shape, and a file that ends too early
        or code in (sqlite3.SQLITE_ERROR, sqlite3.SQLITE_IOERR_SHORT_READ)
    )


def _connect(path: Path) -> sqlite3.Connection:
    # SQLite does not wait when two processes switch a new file to WAL at the same time
    for _ in range(_TRIES):
        try:
            return _connect_once(path)
        except sqlite3.OperationalError as error:
            if getattr(error, "sqlite_errorcode", 0) & 0xFF not in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
                raise
            sleep(0.05)
    return _connect_once(path)


def _connect_once(path: Path) -> sqlite3.Connection:
    db = sqlite3.connect(path, timeout=60.0)
    try:
        db.execute("PRAGMA journal_mode=WAL")
        db.execute("PRAGMA synchronous=NORMAL")
        db.execute("CREATE TABLE IF NOT EXISTS vectors (key BLOB PRIMARY KEY, vector BLOB NOT NULL) WITHOUT ROWID")
    except BaseException:
        db.close()
        raise
    return db


def _key(encoder_name: str, template: str, text: str) -> bytes:
    digest = hashlib.sha256()
    for part in (encoder_name, template, text):
        data = part.encode("utf-8", "surrogatepass")
        digest.update(len(data).to_bytes(8, "little"))
        digest.update(data)
    return digest.digest()


def _read(db: sqlite3.Connection, keys: set[bytes], dim: int) -> dict[bytes, npt.NDArray[np.float32]]:
    found: dict[bytes, npt.NDArray[np.float32]] = {}
    wanted = sorted(keys)
    for start in range(0, len(wanted), 500):
        block = wanted[start : start + 500]
        marks = ",".join("?" * len(block))
        for key, blob in db.execute(f"SELECT key, vector FROM vectors WHERE key IN ({marks})", block):
            # a row of another size or with a wrong checksum is not ours to trust: encode again
            if isinstance(blob, bytes) and len(blob) == 4 * dim + _CHECK and blob == _packed(key, blob[:-_CHECK]):
                found[key] = np.frombuffer(blob, dtype=np.float32, count=dim)
    return found


def _packed(key: bytes, vector: bytes) -> bytes:
    return vector + hashlib.blake2b(vector, digest_size=_CHECK, key=key).digest()
