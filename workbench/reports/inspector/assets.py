"""The inspector's script and style sheet; the script is one ES module put together from its parts, loading nothing."""

from __future__ import annotations

from functools import cache
from importlib.resources import files

_PARTS = ("dom.js", "controls.js", "summary.js", "prompt.js", "table.js", "mount.js")


@cache
def script() -> str:
    """The module: default export for anywidget, and ``mountAll`` for pages."""
    return "\n".join(_read(name).strip() for name in _PARTS) + "\n"


@cache
def style() -> str:
    """The style sheet; every rule is confined to ``.wb-inspector``."""
    return _read("inspector.css").strip() + "\n"


@cache
def page_style() -> str:
    """What a page of its own needs around the inspector."""
    return _read("page.css").strip() + "\n"


def _read(name: str) -> str:
    return (files(__package__) / "assets" / name).read_text(encoding="utf-8")
