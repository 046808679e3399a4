"""Downloads of public datasets: once, resumed, verified; served by a server on this machine."""

from __future__ import annotations

import fcntl
import hashlib
import http.server
import os
import re
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from workbench.data import local_copies, registry
from workbench.data.fetch import fetch
from workbench.data.local_copies import local_copy, pull, verify
from workbench.data.registry import DatasetInfo, load_dataset
from workbench.errors import DataError

BODY = bytes(range(256)) * 2000
SUM = hashlib.sha256(BODY).hexdigest()


class Server(http.server.ThreadingHTTPServer):
    """Serves ``body``; ``cut`` ends an answer after that many bytes, ``ranges`` says whether ranges are understood."""

    body = BODY
    cut: int | None = None
    ranges = True
    announce = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.asked: list[str | None] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/file.json"


class Handler(http.server.BaseHTTPRequestHandler):
    server: Server

    def log_message(self, format: str, *args: Any) -> None:
        pass

    def do_GET(self) -> None:
        wanted = self.headers.get("Range")
        self.server.asked.append(wanted)
        body, start = self.server.body, 0
        if wanted and self.server.ranges:
            start = int(re.fullmatch(r"bytes=(\d+)-", wanted)[1])  # type: ignore[index]
            if start >= len(body):
                self.send_error(416)
                return
            self.send_response(206)
            self.send_header("Content-Range", f"bytes {start}-{len(body) - 1}/{len(body)}")
        else:
            self.send_response(200)
        if self.server.announce:
            self.send_header("Content-Length", str(len(body) - start))
        self.end_headers()
        end = len(body) if self.server.cut is None else start + self.server.cut
        self.wfile.write(body[start:end])


@pytest.fixture
def server() -> Iterator[Server]:
    with Server() as made:
        thread = threading.Thread(target=made.serve_forever, args=(0.01,))
        thread.start()
        yield made
        made.shutdown()
        thread.join()


@pytest.fixture
def info(server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> DatasetInfo:
    monkeypatch.setenv("WORKBENCH_CACHE", str(tmp_path / "cache"))
    return DatasetInfo(
        name="toy", description="d", source="s", licence="CC0-1.0", citation="c", size=len(BODY), sha256=SUM, url=server.url,
        file="file.json",
    )  # fmt: skip


def test_once(server: Server, info: DatasetInfo) -> None:
    told: list[int] = []
    path = pull(info, progress=told.append)
    assert path.read_bytes() == BODY
    assert told[0] == 0
    assert told[-1] == len(BODY)
    assert told == sorted(told)
    assert pull(info) == path
    assert server.asked == [None]
    assert os.listdir(path.parent) == ["file.json"]


def test_resumed_where_it_broke_off(server: Server, info: DatasetInfo) -> None:
    server.cut = 200_000
    with pytest.raises(DataError, match=r"needs the file file.json.*200000 of 512000.*first 200000 bytes are kept.*--data file"):
        pull(info)
    checked = verify(info)
    assert (checked.state, checked.found_size, checked.ok) == ("partial", 200_000, False)
    assert "go on with: workbench data pull toy" in str(checked)
    server.cut = 100_000
    told: list[int] = []
    with pytest.raises(DataError, match="300000 of 512000"):
        pull(info, progress=told.append)
    assert told[0] == 200_000
    server.cut = None
    assert pull(info).read_bytes() == BODY
    assert server.asked == [None, "bytes=200000-", "bytes=300000-"]


def test_a_server_without_ranges_starts_over(server: Server, info: DatasetInfo) -> None:
    server.cut, server.ranges = 200_000, False
    with pytest.raises(DataError, match="kept"):
        pull(info)
    server.cut = None
    assert pull(info).read_bytes() == BODY


def test_a_server_that_announces_no_length(server: Server, info: DatasetInfo) -> None:
    server.announce, server.cut = False, 1000
    with pytest.raises(DataError, match="after 1000 of 512000"):
        pull(info)
    server.cut = None
    assert pull(info).read_bytes() == BODY


@pytest.mark.parametrize("kept", [b"other bytes" * 1000, b"x" * len(BODY), b"x" * (len(BODY) + 1), BODY])
def test_what_was_kept_may_be_anything(server: Server, info: DatasetInfo, kept: bytes) -> None:
    part = local_copies.cached_path(info).with_name("file.json.part")
    part.parent.mkdir(parents=True)
    part.write_bytes(kept)
    assert pull(info).read_bytes() == BODY
    assert len(server.asked) == (0 if kept == BODY else 2 if kept.startswith(b"other") else 1)
    assert not part.exists()


def test_another_file(server: Server, info: DatasetInfo) -> None:
    for body, reason in ((BODY[:-1] + b"x", "has the SHA-256"), (BODY[:-1], "has the SHA-256"), (BODY + b"x", "more than the")):
        server.body = body
        with pytest.raises(DataError, match=reason):
            pull(info)
        assert os.listdir(local_copies.cached_path(info).parent) == []


def test_one_download_at_a_time(server: Server, info: DatasetInfo, tmp_path: Path) -> None:
    target = tmp_path / "file.json"
    with (tmp_path / "file.json.part").open("wb") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        with pytest.raises(DataError, match="being written by another download"):
            fetch(server.url, target, sha256=SUM, size=len(BODY))
    assert fetch(server.url, target, sha256=SUM, size=len(BODY)).read_bytes() == BODY


def test_no_room(server: Server, info: DatasetInfo, tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"the disk has .* free; make room"):
        fetch(server.url, tmp_path / "file.json", sha256=SUM, size=2**60)
    assert server.asked == []


def test_no_network(info: DatasetInfo, server: Server, tmp_path: Path) -> None:
    server.shutdown()
    server.server_close()
    with pytest.raises(DataError) as caught:
        pull(info)
    for part in ("toy needs the file file.json", info.url, "CC0-1.0", "load_dataset('toy', data='file.json')"):
        assert part in str(caught.value)
    # a copy that was fetched in another way
    copy = tmp_path / "elsewhere.json"
    copy.write_bytes(BODY)
    assert pull(info, path=copy).read_bytes() == BODY
    assert verify(info).ok
    assert "is the published file" in str(verify(info))
    assert pull(info, path=local_copies.cached_path(info)) == local_copies.cached_path(info)
    copy.write_bytes(b"no")
    assert verify(info, copy).state == "damaged"
    with pytest.raises(DataError, match="is another file: SHA-256"):
        pull(info, path=copy)
    with pytest.raises(DataError, match="there is no file"):
        pull(info, path=tmp_path / "none")
    assert verify(info).ok


def test_missing_and_damaged(info: DatasetInfo, server: Server) -> None:
    assert verify(info).state == "missing"
    assert "get it with: workbench data pull toy" in str(verify(info))
    path = pull(info)
    path.write_bytes(BODY[:-1])
    assert verify(info).state == "damaged"
    assert pull(info).read_bytes() == BODY


def test_large_files_are_not_downloaded_unasked(info: DatasetInfo, server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local_copies, "ASK_FIRST", len(BODY) - 1)
    with pytest.raises(DataError, match=r"needs the file file.json.*has 1 MB, so it is not downloaded unasked.*data pull toy"):
        local_copy(info)
    assert server.asked == []
    pull(info)
    assert local_copy(info).read_bytes() == BODY
    monkeypatch.setenv("WORKBENCH_CACHE", "/nonexistent")
    with pytest.raises(DataError, match=r"needs the file longmemeval_m_cleaned.json.*2,737 MB"):
        load_dataset("longmemeval-m")


def test_shipped_sets_have_nothing_to_download() -> None:
    with pytest.raises(DataError, match="ships with the project"):
        pull(registry.dataset_info("starter"))
