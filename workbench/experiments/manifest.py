"""The manifest of a run: what was run, on which data, with what, and the checksum of every file it wrote."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.data.judged import JudgedDataset
from workbench.data.registry import load_dataset
from workbench.errors import RunError
from workbench.experiments.record import SCHEMA_VERSION, command_line, environment, write_json
from workbench.experiments.splits import PARTS, UserSplit, restrict, sample, split_users

if TYPE_CHECKING:
    from workbench.experiments.conflict_run import PairSet

MANIFEST = "manifest.json"
PAGE = "report.html"


@dataclass(frozen=True, kw_only=True)
class Source:
    """How to load the judged queries of a run again.

    name: a dataset's name or its folder. options: of ``load_dataset``. part: train, validation or test of the users (None: all
    of them), split with ``split_seed``. limit: so many of the queries (None: all), drawn with ``limit_seed``. data: local copy of
    a public dataset's file; never recorded, because it is a path of this machine.
    """

    name: str
    options: Mapping[str, Any] = field(default_factory=dict)
    part: str | None = None
    split_seed: int = 0
    limit: int | None = None
    limit_seed: int = 0
    data: Path | None = field(default=None, compare=False)

    def load(self) -> JudgedDataset:
        """The judged queries. Raises DataError or ConfigError."""
        dataset = self.load_all()
        if self.part is not None:
            dataset = restrict(dataset, self.split(dataset).of(self.part))
        return dataset if self.limit is None else sample(dataset, self.limit, seed=self.limit_seed)

    def load_all(self) -> JudgedDataset:
        """The dataset with all its users."""
        return load_dataset(self.name, data=self.data, **self.options)

    def split(self, dataset: JudgedDataset) -> UserSplit:
        """The split of the whole dataset's users."""
        return split_users(dataset.stores, seed=self.split_seed)

    def to_dict(self) -> dict[str, Any]:
        """What the manifest keeps."""
        row = {"name": self.name, "options": dict(self.options), "part": self.part, "split_seed": self.split_seed}
        return row if self.limit is None else {**row, "limit": self.limit, "limit_seed": self.limit_seed}

    @classmethod
    def of(cls, manifest: Mapping[str, Any], data: Path | None = None) -> Source:
        """The source of a recorded run."""
        known = manifest["dataset"]
        if "load" in known:
            return cls(**known["load"], data=data)
        return cls(name=known["name"], options=_options(manifest), data=data)


def _options(manifest: Mapping[str, Any]) -> dict[str, str]:
    """Options of a run that did not record them: LoCoMo's unit is in its version, its template in the configurations."""
    if manifest["dataset"]["name"] != "locomo":
        return {}
    unit = manifest["dataset"]["version"].partition("-")[2] or "turn"
    plain = all(arm["config"]["templates"]["memories"] == "{text}" for arm in manifest["arms"].values())
    return {"unit": unit, "template": "plain" if plain else "date"}


class Clock:
    """When a run began."""

    def __init__(self) -> None:
        self.started = datetime.now(UTC)
        self._clock = time.perf_counter()

    @property
    def seconds(self) -> float:
        return round(time.perf_counter() - self._clock, 1)


def write_manifest(
    folder: Path,
    kind: str,
    dataset: JudgedDataset | PairSet,
    source: Source,
    encoder_name: str,
    clock: Clock,
    *,
    seed: int,
    settings: Mapping[str, Any],
    **more: Any,
) -> dict[str, Any]:
    """Write ``manifest.json`` over the files that are in ``folder``. settings: everything ``rerun`` needs beside the data."""
    from workbench.experiments.blocks import replay_version
    from workbench.experiments.poolstore import stage_version

    manifest = {
        "schema_version": SCHEMA_VERSION,
        "kind": kind,
        "status": "complete",
        "command": command_line(),
        "started": clock.started.isoformat(timespec="seconds").replace("+00:00", "Z"),
        "wall_seconds": clock.seconds,
        "seed": seed,
        "dataset": {
            "name": dataset.name,
            "version": dataset.version,
            "licence": dataset.licence,
            "source": dataset.source,
            "checksum": dataset.checksum,
            "notes": dict(dataset.notes),
            "n_queries": len(dataset.queries),
            "load": source.to_dict(),
        },
        "encoder": encoder_name,
        "settings": dict(settings),
        "environment": environment(),
        "code": {"stages": stage_version(), "replay": replay_version()},
        "files": file_checksums(folder),
        **more,
    }
    write_json(folder / MANIFEST, manifest)
    return manifest


def file_checksums(folder: Path) -> dict[str, str]:
    """SHA-256 of every file of a run but its manifest."""
    return {
        path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.name != MANIFEST
    }


def changed_files(folder: str | Path, manifest: Mapping[str, Any]) -> list[str]:
    """Files of a run that no longer are as they were written; empty for a run that recorded none.

    Its page does not count: it is drawn from the other files, and drawn anew whenever there is more to say about them.
    """
    present = file_checksums(Path(folder))
    return [name for name, sha in manifest.get("files", {}).items() if name != PAGE and present.get(name) != sha]


def read_manifest(folder: str | Path) -> dict[str, Any]:
    """The manifest of a run folder. Raises RunError naming the folder when it is not one, or is of an unknown schema."""
    path = Path(folder) / MANIFEST
    try:
        manifest = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise RunError(f"{folder} is no run folder: it has no {MANIFEST}; see workbench runs list") from None
    except (OSError, ValueError) as error:
        raise RunError(f"the manifest {path} cannot be read: {error}") from None
    if not isinstance(manifest, dict) or not {"kind", "status", "dataset", "environment"} <= set(manifest):
        raise RunError(f"the manifest {path} lacks kind, status, dataset or environment; it is not one of ours")
    if manifest.get("schema_version") != SCHEMA_VERSION:
        raise RunError(
            f"the manifest {path} has schema version {manifest.get('schema_version')!r}, this release reads {SCHEMA_VERSION}"
        )
    return manifest


__all__ = ["MANIFEST", "PARTS", "Clock", "Source", "changed_files", "file_checksums", "read_manifest", "write_manifest"]
