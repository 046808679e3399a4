"""Labelling in a terminal: what a key sends counts as one key, and what is shown cannot act on the terminal."""

from __future__ import annotations

import json
import os
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest

from workbench.data.exporting import as_dataset
from workbench.data.judged import JudgedQuery
from workbench.data.judging import JudgingSession
from workbench.data.judging_loop import judge_in_terminal
from workbench.data.labels import LabelLog
from workbench.data.pooling import Ask
from workbench.entries import Memory
from workbench.store.user import UserStore

AT = datetime(2026, 1, 1, tzinfo=UTC)
INSERT, HOME, DELETE, ARROW, F1 = "\x1b[2~", "\x1b[1~", "\x1b[3~", "\x1b[A", "\x1bOP"
pty = pytest.importorskip("pty")


def labels_after(keys: list[str], folder: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[bool, str, list[dict[str, str]]]:
    """Feed one key each time an entry is shown; returns whether all was labelled, the screen, and the file of labels."""
    import tty

    user = "007\x1b[2J"
    store = UserStore(user, memories=[Memory(id=f"m{number}", text=f"Fact {number}", created_at=AT) for number in range(3)])
    query = JudgedQuery(id="q", user_id=user, query="What \x1b[31mof\x07 it?", now=AT, judged=False)
    ours, theirs = pty.openpty()
    tty.setcbreak(theirs)
    left, screen = list(keys), []

    def write(text: str) -> None:
        screen.append(text)
        if text.startswith("-- "):
            os.write(ours, left.pop(0).encode() if left else b"q")

    with os.fdopen(ours, "rb", buffering=0), os.fdopen(theirs, "r") as stdin, LabelLog(folder / "labels.jsonl") as log:
        monkeypatch.setattr(sys, "stdin", stdin)
        done = judge_in_terminal(
            JudgingSession(as_dataset(store), (Ask(query=query, candidates=("m0", "m1", "m2")),), log, by="ada"), write=write
        )
    lines = (folder / "labels.jsonl").read_text(encoding="utf-8").splitlines()
    return done, "\n".join(screen), [json.loads(line) for line in lines]


def test_keys_that_send_several_characters_are_no_labels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    done, screen, rows = labels_after([INSERT, HOME, DELETE, ARROW, F1, "é", "배", "2", "0", "1"], tmp_path, monkeypatch)
    assert done
    assert [row["label"] for row in rows] == ["answers", "no", "helps"]
    assert screen.count("keys: 2 answers") == 1 + 7
    assert "everything is labelled" in screen


def test_nothing_that_a_user_wrote_acts_on_the_terminal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    done, screen, rows = labels_after(["1"], tmp_path, monkeypatch)
    assert not done
    assert [row["label"] for row in rows] == ["helps"]
    assert "What \\x1b[31mof\\x07 it?" in screen
    assert "007\\x1b[2J" in screen
    assert not {"\x1b", "\x07"} & set(screen)
