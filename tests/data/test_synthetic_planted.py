"""What the generator plants is really there: newer is newer, twins are elsewhere, families are level, words give nothing away."""

from __future__ import annotations

import re
from collections import Counter
from itertools import combinations
from typing import Any

import pytest

from workbench.data.judged import JudgedQuery
from workbench.data.synthetic import Planted, Synthesis, synthesize_labelled
from workbench.entries import Memory
from workbench.text.analysis import analyze, analyze_query, canonical

SIGNALS = ("recency", "importance", "confidence", "frequency")


@pytest.fixture(scope="module", params=[(8, 300, 7), (4, 900, 23)], ids=["300", "900"])
def made(request: Any) -> Synthesis:
    users, size, seed = request.param
    return synthesize_labelled(users=users, size=size, seed=seed)


def entries_of(made: Synthesis, label: Planted) -> list[Any]:
    return [made.dataset.stores[user][entry] for user, entry in label.entries]


def labels(made: Synthesis, kind: str) -> list[Planted]:
    found = [label for label in made.planted if label.kind == kind]
    assert found, kind
    return found


def query_of(made: Synthesis, label: Planted) -> list[JudgedQuery]:
    user, wanted = label.entries[0]
    return [query for query in made.dataset.queries_of(user) if wanted in query.relevant]


def test_counts_of_labels_stand_in_the_notes(made: Synthesis) -> None:
    counts = Counter(f"planted_{label.kind}" for label in made.planted)
    assert dict(made.dataset.notes) == dict(sorted(counts.items()))


def test_successors_are_newer_and_the_older_ones_forbidden(made: Synthesis) -> None:
    statuses = Counter()
    for label in [*labels(made, "superseded"), *labels(made, "contradiction")]:
        found = entries_of(made, label)
        times = [entry.changed_at for entry in found]
        assert times == sorted(times, reverse=True)
        assert len(set(times)) == len(times)
        assert found[0].status == "active"
        assert len({canonical(entry.text) for entry in found}) == len(found)
        asked = [query for query in query_of(made, label) if query.group == "superseded_fact"]
        assert asked
        for query in asked:
            assert set(query.forbidden) == {entry.id for entry in found[1:]}
        statuses.update(entry.status for entry in found[1:])
    assert statuses["active"] > 2 * statuses["superseded"] > 0


def test_duplicates_say_the_same_and_the_newest_is_wanted(made: Synthesis) -> None:
    for label in labels(made, "duplicate"):
        found = entries_of(made, label)
        times = [entry.changed_at for entry in found]
        assert times == sorted(times, reverse=True)
        ids = {entry.id for entry in found}
        for query in query_of(made, label):
            if query.duplicates:
                assert ids in [set(group) for group in query.duplicates]
                assert ids & set(query.relevant) == {found[0].id}
        texts = {canonical(entry.text) for entry in found}
        # some are exact up to case and spacing, and one at least is in other words
        assert 2 <= len(texts) < len(found)


def test_twins_are_in_other_users_only_and_questions_do_not_cross(made: Synthesis) -> None:
    for label in labels(made, "twin"):
        (one, first), (two, second) = label.entries
        assert one != two
        stores = made.dataset.stores
        text = stores[one][first].text
        assert stores[two][second].text == text
        for user in (one, two):
            assert [memory.text for memory in stores[user].memories].count(text) == 1
    leaks = [label for label in labels(made, "unanswerable") if "only another user" in label.note]
    assert len(leaks) == len(made.dataset.stores)
    for label in leaks:
        user = label.entries[0][0]
        asked = {query.query for query in made.dataset.queries_of(user) if not query.answerable}
        others = {
            query.query: query
            for query in made.dataset.queries
            if query.user_id != user and query.answerable and query.group == "exact_term"
        }
        # the same question is answerable for the twin
        assert asked & set(others)


def test_families_are_level_but_for_the_signal_that_decides(made: Synthesis) -> None:
    seen = Counter()
    for label in labels(made, "family"):
        signal = label.note.partition(" ")[0]
        seen[signal] += 1
        found = entries_of(made, label)
        queries = query_of(made, label)
        wanted = set(queries[0].relevant)
        assert [entry.id in wanted for entry in found] == [True] * len(wanted) + [False] * (len(found) - len(wanted))
        assert {query.group for query in queries} == {f"{signal}_decides"}
        now = queries[0].now
        values = {
            "importance": [entry.importance for entry in found],
            "confidence": [entry.confidence for entry in found],
            "frequency": [entry.access_count for entry in found],
            "recency": [-(now - entry.changed_at).total_seconds() / 86_400 for entry in found],
        }
        for name in SIGNALS:
            if name == signal:
                best = max(values[name][len(wanted) :])
                gap = {"importance": 0.3, "confidence": 0.3, "frequency": 20, "recency": 50}[name]
                assert min(values[name][: len(wanted)]) >= best + gap
            elif name == "recency":
                assert max(values[name]) - min(values[name]) <= 2.01
            else:
                assert len(set(values[name])) == 1, name
        assert len({entry.status for entry in found}) == 1
    assert set(seen) == set(SIGNALS)


def test_words_of_the_question_do_not_give_the_wanted_entry_away(made: Synthesis) -> None:
    for label in labels(made, "family"):
        found = entries_of(made, label)
        for query in query_of(made, label):
            asked = set(analyze_query(query.query))
            shared = [asked & set(analyze(entry.text)) for entry in found]
            common = set.intersection(*shared)
            assert common, query.query
            number = len(query.relevant)
            usual = sorted(len(part) for part in shared[number:])[len(found[number:]) // 2]
            assert all(len(part) <= max(usual, len(common)) for part in shared[:number]), query.query
            # a rare word of the question is in every member or in hardly any
            if query.lang == "en":
                for word in asked - common:
                    assert sum(word in part for part in shared) <= 1, (word, query.query)


def test_families_have_their_topic_to_themselves(made: Synthesis) -> None:
    for label in labels(made, "family"):
        found = entries_of(made, label)
        common = set.intersection(*({word for word in re.findall(r"\w+", entry.text) if len(word) > 3} for entry in found))
        if not common:
            continue  # Korean particles hang on the name
        ids = {entry.id for entry in found}
        store = made.dataset.stores[label.entries[0][0]]
        others = [memory for memory in store.memories if memory.id not in ids]
        assert not [memory.text for memory in others if common <= set(re.findall(r"\w+", memory.text))]


def test_members_of_a_family_are_far_from_saying_the_same(made: Synthesis) -> None:
    for label in labels(made, "family"):
        for one, two in combinations(entries_of(made, label), 2):
            first, second = set(analyze(one.text)), set(analyze(two.text))
            assert len(first & second) / len(first | second) < 0.75, (one.text, two.text)


def test_recurring_events_fall_on_different_days_and_months(made: Synthesis) -> None:
    for label in labels(made, "recurring"):
        found = entries_of(made, label)
        assert len(found) >= 5
        assert len({(entry.occurred_at.year, entry.occurred_at.month) for entry in found}) == len(found)
        assert len({entry.summary for entry in found}) == len(found)


def test_paraphrases_share_no_content_word_with_their_question(made: Synthesis) -> None:
    asked = [query for query in made.dataset.queries if query.group == "paraphrase" and query.lang == "en"]
    assert asked
    for query in asked:
        store = made.dataset.stores[query.user_id]
        for key in query.relevant:
            assert not set(analyze_query(query.query)) & set(analyze(store[key].text)), (query.query, store[key].text)


def test_preferences_are_standing_ones_and_not_named_by_their_question(made: Synthesis) -> None:
    for query in made.dataset.queries:
        if query.group != "preference":
            continue
        store = made.dataset.stores[query.user_id]
        (entry,) = (store[key] for key in query.relevant)
        assert isinstance(entry, Memory)
        assert entry.category == "preference"
        assert entry.importance >= 0.7
        if query.lang == "en":
            assert not set(analyze_query(query.query)) & set(analyze(entry.text)), (query.query, entry.text)


def test_identifiers_are_borne_by_many_entries_and_evidence_mixes_layers(made: Synthesis) -> None:
    for label in labels(made, "identifier"):
        found = entries_of(made, label)
        assert len(found) >= 10
        assert all(label.note in entry.text for entry in found)
    layers = [{entry.layer for entry in entries_of(made, label)} for label in labels(made, "evidence")]
    assert any(len(part) > 1 for part in layers)
    for label in labels(made, "evidence"):
        assert 2 <= len(label.entries) <= 4
        assert all({entry for _, entry in label.entries} == set(query.relevant) for query in query_of(made, label)[:1])


def test_layers_answer_what_they_are_asked(made: Synthesis) -> None:
    for query in made.dataset.queries:
        layers = {made.dataset.stores[query.user_id][key].layer for key in query.relevant}
        if query.group == "how_to":
            assert layers == {"procedure"}
        elif query.group == "past_episode":
            assert layers == {"episode"}
        elif query.group not in ("multi_evidence", "nothing_to_find"):
            assert layers == {"memory"}


def test_roles_do_not_show_in_ids_order_or_tags(made: Synthesis) -> None:
    for store in made.dataset.stores.values():
        created = [memory.created_at for memory in store.memories]
        assert created == sorted(created)
        words = {tag for memory in store.memories for tag in memory.tags} | {memory.source for memory in store.memories}
        assert not words & {"wanted", "relevant", "planted", "distractor", "family_member", "twin", "duplicate"}
