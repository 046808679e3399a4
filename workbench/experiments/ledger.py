"""The weight ledger: every set of production weights with what justified it. The constant in ``config`` and the last entry must
agree."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from workbench.config import PRODUCTION_WEIGHTS, SIGNALS, AssemblyConfig, Weights
from workbench.errors import RunError
from workbench.experiments.manifest import read_manifest
from workbench.experiments.record import write_json

SCHEMA = "workbench.weights/1"
PRIMARY = "ContextRecall"
"""The metric that new weights must improve."""
GUARDRAILS = (
    "AnyRecall", "AllRecall", "StaleExposure", "DuplicateRate", "PrefixStability", "Leaks", "FalseContext", "Tokens",
)  # fmt: skip
"""Metrics that new weights must not make worse."""


def ledger_folder() -> Path:
    """``results/ledger`` of the checkout this package runs from."""
    return Path(__file__).resolve().parents[2] / "results" / "ledger"


@dataclass(frozen=True, kw_only=True)
class Entry:
    """One decision. number: from 1. weights: in force from then on. kind: reference or benchmark. evidence: runs that were
    looked at, with dataset checksum, metric values and verdicts. previous: checksum of the entry before, so that none can be
    changed later."""

    number: int
    weights: Weights
    kind: str
    reason: str
    decided: str
    evidence: tuple[Mapping[str, Any], ...]
    previous: str | None
    path: Path

    def __str__(self) -> str:
        weights = ", ".join(f"{name} {getattr(self.weights, name):g}" for name in SIGNALS)
        lines = [f"{self.number:04d} ({self.decided}, {self.kind}): {weights}", f"  {self.reason}"]
        for item in self.evidence:
            values = ", ".join(f"{name} {_shown(value)}" for name, value in item.get("values", {}).items())
            lines.append(
                f"  {item.get('run', '?')} on {item.get('dataset', '?')} ({str(item.get('checksum', ''))[:12]}): {values}"
            )
        return "\n".join(lines)


def _shown(value: Any) -> str:
    return "no data" if value is None else f"{value:.4f}" if isinstance(value, float) else str(value)


def read_ledger(folder: str | Path | None = None) -> tuple[Entry, ...]:
    """All entries in order. Raises RunError when there are none, or one is damaged, missing or changed after the next was
    written."""
    home = Path(folder) if folder is not None else ledger_folder()
    entries: list[Entry] = []
    previous = None
    for number, path in enumerate(sorted(home.glob("[0-9][0-9][0-9][0-9]-*.json")), start=1):
        try:
            data = path.read_bytes()
            row = json.loads(data)
            if row["schema"] != SCHEMA or row["number"] != number:
                raise ValueError(f"schema {row['schema']!r}, number {row['number']!r}")
            entry = Entry(
                number=number,
                weights=Weights(**row["weights"]),
                kind=row["kind"],
                reason=row["reason"],
                decided=row["decided"],
                evidence=tuple(row["evidence"]),
                previous=row["previous"],
                path=path,
            )
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise RunError(f"the ledger entry {path.name} (expected number {number}) cannot be read: {error}") from None
        if entry.previous != previous:
            raise RunError(
                f"the ledger entry {path.name} does not follow the one before it, which was changed or removed afterwards"
            )
        previous = hashlib.sha256(data).hexdigest()
        entries.append(entry)
    if not entries:
        raise RunError(f"there is no weight ledger in {home}; it is part of the project's repository")
    return tuple(entries)


def verify_ledger(folder: str | Path | None = None, weights: Weights = PRODUCTION_WEIGHTS) -> Entry:
    """The entry that justifies ``weights``. Raises RunError when the last entry has other weights or no evidence."""
    last = read_ledger(folder)[-1]
    if last.weights != weights:
        raise RunError(
            f"PRODUCTION_WEIGHTS is {weights.as_tuple()}, the last ledger entry {last.path.name} has "
            f"{last.weights.as_tuple()}; "
            "weights change only by workbench weights promote RUN"
        )
    if not last.evidence:
        raise RunError(f"the ledger entry {last.path.name} names no evidence")
    return last


def write_entry(path: Path, *, weights: Weights, **fields: Any) -> None:
    """Write a ledger entry. Raises RunError when it exists: entries are never changed."""
    if path.exists():
        raise RunError(f"the ledger entry {path} exists; entries are never changed")
    path.parent.mkdir(parents=True, exist_ok=True)
    write_json(path, {"schema": SCHEMA, "weights": dict(zip(SIGNALS, weights.as_tuple(), strict=True)), **fields})


def record_reference(
    runs: Sequence[str | Path],
    *,
    folder: str | Path | None = None,
    today: str | None = None,
    weights: Weights = PRODUCTION_WEIGHTS,
) -> Entry:
    """Write the first entry: the reference weights, with what runs measured of the arm that has them. Raises RunError when
    there are entries already or a run has no such arm."""
    home = Path(folder) if folder is not None else ledger_folder()
    evidence = []
    for run in map(Path, runs):
        manifest = read_manifest(run)
        arms = [
            name for name, arm in manifest.get("arms", {}).items() if AssemblyConfig.from_record(arm["config"]).weights == weights
        ]
        if not arms:
            raise RunError(
                f"{run} has no arm with the weights {weights.as_tuple()}; its arms are {', '.join(manifest.get('arms', {}))}"
            )
        content = json.loads((run / "metrics.json").read_text(encoding="utf-8"))["arms"][arms[0]]
        evidence.append(
            {
                **identity(run, manifest),
                "values": {
                    name: content["metrics"][name]["mean"] for name in (PRIMARY, *GUARDRAILS) if name in content["metrics"]
                },
                "n": {PRIMARY: content["metrics"][PRIMARY]["n"]},
            }
        )
    write_entry(
        home / "0001-reference.json",
        number=1,
        weights=weights,
        kind="reference",
        reason="Reference values the workbench starts from; measured, not yet tuned.",
        decided=today or datetime.now(UTC).date().isoformat(),
        evidence=evidence,
        previous=None,
    )
    return read_ledger(home)[0]


def identity(run: Path, manifest: Mapping[str, Any]) -> dict[str, Any]:
    """What names a run in the ledger, so that it can be found and checked."""
    return {
        "run": run.name,
        "manifest_sha256": hashlib.sha256((run / "manifest.json").read_bytes()).hexdigest(),
        "dataset": manifest["dataset"]["name"],
        "checksum": manifest["dataset"]["checksum"],
        "split": manifest.get("split"),
        "encoder": manifest["encoder"],
        "commit": manifest["environment"]["git"],
    }
