"""``workbench data generate``: writes the set, prints what it is and how hard."""

from __future__ import annotations

from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from workbench.commands import generate
from workbench.commands.generate import register
from workbench.data.files import load_directory
from workbench.data.synthetic.labels import read_labels
from workbench.errors import DataError

runner = CliRunner()


@pytest.fixture(scope="module")
def app() -> typer.Typer:
    group = typer.Typer()
    register(group)

    @group.command()
    def other() -> None:
        """A second command, so that the group stays one."""

    return group


def test_the_set_is_written_and_described(app: typer.Typer, tmp_path: Path) -> None:
    out, labels = tmp_path / "set", tmp_path / "labels.jsonl"
    arguments = ["generate", "--users", "2", "--size", "200", "--seed", "3", "--out", str(out), "--labels", str(labels)]
    done = runner.invoke(app, [*arguments, "--no-difficulty", "--no-progress"])
    assert done.exit_code == 0, done.output
    dataset = load_directory(out)
    assert dataset.checksum in done.output
    assert "2 users, 400 entries" in done.output
    assert "difficulty" not in done.output
    assert len(read_labels(labels)) == sum(dataset.notes.values())
    again = runner.invoke(app, [*arguments, "--no-difficulty", "--no-progress"])
    assert again.exit_code == 0
    assert load_directory(out).checksum == dataset.checksum


def test_bad_parameters_end_in_one_clear_error(app: typer.Typer, tmp_path: Path) -> None:
    for arguments, word in (
        (["--size", "12"], "size is 12"),
        (["--users", "0"], "users is 0"),
        (["--languages", "en,xx"], "known are"),
        (["--languages", "de,en"], "English comes first"),
    ):
        done = runner.invoke(app, ["generate", *arguments, "--out", str(tmp_path / "no"), "--no-progress"])
        assert isinstance(done.exception, DataError)
        assert word in str(done.exception)
        assert not (tmp_path / "no").exists()


def test_what_would_take_many_minutes_is_not_measured_unasked(
    app: typer.Typer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert generate._MANY_TEXTS == 20_000
    monkeypatch.setattr(generate, "_MANY_TEXTS", 300)
    arguments = ["generate", "--users", "1", "--size", "301", "--languages", "en", "--out", str(tmp_path / "set")]
    done = runner.invoke(app, [*arguments, "--no-progress"])
    assert done.exit_code == 0, done.output
    assert "301 texts would have to be embedded" in done.output
    assert "clean recall" not in done.output


@pytest.mark.slow
def test_the_difficulty_of_a_sample_is_printed(app: typer.Typer, tmp_path: Path) -> None:
    arguments = ["generate", "--users", "2", "--size", "200", "--seed", "3", "--out", str(tmp_path / "set")]
    done = runner.invoke(app, [*arguments, "--measure-users", "1", "--no-progress"])
    assert done.exit_code == 0, done.output
    assert "1 of 2 users" in done.output
    assert "oracle" in done.output
