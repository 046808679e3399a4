"""A run's report: one HTML file that stands on its own, and its figures as files beside it.

The page loads nothing, says so to the browser (a content security policy of its own), reads without scripts and prints.
Everything that came from a user is escaped by the template engine; nothing is marked as safe but the figures, the style
sheet and the script that this package made.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from workbench.errors import RunError
from workbench.reports import captions, costs, limits, record, tables, verdicts
from workbench.reports.facts import Run
from workbench.reports.figures import all_figures
from workbench.reports.labels import label, printable
from workbench.reports.style import Drawing

FIGURES = "figures"


def write_report(folder: Path, content: Mapping[str, Any], manifest: Mapping[str, Any]) -> Path:
    """Write ``folder/report.html`` and ``folder/figures/*.svg``; returns the path of the report.

    content: as in metrics.json. manifest: as in manifest.json (what it lacks is left out of the run record). The same
    content gives the same bytes. Raises RunError when the content is not that of a run or the folder cannot be written.
    """
    run = Run(content, manifest)
    drawings = all_figures(run)
    page = render(run, drawings)
    target = Path(folder) / "report.html"
    try:
        (target.parent / FIGURES).mkdir(parents=True, exist_ok=True)
        for drawing in drawings.values():
            (target.parent / FIGURES / f"{drawing.name}.svg").write_text(drawing.svg, encoding="utf-8", newline="\n")
        target.write_text(page, encoding="utf-8", newline="\n")
    except OSError as error:
        raise RunError(f"cannot write the report {target.name}: {error.strerror}; choose another folder") from None
    return target


def render(run: Run, drawings: Mapping[str, Drawing]) -> str:
    """The page as text. drawings: by name, as ``all_figures`` makes them."""
    environment = _environment()
    style, script = (environment.get_template(name).render().strip() for name in ("report.css.j2", "report.js.j2"))
    said = captions.captions(run)
    figures = {
        name: {"svg": Markup(drawing.inline(f"{drawing.title}. {said[name]}")), "caption": said[name]}
        for name, drawing in drawings.items()
    }
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    page = environment.get_template("report.html.j2").render(
        run=run,
        title=verdicts.title(run),
        policy=f"default-src 'none'; style-src 'unsafe-inline'; img-src data:; script-src 'sha256-{digest}'",
        style=Markup(style),
        script=Markup(script),
        arms=[label(arm) for arm in run.arms],
        question=verdicts.question(run),
        answer=verdicts.answer(run),
        cards=verdicts.cards(run),
        dataset=record.dataset_facts(run),
        dataset_settings=record.dataset_settings(run),
        config_note=record.shown(run.content.get("dataset_config_note") or ""),
        notes=record.notes(run),
        differences=tables.settings_difference(run),
        headline=tables.headline(run),
        family=label(run.content.get("comparison_family") or ""),
        definitions=tables.definitions(run),
        groups=tables.by_group(run) if run.groups else None,
        losses=costs.losses(run),
        latency=costs.latency(run),
        latency_verdicts=verdicts.latency_verdicts(run),
        weights=costs.weights(run),
        tokens=costs.tokens(run),
        limits=limits.limits(run),
        command=record.command(run),
        run_facts=record.run_facts(run),
        environment=record.environment(run),
        configs=record.configs(run),
        figures=figures,
    )
    return printable("\n".join(line.rstrip() for line in page.splitlines())) + "\n"


@lru_cache(maxsize=1)
def _environment() -> Environment:
    return Environment(
        loader=PackageLoader("workbench.reports", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
