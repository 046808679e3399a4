"""Mutated files of every kind that is read: a clear error or a valid dataset, never an error of a library.

Hundreds of files here; ten thousand under the marker ``slow``.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from workbench.data.conversations import load_conversations
from workbench.data.exporting import export, read_store
from workbench.data.files import load_directory, save_directory
from workbench.data.importers import import_export
from workbench.data.judged import JudgedDataset, JudgedQuery
from workbench.data.longmemeval import load_longmemeval
from workbench.entries import Episode, Memory, Procedure, SoulBlock
from workbench.errors import DataError
from workbench.store.user import UserStore

Load = Callable[[Path, bool], JudgedDataset]
AT = "2026-01-12T08:30:00Z"


def small() -> JudgedDataset:
    def shared(key: str) -> dict[str, Any]:
        return {"id": key, "tags": ("a", "🦩"), "importance": 0.25, "access_count": 2**60, "source": "s\0"}

    stores = {
        "007": UserStore(
            "007",
            memories=[Memory(text=f"Owns kiln {n}.", created_at=AT, **shared(f"m{n}")) for n in range(6)],  # type: ignore[arg-type]
            episodes=[Episode(summary="Regatta", topics=("boats",), occurred_at=AT, **shared("e1"))],  # type: ignore[arg-type]
        ),
        "NA": UserStore(
            "NA",
            procedures=[Procedure(name="Brew", steps=("boil", "pour"), created_at=AT, **shared("p"))],  # type: ignore[arg-type]
            soul=[SoulBlock(id="s1", text="Calm.")],
        ),
    }
    query = JudgedQuery(
        id="q1", user_id="007", query="Which kiln?", now=AT, relevant={"m1": 2, "m2": 1}, forbidden=("m3",),  # type: ignore[arg-type]
        duplicates=(("m1", "m4"),),
    )  # fmt: skip
    return JudgedDataset(name="small", stores=stores, queries=(query,), licence="x", source="y", checksum="")


CSV = (
    "layer,user_id,id,text,summary,created_at,occurred_at,importance,access_count,tags\n"
    'memory,007,m1,"Owns, ""a"" kiln",,2026-01-12,,0.5,3,"[""a""]"\nepisode,NA,e1,,Regatta,,2026-01-12,1,9,\n'
)
LISTING = "## Preferences\n```\n[2026-01-31] - Prefers tea.\n- [May 3, 2026] Owns a kiln\n  with a roof\n```\nDone."
MEM0 = {"results": [{"id": n, "memory": "x", "created_at": AT, "user_id": "u", "metadata": {"importance": 1}} for n in range(3)]}
GRAPH = [{"namespace": ["memories", "u"], "key": "k", "value": {"content": {"content": "x"}}, "created_at": AT}]
LETTA = {"blocks": [{"label": "human", "value": "x", "id": "b"}], "passages": [{"id": "p", "text": "x", "created_at": AT}]}
CLAUDE = [{"conversations_memory": LISTING, "project_memories": {"p": "y"}, "account_uuid": "u"}]
TALKS = [
    {"id": "c", "sessions": [{"id": "s", "at": AT, "turns": [{"id": "t", "speaker": "A", "text": "Hm."}]}],
     "questions": [{"id": "q", "text": "?", "evidence": ["t"]}]}
]  # fmt: skip
QUESTION = {
    "question_id": "q", "question_type": "t", "question": "?", "answer": "a", "question_date": "2031/06/30 (Mon) 23:40",
    "haystack_session_ids": ["s"], "haystack_dates": ["2031/05/20 (Tue) 02:21"], "answer_session_ids": ["s"],
    "haystack_sessions": [[{"role": "user", "content": "x", "has_answer": True}]],
}  # fmt: skip


def imported(kind: str) -> Load:
    return lambda path, skip_bad: import_export(kind, path, at=AT, skip_bad=skip_bad).dataset


def stored(path: Path, skip_bad: bool) -> JudgedDataset:
    return read_store(path, skip_bad=skip_bad).dataset


def talks(path: Path, skip_bad: bool) -> JudgedDataset:
    return load_conversations(path, skip_bad=skip_bad)


def haystacks(path: Path, skip_bad: bool) -> JudgedDataset:
    return load_longmemeval(path)


@pytest.fixture(scope="module")
def samples(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, tuple[bytes, Load]]:
    """File name -> sound content and what reads it."""
    root = tmp_path_factory.mktemp("sound")
    parquet = export(small(), root / "parquet", format="parquet") / "entries.parquet"
    sqlite = export(small(), root / "small.sqlite", format="sqlite")
    lines = export(small(), root / "jsonl") / "entries.jsonl"
    # as pandas writes it: without checksums of its pages, so that damage reaches the decoders
    pq.write_table(pq.read_table(parquet), root / "foreign.parquet", compression="snappy")
    rows = b"[" + b",".join(lines.read_bytes().splitlines()) + b"]"
    return {
        "entries.parquet": (parquet.read_bytes(), stored),
        "foreign.parquet": ((root / "foreign.parquet").read_bytes(), stored),
        "small.sqlite": (sqlite.read_bytes(), stored),
        "entries.csv": (CSV.encode(), stored),
        "table.csv": (CSV.encode(), imported("table")),
        "table.parquet": (parquet.read_bytes(), imported("table")),
        "table.json": (rows, imported("table")),
        "mem0.json": (json.dumps(MEM0).encode(), imported("mem0")),
        "chatgpt.json": (json.dumps({"memories": [{"id": "a", "content": "x", "updated_at": AT}]}).encode(), imported("chatgpt")),
        "chatgpt.txt": (LISTING.encode(), imported("chatgpt")),
        "claude.json": (json.dumps(CLAUDE).encode(), imported("claude")),
        "langgraph.json": (json.dumps(GRAPH).encode(), imported("langgraph")),
        "letta.json": (json.dumps(LETTA).encode(), imported("letta")),
        "talks.json": (json.dumps(TALKS).encode(), talks),
        "haystacks.json": (json.dumps([QUESTION, {**QUESTION, "question_id": "r"}]).encode(), haystacks),
    }


PIECES = [
    b"NaN", b"1e999", b"9" * 40, b"[" * 3000, b'{"a":' * 300, b"\x00", b"\xff", b"\xef\xbb\xbf", b"\r\n", b'"', b"\\", b"\\ud83d",
    b"}", b"]", b",", b":", b"null", b"true", b"\xe2\x80\xa8", b"\xc3", b"\xf0\x9f\xa6\xa9", b"\x7f\xff\xff\xff", b"\x80" * 9,
    b'"id":', b"-1", b"0.5", b"```", b"9999-12-31", b"0001-01-01T00:00:00+23:59",
]  # fmt: skip
VALUES: list[Any] = [
    None, True, 0, -1, 2**63 - 1, 10**30, 0.5, 1e308, "", " ", "x", "007", "m1", "2026-01-01", "0001-01-01T00:00:00+23:59", [],
    [[]], [1], ["m1"], {}, {"m1": 1}, [None], {"content": 5}, 1e18, "- ", "[2026-01-31] x",
]  # fmt: skip


def damaged(source: random.Random, raw: bytes) -> bytes:
    for _ in range(source.choice((1, 1, 2, 5))):
        at = source.randrange(len(raw) + 1)
        what = source.randrange(6)
        if what == 0:
            raw = raw[:at] + source.choice(PIECES) + raw[at:]
        elif what == 1:
            raw = raw[:at] + raw[at + source.randint(1, 60) :]
        elif what == 2 and at < len(raw):
            raw = raw[:at] + bytes([raw[at] ^ (1 << source.randrange(8))]) + raw[at + 1 :]
        elif what == 3:
            raw = raw[:at] + source.randbytes(source.randint(1, 8)) + raw[at + source.randint(0, 8) :]
        elif what == 4:
            start = source.randrange(len(raw) + 1)
            raw = raw[:at] + raw[start : start + source.randint(1, 200)] + raw[at:]
        elif source.random() < 0.2:
            raw = raw[:at]
    return raw


def reshaped(source: random.Random, raw: bytes) -> bytes:
    """JSON with one value, somewhere, replaced, dropped or moved."""
    value = json.loads(raw)
    part: Any = value
    for _ in range(source.randint(0, 6)):
        keys = list(part) if isinstance(part, dict) else list(range(len(part))) if isinstance(part, list) else []
        inner = [key for key in keys if isinstance(part[key], (dict, list)) and part[key]]
        if not inner:
            break
        part = part[source.choice(inner)]
    keys = list(part) if isinstance(part, dict) else list(range(len(part)))
    key = source.choice(keys)
    what = source.randrange(4)
    if what == 0:
        del part[key]
    elif what == 1 and isinstance(part, dict):
        part[source.choice(("extra", "next", "results", "value"))] = part[key]
    else:
        part[key] = source.choice(VALUES)
    return json.dumps(value).encode()


def fuzz(samples: Mapping[str, tuple[bytes, Load]], tmp_path: Path, seed: int, files: int) -> dict[str, list[int]]:
    source = random.Random(seed)
    tally = {name: [0, 0] for name in samples}
    for _ in range(files):
        name = source.choice(list(samples))
        raw, load = samples[name]
        bad = reshaped(source, raw) if name.endswith(".json") and source.random() < 0.5 else damaged(source, raw)
        path = tmp_path / name
        path.write_bytes(bad)
        skip_bad = source.random() < 0.5
        try:
            dataset = load(path, skip_bad)
        except DataError as error:
            tally[name][0] += 1
            message = str(error)
            message.encode("utf-8")
            if name not in message or len(message) > 2500:
                raise AssertionError(f"the message does not name {name}: {message[:300]}") from error
        else:
            tally[name][1] += 1
            back = load_directory(save_directory(dataset, tmp_path / "out"))
            assert {user: list(store) for user, store in back.stores.items()} == {
                user: list(store) for user, store in dataset.stores.items()
            }
    return tally


@pytest.mark.parametrize("seed", range(4))
def test_mutated_files(seed: int, samples: Mapping[str, tuple[bytes, Load]], tmp_path: Path) -> None:
    tally = fuzz(samples, tmp_path, seed, 150)
    assert sum(refused for refused, _ in tally.values()) > 50
    assert sum(read for _, read in tally.values()) > 10


@pytest.mark.slow
def test_ten_thousand_mutated_files(samples: Mapping[str, tuple[bytes, Load]], tmp_path: Path) -> None:
    tally = fuzz(samples, tmp_path, 2026, 10_000)
    assert sum(map(sum, tally.values())) == 10_000
    assert all(refused for refused, _ in tally.values())
    assert all(read for _, read in tally.values())


def test_sound_files_are_read(samples: Mapping[str, tuple[bytes, Load]], tmp_path: Path) -> None:
    for name, (raw, load) in samples.items():
        (tmp_path / name).write_bytes(raw)
        assert load(tmp_path / name, False).stores
