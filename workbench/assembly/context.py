"""The result of one assembly: the prompt, what it cost, and why each entry is or is not in it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from workbench.assembly.contradictions import ConflictReport
from workbench.assembly.fates import Fate
from workbench.assembly.preferences import Preferences
from workbench.assembly.prompt import SECTIONS
from workbench.assembly.scoring import effective_weights
from workbench.assembly.selection import Selection
from workbench.config import SIGNALS, AssemblyConfig
from workbench.entries import LAYERS, checked_text
from workbench.errors import StoreError
from workbench.search.pool import IntArray, Pool
from workbench.store.snapshot import Snapshot
from workbench.tabular import Tabular

if TYPE_CHECKING:
    import pandas as pd

    from workbench.reports.cells import Table
    from workbench.reports.inspector import Inspector


@dataclass(frozen=True, kw_only=True)
class Explanation:
    """The fate of one entry in words, with its numbers; ``str()`` reads as a sentence or two."""

    id: str
    layer: str
    fate: str
    reason: str
    signals: Mapping[str, float | None]
    contributions: Mapping[str, float | None]
    score: float | None
    rank: int | None
    section: str | None
    tokens: int

    def __str__(self) -> str:
        lines = [f"{self.id} ({self.layer}): {self.fate}. {self.reason}"]
        if self.score is not None:
            parts = ", ".join(f"{name} {self.signals[name]:.3f} gives {self.contributions[name]:.3f}" for name in SIGNALS)
            lines.append(f"score {self.score:.4f} (rank {self.rank} in its layer): {parts}; {self.tokens} tokens")
        return "\n".join(lines)


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class AssembledContext(Tabular):
    """What the model gets to see for one query, and the record of how it came to be.

    prompt: the system prompt. tokens: per section and ``total``. timings: milliseconds per stage, ``total`` and ``residual``.
    conflicts: what the contradiction stage found. warnings: things a reader should know. config_hash: identity of the settings.
    """

    query: str
    user_id: str
    now: datetime
    config: AssemblyConfig
    prompt: str
    tokens: Mapping[str, int]
    timings: Mapping[str, float]
    conflicts: ConflictReport
    warnings: tuple[str, ...]
    snapshot: Snapshot = field(repr=False)
    retrieved: Pool = field(repr=False)
    fate: npt.NDArray[np.int8] = field(repr=False)
    other: IntArray = field(repr=False)
    scored: IntArray = field(repr=False)
    selection: Selection = field(repr=False)
    preferences: Preferences = field(repr=False)

    @property
    def config_hash(self) -> str:
        """Identity of the settings this context was made with."""
        return self.config.hash

    @cached_property
    def selected_ids(self) -> tuple[str, ...]:
        """Ids of the entries in the prompt, in prompt order, Soul blocks first."""
        soul = [self.snapshot.soul[position].id for position in self.selection.soul]
        rows = [row for section in SECTIONS[1:] for row in self.selection.rows[section].tolist()]
        return (*soul, *(self.snapshot.ids[row] for row in rows))

    @cached_property
    def ranking(self) -> tuple[str, ...]:
        """Ids of the scored pool before budgets, best first (ties: layer, newer first, id)."""
        rows = self.retrieved.row[self.scored[self.selection.order]]
        return tuple(self.snapshot.ids[row] for row in rows.tolist())

    @cached_property
    def selected(self) -> pd.DataFrame:
        """The entries in the prompt in prompt order: id, layer, section, signals, score, fate, reason, tokens."""
        position = {key: number for number, key in enumerate(self.fates["id"])}
        return self.fates.iloc[[position[key] for key in self.selected_ids]].reset_index(drop=True)

    @cached_property
    def fates(self) -> pd.DataFrame:
        """Every entry of the store, one row each, in order of layer, score and age.

        Columns: id, layer, section, relevance, importance, confidence, recency, frequency, score, fate, reason, tokens. Signals
        and score are NaN where the entry was never scored.
        """
        import pandas as pd

        rows = self.fate_rows
        columns: dict[str, Any] = {name: [row[name] for row in rows] for name in ("id", "layer", "section")}
        columns |= {name: np.array([row[name] for row in rows], dtype=np.float64) for name in (*SIGNALS, "score")}
        columns |= {name: [row[name] for row in rows] for name in ("fate", "reason", "tokens")}
        return pd.DataFrame(columns)

    @cached_property
    def fate_rows(self) -> tuple[dict[str, Any], ...]:
        """The rows of ``fates`` as mappings, without pandas; what an entry does not have (a signal, a score) is None."""
        rows = [self._row(row) for row in range(len(self.snapshot.ids))]
        rows += [self._soul_row(block.id) for block in self.snapshot.soul]
        rows += [self._soul_row(block_id) for block_id, _ in self.snapshot.silent_soul]
        order = {"soul": 0, **{name: number for number, name in enumerate(LAYERS, start=1)}}
        rows.sort(key=lambda row: (order[row["layer"]], -_FATES[row["fate"]], np.inf if row["score"] is None else -row["score"]))
        return tuple(rows)

    def explain(self, entry_id: str) -> Explanation:
        """Why an entry is in the prompt, or at which stage it was lost. Raises StoreError for an unknown id."""
        factor = 1.0
        if entry_id in self.snapshot.row_of:
            row = self._row(self.snapshot.row_of[entry_id])
            factor = self.config.boosts.get(self.snapshot.entries[self.snapshot.row_of[entry_id]].category, 1.0)
        else:
            row = self._soul_row(entry_id)
        weights = {name: weight * factor for name, weight in zip(SIGNALS, self.config.weights.as_tuple(), strict=True)}
        return Explanation(
            id=entry_id,
            layer=row["layer"],
            fate=row["fate"],
            reason=row["reason"],
            signals={name: row[name] for name in SIGNALS},
            contributions={name: None if row[name] is None else weights[name] * row[name] for name in SIGNALS},
            score=row["score"],
            rank=row["rank"],
            section=row["section"],
            tokens=row["tokens"],
        )

    def fate_of(self, entry_id: str) -> Fate:
        """The fate of one entry of the store, without the words. Raises StoreError for an unknown id."""
        if entry_id not in self.snapshot.row_of:
            return _FATES[self._soul_row(entry_id)["fate"]]
        return self._fate(self.snapshot.row_of[entry_id])[0]

    def inspect(self, *, against: AssemblyConfig | None = None) -> Inspector:
        """The context to look into: in a notebook with sliders that re-rank live, elsewhere as a page (``.to_html(path)``).

        against: settings to compare with; None takes production weights. Raises ConfigError when they would search differently.
        """
        from workbench.reports.inspector import Inspector

        return Inspector(self, against=against)

    @cached_property
    def effective_weights(self) -> dict[str, float]:
        """Share of each signal in what orders this pool: nominal weight times spread, normalised."""
        return effective_weights(self.selection.values, self.config.weights)

    def messages(self, user_message: str) -> list[dict[str, str]]:
        """Chat-format messages: the assembled system prompt, then the user's turn as it is."""
        turn = checked_text(user_message, "user_message")
        return [{"role": "system", "content": self.prompt}, {"role": "user", "content": turn}]

    def to_dict(self) -> dict[str, Any]:
        """Everything as strict JSON values: undefined numbers are null. Entries that were not retrieved are only counted."""
        seen = [self._row(row) for row in sorted({*self.retrieved.row.tolist(), *self.selection.rows["preferences"].tolist()})]
        return {
            "query": self.query,
            "user_id": self.user_id,
            "now": self.now.isoformat().replace("+00:00", "Z"),
            "config_hash": self.config_hash,
            "config": self.config.to_dict(),
            "prompt": self.prompt,
            "tokens": dict(self.tokens),
            "selected": list(self.selected_ids),
            "candidates": seen,
            "not_retrieved": len(self.snapshot.ids) - len(seen),
            "effective_weights": self.effective_weights,
            "conflicts": [
                {"newer": c.newer, "older": c.older, "similarity": c.similarity, "reason": c.reason, "decided": c.decided}
                for c in self.conflicts.conflicts
            ],
            "pairs": {"tested": self.conflicts.tested, "below_band": self.conflicts.below_band},
            "timings_ms": dict(self.timings),
            "warnings": list(self.warnings),
        }

    def __str__(self) -> str:
        parts = ", ".join(f"{name} {self.tokens[name]}" for name in SECTIONS if self.tokens[name])
        return (
            f"context for {self.user_id!r}: {len(self.selected_ids)} entries, {self.tokens['total']} tokens "
            f"({parts or 'empty'}), {self.timings['total']:.1f} ms, config {self.config_hash}"
        )

    def tables(self) -> tuple[Table, ...]:
        """The entries in the prompt as a table; see ``Tabular``."""
        from workbench.reports.tables_of import context

        return context(self)

    def _repr_html_(self) -> str:
        from workbench.reports.notebook import folded, tables_html

        return tables_html(self.tables(), after=folded("Prompt", self.prompt))

    @cached_property
    def _position_of_row(self) -> dict[int, int]:
        return {row: position for position, row in enumerate(self.retrieved.row.tolist())}

    @cached_property
    def _scored_position(self) -> dict[int, int]:
        return {row: position for position, row in enumerate(self.retrieved.row[self.scored].tolist())}

    @cached_property
    def _section_of_row(self) -> dict[int, str]:
        return {row: section for section, rows in self.selection.rows.items() for row in rows.tolist()}

    @cached_property
    def _rank_of_scored(self) -> dict[int, int]:
        ranks: dict[int, int] = {}
        layers = self.retrieved.layer[self.scored]
        seen = [0, 0, 0]
        for position in self.selection.order.tolist():
            seen[int(layers[position])] += 1
            ranks[position] = seen[int(layers[position])]
        return ranks

    def _row(self, row: int) -> dict[str, Any]:
        snapshot = self.snapshot
        out: dict[str, Any] = {
            "id": snapshot.ids[row],
            "layer": LAYERS[snapshot.layer_of(row)],
            "section": self._section_of_row.get(row),
            **dict.fromkeys(SIGNALS),
            "score": None,
            "rank": None,
            "tokens": int(snapshot.tokens[row]),
        }
        scored = self._scored_position.get(row)
        if scored is not None:
            values = self.selection.values[:, scored]
            out.update({name: float(value) for name, value in zip(SIGNALS, values, strict=True)})
            out["score"] = float(self.selection.scores[scored])
            out["rank"] = self._rank_of_scored[scored]
        fate, reason = self._fate(row)
        return {**out, "fate": fate.label, "reason": reason}

    def _fate(self, row: int) -> tuple[Fate, str]:
        snapshot = self.snapshot
        section = self._section_of_row.get(row)
        if section is not None:
            where = "a standing preference, shown for every query" if section == "preferences" else "within the budget"
            return Fate.SELECTED, f"in section {section}: {where}"
        position = self._position_of_row.get(row)
        if position is None:
            entry = snapshot.entries[row]
            if entry.status == "superseded":
                return Fate.SUPERSEDED, "its status in the store is superseded"
            if not snapshot.searchable[row]:
                why = "archived in the store" if entry.status != "active" else "it has no words to search for or to show"
                return Fate.NOT_RETRIEVED, why
            standing = self.preferences
            if row in standing.superseded:
                return Fate.SUPERSEDED, f"a preference contradicted by {snapshot.ids[standing.superseded[row]]}, which is newer"
            if row in standing.duplicates:
                return Fate.DUPLICATE, f"a preference that says the same as {snapshot.ids[standing.duplicates[row]]}"
            if row in standing.rows:
                return Fate.OVER_BUDGET, "a preference that found no room in their share; the query did not find it either"
            return Fate.NOT_RETRIEVED, f"not among the top {self.config.top_k} of its layer in either search arm"
        fate = Fate(int(self.fate[position]))
        other = int(self.other[position])
        if fate is Fate.DUPLICATE:
            why = "which is newer" if other < row else "a standing preference"
            return fate, f"says the same as {snapshot.ids[other]}, {why}"
        if fate is Fate.SUPERSEDED:
            return fate, f"contradicted by {snapshot.ids[other]}, which is newer"
        if fate is Fate.OVER_CAP:
            return fate, f"its relevance {self.retrieved.relevance[position]:.3f} is beyond the cap of {self.config.cap}"
        if fate is Fate.BELOW_MINIMUM:
            return fate, f"its score is below the minimum {self.config.min_score:g}"
        if self.other[position] == -2:
            return fate, f"its {int(snapshot.tokens[row])} tokens alone exceed the room of its tier"
        return fate, "the tier was full before it"

    def _soul_row(self, block_id: str) -> dict[str, Any]:
        active = {block.id: position for position, block in enumerate(self.snapshot.soul)}
        silent = dict(self.snapshot.silent_soul)
        if block_id in silent:
            fate, reason, tokens = Fate.NOT_RETRIEVED, silent[block_id], 0
        elif block_id not in active:
            raise StoreError(f"user {self.user_id!r} has no entry {block_id!r}; look ids up in the column id of .fates")
        else:
            tokens = self.snapshot.soul[active[block_id]].tokens
            fate, reason = Fate.OVER_BUDGET, "no room for it in the Soul budget or the total"
            if active[block_id] in self.selection.soul:
                fate, reason = Fate.SELECTED, "active Soul block"
        return {
            "id": block_id,
            "layer": "soul",
            "section": "identity" if fate is Fate.SELECTED else None,
            **dict.fromkeys(SIGNALS),
            "score": None,
            "rank": None,
            "fate": fate.label,
            "reason": reason,
            "tokens": tokens,
        }


_FATES = {fate.label: fate for fate in Fate}
