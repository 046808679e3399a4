"""Difficulty: the reference rankings are what they say, broken scenarios and ambiguous judgements are reported."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from workbench.assembly.assembler import Assembler
from workbench.config import AssemblyConfig
from workbench.data.judged import JudgedDataset, JudgedQuery
from workbench.data.synthetic import Synthesis, synthesize_labelled
from workbench.embedding.cache import EmbeddingCache
from workbench.entries import Memory
from workbench.errors import ConfigError, DataError
from workbench.experiments.ambiguity import ambiguities
from workbench.experiments.arms import dataset_config, embed_queries
from workbench.experiments.difficulty import Difficulty, clean_recall, difficulty
from workbench.experiments.difficulty_arms import (
    ARMS,
    BM25,
    DENSE,
    NEWEST,
    NOISE,
    ORACLE,
    PRODUCTION,
    RANDOM,
    RELEVANCE_ONLY,
    SECONDARY,
    Scene,
    assembled,
    outcomes_of,
    scenes,
    with_noise,
)
from workbench.experiments.planted_pairs import check_pairs
from workbench.store.user import UserStore

NOW = "2026-06-01T09:00:00Z"


@pytest.fixture(scope="module")
def made() -> Synthesis:
    return synthesize_labelled(users=2, size=220, seed=4)


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> EmbeddingCache:
    return EmbeddingCache(tmp_path_factory.mktemp("vectors"))


@pytest.fixture(scope="module")
def measured(made: Synthesis, cache: EmbeddingCache, kit: Any) -> Difficulty:
    return difficulty(made.dataset, kit.Encoder(), planted=made.planted, cache=cache)


@pytest.fixture(scope="module")
def staged(made: Synthesis, cache: EmbeddingCache, kit: Any) -> list[Scene]:
    encoder = kit.Encoder()
    queries = [query for query in made.dataset.queries if query.relevant]
    vectors = embed_queries(encoder, queries, cache)
    config = dataset_config(made.dataset, AssemblyConfig())
    return [scene for _, part in scenes(made.dataset, queries, vectors, encoder, config, cache, 0) for scene in part]


def dataset_of(memories: Sequence[Memory], queries: Sequence[JudgedQuery], **config: Any) -> JudgedDataset:
    return JudgedDataset(
        name="hand-made",
        stores={"ana": UserStore("ana", memories=memories)},
        queries=tuple(queries),
        licence="none",
        source="test",
        checksum="0",
        config=config,
    )


def query(id: str, text: str, relevant: Sequence[str] = (), **fields: Any) -> JudgedQuery:
    return JudgedQuery(
        id=id, user_id="ana", query=text, now=NOW, relevant=dict.fromkeys(relevant, 2), answerable=bool(relevant), **fields
    )


def test_every_arm_is_measured_per_scenario(measured: Difficulty, made: Synthesis) -> None:
    rows = {row.scenario: row for row in measured.scenarios}
    assert set(rows) == {item.group for item in made.dataset.queries}
    assert rows["nothing_to_find"].n == 0
    assert not rows["nothing_to_find"].recall
    for row in measured.scenarios:
        assert row.n == sum(bool(item.relevant) and item.group == row.scenario for item in made.dataset.queries)
        if row.n:
            assert list(row.recall) == list(ARMS)
            assert all(0.0 <= value <= 1.0 for value in row.recall.values())
            assert row.recall[ORACLE] >= 0.95, row
            assert row.recall[ORACLE] >= row.recall[RANDOM]
    assert rows["preference"].recall[PRODUCTION] == 1.0
    assert measured.n_queries == len(made.dataset.queries)
    assert sum(measured.lost.values()) == sum(len(item.relevant) for item in made.dataset.queries)


def test_each_secondary_signal_decides_a_scenario(measured: Difficulty) -> None:
    # which of the families a search happens to rank high depends on the encoder; the signals must show in most of them
    rows = {row.signal: row for row in measured.signal_dependence}
    assert list(rows) == list(SECONDARY)
    assert sum(row.holds for row in rows.values()) >= 3
    for row in rows.values():
        assert row.holds == (row.recall - row.without >= 0.15 > row.recall - row.noisy)


def test_the_result_prints_tables_and_exports_strict_json(measured: Difficulty) -> None:
    text = str(measured)
    for word in (*ARMS, "importance_decides", "token budgets", "memories 190", "problems:", "superseded", "2 users"):
        assert word in text
    assert json.loads(json.dumps(measured.to_dict(), allow_nan=False))["measure"] == "clean context recall"
    frame = measured.to_dataframe()
    assert list(frame.columns) == ["scenario", "n", *ARMS, "broken"]
    assert frame.set_index("scenario").loc["nothing_to_find", list(ARMS)].isna().all()


def test_a_sample_of_users_is_named_as_one_and_measures_the_same_again(made: Synthesis, cache: EmbeddingCache, kit: Any) -> None:
    dataset = replace(made.dataset, queries=made.dataset.queries[::4])
    part, again, other = (difficulty(dataset, kit.Encoder(), users=1, cache=cache, seed=seed) for seed in (0, 0, 1))
    assert again.to_dict() == part.to_dict()
    recalls = [{arm: [row.recall[arm] for row in found.scenarios if row.n] for arm in ARMS} for found in (part, other)]
    assert recalls[0][RANDOM] != recalls[1][RANDOM]
    assert all(recalls[0][arm] == recalls[1][arm] for arm in ARMS if arm != RANDOM)
    first = next(iter(dataset.stores))
    assert part.n_queries == len(list(dataset.queries_of(first))) > 5
    assert "1 of 2 users" in str(part)
    for wrong in (0, True, "all"):
        with pytest.raises(ConfigError, match="users is"):
            difficulty(dataset, kit.Encoder(), users=wrong, cache=cache)  # type: ignore[arg-type]


def test_planted_pairs_are_what_they_are_labelled(measured: Difficulty) -> None:
    pairs = {row.kind: row for row in measured.pairs}
    assert {"superseded", "contradiction", "duplicate", "family", "recurring"} <= set(pairs)
    for row in pairs.values():
        assert row.conflict + row.duplicate + row.apart == row.n
        assert row.right <= row.n
    assert pairs["recurring"].right == pairs["recurring"].n
    assert pairs["family"].right >= 0.99 * pairs["family"].n
    assert pairs["duplicate"].duplicate > 0
    assert pairs["superseded"].conflict + pairs["contradiction"].conflict > 0


def test_arms_order_what_they_say(staged: list[Scene]) -> None:
    for scene in staged[:40]:
        (newest,) = outcomes_of(scene, NEWEST)
        store = {entry.id: entry for entry in scene.snapshot.entries}
        shown = [store[key].changed_at for key in newest.selected if store[key].layer == "memory"]
        active = sorted(entry.changed_at for entry in store.values() if entry.layer == "memory" and entry.status == "active")
        assert sorted(shown) == active[-len(shown) :]
        for arm, values in ((BM25, scene.bm25), (DENSE, np.maximum(scene.cosine, 0.0))):
            (outcome,) = outcomes_of(scene, arm)
            ranked = [values[scene.snapshot.row_of[key]] for key in outcome.ranking]
            assert ranked == sorted(ranked, reverse=True)
        (oracle,) = outcomes_of(scene, ORACLE)
        assert not set(oracle.selected) & set(scene.query.forbidden)
        assert set(scene.query.relevant) <= set(oracle.selected)
        draws = outcomes_of(scene, RANDOM)
        assert len({outcome.selected for outcome in draws}) > 1


def test_all_arms_have_the_same_room(staged: list[Scene]) -> None:
    for scene in staged[:20]:
        budget = scene.config.budgets.memories
        tokens = dict(zip(scene.snapshot.ids, scene.snapshot.tokens.tolist(), strict=True))
        for arm in ARMS:
            for outcome in outcomes_of(scene, arm):
                used = sum(tokens[key] for key in outcome.selected if key.startswith("m"))
                preferences = scene.preference_tokens if arm in ("fused", "production") else 0
                assert used <= budget - scene.preference_tokens + preferences


def test_production_is_what_the_assembler_does(made: Synthesis, staged: list[Scene], cache: EmbeddingCache, kit: Any) -> None:
    scene = staged[0]
    config = dataset_config(made.dataset, AssemblyConfig())
    assembler = Assembler(made.dataset.stores[scene.query.user_id], encoder=kit.Encoder(), cache=cache)
    for part in [item for item in staged if item.query.user_id == scene.query.user_id][:12]:
        context = assembler.assemble(part.query.query, now=part.query.now, config=config)
        soul = {block.id for block in made.dataset.stores[part.query.user_id].soul}
        (outcome,) = outcomes_of(part, PRODUCTION)
        assert outcome.selected == tuple(key for key in context.selected_ids if key not in soul)


def test_noise_moves_only_the_signals_it_is_put_on(staged: list[Scene]) -> None:
    scene = staged[0]
    pool = scene.found.pool
    noisy = with_noise(scene, ("recency", "frequency"), 0)
    assert np.array_equal(noisy.importance, pool.importance)
    assert np.array_equal(noisy.confidence, pool.confidence)
    half_life = scene.config.half_life_days
    before = np.exp2(-np.maximum(scene.now - pool.changed, 0) / 86_400 / half_life)
    after = np.exp2(-(scene.now - noisy.changed) / 86_400 / half_life)
    assert 0.01 < np.abs(after - before).max() <= NOISE + 1e-9
    assert (noisy.access_count >= 0).all()
    assert not np.array_equal(with_noise(scene, ("importance",), 0).importance, with_noise(scene, ("importance",), 1).importance)
    assert np.array_equal(with_noise(scene, ("importance",), 0).importance, with_noise(scene, ("importance",), 0).importance)


def test_a_shown_forbidden_entry_makes_recall_zero(staged: list[Scene]) -> None:
    scene = next(item for item in staged if item.query.forbidden)
    (outcome,) = outcomes_of(scene, ORACLE)
    assert clean_recall([outcome]) == 1.0
    wanted = next(iter(scene.query.relevant))
    stale = replace(outcome, selected=(wanted, scene.query.forbidden[0]))
    assert clean_recall([stale]) == 0.0
    assert clean_recall([outcome, stale]) == 0.5


def family(count: int, **changes: Callable[[int], Any]) -> list[Memory]:
    return [
        Memory(
            id=f"m{number}",
            text=f"Saw a {bird} from the pier",
            created_at=f"2026-01-{number + 1:02d}",
            **{name: value(number) for name, value in changes.items()},
        )
        for number, bird in enumerate(("heron", "gull", "owl", "crane", "swift", "robin", "lark", "tern")[:count])
    ]


def test_scenarios_that_measure_nothing_are_reported(cache: EmbeddingCache, kit: Any) -> None:
    memories = family(8)
    found = difficulty(
        dataset_of(
            memories,
            [
                query("q1", "the heron", ["m0"], group="too_easy"),
                query("q2", "what came by last?", ["m7"], group="newest_wins"),
                query("q3", "everything from the pier", [f"m{number}" for number in range(8)], group="does_not_fit"),
                query("q4", "the swift", ["m4"], group="same_text"),
                query("q5", "The  SWIFT", ["m5"], group="same_text"),
            ],
            budgets={"memories": 40},
        ),
        kit.Encoder(),
        cache=cache,
    )
    broken = {row.scenario: row.broken for row in found.scenarios}
    assert broken["too_easy"] == ("BM25 alone answers it completely (of only 1 queries)",)
    assert any("newest-first alone answers it completely" in reason for reason in broken["newest_wins"])
    assert any("the oracle reaches only" in reason for reason in broken["does_not_fit"])
    problems = "\n".join(found.problems)
    assert "q4 and q5 ask the same and want different entries" in problems
    assert "the signal does not decide" in problems
    assert found.problems[0] in str(found)


def test_ambiguous_judgements_are_found() -> None:
    memories = [
        Memory(id="a", text="The key hangs by the door", created_at="2026-01-01"),
        Memory(id="b", text="the key  hangs by the door", created_at="2026-01-01"),
        Memory(id="c", text="The key hangs by the door", created_at="2026-01-02"),
    ]
    found = ambiguities(dataset_of(memories, [query("q1", "Where is the key?", ["a"])]))
    assert [(item.kind, item.other) for item in found] == [("same_entry", "b")]
    grouped = query("q2", "Where is the key?", ["a"], duplicates=(("a", "b"),))
    assert ambiguities(dataset_of(memories, [grouped])) == ()
    both = query("q3", "Where is the key?", ["a", "b"])
    assert ambiguities(dataset_of(memories, [both])) == ()
    twice = [query("q4", "Where is it?", ["c"]), query("q5", "where is  IT?", [])]
    assert [item.kind for item in ambiguities(dataset_of(memories, twice))] == ["same_question"]
    again = [query("q6", "Where is it?", ["c"]), query("q7", "Where is it?", ["c"])]
    assert ambiguities(dataset_of(memories, again)) == ()


def test_judged_pairs_are_checked_where_nothing_is_planted(cache: EmbeddingCache, kit: Any) -> None:
    memories = [
        Memory(id="old", text="The stand-up starts at 9:30", created_at="2025-01-01"),
        Memory(id="new", text="The stand-up starts at 10:15", created_at="2026-01-01"),
        Memory(id="marked", text="The stand-up starts at 8:00", created_at="2024-01-01", status="superseded"),
    ]
    dataset = dataset_of(memories, [query("q", "When is the stand-up?", ["new"], forbidden=("old", "marked"))])
    found = difficulty(dataset, kit.Encoder(), cache=cache)
    (row,) = found.pairs
    assert (row.kind, row.n, row.conflict, row.marked) == ("superseded", 1, 1, 1)
    assert check_pairs(dataset, {}, AssemblyConfig()) == ()


def test_nothing_to_measure_is_an_error(kit: Any) -> None:
    with pytest.raises(DataError, match="no judged queries"):
        difficulty(dataset_of([], []), kit.Encoder())


def test_relevance_only_ignores_the_other_signals(staged: list[Scene]) -> None:
    scene = staged[0]
    one = assembled(scene, scene.found.pool, RELEVANCE_ONLY)
    other = assembled(scene, with_noise(scene, SECONDARY, 3), RELEVANCE_ONLY)
    assert one.ranking == other.ranking


@pytest.mark.slow
def test_the_generated_scenarios_measure_what_they_say_under_the_bundled_encoder(cache: EmbeddingCache, bundled: Any) -> None:
    made = synthesize_labelled(users=4, size=300, seed=7)
    found = difficulty(made.dataset, bundled, planted=made.planted, cache=cache)
    assert found.problems == (), found
    family = next(row for row in found.pairs if row.kind == "family")
    assert family.duplicate == 0
    assert family.conflict <= 0.002 * family.n
