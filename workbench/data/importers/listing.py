"""Memories written out as plain text or Markdown, as assistants print them: one a line, with or without dates and headings.

What is read::

    # Preferences                             a heading; also **Preferences**, or a short line that ends in a colon
    *Recent months*                           a heading within the one above
    [2026-01-31] - Prefers short answers.     a date in brackets, or at the beginning before a dash or colon
    - Works on a kiln shed.                   list marks - * • and 1. or 1)
      It has a tin roof.                      an indented line, or one right behind a marked entry, goes on with it
    ```                                       code fences are taken off
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime

from workbench.entries import utc
from workbench.errors import DataError

_BULLET = re.compile(r"(?:[-*•‣–]|\d{1,4}[.)])\s+")
_BRACKET = re.compile(r"\[([^\[\]]{0,40})\]\s*(?:[-–—:.]+(?=\s|$))?\s*")
_BARE_DATE = re.compile(r"(\d{4}[-/]\d{2}[-/]\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2})?Z?)?)\s*[-–—:]+\s+", re.ASCII)
_HEADING = re.compile(r"#{1,6}\s+(.+?)\s*#*|\*\*([^*]+?):?\*\*:?|__([^_]+?):?__:?")
# a heading within a section: *Recent months*
_SUBHEADING = re.compile(r"\*([^*\s][^*]{0,57}[^*\s.!?:]):?\*:?")
# "Here is what I remember about you:"
_TALK = re.compile(
    r"\b(?:I|I'm|I've|you|your|me)\b|^(?:here|these|this|below|sure|of course|certainly|absolutely)\b", re.IGNORECASE
)
_FENCE = re.compile(r"(?:```|~~~)[\w+-]*\s*")
_NO_DATE = re.compile(r"(?:no|not|unknown|undated|date|n/?a|none|-|\?|unavailable|available|saved|recorded|\s)+", re.IGNORECASE)
_MONTHS = {
    name: number
    for number, names in enumerate(
        ("january jan", "february feb", "march mar", "april apr", "may", "june jun", "july jul", "august aug",
         "september sept sep", "october oct", "november nov", "december dec"), start=1,
    )
    for name in names.split()
}  # fmt: skip
_NAMED = re.compile(r"(?:([A-Za-z]+)\.?\s+(\d{1,2})(?:st|nd|rd|th)?|(\d{1,2})\.?\s+([A-Za-z]+)\.?),?\s+(\d{4})", re.ASCII)
_HEADING_LIMIT = 60


@dataclass(frozen=True, kw_only=True)
class Line:
    """One memory of a listing. line: where it begins, from 1. at: its date, None without one. section: heading above it."""

    line: int
    text: str
    at: datetime | None = None
    section: str = ""


@dataclass(frozen=True, kw_only=True)
class Aside:
    """A line that is no memory: talk around the list."""

    line: int
    text: str


def read_date(text: str) -> datetime | None:
    """A date as people and assistants write it (ISO, with slashes, ``May 1, 2026``, ``1 May 2026``), as UTC; else None."""
    clean = text.strip()
    named = _NAMED.fullmatch(clean)
    try:
        if named:
            month = _MONTHS.get((named[1] or named[4]).lower())
            return datetime(int(named[5]), month, int(named[2] or named[3]), tzinfo=UTC) if month else None
        if re.fullmatch(r"\d{4}/\d{2}/\d{2}.*", clean, re.ASCII):
            clean = clean.replace("/", "-", 2)
        return utc(clean) if re.match(r"\d{4}-\d{2}-\d{2}", clean, re.ASCII) else None
    except (ValueError, DataError):
        return None


def read_listing(text: str) -> Iterator[Line | Aside]:
    """The memories of a listing in order, and the lines around them.

    When at least half of the lines bear a list mark or a date, only those begin a memory, and what stands outside code fences
    (if there are any) or alone between blank lines is an ``Aside``. Otherwise every line is a memory, and so it is in a section
    without any mark. A sentence in front of it all that ends in a colon is an ``Aside``.
    """
    rows = list(enumerate(text.split("\n"), start=1))
    first = next((number for number, raw in rows if raw.strip() and not _FENCE.fullmatch(raw.strip())), 0)
    fences = [number for number, raw in rows if _FENCE.fullmatch(raw.strip())]
    inside = range(fences[0], fences[-1]) if len(fences) >= 2 else range(0)
    body = [raw for _, raw in rows if _is_body(raw)]
    listed = everywhere = 2 * sum(_marked(raw) for raw in body) >= len(body)
    section, top, pending, close = "", "", None, False
    for number, raw in rows:
        line = raw.strip()
        if not line or _FENCE.fullmatch(line):
            close = True
            continue
        if inside and number not in inside:
            yield from _done(pending)
            pending = None
            yield Aside(line=number, text=line)
            continue
        heading = _heading(raw)
        if heading is not None:
            yield from _done(pending)
            pending = None
            if not section and number == first and _TALK.match(heading):
                yield Aside(line=number, text=line)
                continue
            within = _SUBHEADING.fullmatch(line) is not None
            top = top if within else heading
            section = f"{top}: {heading}" if within and top else heading
            # prose under a heading of its own is no talk around a list
            own = _section_of(rows, number)
            listed = everywhere and (any(map(_marked, own)) or not own)
        elif _marked(raw) or not listed:
            if pending is not None and raw[:1].isspace() and not _BULLET.match(line) and not _dated(line) and not close:
                pending = _joined(pending, line)
            else:
                yield from _done(pending)
                pending = _entry(number, line, section)
        elif pending is not None and (not close or raw[:1].isspace()):
            pending = _joined(pending, line)
        else:
            yield from _done(pending)
            pending = None
            yield Aside(line=number, text=line)
        close = False
    yield from _done(pending)


def _is_body(raw: str) -> bool:
    return bool(raw.strip()) and _heading(raw) is None and not _FENCE.fullmatch(raw.strip())


def _section_of(rows: list[tuple[int, str]], heading: int) -> list[str]:
    """The lines from the heading in line ``heading`` (from 1) up to the next one."""
    own: list[str] = []
    for _, raw in rows[heading:]:
        if _heading(raw) is not None:
            break
        if _is_body(raw):
            own.append(raw)
    return own


def _done(pending: Line | None) -> Iterator[Line]:
    if pending is not None and pending.text:
        yield pending


def _joined(pending: Line, line: str) -> Line:
    return Line(line=pending.line, text=f"{pending.text}\n{line}".strip(), at=pending.at, section=pending.section)


def _heading(raw: str) -> str | None:
    line = raw.strip()
    found = _HEADING.fullmatch(line) or _SUBHEADING.fullmatch(line)
    if found:
        return next(part for part in found.groups() if part is not None).strip().rstrip(":")
    if line.endswith(":") and len(line) <= _HEADING_LIMIT and not _marked(raw) and not raw[:1].isspace():
        return line[:-1].strip()
    return None


def _dated(line: str) -> bool:
    found = _BRACKET.match(line)
    if found and (read_date(found[1]) is not None or _NO_DATE.fullmatch(found[1])):
        return True
    bare = _BARE_DATE.match(line)
    return bare is not None and read_date(bare[1]) is not None


def _marked(raw: str) -> bool:
    line = raw.strip()
    return _BULLET.match(line) is not None or _dated(line)


def _entry(number: int, line: str, section: str) -> Line:
    bullet = _BULLET.match(line)
    rest = line[bullet.end() :] if bullet else line
    at = None
    if _dated(rest):
        bracket = _BRACKET.match(rest)
        if bracket:
            at, rest = read_date(bracket[1]), rest[bracket.end() :]
        else:
            bare = _BARE_DATE.match(rest)
            if bare:
                at, rest = read_date(bare[1]), rest[bare.end() :]
    return Line(line=number, text=rest.strip(), at=at, section=section)
