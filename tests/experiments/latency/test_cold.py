"""A cold start in a process of its own, and what is made of several."""

from __future__ import annotations

from pathlib import Path

import pytest

from workbench.errors import RunError
from workbench.experiments.latency.cold import PHASES, cold_start, summarise_cold
from workbench.experiments.manifest import Source


def test_the_summary_leaves_reading_the_data_out_of_the_first_answer() -> None:
    rows = [dict.fromkeys((*PHASES, "process"), value) for value in (1.0, 2.0, 30.0)]
    found = summarise_cold(rows)
    assert found["model"] == {"n": 3, "median": 2.0, "min": 1.0, "max": 30.0}
    assert found["first answer"]["median"] == 10.0  # import, libraries, model, store, first query
    assert summarise_cold([]) == {}


def test_a_process_that_fails_says_why(tmp_path: Path) -> None:
    with pytest.raises(RunError, match=r"ended with status 1: .*no-such-set"):
        cold_start(Source(name="no-such-set"), 10, encoder="bundled", embed_limit=100, repeats=1)


@pytest.mark.slow
def test_a_new_process_answers(source: Source) -> None:
    (row,) = cold_start(source, 8, encoder="bundled", embed_limit=100, repeats=1)
    assert set(row) == {*PHASES, "process"}
    assert all(value > 0 for value in row.values())
    assert sum(row[name] for name in PHASES) < row["process"]
