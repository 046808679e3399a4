"""How similar conflicting, equal and compatible statements are under one encoder, and the band that follows from it.

Cosine only proposes pairs; the conflict test decides. The band says which pairs are worth proposing, and from where on a pair
that is no conflict may be called a duplicate:

- lower end: the 5th percentile of the cosines of labelled conflicts, rounded down to 0.01, so that 95 % of them are proposed;
- upper end: the smallest threshold of `THRESHOLDS` from which on, at it and at every higher one that selects at least
  `FEWEST` pairs, at least `WANTED` of the selected pairs that the test does not flag are duplicates; None if there is none.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from workbench.assembly.conflict_test import DUPLICATE, ConflictTest, FloatArray, IntArray
from workbench.embedding.encoder import Encoder, check_encoder, checked_encode
from workbench.experiments.conflict_pairs import LABELS, LabelledPair
from workbench.experiments.conflict_score import Share

PERCENTILES = (5, 25, 50, 75, 95)
"""Percentiles of the cosine that are kept, linear between order statistics."""
THRESHOLDS = tuple(round(0.80 + 0.01 * step, 2) for step in range(19))
"""Duplicate thresholds that are tried: 0.80 to 0.98."""
FEWEST = 5
WANTED = 0.9


@dataclass(frozen=True, kw_only=True)
class DuplicateRow:
    """What lies at or above one cosine.

    Attributes:
        threshold: the cosine.
        selected: pairs at or above it.
        flagged: those the test calls conflicts.
        duplicates: of the others, labelled duplicates among all; n is the number of others.
        guarded: the same among those that `relation` calls duplicates; None if the test has no such method.
    """

    threshold: float
    selected: int
    flagged: int
    duplicates: Share
    guarded: Share | None

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON values."""
        return {
            "threshold": self.threshold,
            "selected": self.selected,
            "flagged": self.flagged,
            "duplicates": self.duplicates.to_dict(),
            "guarded": self.guarded.to_dict() if self.guarded else None,
        }


@dataclass(frozen=True, kw_only=True)
class SimilarityProfile:
    """Cosines of labelled pairs under one encoder.

    Attributes:
        encoder: its name.
        percentiles: label -> cosines at `PERCENTILES`; labels without pairs are left out.
        band: the band whose share was asked for, or the recommended one.
        inside: share of the conflicts whose cosine lies in `band`.
        proposed: share of the conflicts at or above its lower end (pairs above the band are tested too).
        recommended: (lower, upper) by the rule of this module; an end that the data do not give is None.
        rows: what lies above each of `THRESHOLDS`.
    """

    encoder: str
    percentiles: dict[str, tuple[float, ...]]
    band: tuple[float, float] | None
    inside: Share | None
    proposed: Share | None
    recommended: tuple[float | None, float | None]
    rows: tuple[DuplicateRow, ...]

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON values."""
        return {
            "encoder": self.encoder,
            "percentiles": {
                label: dict(zip(map(str, PERCENTILES), values, strict=True)) for label, values in self.percentiles.items()
            },
            "band": list(self.band) if self.band else None,
            "inside": self.inside.to_dict() if self.inside else None,
            "proposed": self.proposed.to_dict() if self.proposed else None,
            "recommended": list(self.recommended),
            "rows": [row.to_dict() for row in self.rows],
        }


def pair_cosines(pairs: Sequence[LabelledPair], encoder: Encoder) -> FloatArray:
    """Cosine of each pair to 6 digits, shape (n,), in [-1, 1].

    Raises ConfigError or StoreError for an encoder that does not fit.
    """
    check_encoder(encoder)
    left = checked_encode(encoder, [pair.a for pair in pairs]).astype(np.float64)
    right = checked_encode(encoder, [pair.b for pair in pairs]).astype(np.float64)
    return np.asarray(np.clip(np.round(np.einsum("ij,ij->i", left, right), 6), -1.0, 1.0))


def profile(
    pairs: Sequence[LabelledPair],
    cosines: FloatArray,
    codes: IntArray,
    features: Any,
    test: ConflictTest,
    encoder: str,
    band: tuple[float, float] | None,
) -> SimilarityProfile:
    """Distribution of `cosines`, the duplicates above each threshold, and the recommended band.

    Args:
        pairs: n labelled pairs.
        cosines: shape (n,).
        codes: shape (n,), what `test.decide` gave; 0 is no conflict.
        features: of the statements, a and b of each pair in turn.
        test: the conflict test; its `relation` is used if it has one.
        encoder: name of the encoder.
        band: band whose share of the conflicts to give; None takes the recommended one, if it has both ends.
    """
    labels = np.array([pair.label for pair in pairs])
    spread = {
        label: tuple(round(float(value), 4) for value in np.percentile(cosines[labels == label], PERCENTILES))
        for label in LABELS
        if (labels == label).any()
    }
    rows = tuple(_row(threshold, cosines, codes, labels, features, test) for threshold in THRESHOLDS)
    lower = math.floor(spread["conflict"][0] * 100 + 1e-9) / 100 if "conflict" in spread else None
    recommended = (lower, _upper(rows))
    if band is None and recommended[0] is not None and recommended[1] is not None:
        band = (recommended[0], recommended[1])
    inside = proposed = None
    if band is not None and "conflict" in spread:
        mine = cosines[labels == "conflict"]
        inside = Share(int(((mine >= band[0]) & (mine <= band[1])).sum()), int(mine.size))
        proposed = Share(int((mine >= band[0]).sum()), int(mine.size))
    return SimilarityProfile(
        encoder=encoder, percentiles=spread, band=band, inside=inside, proposed=proposed, recommended=recommended, rows=rows
    )


def _row(threshold: float, cosines: FloatArray, codes: IntArray, labels: Any, features: Any, test: ConflictTest) -> DuplicateRow:
    above = cosines >= threshold
    quiet = above & (codes == 0)
    equal = labels == "duplicate"
    guarded = None
    if hasattr(test, "relation"):
        rows = np.arange(cosines.size, dtype=np.int64)
        said = test.relation(features, 2 * rows, 2 * rows + 1, cosines, duplicate_at=threshold) == DUPLICATE
        guarded = Share(int((said & equal).sum()), int(said.sum()))
    return DuplicateRow(
        threshold=threshold,
        selected=int(above.sum()),
        flagged=int((above & (codes != 0)).sum()),
        duplicates=Share(int((quiet & equal).sum()), int(quiet.sum())),
        guarded=guarded,
    )


def _upper(rows: Sequence[DuplicateRow]) -> float | None:
    best = None
    for row in reversed(rows):
        share = row.duplicates.value
        if row.duplicates.n < FEWEST or share is None:
            continue
        if share < WANTED:
            break
        best = row.threshold
    return best
