"""``workbench report``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from workbench.commands.options import DATA


def register(app: typer.Typer) -> None:
    """Add the command to the application."""
    app.command("report")(report)


def report(
    runs: Annotated[list[Path], typer.Argument(help="Run folders; several make one report with an overview.")],
    out: Annotated[Path, typer.Option(help="The report, one HTML file that stands on its own.")] = Path("report.html"),
    markdown: Annotated[Path | None, typer.Option(help="Also write it as Markdown, its figures beside it.")] = None,
    pdf: Annotated[Path | None, typer.Option(help="Also print it to PDF, with Chromium or Chrome.")] = None,
    data: DATA = None,
    flipped: Annotated[int, typer.Option(min=0, help="Flipped queries whose prompts stand side by side.")] = 10,
    prompts: Annotated[
        bool, typer.Option("--prompts", help="The data are mine to show: quote texts of a dataset without a stated licence.")
    ] = False,
    index: Annotated[
        bool, typer.Option("--index", help="For a folder of runs: write its index.html and the report.html of each run.")
    ] = False,
) -> None:
    """Write a report of one or more runs: question, verdict, tables, figures, losses, flipped queries, limits, run record."""
    from workbench.errors import ConfigError
    from workbench.reports.html import render, write_text
    from workbench.reports.markdown import write_markdown
    from workbench.reports.pdf import write_pdf
    from workbench.reports.run_pages import document_of

    if index:
        from workbench.reports.index import REPORT, write_index

        if len(runs) != 1:
            raise ConfigError(f"--index takes the one folder that holds the runs, such as results; {len(runs)} were given")
        written = write_index(runs[0], data=data, own=prompts, quoted=flipped)
        typer.echo(f"index: {written[0]} ({sum(path.name == REPORT for path in written)} reports)")
        return
    document = document_of(runs, data=data, own=prompts, quoted=flipped)
    page = render(document)
    typer.echo(f"report: {write_text(out, page)}")
    if markdown is not None:
        typer.echo(f"markdown: {write_markdown(document, markdown)[0]}")
    if pdf is not None:
        typer.echo(f"pdf: {write_pdf(page, pdf)}")
