"""Runs the stages in order and times them. Nothing else knows the order."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import datetime
from time import perf_counter_ns
from typing import Any

import numpy as np
import numpy.typing as npt

from workbench.assembly.conflict_test import ConflictTest
from workbench.assembly.context import AssembledContext
from workbench.assembly.contradictions import ConflictReport, combine, find_conflicts
from workbench.assembly.fates import Fate
from workbench.assembly.preferences import Preferences, standing_preferences
from workbench.assembly.prompt import LAYER_SECTIONS, identity_lines, section_lines
from workbench.assembly.scoring import FUTURE_TOLERANCE_DAYS
from workbench.assembly.selection import CHOSEN, OVERSIZE, SHOWN_AS_PREFERENCE, WEAK, Selection, select
from workbench.assembly.stages import STAGES
from workbench.config import AssemblyConfig
from workbench.embedding.cache import EmbeddingCache
from workbench.embedding.calibration import closed
from workbench.embedding.encoder import Encoder, FloatMatrix, as_unit_rows, check_encoder, checked_encode, load_encoder
from workbench.entries import checked_text, epoch_seconds, utc
from workbench.errors import ConfigError, DataError
from workbench.search.merge import Products, find_duplicates, over_cap
from workbench.search.pool import FloatArray, IntArray, Pool
from workbench.search.retrieve import retrieve
from workbench.search.threads import one_blas_thread
from workbench.store.snapshot import Snapshot, compile_store
from workbench.store.user import UserStore
from workbench.text.analysis import analyze_query


@dataclass(frozen=True, eq=False)
class Candidates:
    """Everything about a query that re-ranking does not change.

    retrieved: hits of both arms. fate, other: per hit, so far (NOT_RETRIEVED marks those still in the pool). scored: positions in
    ``retrieved`` of the pool that is left. pool: those candidates.
    """

    retrieved: Pool
    fate: npt.NDArray[np.int8]
    other: IntArray
    scored: IntArray
    pool: Pool
    conflicts: ConflictReport


class Assembler:
    """Assembles contexts for one user's store.

    encoder: any object with ``name``, ``dim`` and ``encode``; None loads the bundled one when it is first needed.
    conflict_test: decides whether two statements conflict; None takes the rule-based one. cache: embedding cache for the
    store's entries; None takes the default folder, False keeps nothing on disk (queries are never cached here).

    Example:
        >>> from workbench import Assembler, Memory, UserStore
        >>> store = UserStore("ana", memories=[Memory(id="m1", text="The ferry leaves at noon", created_at="2026-03-01")])
        >>> Assembler(store, cache=False).assemble("When does the ferry leave?", now="2026-03-02").selected_ids
        ('m1',)
    """

    def __init__(
        self,
        store: UserStore,
        config: AssemblyConfig | None = None,
        encoder: Encoder | None = None,
        *,
        conflict_test: ConflictTest | None = None,
        cache: EmbeddingCache | bool | None = None,
    ) -> None:
        if not isinstance(store, UserStore):
            raise DataError(f"store is a {type(store).__name__}: must be a UserStore")
        if config is not None and not isinstance(config, AssemblyConfig):
            raise ConfigError(f"config is a {type(config).__name__}: must be an AssemblyConfig")
        self.store = store
        self.config = config if config is not None else AssemblyConfig()
        if encoder is not None:
            check_encoder(encoder)
        if cache is not None and not isinstance(cache, (bool, EmbeddingCache)):
            raise ConfigError(f"cache is a {type(cache).__name__}: must be an EmbeddingCache, None or False")
        self._encoder = encoder
        if conflict_test is None:
            from workbench.assembly.conflict_rules import RuleConflictTest  # its word lists are read for those who use them

            conflict_test = RuleConflictTest()
        self.conflict_test: ConflictTest = conflict_test
        self._cache = EmbeddingCache() if cache is None or cache is True else cache or None
        self._snapshots: dict[tuple[Any, ...], Snapshot] = {}
        self._preferences: dict[tuple[Any, ...], Preferences] = {}
        self._worker: ThreadPoolExecutor | None = None

    @property
    def encoder(self) -> Encoder:
        """The encoder in use; loads the bundled one on first use."""
        if self._encoder is None:
            self._encoder = load_encoder()
        return self._encoder

    def snapshot(self, config: AssemblyConfig | None = None) -> Snapshot:
        """The compiled store under ``config``; built once per set of templates, BM25 settings and token encoding."""
        config = config or self.config
        key = (config.templates, config.bm25_k1, config.bm25_b, config.encoding)
        if key not in self._snapshots:
            self._snapshots[key] = compile_store(self.store, config, self.encoder, self.conflict_test, self._embed)
        return self._snapshots[key]

    def settings(self, overrides: dict[str, Any] | None = None, config: AssemblyConfig | None = None) -> AssemblyConfig:
        """The configuration with ``overrides`` and with the encoder's own numbers where the configuration leaves them open."""
        if config is not None and not isinstance(config, AssemblyConfig):
            raise ConfigError(
                f"config is a {type(config).__name__}: must be an AssemblyConfig; load_config takes names and paths"
            )
        config = (config or self.config).override(**overrides) if overrides else (config or self.config)
        return closed(config, self.encoder)

    def assemble(
        self, query: str, *, now: datetime | str, config: AssemblyConfig | None = None, **overrides: Any
    ) -> AssembledContext:
        """The context for ``query`` at the time ``now`` (UTC; a time without a zone is read as UTC).

        overrides: any setting of AssemblyConfig for this call; ``weights``, ``budgets`` and ``templates`` may be partial
        mappings. Raises ConfigError for settings that do not exist or are out of range, DataError for a query that is not text.
        """
        checked_text(query, "query")
        moment = utc(now, field="now")
        effective = self.settings(overrides, config)
        snapshot = self.snapshot(effective)
        start = perf_counter_ns()
        if self._worker is None:
            self._worker = ThreadPoolExecutor(1, thread_name_prefix="keyword")
        # the encoder releases the interpreter lock, so the keyword arm runs beside it
        keyword = self._worker.submit(self._keyword_scores, snapshot, query)
        vector = self._query_vector(query)
        embedded = perf_counter_ns()
        scores = keyword.result()
        return self._finish(query, moment, effective, snapshot, vector, scores, start, embedded)

    def assemble_embedded(
        self, query: str, vector: npt.NDArray[np.float32], *, now: datetime | str, config: AssemblyConfig | None = None
    ) -> AssembledContext:
        """As ``assemble``, with the query's vector given (shape (dim,)); the stage ``embed`` then takes no time.

        Raises StoreError for a vector of another size or with NaN.
        """
        checked_text(query, "query")
        vector = as_unit_rows([vector], rows=1, dim=self.encoder.dim, name=self.encoder.name)[0]
        moment = utc(now, field="now")
        effective = self.settings(None, config)
        snapshot = self.snapshot(effective)
        start = perf_counter_ns()
        return self._finish(query, moment, effective, snapshot, vector, self._keyword_scores(snapshot, query), start, start)

    def candidates(
        self,
        snapshot: Snapshot,
        vector: npt.NDArray[np.float32],
        keyword_scores: FloatArray,
        now: float,
        config: AssemblyConfig,
        *,
        retrieved: Pool | None = None,
    ) -> tuple[Candidates, tuple[int, int, int]]:
        """Search, merge and contradictions: all that comes before scoring; with the times at which each ended (ns).

        retrieved: the hits, where they are already known; then nothing is searched.
        """
        if retrieved is None:
            retrieved = retrieve(snapshot, vector, keyword_scores, config)
        searched = perf_counter_ns()
        fate = np.zeros(len(retrieved), dtype=np.int8)
        other = np.full(len(retrieved), -1, dtype=np.int64)
        preferences = self.preferences(snapshot, config)

        def mark(replaced: dict[int, int], code: Fate) -> None:
            if not replaced or not len(retrieved):
                return
            rows, by = np.array(list(replaced.items()), dtype=np.int64).T
            at = np.minimum(np.searchsorted(retrieved.row, rows), len(retrieved) - 1)  # the rows found ascend
            hit = np.flatnonzero((retrieved.row[at] == rows) & (fate[at] == 0))
            fate[at[hit]] = code
            other[at[hit]] = by[hit]

        latest = now + FUTURE_TOLERANCE_DAYS * 86_400.0
        settled = [(newer, older, found) for newer, older, found in preferences.conflicts if snapshot.changed[newer] <= latest]
        newest: dict[int, int] = {}
        for newer, older, _ in settled:
            newest.setdefault(older, newer)
        mark(newest, Fate.SUPERSEDED)
        mark(preferences.duplicates, Fate.DUPLICATE)
        products = [Products(snapshot, retrieved.row[retrieved.layer == layer]) for layer in range(3)]
        for layer in range(3):
            pool = retrieved.row[(retrieved.layer == layer) & (fate == 0)]
            standing = preferences.rows if layer == 0 else None
            repeated = find_duplicates(
                snapshot, pool, layer, _threshold(config), self.conflict_test, standing=standing, products=products[layer]
            )
            mark(repeated, Fate.DUPLICATE)
        alive = np.flatnonzero(fate == 0)
        fate[alive[over_cap(retrieved.take(alive), config.cap)]] = Fate.OVER_CAP
        merged = perf_counter_ns()
        reports = []
        if config.contradictions:
            # what a preference has superseded can still supersede something older
            left = (fate == 0) | (fate == Fate.SUPERSEDED)
            rows = [retrieved.row[(retrieved.layer == layer) & left] for layer in range(3)]
            superseded, report = find_conflicts(snapshot, rows, _band(config), self.conflict_test, now, products)
            mark(superseded, Fate.SUPERSEDED)
            reports.append(report)
            # also those with an entry that this query did not find, if they changed what it shows
            known = {(conflict.newer, conflict.older) for report in reports for conflict in report.conflicts}
            hits = set(retrieved.row.tolist()) if settled else set()
            unseen = [found for _, older, found in settled if older in hits or older in preferences.superseded]
            unseen = [found for found in unseen if (found.newer, found.older) not in known]
            reports.append(ConflictReport(conflicts=tuple(unseen), tested=len(unseen)))
        scored = np.flatnonzero(fate == 0)
        found = Candidates(retrieved, fate, other, scored, retrieved.take(scored), combine(reports))
        return found, (searched, merged, perf_counter_ns())

    def preferences(self, snapshot: Snapshot, config: AssemblyConfig) -> Preferences:
        """The user's standing preferences under ``config``; computed once per set of the settings that matter."""
        key = (
            id(snapshot),
            config.preference_min_importance,
            config.contradictions,
            _band(config),
            _threshold(config),
        )
        if key not in self._preferences:
            self._preferences[key] = standing_preferences(snapshot, config, _band(config), _threshold(config), self.conflict_test)
        return self._preferences[key]

    def _finish(
        self,
        query: str,
        moment: datetime,
        config: AssemblyConfig,
        snapshot: Snapshot,
        vector: npt.NDArray[np.float32],
        keyword_scores: FloatArray,
        start: int,
        embedded: int,
    ) -> AssembledContext:
        now = epoch_seconds(moment)
        with one_blas_thread():
            found, (searched, merged, settled) = self.candidates(snapshot, vector, keyword_scores, now, config)
        selection = select(snapshot, found.pool, self.preferences(snapshot, config), now, config)
        fate, other = final_fates(found, selection)
        chosen = perf_counter_ns()
        prompt = render_prompt(snapshot, selection)
        end = perf_counter_ns()
        marks = (start, embedded, searched, merged, settled, chosen, end)
        timings = {stage: (after - before) / 1e6 for stage, before, after in zip(STAGES, marks, marks[1:], strict=False)}
        timings["total"] = (end - start) / 1e6
        timings["residual"] = timings["total"] - sum(timings[stage] for stage in STAGES)
        return AssembledContext(
            query=query,
            user_id=self.store.user_id,
            now=moment,
            config=config,
            prompt=prompt,
            tokens=selection.tokens,
            timings=timings,
            conflicts=found.conflicts,
            warnings=context_warnings(snapshot, found, selection, now),
            snapshot=snapshot,
            retrieved=found.retrieved,
            fate=fate,
            other=other,
            scored=found.scored,
            selection=selection,
            preferences=self.preferences(snapshot, config),
        )

    def _query_vector(self, query: str) -> npt.NDArray[np.float32]:
        if not query.strip():
            return np.zeros(self.encoder.dim, dtype=np.float32)
        vector: npt.NDArray[np.float32] = checked_encode(self.encoder, [query])[0]
        return vector

    @staticmethod
    def _keyword_scores(snapshot: Snapshot, query: str) -> FloatArray:
        return snapshot.keyword.scores(analyze_query(query))

    def _embed(self, texts: Sequence[str], template: str) -> FloatMatrix:
        if self._cache is None:
            return checked_encode(self.encoder, texts)
        return self._cache.encode(self.encoder, texts, template=template)


def render_prompt(snapshot: Snapshot, selection: Selection) -> str:
    """The five sections as text; every line ends in a newline."""
    lines = identity_lines([(snapshot.soul[at].group, snapshot.soul[at].line) for at in selection.soul])
    for section in ("preferences", *LAYER_SECTIONS):
        lines += section_lines(section, [snapshot.lines[row] for row in selection.rows[section].tolist()])
    return "".join(lines)


def final_fates(found: Candidates, selection: Selection) -> tuple[npt.NDArray[np.int8], IntArray]:
    """Fate of each retrieved candidate after selection, and the row that explains it (-1 none, -2 larger than its tier)."""
    table = np.full(5, int(Fate.OVER_BUDGET), dtype=np.int8)
    table[[CHOSEN, SHOWN_AS_PREFERENCE]] = Fate.SELECTED
    table[WEAK] = Fate.BELOW_MINIMUM
    fate, other = found.fate.copy(), found.other.copy()
    fate[found.scored] = table[selection.outcome]
    other[found.scored[selection.outcome == OVERSIZE]] = -2
    return fate, other


def context_warnings(snapshot: Snapshot, found: Candidates, selection: Selection, now: float) -> tuple[str, ...]:
    """What a reader of the context should know, in words."""
    notes = []
    if selection.soul_left_out:
        notes.append(f"{selection.soul_left_out} of {len(snapshot.soul)} active Soul blocks did not fit their budget")
    oversize = int((selection.outcome == OVERSIZE).sum())
    if oversize:
        what = (
            "candidate is larger than all the room of its tier and was"
            if oversize == 1
            else ("candidates are larger than all the room of their tier and were")
        )
        notes.append(f"{oversize} {what} skipped")
    future = int((found.pool.changed > now + FUTURE_TOLERANCE_DAYS * 86_400.0).sum())
    if future:
        what = (
            "candidate is dated more than a day after now; it counts"
            if future == 1
            else ("candidates are dated more than a day after now; they count")
        )
        notes.append(f"{future} {what} as not recent")
    undecided = sum(not conflict.decided for conflict in found.conflicts.conflicts)
    if undecided:
        what = "conflicting pair has" if undecided == 1 else "conflicting pairs have"
        notes.append(f"{undecided} {what} no newer side; both entries stay")
    return tuple(notes)


def _band(config: AssemblyConfig) -> tuple[float, float]:
    if config.conflict_band is None:
        raise ConfigError("conflict_band is open; use Assembler.settings to take the encoder's value")
    return config.conflict_band


def _threshold(config: AssemblyConfig) -> float:
    if config.duplicate_threshold is None:
        raise ConfigError("duplicate_threshold is open; use Assembler.settings to take the encoder's value")
    return config.duplicate_threshold
