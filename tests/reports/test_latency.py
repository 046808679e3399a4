"""The page and the figures of a latency profile, made from planted samples."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from workbench.assembly.stages import PARTS
from workbench.config import preset
from workbench.experiments.latency.cold import PHASES, summarise_cold
from workbench.experiments.latency.growth import fit_growth
from workbench.experiments.latency.pairs import paired
from workbench.experiments.latency.profile import LatencyProfile
from workbench.experiments.latency.profiler import stage_table, summary
from workbench.experiments.latency.verdict import judge_limit
from workbench.experiments.percentile import describe
from workbench.reports.document import Document
from workbench.reports.html import render
from workbench.reports.latency_figures import latency_figures
from workbench.reports.latency_page import latency_page, write_latency_report


def planted(
    names: tuple[str, ...] = ("production", "no-contradictions"), sizes: tuple[int, ...] = (300, 3_000, 10_000), n: int = 60
) -> LatencyProfile:
    """A profile whose times grow as size ** 0.4, with everything that a page can show; every call gives one of its own."""
    return copy.deepcopy(_planted(names, sizes, n))


@lru_cache(maxsize=8)
def _planted(names: tuple[str, ...], sizes: tuple[int, ...], n: int) -> LatencyProfile:
    """The statistics are real and take their time, so each profile is computed once."""
    rng = np.random.default_rng(3)
    samples: dict[tuple[int, str], dict[str, list[float]]] = {}
    cells = []
    for size in sizes:
        for at, name in enumerate(names):
            scale = (size / 300) ** 0.4 / (1 + at)
            columns = {part: (scale * rng.gamma(4.0, 0.5, n)).tolist() for part in PARTS}
            columns["embed"] = (8 + rng.gamma(4.0, 0.5, n)).tolist()
            columns["total"] = np.sum([columns[part] for part in PARTS], axis=0).tolist()
            columns["cpu"] = columns["total"]
            samples[size, name] = columns
            load = {"latency": summary(columns["total"], 0), "per_second": 40.0, "equal": True, "workers": 2}
            latency = {
                "stages": stage_table(columns, 0),
                "add_up_ms": 0.0,
                "limit": judge_limit(columns["total"]).to_dict(),
                "compile_seconds": 1.0,
                "load": {"before": [1.0, 1.0, 1.0], "after": [2.0, 1.0, 1.0]},
                "open": {"rate": 20.0, "late": 3, "latency": summary(columns["total"], 0)},
                "parallel": [load],
            }
            cells.append({"size": size, "config": name, "own_entries": 200, "made_up_vectors": 0, "latency": latency})
    totals = {size: samples[size, names[0]]["total"] for size in sizes}
    growth = fit_growth(totals)
    recall = [
        {
            "size": sizes[-1], "index": index, "cap": cap, "encoder": "toy@1", "n_queries": 32, "pool_recall": 1 - 1 / cap,
            "context_recall": 0.5, "index_recall": 0.999, "latency": describe([cap / 10 + at / 50 for at in range(20)]),
        }
        for index in ("exact", "sketch")
        for cap in (10, 50, 100)
    ]  # fmt: skip
    timed = {
        "cold": summarise_cold([dict.fromkeys((*PHASES, "process"), 300.0)]),
        "growth": {name: {"total": growth.to_dict() if growth else None, "without embed": None} for name in names},
        "ab": [
            {"size": size, **paired(samples[size, names[0]]["total"], samples[size, name]["total"]).to_dict()}
            for size in sizes
            for name in names[1:]
        ],
        "limit_ms": 100.0,
        "threads": {"faiss": 1, "OMP_NUM_THREADS": "1", "pools": []},
    }
    content = {
        "dataset": "toy", "encoder": "toy@1", "cells": cells, "recall": recall, "notes": ["a note"], "latency": timed,
        "plan": {"queries": n, "warm_up": 5, "distinct_queries": n, "embed_limit": 20_000},
        "configs": {name: {"hash": preset(name).hash if name == "production" else name} for name in names},
    }  # fmt: skip
    return LatencyProfile(content=content, samples=samples)


def test_figures_have_axes_units_n_and_a_sentence() -> None:
    profile = planted()
    figures = latency_figures(profile.content, profile.samples)
    assert set(figures) == {"stages", "distribution", "growth", "tradeoff"}
    for drawing, said in figures.values():
        assert "ms" in drawing.svg or "milliseconds" in drawing.svg
        assert "n 60" in drawing.svg or "n 32" in drawing.svg
        assert said.endswith(".")
        assert "nan" not in said
    assert "exponent" in figures["growth"][0].svg
    assert "limit 100 ms" in figures["distribution"][0].svg


def test_the_limit_is_drawn_or_said_to_lie_beyond_the_axis() -> None:
    profile = planted()
    drawing, said = latency_figures(profile.content, profile.samples)["stages"]
    assert "beyond the axis" in said
    assert "limit 100" not in drawing.svg
    profile.content["latency"]["limit_ms"] = 10.0  # type: ignore[index]
    drawing, said = latency_figures(profile.content, profile.samples)["stages"]
    assert "limit 10 ms" in drawing.svg
    assert "beyond" not in said


def test_the_same_profile_gives_the_same_bytes() -> None:
    one, two = planted(), planted()
    first, second = latency_figures(one.content, one.samples), latency_figures(two.content, two.samples)
    assert list(first) == list(second)
    for name, (drawing, _) in first.items():
        assert drawing.svg == second[name][0].svg


def test_the_page_says_what_was_measured(page: Callable[[], Any]) -> None:
    profile = planted()
    made = latency_page(profile.content, profile.samples)
    text = render(Document(title=made.title, pages=(made,)))
    for words in ("within the limit", "Open loop", "Growth", "Cold start", "n 60", "A note.", "production"):
        assert words in text
    assert "http://" not in text.replace("http://www.w3.org", "")


def test_one_cell_without_cold_start_or_recall_shows_no_data() -> None:
    profile = planted(("production",), (300,))
    content = json.loads(json.dumps(profile.content))
    content["recall"] = []
    content["latency"] |= {"cold": {}, "growth": {"production": {"total": None, "without embed": None}}}
    assert set(latency_figures(content, profile.samples)) == {"stages", "distribution"}
    made = latency_page(content, profile.samples)
    text = render(Document(title=made.title, pages=(made,)))
    assert text.count("no data") >= 3


def test_names_of_users_files_cannot_break_the_page(hostile: tuple[str, str]) -> None:
    profile = planted(hostile)
    made = latency_page(profile.content, profile.samples)
    text = render(Document(title=made.title, pages=(made,)))
    assert "<script>alert" not in text
    assert "<img" not in text


def test_page_and_figures_are_files(tmp_path: Path) -> None:
    target = write_latency_report(tmp_path, planted())
    assert target.name == "report.html"
    assert {path.name for path in (tmp_path / "figures").iterdir()} == {
        f"latency-{name}.svg" for name in ("stages", "distribution", "growth", "tradeoff")
    }


def test_nothing_timed_is_said() -> None:
    content = {**planted().content, "cells": [], "recall": [], "notes": []}
    content["latency"] = {**content["latency"], "cold": {}, "growth": {}, "ab": []}
    made = latency_page(content, {})
    assert made.answer.word == "no data"
    assert latency_figures(content, {}) == {}


@pytest.mark.parametrize("n", [1, 2])
def test_very_few_samples_still_make_figures(n: int) -> None:
    profile = planted(n=n)
    assert "stages" in latency_figures(profile.content, profile.samples)
