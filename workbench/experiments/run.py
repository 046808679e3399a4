"""The main job: two configurations on the judged queries of one dataset, measured, compared and written to a run folder."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from workbench.assembly.fates import Fate
from workbench.assembly.prompt import SECTIONS
from workbench.assembly.stages import PARTS
from workbench.config import SIGNALS, AssemblyConfig
from workbench.data.judged import JudgedDataset
from workbench.embedding.cache import EmbeddingCache
from workbench.embedding.encoder import Encoder, load_encoder
from workbench.errors import ConfigError
from workbench.experiments.arms import ArmResult, dataset_config, embed_queries, measure_latency, require_queries, run_arms
from workbench.experiments.comparison import compare_values
from workbench.experiments.comparison_table import Comparison
from workbench.experiments.manifest import Clock, Source, write_manifest
from workbench.experiments.metrics import DEFAULT, evaluate, parse_metric
from workbench.experiments.percentile import describe
from workbench.experiments.record import SCHEMA_VERSION, run_folder, write_json
from workbench.experiments.summary import summarise, summarise_groups
from workbench.tabular import Tabular

if TYPE_CHECKING:
    from workbench.reports.cells import Table

PRIMARY = "ContextRecall"
LATENCY_LIMIT_MS = 100.0
LATENCY_SAMPLE = 200
# A timing says something about a percentile of 95 only with some samples above it.
_ENOUGH_FOR_P95 = 20


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class RunResult(Tabular):
    """A finished run: its folder, the content of metrics.json, and the comparison."""

    folder: Path
    metrics: Mapping[str, Any]
    comparison: Comparison

    def tables(self) -> tuple[Table, ...]:
        """The result as tables; see ``Tabular``."""
        return self.comparison.tables()

    def __str__(self) -> str:
        return f"{self.comparison}\nreport: {self.folder / 'report.html'}"


def run(
    dataset: JudgedDataset,
    a: tuple[str, AssemblyConfig],
    b: tuple[str, AssemblyConfig],
    *,
    out: str | Path,
    seed: int = 0,
    encoder: Encoder | None = None,
    cache: EmbeddingCache | None = None,
    latency_sample: int = LATENCY_SAMPLE,
    metrics: Iterable[str] = DEFAULT,
    source: Source | None = None,
    progress: bool = True,
) -> RunResult:
    """Assemble every query of ``dataset`` under ``a`` and ``b`` (name, configuration) and write the run folder ``out``.

    Differences are b minus a. Everything but timings depends on the inputs and ``seed`` alone. The folder appears only
    when the run is complete; what was embedded stays cached, so an interrupted run goes on where it was. source: where
    ``dataset`` came from, so that the run can be repeated from its record (None: the dataset of its name). Raises ConfigError
    when the arms have one name, DataError without a query, RunError when ``out`` cannot be written.
    """
    if a[0] == b[0]:
        raise ConfigError(f"both arms are named {a[0]!r}; give two different configurations")
    require_queries(dataset)
    clock = Clock()
    configs = {name: dataset_config(dataset, config) for name, config in (a, b)}
    names = [parse_metric(name).name for name in metrics]
    with run_folder(Path(out)) as folder:
        with _bar(progress, "loading the encoder", None):
            encoder = encoder or load_encoder()
        cache = cache or EmbeddingCache()
        with _bar(progress, "embedding queries", len(dataset.queries)) as step:
            vectors = embed_queries(encoder, dataset.queries, cache, step)
        with _bar(progress, "compiling stores, assembling", len(dataset.stores) + len(dataset.queries)) as step:
            arms, assemblers = run_arms(dataset, configs, encoder, vectors, cache=cache, step=lambda _, n: step(n))
        effective = {name: next(iter(assemblers.values())).settings(config=configs[name]) for name in configs}
        timed = min(latency_sample, len(dataset.queries)) + min(5, latency_sample, len(dataset.queries))
        with _bar(progress, "timing", timed) as step:
            samples = measure_latency(dataset, configs, assemblers, sample=latency_sample, step=step)
        content, comparison, values = measure(dataset, arms, effective, samples, names, seed)
        write_json(folder / "metrics.json", content)
        per_query_table(dataset, arms, values).to_parquet(folder / "per_query.parquet", index=False)
        from workbench.reports.html import write_report

        recorded = {name: {"config": effective[name].to_record(), "hash": effective[name].hash} for name in configs}
        settings = {"arms": [a[0], b[0]], "metrics": names, "latency_sample": latency_sample}
        known = source if source is not None else Source(name=dataset.name)

        def manifest() -> dict[str, Any]:
            return write_manifest(
                folder, "run", dataset, known, encoder.name, clock, seed=seed, settings=settings, arms=recorded
            )  # fmt: skip

        # the report reads a manifest, which in turn names the report's checksum: first without it, then as it is
        write_report(folder, content, manifest())
        manifest()
    return RunResult(folder=Path(out), metrics=content, comparison=comparison)


def measure(
    dataset: JudgedDataset,
    arms: list[ArmResult],
    configs: Mapping[str, AssemblyConfig],
    samples: Mapping[str, Mapping[str, list[float]]],
    names: list[str],
    seed: int,
    primary: str = PRIMARY,
) -> tuple[dict[str, Any], Comparison, dict[str, dict[str, np.ndarray]]]:
    """The content of metrics.json, the comparison, and the per-query values: arm -> metric -> (n,)."""
    clusters = [query.user_id for query in dataset.queries]
    groups = [query.group for query in dataset.queries]
    values = {arm.name: evaluate(arm.outcomes, names) for arm in arms}
    content: dict[str, Any] = {
        "schema_version": SCHEMA_VERSION,
        "dataset": dataset.name,
        "dataset_licence": dataset.licence,
        "dataset_checksum": dataset.checksum,
        "dataset_notes": dict(dataset.notes),
        "dataset_config": dict(dataset.config),
        "dataset_config_note": dataset.config_note,
        "group_name": dataset.group_name,
        "rollups": {title: list(members) for title, members in dataset.rollups.items()},
        "n_users": len(dataset.stores),
        "n_entries": sum(len(store) for store in dataset.stores.values()),
        "n_queries": len(dataset.queries),
        "n_judged": sum(query.judged for query in dataset.queries),
        "n_answerable": sum(query.judged and query.answerable for query in dataset.queries),
        "metric_definitions": {name: parse_metric(name).definition for name in names},
        "arms": {},
        "latency_limit_ms": LATENCY_LIMIT_MS,
        "seed": seed,
    }
    for arm in arms:
        overall = summarise(values[arm.name], clusters, seed=seed)
        by_group = summarise_groups(values[arm.name], clusters, groups, seed=seed)
        for title, members in dataset.rollups.items():
            inside = np.isin(groups, members)
            by_group[title] = summarise(
                {name: column[inside] for name, column in values[arm.name].items()},
                np.asarray(clusters)[inside],
                seed=seed,
            )
        losses = {fate.label: 0 for fate in Fate}
        for fates in arm.fates:
            for fate in fates.values():
                losses[fate.label] += 1
        content["arms"][arm.name] = {
            "config": configs[arm.name].to_dict(),
            "config_hash": configs[arm.name].hash,
            "metrics": {name: item.to_dict() for name, item in overall.items()},
            "groups": {group: {name: item.to_dict() for name, item in part.items()} for group, part in by_group.items()},
            "section_tokens": dict(zip(SECTIONS, arm.section_tokens.mean(axis=0).tolist(), strict=True)),
            "effective_weights": dict(zip(SIGNALS, arm.effective.mean(axis=0).tolist(), strict=True)),
            "relevant_entries": losses,
            "conflicts_per_query": float(arm.conflicts.mean()),
            "budget_breaks": arm.budget_breaks,
            "latency_ms": _latency(samples[arm.name], seed),
        }
    first, second = arms
    comparison = compare_values(
        values[first.name],
        values[second.name],
        clusters,
        names=(first.name, second.name),
        seed=seed,
        primary=primary if primary in names else None,
    )
    content["comparison"] = {row.metric: row.to_dict() for row in comparison}
    content["comparison_arms"] = {"a": first.name, "b": second.name, "difference": "b minus a"}
    content["comparison_family"] = comparison.family
    return content, comparison, values


def _latency(samples: Mapping[str, list[float]], seed: int) -> dict[str, Any]:
    out: dict[str, Any] = {}
    for stage in (*PARTS, "total"):
        out[stage] = describe(samples[stage], seed=seed)
    total = samples["total"]
    over = int(sum(value > LATENCY_LIMIT_MS for value in total))
    p95 = float(np.percentile(total, 95)) if total else None
    if p95 is None or len(total) < _ENOUGH_FOR_P95:
        verdict = f"not enough data: {len(total)} timings"
    elif p95 <= LATENCY_LIMIT_MS:
        verdict = "within the limit"
    else:
        verdict = "over the limit"
    out["total"] = {**out["total"], "over_limit": over, "verdict": verdict}
    return out


def per_query_table(dataset: JudgedDataset, arms: list[ArmResult], values: Mapping[str, Mapping[str, np.ndarray]]) -> Any:
    """One row per arm and query, ids and numbers only, no text: metrics, tokens, fates of the relevant entries."""
    import pandas as pd

    parts = []
    for arm in arms:
        frame = pd.DataFrame(
            {
                "arm": arm.name,
                "query_id": [query.id for query in dataset.queries],
                "user_id": [query.user_id for query in dataset.queries],
                "group": [query.group for query in dataset.queries],
                "lang": [query.lang for query in dataset.queries],
                "judged": [query.judged for query in dataset.queries],
                "answerable": [query.answerable for query in dataset.queries],
                "n_relevant": [len(query.relevant) for query in dataset.queries],
                **values[arm.name],
                **{f"tokens_{section}": arm.section_tokens[:, at] for at, section in enumerate(SECTIONS)},
                **{f"effective_{name}": arm.effective[:, at] for at, name in enumerate(SIGNALS)},
                "conflicts": arm.conflicts,
                "selected": [list(outcome.selected) for outcome in arm.outcomes],
                "relevant": [list(fates) for fates in arm.fates],
                "relevant_fate": [[fate.label for fate in fates.values()] for fates in arm.fates],
            }
        )
        parts.append(frame)
    return pd.concat(parts, ignore_index=True)


@contextmanager
def _bar(show: bool, title: str, total: int | None) -> Any:
    """A progress bar with an estimate on standard error; yields ``step(n)``."""
    from tqdm.auto import tqdm

    def silent(_: int) -> None:
        return None

    if not show:
        yield silent
        return
    with tqdm(total=total, desc=title, unit="", dynamic_ncols=True, leave=True) as bar:

        def step(n: int) -> None:
            bar.update(n)

        advance: Callable[[int], None] = step
        yield advance
