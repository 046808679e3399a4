"""Run folders as things to list, show, compare, run again and verify."""

from __future__ import annotations

import json
import math
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import numpy as np

from workbench.config import AssemblyConfig
from workbench.embedding.cache import EmbeddingCache
from workbench.embedding.encoder import Encoder, recorded_encoder
from workbench.errors import RunError
from workbench.experiments.manifest import MANIFEST, Source, file_checksums, read_manifest
from workbench.experiments.space import Space

_TIMING_KEYS = frozenset({"latency_ms", "latency", "timings_ms", "wall_seconds", "load_average", "p95", "earlier_uses"})
# these files tell the same as the data, with timings mixed in
_NOT_COMPARED = (".html", ".png", ".svg", ".txt", ".md")
_MACHINE = ("system", "architecture", "cpu", "logical_cores", "memory_gib")


def list_runs(folder: str | Path) -> list[dict[str, Any]]:
    """One row per run folder under ``folder``, oldest first: run, kind, dataset, queries, started, seconds, commit, status."""
    home = Path(folder)
    if not home.is_dir():
        raise RunError(f"{home} is no folder; give the one that holds the runs, such as results")
    rows: list[dict[str, Any]] = []
    for path in sorted(home.rglob(MANIFEST)):
        if any(part.startswith(".") for part in path.relative_to(home).parts):
            continue
        name = path.parent.relative_to(home).as_posix()
        try:
            manifest = read_manifest(path.parent)
        except RunError as error:
            rows.append({"run": name, "kind": "?", "status": str(error), "started": ""})
            continue
        git = manifest["environment"].get("git", {})
        rows.append(
            {
                "run": name,
                "kind": manifest["kind"],
                "status": manifest["status"],
                "dataset": manifest["dataset"]["name"],
                "started": manifest.get("started", ""),
                "seconds": manifest.get("wall_seconds"),
                "commit": (git.get("commit") or "none")[:8] + ("+" if git.get("dirty") else ""),
            }
        )
    return sorted(rows, key=lambda row: (row["started"], row["run"]))


def flat(value: Any, prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Leaves of nested JSON as (dotted path, value)."""
    if isinstance(value, Mapping):
        for key in sorted(value):
            yield from flat(value[key], f"{prefix}.{key}" if prefix else str(key))
    elif isinstance(value, list):
        for at, part in enumerate(value):
            yield from flat(part, f"{prefix}[{at}]")
    else:
        yield prefix, value


def diff_runs(a: str | Path, b: str | Path, *, latency: bool = False, force: bool = False) -> list[dict[str, Any]]:
    """Where two runs differ: settings, data, versions and metrics as (path, a, b); timings only with ``latency``.

    Raises RunError when latency is asked for and the machines differ, unless forced: such numbers say more about the machines.
    """
    left, right = read_manifest(a), read_manifest(b)
    if latency:
        other = [name for name in _MACHINE if _machine(left).get(name) != _machine(right).get(name)]
        if other and not force:
            what = ", ".join(f"{name}: {_machine(left).get(name)} / {_machine(right).get(name)}" for name in other)
            raise RunError(f"the runs were timed on different machines ({what}); time both on one, or force the comparison")
    rows = []
    for name in (MANIFEST, "metrics.json"):
        pair = [dict(flat(_json(Path(folder) / name))) for folder in (a, b)]
        for key in sorted(set(pair[0]) | set(pair[1])):
            one, two = pair[0].get(key), pair[1].get(key)
            timing = is_timing(key)
            if one == two or (timing and not latency) or key.startswith(("files.", "command", "started")):
                continue
            rows.append({"where": f"{name}:{key}", "a": one, "b": two})
    return rows


def is_timing(path: str) -> bool:
    """True for a path of ``flat`` that holds a measured time."""
    return any(part.partition("[")[0] in _TIMING_KEYS for part in path.split("."))


def _machine(manifest: Mapping[str, Any]) -> Mapping[str, Any]:
    machine: Mapping[str, Any] = manifest["environment"].get("machine", {})
    return machine


def _json(path: Path) -> Any:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise RunError(f"{path} cannot be read: {error}") from None


def rerun(
    run: str | Path,
    out: str | Path,
    *,
    data: Path | None = None,
    encoder: Encoder | None = None,
    cache: EmbeddingCache | None = None,
    timed: bool = True,
) -> None:
    """Run again what ``run`` records, into ``out``. data: local copy of a public dataset's file. timed: measure latency again.

    Raises RunError when the data or the encoder are not those of the run.
    """
    manifest = read_manifest(run)
    source = Source.of(manifest, data)
    if manifest["kind"] == "conflicts":
        _rerun_conflicts(manifest, data or Path(source.name), out)
        return
    encoder = encoder if encoder is not None else recorded_encoder(manifest["encoder"])
    if encoder.name != manifest["encoder"]:
        raise RunError(f"the run used the encoder {manifest['encoder']}, this one is {encoder.name}")
    dataset = source.load()
    if dataset.checksum != manifest["dataset"]["checksum"]:
        raise RunError(
            f"the dataset {dataset.name} has checksum {dataset.checksum[:12]}, the run used "
            f"{manifest['dataset']['checksum'][:12]}; "
            "use the data of the run"
        )
    seed, kind, settings = manifest["seed"], manifest["kind"], manifest.get("settings", {})
    if kind == "run":
        from workbench.experiments.run import LATENCY_SAMPLE
        from workbench.experiments.run import run as run_comparison

        order = _json(Path(run) / "metrics.json")["comparison_arms"]
        arms = [(order[key], AssemblyConfig.from_record(manifest["arms"][order[key]]["config"])) for key in ("a", "b")]
        run_comparison(
            dataset, arms[0], arms[1], out=out, seed=seed, encoder=encoder, cache=cache, progress=False,
            latency_sample=LATENCY_SAMPLE if timed else 0,
        )  # fmt: skip
    elif kind == "ab":
        from workbench.experiments.ab import ab_run

        configs = [(arm["name"], AssemblyConfig.from_record(arm["config"])) for arm in settings["arms"]]
        ab_run(
            source, configs, encoder, out=out, cache=cache, metrics=settings["metrics"], primary=settings["primary"], seed=seed,
            latency_sample=settings["latency_sample"] if timed else 0,
        )  # fmt: skip
    elif kind in ("sweep", "tune"):
        from workbench.experiments.sweep_run import space_from_dict, sweep_run, tuning_run

        space = space_from_dict(settings["space"])
        shared: dict[str, Any] = {
            "out": out, "goal": settings["goal"], "metrics": settings["metrics"], "seed": seed, "cache": cache,
        }  # fmt: skip
        if kind == "sweep":
            # measured latencies are an input of the choice: they are taken over, never measured anew
            sweep_run(source, space, encoder, total=settings["total"], latency=settings["latency"] or 0, **shared)
        else:
            tuning_run(source, cast(Space, space), encoder, by=settings["by"], **shared)
    elif kind == "latency":
        from workbench.experiments.latency.run import latency_run, plan_from_dict

        latency_run(
            source, {arm["name"]: AssemblyConfig.from_record(arm["config"]) for arm in settings["configs"]}, encoder, out=out,
            sizes=settings["sizes"], plan=plan_from_dict(settings["plan"]), cache=cache, cold=settings["cold"],
            cold_encoder=settings["cold_encoder"], limit_ms=settings["limit_ms"], seed=seed, dataset=dataset, timed=timed,
        )  # fmt: skip
    else:
        raise RunError(f"{run} is of kind {kind!r}, which cannot be run again; kinds are run, ab, sweep, tune and latency")


@dataclass(frozen=True, kw_only=True)
class Verification:
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

    def __str__(self) -> str:
        lines = [f"{self.run}: {'verified' if self.ok else 'NOT verified'}, {self.compared} values compared (timings left out)"]
        lines += [f"changed since it was written: {name}" for name in self.changed]
        lines += [f"differs: {where}: recorded {old!r}, recomputed {new!r}" for where, old, new in self.different[:20]]
        if len(self.different) > 20:
            lines.append(f"and {len(self.different) - 20} more differences")
        return "\n".join([*lines, *(f"other environment: {text}" for text in self.environment)])


def _rerun_conflicts(manifest: Mapping[str, Any], pairs: Path, out: str | Path) -> None:
    from workbench.experiments.conflict_run import conflict_run, pair_set

    if pair_set(pairs).checksum != manifest["dataset"]["checksum"]:
        raise RunError(f"{pairs} is not the file of pairs that the run used; give that one with --data")
    conflict_run(pairs, recorded_encoder(manifest["encoder"]) if manifest["encoder"] else None, out=out)


def verify(
    run: str | Path, *, data: Path | None = None, encoder: Encoder | None = None, cache: EmbeddingCache | None = None
) -> Verification:
    """Check the files of a run against its manifest, compute it again elsewhere, and compare everything but timings, exactly."""
    folder, manifest = Path(run), read_manifest(run)
    if manifest["status"] != "complete":
        raise RunError(f"{folder} has status {manifest['status']!r}; only a complete run can be verified")
    recorded = manifest.get("files")
    present = file_checksums(folder)
    changed = [name for name, sha in (recorded or {}).items() if present.get(name) != sha]
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
        pair = [{key: value for key, value in flat(_json(path)) if not is_timing(key)} for path in (recorded, fresh)]
        keys = sorted(set(pair[0]) | set(pair[1]))
        bad = [key for key in keys if key not in pair[0] or key not in pair[1] or pair[0][key] != pair[1][key]]
        return len(keys), [(f"{name}:{key}", pair[0].get(key), pair[1].get(key)) for key in bad]
    if recorded.suffix == ".parquet":
        return _compare_tables(recorded, fresh, name)
    return 1, [] if recorded.read_bytes() == fresh.read_bytes() else [(name, "other bytes", "other bytes")]


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
