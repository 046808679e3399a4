"""From run folders to a document: every kind of run has its page, an unknown kind one with what every run has."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from workbench.errors import RunError
from workbench.experiments.manifest import MANIFEST, read_manifest
from workbench.reports.cells import Cell, Column, Table, flat, text_cell
from workbench.reports.comparison_page import comparison_page
from workbench.reports.conflict_page import conflict_page
from workbench.reports.document import Document, Fact, Facts, Page
from workbench.reports.labels import label
from workbench.reports.plain_page import plain_page
from workbench.reports.query_tables import QUOTED, query_tables
from workbench.reports.sweep_page import sweep_page
from workbench.reports.tuning_page import tuning_page

METRICS = "metrics.json"
CONFLICTS = "conflicts"


def read_run(folder: str | Path) -> tuple[dict[str, Any], dict[str, Any]]:
    """The manifest and the metrics of a run folder.

    Raises RunError for anything else, naming the folder and what it lacks.
    """
    home = Path(folder)
    if not home.is_dir():
        raise RunError(f"{home} is no folder; give the folder of a run, see workbench runs list")
    return read_manifest(home), _metrics(home)


def _metrics(home: Path) -> dict[str, Any]:
    try:
        content = json.loads((home / METRICS).read_text(encoding="utf-8"), parse_constant=_refuse)
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise RunError(f"{home / METRICS} cannot be read: {error}; run again to write it anew") from None
    if not isinstance(content, dict):
        raise RunError(f"{home / METRICS} holds a {type(content).__name__}, not the metrics of a run; run again to write it anew")
    return content


def _refuse(text: str) -> float:
    raise ValueError(f"{text} is no number of strict JSON")


def run_page(folder: str | Path, *, data: Path | None = None, own: bool = False, quoted: int = QUOTED, run_id: str = "") -> Page:
    """The page of a run folder.

    data, own, quoted: see ``query_tables``. run_id: what footnotes call the run, the folder's name by default. Raises RunError
    when the folder is no run, or lacks what its kind must have.
    """
    home = Path(folder)
    manifest, content = read_run(home)
    kind, name = str(manifest["kind"]), run_id or home.resolve().name
    try:
        if kind in ("run", "ab"):
            known = query_tables(home, content, manifest, data=data, own=own, quoted=quoted)
            page = comparison_page(content, manifest, run_id=name, queries=known)
        elif kind == "sweep":
            page = sweep_page(home, content, manifest, run_id=name)
        elif kind == "tune":
            page = tuning_page(content, manifest, run_id=name)
        elif kind == "latency":
            from workbench.experiments.latency.profile import LatencyProfile
            from workbench.reports.latency_page import latency_page

            profile = LatencyProfile.load(home)
            page = latency_page(profile.content, profile.samples, run_id=name)
        elif kind == CONFLICTS:
            page = conflict_page(content, manifest, run_id=name)
        else:
            page = plain_page(home, content, manifest, run_id=name)
    except (KeyError, TypeError, ValueError, IndexError) as error:
        lacks = f"lacks {error}" if isinstance(error, KeyError) else f"is not as expected ({error})"
        raise RunError(f"{home} is recorded as kind {kind!r}, but its {METRICS} {lacks}; run again to write it anew") from None
    return _identified(page, home)


def _identified(page: Page, home: Path) -> Page:
    """The same with the identity of the run in its record: name, and checksum of its manifest or metrics."""
    path = home / MANIFEST if (home / MANIFEST).is_file() else home / METRICS
    if not path.is_file():
        return page
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    facts = Facts(
        (Fact(term="Run", text=label(page.run_id)), Fact(term="Kind", text=label(page.kind)),
         Fact(term=f"SHA-256 of {path.name}", text=digest[:16]))
    )  # fmt: skip
    sections = [
        type(part)(key=part.key, title=part.title, nav=part.nav, blocks=(facts, *part.blocks)) if part.key == "record" else part
        for part in page.sections
    ]
    return Page(**{**{name: getattr(page, name) for name in page.__dataclass_fields__}, "sections": tuple(sections)})


def document_of(folders: Iterable[str | Path], *, data: Path | None = None, own: bool = False, quoted: int = QUOTED) -> Document:
    """One page per run folder; several begin with an overview. Raises RunError without folders."""
    homes = [Path(folder) for folder in folders]
    if not homes:
        raise RunError("no run was named; give at least one run folder, see workbench runs list")
    names = [home.resolve().name for home in homes]
    ids = [
        name if names.count(name) == 1 else "/".join(home.resolve().parts[-2:]) for home, name in zip(homes, names, strict=True)
    ]
    pages = tuple(run_page(home, data=data, own=own, quoted=quoted, run_id=name) for home, name in zip(homes, ids, strict=True))
    if len(pages) == 1:
        return Document(title=pages[0].title, pages=pages)
    return Document(title=f"{len(pages)} runs", pages=pages, overview=overview(pages))


def overview(pages: Iterable[Page]) -> Table:
    """A row per run: what it asked and what it says."""
    rows = [
        (
            text_cell(page.run_id, head="row"),
            text_cell(page.kind),
            text_cell(page.dataset),
            text_cell(page.question),
            Cell(text=page.answer.word, sort=page.answer.word, tone=page.answer.tone),
            text_cell(page.answer.sentence),
        )
        for page in pages
    ]
    names = ("Run", "Kind", "Data", "Question", "Verdict", "In a sentence")
    return Table(
        caption="Runs of this report", columns=tuple(Column(text=name) for name in names), bodies=flat(rows), sortable=True
    )
