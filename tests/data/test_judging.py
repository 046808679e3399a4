"""Labelling: pools that tell nothing, a log that survives a crash, sessions that go on, and agreement."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workbench.config import PRESETS
from workbench.data.agreement import agreement, all_agreements, cohen_kappa
from workbench.data.exporting import as_dataset
from workbench.data.files import load_directory, save_directory
from workbench.data.judged import JudgedDataset, JudgedQuery
from workbench.data.judging import JudgingSession, judged_dataset
from workbench.data.judging_loop import judge_in_notebook, judge_in_terminal, printable
from workbench.data.labels import LABELS, Judgements, Label, LabelLog, read_labels
from workbench.data.pooling import Ask, build_pools, pool, read_queries
from workbench.embedding.encoder import load_encoder
from workbench.entries import Episode, Memory
from workbench.errors import ConfigError, DataError
from workbench.store.user import UserStore

AT = datetime(2026, 1, 1, tzinfo=UTC)


def dataset() -> JudgedDataset:
    memories = [Memory(id=f"m{number}", text=f"Fact {number}.\x1b[31m", created_at=AT) for number in range(6)]
    return as_dataset(UserStore("ana", memories=memories, episodes=[Episode(id="e", summary="Regatta", occurred_at=AT)]))


def query(key: str = "q1") -> JudgedQuery:
    return JudgedQuery(id=key, user_id="ana", query=f"What of {key}?", now=AT, judged=False)


ASKS = (Ask(query=query("q1"), candidates=("m0", "m1", "e")), Ask(query=query("q2"), candidates=("m2", "m3")))


@pytest.fixture
def log(tmp_path: Path) -> Iterator[LabelLog]:
    with LabelLog(tmp_path / "labels.jsonl") as made:
        yield made


def test_pools_are_unions_in_an_order_that_tells_nothing() -> None:
    rankings = [tuple(f"m{number}" for number in range(40)), ("m3", "x", "y")]
    asks = [pool(query(key), rankings, seed=0) for key in ("q1", "q2")]
    assert set(asks[0].candidates) == {*rankings[0], "x", "y"}
    assert len(asks[0].candidates) == 42
    assert asks[0].candidates != asks[1].candidates
    assert pool(query("q1"), rankings[::-1], seed=0) == asks[0]
    assert pool(query("q1"), rankings, seed=1).candidates != asks[0].candidates
    # the place in a ranking does not show: no more neighbours stay in order than chance has it
    ranks = [int(key[1:]) for key in asks[0].candidates if key.startswith("m")]
    assert 8 <= sum(a < b for a, b in pairwise(ranks)) <= 31


STATEMENTS = (
    "The standup is at 9:00.", "The standup is at 10:30.", "Owns a kiln in the shed.", "Allergic to walnuts.",
    "Drinks tea, never coffee.", "The ferret is called Biscuit.", "Cycles to the pottery.", "Sells mugs at the market.",
)  # fmt: skip


@pytest.mark.slow
def test_pools_of_real_configurations() -> None:
    memories = [
        Memory(id=f"m{number}", text=text, created_at=AT + timedelta(days=number)) for number, text in enumerate(STATEMENTS)
    ]
    own = as_dataset(UserStore("ana", memories=memories))
    queries = [
        JudgedQuery(id=key, user_id="ana", query=text, now=AT + timedelta(days=60), judged=False)
        for key, text in (("q1", "When is the standup?"), ("q2", "Which hot drink?"))
    ]
    told: list[int] = []
    configs = {name: PRESETS[name] for name in ("production", "relevance-only")}
    more: dict[str, Any] = {"seed": 3, "cache": False, "encoder": load_encoder()}
    asks = build_pools(own, queries, configs, depth=1, step=told.append, **more)
    assert asks == build_pools(own, queries, dict(reversed(configs.items())), depth=1, **more)
    assert told == [1, 1]
    # the older time was held for superseded: it is shown all the same, or nobody could call it stale
    assert {"m0", "m1"} <= set(asks[0].candidates)
    assert "m4" in asks[1].candidates
    assert all(len(ask.candidates) == len(set(ask.candidates)) for ask in asks)
    for depth in (0, 1.5, True):
        with pytest.raises(DataError, match="depth is"):
            build_pools(own, queries, configs, depth=depth)  # type: ignore[arg-type]
    with pytest.raises(DataError, match="no configuration"):
        build_pools(own, queries, {})
    with pytest.raises(DataError, match="who has no store"):
        build_pools(as_dataset(UserStore("bo")), queries, configs)


def keys(text: str) -> Callable[[], str]:
    source = iter(text)
    return lambda: next(source, "")


def test_the_terminal_loop(log: LabelLog) -> None:
    out: list[str] = []
    session = JudgingSession(dataset(), ASKS, log, by="ana")
    assert judge_in_terminal(session, read_key=keys("2f000n"), write=out.append)
    shown = "\n".join(out)
    assert "What of q1?" in shown
    assert "\\x1b[31m" in shown
    assert "\x1b" not in shown
    assert session.progress() == (5, 5)
    assert session.current() is None
    first, second = judged_dataset(dataset(), ASKS, log.judgements).queries
    assert (dict(first.relevant), first.forbidden, first.judged, first.answerable) == ({"m0": 2}, ("m1",), True, True)
    assert (dict(second.relevant), second.judged, second.answerable) == ({}, True, False)


def test_left_and_taken_up_again(tmp_path: Path) -> None:
    path = tmp_path / "labels.jsonl"
    for given_keys, done in (("2q", False), ("", False), ("0?0", False), ("xy", True), ("", True)):
        with LabelLog(path) as log:
            session = JudgingSession(dataset(), ASKS, log, by="ana")
            assert judge_in_terminal(session, read_key=keys(given_keys), write=lambda _: None) == done
    said = read_labels(path)
    assert said.entries["ana"] == {
        ("q1", "m0"): "answers", ("q1", "m1"): "no", ("q1", "e"): "no", ("q2", "m2"): "no", ("q2", "m3"): "no",
    }  # fmt: skip
    assert said.queries["ana"] == {"q2": True}
    result = judged_dataset(dataset(), ASKS, said)
    assert [(item.judged, item.answerable) for item in result.queries] == [(True, True), (False, True)]


def test_undo_and_skip(log: LabelLog) -> None:
    session = JudgingSession(dataset(), ASKS, log, by="ana")
    assert not session.undo()
    session.label("answers")
    assert session.undo()
    assert session.current().entry.id == "m0"  # type: ignore[union-attr]
    session.rest_is_not()
    assert session.current().entry is None  # type: ignore[union-attr]
    with pytest.raises(DataError, match="no entry is left"):
        session.label("no")
    session.answerable(False)
    assert session.current().ask.query.id == "q2"  # type: ignore[union-attr]
    session.undo()
    session.undo()
    assert session.progress() == (0, 5)
    session.skip()
    assert session.current().ask.query.id == "q2"  # type: ignore[union-attr]
    with pytest.raises(DataError, match="label is 'maybe'"):
        session.label("maybe")
    with pytest.raises(DataError, match="an entry is shown"):
        session.answerable(True)
    session.skip()
    assert session.current() is None
    with pytest.raises(DataError, match="everything is labelled"):
        session.label("no")


def test_what_a_session_refuses(log: LabelLog) -> None:
    with pytest.raises(DataError, match="say who labels"):
        JudgingSession(dataset(), ASKS, log, by=" ")
    with pytest.raises(DataError, match="has no entry 'gone'"):
        JudgingSession(dataset(), [Ask(query=query(), candidates=("gone",))], log, by="ana")


def test_a_line_that_was_cut_off(tmp_path: Path) -> None:
    path = tmp_path / "labels.jsonl"
    with LabelLog(path) as log:
        for entry in ("m0", "m1"):
            log.append(Label(query_id="q1", entry_id=entry, label="helps", by="ana"))
    sound = path.read_bytes()
    for cut in range(1, len(sound) // 2):
        path.write_bytes(sound[:-cut])
        assert len(read_labels(path).entries["ana"]) == 1
        with LabelLog(path) as log:
            log.append(Label(query_id="q1", entry_id="m1", label="helps", by="ana"))
        assert path.read_bytes() == sound


def test_one_session_at_a_time(tmp_path: Path) -> None:
    path = tmp_path / "labels.jsonl"
    with LabelLog(path), pytest.raises(DataError, match="open in another session"):
        LabelLog(path)
    LabelLog(path).close()
    with pytest.raises(DataError, match="cannot write labels"):
        LabelLog(tmp_path)
    with pytest.raises(DataError, match="there is no file"):
        read_labels(tmp_path / "none.jsonl")


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("5", "the line holds 5"),
        ("{", "malformed JSON"),
        ('{"query_id": "q", "entry_id": "m", "label": "maybe", "by": "a"}', "label is 'maybe': must be one of forbidden, no"),
        ('{"query_id": "q", "entry_id": "m", "label": "no"}', "by is None"),
        ('{"query_id": 1, "answerable": true, "by": "a"}', "query_id is 1"),
        ('{"query_id": "q", "answerable": 1, "by": "a"}', "answerable is 1"),
        ('{"query_id": "q", "entry_id": "", "label": "no", "by": "a"}', "entry_id is ''"),
        ('{"query_id": "q", "answerable": true, "by": "a", "mood": 1}', "unknown field 'mood'"),
        ('{"query_id": "q", "entry_id": "m", "label": [], "by": "a"}', r"label is \[\]"),
    ],
)
def test_faulty_lines(tmp_path: Path, row: str, message: str) -> None:
    path = tmp_path / "labels.jsonl"
    path.write_text('{"query_id": "q", "answerable": true, "by": "a"}\n\n' + row + "\n")
    with pytest.raises(DataError, match=f"line 3: {message}"):
        read_labels(path)
    with pytest.raises(DataError, match="line 3"):
        LabelLog(path)


def said(**labels: str) -> Judgements:
    """``ana="201n"``: the labels of q1 (m0, m1, e) and q2 (m2, m3) by one key each, "." for none; then n or y."""
    names = {"2": "answers", "1": "helps", "0": "no", "f": "forbidden"}
    lines = []
    places = [(ask.query.id, key) for ask in ASKS for key in ask.candidates]
    for by, text in labels.items():
        for (query_id, entry_id), key in zip(places, text, strict=False):
            if key in names:
                lines.append(Label(query_id=query_id, entry_id=entry_id, label=names[key], by=by))
        for query_id, key in zip(("q1", "q2"), text[len(places) :], strict=False):
            if key in "ny":
                lines.append(Label(query_id=query_id, answerable=key == "y", by=by))
    return Judgements(lines)


def test_two_people(tmp_path: Path, as_values: Any) -> None:
    both = said(ana="21000.n", bo="20f11")
    lower = judged_dataset(dataset(), ASKS, both)
    assert dict(lower.queries[0].relevant) == {"m0": 2}
    assert lower.queries[0].forbidden == ("e",)
    # ana: no answer; bo: m2 and m3 help
    assert (dict(lower.queries[1].relevant), lower.queries[1].judged) == ({}, False)
    assert (lower.notes["labels"], lower.notes["labels_that_differ"], lower.notes["queries_finished"]) == (10, 4, 2)
    higher = judged_dataset(dataset(), ASKS, both, resolve="higher")
    assert [dict(item.relevant) for item in higher.queries] == [{"m0": 2, "m1": 1}, {"m2": 1, "m3": 1}]
    alone = judged_dataset(dataset(), ASKS, both, by="bo")
    assert dict(alone.queries[0].relevant) == {"m0": 2}
    assert as_values(load_directory(save_directory(higher, tmp_path / "judged"))) == as_values(higher)
    with pytest.raises(DataError, match="nobody called 'cy' has labelled; there are ana, bo"):
        judged_dataset(dataset(), ASKS, both, by="cy")
    with pytest.raises(DataError, match="resolve is"):
        judged_dataset(dataset(), ASKS, both, resolve="mean")  # type: ignore[arg-type]


def test_unfinished_queries_are_left_out_and_counted() -> None:
    for labels in (said(ana="20."), said(ana="000"), said()):
        result = judged_dataset(dataset(), ASKS, labels)
        assert result.queries == ()
        assert (result.notes["queries_finished"], result.notes["queries_not_finished"]) == (0, 2)


def test_kappa_of_known_tables() -> None:
    assert cohen_kappa([[20, 5], [10, 15]]) == 0.4
    assert cohen_kappa([[45, 15], [25, 15]]) == pytest.approx(0.1304, abs=5e-5)
    assert cohen_kappa([[25, 35], [5, 35]]) == pytest.approx(0.2593, abs=5e-5)
    assert cohen_kappa([[5, 0], [0, 0]]) is None
    assert cohen_kappa([[0]]) is None
    assert cohen_kappa([[0, 5], [5, 0]]) == -1.0
    for bad in ([1, 2], [[1, 2]], [[1, -1], [0, 0]]):
        with pytest.raises(DataError, match="square table"):
            cohen_kappa(bad)


def test_agreement_names_its_size_and_interval() -> None:
    found = agreement(said(ana="2100f", bo="2000f"), "ana", "bo")
    assert (found.n, found.n_queries, found.observed) == (5, 2, 0.8)
    assert found.kappa == cohen_kappa([[1, 0, 0, 0], [0, 2, 0, 0], [0, 1, 0, 0], [0, 0, 0, 1]])
    assert found.kappa_relevant == cohen_kappa([[3, 0], [1, 1]])
    assert found.ci95 is not None
    assert found.table["helps"]["no"] == 1
    assert "n = 5 entries of 2 queries; kappa 0.7" in str(found)
    assert json.loads(json.dumps(found.to_dict(), allow_nan=False))["n"] == 5
    assert agreement(said(ana="2100f", bo="2000f"), "ana", "bo") == found
    one = agreement(said(ana="210", bo="200"), "ana", "bo")
    assert (one.ci95, one.n_queries) == (None, 1)
    assert "no interval" in str(one)
    same = agreement(said(ana="000", bo="000"), "ana", "bo")
    assert same.kappa is None
    assert "not defined" in str(same)
    none = agreement(said(ana="0", bo=".0"), "ana", "bo")
    assert (none.n, none.kappa, none.observed) == (0, None, None)
    assert "nothing was labelled by both" in str(none)
    assert len(all_agreements(said(a="0", b="0", c="0"))) == 3
    with pytest.raises(DataError, match="needs two people"):
        agreement(said(ana="0"), "ana", "ana")
    with pytest.raises(DataError, match="nobody called 'bo'"):
        agreement(said(ana="0"), "ana", "bo")


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(*[st.sampled_from(list(LABELS))] * 2), min_size=1, max_size=30), st.integers(0, 3))
def test_agreement_is_symmetric_and_bounded(pairs: list[tuple[str, str]], per_query: int) -> None:
    lines = []
    for number, (one, two) in enumerate(pairs):
        for by, label in (("a", one), ("b", two)):
            lines.append(Label(query_id=f"q{number // (per_query + 1)}", entry_id=f"m{number}", label=label, by=by))
    judgements = Judgements(lines)
    found, turned = (agreement(judgements, *people, resamples=199) for people in (("a", "b"), ("b", "a")))
    assert (found.kappa, found.ci95, found.n) == (turned.kappa, turned.ci95, len(pairs))
    assert found.kappa is None or -1 <= found.kappa <= 1
    assert found.ci95 is None or -1.000001 <= found.ci95[0] <= found.ci95[1] <= 1.000001
    assert (found.kappa == 1) == (all(one == two for one, two in pairs) and found.kappa is not None)


def test_interval_covers() -> None:
    """The 95 % interval holds the true kappa (0.5 by construction) in most of 60 simulated pairs of people."""
    source = np.random.default_rng(5)
    hits = 0
    for _ in range(60):
        lines = []
        for number in range(120):
            one = int(source.integers(2))
            two = one if source.random() < 0.5 else int(source.integers(2))
            for by, label in (("a", one), ("b", two)):
                lines.append(Label(query_id=f"q{number // 3}", entry_id=f"m{number}", label=("no", "helps")[label], by=by))
        low, high = agreement(Judgements(lines), "a", "b", resamples=499).ci95 or (0, 0)
        hits += low <= 0.5 <= high
    assert hits >= 51


def test_queries_of_ones_own(tmp_path: Path) -> None:
    plain = tmp_path / "questions.txt"
    plain.write_text("What of the kiln?\n\nAnd the ferret? 🦦\n", encoding="utf-8")
    queries = read_queries(plain, dataset(), now="2026-06-01")
    assert [(item.id, item.user_id, item.query, item.judged) for item in queries] == [
        ("q1", "ana", "What of the kiln?", False), ("q2", "ana", "And the ferret? 🦦", False),
    ]  # fmt: skip
    lines = tmp_path / "queries.jsonl"
    first = '{"query": "A?", "now": "2026-06-01", "scenario": "s", "relevant": {"gone": 1}}'
    lines.write_text(first + '\n{"id": "x", "query": "B?"}\n')
    assert [item.id for item in read_queries(lines, dataset(), now="2026-06-01")] == ["q1", "x"]
    with pytest.raises(DataError, match="line 2: now is missing"):
        read_queries(lines, dataset())
    two = as_dataset([UserStore("a"), UserStore("b")])
    with pytest.raises(DataError, match="line 1: user_id is missing, and own store has 2 users"):
        read_queries(plain, two, now="2026-06-01")
    for text, message in (
        ('{"query": "A?", "user_id": "bo"}', "user_id is 'bo'"),
        ('{"query": "A?", "mood": 1}', "unknown field 'mood'"),
        ('{"id": "q"}', "the field query is missing"),
        ("5", "the query is 5"),
        ('{"id": "q", "query": "A?"}\n{"id": "q", "query": "B?"}', "line 2: id 'q' is taken"),
    ):
        lines.write_text(text + "\n")
        with pytest.raises(DataError, match=message):
            read_queries(lines, dataset(), now="2026-06-01")


def test_in_a_notebook(log: LabelLog, monkeypatch: pytest.MonkeyPatch) -> None:
    session = JudgingSession(dataset(), ASKS, log, by="<b>ana</b>")
    assert "&lt;b&gt;ana" in session._repr_html_()
    assert "Fact 0." in session._repr_html_()
    with monkeypatch.context() as patched:
        patched.setitem(sys.modules, "ipywidgets", None)
        with pytest.raises(ConfigError, match="need ipywidgets"):
            judge_in_notebook(session)
    session.rest_is_not()
    assert "answerable(False)" in session._repr_html_()
    session.answerable(False)
    session.rest_is_not()
    session.answerable(False)
    assert "Everything is labelled." in session._repr_html_()


def test_buttons(log: LabelLog) -> None:
    pytest.importorskip("ipywidgets")
    session = JudgingSession(dataset(), ASKS, log, by="ana")
    box = judge_in_notebook(session)
    entry_box, query_box = box.children[1:3]
    buttons = {button.description: button for button in (*entry_box.children, *query_box.children)}
    buttons["answers"].click()
    buttons["none of the rest"].click()
    assert session.progress() == (3, 5)
    buttons["none of the rest"].click()
    assert (entry_box.layout.display, query_box.layout.display) == ("none", "flex")
    buttons["the store holds no answer"].click()
    assert session.current() is None
    buttons["undo"].click()
    assert session.current() is not None


def test_text_for_a_terminal() -> None:
    assert printable("a\x1b[2J\tb\nc\x9b\x00") == "a\\x1b[2J\tb\n   c\\x9b\\x00"
