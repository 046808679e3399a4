"""The same input gives the same bytes in every process, hash seed, thread count and order of insertion."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any

import pytest

HASHED = """
import hashlib, numpy as np
class E:
    name, dim = "hashed", 32
    conflict_band, duplicate_threshold = (0.3, 0.95), 0.95
    def encode(self, texts):
        rows = np.zeros((len(texts), 32))
        for row, text in zip(rows, texts):
            for n in range(len(text)):
                d = hashlib.blake2b(text[n:n + 3].encode(), digest_size=8).digest()
                row[d[0] % 32] += 1 if d[1] & 1 else -1
        norms = np.linalg.norm(rows, axis=1, keepdims=True)
        return (rows / np.where(norms > 0, norms, 1)).astype(np.float32)
encoder = E()
"""
BUNDLED = """
from workbench.embedding.encoder import load_encoder
encoder = load_encoder()
"""
CODE = """
import json, random, sys
from workbench import Assembler, AssemblyConfig, Episode, Memory, Procedure, SoulBlock, UserStore
def at(n): return f"2026-01-{1 + n % 5:02d}T00:00:00Z"
things = ["boat", "lamp", "ferry", "greenhouse door", "spare key", "printer", "geese", "小屋", "mug"]
places = ["by the harbour", "in the pantry", "under the stairs", "am Hafen", "no porto"]
memories = [
    Memory(id=f"m{n}", text=f"The {things[n % 9]} is {'not ' if n % 4 == 0 else ''}{places[n % 5]}", created_at=at(n),
           category=["fact", "preference"][n % 6 == 0], importance=0.5 + (n % 5) / 10, tags=["b", "a"])
    for n in range(SIZE)
] + [Memory(id=f"t{n}", text="same words for all", created_at=at(0)) for n in range(6)]
episodes = [Episode(id=f"e{n}", summary=f"saw the {things[n % 9]}", topics=["x", "y"], occurred_at=at(n)) for n in range(12)]
procedures = [Procedure(id=f"p{n}", name=f"mend the {things[n % 9]}", steps=["look", "mend"], created_at=at(n)) for n in range(6)]
soul = [SoulBlock(id=f"s{n}", text=f"rule {n}", group=["soul", "style", "context"][n % 3]) for n in range(5)]
for layer in (memories, episodes, procedures, soul):
    random.Random(int(sys.argv[1])).shuffle(layer)
store = UserStore("ana", memories=memories, episodes=episodes, procedures=procedures, soul=soul)
assembler = Assembler(store, AssemblyConfig(boosts={"preference": 1.1, "fact": 1.0}), encoder, cache=False)
out = []
for query in ("where is the spare key", "小屋", "", "who feeds the geese by the harbour"):
    for fusion in ("spread", "rrf"):
        row = assembler.assemble(query, now="2026-03-02T09:00:00Z", fusion=fusion).to_dict()
        del row["timings_ms"]
        out.append(row)
out.append(store.fingerprint)
print(json.dumps(out, allow_nan=False))
"""


def runs(encoder: str, size: int, variants: list[dict[str, str]]) -> list[str]:
    processes = []
    for number, variant in enumerate(variants):
        environment = {**os.environ, **variant}
        code = encoder + CODE.replace("SIZE", str(size))
        arguments = [sys.executable, "-c", code, str(number)]
        processes.append(subprocess.Popen(arguments, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True))
    outputs = []
    for process in processes:
        out, error = process.communicate(timeout=500)
        assert process.returncode == 0, error
        outputs.append(out)
    return outputs


def test_hash_seeds_insertion_order_and_threads() -> None:
    outputs = runs(HASHED, 60, [{"PYTHONHASHSEED": "0", "OMP_NUM_THREADS": "1"}, {"PYTHONHASHSEED": "1", "OMP_NUM_THREADS": "2"}])
    assert len(set(outputs)) == 1
    rows: list[Any] = json.loads(outputs[0])
    assert all(row["prompt"] for row in rows[:-1])
    assert any(row["conflicts"] for row in rows[:-1])
    ties = [key for key in rows[0]["selected"] if key.startswith("t")]
    assert ties in ([], ["t0"])


@pytest.mark.slow
def test_more_hash_seeds() -> None:
    assert len(set(runs(HASHED, 60, [{"PYTHONHASHSEED": str(seed)} for seed in range(5)]))) == 1


@pytest.mark.slow
def test_the_same_with_the_bundled_model() -> None:
    variants = [
        {"PYTHONHASHSEED": str(seed), "OMP_NUM_THREADS": threads, "MKL_NUM_THREADS": threads, "OPENBLAS_NUM_THREADS": threads}
        for seed in range(3)
        for threads in ("1", "2")
    ]
    # two at a time, because each loads the model
    outputs = [output for start in (0, 2, 4) for output in runs(BUNDLED, 150, variants[start : start + 2])]
    assert len(set(outputs)) == 1
