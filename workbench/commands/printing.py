"""How commands print results: as wide as they are into files and pipes, in parts that fit on a screen."""

from __future__ import annotations

import os
import shutil
import sys
import textwrap
from collections.abc import Iterable

import typer

from workbench.columns import fitted, wrapped

_LEAST = 40


def columns(*, err: bool = False) -> int | None:
    """Columns of the screen, or of ``COLUMNS`` where that is set; None for a file or a pipe. err: of standard error."""
    asked = os.environ.get("COLUMNS", "")
    if not (sys.stderr if err else sys.stdout).isatty() and not asked.isdecimal():
        return None
    return max(_LEAST, shutil.get_terminal_size().columns)


def say(*results: object, err: bool = False) -> None:
    """Print results by their texts, on standard error if ``err``."""
    with fitted(columns(err=err)):
        for result in results:
            typer.echo(wrapped(str(result)), err=err)


def describe(pairs: Iterable[tuple[str, str]]) -> None:
    """Print names with a text each, the texts below each other."""
    rows = list(pairs)
    indent = max((len(name) for name, _ in rows), default=0) + 2
    width = columns()
    for name, text in rows:
        lines = [text]
        if width is not None and width > indent + _LEAST // 2:
            lines = textwrap.wrap(text, width - indent, break_long_words=False, break_on_hyphens=False) or [""]
        typer.echo(
            "\n".join(
                f"{first:<{indent}}{line}".rstrip() for first, line in zip([name, *[""] * (len(lines) - 1)], lines, strict=True)
            )
        )
