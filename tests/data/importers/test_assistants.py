"""Memories of ChatGPT and Claude: plain text as assistants print it, and JSON."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workbench.data.importers import Imported, import_export
from workbench.data.importers.listing import Aside, Line, read_date, read_listing
from workbench.errors import DataError

LISTING = """Here is everything I have stored:

```
[2026-01-31] - Always answer in British English.
[unknown] - Works on a kiln shed
  with a tin roof.
[2026-02-01]. Named the ferret Biscuit: [a joke].

## Preferences
- Likes long walks 🦦
1. [May 3, 2026] Prefers tea.
```

That is the complete set.
"""


def test_a_listing_as_assistants_print_it() -> None:
    items = list(read_listing(LISTING))
    assert [item for item in items if isinstance(item, Aside)] == [
        Aside(line=1, text="Here is everything I have stored:"), Aside(line=14, text="That is the complete set."),
    ]  # fmt: skip
    lines = [item for item in items if isinstance(item, Line)]
    found = [(item.line, item.text, item.at and item.at.date().isoformat(), item.section) for item in lines]
    assert found == [
        (4, "Always answer in British English.", "2026-01-31", ""),
        (5, "Works on a kiln shed\nwith a tin roof.", None, ""),
        (7, "Named the ferret Biscuit: [a joke].", "2026-02-01", ""),
        (10, "Likes long walks 🦦", None, "Preferences"),
        (11, "Prefers tea.", "2026-05-03", "Preferences"),
    ]


def test_lines_without_marks_are_memories_each() -> None:
    text = "Owns a kiln.\nLives by the sea.\n\n**Work context**\n\nRuns a small pottery.\n- not a list: 1 of 4\n"
    assert [(item.text, item.section) for item in read_listing(text) if isinstance(item, Line)] == [
        ("Owns a kiln.", ""), ("Lives by the sea.", ""), ("Runs a small pottery.", "Work context"),
        ("not a list: 1 of 4", "Work context"),
    ]  # fmt: skip


def test_talk_between_marked_lines_is_not_lost() -> None:
    items = list(read_listing("- One\n- Two\ngoes on\n\nAnything else?\n\n  - Three\n[Work] is no date\n- Four"))
    assert [item.text for item in items] == ["One", "Two\ngoes on", "Anything else?", "Three\n[Work] is no date", "Four"]
    assert [type(item).__name__ for item in items] == ["Line", "Line", "Aside", "Line", "Line"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2026-01-31", (2026, 1, 31)), ("2026/01/31", (2026, 1, 31)), ("2026-01-31 10:30", (2026, 1, 31)),
        ("2026-01-31T10:30:00Z", (2026, 1, 31)), ("May 3, 2026", (2026, 5, 3)), ("3 May 2026", (2026, 5, 3)),
        ("Sept. 3rd, 2026", (2026, 9, 3)), ("yesterday", None), ("2026-13-01", None), ("Foo 3, 2026", None), ("", None),
        ("31 February 2026", None), ("2026", None),
    ],
)  # fmt: skip
def test_dates(text: str, expected: tuple[int, int, int] | None) -> None:
    found = read_date(text)
    assert (found and (found.year, found.month, found.day)) == expected


@settings(max_examples=300, deadline=None)
@given(st.lists(st.sampled_from([*LISTING.split("\n"), "x", "  y", "\t- z", "", "[", "~~~", "# ", "a:", "* **b**"]), max_size=12))
def test_no_word_is_lost(lines: list[str]) -> None:
    text = "\n".join(lines)
    items = list(read_listing(text))
    kept = " ".join([item.text for item in items] + [item.section for item in items if isinstance(item, Line)])
    for word in ("kiln", "complete", "tea.", "tin"):
        if any(word in line for line in lines):
            assert word in kept
    assert [item.line for item in items] == sorted(item.line for item in items)


@pytest.fixture
def write(tmp_path: Path) -> Callable[..., Path]:
    def make(value: object, name: str = "memories.json") -> Path:
        path = tmp_path / name
        path.write_text(value if isinstance(value, str) else json.dumps(value, indent=1), encoding="utf-8")
        return path

    return make


def notes(found: Imported, kind: str) -> dict[str, int]:
    return {note.what: note.count for note in getattr(found.report, kind)}


@pytest.mark.parametrize("kind", ["chatgpt", "claude"])
def test_text(kind: str, write: Callable[..., Path]) -> None:
    path = write(LISTING, "memories.txt")
    with pytest.raises(DataError, match=r"memories.txt, line 5: created_at is missing, .*--at"):
        import_export(kind, path)
    found = import_export(kind, path, at="2026-06-01", user="ana")
    memories = found.dataset.stores["ana"].memories
    assert [memory.created_at.month for memory in memories] == [1, 6, 2, 6, 5]
    assert memories[0].id.startswith("m-")
    assert memories[4].category == "preference"
    assert memories[4].tags == ("Preferences",)
    assert {memory.source for memory in memories} == {kind}
    assert notes(found, "left_out")["talk around the list: 'That is the complete set.'"] == 1
    again = import_export(kind, path, at="2026-06-01", user="ana")
    assert again.dataset.stores["ana"].fingerprint == found.dataset.stores["ana"].fingerprint
    # a list of memories may begin like JSON
    short = write("[2026-01-31] - One.\n[2026-01-31] - One.\n", "short.md")
    assert notes(import_export(kind, short), "left_out") == {"the same entry once more": 1}
    # the same words at another time are another memory
    twice = write("[2026-01-31] - One.\n[2026-02-01] - One.\n[2026-01-31] - One.\n[2026-02-01] - One.\n", "twice.md")
    found = import_export(kind, twice)
    first, second = found.dataset.stores["default"].memories
    assert second.id == f"{first.id}-2"
    assert notes(found, "left_out") == {"the same entry once more": 2}
    partly = import_export(kind, path, skip_bad=True)
    assert len(partly.report.refused) == 2
    assert "line 5" in partly.report.refused[0]


def test_chatgpt_json(write: Callable[..., Path]) -> None:
    rows = [
        {"id": "a", "content": "Owns a kiln.", "created_timestamp": 1767225600.5, "updated_at": "2026-01-02T00:00:00Z",
         "status": "warm"},
        {"id": "b", "content": "Lives by the sea.", "updated_at": "2026-01-03T00:00:00Z", "colour": "blue"},
    ]  # fmt: skip
    found = import_export("chatgpt", write({"memories": rows, "memory_num_tokens": 9, "memory_max_tokens": 99}))
    kiln, sea = found.dataset.stores["default"].memories
    assert kiln.created_at == datetime(2026, 1, 1, 0, 0, 0, 500000, tzinfo=UTC)
    assert sea.created_at == sea.updated_at == datetime(2026, 1, 3, tzinfo=UTC)
    assert set(notes(found, "unread")) == {"memory_num_tokens = 9", "memory_max_tokens = 99", "colour = 'blue'"}
    assert notes(found, "kept_out") == {"status": 1}
    found = import_export("chatgpt", write(["Owns a kiln.", "Lives by the sea."]), at="2026-01-01")
    assert len(found.dataset.stores["default"].memories) == 2
    for row, reason in (({"id": "a"}, "content is missing"), (5, "the memory is 5"), ({"content": 5}, "content is 5")):
        with pytest.raises(DataError, match=reason):
            import_export("chatgpt", write([row]), at="2026-01-01")


def test_claude_json(write: Callable[..., Path]) -> None:
    account: dict[str, Any] = {
        "conversations_memory": "**Work context**\n\nRuns a small pottery.\n\n**Preferences**\n\nPrefers tea.",
        "project_memories": {"p-1": "Builds a kiln shed."}, "account_uuid": "acc-1",
        "memory_files": [{"path": "notes.md", "content": "- Has a ferret."}, {"odd": 1}], "plan": "pro",
    }  # fmt: skip
    for shape in ([account], account):
        found = import_export("claude", write(shape), at="2026-06-01")
        memories = found.dataset.stores["acc-1"].memories
        assert [(memory.text, memory.tags) for memory in memories] == [
            ("Runs a small pottery.", ("Work context",)), ("Prefers tea.", ("Preferences",)),
            ("Builds a kiln shed.", ("project:p-1",)), ("Has a ferret.", ("file:notes.md",)),
        ]  # fmt: skip
        assert memories[1].category == "preference"
        assert set(notes(found, "unread")) == {"memory_files = {'odd': 1}", "plan = 'pro'"}
    assert found.report.mapped[-1].first.endswith("line 1, text line 3")
    for row, reason in (
        ({"uuid": 1}, "none of conversations_memory, project_memories, memory_files"),
        ({"conversations_memory": 5}, "conversations_memory is 5"),
        ({"project_memories": []}, r"project_memories is \[\]"),
        (5, "the account is 5"),
    ):
        with pytest.raises(DataError, match=reason):
            import_export("claude", write([row]), at="2026-01-01")


def test_conversations_are_no_memories(write: Callable[..., Path]) -> None:
    for kind, row in (("chatgpt", {"title": "t", "mapping": {}}), ("claude", {"uuid": "u", "chat_messages": []})):
        with pytest.raises(DataError, match="holds conversations, not memories"):
            import_export(kind, write([row]))


def test_other_files(write: Callable[..., Path], tmp_path: Path) -> None:
    with pytest.raises(DataError, match="malformed JSON"):
        import_export("chatgpt", write("- a list\n", "x.json"))
    with pytest.raises(DataError, match="is empty"):
        import_export("claude", write(" \n", "x.txt"))
    path = tmp_path / "x.txt"
    path.write_bytes(b"good\n\xff")
    with pytest.raises(DataError, match="line 2: not UTF-8"):
        import_export("claude", path)
    path.write_bytes("good".encode("utf-16"))
    with pytest.raises(DataError, match="UTF-16"):
        import_export("claude", path)


def texts_of(text: str) -> list[tuple[str, str]]:
    return [(item.text, item.section) for item in read_listing(text) if isinstance(item, Line)]


def test_a_sentence_in_front_is_no_heading() -> None:
    dated = "[2026-01-02] - Likes tea.\n[2026-01-03] - Has a dog."
    for talk in ("Here is what I remember about you:", "These are my saved memories of you:"):
        items = list(read_listing(f"{talk}\n\n{dated}"))
        assert items[0] == Aside(line=1, text=talk)
        assert [item.section for item in items[1:] if isinstance(item, Line)] == ["", ""]
    assert texts_of(f"About you:\n{dated}")[0] == ("Likes tea.", "About you")


def test_prose_under_its_own_heading_is_kept_beside_lists() -> None:
    text = "## Preferences\n- Likes tea\n- Likes maps\n- Sings\n\nMore?\n\n## Work\nAda leads the search team.\n\nShe hires.\n"
    assert texts_of(text) == [
        ("Likes tea", "Preferences"), ("Likes maps", "Preferences"), ("Sings", "Preferences"),
        ("Ada leads the search team.", "Work"), ("She hires.", "Work"),
    ]  # fmt: skip
    assert [item.text for item in read_listing(text) if isinstance(item, Aside)] == ["More?"]


def test_italics_on_a_line_of_their_own_head_a_part_of_a_section() -> None:
    text = (
        "**Brief history**\n\n*Recent months*\n\nAda moved a service.\n\n*Earlier context*\n\nShe taught.\n\n**Work**\n\nLeads.\n"
    )
    assert texts_of(text) == [
        ("Ada moved a service.", "Brief history: Recent months"), ("She taught.", "Brief history: Earlier context"),
        ("Leads.", "Work"),
    ]  # fmt: skip
    assert texts_of("*She taught herself to weld.*") == [("*She taught herself to weld.*", "")]


def test_an_empty_memory_is_left_out_and_a_missing_one_refused(tmp_path: Path) -> None:
    rows = [{"id": "a", "content": ""}, {"id": "b", "content": "Tea", "created_at": "2026-01-01T00:00:00Z"}]
    path = tmp_path / "memories.json"
    path.write_text(json.dumps({"memories": rows}))
    done = import_export("chatgpt", path)
    assert [(note.what, note.count, note.first) for note in done.report.left_out] == [
        ("without text", 1, f"{path}, line 1, element 1")
    ]
    path.write_text(json.dumps({"memories": [*rows, {"id": "c"}]}))
    with pytest.raises(DataError, match=r"memories\.json, line 1, element 3: content is missing"):
        import_export("chatgpt", path)
