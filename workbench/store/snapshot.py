"""The immutable, compiled form of a user store that a query reads: typed arrays, one row per entry.

Rows are sorted by layer, then newer first, then id. So a lower row number *is* the tie-break order everywhere downstream, and the
order in which entries were inserted can have no effect.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from workbench.assembly.conflict_test import ConflictTest, PerTextConflictTest
from workbench.config import AssemblyConfig
from workbench.embedding.encoder import Encoder, FloatMatrix
from workbench.entries import PREFERENCE, Entry, Memory, Procedure, epoch_seconds
from workbench.search.keyword import KeywordIndex
from workbench.search.vectors import VectorIndex
from workbench.store.parts import PartsBuilder
from workbench.store.user import UserStore
from workbench.text.analysis import analyze, canonical
from workbench.text.render import indexed_text, rendered_line, soul_line
from workbench.text.tokens import count

IntArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]

# The median of the fused scores is taken over at most this many rows, evenly spaced: exact for stores up to this size.
FLOOR_SAMPLE = 1024


@dataclass(frozen=True)
class SoulLine:
    """A rendered Soul block: its id, group, line and token count."""

    id: str
    group: str
    line: str
    tokens: int


@dataclass(frozen=True, eq=False)
class Snapshot:
    """A user store as arrays; n rows over the three searchable layers.

    bounds: row range of layer i is ``bounds[i]:bounds[i + 1]`` (memories, episodes, procedures). changed: seconds since 1970
    UTC. text_key: equal numbers mean exact duplicates (for episodes on one day only). day: days since 1970 (UTC) of ``changed``.
    searchable: active and not blank. vectors: float32 (n, dim), zero rows where not searchable. soul: active blocks in order of
    showing. silent_soul: (id, why) of the blocks that are never shown. fresh: how many values of each kind ("vector", "words",
    "tokens", "read", ...) had to be computed, since no store that this one was made from had them.
    """

    user_id: str
    encoder_name: str
    encoding: str
    ids: tuple[str, ...]
    row_of: dict[str, int]
    entries: tuple[Entry, ...]
    bounds: tuple[int, int, int, int]
    vectors: FloatMatrix
    indexes: tuple[VectorIndex, VectorIndex, VectorIndex]
    index_rows: tuple[IntArray, IntArray, IntArray]
    keyword: KeywordIndex
    importance: FloatArray
    confidence: FloatArray
    access_count: IntArray
    changed: FloatArray
    day: IntArray
    category: IntArray
    categories: tuple[str, ...]
    text_key: IntArray
    searchable: npt.NDArray[np.bool_]
    is_preference: npt.NDArray[np.bool_]
    lines: tuple[str, ...]
    tokens: IntArray
    conflict_features: Any
    soul: tuple[SoulLine, ...]
    silent_soul: tuple[tuple[str, str], ...]
    floor_rows: IntArray
    floor_vectors: FloatMatrix
    fresh: Mapping[str, int]

    def layer_of(self, row: int) -> int:
        """0 memories, 1 episodes, 2 procedures."""
        return 0 if row < self.bounds[1] else 1 if row < self.bounds[2] else 2

    @property
    def layers(self) -> npt.NDArray[np.int8]:
        """Layer number of every row, int8, shape (n,)."""
        return np.repeat(np.arange(3, dtype=np.int8), np.diff(self.bounds))


Embed = Callable[[Sequence[str], str], FloatMatrix]


def statement(entry: Entry) -> str:
    """What an entry claims: the text that duplicate and conflict tests compare."""
    if isinstance(entry, Memory):
        return entry.text
    if isinstance(entry, Procedure):
        return " ".join((entry.name, *entry.steps))
    return " ".join(part for part in (entry.summary, entry.outcome) if part)


def compile_store(
    store: UserStore, config: AssemblyConfig, encoder: Encoder, conflict_test: ConflictTest, embed: Embed
) -> Snapshot:
    """Compile ``store`` for queries under ``config`` (templates, BM25 settings and token encoding matter here).

    ``embed(texts, template)`` gives unit vectors, usually through the embedding cache.
    """
    layers: list[list[Entry]] = [
        sorted(layer, key=lambda entry: (-epoch_seconds(entry.changed_at), entry.id))
        for layer in (list(store.memories), list(store.episodes), list(store.procedures))
    ]
    entries = tuple(entry for layer in layers for entry in layer)
    bounds = tuple(int(edge) for edge in np.cumsum([0, *map(len, layers)]))
    parts = PartsBuilder(entries, store._parts)
    templates = config.templates
    texts = parts.column(
        "text", (templates,), lambda row: indexed_text(entries[row], templates) if entries[row].status == "active" else ""
    )
    lines = tuple(parts.column("line", (), lambda row: rendered_line(entries[row])))
    statements = parts.column("statement", (), lambda row: statement(entries[row]))
    canonicals = parts.column("canonical", (), lambda row: canonical(statements[row]))
    # punctuation alone says nothing that could be searched or shown with profit; an emoji can
    says = parts.column("says", (), lambda row: any(map(str.isalnum, statements[row])) or bool(analyze(statements[row])))
    searchable = np.array([bool(text) and said for text, said in zip(texts, says, strict=True)], dtype=bool)
    index_rows = tuple(np.flatnonzero(searchable[bounds[number] : bounds[number + 1]]) + bounds[number] for number in range(3))
    vectors = np.zeros((len(entries), encoder.dim), dtype=np.float32)
    for rows, layer in zip(index_rows, ("memories", "episodes", "procedures"), strict=True):
        template = getattr(templates, layer)

        def embedded(missing: IntArray, template: str = template) -> FloatMatrix:
            return embed([texts[row] for row in missing], template)

        parts.array("vector", (templates, encoder.name, encoder.dim), rows, vectors, embedded)
    words = parts.column("words", (templates,), lambda row: analyze(texts[row]) if searchable[row] else [])
    keyword = KeywordIndex.build(words, k1=config.bm25_k1, b=config.bm25_b)
    tokens = np.array(parts.column("tokens", (config.encoding,), lambda row: count(lines[row], config.encoding)), dtype=np.int64)
    if isinstance(conflict_test, PerTextConflictTest):
        read = parts.column("read", (conflict_test.name,), lambda row: conflict_test.read(statements[row]))
        features = conflict_test.gather(read)
    else:
        features = conflict_test.features(statements)
    store._parts = parts.done()
    categories = tuple(sorted({entry.category for entry in entries}))
    code = {name: number for number, name in enumerate(categories)}
    changed = np.array([epoch_seconds(entry.changed_at) for entry in entries], dtype=np.float64)
    day = np.floor_divide(changed, 86_400.0).astype(np.int64)
    live = np.flatnonzero(searchable)
    floor_rows = live[np.linspace(0, live.size - 1, min(live.size, FLOOR_SAMPLE)).astype(np.int64)] if live.size else live
    return Snapshot(
        user_id=store.user_id,
        encoder_name=encoder.name,
        encoding=config.encoding,
        ids=tuple(entry.id for entry in entries),
        row_of={entry.id: row for row, entry in enumerate(entries)},
        entries=entries,
        bounds=bounds,  # type: ignore[arg-type]
        vectors=vectors,
        indexes=tuple(VectorIndex(vectors[rows], dim=encoder.dim) for rows in index_rows),  # type: ignore[arg-type]
        index_rows=index_rows,  # type: ignore[arg-type]
        keyword=keyword,
        importance=np.array([entry.importance for entry in entries], dtype=np.float64),
        confidence=np.array([entry.confidence for entry in entries], dtype=np.float64),
        access_count=np.array([entry.access_count for entry in entries], dtype=np.int64),
        changed=changed,
        day=day,
        category=np.array([code[entry.category] for entry in entries], dtype=np.int64),
        categories=categories,
        text_key=_text_keys(canonicals, bounds, day),
        searchable=searchable,
        is_preference=np.array([isinstance(entry, Memory) and entry.category == PREFERENCE for entry in entries], dtype=bool),
        lines=lines,
        tokens=tokens,
        conflict_features=features,
        soul=_soul_lines(store, config.encoding),
        silent_soul=tuple(
            (block.id, "it says nothing" if block.active else "not active in the store")
            for block in sorted(store.soul, key=lambda block: block.id)
            if not block.active or not soul_line(block)
        ),
        floor_rows=floor_rows,
        floor_vectors=np.ascontiguousarray(vectors[floor_rows]),
        fresh=parts.fresh,
    )


def _text_keys(canonicals: Sequence[str], bounds: tuple[int, ...], day: IntArray) -> IntArray:
    """Equal numbers for equal canonical text within a layer; for episodes also the day must be equal."""
    numbers: dict[tuple[int, int, str], int] = {}
    days = day.tolist()
    keys = []
    for layer in range(3):
        for row in range(bounds[layer], bounds[layer + 1]):
            key = (layer, days[row] if layer == 1 else 0, canonicals[row])
            keys.append(numbers.setdefault(key, len(numbers)))
    return np.array(keys, dtype=np.int64)


def _soul_lines(store: UserStore, encoding: str) -> tuple[SoulLine, ...]:
    groups = {"soul": 0, "style": 1, "context": 2}
    blocks = sorted(
        (block for block in store.soul if block.active), key=lambda block: (groups[block.group], block.priority, block.id)
    )
    rendered = [(block, soul_line(block)) for block in blocks]
    return tuple(SoulLine(block.id, block.group, line, count(line, encoding)) for block, line in rendered if line)
