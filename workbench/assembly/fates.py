"""What became of an entry in one assembly. Recorded by each stage as it happens, never read back from the prompt."""

from __future__ import annotations

from enum import IntEnum


class Fate(IntEnum):
    """The stages in order; the number is what the arrays carry."""

    NOT_RETRIEVED = 0
    OVER_CAP = 1
    DUPLICATE = 2
    SUPERSEDED = 3
    BELOW_MINIMUM = 4
    OVER_BUDGET = 5
    SELECTED = 6

    @property
    def label(self) -> str:
        """The words used in tables and reports."""
        return _LABELS[self]


_LABELS = {
    Fate.NOT_RETRIEVED: "not retrieved",
    Fate.OVER_CAP: "over the cap",
    Fate.DUPLICATE: "duplicate",
    Fate.SUPERSEDED: "superseded",
    Fate.BELOW_MINIMUM: "below minimum score",
    Fate.OVER_BUDGET: "over budget",
    Fate.SELECTED: "selected",
}
