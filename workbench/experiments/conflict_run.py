"""The measurement of a contradiction test as a run folder: manifest, metrics.json and summary.txt."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from workbench.data.collecting import checked_meta
from workbench.data.rows import META_FILE
from workbench.data.strict_json import parse_document
from workbench.embedding.encoder import Encoder
from workbench.experiments.conflict_eval import ConflictEvaluation, evaluate_conflicts
from workbench.experiments.conflict_pairs import LabelledPair, read_pairs
from workbench.experiments.manifest import Clock, Source, write_manifest
from workbench.experiments.record import run_folder, write_json

KIND = "conflicts"


@dataclass(frozen=True, kw_only=True)
class PairSet:
    """What a manifest says of a file of labelled pairs. checksum: SHA-256 of the file."""

    name: str
    checksum: str
    queries: tuple[LabelledPair, ...]
    version: str = ""
    licence: str = "not stated"
    source: str = ""
    notes: Mapping[str, int] = field(default_factory=dict)


def pair_set(path: str | os.PathLike[str]) -> PairSet:
    """The pairs of a file, and what a ``dataset.json`` beside it says of their origin. Raises DataError naming file and line."""
    file = Path(path)
    pairs = read_pairs(file)
    checksum = hashlib.sha256(file.read_bytes()).hexdigest()
    card = file.parent / META_FILE
    if not card.is_file():
        return PairSet(name=file.name, checksum=checksum, queries=pairs)
    meta = checked_meta(parse_document(card.read_bytes(), str(card)), str(card), default_name=file.name)
    told = {key: meta[key] for key in ("name", "version", "licence", "source")}
    return PairSet(checksum=checksum, queries=pairs, **told)


def conflict_run(pairs: str | os.PathLike[str], encoder: Encoder | None, *, out: str | Path) -> ConflictEvaluation:
    """``evaluate_conflicts`` written as a run folder, which appears only when it is complete."""
    clock = Clock()
    known = pair_set(pairs)
    with run_folder(Path(out)) as folder:
        result = evaluate_conflicts(pairs, encoder=encoder)
        content: dict[str, Any] = result.to_dict()
        write_json(folder / "metrics.json", content)
        (folder / "summary.txt").write_text(f"{result}\n", encoding="utf-8")
        name = "" if encoder is None else encoder.name
        write_manifest(folder, KIND, known, Source(name=os.fspath(pairs)), name, clock, seed=0, settings={"test": result.test})
    return result
