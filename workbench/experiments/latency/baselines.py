"""What an assembly is held against: the least work any assembly has to do, and the obvious way to write one."""

from __future__ import annotations

import math

import faiss
import numpy as np
import numpy.typing as npt
from rank_bm25 import BM25Okapi  # type: ignore[import-untyped, unused-ignore]

from workbench.assembly.prompt import HEADINGS, LAYER_SECTIONS
from workbench.config import SIGNALS, AssemblyConfig
from workbench.store.snapshot import Snapshot, statement
from workbench.text.analysis import analyze, analyze_query
from workbench.text.render import indexed_text
from workbench.text.tokens import count

Vector = npt.NDArray[np.float32]
_TOP = 100


class Floor:
    """Exact top 100 per layer by FAISS and top 100 per layer by sparse BM25, and nothing else: no merge, scores or prompt."""

    def __init__(self, snapshot: Snapshot) -> None:
        self.snapshot = snapshot
        self._tokens: dict[str, list[str]] = {}
        self._indexes = []
        for rows in snapshot.index_rows:
            index = faiss.IndexFlatIP(snapshot.vectors.shape[1])
            if rows.size:
                index.add(snapshot.vectors[rows])
            self._indexes.append(index)

    def prepare(self, query: str) -> None:
        """Tokenise a query ahead of time: the floor is not charged for it."""
        self._tokens[query] = list(analyze_query(query))

    def __call__(self, query: str, vector: Vector) -> list[tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]]:
        """Per layer the nearest rows and the best keyword rows, positions within the layer."""
        snapshot, found = self.snapshot, []
        scores = snapshot.keyword.scores(self._tokens[query])
        probe = vector.reshape(1, -1)
        for layer, index in enumerate(self._indexes):
            near = index.search(probe, min(_TOP, index.ntotal))[1][0] if index.ntotal else np.empty(0, dtype=np.int64)
            part = scores[snapshot.bounds[layer] : snapshot.bounds[layer + 1]]
            cut = max(part.size - _TOP, 0)
            words = np.argpartition(part, cut)[cut:] if part.size else np.empty(0, dtype=np.int64)
            found.append((near, words))
        return found


class Naive:
    """An assembly as one writes it first: rank-bm25 and a cosine over all entries, then Python loops over entry objects.

    It has no duplicate or contradiction pass. Its token counts and its scores (fused and divided by the best) are computed while
    the query waits.
    """

    def __init__(self, snapshot: Snapshot, config: AssemblyConfig) -> None:
        self.snapshot, self.config = snapshot, config
        corpus = [list(analyze(indexed_text(entry, config.templates))) for entry in snapshot.entries]
        self._bm25 = BM25Okapi(corpus)
        self._weights = dict(zip(SIGNALS, config.weights.as_tuple(), strict=True))

    def __call__(self, query: str, vector: Vector, now: float) -> str:
        """The prompt without the identity section. now: seconds since 1970 UTC."""
        snapshot, config = self.snapshot, self.config
        words = self._bm25.get_scores(list(analyze_query(query)))
        near = snapshot.vectors @ vector
        best = max(float(words.max()), 1e-9)
        parts: list[str] = []
        budgets = (config.budgets.memories, config.budgets.episodes, config.budgets.procedures)
        for layer, section in enumerate(LAYER_SECTIONS):
            rows = range(snapshot.bounds[layer], snapshot.bounds[layer + 1])
            by_word = sorted(rows, key=lambda row: -words[row])[: config.top_k]
            by_vector = sorted(rows, key=lambda row: -near[row])[: config.top_k]
            scored = []
            for row in {*by_word, *by_vector}:
                entry = snapshot.entries[row]
                age = max(0.0, (now - entry.changed_at.timestamp()) / 86_400.0)
                values = {
                    "relevance": config.alpha * max(0.0, float(near[row])) + (1 - config.alpha) * float(words[row]) / best,
                    "importance": entry.importance,
                    "confidence": entry.confidence,
                    "recency": 0.5 ** (age / config.half_life_days),
                    "frequency": min(1.0, math.log1p(entry.access_count) / math.log1p(config.frequency_saturation)),
                }
                scored.append((sum(self._weights[name] * value for name, value in values.items()), row))
            lines, left = [HEADINGS[section]], budgets[layer]
            for _, row in sorted(scored, reverse=True)[: config.cap]:
                line = f"- {statement(snapshot.entries[row])}\n"
                need = count(line, config.encoding)
                if need > left:
                    break
                left -= need
                lines.append(line)
            parts += lines
        return "".join(parts)
