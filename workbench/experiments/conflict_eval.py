"""Measures a conflict test on hand-labelled pairs, and an encoder's cosines on the same pairs."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from workbench.assembly.conflict_rules import RuleConflictTest
from workbench.assembly.conflict_test import ConflictTest, IntArray
from workbench.embedding.encoder import Encoder
from workbench.errors import ConfigError
from workbench.experiments.conflict_pairs import LABELS, LabelledPair, read_pairs
from workbench.experiments.conflict_score import Score, Share
from workbench.experiments.conflict_similarity import PERCENTILES, WANTED, SimilarityProfile, pair_cosines, profile
from workbench.tabular import Tabular

if TYPE_CHECKING:
    from workbench.reports.cells import Table


@dataclass(frozen=True, kw_only=True)
class KindRow:
    """One kind of pairs.

    Attributes:
        label: the label of its pairs (a kind with several labels has one row each).
        kind: its name.
        flagged: share that was flagged: the recall of a kind of conflicts, the false alarms of any other.
    """

    label: str
    kind: str
    flagged: Share


@dataclass(frozen=True, kw_only=True, repr=False)
class ConflictEvaluation(Tabular):
    """How well a test tells conflicts from other pairs.

    Attributes:
        source: name of the file.
        test: name of the conflict test.
        overall: counts over all pairs.
        by_language: language -> counts.
        by_kind: one row per label and kind, conflicts first.
        false_alarms: label -> share flagged, for duplicates and compatible pairs.
        reasons: reason -> number of flagged pairs.
        missed: ids of conflicts that were not flagged, in file order.
        wrong: ids of other pairs that were flagged, in file order.
        similarity: cosines under an encoder, if one was given.
    """

    source: str
    test: str
    overall: Score
    by_language: dict[str, Score]
    by_kind: tuple[KindRow, ...]
    false_alarms: dict[str, Share]
    reasons: dict[str, int]
    missed: tuple[str, ...]
    wrong: tuple[str, ...]
    similarity: SimilarityProfile | None = None

    def to_dict(self) -> dict[str, Any]:
        """Everything as strict JSON values; undefined shares are null."""
        return {
            "source": self.source,
            "test": self.test,
            "overall": self.overall.to_dict(),
            "by_language": {language: score.to_dict() for language, score in self.by_language.items()},
            "by_kind": [{"label": row.label, "kind": row.kind, **row.flagged.to_dict()} for row in self.by_kind],
            "false_alarms": {label: share.to_dict() for label, share in self.false_alarms.items()},
            "reasons": dict(self.reasons),
            "missed": list(self.missed),
            "wrong": list(self.wrong),
            "similarity": self.similarity.to_dict() if self.similarity else None,
        }

    def tables(self) -> tuple[Table, ...]:
        """The result as tables; see ``Tabular``."""
        from workbench.reports.tables_of import conflicts

        return conflicts(self)

    def __str__(self) -> str:
        """A table for the terminal; intervals are 95 % Wilson intervals."""
        lines = [
            f"Conflict test {self.test} on {self.source}: n = {self.overall.n}; shares with 95 % Wilson intervals, hits/n",
            "",
            _score_line("all", self.overall),
            *(_score_line(language, score) for language, score in self.by_language.items()),
            "",
            "false alarms",
            *(f"  {label:<18} {share}" for label, share in self.false_alarms.items()),
        ]
        for label in LABELS:
            rows = [row for row in self.by_kind if row.label == label]
            if rows:
                lines += ["", f"{label}: share flagged" + (" (recall)" if label == "conflict" else " (false alarms)")]
                lines += [f"  {row.kind:<18} {row.flagged}" for row in rows]
        lines += ["", "reasons: " + (", ".join(f"{reason} {count}" for reason, count in self.reasons.items()) or "none")]
        if self.similarity is not None:
            lines += ["", *_similarity_lines(self.similarity)]
        return "\n".join(lines)


def evaluate_conflicts(
    path: str | os.PathLike[str],
    *,
    encoder: Encoder | None = None,
    band: tuple[float, float] | None = None,
    test: ConflictTest | None = None,
) -> ConflictEvaluation:
    """Runs a conflict test over every pair of a JSONL file.

    Every pair is judged, whatever its cosine: the similarity gate is measured apart, under `encoder`.

    Args:
        path: see `read_pairs`.
        encoder: also measures its cosines and recommends a band (the rule is in `conflict_similarity`).
        band: band whose share of the conflicts to give, instead of the recommended one's; needs an encoder.
        test: the conflict test; None takes the rule-based one.

    Raises:
        DataError: the file is malformed; the message names the line.
        ConfigError: `band` is no pair of rising cosines or comes without an encoder.
    """
    _check_band(band, encoder)
    pairs = read_pairs(path)
    test = test if test is not None else RuleConflictTest()
    features = test.features([text for pair in pairs for text in (pair.a, pair.b)])
    rows = np.arange(len(pairs), dtype=np.int64)
    cosines = pair_cosines(pairs, encoder) if encoder is not None else np.ones(len(pairs))
    codes = np.asarray(test.decide(features, 2 * rows, 2 * rows + 1, cosines))
    similarity = None
    if encoder is not None:
        similarity = profile(pairs, cosines, codes, features, test, encoder.name, band)
    flagged = codes != 0
    groups = sorted({(LABELS.index(pair.label), pair.kind) for pair in pairs})
    return ConflictEvaluation(
        source=Path(path).name,
        test=test.name,
        overall=_score(pairs, flagged),
        by_language={language: _score(pairs, flagged, lang=language) for language in sorted({pair.lang for pair in pairs})},
        by_kind=tuple(
            KindRow(label=LABELS[label], kind=kind, flagged=_share(pairs, flagged, LABELS[label], kind)) for label, kind in groups
        ),
        false_alarms={label: _share(pairs, flagged, label) for label in LABELS[1:]},
        reasons=dict(sorted(Counter(test.reasons[int(code)] for code in codes[flagged]).items())),
        missed=tuple(p.id for p, hit in zip(pairs, flagged, strict=True) if p.label == "conflict" and not hit),
        wrong=tuple(p.id for p, hit in zip(pairs, flagged, strict=True) if p.label != "conflict" and hit),
        similarity=similarity,
    )


def _check_band(band: tuple[float, float] | None, encoder: Encoder | None) -> None:
    if band is None:
        return
    ends = tuple(band) if isinstance(band, Sequence) and not isinstance(band, str) else ()
    numeric = all(isinstance(end, int | float) and not isinstance(end, bool) for end in ends)
    if len(ends) != 2 or not numeric or not -1 <= ends[0] <= ends[1] <= 1:
        raise ConfigError(f"band is {band!r}: must be two cosines in [-1, 1], the lower first, such as (0.34, 0.96)")
    if encoder is None:
        raise ConfigError(f"band {band!r} needs an encoder whose cosines it bounds; pass encoder=")


def _score(pairs: Sequence[LabelledPair], flagged: IntArray, lang: str | None = None) -> Score:
    counts = Counter(
        (pair.label == "conflict", bool(hit))
        for pair, hit in zip(pairs, flagged, strict=True)
        if lang is None or pair.lang == lang
    )
    return Score(counts[True, True], counts[False, True], counts[True, False], counts[False, False])


def _share(pairs: Sequence[LabelledPair], flagged: IntArray, label: str, kind: str | None = None) -> Share:
    hits = [bool(hit) for p, hit in zip(pairs, flagged, strict=True) if p.label == label and kind in (None, p.kind)]
    return Share(sum(hits), len(hits))


def _score_line(name: str, score: Score) -> str:
    ends = score.f1_interval
    f1 = "-" if score.f1 is None or ends is None else f"{score.f1:.3f} [{ends[0]:.3f}, {ends[1]:.3f}]"
    return f"  {name:<6} n {score.n:<5} precision {score.precision}   recall {score.recall}   F1 {f1}"


def _similarity_lines(found: SimilarityProfile) -> list[str]:
    lines = [f"cosines under {found.encoder}: percentiles {', '.join(map(str, PERCENTILES))}"]
    lines += [f"  {label:<12} " + "  ".join(f"{value:.3f}" for value in values) for label, values in found.percentiles.items()]
    ends = ["-" if end is None else f"{end:.2f}" for end in found.recommended]
    lines.append(
        f"recommended band {ends[0]} to {ends[1]} (5th percentile of conflicts; smallest threshold from which on at least "
        f"{WANTED:.0%} of the unflagged pairs are duplicates)"
    )
    if found.band is not None:
        lines.append(
            f"conflicts in {found.band[0]:.2f} to {found.band[1]:.2f}: {found.inside}; from {found.band[0]:.2f}: {found.proposed}"
        )
    lines.append("from cosine   pairs  flagged  duplicates among the others        duplicates among those `relation` calls so")
    lines += [
        f"  {row.threshold:.2f}        {row.selected:>5}  {row.flagged:>7}  {row.duplicates!s:<34} {row.guarded or '-'}"
        for row in found.rows
        if row.selected and row.threshold >= 0.88
    ]
    return lines
