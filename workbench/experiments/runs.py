"""Run folders as things to list, show, compare and run again."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, cast

from workbench.config import AssemblyConfig
from workbench.embedding.cache import EmbeddingCache
from workbench.embedding.encoder import Encoder, recorded_encoder
from workbench.errors import RunError
from workbench.experiments.manifest import MANIFEST, Source, read_manifest
from workbench.experiments.space import Space

_TIMING_KEYS = frozenset({"latency_ms", "latency", "timings_ms", "wall_seconds", "load_average", "p95", "earlier_uses"})
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
        pair = [dict(flat(read_json(Path(folder) / name))) for folder in (a, b)]
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


def read_json(path: Path) -> Any:
    """The content of a JSON file of a run, ``{}`` when it is not there. Raises RunError."""
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
        from workbench.experiments.metrics import DEFAULT
        from workbench.experiments.run import LATENCY_SAMPLE
        from workbench.experiments.run import run as run_comparison

        order = read_json(Path(run) / "metrics.json")["comparison_arms"]
        arms = [(order[key], AssemblyConfig.from_record(manifest["arms"][order[key]]["config"])) for key in ("a", "b")]
        run_comparison(
            dataset, arms[0], arms[1], out=out, seed=seed, encoder=encoder, cache=cache, progress=False,
            latency_sample=settings.get("latency_sample", LATENCY_SAMPLE) if timed else 0,
            metrics=settings.get("metrics", DEFAULT), source=source,
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


def _rerun_conflicts(manifest: Mapping[str, Any], pairs: Path, out: str | Path) -> None:
    from workbench.experiments.conflict_run import conflict_run, pair_set

    if pair_set(pairs).checksum != manifest["dataset"]["checksum"]:
        raise RunError(f"{pairs} is not the file of pairs that the run used; give that one with --data")
    conflict_run(pairs, recorded_encoder(manifest["encoder"]) if manifest["encoder"] else None, out=out)
