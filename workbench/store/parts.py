"""What compiling a store computes per entry, kept so that a store with a few more entries reuses the rest."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from workbench.entries import Entry

V = TypeVar("V")


@dataclass(frozen=True)
class Column:
    """One value per entry, and the settings it depends on."""

    settings: tuple[Any, ...]
    values: Sequence[Any] | npt.NDArray[Any]


@dataclass(frozen=True)
class Parts:
    """The columns of one compiled store; entries are told apart as objects, since they never change."""

    entries: tuple[Entry, ...]
    columns: dict[str, Column]


@dataclass
class PartsBuilder:
    """Makes columns for ``entries``, taking over what ``before`` holds for the same entries under the same settings.

    fresh: how many values of each column had to be computed.
    """

    entries: tuple[Entry, ...]
    before: Parts | None
    fresh: dict[str, int] = field(default_factory=dict)
    _columns: dict[str, Column] = field(default_factory=dict)

    def __post_init__(self) -> None:
        known = {id(entry): row for row, entry in enumerate(self.before.entries)} if self.before else {}
        self._old = np.array([known.get(id(entry), -1) for entry in self.entries], dtype=np.int64)

    def _known(self, name: str, settings: tuple[Any, ...]) -> Column | None:
        column = self.before.columns.get(name) if self.before else None
        return column if column is not None and column.settings == settings else None

    def column(self, name: str, settings: tuple[Any, ...], compute: Callable[[int], V]) -> list[V]:
        """A list with one value per entry; ``compute(row)`` is asked for those not known."""
        known = self._known(name, settings)
        if known is None:
            values = [compute(row) for row in range(len(self.entries))]
            self.fresh[name] = len(values)
        else:
            old = known.values
            values = [old[at] if at >= 0 else compute(row) for row, at in enumerate(self._old.tolist())]
            self.fresh[name] = int((self._old < 0).sum())
        self._columns[name] = Column(settings, values)
        return values

    def array(
        self, name: str, settings: tuple[Any, ...], wanted: npt.NDArray[np.int64], out: npt.NDArray[Any],
        compute: Callable[[npt.NDArray[np.int64]], npt.NDArray[Any]],
    ) -> None:  # fmt: skip
        """Fills the rows ``wanted`` of ``out``; ``compute(rows)`` is asked for those not known, all at once."""
        known = self._known(name, settings)
        old = self._old[wanted] if known is not None else np.full(wanted.size, -1, dtype=np.int64)
        if known is not None:
            out[wanted[old >= 0]] = np.asarray(known.values)[old[old >= 0]]
        missing = wanted[old < 0]
        self.fresh[name] = self.fresh.get(name, 0) + int(missing.size)
        if missing.size:
            out[missing] = compute(missing)
        self._columns[name] = Column(settings, out)

    def done(self) -> Parts:
        """What the next store may take over."""
        return Parts(self.entries, self._columns)
