"""``workbench weights show|verify|promote``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from workbench.commands.printing import say

app = typer.Typer(help="The production weights and the ledger of what justified them.", no_args_is_help=True)
LEDGER = Annotated[Path | None, typer.Option(help="Ledger folder; results/ledger of the checkout by default.")]


def register(main: typer.Typer) -> None:
    """Add the commands to the application."""
    main.add_typer(app, name="weights")


@app.command()
def show(ledger: LEDGER = None) -> None:
    """Show every entry of the ledger, oldest first."""
    from workbench.experiments.ledger import read_ledger

    for entry in read_ledger(ledger):
        say(entry)


@app.command()
def verify(ledger: LEDGER = None) -> None:
    """Check that the constant and the last ledger entry agree, and that no entry was changed."""
    from workbench.experiments.ledger import verify_ledger

    entry = verify_ledger(ledger)
    typer.echo(f"the production weights are those of ledger entry {entry.path.name}\n{entry}")


@app.command()
def promote(
    run: Annotated[Path, typer.Argument(help="A/B run of the new weights on the locked test (workbench ab --split test).")],
    reason: Annotated[str, typer.Option(help="Why, in a sentence; kept in the ledger.")],
    ledger: LEDGER = None,
) -> None:
    """Make the weights of a run the production weights, if it justifies them; otherwise say why not."""
    from workbench.experiments.promotion import promote as promote_run

    entry = promote_run(run, reason=reason, folder=ledger)
    typer.echo(f"wrote {entry.path} and the constant in workbench/config.py; review and commit both\n{entry}")
