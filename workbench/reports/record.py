"""What was compared and how to make it again: facts of the dataset, the machine and the software, fit to be sent to others."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from workbench.reports.facts import Run
from workbench.reports.labels import label, portable, portable_command, printable
from workbench.reports.numbers import MISSING, whole
from workbench.reports.tables import Cell, Column, Table, flat, flatten, setting


@dataclass(frozen=True, kw_only=True)
class Fact:
    """A term and what it is."""

    term: str
    text: str


def dataset_facts(run: Run) -> list[Fact]:
    """Name, size and origin of the dataset."""
    content, told = run.content, run.manifest.get("dataset") or {}
    counts = (
        ("Users", "n_users"),
        ("Entries", "n_entries"),
        ("Queries", "n_queries"),
        ("Judged", "n_judged"),
        ("Judged and answerable", "n_answerable"),
    )
    facts = [Fact(term="Dataset", text=f"{run.dataset} {label(told['version'])}" if told.get("version") else run.dataset)]
    facts += [Fact(term=term, text=whole(content.get(key))) for term, key in counts]
    facts.append(Fact(term="Grouped by", text=run.group_name))
    for term, value in (
        ("Licence", content.get("dataset_licence") or told.get("licence")),
        ("Source", told.get("source")),
        ("Checksum (SHA-256)", content.get("dataset_checksum") or told.get("checksum")),
        ("Encoder", run.manifest.get("encoder")),
    ):
        if value:
            facts.append(Fact(term=term, text=shown(value)))
    return facts


def notes(run: Run) -> list[Fact]:
    """What the loader left out, repaired or counted."""
    given = run.content.get("dataset_notes") or {}
    return [Fact(term=label(key).replace("_", " "), text=shown(value)) for key, value in sorted(given.items())]


def dataset_settings(run: Run) -> Table | None:
    """The settings the dataset is meant to be judged with, beside what each arm ran with; None if there are none."""
    asked = flatten(run.content.get("dataset_config") or {})
    if not asked:
        return None
    configs = {arm: flatten(run.arm(arm, "config")) for arm in run.arms}
    rows = []
    for key, value in sorted(asked.items()):
        cells = []
        for arm in run.arms:
            used = setting(configs[arm].get(key, MISSING))
            cells.append(Cell(text=used, numeric=True, tone="" if used == setting(value) else "bad"))
        rows.append((Cell(text=label(key), head="row"), Cell(text=setting(value), numeric=True), *cells))
    arms = (Column(text=label(arm), sub="ran with", numeric=True, arm=position) for position, arm in enumerate(run.arms))
    return Table(
        caption="Settings of the dataset",
        columns=(Column(text="Setting"), Column(text="Dataset", sub="asks for", numeric=True), *arms),
        bodies=flat(rows),
        source="dataset_config, arms.<arm>.config",
    )


def command(run: Run) -> str:
    """The command that makes the run again, with paths of this machine cut to their last part; empty if not recorded."""
    words = run.manifest.get("command")
    return shlex.join(portable_command(words)) if words and not isinstance(words, str) else shown(words) if words else ""


def run_facts(run: Run) -> list[Fact]:
    """When and how the run was made, and the identity of each configuration."""
    manifest = run.manifest
    facts = []
    for term, key in (("Started", "started"), ("Wall time (s)", "wall_seconds"), ("Status", "status"), ("Seed", "seed")):
        value = manifest.get(key, run.content.get(key))
        if value is not None:
            facts.append(Fact(term=term, text=shown(value)))
    for arm in run.arms:
        facts.append(Fact(term=f"Configuration of {label(arm)}", text=shown(run.content["arms"][arm].get("config_hash"))))
    version = manifest.get("schema_version", run.content.get("schema_version"))
    return [*facts, Fact(term="Schema of metrics.json", text=shown(version))]


def environment(run: Run) -> list[Fact]:
    """Versions, machine, threads and git state, flattened."""
    tree = run.manifest.get("environment") or {}
    flattened = sorted(flatten(tree).items()) if isinstance(tree, Mapping) else []
    return [Fact(term=label(key), text=shown(value)) for key, value in flattened]


def configs(run: Run) -> list[Fact]:
    """The full configuration of each arm as JSON text."""
    return [
        Fact(
            term=label(arm),
            text=printable(json.dumps(run.arm(arm, "config"), indent=2, sort_keys=True, ensure_ascii=False, default=str)),
        )
        for arm in run.arms
    ]


def shown(value: Any) -> str:
    """A recorded value as text, without paths of the machine."""
    if value is None:
        return MISSING
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    return portable(setting(value))
