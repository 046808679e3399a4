"""One download of one file: streamed, resumed where it broke off, checked, and put in place whole or not at all."""

from __future__ import annotations

import hashlib
import http.client
import os
import re
import shutil
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

from workbench.errors import DataError

_CHUNK = 1 << 16
_TIMEOUT_SECONDS = 30.0
_RANGE = re.compile(r"bytes (\d+)-\d+/(?:\d+|\*)", re.ASCII)
PARTIAL = ".part"
"""Suffix of a download that is not complete; it lies beside its target."""


def file_sha256(path: Path) -> str:
    """SHA-256 of a file, read in pieces. Raises OSError."""
    digest = hashlib.sha256()
    with path.open("rb") as handle:
        while chunk := handle.read(_CHUNK):
            digest.update(chunk)
    return digest.hexdigest()


def fetch(url: str, target: Path, *, sha256: str, size: int, progress: Callable[[int], None] | None = None) -> Path:
    """Download ``url`` to ``target`` and return it.

    The bytes go to ``<target>.part``, which takes the place of ``target`` only when its SHA-256 is ``sha256``; more than
    ``size`` bytes are never kept. A download that breaks off leaves that file, and the next call goes on behind it where the
    server can (HTTP ranges), else from the start. ``progress`` is told how many bytes are there, from 0 or the resumed place
    up to ``size``. Raises DataError with the reason; a file that turned out to be another one is removed.
    """
    part = target.with_name(target.name + PARTIAL)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with _exclusive(part) as handle:
            if not _download(url, handle, sha256, size, progress):
                # bytes of an earlier release, or of a broken run: once more from the start
                _download(url, handle, sha256, size, progress, resume=False)
            part.replace(target)
    except (OSError, http.client.HTTPException) as error:
        raise DataError(f"{url} cannot be downloaded to {target}: {error}{_kept(part)}") from None
    except ValueError as error:
        if isinstance(error, DataError):
            raise
        part.unlink(missing_ok=True)
        raise DataError(f"{url} is not an address to download from: {error}") from None
    return target


def _kept(part: Path) -> str:
    """Ends a message about a download that broke off; an empty part is removed."""
    try:
        done = part.stat().st_size
        if done:
            return f" (the first {done} bytes are kept in {part.name}; run it again to go on)"
        part.unlink()
    except OSError:
        pass
    return ""


@contextmanager
def _exclusive(part: Path) -> Iterator[BinaryIO]:
    """The partial file, open for reading and writing, held by this process alone (where the system can lock files)."""
    part.touch()
    with part.open("r+b") as handle:
        try:
            import fcntl
        except ImportError:
            fcntl = None  # type: ignore[assignment]
        if fcntl is not None:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise DataError(f"{part} is being written by another download; wait for it to end") from None
        yield handle


def _download(
    url: str, handle: BinaryIO, sha256: str, size: int, progress: Callable[[int], None] | None, *, resume: bool = True
) -> bool:
    """Fill ``handle``. True when it holds the expected file; False when resumed bytes did not belong to it."""
    done = handle.seek(0, os.SEEK_END) if resume else 0
    if done > size:
        done = 0
    resumed = done > 0
    free = shutil.disk_usage(os.path.dirname(handle.name)).free
    if free < size - done:
        raise DataError(f"{handle.name} needs {size - done} more bytes and the disk has {free} free; make room for it")
    broke_off = False
    if done < size:
        with _open(url, done) as answer:
            if done and not _continues(answer, done):
                done, resumed = 0, False
            handle.seek(done)
            handle.truncate()
            if progress:
                progress(done)
            while chunk := answer.read(_CHUNK):
                done += len(chunk)
                if done > size:
                    _discard(handle)
                    raise DataError(f"{url} holds more than the expected {size} bytes; it is another file")
                handle.write(chunk)
                if progress:
                    progress(done)
            # what the server announced and did not send; it announces nothing (None) when it cannot tell
            broke_off = done < size and answer.length != 0
        handle.flush()
        os.fsync(handle.fileno())
    if broke_off:
        raise OSError(f"the connection ended after {done} of {size} bytes")
    found = file_sha256(Path(handle.name))
    if found == sha256:
        return True
    if resumed:
        return False
    _discard(handle)
    raise DataError(f"{url} has the SHA-256 {found} ({done} bytes), expected {sha256} ({size} bytes)")


def _open(url: str, done: int) -> Any:
    request = urllib.request.Request(url, headers={"Range": f"bytes={done}-"} if done else {})
    try:
        return urllib.request.urlopen(request, timeout=_TIMEOUT_SECONDS)
    except urllib.error.HTTPError as error:
        if done and error.code == http.client.REQUESTED_RANGE_NOT_SATISFIABLE:
            return _open(url, 0)
        raise


def _continues(answer: Any, done: int) -> bool:
    """Whether the server sends what follows byte ``done`` (many answer a range with the whole file)."""
    found = _RANGE.fullmatch(answer.headers.get("Content-Range", ""))
    return answer.status == http.client.PARTIAL_CONTENT and found is not None and int(found[1]) == done


def _discard(handle: BinaryIO) -> None:
    handle.seek(0)
    handle.truncate()
    Path(handle.name).unlink(missing_ok=True)
