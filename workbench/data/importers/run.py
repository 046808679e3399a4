"""One import from the command line's words to a folder on disk, with its account beside it."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from workbench.data.atomic import fresh_file
from workbench.data.conversations import load_conversations
from workbench.data.importers import KINDS, import_export
from workbench.data.importers.table import TableMapping
from workbench.data.saving import save_directory
from workbench.data.strict_json import shown
from workbench.errors import DataError

CONVERSATIONS = "conversations"
REPORT_SUFFIX = ".import-report.json"


def settings_of(
    kind: str,
    *,
    mapped: Iterable[str] = (),
    constants: Iterable[str] = (),
    scales: Iterable[str] = (),
    separator: str = ";",
    table: str = "",
    user_label: int | None = None,
) -> dict[str, Any]:
    """Options of one kind of import from ``name=value`` words. Raises DataError for an option the kind does not have."""
    given = {"--map": list(mapped), "--set": list(constants), "--scale": list(scales), "--table": table}
    allowed = {"table": set(given), CONVERSATIONS: {"--map"}}.get(kind, set())
    for option, value in given.items():
        if value and option not in allowed:
            raise DataError(f"{option} is an option of table imports" + " and conversations" * (option == "--map"))
    if user_label is not None and kind != "langgraph":
        raise DataError("--user-label is an option of langgraph imports")
    if kind == CONVERSATIONS:
        return {"names": dict(map(_pair, given["--map"]))}
    if kind == "table":
        divided = {}
        for name, value in map(_pair, given["--scale"]):
            try:
                divided[name] = float(value)
            except ValueError:
                raise DataError(f"--scale {name}={value}: must be a number, such as importance=10") from None
        columns, fixed = (dict(map(_pair, given[option])) for option in ("--map", "--set"))
        return {"mapping": TableMapping(columns=columns, constants=fixed, scales=divided, separator=separator, table=table)}
    return {"user_label": user_label} if kind == "langgraph" else {}


def _pair(word: str) -> tuple[str, str]:
    name, sign, value = word.partition("=")
    if not sign or not name.strip():
        raise DataError(f"{shown(word)} must be of the form name=value")
    return name.strip(), value


def import_to(
    kind: str,
    files: Sequence[Path],
    out: str | os.PathLike[str],
    *,
    user: str = "",
    at: datetime | str | None = None,
    skip_bad: bool = False,
    name: str = "",
    licence: str = "not stated",
    report: Path | None = None,
    **options: Any,
) -> tuple[str, Path]:
    """Import ``files`` and write the store to ``out`` (JSONL layout) and the account beside it.

    The account is ``report``, or ``<out>.import-report.json``. Returns the account as text, and the store's directory.
    Raises DataError.
    """
    target = Path(out)
    if kind == CONVERSATIONS:
        if len(files) != 1:
            raise DataError(f"{len(files)} files are given; conversations come in one file")
        if user or at is not None:
            raise DataError("--user and --at are no options of conversations: every conversation is a user, and has its times")
        dataset = load_conversations(files[0], name=name, licence=licence, skip_bad=skip_bad, **options)
        counts = "\n".join(f"  {count:>7} x {what}" for what, count in dataset.notes.items())
        return f"import of {kind}: {files[0]}\n{dataset}\n{counts}", save_directory(dataset, target)
    if kind not in KINDS:
        raise DataError(f"the kind of export is {shown(kind)}: must be one of {', '.join((*KINDS, CONVERSATIONS))}")
    found = import_export(kind, files, user=user, at=at, name=name, licence=licence, skip_bad=skip_bad, **options)
    account = json.dumps(found.report.to_dict(), indent=2, ensure_ascii=False, allow_nan=False) + "\n"
    beside = target.resolve().with_name(target.resolve().name + REPORT_SUFFIX)
    with fresh_file(report or beside, replaces=_is_report) as (spare, place):
        spare.write_text(account, encoding="utf-8")
        directory = save_directory(found.dataset, target)
    return f"{found.report}\n  all of this is in {place}", directory


def _is_report(path: Path) -> bool:
    """Whether a file is an account of an earlier import, which may be replaced."""
    try:
        value = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError):
        return False
    return isinstance(value, dict) and {"kind", "files", "records", "guessed", "refused"} <= set(value)
