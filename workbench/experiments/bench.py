"""``python -m workbench.experiments.bench``: how fast the parts are, each beside something to hold it against.

``replay``: re-ranking recorded pools beside re-running the assembler. ``assemble``: a whole assembly beside the least that any
assembly has to do, and beside a naive one. ``memory``: the memory of a process over many queries.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Sequence
from typing import Any

from workbench.errors import ConfigError, WorkbenchError


def sizes_of(text: str) -> tuple[int, ...]:
    """Whole numbers separated by commas, such as ``300,3000``. Raises ConfigError."""
    try:
        sizes = tuple(int(part) for part in text.split(","))
    except ValueError:
        raise ConfigError(f"sizes is {text!r}: must be whole numbers separated by commas, such as 300,3000") from None
    return sizes


def main(arguments: Sequence[str] | None = None) -> int:
    """Entry point; 0 when the results checked along the way were equal, 1 when not, 2 for bad input."""
    parser = argparse.ArgumentParser(prog="python -m workbench.experiments.bench", description=__doc__)
    parser.add_argument("--json", action="store_true", help="print JSON")
    parts = parser.add_subparsers(dest="what", required=True)
    replay = parts.add_parser("replay", help="replay beside re-running the assembler")
    replay.add_argument("--queries", type=int, default=100)
    replay.add_argument("--configs", type=int, default=2000)
    replay.add_argument("--rerun", type=int, default=200, help="contexts to assemble from scratch")
    replay.add_argument("--processes", type=int, default=1)
    assemble = parts.add_parser("assemble", help="whole assembly beside its floor and a naive one")
    assemble.add_argument("--sizes", default="300,3000,10000,100000")
    assemble.add_argument("--queries", type=int, default=200, help="timed queries per size")
    assemble.add_argument("--exact", action="store_true", help="exact vector search at every size")
    assemble.add_argument("--naive", type=int, default=40, help="timed queries per size of the naive assembly")
    memory = parts.add_parser("memory", help="memory of the process over many queries")
    memory.add_argument("--size", type=int, default=3000)
    memory.add_argument("--queries", type=int, default=20_000)
    for part in (replay, assemble, memory):
        part.add_argument("--json", action="store_true", default=argparse.SUPPRESS, help="print JSON")
    options = parser.parse_args(arguments)
    try:
        result, good = _RUN[options.what](options)
    except WorkbenchError as error:
        sys.stderr.write(f"error: {error}\n")
        return 2
    sys.stdout.write(json.dumps(result.to_dict(), allow_nan=False) + "\n" if options.json else f"{result}\n")
    return 0 if good else 1


def _replay(options: argparse.Namespace) -> tuple[Any, bool]:
    from workbench.experiments.bench_replay import bench_replay

    result = bench_replay(queries=options.queries, configs=options.configs, rerun=options.rerun, processes=options.processes)
    return result, result.recall_equal


def _assemble(options: argparse.Namespace) -> tuple[Any, bool]:
    from workbench.experiments.bench_assemble import bench_assemble

    result = bench_assemble(
        sizes_of(options.sizes), queries=options.queries, naive=options.naive, exact=True if options.exact else None, say=_say
    )
    return result, True


def _memory(options: argparse.Namespace) -> tuple[Any, bool]:
    from workbench.experiments.bench_memory import bench_memory

    result = bench_memory(size=options.size, queries=options.queries, say=_say)
    return result, True


def _say(text: str) -> None:
    sys.stderr.write(text + "\n")
    sys.stderr.flush()


_RUN: dict[str, Callable[[argparse.Namespace], tuple[Any, bool]]] = {
    "replay": _replay, "assemble": _assemble, "memory": _memory,
}  # fmt: skip

if __name__ == "__main__":
    sys.exit(main())
