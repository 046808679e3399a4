"""The generator: same bytes everywhere, right sizes, all scenarios, clear errors."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workbench.config import AssemblyConfig
from workbench.data.files import load_directory
from workbench.data.saving import save_directory, saved_checksum
from workbench.data.synthetic import DESCRIPTION, synthesize, synthesize_labelled, synthesize_user
from workbench.data.synthetic.labels import read_labels, write_labels
from workbench.data.synthetic.plan import MIN_SIZE
from workbench.data.synthetic.wording import LANGUAGES
from workbench.errors import DataError
from workbench.experiments.ambiguity import ambiguities

SCENARIOS = {
    "exact_term", "code_identifier", "paraphrase", "recency_decides", "importance_decides", "confidence_decides",
    "frequency_decides", "superseded_fact", "duplicate", "preference", "how_to", "past_episode", "multi_evidence",
    "nothing_to_find",
}  # fmt: skip
SCRIPT = """
import json, sys
from workbench.data.synthetic import synthesize, synthesize_user
from workbench.data.synthetic.wording import LANGUAGES
order = json.loads(sys.argv[1])
users = {i: synthesize_user(i, size=220, seed=5, languages=LANGUAGES).store.fingerprint for i in order}
print(json.dumps([synthesize(users=3, size=220, seed=5).checksum, [users[i] for i in sorted(users)]]))
"""


def in_another_process(hash_seed: str, order: list[int]) -> tuple[str, list[str]]:
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, json.dumps(order)],
        env={**os.environ, "PYTHONHASHSEED": hash_seed, "LC_ALL": "C"},
        capture_output=True,
        text=True,
        check=True,
    )
    checksum, fingerprints = json.loads(done.stdout)
    return checksum, fingerprints


def test_same_bytes_in_any_process_hash_seed_and_order() -> None:
    here = synthesize(users=3, size=220, seed=5)
    expected = here.checksum, [store.fingerprint for store in here.stores.values()]
    assert in_another_process("0", [0, 1, 2]) == expected
    assert in_another_process("4242", [2, 0, 1]) == expected


def test_other_seeds_give_other_users() -> None:
    first, second = synthesize(users=1, size=200, seed=1), synthesize(users=1, size=200, seed=2)
    texts = [{entry.text for store in made.stores.values() for entry in store.memories} for made in (first, second)]
    assert len(texts[0] & texts[1]) < 8  # a remark without any name may return


def test_the_first_users_do_not_depend_on_how_many_there_are() -> None:
    few, many = synthesize(users=2, size=200, seed=9), synthesize(users=5, size=200, seed=9)
    assert list(few.stores) == list(many.stores)[:2]
    for user_id, store in few.stores.items():
        assert store.fingerprint == many.stores[user_id].fingerprint
        assert list(few.queries_of(user_id)) == list(many.queries_of(user_id))


def test_the_saved_form_reads_back_equal_with_the_same_checksum(tmp_path, as_values) -> None:
    made = synthesize(users=2, size=200, seed=3)
    back = load_directory(save_directory(made, tmp_path / "set", description=DESCRIPTION))
    assert as_values(back) == as_values(made)
    assert back.checksum == made.checksum == saved_checksum(made, description=DESCRIPTION)
    changed = replace(made, notes={**made.notes, "planted_twin": 99})
    assert saved_checksum(changed, description=DESCRIPTION) != made.checksum


@settings(max_examples=12, deadline=None)
@given(
    users=st.integers(1, 3),
    size=st.integers(MIN_SIZE, 700),
    seed=st.integers(0, 2**63 - 1),
    others=st.lists(st.sampled_from(LANGUAGES[1:]), unique=True, max_size=4),
)
def test_any_parameters_give_full_stores_and_all_scenarios(users: int, size: int, seed: int, others: list[str]) -> None:
    made = synthesize(users=users, size=size, seed=seed, languages=["en", *others])
    assert len(made.stores) == users
    assert {len(store) for store in made.stores.values()} == {size}
    assert ambiguities(made) == ()
    AssemblyConfig().override(**made.config)
    for number, user_id in enumerate(made.stores):
        own = list(made.queries_of(user_id))
        counts = Counter(query.group for query in own)
        assert set(counts) == SCENARIOS
        assert all(query.lang in ("en", *others) for query in own)
        # the second languages go round
        assert {query.lang for query in own} == ({"en", others[number % len(others)]} if others else {"en"})
        for query in own:
            assert query.answerable == (query.group != "nothing_to_find")
            assert query.decided_by
            assert all(entry.changed_at < query.now for entry in made.stores[user_id].memories)


def test_memories_are_distinct_apart_from_planted_copies() -> None:
    made = synthesize_labelled(users=1, size=4_000, seed=1)
    store = next(iter(made.dataset.stores.values()))
    copies = {entry for label in made.planted if label.kind == "duplicate" for _, entry in label.entries}
    texts = [memory.text.casefold() for memory in store.memories if memory.id not in copies]
    assert len(texts) - len(set(texts)) <= 2
    summaries = [episode.summary for episode in store.episodes]
    assert len(set(summaries)) == len(summaries)


def test_what_is_in_the_store_has_the_spread_of_a_life() -> None:
    made = synthesize(users=6, size=400, seed=2)
    memories = [memory for store in made.stores.values() for memory in store.memories]
    accesses = sorted(memory.access_count for memory in memories)
    assert accesses[len(accesses) // 2] <= 3
    assert accesses[-len(accesses) // 50] >= 15
    assert accesses[-1] >= 80
    assert len({memory.importance for memory in memories}) > 50
    assert {"chat", "inference", "second-hand", "note"} <= {memory.source for memory in memories}
    stated = [memory.confidence for memory in memories if memory.source == "chat"]
    told = [memory.confidence for memory in memories if memory.source == "second-hand"]
    assert sum(stated) / len(stated) > 0.85 > 0.6 > sum(told) / len(told)
    spans = [(max(m.created_at for m in s.memories) - min(m.created_at for m in s.memories)).days for s in made.stores.values()]
    assert all(300 < span < 1_600 for span in spans)
    assert sum(memory.updated_at > memory.created_at for memory in memories) > len(memories) // 40


@pytest.mark.parametrize(
    ("changes", "word"),
    [
        ({"users": 0}, "users is 0"),
        ({"users": True}, "users is True"),
        ({"users": "3"}, "users is '3'"),
        ({"size": MIN_SIZE - 1}, f"size is {MIN_SIZE - 1}"),
        ({"size": 200_001}, "200000"),
        ({"size": 250.0}, "size is 250.0"),
        ({"seed": -1}, "seed is -1"),
        ({"seed": None}, "seed is None"),
        ({"languages": []}, "languages"),
        ({"languages": "en"}, "languages is 'en'"),
        ({"languages": ["de", "en"]}, "English comes first"),
        ({"languages": ["en", "fr"]}, "known are en, es, de, pt, ko"),
        ({"languages": ["en", "es", "es"]}, "each language once"),
    ],
)
def test_parameters_out_of_range_are_refused(changes: dict[str, object], word: str) -> None:
    with pytest.raises(DataError, match=word):
        synthesize(**{"users": 1, "size": 200, "seed": 0, **changes})  # type: ignore[arg-type]


def test_labels_survive_a_file(tmp_path) -> None:
    planted = synthesize_labelled(users=2, size=200, seed=1).planted
    assert read_labels(write_labels(planted, tmp_path / "deep" / "labels.jsonl")) == planted
    bad = tmp_path / "bad.jsonl"
    bad.write_text('{"kind":"twin","entries":[["a"]],"note":""}\n', encoding="utf-8")
    with pytest.raises(DataError, match=r"bad\.jsonl, line 1: .*pairs"):
        read_labels(bad)
    with pytest.raises(DataError, match="cannot read"):
        read_labels(tmp_path / "none.jsonl")


def test_speed_is_printed(capsys) -> None:
    start = time.process_time()
    for index in range(10):
        synthesize_user(index, size=300, seed=1, languages=LANGUAGES)
    with capsys.disabled():
        print(f" [{100 * (time.process_time() - start):.0f} ms of CPU a user of 300 entries]", end="")
