"""Options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from workbench.experiments.manifest import Source

DATASET = Annotated[str, typer.Option(help="starter, locomo, or a folder in the documented JSONL layout.")]
DATA = Annotated[Path | None, typer.Option(help="Local copy of a public dataset's file, such as locomo10.json.")]
SEED = Annotated[int, typer.Option(min=0, help="Seed of all resampling.")]
LIMIT = Annotated[
    int | None, typer.Option(min=1, help="Only so many of the queries, drawn with the seed; the report says of how many.")
]
ROLES = Annotated[str | None, typer.Option(help="LongMemEval only: both, or user to store only what the user said.")]
UNIT = Annotated[str | None, typer.Option(help="LoCoMo only: turn or observation.")]
TEMPLATE = Annotated[str | None, typer.Option(help="LoCoMo, LongMemEval: date (indexed in front) or plain.")]
ENCODER = Annotated[str, typer.Option(help="bundled, bge-m3, a folder or a sentence-transformers name.")]
PROGRESS = Annotated[bool, typer.Option(help="Show progress bars.")]


def source_of(
    dataset: str,
    data: Path | None,
    unit: str | None = None,
    template: str | None = None,
    roles: str | None = None,
    *,
    part: str | None = None,
    split_seed: int = 0,
    limit: int | None = None,
    seed: int = 0,
) -> Source:
    """Where a command takes its judged queries from. seed: of the queries that ``limit`` draws."""
    from workbench.experiments.manifest import Source

    named = (("unit", unit), ("template", template), ("roles", roles))
    options: dict[str, object] = {name: value for name, value in named if value is not None}
    if limit is not None and part is None and dataset.startswith("longmemeval-"):
        # its loader never parses the questions that it leaves out
        return Source(name=dataset, options={**options, "limit": limit}, data=data)
    return Source(
        name=dataset, options=options, part=part, split_seed=split_seed, limit=limit, limit_seed=seed if limit else 0, data=data
    )
