"""What was compared and how to make it again: facts of the dataset, the machine and the software, fit to be sent to others."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping
from typing import Any

from workbench.reports.cells import Cell, Column, Table, flat
from workbench.reports.document import Fact
from workbench.reports.facts import Run
from workbench.reports.labels import label, portable, portable_command, printable
from workbench.reports.numbers import MISSING, whole
from workbench.reports.tables import flatten, setting


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
        source="metrics.json: dataset_config, arms.<arm>.config",
    )


def command(manifest: Mapping[str, Any]) -> str:
    """The command that makes the run again, with paths of this machine cut to their last part; empty if not recorded."""
    words = manifest.get("command")
    return shlex.join(portable_command(words)) if words and not isinstance(words, str) else shown(words) if words else ""


def run_facts(run: Run) -> list[Fact]:
    """When and how the run was made, and the identity of each configuration."""
    facts = made(run.manifest, run.content.get("seed"))
    for arm in run.arms:
        facts.append(Fact(term=f"Configuration of {label(arm)}", text=shown(run.content["arms"][arm].get("config_hash"))))
    version = run.manifest.get("schema_version", run.content.get("schema_version"))
    return [*facts, Fact(term="Schema of metrics.json", text=shown(version))]


def made(manifest: Mapping[str, Any], seed: object = None) -> list[Fact]:
    """When a run was made, how long it took, its state and its seed."""
    terms = (("Started", "started"), ("Wall time (s)", "wall_seconds"), ("Status", "status"), ("Seed", "seed"))
    given = {"seed": seed, **manifest}
    return [Fact(term=term, text=shown(given[key])) for term, key in terms if given.get(key) is not None]


def recorded_dataset(manifest: Mapping[str, Any]) -> list[Fact]:
    """Name and origin of the dataset of a run whose metrics say nothing of it."""
    told = manifest.get("dataset") or {}
    terms = (
        ("Dataset", "name"),
        ("Version", "version"),
        ("Queries", "n_queries"),
        ("Licence", "licence"),
        ("Source", "source"),
        ("Checksum (SHA-256)", "checksum"),
    )
    facts = [Fact(term=term, text=shown(told[key])) for term, key in terms if told.get(key) not in (None, "")]
    return [*facts, *([Fact(term="Encoder", text=shown(manifest["encoder"]))] if manifest.get("encoder") else [])]


def environment(manifest: Mapping[str, Any]) -> list[Fact]:
    """Versions, machine, threads and git state, flattened."""
    tree = manifest.get("environment") or {}
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
