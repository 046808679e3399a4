"""Reference rankings that a dataset's difficulty is measured with: from picking at random to knowing the labels.

All of them fill the same token budgets with the same rules; they differ in how entries are ordered. The simple ones rank
the whole store and have no standing preferences and no conflict or duplicate stage; ``fused`` and ``production`` are the
assembler itself.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from workbench.assembly.assembler import Assembler, Candidates
from workbench.assembly.preferences import Preferences
from workbench.assembly.selection import select
from workbench.config import SIGNALS, AssemblyConfig, Weights
from workbench.data.judged import JudgedDataset, JudgedQuery
from workbench.embedding.cache import EmbeddingCache
from workbench.embedding.encoder import Encoder, FloatMatrix
from workbench.entries import epoch_seconds
from workbench.experiments.outcome import Outcome
from workbench.search.pool import FloatArray, IntArray, Pool
from workbench.search.retrieve import cosines
from workbench.store.snapshot import Snapshot
from workbench.text.analysis import analyze_query

RANDOM, NEWEST, BM25, DENSE, FUSED, PRODUCTION, ORACLE = ARMS = (
    "random", "newest", "bm25", "dense", "fused", "production", "oracle",
)  # fmt: skip
"""Names of the arms: any order; newest first; one search arm alone; the assembler with relevance only; with production weights;
the labels."""

SECONDARY = SIGNALS[1:]
RELEVANCE_ONLY = Weights(relevance=1.0, importance=0.0, confidence=0.0, recency=0.0, frequency=0.0)
NOISE = 0.2
"""Half width of the noise put on a signal, which lies in [0, 1]."""
DRAWS = 5
"""How often an arm with chance in it is repeated; its recall is the mean."""


@dataclass(frozen=True, eq=False)
class Scene:
    """One query before ranking: the compiled store, what search found, and the settings.

    preference_tokens: what the standing preferences take of the memory budget.
    """

    query: JudgedQuery
    snapshot: Snapshot
    found: Candidates
    preferences: Preferences
    preference_tokens: int
    cosine: FloatArray
    bm25: FloatArray
    now: float
    config: AssemblyConfig
    seed: int


def scenes(
    dataset: JudgedDataset,
    queries: Sequence[JudgedQuery],
    vectors: FloatMatrix,
    encoder: Encoder,
    config: AssemblyConfig,
    cache: EmbeddingCache | None,
    seed: int,
) -> Iterator[tuple[Assembler, list[Scene]]]:
    """The scenes of ``queries`` (all of one user together, in order), store by store."""
    for user_id in dict.fromkeys(query.user_id for query in queries):
        assembler = Assembler(dataset.stores[user_id], encoder=encoder, cache=cache)
        settings = assembler.settings(config=config)
        snapshot = assembler.snapshot(settings)
        preferences = assembler.preferences(snapshot, settings)
        scene_list = []
        for row, query in enumerate(queries):
            if query.user_id != user_id:
                continue
            scores = snapshot.keyword.scores(analyze_query(query.query))
            now = epoch_seconds(query.now)
            found, _ = assembler.candidates(snapshot, vectors[row], scores, now, settings)
            taken = select(snapshot, found.pool, preferences, now, settings).tokens["preferences"]
            scene_list.append(
                Scene(
                    query=query,
                    snapshot=snapshot,
                    found=found,
                    preferences=preferences,
                    preference_tokens=taken,
                    cosine=cosines(snapshot.vectors, vectors[row]),
                    bm25=scores,
                    now=now,
                    config=settings,
                    seed=seed,
                )
            )
        yield assembler, scene_list


def outcomes_of(scene: Scene, arm: str) -> list[Outcome]:
    """What an arm puts into the context: one outcome, or ``DRAWS`` of them where chance is involved."""
    if arm == FUSED:
        return [assembled(scene, scene.found.pool, RELEVANCE_ONLY)]
    if arm == PRODUCTION:
        return [assembled(scene, scene.found.pool, scene.config.weights)]
    rows = np.flatnonzero(scene.snapshot.searchable).astype(np.int64)
    if arm == RANDOM:
        return [_ranked(scene, rows, random_numbers(scene, "order", draw, rows.size)) for draw in range(DRAWS)]
    if arm == BM25:
        rows = rows[scene.bm25[rows] > 0]
        return [_ranked(scene, rows, scene.bm25[rows] / max(float(scene.bm25.max()), 1e-9))]
    if arm == DENSE:
        return [_ranked(scene, rows, np.maximum(scene.cosine[rows], 0.0))]
    if arm == ORACLE:
        ids = scene.snapshot.ids
        rows = np.array([row for row in rows.tolist() if ids[row] not in scene.query.forbidden], dtype=np.int64)
        wanted = np.array([float(ids[row] in scene.query.relevant) for row in rows.tolist()])
        return [_ranked(scene, rows, wanted)]
    # rows are sorted newer first, and equal scores keep the order of rows
    return [_ranked(scene, rows, np.zeros(rows.size))]


def _ranked(scene: Scene, rows: IntArray, relevance: FloatArray) -> Outcome:
    snapshot = scene.snapshot
    pool = Pool(
        row=rows,
        layer=np.searchsorted(np.asarray(snapshot.bounds[1:3]), rows, side="right").astype(np.int64),
        arms=np.zeros(rows.size, dtype=np.int64),
        cosine=scene.cosine[rows],
        bm25=scene.bm25[rows],
        relevance=relevance,
        importance=snapshot.importance[rows],
        confidence=snapshot.confidence[rows],
        changed=snapshot.changed[rows],
        access_count=snapshot.access_count[rows],
        category=snapshot.category[rows],
        tokens=snapshot.tokens[rows],
    )
    none = replace(scene.preferences, rows=np.empty(0, dtype=np.int64))
    return assembled(scene, pool, RELEVANCE_ONLY, none)


def assembled(scene: Scene, pool: Pool, weights: Weights, preferences: Preferences | None = None) -> Outcome:
    """Rank and fill the budgets as the assembler does, under other weights or another pool.

    Without the standing preferences the room for memories is what they would leave, so that all arms have the same.
    """
    config = replace(scene.config, weights=weights, min_score=0.0)
    if preferences is not None:
        budgets = replace(config.budgets, memories=config.budgets.memories - scene.preference_tokens)
        config = replace(config, budgets=budgets)
    selection = select(scene.snapshot, pool, preferences or scene.preferences, scene.now, config)
    ids = scene.snapshot.ids
    shown = tuple(ids[row] for rows in selection.rows.values() for row in rows.tolist())
    ranking = tuple(ids[row] for row in pool.row[selection.order].tolist())
    return Outcome(query=scene.query, ranking=ranking, selected=shown, tokens=selection.tokens["total"])


def without(weights: Weights, signal: str) -> Weights:
    """``weights`` with one of them set to 0."""
    return replace(weights, **{signal: 0.0})


def random_numbers(scene: Scene, purpose: str, draw: int, size: int) -> FloatArray:
    """Numbers in [0, 1) that depend on seed, query, purpose and draw alone, shape (size,)."""
    name = f"{scene.seed}\x1f{scene.query.id}\x1f{purpose}\x1f{draw}".encode()
    seed = int.from_bytes(hashlib.sha256(name).digest()[:8], "big")
    return np.random.Generator(np.random.PCG64(seed)).random(size)


def with_noise(scene: Scene, signals: Sequence[str], draw: int) -> Pool:
    """The scored pool with uniform noise of +-``NOISE`` on the given signals, which stay within [0, 1].

    Recency and frequency are moved as signals and turned back into a time of change and a count.
    """
    pool, config = scene.found.pool, scene.config
    changes: dict[str, FloatArray | IntArray] = {}
    for signal in signals:
        noise = (2.0 * random_numbers(scene, signal, draw, len(pool)) - 1.0) * NOISE
        if signal in ("importance", "confidence"):
            changes[signal] = np.clip(getattr(pool, signal) + noise, 0.0, 1.0)
        elif signal == "recency":
            age = np.maximum((scene.now - pool.changed) / 86_400.0, 0.0)
            value = np.clip(np.exp2(-age / config.half_life_days) + noise, 1e-6, 1.0)
            changes["changed"] = scene.now + 86_400.0 * config.half_life_days * np.log2(value)
        else:
            top = np.log1p(float(config.frequency_saturation))
            value = np.clip(np.log1p(np.minimum(pool.access_count, config.frequency_saturation)) / top + noise, 0.0, 1.0)
            changes["access_count"] = np.rint(np.expm1(value * top)).astype(np.int64)
    fields: Mapping[str, FloatArray | IntArray] = changes
    return replace(pool, **fields)  # type: ignore[arg-type]
