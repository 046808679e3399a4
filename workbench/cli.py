"""The ``workbench`` command: thin, no logic of its own."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from workbench.errors import WorkbenchError

app = typer.Typer(
    help="Tune what an assistant with long-term memory puts into its prompt: assemble, measure, compare, report.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=False,
)

DATASET = Annotated[str, typer.Option(help="starter, locomo, or a folder in the documented JSONL layout.")]
DATA = Annotated[Path | None, typer.Option(help="Local copy of a public dataset's file, such as locomo10.json.")]


@app.command()
def run(
    dataset: DATASET = "starter",
    data: DATA = None,
    a: Annotated[str, typer.Option(help="First configuration: a preset or a .toml/.json file.")] = "production",
    b: Annotated[str, typer.Option(help="Second configuration; differences are b minus a.")] = "relevance-only",
    out: Annotated[Path, typer.Option(help="Folder for the report and its data.")] = Path("runs/latest"),
    seed: Annotated[int, typer.Option(min=0, help="Seed of all resampling.")] = 0,
    unit: Annotated[str | None, typer.Option(help="LoCoMo only: turn or observation.")] = None,
    template: Annotated[str | None, typer.Option(help="LoCoMo only: date (indexed in front) or plain.")] = None,
    progress: Annotated[bool, typer.Option(help="Show progress bars.")] = True,
) -> None:
    """Compare two configurations on the judged queries of a dataset and write a report."""
    from workbench.config import load_config
    from workbench.data.registry import load_dataset
    from workbench.experiments.run import run as run_comparison

    options = {name: value for name, value in (("unit", unit), ("template", template)) if value is not None}
    judged = load_dataset(dataset, data=data, **options)
    typer.echo(str(judged), err=True)
    arms = [(_arm_name(choice), load_config(choice)) for choice in (a, b)]
    result = run_comparison(judged, arms[0], arms[1], out=out, seed=seed, progress=progress)
    typer.echo(str(result))


@app.command()
def assemble(
    query: Annotated[str, typer.Argument(help="What the user asks.")],
    dataset: DATASET = "starter",
    data: DATA = None,
    user: Annotated[str | None, typer.Option(help="User id; the first of the dataset by default.")] = None,
    now: Annotated[str | None, typer.Option(help="Time of the query, ISO 8601 UTC; the dataset's own by default.")] = None,
    config: Annotated[str, typer.Option(help="A preset or a .toml/.json file.")] = "production",
    explain: Annotated[str | None, typer.Option(help="Id of an entry whose fate to explain.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print everything as JSON.")] = False,
    rows: Annotated[int, typer.Option(min=0, help="How many candidates to list.")] = 40,
) -> None:
    """Assemble the context for one query; print the prompt and what became of every candidate."""
    from workbench.config import load_config
    from workbench.data.registry import load_dataset
    from workbench.experiments.arms import assemble_one
    from workbench.reports.terminal import print_context

    context = assemble_one(load_dataset(dataset, data=data), query, user=user, now=now, config=load_config(config))
    print_context(context, explain=explain, as_json=as_json, rows=rows)


@app.command()
def conflicts(
    pairs: Annotated[Path, typer.Argument(help="JSONL of labelled pairs: a, b, label, kind, lang.")],
    encoder: Annotated[str | None, typer.Option(help="Also measure the band of this encoder, e.g. bundled.")] = None,
) -> None:
    """Measure the contradiction test on hand-labelled pairs of statements."""
    from workbench.experiments.conflict_eval import evaluate_conflicts

    loaded = None
    if encoder is not None:
        from workbench.embedding.encoder import load_encoder

        loaded = load_encoder(encoder)
    typer.echo(str(evaluate_conflicts(pairs, encoder=loaded)))


def _arm_name(choice: str) -> str:
    return Path(choice).stem if choice.endswith((".toml", ".json")) else choice


def main() -> None:
    """Entry point: errors of the workbench end in one line and exit status 2, an interrupt in 130."""
    try:
        app()
    except WorkbenchError as error:
        typer.echo(f"error: {error}", err=True)
        sys.exit(2)
    except KeyboardInterrupt:
        typer.echo("interrupted; what was embedded stays cached", err=True)
        sys.exit(130)


if __name__ == "__main__":
    main()
