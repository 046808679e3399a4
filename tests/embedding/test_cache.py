"""The embedding cache may be lost, but it is never wrong."""

from __future__ import annotations

import multiprocessing
import sqlite3
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from workbench.embedding.cache import EmbeddingCache
from workbench.errors import StoreError

TEXTS = [f"text number {number}" for number in range(150)]


class Counting:
    """Encodes a text as its hash; remembers what it was asked, and stops when told to."""

    def __init__(self, name: str = "counting", dim: int = 4, stop_after: int | None = None) -> None:
        self.name, self.dim, self.stop_after = name, dim, stop_after
        self.asked: list[str] = []

    def encode(self, texts: list[str], /) -> Any:
        if self.stop_after is not None and len(self.asked) >= self.stop_after:
            raise KeyboardInterrupt
        self.asked += texts
        rows = np.array([np.random.default_rng(list(text.encode())).normal(size=self.dim) for text in texts])
        return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


@pytest.fixture
def cache(tmp_path: Path) -> EmbeddingCache:
    return EmbeddingCache(tmp_path / "new" / "folder")


def file_of(cache: EmbeddingCache) -> Path:
    (path,) = cache.folder.glob("*.sqlite")
    return path


def test_a_text_is_encoded_once(cache: EmbeddingCache) -> None:
    first, second = Counting(), Counting()
    vectors = cache.encode(first, TEXTS)
    again = EmbeddingCache(cache.folder).encode(second, TEXTS[::-1])
    assert again[::-1].tobytes() == vectors.tobytes() == first.encode(TEXTS).tobytes()
    assert second.asked == []
    assert vectors.dtype == np.float32


def test_repeated_texts_are_encoded_once_and_filled_in_everywhere(cache: EmbeddingCache) -> None:
    encoder = Counting()
    vectors = cache.encode(encoder, ["tea", "lamp", "tea", "tea"])
    assert encoder.asked == ["tea", "lamp"]
    assert (vectors[0] == vectors[2]).all()
    assert (vectors[0] == vectors[3]).all()


def test_no_texts(cache: EmbeddingCache) -> None:
    assert cache.encode(Counting(), []).shape == (0, 4)


def test_encoder_template_and_text_are_the_key(cache: EmbeddingCache) -> None:
    cache.encode(Counting(), ["tea"], template="a")
    for encoder, template, text in (
        (Counting(), "b", "tea"),
        (Counting("other"), "a", "tea"),
        (Counting(), "a", "te"),
        (Counting(), "at", "ea"),
    ):
        cache.encode(encoder, [text], template=template)
        assert encoder.asked == [text]
    hit = Counting()
    cache.encode(hit, ["tea"], template="a")
    assert hit.asked == []


def test_any_text_can_be_a_key(cache: EmbeddingCache) -> None:
    odd = ["", " ", "\x00", "half \ud83d", "🦩", "'; DROP TABLE vectors; --", "a" * 100_000]
    assert cache.encode(_Lenient(), odd).shape == (len(odd), 4)
    assert cache.encode(Counting(stop_after=0, name="lenient"), odd).shape == (len(odd), 4)


class _Lenient(Counting):
    def __init__(self) -> None:
        super().__init__("lenient")

    def encode(self, texts: list[str], /) -> Any:
        return super().encode([ascii(text) for text in texts])


def test_progress_adds_up_to_all_texts(cache: EmbeddingCache) -> None:
    for texts in (TEXTS[:10], TEXTS + TEXTS[:5], TEXTS):
        steps: list[int] = []
        cache.encode(Counting(), texts, progress=steps.append)
        assert sum(steps) == len(texts)


def test_an_interruption_keeps_the_finished_blocks(cache: EmbeddingCache) -> None:
    stopped = Counting(stop_after=64)
    with pytest.raises(KeyboardInterrupt):
        cache.encode(stopped, TEXTS)
    rest = Counting()
    vectors = cache.encode(rest, TEXTS)
    assert rest.asked == TEXTS[len(stopped.asked) :]
    assert 0 < len(stopped.asked) < len(TEXTS)
    assert vectors.tobytes() == Counting().encode(TEXTS).tobytes()


def _overwrite(start: int, data: bytes) -> Callable[[Path], None]:
    def damage(path: Path) -> None:
        content = bytearray(path.read_bytes())
        content[start : start + len(data)] = data
        path.write_bytes(content)

    return damage


def _replace(data: bytes) -> Callable[[Path], None]:
    return lambda path: path.write_bytes(data) and None


def _other_table(path: Path) -> None:
    path.unlink()
    with sqlite3.connect(path) as db:
        db.execute("CREATE TABLE vectors (name TEXT)")


DAMAGES = {
    "no database": _replace(b"this is not a database, but it is long enough to look at" * 40),
    "header": _overwrite(0, b"\x00" * 32),
    "first page": _overwrite(100, b"\xff" * 3000),
    "later pages": _overwrite(4096 * 2, b"\xff" * 4096 * 3),
    "cut off": lambda path: path.write_bytes(path.read_bytes()[: 4096 * 2 + 100]) and None,
    "another table": _other_table,
}


@pytest.mark.parametrize("kind", DAMAGES)
def test_a_damaged_file_is_set_aside_and_begun_anew(cache: EmbeddingCache, kind: str) -> None:
    encoder = Counting(dim=64)
    wanted = cache.encode(encoder, TEXTS)
    path = file_of(cache)
    with sqlite3.connect(path) as db:
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    db.close()
    DAMAGES[kind](path)
    damaged = path.read_bytes()
    again = Counting(dim=64)
    assert cache.encode(again, TEXTS).tobytes() == wanted.tobytes()
    assert again.asked
    (aside,) = cache.folder.glob("*.damaged")
    assert len(aside.read_bytes()) == len(damaged)
    third = Counting(dim=64)
    assert cache.encode(third, TEXTS).tobytes() == wanted.tobytes()
    assert third.asked == []


def test_the_log_of_a_damaged_file_is_not_replayed_into_the_new_one(cache: EmbeddingCache) -> None:
    # a log of later pages, all valid, as a crash leaves it behind; the new file has no such pages
    cache.encode(Counting(dim=64), TEXTS[:120])
    path = file_of(cache)
    log = path.with_name(path.name + "-wal")
    reader = sqlite3.connect(path)
    reader.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    reader.execute("BEGIN")
    reader.execute("SELECT count(*) FROM vectors").fetchone()
    wanted = cache.encode(Counting(dim=64), TEXTS)
    left_behind = log.read_bytes()
    reader.close()
    assert len(left_behind) > 4096
    path.write_bytes(b"broken" * 1000)
    log.write_bytes(left_behind)
    assert cache.encode(Counting(dim=64), TEXTS).tobytes() == wanted.tobytes()
    assert cache.encode(Counting(dim=64, stop_after=0), TEXTS).tobytes() == wanted.tobytes()


def _tamper(cache: EmbeddingCache, change: Callable[[bytes], object]) -> None:
    with sqlite3.connect(file_of(cache)) as db:
        for key, blob in db.execute("SELECT key, vector FROM vectors").fetchall():
            db.execute("UPDATE vectors SET vector = ? WHERE key = ?", (change(blob), key))
    db.close()


@pytest.mark.parametrize(
    "change",
    {
        "shorter": lambda blob: blob[:-4],
        "longer": lambda blob: blob + b"\x00" * 4,
        "empty": lambda blob: b"",
        "one bit": lambda blob: bytes([blob[0] ^ 1]) + blob[1:],
        "sign": lambda blob: blob[:3] + bytes([blob[3] ^ 0x80]) + blob[4:],
        "nan": lambda blob: np.full(4, np.nan, np.float32).tobytes() + blob[16:],
        "text": lambda blob: "x" * len(blob),
        "number": lambda blob: 7,
    }.items(),
    ids=lambda item: item[0],
)
def test_rows_that_are_not_as_written_are_encoded_again(cache: EmbeddingCache, change: tuple[str, Any]) -> None:
    wanted = cache.encode(Counting(), TEXTS[:3])
    _tamper(cache, change[1])
    again = Counting()
    assert cache.encode(again, TEXTS[:3]).tobytes() == wanted.tobytes()
    assert again.asked == TEXTS[:3]
    healed = Counting()
    cache.encode(healed, TEXTS[:3])
    assert healed.asked == []


def test_rows_swapped_between_texts_are_noticed(cache: EmbeddingCache) -> None:
    wanted = cache.encode(Counting(), ["tea", "lamp"])
    with sqlite3.connect(file_of(cache)) as db:
        (one, first), (two, second) = db.execute("SELECT key, vector FROM vectors").fetchall()
        db.execute("UPDATE vectors SET vector = ? WHERE key = ?", (second, one))
        db.execute("UPDATE vectors SET vector = ? WHERE key = ?", (first, two))
    db.close()
    assert cache.encode(Counting(), ["tea", "lamp"]).tobytes() == wanted.tobytes()


def test_an_encoder_of_another_size_under_the_same_name_is_not_served_old_rows(cache: EmbeddingCache) -> None:
    cache.encode(Counting(dim=4), ["tea"])
    assert cache.encode(Counting(dim=8), ["tea"]).shape == (1, 8)
    assert cache.encode(Counting(dim=4), ["tea"]).shape == (1, 4)


def test_bad_vectors_are_not_kept(cache: EmbeddingCache) -> None:
    class Broken(Counting):
        def encode(self, texts: list[str], /) -> Any:
            return np.full((len(texts), 4), np.nan)

    with pytest.raises(StoreError, match="NaN or infinity"):
        cache.encode(Broken(), ["tea"])
    fresh = Counting()
    cache.encode(fresh, ["tea"])
    assert fresh.asked == ["tea"]


def _write(folder: str, start: int, barrier: Any, results: Any) -> None:
    barrier.wait()
    encoder = Counting()
    texts = TEXTS[start:] + TEXTS[:start]
    for _ in range(3):
        vectors = EmbeddingCache(folder).encode(encoder, texts)
    results.put((len(encoder.asked), vectors.tobytes() == Counting().encode(texts).tobytes()))


def test_processes_that_start_together_share_one_file(tmp_path: Path) -> None:
    context = multiprocessing.get_context("fork")
    barrier, results = context.Barrier(4), context.Queue()
    workers = [context.Process(target=_write, args=(str(tmp_path), 37 * number, barrier, results)) for number in range(4)]
    for worker in workers:
        worker.start()
    found = [results.get(timeout=100) for _ in workers]
    for worker in workers:
        worker.join(timeout=100)
        assert worker.exitcode == 0
    assert all(right for _, right in found)
    assert all(0 <= asked <= len(TEXTS) for asked, _ in found)
    assert not list(tmp_path.glob("*.damaged"))
    late = Counting()
    EmbeddingCache(tmp_path).encode(late, TEXTS)
    assert late.asked == []


def test_a_file_in_use_by_another_connection_is_waited_for_and_not_set_aside(cache: EmbeddingCache) -> None:
    cache.encode(Counting(), TEXTS[:5])
    with sqlite3.connect(file_of(cache)) as other:
        other.execute("BEGIN IMMEDIATE")
        # reading needs no lock
        assert cache.encode(Counting(stop_after=0), TEXTS[:5]).shape == (5, 4)
    other.close()
    assert not list(cache.folder.glob("*.damaged"))


def test_a_folder_that_cannot_be_used_is_named(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("not a folder")
    with pytest.raises(StoreError, match=rf"cannot use the embedding cache in {blocked}.*cache=False") as caught:
        EmbeddingCache(blocked).encode(Counting(), ["tea"])
    assert "WORKBENCH_CACHE" in str(caught.value)
    inside = EmbeddingCache(tmp_path / "ok")
    inside.encode(Counting(), ["tea"])
    path = file_of(inside)
    path.unlink()
    path.mkdir()
    with pytest.raises(StoreError, match="cannot use the embedding cache"):
        inside.encode(Counting(), ["tea"])
    assert path.is_dir()


def test_files_are_not_executable_and_lie_in_the_folder(cache: EmbeddingCache) -> None:
    cache.encode(Counting("../../name/with: odd parts"), ["tea"])
    path = file_of(cache)
    assert path.parent == cache.folder
    assert not path.stat().st_mode & stat.S_IXUSR


def test_the_default_folder_follows_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WORKBENCH_CACHE", str(tmp_path))
    EmbeddingCache().encode(Counting(), ["tea"])
    assert list((tmp_path / "embeddings").glob("*.sqlite"))


def test_an_assembler_uses_the_cache_for_entries_and_never_for_queries(kit: Any, cache: EmbeddingCache) -> None:
    entries = [kit.memory("m1", "tea in the pantry"), kit.memory("m2", "lamp is broken")]
    first, second = kit.Encoder(name="cached"), kit.Encoder(name="cached")
    results = [
        kit.assembler(entries, encoder=encoder, cache=cache).assemble("where is the tea", now=kit.now)
        for encoder in (first, second)
    ]
    assert results[0].prompt == results[1].prompt
    assert first.calls == [["tea in the pantry", "lamp is broken"], ["where is the tea"]]
    assert second.calls == [["where is the tea"]]


def test_two_users_share_vectors_of_equal_texts_and_nothing_else(kit: Any, cache: EmbeddingCache) -> None:
    for user, entry in (("ana", "m1"), ("ben", "x9")):
        encoder = kit.Encoder(name="cached")
        context = kit.assembler([kit.memory(entry, "harbour note")], encoder=encoder, cache=cache, user_id=user).assemble(
            "harbour", now=kit.now
        )
        assert context.selected_ids == (entry,)
        assert ["harbour note"] not in encoder.calls if user == "ben" else ["harbour note"] in encoder.calls
