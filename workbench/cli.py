"""The ``workbench`` command: thin, no logic of its own."""

from __future__ import annotations

import sys

import typer

from workbench.commands import ab, core, data, generate, inspect, latency, report, runs, score, sweep, weights
from workbench.commands.listing import FullListing
from workbench.errors import WorkbenchError

_INTERRUPTED = 130

app = typer.Typer(
    cls=FullListing,
    help="Tune what an assistant with long-term memory puts into its prompt: assemble, measure, compare, report.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=False,
    rich_markup_mode=None,  # the same help without frames: loading rich took most of the time of --help
)
for topic in (core, inspect, ab, sweep, score, latency, data, report, runs, weights):
    topic.register(app)
generate.register(data.app)
for group in (data, runs, weights):
    group.app.info.cls = FullListing


def main() -> None:
    """Entry point: errors of the workbench end in one line and exit status 2, an interrupt in 130."""
    try:
        app()
    except WorkbenchError as error:
        typer.echo(f"error: {error}", err=True)
        sys.exit(2)
    except SystemExit as end:
        # the library turns an interrupt into this status and says nothing
        if end.code == _INTERRUPTED:
            typer.echo("interrupted; what was finished stays cached", err=True)
        raise


if __name__ == "__main__":
    main()
