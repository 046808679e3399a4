"""The weight ledger: every set of production weights with what justified it. The constant in ``config`` and the last entry must agree."""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import workbench.config
from workbench.config import PRODUCTION_WEIGHTS, SIGNALS, AssemblyConfig, Weights
from workbench.errors import RunError
from workbench.experiments.comparison_table import Comparison
from workbench.experiments.manifest import file_checksums, read_manifest
from workbench.experiments.record import write_json
from workbench.experiments.run import LATENCY_LIMIT_MS
from workbench.experiments.statistics import Verdict

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
    """One decision. number: from 1. weights: in force from then on. kind: reference or benchmark. evidence: runs that were looked at, with
    dataset checksum, metric values and verdicts. previous: checksum of the entry before, so that none can be changed later."""

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
            lines.append(f"  {item.get('run', '?')} on {item.get('dataset', '?')} ({str(item.get('checksum', ''))[:12]}): {values}")
        return "\n".join(lines)


def _shown(value: Any) -> str:
    return f"{value:.4f}" if isinstance(value, float) else str(value)


def read_ledger(folder: str | Path | None = None) -> tuple[Entry, ...]:
    """All entries in order. Raises RunError when there are none, or one is damaged, missing or changed after the next was written."""
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
                f"the ledger entry {path.name} does not follow the one before it: that one was changed or removed after it was written"
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
            f"PRODUCTION_WEIGHTS is {weights.as_tuple()} and the last ledger entry {last.path.name} has {last.weights.as_tuple()}; "
            "weights change only by workbench weights promote RUN"
        )
    if not last.evidence:
        raise RunError(f"the ledger entry {last.path.name} names no evidence")
    return last


def refusals(run: str | Path, weights: Weights = PRODUCTION_WEIGHTS) -> list[str]:
    """Why a run does not justify new weights; empty when it does.

    It must be a complete A/B run of two arms on the locked test users, whose baseline has the present weights and whose other arm differs
    from it in weights alone; the primary metric better, no guardrail worse, latency within the limit.
    """
    folder, manifest = Path(run), read_manifest(run)
    if manifest["kind"] != "ab" or manifest["status"] != "complete":
        return [f"it is a {manifest['kind']} run with status {manifest['status']}, not a complete A/B run (workbench ab)"]
    present = file_checksums(folder)
    if any(present.get(name) != sha for name, sha in manifest.get("files", {}).items()):
        return ["its files were changed after it was written; run it again"]
    arms = manifest["settings"]["arms"]
    if len(arms) != 2:
        return [f"it has {len(arms)} arms; promote takes two, the present weights and the new ones"]
    out = []
    split = manifest.get("split")
    if not split or split["part"] != "test":
        out.append("it was not made on the locked test users (--split test), so the weights may be fitted to its queries")
    configs = [AssemblyConfig.from_dict(manifest["arms"][arm["name"]]["config"]) for arm in arms]
    if configs[0].weights != weights:
        out.append(f"its baseline has the weights {configs[0].weights.as_tuple()}, in force are {weights.as_tuple()}")
    if configs[1].weights == weights:
        out.append("its other arm has the weights that are in force already")
    if configs[1].override(weights=configs[0].weights) != configs[0]:
        out.append("its arms differ in more than the weights")
    comparison = Comparison.load(folder / "comparison.json")
    verdicts = {row.metric: row.verdict for row in comparison}
    if verdicts.get(PRIMARY) != Verdict.BETTER:
        out.append(f"its verdict on {PRIMARY} is {verdicts.get(PRIMARY, 'missing')}, must be better")
    out += [f"its verdict on the guardrail {name} is worse" for name in GUARDRAILS if verdicts.get(name) == Verdict.WORSE]
    out += [f"it did not measure the guardrail {name}" for name in GUARDRAILS if name not in verdicts]
    timed = json.loads((folder / "metrics.json").read_text(encoding="utf-8"))["arms"][arms[1]["name"]]["latency_ms"]["total"]
    if timed["verdict"] != "within the limit":
        out.append(f"its latency is {timed['verdict']} (limit p95 {LATENCY_LIMIT_MS:g} ms)")
    return out


def promote(
    run: str | Path, *, reason: str, folder: str | Path | None = None, config_file: str | Path | None = None, today: str | None = None
) -> Entry:
    """Write a ledger entry for the new weights of ``run`` and put them into the constant. Raises RunError with every reason against it.

    config_file: the source file of the constant (default: of this checkout). today: date of the decision, ISO.
    """
    home = Path(folder) if folder is not None else ledger_folder()
    entries = read_ledger(home)
    why_not = refusals(run, entries[-1].weights)
    if why_not:
        raise RunError(f"{run} does not justify new weights: " + "; ".join(why_not))
    manifest = read_manifest(run)
    name = manifest["settings"]["arms"][1]["name"]
    weights = AssemblyConfig.from_dict(manifest["arms"][name]["config"]).weights
    source = Path(config_file) if config_file is not None else Path(workbench.config.__file__)
    text = with_weights(source.read_text(encoding="utf-8"), weights)
    comparison = Comparison.load(Path(run) / "comparison.json")
    number = entries[-1].number + 1
    path = home / f"{number:04d}-{re.sub(r'[^a-z0-9]+', '-', name.lower()).strip('-') or 'weights'}.json"
    write_entry(
        path,
        number=number,
        weights=weights,
        kind="benchmark",
        reason=reason,
        decided=today or datetime.now(UTC).date().isoformat(),
        evidence=[_evidence(Path(run), manifest, comparison)],
        previous=hashlib.sha256(entries[-1].path.read_bytes()).hexdigest(),
    )
    _replace(source, text)
    return read_ledger(home)[-1]


def write_entry(path: Path, *, weights: Weights, **fields: Any) -> None:
    """Write a ledger entry. Raises RunError when it exists: entries are never changed."""
    if path.exists():
        raise RunError(f"the ledger entry {path} exists; entries are never changed")
    path.parent.mkdir(parents=True, exist_ok=True)
    write_json(path, {"schema": SCHEMA, "weights": dict(zip(SIGNALS, weights.as_tuple(), strict=True)), **fields})


def record_reference(
    runs: Sequence[str | Path], *, folder: str | Path | None = None, today: str | None = None, weights: Weights = PRODUCTION_WEIGHTS
) -> Entry:
    """Write the first entry: the reference weights, with what runs measured of the arm that has them. Raises RunError when there are
    entries already or a run has no such arm."""
    home = Path(folder) if folder is not None else ledger_folder()
    evidence = []
    for run in map(Path, runs):
        manifest = read_manifest(run)
        arms = [name for name, arm in manifest.get("arms", {}).items() if AssemblyConfig.from_dict(arm["config"]).weights == weights]
        if not arms:
            raise RunError(f"{run} has no arm with the weights {weights.as_tuple()}; its arms are {', '.join(manifest.get('arms', {}))}")
        content = json.loads((run / "metrics.json").read_text(encoding="utf-8"))["arms"][arms[0]]
        evidence.append(
            {
                **_identity(run, manifest),
                "values": {name: content["metrics"][name]["mean"] for name in (PRIMARY, *GUARDRAILS) if name in content["metrics"]},
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


def _identity(run: Path, manifest: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "run": run.name,
        "manifest_sha256": hashlib.sha256((run / "manifest.json").read_bytes()).hexdigest(),
        "dataset": manifest["dataset"]["name"],
        "checksum": manifest["dataset"]["checksum"],
        "split": manifest.get("split"),
        "encoder": manifest["encoder"],
        "commit": manifest["environment"]["git"],
    }


def _evidence(run: Path, manifest: Mapping[str, Any], comparison: Comparison) -> dict[str, Any]:
    return {
        **_identity(run, manifest),
        "values": {row.metric: row.mean_b for row in comparison if row.metric in (PRIMARY, *GUARDRAILS)},
        "differences": {row.metric: row.difference for row in comparison if row.metric in (PRIMARY, *GUARDRAILS)},
        "verdicts": {row.metric: row.verdict for row in comparison if row.metric in (PRIMARY, *GUARDRAILS)},
    }


def with_weights(text: str, weights: Weights) -> str:
    """The source of ``config`` with other production weights: the five defaults of class Weights, where the numbers live.

    Raises RunError when the source does not look as expected; nothing is guessed.
    """
    start = text.find("class Weights:")
    stop = text.find("def __post_init__", start)
    if start < 0 or stop < 0 or "PRODUCTION_WEIGHTS = Weights()" not in text:
        raise RunError("the source of workbench.config has no class Weights with PRODUCTION_WEIGHTS = Weights() behind it; edit it by hand")
    body = text[start:stop]
    for name in SIGNALS:
        body, count = re.subn(rf"^(    {name}: float = )\S+$", rf"\g<1>{getattr(weights, name)!r}", body, flags=re.MULTILINE)
        if count != 1:
            raise RunError(f"class Weights has no line '{name}: float = ...'; edit workbench/config.py by hand")
    return text[:start] + body + text[stop:]


def _replace(path: Path, text: str) -> None:
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        part.write_text(text, encoding="utf-8")
        part.replace(path)
    except OSError as error:
        part.unlink(missing_ok=True)
        raise RunError(f"cannot write {path}: {error.strerror}; the ledger entry is there, set the constant by hand") from None


__all__ = [
    "GUARDRAILS", "PRIMARY", "Entry", "promote", "read_ledger", "record_reference", "refusals", "verify_ledger",
    "with_weights", "write_entry",
]  # fmt: skip
