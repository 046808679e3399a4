"""Verifying a run: its files against the manifest, and everything but timings computed again and compared, exactly."""

from __future__ import annotations

import math
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from workbench.embedding.cache import EmbeddingCache
from workbench.embedding.encoder import Encoder
from workbench.errors import RunError
from workbench.experiments.manifest import MANIFEST, changed_files, read_manifest
from workbench.experiments.runs import flat, is_timing, read_json, rerun
from workbench.tabular import Tabular

if TYPE_CHECKING:
    from workbench.reports.cells import Table

# these files tell the same as the data, with timings mixed in
_NOT_COMPARED = (".html", ".png", ".svg", ".txt", ".md")


@dataclass(frozen=True, kw_only=True, repr=False)
class Verification(Tabular):
    """changed: files that no longer have the checksum the run recorded. different: (where, recorded, recomputed). compared:
    files and values that were compared; environment: package versions and machine that differ, which explain a difference but
    are none."""

    run: str
    changed: tuple[str, ...]
    different: tuple[tuple[str, Any, Any], ...]
    compared: int
    environment: tuple[str, ...]

    @property
    def ok(self) -> bool:
        """True when the files are as recorded and everything recomputed is equal."""
        return not self.changed and not self.different

    def tables(self) -> tuple[Table, ...]:
        """The result as tables; see ``Tabular``."""
        from workbench.reports.result_tables import frame_table

        rows = [{"where": name, "old": "as written", "new": "changed since"} for name in self.changed]
        rows += [{"where": where, "old": str(old), "new": str(new)} for where, old, new in self.different]
        caption = f"{self.run}: {'verified' if self.ok else 'not verified'}, {self.compared} values compared, timings left out"
        notes = tuple(f"Other environment: {text}" for text in self.environment)
        return (frame_table(caption, rows, {"where": "where", "old": "recorded", "new": "recomputed"}, notes=notes),)

    def __str__(self) -> str:
        lines = [f"{self.run}: {'verified' if self.ok else 'NOT verified'}, {self.compared} values compared (timings left out)"]
        lines += [f"changed since it was written: {name}" for name in self.changed]
        lines += [f"differs: {where}: recorded {old!r}, recomputed {new!r}" for where, old, new in self.different[:20]]
        if len(self.different) > 20:
            lines.append(f"and {len(self.different) - 20} more differences")
        return "\n".join([*lines, *(f"other environment: {text}" for text in self.environment)])


def verify(
    run: str | Path, *, data: Path | None = None, encoder: Encoder | None = None, cache: EmbeddingCache | None = None
) -> Verification:
    """Check the files of a run against its manifest, compute it again elsewhere, and compare everything but timings, exactly."""
    folder, manifest = Path(run), read_manifest(run)
    if manifest["status"] != "complete":
        raise RunError(f"{folder} has status {manifest['status']!r}; only a complete run can be verified")
    changed = changed_files(folder, manifest)
    with tempfile.TemporaryDirectory(prefix="workbench-verify-") as scratch:
        again = Path(scratch) / "again"
        rerun(folder, again, data=data, encoder=encoder, cache=cache, timed=False)
        fresh = read_manifest(again)
        found: list[tuple[str, Any, Any]] = []
        compared = 0
        for path in sorted(again.rglob("*")):
            name = path.relative_to(again).as_posix()
            if not path.is_file() or path.suffix in _NOT_COMPARED or name == MANIFEST:
                continue
            if not (folder / name).is_file():
                found.append((name, "no such file", "a file"))
                continue
            count, differences = _compare(folder / name, path, name)
            compared += count
            found += differences
        for name in ("arms", "seed", "encoder"):
            if manifest.get(name) != fresh.get(name):
                found.append((f"{MANIFEST}:{name}", manifest.get(name), fresh.get(name)))
    environment = [
        f"{key}: {old} -> {new}" for key, old, new in _environment_changes(manifest["environment"], fresh["environment"])
    ]
    recorded_code, fresh_code = manifest.get("code", {}), fresh.get("code", {})
    environment += [
        f"code of {key}: {old} -> {fresh_code.get(key)}" for key, old in recorded_code.items() if old != fresh_code.get(key)
    ]
    return Verification(
        run=str(folder), changed=tuple(changed), different=tuple(found), compared=compared, environment=tuple(environment)
    )


def _environment_changes(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[tuple[str, Any, Any]]:
    for part in ("packages", "machine"):
        for key in sorted(set(old.get(part, {})) | set(new.get(part, {}))):
            one, two = old.get(part, {}).get(key), new.get(part, {}).get(key)
            if key != "load_average" and one != two:
                yield f"{part}.{key}", one, two


def _compare(recorded: Path, fresh: Path, name: str) -> tuple[int, list[tuple[str, Any, Any]]]:
    if recorded.suffix == ".json":
        pair = [_values(read_json(path)) for path in (recorded, fresh)]
        keys = sorted(set(pair[0]) | set(pair[1]))
        bad = [key for key in keys if key not in pair[0] or key not in pair[1] or pair[0][key] != pair[1][key]]
        return len(keys), [(f"{name}:{key}", pair[0].get(key), pair[1].get(key)) for key in bad]
    if recorded.suffix == ".parquet":
        return _compare_tables(recorded, fresh, name)
    return 1, [] if recorded.read_bytes() == fresh.read_bytes() else [(name, "other bytes", "other bytes")]


def _values(content: Any) -> dict[str, Any]:
    """What must come out the same, by path.

    The key of a pool names the code that made it, whose change is told with the environment: of the keys only which rows share
    one is compared.
    """
    values = {key: value for key, value in flat(content) if not is_timing(key)}
    first: dict[Any, str] = {}
    for path in [path for path in values if path.startswith("pool_keys[")]:
        values[path] = first.setdefault(values[path], f"pool {len(first)}")
    return values


def _compare_tables(recorded: Path, fresh: Path, name: str) -> tuple[int, list[tuple[str, Any, Any]]]:
    import pandas as pd

    try:
        old, new = pd.read_parquet(recorded), pd.read_parquet(fresh)
    except (OSError, ValueError) as error:
        raise RunError(f"{recorded} cannot be read: {error}") from None
    if list(old.columns) != list(new.columns) or len(old) != len(new):
        return 1, [(name, f"{len(old)} rows of {list(old.columns)}", f"{len(new)} rows of {list(new.columns)}")]
    found: list[tuple[str, Any, Any]] = []
    for column in old.columns:
        if is_timing(str(column)):
            continue
        rows = _unequal(old[column], new[column])
        if rows:
            found.append(
                (f"{name}:{column}[{rows[0]}] (and {len(rows) - 1} more rows)", old[column][rows[0]], new[column][rows[0]])
            )
    return int(old.size), found


def _unequal(a: Any, b: Any) -> list[int]:
    """Positions where two columns differ; undefined equals undefined."""
    if a.dtype.kind in "fiub" and b.dtype.kind in "fiub":
        left, right = a.to_numpy(), b.to_numpy()
        return np.flatnonzero((left != right) & ~((left != left) & (right != right))).tolist()
    return [at for at, (one, two) in enumerate(zip(a.astype(object), b.astype(object), strict=True)) if not _equal(one, two)]


def _equal(a: Any, b: Any) -> bool:
    if isinstance(a, np.ndarray) or isinstance(b, np.ndarray):
        return np.array_equal(np.asarray(a), np.asarray(b))
    if isinstance(a, float) and isinstance(b, float) and math.isnan(a) and math.isnan(b):
        return True
    return bool(a == b) or (a is None and b is None)
