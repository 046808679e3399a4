"""``workbench score``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from workbench.commands.options import DATA, DATASET, ENCODER, ROLES, SEED, TEMPLATE, UNIT, source_of
from workbench.commands.printing import say


def register(app: typer.Typer) -> None:
    """Add the command to the application."""
    app.command("score")(score)


def score(
    runfile: Annotated[Path, typer.Argument(help="TREC run file, or JSONL with query_id and ranking and/or selected.")],
    dataset: DATASET = "starter",
    data: DATA = None,
    metric: Annotated[list[str] | None, typer.Option(help="Metrics; all that the file has the data for by default.")] = None,
    first: Annotated[int | None, typer.Option(min=1, help="Take the first K of each ranking as what the prompt shows.")] = None,
    beside: Annotated[
        str | None, typer.Option(help="Also assemble with this configuration and compare on the same queries.")
    ] = None,
    out: Annotated[Path | None, typer.Option(help="Write the result here as JSON.")] = None,
    seed: SEED = 0,
    unit: UNIT = None,
    template: TEMPLATE = None,
    roles: ROLES = None,
    encoder: ENCODER = "bundled",
) -> None:
    """Judge another system's rankings or selections on the queries of a dataset."""
    from workbench.experiments.record import write_json
    from workbench.experiments.scorefile import read_run_file
    from workbench.experiments.scorefile import score as judge

    judged = source_of(dataset, data, unit, template, roles).load()
    result = judge(read_run_file(runfile), judged, name=runfile.name, metrics=metric, first_k=first, seed=seed)
    say(result)
    content = result.to_dict()
    if beside is not None:
        from workbench.config import load_config
        from workbench.embedding.encoder import load_encoder
        from workbench.experiments.scorefile import beside as put_beside

        comparison = put_beside(result, judged, beside, load_config(beside), load_encoder(encoder), seed=seed)
        say(comparison)
        content["comparison"] = comparison.to_dict()
    if out is not None:
        write_json(out, content)
