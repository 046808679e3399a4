"""``workbench runs list|show|diff|verify|rerun``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from workbench.columns import fitted, frame_text
from workbench.commands.options import DATA
from workbench.commands.printing import columns, say

app = typer.Typer(help="Run folders: list, show, compare, verify and run again.", no_args_is_help=True)
RUN = Annotated[Path, typer.Argument(help="Run folder.")]


def register(main: typer.Typer) -> None:
    """Add the commands to the application."""
    main.add_typer(app, name="runs")


@app.command("list")
def list_(folder: Annotated[Path, typer.Argument(help="Folder that holds runs.")] = Path("results")) -> None:
    """List the runs under a folder, oldest first."""
    import pandas as pd

    from workbench.experiments.runs import list_runs

    rows = list_runs(folder)
    with fitted(columns()):
        typer.echo(frame_text(pd.DataFrame(rows).fillna("").astype(str)) if rows else f"no runs in {folder}")


@app.command()
def show(run: RUN) -> None:
    """Show the manifest of a run and its summary."""
    from workbench.experiments.manifest import read_manifest

    manifest = read_manifest(run)
    typer.echo(json.dumps(manifest, indent=2, ensure_ascii=False))
    summary = run / "summary.txt"
    if summary.is_file():
        say(summary.read_text(encoding="utf-8"))


@app.command()
def diff(
    a: RUN,
    b: RUN,
    latency: Annotated[bool, typer.Option(help="Compare timings too; refused across machines.")] = False,
    force: Annotated[bool, typer.Option(help="Compare timings across machines all the same.")] = False,
) -> None:
    """Show where two runs differ in settings, data, versions and results."""
    from workbench.experiments.runs import diff_runs

    rows = diff_runs(a, b, latency=latency, force=force)
    for row in rows:
        say(f"{row['where']}: {row['a']!r} -> {row['b']!r}")
    typer.echo(f"{len(rows)} differences{'' if latency else ' (timings left out)'}")


@app.command()
def verify(run: RUN, data: DATA = None) -> None:
    """Compute a run again and compare everything but timings, exactly; exit status 1 when something differs."""
    from workbench.experiments.verification import verify as verify_run

    result = verify_run(run, data=data)
    say(result)
    if not result.ok:
        raise typer.Exit(1)


@app.command()
def rerun(run: RUN, out: Annotated[Path, typer.Option(help="Folder for the new run.")], data: DATA = None) -> None:
    """Run again what a run folder records."""
    from workbench.experiments.runs import rerun as run_again

    run_again(run, out, data=data)
    typer.echo(f"results: {out}")
