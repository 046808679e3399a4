"""How many content keys of one sentence occur in another: counted for all pairs of a pool at once."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from workbench.assembly.conflict_bits import ROLES
from workbench.assembly.conflict_features import RuleFeatures

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float32]


def spread(starts: Ints, sizes: Ints) -> Ints:
    """The numbers ``starts[i] ... starts[i] + sizes[i] - 1`` of every i, one after the other."""
    ends = np.cumsum(sizes)
    total = int(ends[-1]) if ends.size else 0
    return np.arange(total) + np.repeat(starts - ends + sizes, sizes)


class Overlap:
    """Key counts of the sentences ``parts`` (ascending, distinct).

    What it counts is at least what `near` would say: keys of one kind count as equal. Built once for a pool; every question is
    about pairs of positions in ``parts``.
    """

    def __init__(self, features: RuleFeatures, parts: Ints) -> None:
        starts = features.first_key[parts]
        sizes = features.first_key[parts + 1] - starts
        keys = spread(starts, sizes)
        kinds, self._roles = features.kinds[keys], features.roles[keys]
        owner = np.repeat(np.arange(parts.size), sizes)
        order = np.argsort(kinds, kind="stable")
        sorted_kinds, sorted_owner = kinds[order], owner[order]
        new = np.empty(order.size, dtype=bool)
        new[:1] = True
        np.not_equal(sorted_kinds[1:], sorted_kinds[:-1], out=new[1:])
        group = np.cumsum(new) - 1
        # a kind that one sentence only has can match nothing: all of those share the last column
        several = np.zeros(int(group[-1]) + 1 if group.size else 0, dtype=bool)
        several[group[1:][~new[1:] & (sorted_owner[1:] != sorted_owner[:-1])]] = True
        self._n, self._width = parts.size, int(several.sum()) + 1
        column = np.where(several, np.cumsum(several) - 1, self._width - 1)
        place = np.empty(order.size, dtype=np.int64)
        place[order] = column[group]
        self._flat = owner * self._width + place
        self._any = np.zeros((self._n, self._width), dtype=np.float32)
        self._any.ravel()[self._flat] = 1.0
        self._any[:, -1] = 0.0
        self._table: Floats | None = None

    def common(self, starts: Ints) -> npt.NDArray[np.bool_]:
        """Whether texts have a key in common; their sentences begin at these positions. Shape (texts, texts)."""
        table = self._any
        if not np.array_equal(starts, np.arange(self._n)):
            held = np.flatnonzero(np.append(starts[1:], self._n) > starts)
            joined = np.zeros((starts.size, self._width), dtype=np.float32)
            joined[held] = np.add.reduceat(table, starts[held], axis=0)
            table = joined
        return np.asarray(table @ table.T > 0)

    def take(self, chosen: Ints) -> Overlap:
        """The same for some of the sentences (ascending positions)."""
        place = np.full(self._n, -1, dtype=np.int64)
        place[chosen] = np.arange(chosen.size)
        owner, column = np.divmod(self._flat, self._width)
        keys = np.flatnonzero(place[owner] >= 0)
        part = Overlap.__new__(Overlap)
        part._roles, part._n, part._width = self._roles[keys], chosen.size, self._width
        part._flat = place[owner[keys]] * self._width + column[keys]
        part._any, part._table = self._any[chosen], None
        return part

    @property
    def table(self) -> Floats:
        """How many keys each sentence has of each role and kind, shape (roles, n, kinds); the last role is "all"."""
        if self._table is None:
            size = self._n * self._width
            chosen = [np.flatnonzero(self._roles & bit) for bit in ROLES.values()]
            flat = [self._flat[keys] + at * size for at, keys in enumerate(chosen)]
            counts = np.bincount(np.concatenate([*flat, self._flat + len(ROLES) * size]), minlength=(len(ROLES) + 1) * size)
            self._table = counts.reshape(len(ROLES) + 1, self._n, self._width).astype(np.float32)
        return self._table

    def totals(self) -> Floats:
        """Number of keys of each role of each sentence; shape (roles, n)."""
        found: Floats = self.table.sum(axis=2)
        return found

    def matched(self, a: Ints, b: Ints) -> Floats:
        """How many keys of each role of every ``a`` occur in ``b``; shape (roles, pairs)."""
        table = self.table
        if a.size * 4 < self._n * self._n:
            found: Floats = np.einsum("rij,ij->ri", table[:, a], self._any[b])
            return found
        product: Floats = (table.reshape(-1, self._width) @ self._any.T).reshape(len(table), -1)
        return product[:, a * self._n + b]
