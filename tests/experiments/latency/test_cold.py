"""A cold start in a process of its own, and what is made of several."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from workbench.assembly.stages import PARTS
from workbench.errors import RunError
from workbench.experiments.latency.cold import PHASES, cold_start, summarise_cold
from workbench.experiments.latency.order import cold_items, growth_items, stage_items
from workbench.experiments.manifest import Source


def test_the_summary_leaves_reading_the_data_out_of_the_first_answer() -> None:
    rows = [dict.fromkeys((*PHASES, "process"), value) for value in (1.0, 2.0, 30.0)]
    found = summarise_cold(rows)
    assert found["model"] == {"n": 3, "median": 2.0, "min": 1.0, "max": 30.0}
    assert found["first answer"]["median"] == 10.0  # import, libraries, model, store, first query
    assert summarise_cold([]) == {}


def test_a_recorded_profile_is_shown_in_the_order_of_the_pipeline_not_of_the_alphabet() -> None:
    found = json.loads(json.dumps(summarise_cold([dict.fromkeys((*PHASES, "process"), 1.0)]), sort_keys=True))
    assert [name for name, _ in cold_items({"latency": {"cold": found}})] == [*PHASES, "first answer", "process"]
    assert cold_items({"latency": {}}) == []
    stages = {name: {} for name in sorted(("total", *PARTS))}
    assert [name for name, _ in stage_items({"latency": {"stages": stages}})] == [*PARTS, "total"]
    cells = [{"config": "wide"}, {"config": "narrow"}]
    fits = {"narrow": {"total": None}, "wide": {"total": None}}
    shown = growth_items({"cells": cells, "latency": {"growth": fits}})
    assert shown == [("wide", "total", None), ("narrow", "total", None)]


def test_a_process_that_fails_says_why(tmp_path: Path) -> None:
    with pytest.raises(RunError, match=r"ended with status 1: .*no-such-set"):
        cold_start(Source(name="no-such-set"), 10, encoder="bundled", embed_limit=100, repeats=1)


@pytest.mark.slow
def test_a_new_process_answers(source: Source) -> None:
    (row,) = cold_start(source, 8, encoder="bundled", embed_limit=100, repeats=1)
    assert set(row) == {*PHASES, "process"}
    assert all(value > 0 for value in row.values())
    assert sum(row[name] for name in PHASES) < row["process"]
