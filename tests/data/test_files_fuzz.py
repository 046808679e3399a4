"""Damaged files end in a DataError or in a dataset that saves and loads equal; nothing else."""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from workbench.data.files import load_directory, read_directory, save_directory
from workbench.data.judged import JudgedDataset
from workbench.errors import DataError

Rows = tuple[list[dict[str, Any]], list[dict[str, Any]]]
BYTES = [
    b"NaN", b"Infinity", b"1e999", b"9" * 400, b"-", b"[" * 2000, b'{"a":' * 300, b"\x00", b"\xff", b"\xef\xbb\xbf",
    b"\r", b"\n", b"\r\n", b'"', b"\\", b"\\ud83d", b"\\u0000", b"}", b"{", b",", b":", b"null", b"true",
    b"\xe2\x80\xa8", b'"id":"m1",', b"\xc3", b"\xf0\x9f\xa6\xa9",
]  # fmt: skip
VALUES: list[Any] = [
    None, True, False, 0, -1, 1, 2**63 - 1, 10**30, 0.5, 1e308, "", " ", "x", "007", "m1", "m2", "\ud800",
    "2026-01-01", "9999-12-31",
    "0001-01-01T00:00:00+23:59", [], [[]], [1], ["m1"], [["m1", "m2"]], {}, {"m1": 1}, {"m2": 2}, {"": 0}, [[[[[]]]]],
]  # fmt: skip


def damaged_bytes(source: random.Random, raw: bytes) -> bytes:
    for _ in range(source.choice((1, 1, 1, 3))):
        at = source.randrange(len(raw) + 1)
        what = source.randrange(4)
        if what == 0:
            raw = raw[:at] + source.choice(BYTES) + raw[at:]
        elif what == 1:
            raw = raw[:at] + raw[at + source.randint(1, 40) :]
        elif what == 2:
            raw = raw[:at] + bytes([source.randrange(256)]) + raw[at + 1 :]
        else:
            start = source.randrange(len(raw) + 1)
            raw = raw[:at] + raw[start : start + source.randint(1, 200)] + raw[at:]
    return raw


def damaged_rows(source: random.Random, rows: list[dict[str, Any]]) -> bytes:
    rows = copy.deepcopy(rows)
    for _ in range(source.choice((1, 1, 1, 3))):
        row = source.choice(rows)
        key = source.choice([*row, "extra"])
        what = source.randrange(4)
        if what == 0:
            row.pop(key, None)
        elif what == 1:
            other = source.choice(rows)
            row[key] = other.get(source.choice(list(other) or ["id"]))
        else:
            row[key] = copy.deepcopy(source.choice(VALUES))
    return b"".join(json.dumps(row).encode() + b"\n" for row in rows)


@pytest.mark.parametrize("seed", range(8))
def test_damaged_files(
    seed: int,
    rows: Rows,
    write: Callable[..., Path],
    tmp_path: Path,
    as_values: Callable[[JudgedDataset], dict[str, Any]],
) -> None:
    source = random.Random(seed)
    entries, queries = rows
    meta = {"name": "n", "config": {"top_k": 5, "weights": {"recency": 0.0}}, "notes": {"a": 1}, "users": ["007"]}
    root = write(entries, queries, meta)
    sound = {path.name: path.read_bytes() for path in root.iterdir()}
    accepted = refused = 0
    messages: list[tuple[str, str]] = []
    for _ in range(100):
        name = source.choice(["dataset.json", "entries.jsonl", "entries.jsonl", "queries.jsonl"])
        if name == "dataset.json" or source.random() < 0.5:
            raw = damaged_bytes(source, sound[name])
        else:
            raw = damaged_rows(source, entries if name == "entries.jsonl" else queries)
        (root / name).write_bytes(raw)
        try:
            dataset = load_directory(root)
        except DataError as error:
            refused += 1
            messages.append((name, str(error)))
        else:
            accepted += 1
            assert as_values(load_directory(save_directory(dataset, tmp_path / "out"))) == as_values(dataset)
        try:
            reading = read_directory(root, skip_bad=True)
        except DataError:
            pass
        else:
            assert reading.dataset.notes["refused_rows"] == len(reading.refused)
        (root / name).write_bytes(sound[name])
    # a lost entry may also show in the queries that name it
    assert [text for name, text in messages if name not in text and "queries.jsonl" not in text] == []
    assert all(text.encode("utf-8") for _, text in messages)
    assert accepted > 0
    assert refused > 30
