"""From an entry to its line in the prompt, and to the text that is indexed for it.

The two are apart on purpose: what helps a search find an entry (dates, topics) is not what a prompt should spend tokens on.
Each rendered entry is one line that begins with ``- `` and ends in a newline; with lines of this form the token count of a
section is the sum of the counts of its lines, under both encodings (a property test keeps it so).
"""

from __future__ import annotations

from datetime import datetime

from workbench.config import Templates
from workbench.entries import Episode, Memory, Procedure, SoulBlock
from workbench.text.escape import escape_line

_MONTHS = (
    "January", "February", "March", "April", "May", "June",
    "July", "August", "September", "October", "November", "December",
)  # fmt: skip


def long_date(moment: datetime) -> str:
    """8 May 2023, whatever the locale."""
    return f"{moment.day} {_MONTHS[moment.month - 1]} {moment.year}"


def indexed_text(entry: Memory | Episode | Procedure, templates: Templates) -> str:
    """The text that is embedded and keyword-searched for an entry; blank if the entry itself says nothing."""
    common = {"category": entry.category, "tags": " ".join(entry.tags), "source": entry.source}
    when = {"date": long_date(entry.changed_at), "iso_date": entry.changed_at.date().isoformat()}
    if isinstance(entry, Memory):
        if not entry.text.strip():
            return ""
        return templates.memories.format(text=entry.text, **common, **when)
    if isinstance(entry, Episode):
        parts = {"summary": entry.summary, "topics": ", ".join(entry.topics), "outcome": entry.outcome}
        if not "".join(parts.values()).strip():
            return ""
        return templates.episodes.format(**parts, **common, **when)
    steps = " ".join(entry.steps)
    if not (entry.name + steps).strip():
        return ""
    return templates.procedures.format(name=entry.name, steps=steps, **common)


def rendered_line(entry: Memory | Episode | Procedure) -> str:
    """The entry's line in the prompt, ending in a newline; blank entries give an empty string and are never shown."""
    if isinstance(entry, Memory):
        body = escape_line(entry.text)
    elif isinstance(entry, Episode):
        body = escape_line(entry.summary)
        outcome = escape_line(entry.outcome)
        if outcome:
            body = f"{body} → {outcome}" if body else outcome
        if body:
            body = f"{entry.occurred_at.date().isoformat()}: {body}"
    else:
        body = escape_line(entry.name)
        steps = [step for step in map(escape_line, entry.steps) if step]
        if steps:
            listed = " ".join(f"{number}) {step}" for number, step in enumerate(steps, start=1))
            body = f"{body}: {listed}" if body else listed
    return f"- {body}\n" if body else ""


def soul_line(block: SoulBlock) -> str:
    """A Soul block as one XML element on one line, e.g. ``<worldview>…</worldview>``; empty if it says nothing."""
    body = escape_line(block.text)
    return f"<{block.kind}>{body}</{block.kind}>\n" if body else ""
