"""Which data a report may quote: a report is made to be sent to others, so texts go in only where the licence says so."""

from __future__ import annotations

import re
from dataclasses import dataclass

_OPEN = re.compile(
    r"\b(?:apache|mit|bsd|isc|unlicense|public domain|pddl|odbl|odc-by|cc0|cc[ -]by(?:[ -]sa)?)\b(?![ -]*(?:nc|nd)\b)",
    re.IGNORECASE,
)
_CLOSED = re.compile(
    r"(?:\bcc[ -]by[ -](?:nc|nd)|\bnc\b|\bnd\b|non-?commercial|no-?deriv|proprietary|all rights reserved)", re.IGNORECASE
)


@dataclass(frozen=True, kw_only=True)
class Permission:
    """Whether texts of a dataset may stand in a report, and why."""

    allowed: bool
    reason: str


def may_quote(licence: str | None, *, own: bool = False) -> Permission:
    """Whether a report may show texts under ``licence``. own: the user says that the data are theirs to show.

    A licence that forbids commercial use or derivatives is never overruled: whoever gets the report need not be bound by it.
    """
    text = " ".join((licence or "").split())
    if _CLOSED.search(text):
        return Permission(allowed=False, reason=f"the licence of the data ({text}) does not let a report pass their texts on")
    if _OPEN.search(text):
        return Permission(allowed=True, reason=f"the licence of the data is {text}")
    said = f"the licence of the data is recorded as {text!r}" if text else "no licence of the data is recorded"
    if own:
        return Permission(allowed=True, reason=f"{said}; whoever made the report said that the texts may be shown")
    return Permission(allowed=False, reason=f"{said}; --prompts shows the texts of data that are yours to show")
