"""A document as one HTML file that stands on its own, and a run's figures as files beside it.

The page loads nothing, says so to the browser (a content security policy of its own), reads without scripts and prints.
Everything that came from a user is escaped by the template engine; nothing is marked as safe but the figures, the inspector's
data, the style sheets and the scripts that this package made.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from workbench.errors import RunError
from workbench.reports.comparison_page import comparison_page, drawings_of
from workbench.reports.document import Block, Callout, Details, Document, Inspected, Picture
from workbench.reports.labels import printable
from workbench.reports.query_tables import query_tables

FIGURES = "figures"


def write_report(folder: Path, content: Mapping[str, Any], manifest: Mapping[str, Any]) -> Path:
    """Write ``folder/report.html`` and ``folder/figures/*.svg`` of a comparison; returns the path of the report.

    content: as in metrics.json. manifest: as in manifest.json (what it lacks is left out of the run record). What the folder
    already holds per query goes in as well, ids and numbers only. The same content gives the same bytes. Raises RunError
    when the content is not that of a run or the folder cannot be written.
    """
    home = Path(folder)
    known = query_tables(home, content, manifest) if isinstance(content, Mapping) and isinstance(manifest, Mapping) else None
    page = comparison_page(content, manifest, queries=known)
    target = home / "report.html"
    try:
        (home / FIGURES).mkdir(parents=True, exist_ok=True)
        for drawing in drawings_of(page):
            (home / FIGURES / f"{drawing.name}.svg").write_text(drawing.svg, encoding="utf-8", newline="\n")
        target.write_text(render(Document(title=page.title, pages=(page,))), encoding="utf-8", newline="\n")
    except OSError as error:
        raise RunError(f"cannot write the report {target.name}: {error.strerror}; choose another folder") from None
    return target


def write_text(target: Path, text: str) -> Path:
    """Write a text file; returns its path. Raises RunError when it cannot be written."""
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8", newline="\n")
    except OSError as error:
        raise RunError(f"cannot write {target}: {error.strerror}; choose another place") from None
    return target


def render(document: Document) -> str:
    """The document as the text of a page."""
    environment = _environment()
    style, script = (environment.get_template(name).render().strip() for name in ("report.css.j2", "report.js.j2"))
    inspected = next((block.part for page in document.pages for part in page.sections for block in _inspected(part.blocks)), None)
    # the page's lines lose blanks at their ends below, and a script must be what its checksum says
    module = "" if inspected is None else "\n".join(line.rstrip() for line in inspected.script.splitlines())
    sources = " ".join(f"'{_digest(text)}'" for text in (script, module) if text)
    page = environment.get_template("report.html.j2").render(
        document=document,
        policy=f"default-src 'none'; style-src 'unsafe-inline'; img-src data:; script-src {sources}",
        style=Markup(style if inspected is None else f"{style}\n{inspected.style}"),
        script=Markup(script),
        module=Markup(module),
    )
    return printable("\n".join(line.rstrip() for line in page.splitlines())) + "\n"


def _digest(script: str) -> str:
    """The source of a script for a content security policy."""
    return "sha256-" + base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()


def _inspected(blocks: Iterable[Block]) -> Iterator[Inspected]:
    for block in blocks:
        if isinstance(block, Inspected):
            yield block
        elif isinstance(block, Details | Callout):
            yield from _inspected(block.blocks)


def _inline(picture: Picture) -> Markup:
    return Markup(picture.drawing.inline(f"{picture.drawing.title}. {picture.caption}"))


@lru_cache(maxsize=1)
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("workbench.reports", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["kind"] = lambda block: type(block).__name__
    environment.filters["inline"] = _inline
    environment.filters["inspector"] = lambda item: Markup(item.part.html)
    return environment
