"""Tables as Markdown, LaTeX and CSV, and the mixin that gives every result its table in all of these ways.

User text is escaped for each format: no name opens a link, a formula, a command or a cell of another kind.
"""

from __future__ import annotations

import csv
import io
import re
from typing import TYPE_CHECKING

from workbench.reports.cells import Cell, Column, Table
from workbench.reports.labels import printable

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

_MARKDOWN = re.compile(r"([\\`*_|~$])")
_LINK = re.compile(r"\[(?=[^\[\]]*\][\[(:])|!\[")
# what would begin a heading, a list or a rule at the start of a line
_BLOCK = re.compile(r"^(\s*)(#(?=#*(?:\s|$))|[+-](?=\s|$)|-(?=[\s-]*$)|=(?=[\s=]*$))|^(\s*\d+)([.)])(?=\s|$)")
_LATEX = {
    "\\": r"\textbackslash{}",
    "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_", "{": r"\{", "}": r"\}", "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}", "<": r"\textless{}", ">": r"\textgreater{}", "|": r"\textbar{}", '"': r"\textquotedbl{}",
    "−": "$-$", "–": "--", "↑": r"$\uparrow$", "↓": r"$\downarrow$", "→": r"$\rightarrow$", "×": r"$\times$", "±": r"$\pm$",
    "…": r"\dots{}", "\u00a0": "~", "[": "{[}", "]": "{]}",
}  # fmt: skip
# a spreadsheet reads these at the beginning of a cell as a formula (OWASP, CSV injection)
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def markdown_text(text: str) -> str:
    """Text on one line of Markdown, shown literally: no emphasis, code, link, formula, HTML or cell border."""
    out = " ".join(printable(text).split("\n"))
    out = out.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    out = _LINK.sub(lambda match: match[0].replace("[", "&#91;").replace("!", "&#33;"), out)
    out = _MARKDOWN.sub(r"\\\1", out)
    return _BLOCK.sub(lambda match: f"{match[1] or match[3] or ''}\\{match[2] or match[4]}", out)


def latex_text(text: str) -> str:
    """Text for LaTeX, shown literally. Letters that are not ASCII stay and need XeLaTeX, LuaLaTeX or a suitable font."""
    return "".join(_LATEX.get(character, character) for character in printable(text).replace("\n", " "))


def csv_text(text: str) -> str:
    """Text for a cell of CSV that no spreadsheet takes for a formula."""
    clean = printable(text)
    return f"'{clean}" if clean.startswith(_FORMULA) else clean


def to_markdown(table: Table) -> str:
    """The table as a pipe table below its caption, its notes after it."""
    heads = [_joined(column.text, (column.sub,) if column.sub else ()) for column in table.columns]
    lines = [f"**{markdown_text(table.caption)}**", "", _row([markdown_text(head) for head in heads])]
    lines.append(_row(["---:" if column.numeric else "---" for column in table.columns]))
    lines += [_row([markdown_text(_joined(cell.text, cell.subs)) for cell in row]) for row in table.rows]
    for note in table.notes:
        lines += ["", markdown_text(note)]
    return "\n".join(lines) + "\n"


def _row(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _joined(text: str, subs: tuple[str, ...]) -> str:
    return f"{text} ({'; '.join(subs)})" if subs and text else text or "; ".join(subs)


def to_latex(table: Table) -> str:
    """The table as a ``table`` environment with a caption; needs no package."""
    columns = "".join("r" if column.numeric else "l" for column in table.columns)
    heads = " & ".join(latex_text(_joined(column.text, (column.sub,) if column.sub else ())) for column in table.columns)
    rows = [" & ".join(latex_text(_joined(cell.text, cell.subs)) for cell in row) + r" \\" for row in table.rows]
    notes = [rf"\par\smallskip {latex_text(note)}" for note in table.notes]
    return "\n".join(
        [
            r"\begin{table}",
            rf"\caption{{{latex_text(table.caption)}}}",
            rf"\begin{{tabular}}{{{columns}}}",
            r"\hline",
            heads + r" \\",
            r"\hline",
            *rows,
            r"\hline",
            r"\end{tabular}",
            *notes,
            r"\end{table}",
            "",
        ]
    )


def to_csv(table: Table) -> str:
    """The table as CSV (RFC 4180): numbers with all their digits where the table knows them, else the text as shown."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\r\n")
    writer.writerow([csv_text(_head(column)) for column in table.columns])
    writer.writerows([[_value(cell) for cell in row] for row in table.rows])
    return out.getvalue()


def _head(column: Column) -> str:
    return f"{column.text} ({column.sub})" if column.sub else column.text


def _value(cell: Cell) -> str:
    if isinstance(cell.sort, int | float) and not cell.text.startswith("[") and "/" not in cell.text and " of " not in cell.text:
        return repr(cell.sort)
    return csv_text(_joined(cell.text, cell.subs if not cell.numeric else ()))


def to_rich(table: Table, console: Console) -> RenderableType:
    """The table for a terminal: user text is neither markup nor control characters."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table as RichTable
    from rich.text import Text

    styles = {"good": "green", "bad": "red", "muted": "dim"}
    shown = RichTable(box=SIMPLE_HEAD, pad_edge=False, title=Text(table.caption), title_justify="left", header_style="bold")
    for column in table.columns:
        head = Text(column.text + (f"\n{column.sub}" if column.sub else ""))
        shown.add_column(head, justify="right" if column.numeric else "left", overflow="fold")
    for row in table.rows:
        texts = ["\n".join((cell.text, *cell.subs)) for cell in row]
        shown.add_row(*(Text(text, style=styles.get(cell.tone, "")) for text, cell in zip(texts, row, strict=True)))
    return shown
