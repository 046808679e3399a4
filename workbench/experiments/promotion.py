"""Promotion: new production weights, if an A/B run on the locked test justifies them; anything else is refused with reasons."""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import workbench.config
from workbench.config import PRODUCTION_WEIGHTS, SIGNALS, AssemblyConfig, Weights
from workbench.errors import RunError
from workbench.experiments.comparison_table import Comparison
from workbench.experiments.ledger import GUARDRAILS, PRIMARY, Entry, identity, ledger_folder, read_ledger, write_entry
from workbench.experiments.manifest import changed_files, read_manifest
from workbench.experiments.run import LATENCY_LIMIT_MS
from workbench.experiments.statistics import Verdict


def refusals(run: str | Path, weights: Weights = PRODUCTION_WEIGHTS) -> list[str]:
    """Why a run does not justify new weights; empty when it does.

    It must be a complete A/B run of two arms on the locked test users, whose baseline has the present weights and whose other
    arm differs from it in weights alone; the primary metric better, no guardrail worse, latency within the limit.
    """
    folder, manifest = Path(run), read_manifest(run)
    if manifest["kind"] != "ab" or manifest["status"] != "complete":
        return [f"it is a {manifest['kind']} run with status {manifest['status']}, not a complete A/B run (workbench ab)"]
    if changed_files(folder, manifest):
        return ["its files were changed after it was written; run it again"]
    arms = manifest["settings"]["arms"]
    if len(arms) != 2:
        return [f"it has {len(arms)} arms; promote takes two, the present weights and the new ones"]
    out = []
    split = manifest.get("split")
    if not split or split["part"] != "test":
        out.append("it was not made on the locked test users (--split test), so the weights may be fitted to its queries")
    if manifest["dataset"]["load"].get("limit") is not None or "limit" in manifest["dataset"]["load"]["options"]:
        out.append("it was made on a sample of the queries (--limit), which may have been chosen for its result")
    configs = [AssemblyConfig.from_record(manifest["arms"][arm["name"]]["config"]) for arm in arms]
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
    run: str | Path,
    *,
    reason: str,
    folder: str | Path | None = None,
    config_file: str | Path | None = None,
    today: str | None = None,
) -> Entry:
    """Write a ledger entry for the new weights of ``run`` and put them into the constant. Raises RunError with every reason
    against it.

    config_file: the source file of the constant (default: of this checkout). today: date of the decision, ISO.
    """
    home = Path(folder) if folder is not None else ledger_folder()
    entries = read_ledger(home)
    why_not = refusals(run, entries[-1].weights)
    if why_not:
        raise RunError(f"{run} does not justify new weights: " + "; ".join(why_not))
    manifest = read_manifest(run)
    name = manifest["settings"]["arms"][1]["name"]
    weights = AssemblyConfig.from_record(manifest["arms"][name]["config"]).weights
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


def _evidence(run: Path, manifest: Mapping[str, Any], comparison: Comparison) -> dict[str, Any]:
    return {
        **identity(run, manifest),
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
        raise RunError(
            "the source of workbench.config has no class Weights with PRODUCTION_WEIGHTS = Weights() behind it; edit it by hand"
        )
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
