"""``workbench sweep`` and ``workbench tune``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from workbench.commands.options import DATA, DATASET, ENCODER, LIMIT, PROGRESS, ROLES, SEED, TEMPLATE, UNIT, source_of
from workbench.commands.printing import say
from workbench.progress import progress_steps

GRID = Annotated[
    list[str] | None, typer.Option(help="Values of one setting, such as budgets.memories=1000,2000; may be given several times.")
]
WEIGHTS = Annotated[
    str | None, typer.Option(help="lattice:10 (all points in tenths), dirichlet:500, dirichlet:500:SEED, or none to leave them.")
]
GOAL = Annotated[str, typer.Option(help="What to choose: 'max ContextRecall subject to Tokens <= 1500 and p95 <= 100 ms'.")]
ENGINE = Annotated[str, typer.Option(help="auto, serial, processes, processes:N, or dask://host:port of a scheduler.")]
BASE = Annotated[str, typer.Option("--base", help="Configuration to vary: a preset or a .toml/.json file.")]


def register(app: typer.Typer) -> None:
    """Add the commands to the application."""
    app.command("sweep")(sweep)
    app.command("tune")(tune)


def sweep(
    dataset: DATASET = "starter",
    data: DATA = None,
    base: BASE = "production",
    weights: WEIGHTS = None,
    grid: GRID = None,
    search: Annotated[
        int | None, typer.Option(min=2, help="Search with Optuna instead: this many trials over the weights and every --range.")
    ] = None,
    ranges: Annotated[
        list[str] | None, typer.Option("--range", help="For --search: budgets.memories=200:4000, half_life_days=1:365:log, ...")
    ] = None,
    search_weights: Annotated[bool, typer.Option(help="For --search: also vary the weights.")] = True,
    goal: GOAL = "max ContextRecall",
    total: Annotated[int | None, typer.Option(help="Also propose how to split this many tokens over the tiers.")] = None,
    metric: Annotated[list[str] | None, typer.Option(help="Metrics to measure; may be given several times.")] = None,
    latency: Annotated[int, typer.Option(min=0, help="Queries to time per search setting; needed for a goal on p95.")] = 0,
    out: Annotated[Path, typer.Option(help="Folder for the results.")] = Path("runs/sweep"),
    split: Annotated[str | None, typer.Option(help="Only users of this part: train, validation or test.")] = None,
    split_seed: Annotated[int, typer.Option(min=0, help="Seed of the split.")] = 0,
    engine: ENGINE = "auto",
    block: Annotated[int | None, typer.Option(min=1, help="Configurations per block; what a kill can cost.")] = None,
    limit: LIMIT = None,
    seed: SEED = 0,
    unit: UNIT = None,
    template: TEMPLATE = None,
    roles: ROLES = None,
    encoder: ENCODER = "bundled",
    progress: PROGRESS = True,
) -> None:
    """Try many configurations on the judged queries of a dataset; stop at any time, the same command goes on."""
    from workbench.config import load_config
    from workbench.embedding.encoder import load_encoder
    from workbench.errors import ConfigError
    from workbench.experiments.bayesian import Search, parse_ranges
    from workbench.experiments.space import Space, parse_grid
    from workbench.experiments.sweep import SWEEP_METRICS
    from workbench.experiments.sweep_run import sweep_run

    source = source_of(
        dataset, data, unit, template, roles, part=split, split_seed=split_seed, limit=limit, seed=seed
    )  # fmt: skip
    space: Space | Search
    if search is not None:
        if weights is not None or grid:
            raise ConfigError("--search takes --range; leave --weights and --grid out, or leave --search out")
        space = Search(base=load_config(base), trials=search, weights=search_weights, ranges=parse_ranges(ranges or []))
    else:
        if ranges:
            raise ConfigError("--range belongs to --search; a sweep over listed values takes --grid")
        space = Space(base=load_config(base), weights=None if weights == "none" else weights, grid=parse_grid(grid or []))
        if "p95" in goal and not latency:
            latency = 100
    rows = space.trials if isinstance(space, Search) else len(space.points())
    with progress_steps(progress, {"rows": rows, "pools": None}) as step:
        result, choice = sweep_run(
            source, space, load_encoder(encoder), out=out, goal=goal, total=total, metrics=metric or SWEEP_METRICS,
            latency=latency, engine=engine, block=block, seed=seed, step=step,
        )  # fmt: skip
    say(result, choice)
    if total is not None:
        say(_proposed(out))
    typer.echo(f"results: {out}")


def tune(
    dataset: DATASET = "starter",
    data: DATA = None,
    base: Annotated[str, typer.Option("--base", help="Configuration to beat, and to vary.")] = "production",
    weights: WEIGHTS = "lattice:10",
    grid: GRID = None,
    by: Annotated[str, typer.Option(help="user: leave one user out at a time; split: train, validation, locked test.")] = "user",
    goal: GOAL = "max ContextRecall",
    out: Annotated[Path, typer.Option(help="Folder for the results.")] = Path("runs/tuning"),
    split_seed: Annotated[int, typer.Option(min=0, help="Seed of the split.")] = 0,
    engine: ENGINE = "auto",
    limit: LIMIT = None,
    seed: SEED = 0,
    unit: UNIT = None,
    template: TEMPLATE = None,
    roles: ROLES = None,
    encoder: ENCODER = "bundled",
    progress: PROGRESS = True,
) -> None:
    """Tune on some users and report on others, with the gap between them and the signals the data cannot judge."""
    from workbench.config import load_config
    from workbench.embedding.encoder import load_encoder
    from workbench.experiments.space import Space, parse_grid
    from workbench.experiments.sweep_run import tuning_run

    source = source_of(dataset, data, unit, template, roles, split_seed=split_seed, limit=limit, seed=seed)
    space = Space(base=load_config(base), weights=None if weights == "none" else weights, grid=parse_grid(grid or []))
    with progress_steps(progress, {"rows": len(space.points()), "pools": None}) as step:
        result: Any = tuning_run(
            source, space, load_encoder(encoder), out=out, by=by, goal=goal, engine=engine, seed=seed, step=step
        )
    say(result)
    typer.echo(f"results: {out}")


def _proposed(run: Path) -> str:
    """What the run proposes as the split of a total budget."""
    from workbench.experiments.runs import read_json

    split = read_json(run / "metrics.json")["split"]
    budgets = ", ".join(f"{tier} {tokens}" for tier, tokens in split["budgets"].items())
    return (
        f"proposed split of {split['total']} tokens: soul {split['soul']}, {budgets}; "
        f"ContextRecall {split['recall']:.4f} with {split['tokens']:.1f} tokens (chosen on these queries; summary.txt has more)"
    )
