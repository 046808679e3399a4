"""The index of a folder of runs: the report of each run in its folder, a page that lists them, and a table in the README."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import quote

from workbench.errors import RunError
from workbench.experiments.manifest import MANIFEST
from workbench.reports import record
from workbench.reports.document import Document, Page
from workbench.reports.exports import markdown_text
from workbench.reports.html import render, write_text
from workbench.reports.query_tables import QUOTED
from workbench.reports.run_pages import METRICS, overview_table, read_run, run_page

REPORT = "report.html"
BEGIN, END = "<!-- runs: made by workbench report --index -->", "<!-- end of runs -->"


def run_folders(home: str | Path) -> list[Path]:
    """Folders directly in ``home`` that hold a run, by name. Raises RunError when there is none."""
    place = Path(home)
    if not place.is_dir():
        raise RunError(f"{place} is no folder; give the one that holds the runs, such as results")
    found = []
    for path in sorted(place.iterdir()):
        if path.is_dir() and not path.name.startswith(".") and ((path / MANIFEST).is_file() or (path / METRICS).is_file()):
            found.append(path)
    if not found:
        raise RunError(f"{place} holds no run folder (with {MANIFEST}); give the one that holds the runs, such as results")
    return found


def write_index(home: str | Path, *, data: Path | None = None, own: bool = False, quoted: int = QUOTED) -> list[Path]:
    """Write ``index.html``, ``<run>/report.html``, and the table between the marks of ``README.md`` if it has them; returns the
    paths, the index first. Raises RunError."""
    place = Path(home)
    folders = run_folders(place)
    pages: list[tuple[Path, Page, str]] = []
    written = []
    for folder in folders:
        page = run_page(folder, data=data, own=own, quoted=quoted)
        pages.append((folder, page, record.command(read_run(folder)[0])))
        written.append(write_text(folder / REPORT, render(Document(title=page.title, pages=(page,)))))
    document = Document(
        title="Results",
        pages=(),
        overview=overview_table("Runs", [(page, folder.name, _address(folder)) for folder, page, _ in pages]),
        intro="What each run asked and found. Every page names the command that makes its run again, and what it cannot tell.",
    )
    index = write_text(place / "index.html", render(document))
    readme = place / "README.md"
    if readme.is_file() and _rewrite(readme, pages):
        written.append(readme)
    return [index, *written]


def _address(folder: Path) -> str:
    return f"{quote(folder.name)}/{REPORT}"


def _rewrite(readme: Path, pages: list[tuple[Path, Page, str]]) -> bool:
    text = readme.read_text(encoding="utf-8")
    if BEGIN not in text or END not in text:
        return False
    lines = ["| run | question | verdict | command |", "|---|---|---|---|"]
    for folder, page, command in pages:
        shown = f"`{command.replace('|', '&#124;')}`" if command else "not recorded"
        link = f"[{markdown_text(folder.name)}]({_address(folder)})"
        lines.append(f"| {link} | {markdown_text(page.question)} | {markdown_text(page.answer.sentence)} | {shown} |")
    before, after = text.split(BEGIN, 1)[0], text.split(END, 1)[1]
    write_text(readme, f"{before}{BEGIN}\n" + "\n".join(lines) + f"\n{END}{after}")
    return True
