"""The run folder that ``workbench latency`` writes, and its comparison with an earlier one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from workbench.config import AssemblyConfig
from workbench.data.judged import JudgedDataset
from workbench.embedding.cache import EmbeddingCache
from workbench.embedding.encoder import Encoder, load_encoder
from workbench.experiments.latency.measure import Plan, Step
from workbench.experiments.latency.pairs import same_machine, shift
from workbench.experiments.latency.profile import LatencyProfile
from workbench.experiments.latency.profiler import SIZES, profile_latency
from workbench.experiments.latency.units import Units
from workbench.experiments.latency.verdict import LIMIT_MS
from workbench.experiments.manifest import Clock, Source, read_manifest, write_manifest
from workbench.experiments.record import environment, run_folder


def compare_with(old: LatencyProfile, new: LatencyProfile, *, seed: int = 0) -> list[dict[str, Any]]:
    """Every cell that both profiles have, new over old (see ``shift``): median and 95th percentile of the elapsed time, and the
    median of the thread's processor time, which tells a busy machine from slower code."""
    rows = []
    for (size, config), columns in new.samples.items():
        if (size, config) in old.samples:
            for of, q in (("total", 50.0), ("total", 95.0), ("cpu", 50.0)):
                found = shift(old.samples[size, config][of], columns[of], q=q, seed=seed)
                words = "processor time" if of == "cpu" else "elapsed"
                rows.append({"size": size, "config": config, "of": of, **found.to_dict(), "text": f"{words} {found}"})
    return rows


def latency_run(
    source: Source,
    configs: Mapping[str, AssemblyConfig],
    encoder: Encoder | None = None,
    *,
    out: str | Path,
    sizes: Sequence[int] = SIZES,
    plan: Plan | None = None,
    cache: EmbeddingCache | None = None,
    cold: int = 3,
    cold_encoder: str = "bundled",
    limit_ms: float = LIMIT_MS,
    seed: int = 0,
    against: str | Path | None = None,
    dataset: JudgedDataset | None = None,
    timed: bool = True,
    step: Step | None = None,
) -> LatencyProfile:
    """``profile_latency`` into the run folder ``out``: manifest, metrics, samples, figures, page, summary.

    Interrupted, it leaves its finished parts beside ``out`` and goes on from them when called again. against: an earlier run to
    compare with; RunError when that one was timed on another machine, before anything is measured.
    """
    plan, clock = plan or Plan(), Clock()
    dataset, encoder = dataset or source.load(), encoder or load_encoder()
    earlier = None
    if against is not None:
        earlier = LatencyProfile.load(against)
        same_machine(read_manifest(against)["environment"], environment())
    keep = Path(out).with_name(Path(out).name + ".partial") if timed else None
    with run_folder(Path(out)) as folder:
        profile = profile_latency(
            dataset,
            configs,
            sizes=sizes,
            plan=plan,
            encoder=encoder,
            cache=cache,
            source=source,
            cold=cold if timed else 0,
            cold_encoder=cold_encoder,
            limit_ms=limit_ms,
            seed=seed,
            timed=timed,
            keep=keep,
            step=step,
        )
        if earlier is not None:
            rows = compare_with(earlier, profile, seed=seed)
            latency = {**profile.content["latency"], "against": rows, "against_notes": _other(earlier, profile)}
            profile = LatencyProfile(content={**profile.content, "latency": latency}, samples=profile.samples)
        profile.save(folder)
        if timed:
            from workbench.reports.latency_page import write_latency_report

            write_latency_report(folder, profile)
            (folder / "summary.txt").write_text(f"{profile}\n", encoding="utf-8")
        write_manifest(
            folder,
            "latency",
            dataset,
            source,
            encoder.name,
            clock,
            seed=seed,
            settings={
                "configs": [{"name": name, "config": config.to_record()} for name, config in configs.items()],
                "sizes": list(sizes),
                "plan": {**vars(plan), "concurrency": list(plan.concurrency)},
                "cold": cold,
                "cold_encoder": cold_encoder,
                "limit_ms": limit_ms,
            },
            arms={name: {"config": config.to_dict(), "hash": config.hash} for name, config in configs.items()},
        )
    if keep is not None:
        Units(keep, {}).discard()
    return profile


def plan_from_dict(row: Mapping[str, Any]) -> Plan:
    """The plan of a recorded run."""
    return Plan(**{**row, "concurrency": tuple(row["concurrency"])})


def _other(old: LatencyProfile, new: LatencyProfile) -> list[str]:
    notes = []
    loads = [[cell["latency"]["load"]["before"][0] for cell in profile.cells] for profile in (old, new)]
    if all(loads):
        notes.append(
            f"load average while timing: {min(loads[0]):.1f} to {max(loads[0]):.1f} in the earlier run, {min(loads[1]):.1f} to "
            f"{max(loads[1]):.1f} in this one; under unlike loads only processor time compares the code"
        )
    if old.content["encoder"] != new.content["encoder"]:
        notes.append(f"the encoder was {old.content['encoder']}, now {new.content['encoder']}")
    for name, arm in new.content["configs"].items():
        before = old.content["configs"].get(name)
        if before is not None and before["hash"] != arm["hash"]:
            notes.append(f"the settings of {name} were others ({before['hash']}, now {arm['hash']})")
    if not set(old.samples) & set(new.samples):
        notes.append("the runs have no size and configuration in common: no data")
    return notes
