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
UNIT = Annotated[str | None, typer.Option(help="LoCoMo only: turn or observation.")]
TEMPLATE = Annotated[str | None, typer.Option(help="LoCoMo only: date (indexed in front) or plain.")]
ENCODER = Annotated[str, typer.Option(help="bundled, bge-m3, a folder or a sentence-transformers name.")]
PROGRESS = Annotated[bool, typer.Option(help="Show progress bars.")]


def source_of(
    dataset: str, data: Path | None, unit: str | None, template: str | None, part: str | None = None, split_seed: int = 0
) -> Source:
    """Where a command takes its judged queries from."""
    from workbench.experiments.manifest import Source

    options = {name: value for name, value in (("unit", unit), ("template", template)) if value is not None}
    return Source(name=dataset, options=options, part=part, split_seed=split_seed, data=data)
