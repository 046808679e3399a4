"""``workbench ab``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from workbench.commands.options import DATA, DATASET, ENCODER, LIMIT, PROGRESS, ROLES, SEED, TEMPLATE, UNIT, source_of
from workbench.commands.printing import say
from workbench.errors import ConfigError
from workbench.progress import progress_steps


def register(app: typer.Typer) -> None:
    """Add the command to the application."""
    app.command("ab")(ab)


def ab(
    dataset: DATASET = "starter",
    data: DATA = None,
    a: Annotated[str, typer.Option(help="Baseline: a preset or a .toml/.json file.")] = "production",
    b: Annotated[list[str] | None, typer.Option(help="Arm against it; may be given several times.")] = None,
    out: Annotated[Path, typer.Option(help="Folder for the results.")] = Path("runs/ab"),
    split: Annotated[str | None, typer.Option(help="Only users of this part: train, validation or test.")] = None,
    split_seed: Annotated[int, typer.Option(min=0, help="Seed of the split.")] = 0,
    primary: Annotated[str, typer.Option(help="Metric whose flipped queries are listed.")] = "ContextRecall",
    latency: Annotated[int, typer.Option(min=0, help="Queries to time per arm; 0 times nothing.")] = 200,
    limit: LIMIT = None,
    seed: SEED = 0,
    unit: UNIT = None,
    template: TEMPLATE = None,
    roles: ROLES = None,
    encoder: ENCODER = "bundled",
    progress: PROGRESS = True,
) -> None:
    """Compare configurations on the same judged queries: differences, intervals, tests, verdicts, flipped queries, losses."""
    from workbench.config import load_config
    from workbench.embedding.encoder import load_encoder
    from workbench.experiments.ab import ab_run

    choices = [a, *(b or ["relevance-only"])]
    names = [Path(choice).stem if choice.endswith((".toml", ".json")) else choice for choice in choices]
    if len(set(names)) < len(names):
        raise ConfigError(f"arms are named {', '.join(names)}: two are the same; give differently named configurations")
    arms = [(name, load_config(choice)) for name, choice in zip(names, choices, strict=True)]
    source = source_of(
        dataset, data, unit, template, roles, part=split, split_seed=split_seed, limit=limit, seed=seed
    )  # fmt: skip
    judged = source.load()
    say(judged, err=True)
    totals = {"assemble": len(judged.queries), "compile": len(judged.stores), "time": None}
    with progress_steps(progress, totals) as step:
        result = ab_run(
            source,
            arms,
            load_encoder(encoder),
            out=out,
            primary=primary,
            seed=seed,
            latency_sample=latency,
            step=step,
            dataset=judged,
        )
    say(result)
    typer.echo(f"results: {out}")
