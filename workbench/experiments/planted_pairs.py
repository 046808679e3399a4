"""What the conflict and duplicate stages make of pairs of entries whose relation is known."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from workbench.assembly.assembler import Assembler
from workbench.config import AssemblyConfig
from workbench.data.judged import JudgedDataset
from workbench.data.synthetic.draft import Planted
from workbench.search.merge import exact_cosines
from workbench.store.snapshot import Snapshot

# What is right for a pair of each kind.
_WANTED = {
    "superseded": "conflict", "contradiction": "conflict", "duplicate": "duplicate", "lookalike": "apart", "family": "apart",
    "recurring": "apart",
}  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class PairCheck:
    """Pairs of one kind: how many, and how many the stages take for a conflict, for a duplicate, or leave apart.

    marked: pairs whose older side the store already marks as superseded, so that it is never found (not among ``n``).
    below_band: pairs too dissimilar to be tested for conflict (they count as apart).
    """

    kind: str
    wanted: str
    n: int
    conflict: int
    duplicate: int
    apart: int
    below_band: int
    marked: int

    @property
    def right(self) -> int:
        """Pairs that are taken for what they are."""
        return {"conflict": self.conflict, "duplicate": self.duplicate, "apart": self.apart}[self.wanted]

    def to_dict(self) -> dict[str, Any]:
        """Strict JSON values."""
        return {
            "kind": self.kind, "wanted": self.wanted, "n": self.n, "right": self.right, "conflict": self.conflict,
            "duplicate": self.duplicate, "apart": self.apart, "below_band": self.below_band, "marked": self.marked,
        }  # fmt: skip

    def __str__(self) -> str:
        share = f"{100 * self.right / self.n:.0f} %" if self.n else "-"
        marked = f"; {self.marked} more marked in the store" if self.marked else ""
        return (
            f"{self.kind:<14}{self.right:>5} of {self.n:<5} taken for {self.wanted} ({share}); conflict {self.conflict}, "
            f"duplicate {self.duplicate}, apart {self.apart} (below the band {self.below_band}){marked}"
        )


def check_pairs(
    dataset: JudgedDataset, assemblers: Mapping[str, Assembler], config: AssemblyConfig, planted: Sequence[Planted] = ()
) -> tuple[PairCheck, ...]:
    """Check the pairs of ``planted`` (or of the judged queries, where nothing is planted) of the users with an assembler."""
    pairs: dict[str, list[tuple[str, str, str]]] = {}
    for kind, user_id, newer, older in _planted(planted) if planted else _judged(dataset):
        if user_id in assemblers:
            pairs.setdefault(kind, []).append((user_id, newer, older))
    return tuple(_check(kind, pairs[kind], assemblers, config) for kind in _WANTED if kind in pairs)


def _planted(planted: Sequence[Planted]) -> Iterator[tuple[str, str, str, str]]:
    for label in planted:
        if label.kind not in _WANTED:
            continue
        entries = label.entries
        chosen = combinations(entries, 2) if _WANTED[label.kind] == "apart" else ((entries[0], other) for other in entries[1:])
        for (user_id, first), (_, second) in chosen:
            yield label.kind, user_id, first, second


def _judged(dataset: JudgedDataset) -> Iterator[tuple[str, str, str, str]]:
    seen = set()
    for query in dataset.queries:
        found = [("superseded", newer, older) for newer in query.relevant for older in query.forbidden]
        found += [("duplicate", group[0], other) for group in query.duplicates for other in group[1:]]
        for kind, newer, older in found:
            if (kind, query.user_id, newer, older) not in seen:
                seen.add((kind, query.user_id, newer, older))
                yield kind, query.user_id, newer, older


def _check(
    kind: str, pairs: Sequence[tuple[str, str, str]], assemblers: Mapping[str, Assembler], config: AssemblyConfig
) -> PairCheck:
    counts = {"conflict": 0, "duplicate": 0, "apart": 0, "below_band": 0, "marked": 0}
    for user_id in dict.fromkeys(user for user, _, _ in pairs):
        assembler = assemblers[user_id]
        settings = assembler.settings(config=config)
        snapshot = assembler.snapshot(settings)
        own = [(snapshot.row_of[a], snapshot.row_of[b]) for user, a, b in pairs if user == user_id]
        live = [(a, b) for a, b in own if snapshot.searchable[a] and snapshot.searchable[b]]
        counts["marked"] += len(own) - len(live)
        if live:
            _count(counts, assembler, snapshot, np.array(live, dtype=np.int64), settings)
    return PairCheck(
        kind=kind,
        wanted=_WANTED[kind],
        n=len(pairs) - counts["marked"],
        **counts,
    )


def _count(counts: dict[str, int], assembler: Assembler, snapshot: Snapshot, pairs: np.ndarray, settings: AssemblyConfig) -> None:
    left, right = pairs[:, 0], pairs[:, 1]
    cosine = exact_cosines(snapshot, left, right)
    low = settings.conflict_band[0] if settings.conflict_band else 0.0
    threshold = settings.duplicate_threshold if settings.duplicate_threshold is not None else 1.0
    same = snapshot.text_key[left] == snapshot.text_key[right]
    episodes = (left >= snapshot.bounds[1]) & (left < snapshot.bounds[2])
    other_day = episodes & (snapshot.day[left] != snapshot.day[right])
    conflict = (assembler.conflict_test.decide(snapshot.conflict_features, left, right, cosine) != 0) & (cosine >= low) & ~same
    duplicate = ~conflict & (same | (cosine >= threshold)) & ~other_day
    counts["conflict"] += int(conflict.sum())
    counts["duplicate"] += int(duplicate.sum())
    counts["apart"] += int((~conflict & ~duplicate).sum())
    counts["below_band"] += int((~duplicate & ~conflict & (cosine < low)).sum())
