"""Names and texts that users gave, made safe to show: printable, one line, of bearable length, without paths of the machine."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence

from workbench.text.escape import one_line

# What neither XML 1.0 nor a UTF-8 file can hold, apart from the line breaks of a text of several lines.
_UNPRINTABLE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
_DIRECTIONAL = frozenset({"R", "AL", "AN", "RLE", "RLO", "RLI", "LRE", "LRO", "LRI", "FSI", "PDF", "PDI"})
# A path that starts at a root of this machine: /a/b, ~/b, C:\a\b, \\host\b. URLs (//) and single names (/day) are none.
_PATH = re.compile(
    r"(?<![\w.~/:\\-])(?:file://+|~[\w.-]*/|/(?=[^\s/]+/)|[A-Za-z]:[\\/]|\\\\)(?:[^\s/\\\"'<>|:;,=]+[\\/])*([^\s/\\\"'<>|:;,=]*)"
)
_ROOTED = re.compile(r"(?:file://+|~[\w.-]*[\\/]|/|[A-Za-z]:[\\/]|\\\\)(?=[^\s/\\])(?:.*[\\/])?(?P<name>[^\\/]+)[\\/]*")

_ABOVE = re.compile(r"\.\.[\\/](?:.*[\\/])?(?P<name>[^\\/]+)[\\/]*")


def printable(text: str) -> str:
    """``text`` with the characters that no HTML, SVG or terminal should get replaced by U+FFFD; line breaks and tabs stay."""
    return _UNPRINTABLE.sub("\ufffd", text)


def label(name: object) -> str:
    """A name as shown: one printable line, never empty; right-to-left names are isolated from what stands around them."""
    text = printable(one_line(str(name)))
    if not text:
        return "(blank)"
    if any(unicodedata.bidirectional(character) in _DIRECTIONAL for character in text):
        return f"\u2068{text}\u2069"
    return text


def columns(text: str) -> int:
    """Width of ``text`` in columns of a fixed-width font: wide characters count 2, combining ones 0."""
    return sum(
        0 if unicodedata.combining(character) else 2 if unicodedata.east_asian_width(character) in "WF" else 1
        for character in text
    )


def short(name: object, width: int = 30) -> str:
    """``label(name)`` cut to ``width`` columns in its middle, because names often differ at their end."""
    text = label(name)
    if columns(text) <= width:
        return text
    head, tail = text, text
    while columns(head) > (width - 1) * 2 // 3:
        head = head[:-1]
    while columns(tail) > width - 1 - columns(head):
        tail = tail[1:]
    return f"{head}…{tail}"


def portable(text: str) -> str:
    """``text`` with every absolute path cut to its last part (``…/name``): a report may be sent to others."""
    whole = _ROOTED.fullmatch(text)
    return f"…/{whole['name']}" if whole else _PATH.sub(lambda match: f"…/{match[1]}", text)


def portable_command(words: Iterable[object]) -> list[str]:
    """The words of a command, printable, with absolute paths and those above the working folder cut to their last part, in
    ``--option=/path`` too."""
    shown = []
    for word in words:
        option, equals, value = str(word).partition("=")
        if not (equals and option.startswith("-")):
            option, equals, value = "", "", str(word)
        rooted = _ROOTED.fullmatch(value) or _ABOVE.fullmatch(value)
        shown.append(printable(f"{option}{equals}…/{rooted['name']}" if rooted else f"{option}{equals}{value}"))
    return shown


def ordered(names: Iterable[str], first: Sequence[str]) -> tuple[str, ...]:
    """Names in the order of ``first``; those that are not in it follow, numbers inside names by size (2 before 10)."""
    rank = {name: position for position, name in enumerate(first)}
    return tuple(sorted(names, key=lambda name: (rank.get(name, len(rank)), natural(name))))


def natural(name: str) -> tuple[tuple[int, int, str], ...]:
    """Sort key that puts ``2`` before ``10``."""
    parts = re.split(r"([0-9]+)", name)
    return tuple((0, int(part), part) if part.isdecimal() and part.isascii() else (1, 0, part) for part in parts)


def listed(items: Sequence[str], *, most: int | None = None) -> str:
    """``a, b and c``; beyond ``most`` items ``a, b and 7 more``."""
    if most is not None and len(items) > most:
        return f"{', '.join(items[:most])} and {len(items) - most} more"
    return items[0] if len(items) == 1 else f"{', '.join(items[:-1])} and {items[-1]}" if items else ""
