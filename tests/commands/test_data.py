"""``workbench data ...``: what it prints, writes and refuses."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner, Result

from workbench.commands import data
from workbench.data.exporting import read_store
from workbench.data.files import load_directory
from workbench.data.registry import load_dataset
from workbench.errors import DataError

Run = Callable[..., Result]
MEM0 = {"results": [
    {"id": "a", "memory": "Owns a kiln.", "user_id": "007", "created_at": "2026-01-01", "hash": "h", "mood": "calm"},
    {"id": "b", "memory": "Drinks tea.", "user_id": "NA", "created_at": "2026-01-02", "metadata": {"importance": 0.9}},
]}  # fmt: skip


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.setenv("WORKBENCH_CACHE", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    main = typer.Typer()
    data.register(main)

    def call(*words: str, keys: str | None = None) -> Result:
        result = CliRunner().invoke(main, ["data", *words], input=keys)
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        return result

    return call


def write(value: object, name: str = "export.json") -> str:
    Path(name).write_text(value if isinstance(value, str) else json.dumps(value, indent=1), encoding="utf-8")
    return name


def test_list_and_info(run: Run) -> None:
    out = run("list").stdout
    for name in ("starter", "locomo", "longmemeval-oracle", "longmemeval-s", "longmemeval-m"):
        assert name in out
    out = run("info", "longmemeval-s").stdout
    for part in ("MIT", "277383467", "d6f21ea9d60a0d56f34a05b609c79c88a451d2ae03597821ea3d5a9678c3a442", "2410.10813", "missing"):
        assert part in out
    known = json.loads(run("info", "locomo", "--json").stdout)
    assert (known["licence"], known["local_state"], known["options"]) == ("CC BY-NC 4.0", "missing", ["unit", "template"])
    assert "Apache-2.0" in run("info", "starter").stdout
    with pytest.raises(DataError, match="no dataset is named 'x'"):
        run("info", "x")


def test_pull_and_verify_a_local_copy(run: Run) -> None:
    result = run("verify", "longmemeval-oracle")
    assert result.exit_code == 1
    assert "workbench data pull longmemeval-oracle" in result.stdout
    path = write("[]", "longmemeval_oracle.json")
    result = run("verify", "longmemeval-oracle", "--path", path)
    assert result.exit_code == 1
    assert "is another file: SHA-256" in result.stdout
    with pytest.raises(DataError, match="is another file"):
        run("pull", "longmemeval-oracle", "--path", path, "--no-progress")


def test_import_mem0(run: Run) -> None:
    result = run("import", "mem0", write(MEM0), "--out", "mystore")
    for part in ("entries made   2 (2 memory) of 2 users", "memory -> text", "mood = 'calm'", "export.json, line 3", "hash"):
        assert part in result.stdout
    dataset = load_directory("mystore")
    assert list(dataset.stores) == ["007", "NA"]
    assert sorted(path.name for path in Path("mystore").iterdir()) == ["dataset.json", "entries.jsonl"]
    account = json.loads(Path("mystore.import-report.json").read_text())
    assert account["records"] == 2
    # once more: store and account are replaced
    run("import", "mem0", write(MEM0), "--out", "mystore", "--user", "ana")
    assert list(load_dataset("mystore").stores) == ["ana"]
    Path("other.json").write_text("{}")
    with pytest.raises(DataError, match="holds something else"):
        run("import", "mem0", write(MEM0), "--out", "new", "--report", "other.json")
    assert not Path("new").exists()


def test_import_with_faults(run: Run) -> None:
    bad = {"results": [*MEM0["results"], {"id": "c", "memory": 5}]}
    with pytest.raises(DataError, match=r"export.json, line \d+: memory is 5: must be text .*--skip-bad"):
        run("import", "mem0", write(bad), "--out", "mystore")
    assert not Path("mystore").exists()
    result = run("import", "mem0", write(bad), "--out", "mystore", "--skip-bad")
    assert "refused: 1" in result.stdout
    assert load_directory("mystore").notes["refused_rows"] == 1


def test_import_text_table_and_conversations(run: Run) -> None:
    run("import", "chatgpt", write("- Owns a kiln.\n", "m.txt"), "--out", "chat", "--at", "2026-01-31", "--user", "ana")
    assert load_directory("chat").stores["ana"].memories[0].created_at.day == 31
    table = write("who;fact;weight\n007;Owns a kiln.;7\n", "t.csv")
    words = ["--map", "user_id=who", "--map", "text=fact", "--map", "importance=weight", "--scale", "importance=10"]
    run("import", "table", table, "--out", "table", "--at", "2026-01-31", "--set", "source=t", *words)
    memory = load_directory("table").stores["007"].memories[0]
    assert (memory.text, memory.importance, memory.source) == ("Owns a kiln.", 0.7, "t")
    talks = [{"sample": "c", "sessions": [{"at": "2026-01-01", "turns": [{"text": "Hm."}]}],
              "questions": [{"text": "?", "evidence": ["s1:1"]}]}]  # fmt: skip
    result = run("import", "conversations", write(talks), "--out", "talks", "--map", "id=sample")
    assert "1 x questions" in result.stdout
    assert dict(load_directory("talks").queries[0].relevant) == {"s1:1": 1}
    item = [{"namespace": ["acme", "ana"], "key": "k", "value": {"text": "x"}, "created_at": "2026-01-01"}]
    run("import", "langgraph", write(item), "--out", "graph", "--user-label", "-1")
    assert list(load_directory("graph").stores) == ["ana"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("mem1", "export.json"), "must be one of mem0, chatgpt, claude, langgraph, letta, table, conversations"),
        (("mem0", "export.json", "--map", "a=b"), "--map is an option of table imports and conversations"),
        (("mem0", "export.json", "--table", "t"), "--table is an option of table imports"),
        (("mem0", "export.json", "--user-label", "1"), "--user-label is an option of langgraph"),
        (("table", "export.json", "--map", "text"), "'text' must be of the form name=value"),
        (("table", "export.json", "--scale", "importance=x"), "must be a number"),
        (("conversations", "export.json", "export.json"), "2 files are given"),
        (("conversations", "export.json", "--user", "u"), "no options of conversations"),
        (("mem0", "none.json"), "there is no file none.json"),
    ],
)
def test_what_import_refuses(run: Run, words: tuple[str, ...], message: str) -> None:
    write(MEM0)
    with pytest.raises(DataError, match=message):
        run("import", *words, "--out", "mystore")
    assert not Path("mystore").exists()


def test_export(run: Run) -> None:
    run("import", "mem0", write(MEM0), "--out", "mystore")
    for kind, out in (("parquet", "p"), ("sqlite", "s.sqlite"), ("jsonl", "j")):
        run("export", "mystore", "--out", out, "--format", kind)
        assert [list(store) for store in read_store(out).dataset.stores.values()] == [
            list(store) for store in load_directory("mystore").stores.values()
        ]
    entries = Path("mystore/entries.jsonl")
    entries.write_text(entries.read_text() + "{}\n")
    with pytest.raises(DataError, match=r"entries.jsonl, line 3"):
        run("export", "mystore", "--out", "again")
    run("export", "mystore", "--out", "again", "--skip-bad")
    assert load_directory("again").notes["refused_rows"] == 1
    with pytest.raises(DataError, match="must be one of jsonl, parquet, sqlite"):
        run("export", "j", "--out", "x", "--format", "xml")


@pytest.mark.slow
def test_judge_and_agreement(run: Run) -> None:
    run("import", "mem0", write(MEM0), "--out", "mystore", "--user", "ana")
    queries = write("Which hot drink?\n", "queries.txt")
    words = ("judge", "mystore", "--queries", queries, "--labels", "labels.jsonl", "--now", "2026-06-01", "--no-progress")
    out = run(*words, "--by", "ana", keys="2\nq\n").stdout
    assert "finished 0 of 1 queries" in out
    out = run(*words, "--by", "ana", "--out", "judged", keys="0\n").stdout
    assert "finished 1 of 1 queries" in out
    (query,) = load_dataset("judged").queries
    assert list(query.relevant.values()) == [2]
    run(*words, "--by", "bo", keys="22")
    run(*words, "--by", "bo", keys="2\n1\n")
    assert "ana and bo: n = 2 entries of 1 queries; kappa" in run("agreement", "labels.jsonl").stdout
    assert json.loads(run("agreement", "labels.jsonl", "--json").stdout)[0]["n"] == 2
    assert "finished 1 of 1" in run(*words, "--by", "cy", "--no-ask", "--out", "judged").stdout
    write('{"query_id": "q", "answerable": true, "by": "a"}\n', "one.jsonl")
    assert "agreement needs two" in run("agreement", "one.jsonl").stdout
