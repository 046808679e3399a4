"""Datasets by name: the shipped one, the downloaded one (from a server on this machine), directories."""

from __future__ import annotations

import functools
import hashlib
import http.server
import os
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from workbench.config import AssemblyConfig
from workbench.data import registry
from workbench.data.fetch import fetch
from workbench.data.registry import dataset_info, list_datasets, load_dataset
from workbench.errors import DataError
from workbench.paths import cache_dir

NOBODY = "http://127.0.0.1:9/locomo10.json"  # the discard port: nothing answers there


class Quiet(http.server.SimpleHTTPRequestHandler):
    """Serves a directory without writing a log."""

    def log_message(self, format: str, *args: Any) -> None:
        pass


@pytest.fixture
def served(tmp_path: Path) -> Iterator[tuple[Path, str]]:
    """A directory and the address under which it is served."""
    root = tmp_path / "served"
    root.mkdir()
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=str(root))) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield root, f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("WORKBENCH_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache" / "datasets"


def test_cache_dir(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WORKBENCH_CACHE", "~/somewhere")
    assert cache_dir() == Path.home() / "somewhere"
    monkeypatch.setenv("WORKBENCH_CACHE", " ")
    assert "context-workbench" in str(cache_dir())
    monkeypatch.delenv("WORKBENCH_CACHE")
    assert "context-workbench" in str(cache_dir())


def test_infos() -> None:
    infos = list_datasets()
    assert [info.name for info in infos] == [
        "locomo",
        "longmemeval-m",
        "longmemeval-oracle",
        "longmemeval-s",
        "starter",
        "synthetic-small",
    ]
    for info in infos:
        assert info == dataset_info(info.name)
        assert info.licence
        assert info.source
        assert info.citation
        assert info.size > 100_000
        assert len(info.sha256) == 64
    with pytest.raises(DataError, match=r"no dataset is named 'lokomo'; known are locomo, longmemeval-m, .*, starter"):
        dataset_info("lokomo")


def test_starter_holds_what_it_promises() -> None:
    dataset = load_dataset("starter")
    info = dataset_info("starter")
    assert (dataset.name, dataset.licence, dataset.checksum) == (info.name, info.licence, info.sha256)
    assert dataset.group_name == "scenario"
    layers = Counter(entry.layer for store in dataset.stores.values() for entry in store)
    assert len(dataset.stores) >= 3
    assert layers["memory"] >= 150
    assert layers["episode"] >= 30
    assert layers["procedure"] >= 15
    assert len(dataset.queries) >= 100
    assert len({query.group for query in dataset.queries}) >= 12
    assert sum(query.lang != "en" for query in dataset.queries) >= 0.15 * len(dataset.queries)
    for store in dataset.stores.values():
        assert {block.group for block in store.soul} == {"soul", "style", "context"}
    assert all(bool(query.relevant) == query.answerable for query in dataset.queries)
    AssemblyConfig().override(**dataset.config)


def test_starter_missing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(registry, "_STARTER_PLACES", (tmp_path, tmp_path / "b"))
    with pytest.raises(DataError, match="install the package again"):
        load_dataset("starter")


def test_directories_and_unknown_names(
    rows: Any, write: Callable[..., Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = write(*rows, name="starter")
    monkeypatch.chdir(tmp_path)
    assert list(load_dataset(root).stores) == list(load_dataset("./starter").stores) == ["007", "None"]
    assert len(load_dataset("starter").stores) >= 3
    with pytest.raises(DataError, match=r"no dataset or directory 'lokomo'; known datasets are locomo, .*, starter"):
        load_dataset("lokomo")
    with pytest.raises(DataError, match="is a file"):
        load_dataset(root / "entries.jsonl")
    for odd in ("", "a\0b", "x" * 5000):
        with pytest.raises(DataError):
            load_dataset(odd)
    with pytest.raises(DataError, match="the dataset is 3"):
        load_dataset(3)  # type: ignore[arg-type]


def test_options(rows: Any, write: Callable[..., Path], write_locomo: Callable[..., Path], locomo_rows: Any) -> None:
    root = write([{}, *rows[0]])
    assert load_dataset(root, skip_bad=True).notes["refused_rows"] == 1
    with pytest.raises(DataError, match="has no option unit; it has skip_bad"):
        load_dataset(root, unit="turn")
    path = write_locomo(locomo_rows)
    assert load_dataset("locomo", data=path, unit="observation").version == "10-observation"
    with pytest.raises(DataError, match="has no option skip_bad; it has unit, template"):
        load_dataset("locomo", data=path, skip_bad=True)
    for name in ("starter", root):
        with pytest.raises(DataError, match="leave it out"):
            load_dataset(name, data=path)


def test_download_once_verified(
    cache: Path,
    served: tuple[Path, str],
    write_locomo: Callable[..., Path],
    locomo_rows: Any,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    raw = write_locomo(locomo_rows).read_bytes()
    root, address = served
    (root / "locomo10.json").write_bytes(raw)
    info = replace(registry._LOCOMO, url=f"{address}/locomo10.json", sha256=hashlib.sha256(raw).hexdigest(), size=len(raw))
    monkeypatch.setattr(registry, "_LOCOMO", info)
    assert len(load_dataset("locomo").stores) == 2
    assert os.listdir(cache) == ["locomo10.json"]
    (root / "locomo10.json").unlink()
    assert len(load_dataset("locomo", template="plain").stores) == 2
    # a damaged copy is fetched anew, and named with the way out when that fails
    (cache / "locomo10.json").write_bytes(raw[:-1])
    with pytest.raises(DataError) as caught:
        load_dataset("locomo")
    for part in ("locomo10.json", info.url, "404", "CC BY-NC 4.0", "load_dataset('locomo', data="):
        assert part in str(caught.value)
    (root / "locomo10.json").write_bytes(raw)
    assert len(load_dataset("locomo").stores) == 2
    assert (cache / "locomo10.json").read_bytes() == raw


def test_no_network(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "_LOCOMO", replace(registry._LOCOMO, url=NOBODY))
    with pytest.raises(DataError, match=r"needs the file locomo10\.json.*pass its path: load_dataset"):
        load_dataset("locomo")
    assert os.listdir(cache) == []


@pytest.mark.parametrize(("sha256", "size", "reason"), [("0" * 64, 5, "expected 000"), (None, 4, "more than the expected 4")])
def test_another_file_is_not_put_in_place(
    served: tuple[Path, str], tmp_path: Path, sha256: str | None, size: int, reason: str
) -> None:
    root, address = served
    (root / "f").write_bytes(b"hello")
    target = tmp_path / "cache" / "f"
    with pytest.raises(DataError, match=reason):
        fetch(f"{address}/f", target, sha256=sha256 or hashlib.sha256(b"hello").hexdigest(), size=size)
    assert os.listdir(target.parent) == []
    with pytest.raises(DataError, match="not an address"):
        fetch("nonsense", target, sha256="", size=1)


def test_starter_card_is_true() -> None:
    dataset = load_dataset("starter")
    card = (registry.starter_directory() / "CARD.md").read_text(encoding="utf-8")
    assert f"`{dataset.checksum}`" in card
    for user_id, store in dataset.stores.items():
        counts = (store.memories, store.episodes, store.procedures, store.soul, tuple(dataset.queries_of(user_id)))
        assert f"| {user_id} | {' | '.join(str(len(part)) for part in counts)} |" in card
    for scenario, count in Counter(query.group for query in dataset.queries).items():
        assert f"| {count} |" in next(line for line in card.splitlines() if line.startswith(f"| `{scenario}` |"))
