"""``workbench latency``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from workbench.commands.options import DATA, DATASET, ENCODER, PROGRESS, SEED, TEMPLATE, UNIT, source_of
from workbench.errors import ConfigError
from workbench.progress import progress_steps


def register(app: typer.Typer) -> None:
    """Add the command to the application."""
    app.command("latency")(latency)


def latency(
    dataset: DATASET = "starter",
    data: DATA = None,
    sizes: Annotated[str, typer.Option(help="Entries per store, separated by commas.")] = "300,3000,10000",
    configs: Annotated[str, typer.Option(help="Configurations, separated by commas; the first is the baseline.")] = "production",
    queries: Annotated[int, typer.Option(min=1, help="Timed queries per size and configuration.")] = 200,
    warmup: Annotated[int, typer.Option(min=0, help="Queries before them that do not count.")] = 10,
    rate: Annotated[
        float | None,
        typer.Option(min=0, help="Open loop: queries a second (default: half of what the closed loop reached; 0: none)."),
    ] = None,
    concurrency: Annotated[str, typer.Option(help="Threads that ask at once, separated by commas; empty for none.")] = "1,2,4,8",
    cold: Annotated[int, typer.Option(min=0, help="New processes that answer a first query.")] = 3,
    limit: Annotated[float, typer.Option(help="Limit of the verdict in ms.")] = 100.0,
    embed_limit: Annotated[
        int, typer.Option(min=1, help="Layers with more entries get made-up vectors instead of being embedded.")
    ] = 20_000,
    against: Annotated[Path | None, typer.Option(help="Earlier latency run from this machine to compare with.")] = None,
    out: Annotated[Path, typer.Option(help="Folder for the results.")] = Path("runs/latency"),
    seed: SEED = 0,
    unit: UNIT = None,
    template: TEMPLATE = None,
    encoder: ENCODER = "bundled",
    progress: PROGRESS = True,
) -> None:
    """Time assemblies on stores of several sizes: stages, cold start, open loop, threads, growth, verdict on the limit."""
    from workbench.config import load_config
    from workbench.embedding.encoder import load_encoder
    from workbench.experiments.bench import sizes_of
    from workbench.experiments.latency.load import levels_of
    from workbench.experiments.latency.measure import Plan
    from workbench.experiments.latency.run import latency_run

    choices = [part.strip() for part in configs.split(",") if part.strip()]
    names = [Path(choice).stem if choice.endswith((".toml", ".json")) else choice for choice in choices]
    if not names or len(set(names)) < len(names):
        raise ConfigError(f"configs is {configs!r}: give differently named configurations, separated by commas")
    arms = {name: load_config(choice) for name, choice in zip(names, choices, strict=True)}
    plan = Plan(queries=queries, warm_up=warmup, rate=rate, concurrency=levels_of(concurrency), embed_limit=embed_limit)
    wanted = sizes_of(sizes)
    source = source_of(dataset, data, unit, template)
    judged = source.load()
    typer.echo(str(judged), err=True)
    totals: dict[str, int | None] = {"cold start": cold}
    with progress_steps(progress, totals) as step:
        profile = latency_run(
            source,
            arms,
            load_encoder(encoder),
            out=out,
            sizes=wanted,
            plan=plan,
            cold=cold,
            cold_encoder=encoder,
            limit_ms=limit,
            seed=seed,
            against=against,
            dataset=judged,
            step=step,
        )
    typer.echo(str(profile))
    typer.echo(f"results: {out}")
