"""A recorded run in a notebook: verdict, tables and figures of its report, from its folder alone."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import workbench
from workbench import Assembler, Memory, UserStore, load_run, plot
from workbench.errors import ConfigError, RunError

RESULTS = Path(__file__).parents[2] / "results"


@pytest.mark.parametrize(
    ("name", "figures"),
    [
        ("ab-starter", {"metrics", "groups", "losses", "latency", "weights"}),
        ("tuning-locomo", {"folds", "ablation"}),
        ("budgets-starter", {"frontier", "marginal"}),
        ("latency", {"distribution", "stages", "growth", "tradeoff"}),
        ("conflicts", {"flagged", "similarity"}),
    ],
)
def test_every_kind_of_run_shows_its_verdict_tables_and_figures(name: str, figures: set[str]) -> None:
    run = load_run(RESULTS / name)
    assert set(run.figures) == figures
    for kind in figures:
        assert plot(run, kind).svg == run.figures[kind].svg
    assert run.sentence in str(run)
    assert run.content == json.loads((RESULTS / name / "metrics.json").read_text())
    shown = run._repr_html_()
    assert "<table>" in shown
    assert f"<b>{run.verdict}</b>" in shown
    assert run.to_csv().count("\n") > 1
    assert {"next", "results", "limits", "record"} <= set(run.parts)


def test_a_part_is_the_tables_of_a_section() -> None:
    run = load_run(RESULTS / "tuning-locomo")
    rows = run.part("signals").tables()[0].rows
    recorded = run.content["tuning"]["signals"]["rows"]
    assert [row[0].text for row in rows] == [row["signal"] for row in recorded]
    with pytest.raises(ConfigError, match="no part 'nothing'; it has next, results"):
        run.part("nothing")
    with pytest.raises(ConfigError, match="has folds, ablation"):
        plot(run, "nothing")


def test_what_is_no_run_is_refused(tmp_path: Path) -> None:
    with pytest.raises(RunError, match="no run folder"):
        load_run(tmp_path)


def test_a_context_draws_its_weights_in_effect() -> None:
    memories = [Memory(id=f"m{at}", text=f"ferry {at}", created_at="2026-03-01", importance=at / 10) for at in range(5)]
    context = Assembler(UserStore("ana", memories=memories), cache=False).assemble("ferry 1", now="2026-03-02")
    assert "5 candidates of this query" in plot(context).svg
    empty = Assembler(UserStore("ana"), cache=False).assemble("ferry", now="2026-03-02")
    assert "no data, nothing to order" in plot(empty).svg
    with pytest.raises(ConfigError, match="recorded runs have"):
        plot(3)


def test_names_for_own_stores_are_loaded_when_they_are_used() -> None:
    from workbench import data

    for name in data.__all__:
        assert getattr(data, name).__name__ == name
    with pytest.raises(AttributeError, match="it has JudgingSession"):
        _ = data.nothing
    assert "load_run" in workbench.__all__
