"""Cold start: a new process answers its first query; what it spends on imports, the model, the store and the query itself."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from workbench.errors import RunError
from workbench.experiments.manifest import Source

PHASES = ("import", "libraries", "model", "data", "store", "first query", "second query")
"""``import workbench``; FAISS, numpy and the rest; loading the encoder; reading and sizing the dataset (no application does);
compiling the store with its entries' vectors cached; the first query; the next one."""
_TIMEOUT = 900
_CODE = (
    "import time; began = time.perf_counter_ns(); import workbench; took = time.perf_counter_ns() - began\n"
    "from workbench.experiments.latency.cold import child; child(took)"
)


def cold_start(
    source: Source,
    size: int,
    *,
    encoder: str,
    embed_limit: int,
    repeats: int = 3,
    step: Callable[[int], None] | None = None,
) -> list[dict[str, float]]:
    """Milliseconds per phase and "process" (from starting it to its end), one mapping per repeat.

    Raises RunError when the process fails, with the last line it wrote.
    """
    order = {
        "source": {**source.to_dict(), "data": None if source.data is None else str(source.data)},
        "size": size,
        "encoder": encoder,
        "embed_limit": embed_limit,
    }
    rows = []
    for _ in range(repeats):
        began = time.perf_counter_ns()
        done = subprocess.run(
            [sys.executable, "-c", _CODE],
            input=json.dumps(order),
            capture_output=True,
            text=True,
            timeout=_TIMEOUT,
            check=False,
            env={**os.environ, "OMP_NUM_THREADS": os.environ.get("OMP_NUM_THREADS", "1")},
        )
        whole = (time.perf_counter_ns() - began) / 1e6
        if done.returncode:
            last = (done.stderr.strip().splitlines() or ["it said nothing"])[-1]
            raise RunError(f"the process that measures the cold start ended with status {done.returncode}: {last[:300]}")
        rows.append({**json.loads(done.stdout.splitlines()[-1]), "process": whole})
        if step:
            step(1)
    return rows


def child(imported: int) -> None:
    """What the new process does: read the order from standard input, answer two queries, print the times. imported: ns."""
    order = json.loads(sys.stdin.read())
    marks = [time.perf_counter_ns()]

    def mark() -> None:
        marks.append(time.perf_counter_ns())

    from workbench.assembly.assembler import Assembler
    from workbench.embedding.cache import EmbeddingCache
    from workbench.embedding.encoder import load_encoder
    from workbench.experiments.latency.stores import PartlyMadeUp, sized_store

    mark()
    encoder = load_encoder(order["encoder"])
    mark()
    told = order["source"]
    source = Source(
        name=told["name"], options=told["options"], part=told["part"], split_seed=told["split_seed"], data=told["data"]
    )
    sized = sized_store(source.load(), order["size"])
    mark()
    assembler = Assembler(sized.store, encoder=encoder, cache=PartlyMadeUp(EmbeddingCache(), order["embed_limit"]))
    assembler.snapshot(assembler.settings())
    mark()
    for query in (sized.queries[0], sized.queries[-1]):
        assembler.assemble(query.query, now=query.now)
        mark()
    took = [imported, *np.diff(marks).tolist()]
    sys.stdout.write(json.dumps({name: value / 1e6 for name, value in zip(PHASES, took, strict=True)}) + "\n")


def summarise_cold(rows: Sequence[Mapping[str, float]]) -> dict[str, dict[str, float]]:
    """Median, least and most per phase in ms; "first answer" is all up to the first answer, without reading the dataset."""
    if not rows:
        return {}
    table = {name: [row[name] for row in rows] for name in (*PHASES, "process")}
    needed = ("import", "libraries", "model", "store", "first query")
    table["first answer"] = [sum(row[name] for name in needed) for row in rows]
    return {
        name: {"n": len(values), "median": float(np.median(values)), "min": min(values), "max": max(values)}
        for name, values in table.items()
    }
