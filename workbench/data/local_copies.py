"""The downloaded files of public datasets: where they lie, getting them once, and checking them."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from workbench.data.atomic import fresh_file
from workbench.data.fetch import PARTIAL, fetch, file_sha256
from workbench.errors import DataError
from workbench.paths import cache_dir

if TYPE_CHECKING:
    from workbench.data.registry import DatasetInfo

ASK_FIRST = 50_000_000
"""Larger files (bytes) are never downloaded unless that was asked for."""

State = Literal["ready", "missing", "damaged", "partial"]


@dataclass(frozen=True, kw_only=True)
class Verified:
    """What checking a file gave. found_sha256, found_size: of the file; "" and 0 when there is none."""

    name: str
    path: Path
    state: State
    sha256: str
    size: int
    found_sha256: str = ""
    found_size: int = 0

    @property
    def ok(self) -> bool:
        """Whether the file is there and is the published one."""
        return self.state == "ready"

    def __str__(self) -> str:
        if self.state == "ready":
            return f"{self.name}: {self.path} is the published file ({self.size} bytes, SHA-256 {self.sha256})"
        if self.state == "missing":
            return f"{self.name}: there is no file {self.path}; get it with: workbench data pull {self.name}"
        if self.state == "partial":
            return (
                f"{self.name}: {self.found_size} of {self.size} bytes are there ({self.path}); go on with: "
                f"workbench data pull {self.name}"
            )
        return (
            f"{self.name}: {self.path} is another file: SHA-256 {self.found_sha256} ({self.found_size} bytes), expected "
            f"{self.sha256} ({self.size} bytes); get it with: workbench data pull {self.name}"
        )


def cached_path(info: DatasetInfo) -> Path:
    """Where the file of a dataset lies once it was downloaded. Raises DataError for a dataset without one."""
    if not info.file:
        raise DataError(f"the dataset {info.name} ships with the project; there is nothing to download or to verify")
    return cache_dir() / "datasets" / info.file


def verify(info: DatasetInfo, path: Path | None = None) -> Verified:
    """Check a dataset's file (``path``, or the copy in the cache) against its published checksum. Raises DataError."""
    target = cached_path(info) if path is None else path
    known = {"name": info.name, "sha256": info.sha256, "size": info.size}
    try:
        if target.is_file():
            found, size = file_sha256(target), target.stat().st_size
            state: State = "ready" if found == info.sha256 else "damaged"
            return Verified(path=target, state=state, found_sha256=found, found_size=size, **known)  # type: ignore[arg-type]
        part = target.with_name(target.name + PARTIAL)
        if path is None and part.is_file() and part.stat().st_size:
            return Verified(path=part, state="partial", found_size=part.stat().st_size, **known)  # type: ignore[arg-type]
    except (OSError, ValueError) as error:
        raise DataError(f"cannot read {target}: {getattr(error, 'strerror', None) or error}") from None
    return Verified(path=target, state="missing", **known)  # type: ignore[arg-type]


def pull(info: DatasetInfo, *, path: Path | None = None, progress: Callable[[int], None] | None = None) -> Path:
    """The verified file of a dataset in the cache directory: what is there already, else a download, resumed where it broke off.

    path: a copy at hand to take instead of downloading. progress: told the bytes that are there. Raises DataError that says
    which file is needed, where it can be had, and how to use a copy that was fetched in another way.
    """
    target = cached_path(info)
    if path is not None:
        checked = verify(info, path)
        if not checked.ok:
            raise DataError(str(checked) if checked.state == "damaged" else f"there is no file {path}")
        try:
            if not target.exists() or not target.samefile(path):
                with fresh_file(target, replaces=lambda _: True) as (spare, _):
                    shutil.copyfile(path, spare)
        except OSError as error:
            raise DataError(f"cannot copy {path} to {target}: {error.strerror or error}") from None
        return target
    try:
        if verify(info).ok:
            return target
        return fetch(info.url, target, sha256=info.sha256, size=info.size, progress=progress)
    except (OSError, DataError) as error:
        raise DataError(f"{_needs(info, target)}: {error}. {_way_out(info)}") from None


def local_copy(info: DatasetInfo) -> Path:
    """The verified file for loading: as ``pull``, but a large file is not downloaded unasked. Raises DataError."""
    if info.size > ASK_FIRST:
        checked = verify(info)
        if not checked.ok:
            raise DataError(
                f"{_needs(info, checked.path)}; it has {info.size / 1e6:,.0f} MB, so it is not downloaded unasked: run "
                f"'workbench data pull {info.name}'. {_way_out(info)}"
            )
        return checked.path
    return pull(info)


def _needs(info: DatasetInfo, target: Path) -> str:
    return f"the dataset {info.name} needs the file {info.file}, which is not in {target.parent}"


def _way_out(info: DatasetInfo) -> str:
    return (
        f"Get it from {info.url} (licence {info.licence}) and pass its path: "
        f"load_dataset({info.name!r}, data='{info.file}') or --data {info.file}"
    )
