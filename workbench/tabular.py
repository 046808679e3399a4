"""What every result can do with its tables; the formats themselves are in ``reports/exports.py``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderableType

    from workbench.reports.cells import Table


class Tabular:
    """What a result gets from its tables: notebook, terminal (rich), Markdown, LaTeX and CSV. A subclass says ``tables()``."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)

    def tables(self) -> tuple[Table, ...]:
        """The tables of the result, the most important one first."""
        raise NotImplementedError

    def _repr_html_(self) -> str:
        from workbench.reports.notebook import tables_html

        return tables_html(self.tables())

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[RenderableType]:
        from rich.text import Text

        from workbench.reports.exports import to_rich
        from workbench.reports.narrow import parts_of

        for table in self.tables():
            for part in parts_of(table, options.max_width):
                yield to_rich(part, console)
            yield from (Text(note, style="dim") for note in table.notes)

    def to_markdown(self) -> str:
        """All tables as Markdown."""
        from workbench.reports.exports import to_markdown

        return "\n".join(to_markdown(table) for table in self.tables())

    def to_latex(self) -> str:
        """All tables as LaTeX."""
        from workbench.reports.exports import to_latex

        return "\n".join(to_latex(table) for table in self.tables())

    def to_csv(self, which: int = 0) -> str:
        """One table as CSV; the first one is the main one. Raises IndexError when there is none of that number."""
        from workbench.reports.exports import to_csv

        return to_csv(self.tables()[which])
