"""From run folders to a document: every kind of run has its page, an unknown kind one with what every run has."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from workbench.errors import RunError, WorkbenchError
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
            page = latency_page(profile.content, profile.samples, run_id=name, manifest=manifest)
        elif kind == CONFLICTS:
            page = conflict_page(content, manifest, run_id=name)
        else:
            page = plain_page(home, content, manifest, run_id=name)
    except WorkbenchError:  # which says already what is wrong
        raise
    except (KeyError, TypeError, ValueError, IndexError) as error:
        lacks = f"lacks {error}" if isinstance(error, KeyError) else f"is not as expected ({error})"
        raise RunError(f"{home} is recorded as kind {kind!r}, but its {METRICS} {lacks}; run again to write it anew") from None
    return _identified(_whole(page, manifest), home)


def _whole(page: Page, manifest: Mapping[str, Any]) -> Page:
    """The same, saying first that the run did not end, if it did not."""
    status = label(manifest["status"])
    if status == "complete":
        return page
    warning = f"This run is recorded as {status}, not as complete: what follows may be of a part of its queries. Run it again."
    return replace(page, answer=replace(page.answer, details=(warning, *page.answer.details)))


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
    sections = tuple(replace(part, blocks=(facts, *part.blocks)) if part.key == "record" else part for part in page.sections)
    return replace(page, sections=sections)


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
    return overview_table("Runs of this report", [(page, page.run_id, f"#run-{at}") for at, page in enumerate(pages, 1)])


def overview_table(caption: str, rows: Iterable[tuple[Page, str, str]]) -> Table:
    """A row per page: name of the run with its kind and data, question, verdict and sentence. rows: (page, name, address of the
    page or nothing)."""
    body = [
        (
            Cell(text=label(name), sort=name, head="row", href=href, subs=(f"{label(page.kind)} · {label(page.dataset)}",)),
            text_cell(page.question),
            Cell(text=page.answer.word, sort=page.answer.word, tone=page.answer.tone),
            text_cell(page.answer.sentence),
        )
        for page, name, href in rows
    ]
    columns = (Column(text="Run", sub="kind · data"), *(Column(text=name) for name in ("Question", "Verdict", "In a sentence")))
    return Table(caption=caption, columns=columns, bodies=flat(body), sortable=True)
