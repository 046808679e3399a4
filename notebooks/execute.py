"""Run the notebooks in fresh kernels and compare their key numbers with those that are committed.

    python notebooks/execute.py                   run all, compare, leave the files as they are
    python notebooks/execute.py --jobs 2          two at a time
    python notebooks/execute.py --write 03 05     run some and keep their new outputs
    python notebooks/execute.py --set USER=quillon 01

Key numbers are what a cell tagged ``numbers`` prints: one JSON object. They must agree to nine digits. A notebook that fails is
saved with what it did so far as ``<name>.failed.ipynb``, and the exit status is 1. Outputs that are kept hold times, so
``--write`` runs one notebook at a time.
"""

from __future__ import annotations

import argparse
import itertools
import json
import math
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError

HOME = Path(__file__).resolve().parent
LARGEST_OUTPUT = 200_000
"""Bytes that the outputs of one cell may take as JSON."""
TOLERANCE = 1e-9
CELL_SECONDS = 600


def notebooks(names: list[str], home: Path = HOME) -> list[Path]:
    """The notebooks whose file names begin with one of ``names``; all of them, in order, when there are none."""
    found = sorted(path for path in home.glob("[0-9][0-9]_*.ipynb") if not path.name.endswith(".failed.ipynb"))
    chosen = [path for path in found if not names or any(path.name.startswith(name) for name in names)]
    unknown = [name for name in names if not any(path.name.startswith(name) for path in found)]
    if unknown or not chosen:
        raise SystemExit(f"no notebook begins with {', '.join(unknown) or 'a number'} in {home.name}/")
    return chosen


def with_parameters(notebook: Any, values: dict[str, Any]) -> Any:
    """A cell with ``values`` after the one tagged ``parameters``, as papermill does it."""
    if values:
        at = next((n for n, cell in enumerate(notebook.cells) if "parameters" in cell.metadata.get("tags", [])), -1)
        if at < 0:
            raise SystemExit("the notebook has no cell tagged parameters, so nothing can be set")
        source = "\n".join(f"{name} = {value!r}" for name, value in values.items())
        injected = nbformat.v4.new_code_cell(source, metadata={"tags": ["injected-parameters"]})
        notebook.cells.insert(at + 1, injected)
    return notebook


def run(path: Path, values: dict[str, Any] | None = None) -> Any:
    """The notebook executed in a fresh kernel, tidied. What failed is saved beside it; raises CellExecutionError."""
    notebook = with_parameters(nbformat.read(path, 4), values or {})
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
    client = NotebookClient(
        notebook, timeout=CELL_SECONDS, kernel_name="python3", resources={"metadata": {"path": str(path.parent)}}
    )
    with tempfile.TemporaryDirectory() as scratch:
        environment = {**os.environ, "WORKBENCH_NOTEBOOK_OUT": scratch, "OMP_NUM_THREADS": "1"}
        try:
            client.execute(stderr=subprocess.DEVNULL, env=environment)
        except CellExecutionError:
            nbformat.write(tidy(notebook), path.with_suffix(".failed.ipynb"))
            raise
    path.with_suffix(".failed.ipynb").unlink(missing_ok=True)
    return tidy(notebook)


def tidy(notebook: Any) -> Any:
    """Without progress bars, widget views and execution times: they belong to one run on one machine."""
    notebook.metadata = {
        "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
        "language_info": {"name": "python"},
    }
    for cell in notebook.cells:
        cell.metadata.pop("execution", None)
        if cell.cell_type != "code":
            continue
        kept = []
        for output in cell.outputs:
            data = output.get("data", {})
            view = data.pop("application/vnd.jupyter.widget-view+json", None)
            # a widget that brings its own page keeps it; a progress bar has nothing else to show
            if output.get("name") == "stderr" or (view is not None and "text/html" not in data):
                continue
            kept.append(output)
        cell.outputs = kept
    return notebook


def key_numbers(notebook: Any) -> dict[str, Any]:
    """What the cells tagged ``numbers`` print, as one mapping."""
    out: dict[str, Any] = {}
    for cell in notebook.cells:
        if cell.cell_type == "code" and "numbers" in cell.metadata.get("tags", []):
            out.update(json.loads("".join(item.get("text", "") for item in cell.outputs)))
    return out


def differences(old: dict[str, Any], new: dict[str, Any]) -> list[str]:
    """What differs, in words; numbers agree to ``TOLERANCE``."""
    out = []
    for name in sorted({*old, *new}):
        a, b = old.get(name, "nothing"), new.get(name, "nothing")
        numeric = all(isinstance(value, int | float) and not isinstance(value, bool) for value in (a, b))
        if not (math.isclose(a, b, rel_tol=TOLERANCE, abs_tol=TOLERANCE) if numeric else a == b):
            out.append(f"{name}: committed {a}, now {b}")
    return out


def faults(notebook: Any) -> list[str]:
    """What a notebook must not have: gaps in the counts, an output that is too large, a path of this machine, no key numbers."""
    out = []
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    if [cell.execution_count for cell in code] != list(range(1, len(code) + 1)):
        out.append("execution counts are not 1 to n")
    for number, cell in enumerate(code, start=1):
        text = json.dumps(cell.outputs)
        if len(text) > LARGEST_OUTPUT:
            out.append(f"the output of cell {number} takes {len(text):,} bytes, at most {LARGEST_OUTPUT:,} are allowed")
        if str(HOME.parent) in text or str(Path.home()) + os.sep in text:
            out.append(f"the output of cell {number} shows a path of this machine")
    if not key_numbers(notebook):
        out.append("no cell tagged numbers printed a JSON object")
    return out


def checked(path: Path, values: dict[str, Any], write: bool) -> tuple[str, list[str]]:
    """Run one notebook; returns what became of it in a word or two, and what is wrong in lines."""
    start = time.perf_counter()
    committed = nbformat.read(path, 4)
    try:
        done = run(path, values)
    except CellExecutionError as error:
        return f"FAILED, see {path.with_suffix('.failed.ipynb').name}", str(error).splitlines()
    wrong = faults(done)
    if not write and not values:
        wrong += differences(key_numbers(committed), key_numbers(done))
    if write and not values:
        nbformat.write(done, path)
    return f"{'ok' if not wrong else 'WRONG'} in {time.perf_counter() - start:.0f} s", wrong


def main(arguments: list[str] | None = None) -> int:
    """Run what is asked; 0 if everything ran and agreed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help="numbers such as 03; all by default")
    parser.add_argument("--write", action="store_true", help="keep the new outputs")
    parser.add_argument("--jobs", type=int, default=1, metavar="N", help="notebooks at a time; 1 by default")
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help="a parameter, VALUE as JSON or text")
    options = parser.parse_args(arguments)
    values = {}
    for text in options.set:
        name, _, value = text.partition("=")
        try:
            values[name] = json.loads(value)
        except ValueError:
            values[name] = value
    if options.jobs < 1 or (options.jobs > 1 and options.write):
        parser.error(f"--jobs {options.jobs}: must be at least 1, and 1 with --write")
    failed = 0
    chosen = notebooks(options.names)
    todo = [(path, values, options.write) for path in chosen]
    with ExitStack() as stack:
        if options.jobs == 1:
            results: Iterator[tuple[str, list[str]]] = itertools.starmap(checked, todo)
        else:
            # processes, because a client's event loop and its sockets belong to one thread of one process
            pool = stack.enter_context(ProcessPoolExecutor(options.jobs))
            results = pool.map(checked, *zip(*todo, strict=True))
        for number, path in enumerate(chosen, start=1):
            print(f"[{number}/{len(chosen)}] {path.name}", end=" ", flush=True)
            said, wrong = next(results)
            print(said, flush=True)
            for line in wrong:
                print(f"    {line}", flush=True)
            failed += bool(wrong)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
