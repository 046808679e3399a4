"""Own files: a directory of JSONL files to a judged dataset and back (schema: ``datasets/README.md``).

- ``dataset.json`` (optional): name, version, licence, source and the like
- ``entries*.jsonl``: one entry a line, files in the order of their names
- ``queries*.jsonl`` (optional): one judged query a line
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from workbench.data.collecting import REFUSED_NOTE, Collector, checked_meta
from workbench.data.judged import JudgedDataset
from workbench.data.rows import META_FILE, is_dataset_file
from workbench.data.saving import save_directory
from workbench.data.strict_json import JsonFault, decode_utf8, parse_document, parse_json
from workbench.errors import DataError

__all__ = ["REFUSED_NOTE", "DirectoryReading", "listing_checksum", "load_directory", "read_directory", "save_directory"]


@dataclass(frozen=True, kw_only=True)
class DirectoryReading:
    """What reading a directory gave: the dataset, its description, and every refused line with its reason."""

    dataset: JudgedDataset
    description: str
    refused: tuple[str, ...]


def load_directory(path: str | os.PathLike[str], *, skip_bad: bool = False) -> JudgedDataset:
    """Read a directory of the JSONL layout.

    Raises DataError naming file, line and field at the first fault. With ``skip_bad`` faulty lines are left out and
    counted in ``notes["refused_rows"]``; ``read_directory`` gives the reasons too. Faults of a whole file always raise.
    """
    return read_directory(path, skip_bad=skip_bad).dataset


def read_directory(path: str | os.PathLike[str], *, skip_bad: bool = False) -> DirectoryReading:
    """``load_directory`` together with the description and the refused lines, each as ``file, line n: reason``."""
    return _Reader(Path(path), skip_bad).read()


class _Reader:
    """The state of one reading: the rows gathered so far, and the checksums of the files they came from."""

    def __init__(self, root: Path, skip_bad: bool) -> None:
        self.root = root
        self.rows = Collector(str(root), skip_bad=skip_bad)
        self.sums: list[tuple[str, str]] = []

    def read(self) -> DirectoryReading:
        names = _names(self.root)
        meta = self._meta(META_FILE in names)
        self.rows.add_users(meta["users"])
        entry_files = [name for name in names if name.startswith("entries")]
        if not entry_files and meta["users"] is None:
            raise DataError(
                f"{self.root} holds no entries*.jsonl; write one entry a line into entries.jsonl (schema: datasets/README.md)"
            )
        for name in entry_files:
            self._each(name, self.rows.entry_row)
        for name in names:
            if name.startswith("queries"):
                self._each(name, self.rows.query_row)
        dataset = self.rows.dataset(meta, listing_checksum(self.sums))
        return DirectoryReading(dataset=dataset, description=meta["description"], refused=tuple(self.rows.refused))

    def _meta(self, present: bool) -> dict[str, Any]:
        where = str(self.root / META_FILE)
        row: Any = {}
        if present:
            try:
                raw = Path(where).read_bytes()
            except OSError as error:
                raise DataError(f"cannot read {where}: {error.strerror}") from None
            self.sums.append((META_FILE, hashlib.sha256(raw).hexdigest()))
            row = parse_document(raw, where)
        return checked_meta(row, where, default_name=self.root.resolve().name or "own files")

    def _each(self, name: str, take: Callable[[object, str, str], None]) -> None:
        rows = 0
        for number, raw in self._lines(name):
            if not raw.strip(b" \t\r\n"):
                continue
            rows += 1
            where = f"{self.root / name}, line {number}"
            try:
                row = parse_json(decode_utf8(raw))
            except JsonFault as error:
                self.rows.refuse(where, error)
            else:
                take(row, where, f"{name}, line {number}")
        if not rows:
            raise DataError(f"{self.root / name} is empty; write one JSON object a line or remove the file")

    def _lines(self, name: str) -> Iterator[tuple[int, bytes]]:
        """Numbered lines. Only LF and CR LF end one: other Unicode line breaks are ordinary text in JSON strings."""
        digest = hashlib.sha256()
        try:
            with (self.root / name).open("rb") as handle:
                for number, raw in enumerate(handle, start=1):
                    digest.update(raw)
                    if number == 1:
                        if raw.startswith((b"\xff\xfe", b"\xfe\xff")):
                            raise DataError(f"{self.root / name} is UTF-16 text; save it as UTF-8")
                        raw = raw.removeprefix(b"\xef\xbb\xbf")
                    yield number, raw
        except OSError as error:
            raise DataError(f"cannot read {self.root / name}: {error.strerror}") from None
        self.sums.append((name, digest.hexdigest()))


def _names(root: Path) -> list[str]:
    """The layout's files in reading order: dataset.json, entries, queries, each kind by name."""
    try:
        names = [name for name in os.listdir(root) if is_dataset_file(name)]
    except FileNotFoundError:
        raise DataError(f"there is no directory {root}; give a directory with entries*.jsonl") from None
    except NotADirectoryError:
        raise DataError(f"{root} is a file; give the directory that holds entries*.jsonl") from None
    except (OSError, ValueError) as error:
        raise DataError(f"cannot read the directory {root}: {getattr(error, 'strerror', None) or error}") from None
    return sorted(names, key=lambda name: (name != META_FILE, os.fsencode(name)))


def listing_checksum(sums: list[tuple[str, str]]) -> str:
    """SHA-256 of the lines ``<sha256 of the file>  <name>`` in reading order: ``sha256sum FILES | sha256sum``."""
    listing = b"".join(digest.encode() + b"  " + os.fsencode(name) + b"\n" for name, digest in sums)
    return hashlib.sha256(listing).hexdigest()
