"""``workbench data generate``: synthetic users with planted truth, and how hard they are."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from workbench.commands.printing import say

if TYPE_CHECKING:
    from workbench.data.synthetic import Synthesis

# Embedding takes some 30 ms a text.
_MANY_TEXTS = 20_000


def register(app: typer.Typer) -> None:
    """Add the command to ``app``, the group ``workbench data``."""
    app.command("generate")(generate)


def generate(
    users: Annotated[int, typer.Option(help="How many users.")] = 20,
    size: Annotated[int, typer.Option(help="Entries a user, Soul blocks included (190 to 200000).")] = 300,
    seed: Annotated[int, typer.Option(help="The same seed gives the same bytes.")] = 0,
    out: Annotated[Path, typer.Option(help="Directory for the dataset (JSONL layout).")] = Path("synthetic"),
    languages: Annotated[str, typer.Option(help="English first; the others are second languages.")] = "en,es,de,pt,ko",
    labels: Annotated[Path | None, typer.Option(help="Also write the planted labels to this JSONL file.")] = None,
    difficulty: Annotated[
        bool | None, typer.Option(help="Measure and print how hard the set is; by default unless it takes many minutes.")
    ] = None,
    measure_users: Annotated[int, typer.Option(min=1, help="Users to measure; embedding takes some 30 ms a text.")] = 4,
    progress: Annotated[bool, typer.Option(help="Show progress bars.")] = True,
) -> None:
    """Generate judged users and measure the difficulty of every scenario."""
    from tqdm.auto import tqdm

    from workbench.data.saving import save_directory
    from workbench.data.synthetic.generator import DESCRIPTION, check_parameters, synthesize_labelled
    from workbench.data.synthetic.labels import write_labels

    spoken = check_parameters(users, size, seed, [part.strip() for part in languages.split(",")])
    with tqdm(total=users, desc="generating", unit=" users", disable=not progress, dynamic_ncols=True) as bar:
        made = synthesize_labelled(users=users, size=size, seed=seed, languages=spoken, progress=lambda n: bar.update(n) and None)
    folder = save_directory(made.dataset, out, description=DESCRIPTION)
    typer.echo(f"{made.dataset}\nsha256 {made.dataset.checksum}\nsaved to {folder}")
    typer.echo(f"planted: {json.dumps(dict(made.dataset.notes))}")
    if labels is not None:
        typer.echo(f"labels: {write_labels(made.planted, labels)}")
    measured = list(made.dataset.stores)[:measure_users]
    texts = size * len(measured)
    if difficulty is None and texts > _MANY_TEXTS:
        typer.echo(f"difficulty not measured: {texts} texts would have to be embedded; --difficulty does it", err=True)
    elif difficulty is not False:
        _measure(made, measured, progress)


def _measure(made: Synthesis, measured: list[str], progress: bool) -> None:
    from tqdm.auto import tqdm

    from workbench.experiments.difficulty import difficulty as measure

    total = sum(1 for query in made.dataset.queries if query.user_id in set(measured))
    users = len(made.dataset.stores)
    if len(measured) < users:
        typer.echo(f"measuring a sample of {len(measured)} of {users} users; --measure-users takes more", err=True)
    with tqdm(total=total, desc="measuring", unit=" queries", disable=not progress, dynamic_ncols=True) as bar:
        result = measure(made.dataset, users=len(measured), planted=made.planted, progress=lambda n: bar.update(n) and None)
    say(f"\n{result}")
