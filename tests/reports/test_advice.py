"""Every report says what to do next, from its own numbers, with commands that the product has."""

from __future__ import annotations

import json
import shlex
import shutil
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command

from workbench.cli import app
from workbench.config import load_config
from workbench.errors import DataError, RunError
from workbench.reports.document import Bullets, Code, Page
from workbench.reports.run_pages import run_page

RESULTS = Path(__file__).parents[2] / "results"
KINDS = ("ab-starter", "ab-locomo", "budgets-starter", "conflicts", "latency", "tuning-locomo")


def steps(page: Page) -> str:
    first = page.sections[0]
    assert first.key == "next"
    return " ".join(text for block in first.blocks if isinstance(block, Bullets) for text in block.items)


def commands(page: Page) -> list[list[str]]:
    found = [shlex.split(block.text) for block in page.sections[0].blocks if isinstance(block, Code)]
    return [words for words in found if words[0] == "workbench"]


def changed(name: str, folder: Path, change: Any, manifest: Any = None) -> Page:
    """The page of a copy of a reference run whose metrics are changed in place."""
    shutil.copytree(RESULTS / name, folder)
    for file, edit in (("metrics.json", change), ("manifest.json", manifest)):
        content = json.loads((folder / file).read_text())
        if edit is not None:
            edit(content)
        (folder / file).write_text(json.dumps(content))
    return run_page(folder, quoted=0)


@pytest.mark.parametrize("name", KINDS)
def test_a_report_begins_with_what_to_do_and_its_commands_exist(name: str) -> None:
    page = run_page(RESULTS / name, quoted=0)
    assert steps(page).count(".") >= 1
    known = get_command(app)
    for words in commands(page):
        command: Any = known
        rest = words[1:]
        while rest and not rest[0].startswith("-") and rest[0] in getattr(command, "commands", {}):
            command, rest = command.commands[rest[0]], rest[1:]
        options = {option for parameter in command.params for option in parameter.opts}
        assert command is not known
        assert {word for word in rest if word.startswith("--")} <= options, words


@pytest.mark.parametrize(
    ("verdict", "says"),
    [("better", "confirm it on others before adopting"), ("worse", "Keep production."), ("equivalent", "nothing is won"),
     ("no difference", "nothing is won"), ("inconclusive", "add users rather than queries"), ("not enough data", "two users")],
)  # fmt: skip
def test_the_step_follows_the_verdict(tmp_path: Path, verdict: str, says: str) -> None:
    page = changed("ab-starter", tmp_path / "run", lambda content: content["comparison"]["ContextRecall"].update(verdict=verdict))
    assert says in steps(page)


def test_a_difference_that_cannot_be_seen_yet_says_how_many_users_it_takes(tmp_path: Path) -> None:
    row = {"verdict": "inconclusive", "mde": 0.04, "margin": 0.01, "n_clusters": 6}
    page = changed("ab-starter", tmp_path / "run", lambda content: content["comparison"]["ContextRecall"].update(row))
    # four times the detectable difference wanted, so sixteen times the users
    assert "roughly 96 users like these 6" in steps(page)


def test_better_on_the_locked_part_leads_to_promotion_and_elsewhere_to_that_part(tmp_path: Path) -> None:
    page = run_page(RESULTS / "ab-locomo", quoted=0)
    assert page.answer.word == "better"
    words = commands(page)[0]
    assert words[-4:] == ["--split", "test", "--out", "runs/confirm"]
    assert "--no-progress" not in words
    locked = changed("ab-locomo", tmp_path / "run", None, lambda told: told["dataset"]["load"].update(part="test"))
    assert [part[1:3] for part in commands(locked)] == [["weights", "promote"]]


def test_signals_that_the_data_cannot_judge_keep_their_weights(tmp_path: Path) -> None:
    assert "Leave the weights of importance, confidence and frequency as they are" in steps(
        run_page(RESULTS / "ab-locomo", quoted=0)
    )
    page = run_page(RESULTS / "tuning-locomo", quoted=0)
    text = next(block.text for block in page.sections[0].blocks if isinstance(block, Code))
    path = tmp_path / "tuned.toml"
    path.write_text(text)
    weights = load_config(str(path)).weights
    assert (weights.importance, weights.confidence, weights.frequency) == (0.15, 0.15, 0.1)
    chosen = json.loads((RESULTS / "tuning-locomo" / "metrics.json").read_text())["tuning"]["final_params"]
    assert (weights.relevance, weights.recency) == (chosen["weights.relevance"], chosen["weights.recency"])


def test_a_sweep_leads_to_tuning_with_the_same_grid_and_no_weights() -> None:
    words = commands(run_page(RESULTS / "budgets-starter", quoted=0))[0]
    assert words[:4] == ["workbench", "tune", "--weights", "none"]
    assert words.count("--grid") == 3
    assert "--total" not in words


def test_latency_names_the_slowest_stage_of_the_slowest_cell(tmp_path: Path) -> None:
    content = json.loads((RESULTS / "latency" / "metrics.json").read_text())
    stages = max((cell["latency"]["stages"] for cell in content["cells"]), key=lambda table: table["total"]["p95"])
    names = ("embed", "search", "merge", "contradictions", "score", "prompt")
    slowest = max(names, key=lambda name: stages[name]["p50"])
    assert f"begin with {slowest} (" in steps(run_page(RESULTS / "latency", quoted=0))

    def over(content: Any) -> None:
        content["cells"][0]["latency"]["limit"]["verdict"] = "over the limit"

    assert "Begin with what takes longest" in steps(changed("latency", tmp_path / "run", over))


def test_a_latency_report_has_limits_and_the_command_that_makes_it_again() -> None:
    page = run_page(RESULTS / "latency", quoted=0)
    parts = {part.key: part.blocks for part in page.sections}
    assert any("one machine only" in text for block in parts["limits"] for text in getattr(block, "items", ()))
    assert any(isinstance(block, Code) and block.text.startswith("workbench latency") for block in parts["record"])


def test_a_run_that_did_not_end_says_so_first(tmp_path: Path) -> None:
    page = changed("conflicts", tmp_path / "run", None, lambda told: told.update(status="running"))
    assert page.answer.details[0].startswith("This run is recorded as running, not as complete")
    (tmp_path / "run" / "metrics.json").unlink()
    with pytest.raises(RunError, match="lacks"):
        run_page(tmp_path / "run")


def test_a_broken_file_is_named_once_and_as_what_it_is(tmp_path: Path) -> None:
    shutil.copytree(RESULTS / "ab-starter", tmp_path / "run")
    (tmp_path / "run" / "per_query.parquet").write_bytes(b"PAR1")
    with pytest.raises(DataError, match=r"per_query\.parquet cannot be read") as caught:
        run_page(tmp_path / "run", quoted=0)
    assert "metrics.json" not in str(caught.value)
    assert str(caught.value).count("run again") == 1
