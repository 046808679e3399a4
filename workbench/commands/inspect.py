"""``workbench inspect``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from workbench.commands.options import DATA, DATASET


def register(app: typer.Typer) -> None:
    """Add the command to the application."""
    app.command("inspect")(inspect)


def inspect(
    query: Annotated[str, typer.Argument(help="What the user asks.")],
    dataset: DATASET = "starter",
    data: DATA = None,
    user: Annotated[str | None, typer.Option(help="User id; the first of the dataset by default.")] = None,
    now: Annotated[str | None, typer.Option(help="Time of the query, ISO 8601 UTC; the dataset's own by default.")] = None,
    config: Annotated[str, typer.Option(help="A preset or a .toml/.json file.")] = "production",
    against: Annotated[
        str | None, typer.Option(help="What to compare with: a preset or a .toml/.json file; production weights by default.")
    ] = None,
    out: Annotated[Path, typer.Option(help="The page to write.")] = Path("inspect.html"),
) -> None:
    """Write a page that shows one prompt, every candidate with its signals and fate, and what differs from production."""
    from workbench.config import load_config
    from workbench.data.registry import load_dataset
    from workbench.experiments.arms import assemble_one, dataset_config

    judged = load_dataset(dataset, data=data)
    context = assemble_one(judged, query, user=user, now=now, config=load_config(config))
    other = None if against is None else dataset_config(judged, load_config(against))
    inspector = context.inspect(against=other)
    typer.echo(str(inspector), err=True)
    typer.echo(str(inspector.to_html(out)))
