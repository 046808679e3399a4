"""Dumps of mem0, LangGraph and Letta in the shapes in which people have them."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from workbench.data.files import load_directory, save_directory
from workbench.data.importers import KINDS, Imported, import_export
from workbench.errors import DataError

Write = Callable[..., Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def make(value: object, name: str = "export.json") -> Path:
        path = tmp_path / name
        text = value if isinstance(value, str) else json.dumps(value, indent=1, ensure_ascii=False)
        path.write_bytes(text.encode())
        return path

    return make


def memories(found: Imported, user: str) -> list[Any]:
    return list(found.dataset.stores[user].memories)


def notes(found: Imported, kind: str) -> dict[str, int]:
    return {note.what: note.count for note in getattr(found.report, kind)}


MEM0 = {
    "results": [
        {
            "id": "892db2ae-06d9-49e5-8b3e-585ef9b85b8e", "memory": "Prefers tea.", "hash": "abc", "score": None,
            "metadata": {"category": "preference", "importance": 0.8, "room": "kitchen"},
            "created_at": "2026-01-05T10:00:00-08:00", "updated_at": None, "user_id": "ana", "run_id": "r1",
        },
        {
            "id": 7, "memory": "Owns a kiln.", "created_at": "2026-01-06T10:00:00Z", "updated_at": "2026-02-01T10:00:00Z",
            "agent_id": "helper", "categories": ["hobbies", "user_preferences"], "immutable": False, "expiration_date": None,
        },
        {"id": "e", "memory": " ", "created_at": "2026-01-06T10:00:00Z", "user_id": "ana"},
    ],
    "relations": [{"source": "ana", "relationship": "owns", "target": "kiln"}],
}  # fmt: skip


def test_mem0(write: Write, tmp_path: Path) -> None:
    found = import_export("mem0", write(MEM0))
    (tea,), (kiln,) = memories(found, "ana"), memories(found, "helper")
    assert (tea.text, tea.category, tea.importance, tea.confidence) == ("Prefers tea.", "preference", 0.8, 1.0)
    assert tea.created_at == tea.updated_at == datetime(2026, 1, 5, 18, tzinfo=UTC)
    assert (kiln.id, kiln.tags, kiln.category) == ("7", ("hobbies", "user_preferences"), "preference")
    assert kiln.updated_at == datetime(2026, 2, 1, 10, tzinfo=UTC)
    report = found.report
    assert (report.records, report.users, report.entries["memory"]) == (3, 2, 2)
    assert notes(found, "mapped")["memory -> text"] == 3
    assert notes(found, "guessed") == {
        "id is a number: kept as text": 1, "category preference, from 'user_preferences'": 1,
    }  # fmt: skip
    assert notes(found, "unread") == {"metadata.room = 'kitchen'": 1, "run_id = 'r1'": 1}
    assert notes(found, "kept_out") == {"hash": 1, "immutable": 1}
    assert notes(found, "left_out") == {"graph relations (1)": 1, "without text": 1}
    assert report.unread[0].first.endswith("export.json, line 3")
    assert "'kitchen'" in str(report)
    assert json.loads(json.dumps(report.to_dict()))["records"] == 3
    back = load_directory(save_directory(found.dataset, tmp_path / "mystore"))
    assert {user: list(store) for user, store in back.stores.items()} == {"ana": [tea], "helper": [kiln]}


def test_mem0_pages_lists_and_one_user(write: Write) -> None:
    rows: list[Any] = MEM0["results"][:2]  # type: ignore[assignment]
    assert len(import_export("mem0", write(rows)).dataset.stores) == 2
    page = {"count": 9, "next": "https://api.mem0.ai/v3/?page=2", "previous": None, "results": rows, "took": 3}
    found = import_export("mem0", write(page), user="007")
    assert list(found.dataset.stores) == ["007"]
    assert "a further page of the export: 'https://api.mem0.ai/v3/?page=2'" in notes(found, "left_out")
    assert "took = 3" in notes(found, "unread")
    pages = write([{"results": rows[:1]}, {"results": rows[1:]}])
    assert import_export("mem0", pages).report.records == 2
    # the same pages twice: nothing doubled, nothing silent
    twice = import_export("mem0", [write(rows, "a.json"), write(rows, "b.json")])
    assert notes(twice, "left_out") == {"the same entry once more": 2}
    lines = write("\n".join(json.dumps(row) for row in rows), "export.jsonl")
    found = import_export("mem0", lines)
    assert found.report.mapped[0].first.endswith("export.jsonl, line 1")


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"memory": None}, "memory is missing; it holds the entry's text"),
        ({"memory": 5}, "memory is 5: must be text"),
        ({"created_at": "soon"}, "created_at is 'soon': not an ISO 8601"),
        ({"created_at": 1e300}, r"created_at is 1e\+300: outside the years"),
        ({"created_at": None, "updated_at": None}, r"created_at is missing, and no time was given for .*: say --at"),
        ({"metadata": {"importance": 7}}, "metadata.importance is 7: must be a number from 0 to 1"),
        ({"metadata": {"access_count": -1}}, "access_count is -1"),
        ({"metadata": []}, r"metadata is \[\]: must be an object"),
        ({"categories": [1]}, r"categories is \[1\]: must be a list of texts"),
        ({"id": {"a": 1}}, "id is {'a': 1}: must be text or a whole number"),
        ({"id": "892db2ae-06d9-49e5-8b3e-585ef9b85b8e", "user_id": "ana"}, "is taken by another entry"),
    ],
)
def test_faulty_records_are_refused_with_their_line(write: Write, change: dict[str, Any], reason: str) -> None:
    rows: list[Any] = [dict(row) for row in MEM0["results"][:2]]  # type: ignore[call-overload]
    rows[1].update(change)
    path = write(rows)
    line = path.read_text().split("\n").index(" {", 2) + 1
    with pytest.raises(DataError, match=reason) as caught:
        import_export("mem0", path)
    assert str(caught.value).startswith(f"{path}, line {line}: ")
    found = import_export("mem0", path, skip_bad=True)
    assert len(found.report.refused) == found.dataset.notes["refused_rows"] == 1
    assert found.report.entries["memory"] == 1


def test_times_in_other_words(write: Write) -> None:
    row = {"id": "a", "memory": "x", "user_id": "u"}
    for given, expected in (
        ({"created_at": 1767225600}, "2026-01-01T00:00:00+00:00"),
        ({"created_at": 1767225600500.0}, "2026-01-01T00:00:00.500000+00:00"),
        ({"updated_at": "2026-01-02"}, "2026-01-02T00:00:00+00:00"),
        ({"created_at": "2026-01-03", "updated_at": "2026-01-02"}, "2026-01-03T00:00:00+00:00"),
    ):
        found = import_export("mem0", write([{**row, **given}]))
        assert memories(found, "u")[0].created_at.isoformat() == expected
        assert found.report.guessed
    found = import_export("mem0", write([row]), at="2026-05-01")
    assert memories(found, "u")[0].created_at == datetime(2026, 5, 1, tzinfo=UTC)
    with pytest.raises(DataError, match="at is 'x'"):
        import_export("mem0", write([row]), at="x")


LANGGRAPH = [
    {"namespace": ["memories", "ana"], "key": "k1", "value": {"kind": "Memory", "content": {"content": "Owns a kiln."}},
     "created_at": "2026-01-01T00:00:00+00:00", "updated_at": "2026-01-02T00:00:00+00:00", "score": None},
    {"namespace": ["ana", "preferences"], "key": "k1", "value": {"memory": "Tea.", "importance": 1, "mood": "calm"},
     "created_at": "2026-01-01T00:00:00+00:00", "updated_at": "2026-01-01T00:00:00+00:00"},
    {"prefix": "users.bo.profile", "key": "p", "value": "Lives by the sea.", "createdAt": "2026-01-01",
     "updatedAt": "2026-01-01"},
]  # fmt: skip


def test_langgraph(write: Write) -> None:
    found = import_export("langgraph", write({"items": LANGGRAPH}))
    kiln, tea = memories(found, "ana")
    assert (kiln.id, kiln.text, kiln.tags, kiln.updated_at.day) == ("k1", "Owns a kiln.", ("memories",), 2)
    assert (tea.id, tea.text, tea.category, tea.importance) == ("ana/preferences/k1", "Tea.", "preference", 1.0)
    (sea,) = memories(found, "bo")
    assert (sea.id, sea.text, sea.tags) == ("p", "Lives by the sea.", ("users", "profile"))
    assert notes(found, "unread") == {"value.kind = 'Memory'": 1, "value.mood = 'calm'": 1}
    assert any("namespace that names no section" in what for what in notes(found, "guessed"))


def test_langgraph_whose_entry(write: Write) -> None:
    item = {**LANGGRAPH[0], "namespace": ["acme", "ana", "memories"]}
    assert list(import_export("langgraph", write([item])).dataset.stores) == ["acme/ana/memories"]
    for label in (1, -2):
        found = import_export("langgraph", write([item]), user_label=label)
        assert list(found.dataset.stores) == ["ana"]
        assert memories(found, "ana")[0].tags == ("acme", "memories")
    for change, reason in (
        ({"namespace": []}, "namespace is .*must be a list of non-empty texts"),
        ({"namespace": ["a", 1]}, "must be a list of non-empty texts"),
        ({"key": None}, "key is missing"),
        ({"value": {"x": 1}}, "value has no text under content, memory"),
        ({"value": 5}, "value is 5: must be an object"),
    ):
        with pytest.raises(DataError, match=reason):
            import_export("langgraph", write([{**item, **change}]))
    with pytest.raises(DataError, match="it has no label 3; choose another --user-label"):
        import_export("langgraph", write([item]), user_label=3)


PASSAGE = {
    "id": "passage-1", "text": "The shed has a tin roof.", "embedding": [0.1] * 8, "embedding_config": {"embedding_dim": 8},
    "created_at": "2026-01-01T00:00:00Z", "updated_at": None, "agent_id": "agent-1", "archive_id": "archive-1",
    "tags": ["shed"], "metadata": {"weather": "rain"}, "is_deleted": False, "file_name": "shed.md",
    "organization_id": "org-1",
}  # fmt: skip
BLOCKS = [
    {"id": "block-1", "label": "persona", "value": "I am calm.", "limit": 5000, "description": "how I am"},
    {"id": "block-2", "label": "human", "value": "Ana, potter."},
    {"id": "block-3", "label": "to do!", "value": "Fix the roof."},
    {"id": "block-4", "label": "empty", "value": ""},
]


def test_letta_passages(write: Write) -> None:
    gone = {**PASSAGE, "id": "passage-2", "is_deleted": True}
    for shape in ([PASSAGE, gone], {"passages": [PASSAGE, gone]}, [{"passage": PASSAGE, "score": 0.5}, {"passage": gone}]):
        found = import_export("letta", write(shape))
        (memory,) = memories(found, "agent-1")
        assert (memory.text, memory.tags, memory.source) == ("The shed has a tin roof.", ("shed",), "shed.md")
        assert notes(found, "left_out") == {"deleted": 1}
        assert notes(found, "unread") == {"metadata.weather = 'rain'": 2}
        assert {"embedding", "embedding_config", "organization_id", "archive_id"} <= set(notes(found, "kept_out"))


def test_memgpt_archival_memory(write: Write) -> None:
    path = write({"archival_memory": [{"id": 3, "contents": "Owns a kiln."}]})
    with pytest.raises(DataError, match="line 3: created_at is missing"):
        import_export("letta", path)
    found = import_export("letta", path, at="2026-01-01")
    assert memories(found, "default")[0].id == "3"
    assert any("no user is named" in what for what in notes(found, "guessed"))


def test_letta_blocks(write: Write) -> None:
    shapes: list[Any] = [BLOCKS, {"blocks": BLOCKS}, {"memory": {"blocks": BLOCKS}, "passages": [PASSAGE]}]
    for shape in shapes:
        found = import_export("letta", write(shape), user="ana")
        store = found.dataset.stores["ana"]
        assert [(block.group, block.kind, block.text) for block in store.soul] == [
            ("soul", "persona", "I am calm."), ("context", "human", "Ana, potter."), ("context", "to_do_", "Fix the roof."),
        ]  # fmt: skip
        assert notes(found, "left_out") == {"without text": 1}
    assert len(store.memories) == 1


def test_wrong_files(write: Write, tmp_path: Path) -> None:
    for value, reason in (
        ({"a": 1}, "has none of results, memories; it has 'a'. Is this a mem0 get_all export"),
        (5, "holds 5: must be a mem0"),
        ([], "gave no entry"),
        ([5], "line|element 1: the record is 5: must be an object"),
        ("{", "malformed JSON"),
        ("", "is empty"),
    ):
        with pytest.raises(DataError, match=reason):
            import_export("mem0", write(value))
    with pytest.raises(DataError, match="there is no file"):
        import_export("mem0", tmp_path / "none.json")
    with pytest.raises(DataError, match="is a directory"):
        import_export("mem0", tmp_path)
    with pytest.raises(DataError, match="is an archive; unpack it"):
        import_export("mem0", write("PK", "export.zip"))
    with pytest.raises(DataError, match=f"must be one of {', '.join(KINDS)}"):
        import_export("mem1", write([]))
    with pytest.raises(DataError, match="no export file"):
        import_export("mem0", [])
    with pytest.raises(DataError, match="gave no entry; the first reason"):
        import_export("mem0", write([5]), skip_bad=True)


def test_pages_in_a_list_account_for_what_stands_beside_their_records(tmp_path: Path) -> None:
    def page(number: int, **more: Any) -> dict[str, Any]:
        row = {"id": f"m{number}", "memory": f"fact {number}", "user_id": "007", "created_at": "2026-01-01T00:00:00Z"}
        return {"results": [row], **more}

    path = tmp_path / "pages.json"
    path.write_text(json.dumps([page(1, next="p2", relations=[{}, {}]), page(2, next="p3", odd=5), {"results": []}]))
    report = import_export("mem0", path).report
    assert [note.what for note in report.left_out] == ["graph relations (2)"]
    assert [note.what for note in report.unread] == ["odd = 5"]
    path.write_text(json.dumps([page(1, next="p2"), page(2, next="p3")]))
    done = import_export("mem0", path)
    assert [note.what for note in done.report.left_out] == ["a further page of the export: 'p3'"]
    assert [entry.id for entry in done.dataset.stores["007"]] == ["m1", "m2"]


def test_the_agent_of_a_letta_dump_is_the_user_of_records_that_name_none(tmp_path: Path) -> None:
    dump = {
        "agent_id": "agent-1",
        "archival_memory": [
            {"id": "p1", "text": "The deploy key", "created_at": 1740794584},
            {"id": "p2", "text": "", "created_at": 1740794584},
            {"id": "p3", "text": "Other", "created_at": 1740794584, "agent_id": "agent-2"},
        ],
        "memory": {"blocks": [{"id": "b1", "label": "human", "value": "Name: Ada"}]},
    }
    path = tmp_path / "letta.json"
    path.write_text(json.dumps(dump))
    done = import_export("letta", path)
    assert {user: [entry.id for entry in store] for user, store in done.dataset.stores.items()} == {
        "agent-1": ["p1", "b1"], "agent-2": ["p3"],
    }  # fmt: skip
    assert "user: the agent of the whole dump, where a record names none" in [note.what for note in done.report.guessed]
    assert not done.report.unread
    assert [note.what for note in done.report.left_out] == ["without text"]
