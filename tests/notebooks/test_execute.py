"""The notebooks' runner, and NB-1: fresh kernels, twice, on the sample store and on an empty one."""

from __future__ import annotations

import importlib.util
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

HOME = Path(__file__).parents[2] / "notebooks"
BOOKS = sorted(HOME.glob("[0-9][0-9]_*.ipynb"))


@pytest.fixture(scope="module")
def nbformat() -> ModuleType:
    """Imported by the tests that use it: it takes seconds, and every worker collects this file."""
    return importlib.import_module("nbformat")


@pytest.fixture(scope="module")
def runner() -> Iterator[ModuleType]:
    spec = importlib.util.spec_from_file_location("execute", HOME / "execute.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["execute"] = module  # its functions are sent to other processes by name
    spec.loader.exec_module(module)
    yield module
    del sys.modules["execute"]


def book(*cells: Any) -> Any:
    from nbformat import v4

    return v4.new_notebook(cells=list(cells))


def code(source: str, *tags: str) -> Any:
    from nbformat import v4

    return v4.new_code_cell(source, metadata={"tags": list(tags)} if tags else {})


@pytest.mark.parametrize("path", BOOKS, ids=lambda path: path.stem)
def test_the_committed_notebooks_are_as_promised(runner: ModuleType, nbformat: ModuleType, path: Path) -> None:
    notebook = nbformat.read(path, 4)
    assert runner.faults(notebook) == []
    first = next(cell for cell in notebook.cells if cell.cell_type == "code")
    assert first.metadata.get("tags") == ["parameters"]
    assert notebook.cells[0].source.startswith(f"# {path.name[:2]} ")
    assert "**What to do next.**" in notebook.cells[-1].source
    assert sum(cell.metadata.get("tags") == ["numbers"] for cell in notebook.cells) == 1
    assert path.stat().st_size < 1_500_000


def test_there_are_ten_notebooks_in_order() -> None:
    assert [path.name[:2] for path in BOOKS] == [f"{number:02d}" for number in range(1, 11)]


def test_key_numbers_are_compared_to_nine_digits(runner: ModuleType) -> None:
    assert runner.differences({"a": 1.0, "b": "x", "c": True}, {"a": 1.0 + 1e-12, "b": "x", "c": True}) == []
    assert len(runner.differences({"a": 1.0}, {"a": 1.00001})) == 1
    assert len(runner.differences({"a": 1.0}, {"b": 1.0})) == 2
    assert len(runner.differences({"a": True}, {"a": 1})) == 0


def test_parameters_go_behind_the_tagged_cell(runner: ModuleType) -> None:
    done = runner.with_parameters(book(code("A = 1", "parameters"), code("print(A)")), {"A": 2})
    assert [cell.source for cell in done.cells] == ["A = 1", "A = 2", "print(A)"]
    with pytest.raises(SystemExit, match="parameters"):
        runner.with_parameters(book(code("A = 1")), {"A": 2})


def test_faults_are_named(runner: ModuleType, nbformat: ModuleType) -> None:
    large = code("x", "numbers")
    large.execution_count = 2
    large.outputs = [nbformat.v4.new_output("stream", text="x" * 300_000)]
    with pytest.raises(json.JSONDecodeError):
        runner.key_numbers(book(large))
    large.metadata["tags"] = []
    found = " ".join(runner.faults(book(large)))
    for word in ("counts", "bytes", "numbers"):
        assert word in found


def test_several_at_a_time_are_not_written(runner: ModuleType, capsys: pytest.CaptureFixture[str]) -> None:
    for arguments in (["--jobs", "0"], ["--jobs", "2", "--write"]):
        with pytest.raises(SystemExit) as stopped:
            runner.main(arguments)
        assert stopped.value.code == 2
        assert "must be at least 1, and 1 with --write" in capsys.readouterr().err


@pytest.mark.slow
@pytest.mark.parametrize("jobs", ["1", "2"])
def test_nb1_a_failing_notebook_is_saved_as_far_as_it_came_and_the_status_is_1(
    runner: ModuleType,
    nbformat: ModuleType,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    jobs: str,
) -> None:
    path, other = tmp_path / "11_fails.ipynb", tmp_path / "12_runs.ipynb"
    nbformat.write(book(code("print(6 * 7)"), code("raise ValueError('on purpose')"), code("print('never')")), path)
    told = code("import os\nassert os.path.isdir(os.environ['WORKBENCH_NOTEBOOK_OUT'])\nprint('{\"answer\": 42}')", "numbers")
    told.outputs = [nbformat.v4.new_output("stream", text='{"answer": 41}')]
    nbformat.write(book(told), other)
    monkeypatch.setattr(runner, "HOME", tmp_path)
    monkeypatch.setattr(runner, "notebooks", lambda names: [path, other])
    assert runner.main(["--jobs", jobs]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "[1/2] 11_fails.ipynb FAILED, see 11_fails.failed.ipynb"
    assert next(line for line in lines if line.startswith("[2/2]")).startswith("[2/2] 12_runs.ipynb WRONG in ")
    assert lines[-1] == "    answer: committed 41, now 42"
    left = nbformat.read(tmp_path / "11_fails.failed.ipynb", 4)
    assert left.cells[0].outputs[0]["text"] == "42\n"
    assert left.cells[1].outputs[0]["ename"] == "ValueError"
    assert left.cells[2].outputs == []


@pytest.mark.slow
def test_nb1_a_notebook_runs_twice_with_equal_numbers_and_on_an_empty_store(runner: ModuleType) -> None:
    first, second = runner.run(BOOKS[0]), runner.run(BOOKS[0])
    assert runner.key_numbers(first) == runner.key_numbers(second) != {}
    assert runner.faults(first) == []
    texts = [[item.get("text") for item in cell.get("outputs", [])] for cell in first.cells]
    assert texts == [[item.get("text") for item in cell.get("outputs", [])] for cell in second.cells]
    empty = runner.run(BOOKS[0], {"USER": "nobody"})
    assert runner.faults(empty) == []
    assert runner.key_numbers(empty) == {"first": [], "selected": 0, "tokens": 0}
