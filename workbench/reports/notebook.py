"""Tables for a notebook: plain HTML that themes with its surroundings, sorts by mouse and keyboard, and reads without scripts."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from html import escape

from workbench.reports.cells import Cell, Column, Table
from workbench.reports.labels import printable

# colours come from JupyterLab's theme where there is one, and from the surrounding text otherwise
STYLE = """
.wb-result { color: inherit; font-size: 13px; line-height: 1.4; max-width: 100%; }
.wb-result .wb-scroll { overflow-x: auto; }
.wb-result table { border-collapse: collapse; margin: 4px 0; font-variant-numeric: tabular-nums; color: inherit; border: 0; }
.wb-result caption { caption-side: top; text-align: left; font-weight: 600; padding: 4px 8px 4px 0; color: inherit; }
.wb-result th, .wb-result td { padding: 3px 10px 3px 0; text-align: left; vertical-align: top; border: 0; white-space: nowrap; }
.wb-result th, .wb-result td { color: inherit; background: none; max-width: none; }
.wb-result thead th { vertical-align: bottom; font-weight: 600; border-bottom: 1px solid currentColor; }
.wb-result tbody tr { background: none; }
.wb-result tbody tr + tr > * { border-top: 1px solid color-mix(in srgb, currentColor 18%, transparent); }
.wb-result tbody th { font-weight: 500; }
.wb-result th.wb-n, .wb-result td.wb-n { text-align: right; }
.wb-result .wb-s { display: block; font-size: 11px; font-weight: 400; opacity: .78; }
.wb-result .wb-w { white-space: normal; min-width: 14em; }
.wb-result .wb-good::before { content: "▲ "; } .wb-result .wb-bad::before { content: "▼ "; }
.wb-result .wb-good, .wb-result .wb-bad { font-weight: 600; }
.wb-result p { margin: 2px 0 6px; font-size: 12px; opacity: .82; max-width: 72em; }
.wb-result pre { white-space: pre-wrap; overflow-wrap: anywhere; color: inherit; }
.wb-result summary { cursor: pointer; }
.wb-result button { all: unset; cursor: pointer; font-weight: 600; }
.wb-result button:focus-visible { outline: 2px solid currentColor; outline-offset: 2px; }
.wb-result [aria-sort=ascending] button::after { content: " ▴"; }
.wb-result [aria-sort=descending] button::after { content: " ▾"; }
""".strip()

# the same order as on a page: numbers by value, then text, what is missing last whichever way
SCRIPT = """
(function () {
  var here = document.currentScript, root = here && here.closest ? here.closest(".wb-result") : null;
  var roots = root ? [root] : Array.prototype.slice.call(document.querySelectorAll('.wb-result[data-wb="KEY"]'));
  function key(row, at) {
    var cell = row.cells[at], given = cell ? cell.getAttribute("data-sort") : null;
    if (given === null) { return null; }
    return given !== "" && !isNaN(given) ? Number(given) : given;
  }
  roots.forEach(function (element) {
    element.querySelectorAll("table").forEach(function (table) {
      if (table.getAttribute("data-ready")) { return; }
      table.setAttribute("data-ready", "1");
      var heads = Array.prototype.slice.call(table.tHead.rows[0].cells), body = table.tBodies[0];
      if (table.tBodies.length !== 1) { return; }
      heads.forEach(function (head, at) {
        var button = document.createElement("button");
        button.type = "button";
        while (head.firstChild) { button.appendChild(head.firstChild); }
        head.appendChild(button);
        button.addEventListener("click", function () {
          var down = head.getAttribute("aria-sort") === "ascending", rows = Array.prototype.slice.call(body.rows);
          rows.sort(function (one, other) {
            var a = key(one, at), b = key(other, at);
            if (a === null || b === null) { return (a === null) - (b === null); }
            var order = typeof a === "number" && typeof b === "number" ? a - b
              : String(a).localeCompare(String(b), "en", { numeric: true });
            return down ? -order : order;
          });
          heads.forEach(function (each) { each.removeAttribute("aria-sort"); });
          head.setAttribute("aria-sort", down ? "descending" : "ascending");
          rows.forEach(function (row) { body.appendChild(row); });
        });
      });
    });
  });
}());
""".strip()


def tables_html(tables: Sequence[Table], *, after: str = "") -> str:
    """A fragment for ``_repr_html_``. after: HTML that this package made, put behind the tables (see ``folded``)."""
    inner = "".join(_table(table) for table in tables) + after
    key = hashlib.sha256(inner.encode("utf-8", "replace")).hexdigest()[:12]
    script = SCRIPT.replace("KEY", key)
    return f'<div class="wb-result" data-wb="{key}"><style>{STYLE}</style>{inner}<script>{script}</script></div>'


def folded(title: str, text: str) -> str:
    """A text of several lines as it is, shown on demand."""
    return f"<details><summary>{_escaped(title)}</summary><pre>{_escaped(text)}</pre></details>"


def _table(table: Table) -> str:
    head = "".join(_column(column) for column in table.columns)
    bodies = "".join(
        "<tbody>" + "".join("<tr>" + "".join(_cell(cell) for cell in row) + "</tr>" for row in body) + "</tbody>"
        for body in table.bodies
    )
    notes = "".join(f"<p>{_escaped(note)}</p>" for note in table.notes)
    return (
        f'<div class="wb-scroll"><table><caption>{_escaped(table.caption)}</caption>'
        f"<thead><tr>{head}</tr></thead>{bodies}</table></div>{notes}"
    )


def _column(column: Column) -> str:
    sub = f'<span class="wb-s">{_escaped(column.sub)}</span>' if column.sub else ""
    return f'<th scope="col"{_class(column.numeric)}>{_escaped(column.text)}{sub}</th>'


def _cell(cell: Cell) -> str:
    tag = "th" if cell.head else "td"
    scope = f' scope="{cell.head}"' if cell.head else ""
    span = f' rowspan="{cell.rows}"' if cell.rows > 1 else ""
    sort = "" if cell.sort is None else f' data-sort="{_escaped(str(cell.sort))}"'
    subs = "".join(f'<span class="wb-s">{_escaped(line)}</span>' for line in cell.subs)
    tone = f"wb-{cell.tone}" if cell.tone in ("good", "bad") else ""
    text = f'<span class="{tone}">{_escaped(cell.text)}</span>' if tone else _escaped(cell.text)
    wide = "wb-w" if len(cell.text) > 40 else ""
    return f"<{tag}{scope}{span}{_class(cell.numeric, wide)}{sort}>{text}{subs}</{tag}>"


def _class(numeric: bool, more: str = "") -> str:
    names = " ".join(name for name in ("wb-n" if numeric else "", more) if name)
    return f' class="{names}"' if names else ""


def _escaped(text: str) -> str:
    return escape(printable(text))
