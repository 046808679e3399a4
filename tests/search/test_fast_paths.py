"""Speed-ups of retrieval and of the identity section give what the plain way gives."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from workbench.assembly.prompt import identity_lines
from workbench.assembly.selection import fill_soul
from workbench.config import AssemblyConfig
from workbench.search.pool import KEYWORD_ARM, VECTOR_ARM
from workbench.search.retrieve import median, retrieve, top_rows
from workbench.store.snapshot import SoulLine
from workbench.text.analysis import analyze_query
from workbench.text.tokens import count

GROUPS = ("soul", "style", "context")


@given(hnp.arrays(np.float64, st.integers(1, 60), elements=st.floats(0, 1)))
def test_the_median_is_numpys_to_the_bit(values: Any) -> None:
    assert median(values) == float(np.median(values))


def plain_fill_soul(blocks: tuple[SoulLine, ...], room: int, config: AssemblyConfig) -> tuple[tuple[int, ...], int]:
    """Counts the whole section anew for every attempt."""

    def need(chosen: list[int]) -> int:
        lines = identity_lines([(blocks[at].group, blocks[at].line) for at in chosen])
        return sum(count(line, config.encoding) for line in lines)

    chosen: list[int] = []
    used = 0
    for at in range(len(blocks)):
        if need([*chosen, at]) <= room:
            chosen.append(at)
            used = need(chosen)
        elif config.fill == "stop" and need([at]) <= room:
            break
    return tuple(chosen), used


@given(
    st.lists(st.tuples(st.integers(0, 2), st.integers(0, 30)), max_size=8),
    st.integers(0, 150),
    st.sampled_from(["stop", "skip"]),
    st.sampled_from(["o200k_base", "cl100k_base"]),
)
def test_the_identity_section_is_counted_as_a_whole(parts: Any, room: int, fill: str, encoding: str) -> None:
    lines = [
        (GROUPS[group], f"<rules>{'keep it short ' * words}{at}</rules>\n") for at, (group, words) in enumerate(sorted(parts))
    ]
    blocks = tuple(SoulLine(f"s{at}", group, line, count(line, encoding)) for at, (group, line) in enumerate(lines))
    config = AssemblyConfig(fill=fill, encoding=encoding)
    assert fill_soul(blocks, room, config) == plain_fill_soul(blocks, room, config)


@given(st.integers(0, 40), st.integers(1, 12), st.booleans(), st.integers(0, 2**31))
def test_hits_are_the_union_of_both_arms(kit: Any, size: int, top_k: int, blank: bool, seed: int) -> None:
    rng = np.random.default_rng(seed)
    words = ["boat", "ferry", "kettle", "key", "moon", "gate"]

    def text() -> str:
        return " ".join(rng.choice(words, size=3).tolist())

    memories = [kit.memory(f"m{at}", text()) for at in range(size)]
    procedures = [kit.procedure(f"p{at}", text()) for at in range(size // 3)]
    assembler = kit.assembler(memories, procedures=procedures)
    config = assembler.settings({"top_k": top_k})
    snapshot = assembler.snapshot(config)
    query = text()
    vector = np.zeros(kit.encoder.dim, dtype=np.float32) if blank else kit.encoder.encode([query])[0]
    scores = snapshot.keyword.scores(analyze_query(query))
    arms = np.zeros(len(snapshot.ids), dtype=np.int64)
    for layer in range(3):
        start, stop = snapshot.bounds[layer], snapshot.bounds[layer + 1]
        if not blank:
            arms[snapshot.index_rows[layer][snapshot.indexes[layer].search(vector, top_k)]] |= VECTOR_ARM
        arms[top_rows(scores[start:stop], top_k) + start] |= KEYWORD_ARM
    pool = retrieve(snapshot, vector, scores, config)
    assert pool.row.tolist() == np.flatnonzero(arms).tolist()
    assert pool.arms.tolist() == arms[arms > 0].tolist()
    # the best keyword score of the store is among the hits, and what relevance divides by
    assert pool.bm25.max(initial=0.0) == scores.max(initial=0.0)


@pytest.mark.parametrize("room", [0, 5])
def test_no_blocks_take_no_room(room: int) -> None:
    assert fill_soul((), room, AssemblyConfig()) == ((), 0)
