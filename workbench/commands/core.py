"""``workbench run``, ``assemble`` and ``conflicts``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from workbench.commands.options import DATA, DATASET, LIMIT, PROGRESS, ROLES, SEED, TEMPLATE, UNIT, source_of
from workbench.commands.printing import say


def register(app: typer.Typer) -> None:
    """Add the commands to the application."""
    app.command("run")(run)
    app.command("assemble")(assemble)
    app.command("conflicts")(conflicts)


def run(
    dataset: DATASET = "starter",
    data: DATA = None,
    a: Annotated[str, typer.Option(help="First configuration: a preset or a .toml/.json file.")] = "production",
    b: Annotated[str, typer.Option(help="Second configuration; differences are b minus a.")] = "relevance-only",
    out: Annotated[Path, typer.Option(help="Folder for the report and its data.")] = Path("runs/latest"),
    limit: LIMIT = None,
    seed: SEED = 0,
    unit: UNIT = None,
    template: TEMPLATE = None,
    roles: ROLES = None,
    progress: PROGRESS = True,
) -> None:
    """Compare two configurations on the judged queries of a dataset and write a report."""
    from workbench.config import load_config
    from workbench.experiments.run import run as run_comparison
    from workbench.reports.terminal import print_run

    arms = [(_arm_name(choice), load_config(choice)) for choice in (a, b)]
    source = source_of(dataset, data, unit, template, roles, limit=limit, seed=seed)
    judged = source.load()
    say(judged, err=True)
    print_run(run_comparison(judged, arms[0], arms[1], out=out, seed=seed, source=source, progress=progress))


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


def conflicts(
    pairs: Annotated[Path, typer.Argument(help="JSONL of labelled pairs: a, b, label, kind, lang.")],
    encoder: Annotated[str | None, typer.Option(help="Also measure the band of this encoder, e.g. bundled.")] = None,
    out: Annotated[Path | None, typer.Option(help="Folder for the results.")] = None,
) -> None:
    """Measure the contradiction test on hand-labelled pairs of statements."""
    from workbench.experiments.conflict_eval import evaluate_conflicts
    from workbench.experiments.conflict_run import conflict_run

    loaded = None
    if encoder is not None:
        from workbench.embedding.encoder import load_encoder

        loaded = load_encoder(encoder)
    result = evaluate_conflicts(pairs, encoder=loaded) if out is None else conflict_run(pairs, loaded, out=out)
    say(result)


def _arm_name(choice: str) -> str:
    return Path(choice).stem if choice.endswith((".toml", ".json")) else choice
