"""Writing whole or not at all: a directory or file is made beside its place and then put there in one step."""

from __future__ import annotations

import os
import shutil
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from workbench.data.strict_json import shown
from workbench.errors import DataError


@contextmanager
def fresh_directory(path: str | os.PathLike[str], *, belongs: Callable[[str], bool]) -> Iterator[tuple[Path, Path]]:
    """``(spare, target)``: fill the empty directory ``spare``; when the block ends well it becomes ``target``.

    An existing directory is replaced only if it is empty or every name in it ``belongs``. Raises DataError.
    """
    target = _target(path, belongs)
    spare = target.parent / f".saving-{uuid.uuid4().hex}"
    old = target.parent / f".replaced-{uuid.uuid4().hex}"
    try:
        spare.mkdir(parents=True)
        yield spare, target
        replacing = target.exists()
        if replacing:
            target.rename(old)
        try:
            spare.rename(target)
        except OSError:
            if replacing:
                old.rename(target)
            raise
    except OSError as error:
        raise DataError(f"cannot write the dataset to {target}: {error.strerror or error}") from None
    finally:
        shutil.rmtree(spare, ignore_errors=True)
    shutil.rmtree(old, ignore_errors=True)


@contextmanager
def fresh_file(path: str | os.PathLike[str], *, replaces: Callable[[Path], bool]) -> Iterator[tuple[Path, Path]]:
    """``(spare, target)``: write the file ``spare``; when the block ends well it becomes ``target``.

    An existing file is replaced only if ``replaces(target)``. Raises DataError.
    """
    try:
        target = Path(path).resolve()
        if target.is_dir():
            raise DataError(f"{target} is a directory; give the name of a file to write")
        if target.exists() and not replaces(target):
            raise DataError(f"{target} exists and holds something else; choose another name or move it away")
        target.parent.mkdir(parents=True, exist_ok=True)
    except (OSError, ValueError, RuntimeError) as error:
        if isinstance(error, DataError):
            raise
        raise DataError(f"cannot write to {shown(str(path))}: {getattr(error, 'strerror', None) or error}") from None
    spare = target.with_name(f".saving-{uuid.uuid4().hex}")
    try:
        yield spare, target
        with spare.open("rb") as handle:
            os.fsync(handle.fileno())
        spare.replace(target)
    except OSError as error:
        raise DataError(f"cannot write {target}: {error.strerror or error}") from None
    finally:
        spare.unlink(missing_ok=True)


def _target(path: str | os.PathLike[str], belongs: Callable[[str], bool]) -> Path:
    """The directory to write, once it is clear that nothing but what belongs there would be replaced."""
    try:
        target = Path(path).resolve()
        if not target.exists():
            return target
        if not target.is_dir():
            raise DataError(f"{target} is a file; give a directory to write the dataset to")
        others = sorted(name for name in os.listdir(target) if not belongs(name))
    except (OSError, ValueError, RuntimeError) as error:
        if isinstance(error, DataError):
            raise
        raise DataError(f"cannot write to {shown(str(path))}: {getattr(error, 'strerror', None) or error}") from None
    if others:
        raise DataError(
            f"{target} is not only a dataset: it holds {shown(others[0])}"
            + (f" and {len(others) - 1} more" if len(others) > 1 else "")
            + "; choose another directory or move what you want to keep"
        )
    return target
