"""Losses and flips: every relevant entry is accounted for, at one stage, and the numbers add up."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from workbench.assembly.fates import Fate
from workbench.config import AssemblyConfig, Weights
from workbench.embedding.cache import EmbeddingCache
from workbench.errors import DataError
from workbench.experiments.arms import ArmResult, embed_queries, run_arms
from workbench.experiments.flips import flips
from workbench.experiments.losses import OVERALL, STAGES, LossReport, losses
from workbench.experiments.metrics import evaluate

CONFIGS = {
    "wide": AssemblyConfig(),
    "tight": AssemblyConfig(
        budgets={"memories": 60, "episodes": 30, "procedures": 20}, min_score=0.3, cap=6, top_k=8, weights=Weights(recency=0.5)
    ),
}


@pytest.fixture(scope="module")
def ran(toys: SimpleNamespace, tmp_path_factory: pytest.TempPathFactory) -> tuple[Any, dict[str, ArmResult]]:
    dataset = toys.dataset(77, users=4, queries=6, size=60)
    cache = EmbeddingCache(tmp_path_factory.mktemp("embeddings"))
    vectors = embed_queries(toys.encoder, dataset.queries, cache)
    arms, _ = run_arms(dataset, CONFIGS, toys.encoder, vectors, cache=cache)
    return dataset, {arm.name: arm for arm in arms}


def report(ran: tuple[Any, dict[str, ArmResult]], name: str) -> LossReport:
    dataset, arms = ran
    return losses(dataset, arms[name].fates, [outcome.selected for outcome in arms[name].outcomes], arm=name)


@pytest.mark.parametrize("name", list(CONFIGS))
def test_every_relevant_entry_is_counted_at_one_stage(ran: tuple[Any, dict[str, ArmResult]], name: str) -> None:
    found = report(ran, name)
    for row in found:
        assert row["relevant"] == sum(row[fate.label] for fate in Fate)
        assert row["covered"] <= row["relevant"] - row[Fate.SELECTED.label]
    assert {row["group"] for row in found} == {"group-0", "group-1", OVERALL}
    for label in ("relevant", "covered", *(fate.label for fate in Fate)):
        assert found.total[label] == sum(row[label] for row in found.rows[:-1])
    assert len(found.lost) == found.total["relevant"] - found.total[Fate.SELECTED.label]
    steps = found.waterfall()
    assert steps[0][1] + sum(count for _, count in steps[1:-1]) == steps[-1][1]
    assert [label for label, _ in steps[1:-1]] == [stage.label for stage in STAGES]


def test_tight_settings_lose_more_and_at_later_stages(ran: tuple[Any, dict[str, ArmResult]]) -> None:
    wide, tight = report(ran, "wide").total, report(ran, "tight").total
    assert tight[Fate.SELECTED.label] < wide[Fate.SELECTED.label]
    assert tight[Fate.OVER_BUDGET.label] + tight[Fate.BELOW_MINIMUM.label] > 0


def test_a_report_is_saved_printed_and_read_back(ran: tuple[Any, dict[str, ArmResult]], tmp_path: Path) -> None:
    found = report(ran, "tight")
    found.save(tmp_path / "losses.json")
    assert LossReport.load(tmp_path / "losses.json") == found
    assert "over budget" in str(found)
    assert "<table" in found._repr_html_()
    assert len(found.entries()) == len(found.lost)
    (tmp_path / "other.json").write_text("[]")
    with pytest.raises(DataError, match="loss report"):
        LossReport.load(tmp_path / "other.json")
    with pytest.raises(DataError, match="no group"):
        found.waterfall("tea")
    with pytest.raises(DataError, match="one each"):
        losses(ran[0], [], [])


def test_flips_name_the_stage_in_each_arm(ran: tuple[Any, dict[str, ArmResult]]) -> None:
    dataset, arms = ran
    found = flips(dataset, arms["wide"], arms["tight"])
    values = {name: evaluate(arm.outcomes, ["ContextRecall"])["ContextRecall"] for name, arm in arms.items()}
    gain = values["tight"] - values["wide"]
    assert (found.wins, found.ties, found.losses) == (int((gain > 0).sum()), int((gain == 0).sum()), int((gain < 0).sum()))
    assert found.losses > 0
    by_id = {query.id: at for at, query in enumerate(dataset.queries)}
    for row in found.rows:
        at = by_id[row["query_id"]]
        if row["entry_id"] is None:
            continue
        stages = (arms["wide"].fates[at][row["entry_id"]].label, arms["tight"].fates[at][row["entry_id"]].label)
        assert stages == (row["stage_a"], row["stage_b"])
        assert (stages[0] == "selected") != (stages[1] == "selected")
    changed = {dataset.queries[at].id for at in np.flatnonzero((gain != 0) & ~np.isnan(gain))}
    assert changed <= {row["query_id"] for row in found.rows}
    assert found.stages()["entries"].sum() == sum(row["entry_id"] is not None for row in found.rows)
    assert not flips(dataset, arms["wide"], arms["wide"]).rows
