"""How a group of commands lists them."""

from __future__ import annotations

from typing import Any

from typer.core import TyperGroup

_WHOLE = 10_000


class FullListing(TyperGroup):
    """A group whose help shows the whole first sentence of every command; left to itself it is cut to fit one line."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write the section "Commands" of the help, in the order in which they were registered."""
        found = ((name, self.get_command(ctx, name)) for name in self.list_commands(ctx))
        rows = [(name, command.get_short_help_str(_WHOLE)) for name, command in found if command and not command.hidden]
        if rows:
            with formatter.section("Commands"):
                formatter.write_dl(rows)
