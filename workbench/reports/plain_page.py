"""The page of a run of a kind that has no page of its own: its summary, its figures and its record."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from workbench.reports import record
from workbench.reports.cells import Cell, Column, Table, flat, text_cell
from workbench.reports.comparison_page import record_blocks
from workbench.reports.document import Answer, Block, Bullets, Code, Facts, Heading, Page, paragraph, section
from workbench.reports.labels import label, portable, printable
from workbench.reports.tables import flatten, setting

SUMMARY = "summary.txt"
MOST_NUMBERS = 400


def plain_page(folder: Path, content: Mapping[str, Any], manifest: Mapping[str, Any], *, run_id: str) -> Page:
    """The page: the first line of the summary is the answer, no verdict is made up."""
    kind, dataset = label(manifest["kind"]), label((manifest.get("dataset") or {}).get("name") or "unknown data")
    path = folder / SUMMARY
    summary = portable(printable(path.read_text(encoding="utf-8", errors="replace"))) if path.is_file() else ""
    first = next((line.strip() for line in summary.splitlines() if line.strip()), "")
    results: list[Block] = []
    if summary:
        results.append(Code(text=summary.rstrip("\n"), title="Summary"))
    if content:
        results += [Heading("All recorded values"), _values(content)]
    limits = (
        f"Runs of kind {kind} have no report of their own: what is shown is the summary that the run wrote, and its values.",
        "Nothing was compared and tested for this page.",
    )
    return Page(
        run_id=run_id,
        kind=str(manifest["kind"]),
        kicker=f"Context assembly · {kind}",
        title=f"{kind} on {dataset}",
        question=f"What did this run of kind {kind} record?",
        answer=Answer(
            word="recorded", tone="muted", sentence=first or "The run wrote no summary.", source=SUMMARY if first else ""
        ),
        sections=(
            section("results", "Results", results or [paragraph("The folder holds neither a summary nor metrics.")]),
            section("limits", "Limits", [Bullets(limits)]),
            section(
                "record",
                "Run record",
                [Facts((*record.recorded_dataset(manifest), *record.made(manifest))), *record_blocks(manifest)],
            ),
        ),
        dataset=dataset,
    )


def _values(content: Mapping[str, Any]) -> Table:
    leaves = list(flatten(content).items())
    rows = [
        (text_cell(key, head="row"), Cell(text=portable(setting(value)), numeric=not isinstance(value, str)))
        for key, value in leaves[:MOST_NUMBERS]
        if not isinstance(value, list) or len(value) <= 8
    ]
    notes = (f"The first {MOST_NUMBERS} of {len(leaves)} values.",) if len(leaves) > MOST_NUMBERS else ()
    columns = (Column(text="Name"), Column(text="Value", numeric=True))
    return Table(caption="Values", columns=columns, bodies=flat(rows), source="metrics.json", notes=notes, sortable=True)
