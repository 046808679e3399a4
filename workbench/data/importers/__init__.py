"""Exports that people have, brought into the JSONL layout, with an account of what became of every field."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from workbench.data.fetch import file_sha256
from workbench.data.importers.assistants import read_chatgpt, read_claude
from workbench.data.importers.intake import Intake
from workbench.data.importers.report import ImportReport, Noted
from workbench.data.importers.services import read_langgraph, read_letta, read_mem0
from workbench.data.importers.table import TableMapping, read_table
from workbench.data.judged import JudgedDataset
from workbench.data.strict_json import shown
from workbench.errors import DataError

__all__ = ["KINDS", "ImportReport", "Imported", "Noted", "TableMapping", "import_export"]

_READERS: Mapping[str, Callable[..., None]] = {
    "mem0": read_mem0,
    "chatgpt": read_chatgpt,
    "claude": read_claude,
    "langgraph": read_langgraph,
    "letta": read_letta,
    "table": read_table,
}
KINDS = tuple(_READERS)
"""Kinds of exports that ``import_export`` reads."""


@dataclass(frozen=True, kw_only=True)
class Imported:
    """What an import gave: the store as a dataset without judgements, and the account of how it came about."""

    dataset: JudgedDataset
    report: ImportReport


def import_export(
    kind: str,
    paths: str | os.PathLike[str] | Iterable[str | os.PathLike[str]],
    *,
    user: str = "",
    at: datetime | str | None = None,
    name: str = "",
    licence: str = "not stated",
    skip_bad: bool = False,
    **options: Any,
) -> Imported:
    """Read one or several export files of one kind (``KINDS``) into stores.

    user: whose entries they all are, whatever the files say. at: time of entries that have none, usually that of the export.
    skip_bad: keep the good records and list the faulty ones; otherwise the first faulty one raises DataError with file, line
    and field. options: ``user_label`` for langgraph, ``mapping`` (a TableMapping) for table.
    """
    if not isinstance(kind, str) or kind not in _READERS:
        raise DataError(f"the kind of export is {shown(kind)}: must be one of {', '.join(KINDS)}")
    files = [Path(paths)] if isinstance(paths, (str, os.PathLike)) else [Path(path) for path in paths]
    if not files:
        raise DataError("no export file is given")
    intake = Intake(kind, user=user, at=at, skip_bad=skip_bad)
    digest = hashlib.sha256()
    for file in files:
        intake.files.append(str(file))
        _READERS[kind](file, intake, **options)
        try:
            digest.update(file_sha256(file).encode() + b"\n")
        except OSError as error:
            raise DataError(f"cannot read {file}: {error.strerror}") from None
    dataset = intake.dataset(name=name or f"{kind} import", licence=licence, checksum=digest.hexdigest())
    return Imported(dataset=dataset, report=intake.report())
