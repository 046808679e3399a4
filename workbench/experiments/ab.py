"""A/B comparison of configurations on judged queries: statistics, flipped queries, losses and latency of every arm."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.config import AssemblyConfig
from workbench.data.judged import JudgedDataset
from workbench.embedding.cache import EmbeddingCache
from workbench.embedding.encoder import Encoder
from workbench.errors import ConfigError
from workbench.experiments.arms import ArmResult, dataset_config, embed_queries, measure_latency, require_queries, run_arms
from workbench.experiments.comparison import Comparison, compare_arms
from workbench.experiments.flips import Flips, flips
from workbench.experiments.losses import LossReport, losses
from workbench.experiments.manifest import Clock, Source, write_manifest
from workbench.experiments.metrics import DEFAULT, evaluate, parse_metric
from workbench.experiments.record import run_folder, write_json
from workbench.experiments.run import LATENCY_SAMPLE, measure, per_query_table
from workbench.experiments.splits import note_test_use
from workbench.tabular import Tabular

if TYPE_CHECKING:
    from workbench.reports.cells import Table

PRIMARY = "ContextRecall"
Arms = Sequence[tuple[str, AssemblyConfig]]
Step = Callable[[str, int], None]


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class ABResult(Tabular):
    """Arms against the first of them. flips, losses: by arm name. content: what metrics.json holds."""

    comparison: Comparison
    arms: tuple[ArmResult, ...]
    flips: Mapping[str, Flips]
    losses: Mapping[str, LossReport]
    content: Mapping[str, Any]
    values: Mapping[str, Mapping[str, Any]]

    def tables(self) -> tuple[Table, ...]:
        """The result as tables; see ``Tabular``."""
        from workbench.reports.tables_of import ab

        return ab(self)

    def __str__(self) -> str:
        parts = [str(self.comparison), *(item.caption for item in self.flips.values())]
        for name, arm in self.content["arms"].items():
            total = arm["latency_ms"]["total"]
            if total["n"]:
                parts.append(
                    f"{name}: p50 {total['p50']:.1f} ms, p95 {total['p95']:.1f} ms of {total['n']} timed; {total['verdict']}"
                )
        return "\n".join(parts)


def compare(
    dataset: JudgedDataset,
    arms: Arms,
    encoder: Encoder,
    *,
    cache: EmbeddingCache | None = None,
    metrics: Iterable[str] = DEFAULT,
    primary: str = PRIMARY,
    seed: int = 0,
    latency_sample: int = LATENCY_SAMPLE,
    step: Step | None = None,
) -> ABResult:
    """Every arm on the same queries; the first is the baseline and differences are arm minus baseline.

    Latency arms are interleaved query by query; ``latency_sample`` 0 times nothing. step: told ("assemble", 1) and ("time", 1).
    Raises ConfigError with fewer than two arms or equal names, DataError without a query.
    """
    names = [name for name, _ in arms]
    if len(names) < 2 or len(set(names)) < len(names):
        raise ConfigError(f"arms are {names}: give at least two, differently named")
    require_queries(dataset)
    cache = cache or EmbeddingCache()
    measured = [parse_metric(name).name for name in metrics]
    configs = {name: dataset_config(dataset, config) for name, config in arms}
    vectors = embed_queries(encoder, dataset.queries, cache)
    results, assemblers = run_arms(dataset, configs, encoder, vectors, cache=cache, step=step)
    some = next(iter(assemblers.values()))
    effective = {name: some.settings(config=config) for name, config in configs.items()}
    samples = measure_latency(
        dataset, configs, assemblers, sample=latency_sample, step=lambda n: step("time", n) if step else None
    )
    content: dict[str, Any] = {}
    for other in results[1:]:
        part, _, _ = measure(dataset, [results[0], other], effective, samples, measured, seed, primary=primary)
        known = content.get("arms", {})
        content = {**part, "arms": {**known, **part["arms"]}}
    values = {arm.name: evaluate(arm.outcomes, measured) for arm in results}
    users = [query.user_id for query in dataset.queries]
    named = primary if primary in measured else None
    comparison = compare_arms(values, users, baseline=names[0], seed=seed, primary=named)
    if len(results) > 2:
        # over several arms the family is larger, so pairwise tables would promise too much
        for key in ("comparison", "comparison_arms", "comparison_family"):
            content.pop(key)
    content["comparison_table"] = comparison.to_dict()
    content["primary"] = primary
    return ABResult(
        comparison=comparison,
        arms=tuple(results),
        flips={arm.name: flips(dataset, results[0], arm, metric=primary) for arm in results[1:]},
        losses={
            arm.name: losses(dataset, arm.fates, [outcome.selected for outcome in arm.outcomes], arm=arm.name) for arm in results
        },
        content=content,
        values=values,
    )


def ab_run(
    source: Source,
    arms: Arms,
    encoder: Encoder,
    *,
    out: str | Path,
    cache: EmbeddingCache | None = None,
    metrics: Iterable[str] = DEFAULT,
    primary: str = PRIMARY,
    seed: int = 0,
    latency_sample: int = LATENCY_SAMPLE,
    step: Step | None = None,
    dataset: JudgedDataset | None = None,
) -> ABResult:
    """``compare``, written as a run folder: manifest, metrics.json, comparison.json, per_query, flips and lost entries as
    parquet, and for two arms report.html. The folder appears only when it is complete."""
    clock = Clock()
    dataset = dataset if dataset is not None else source.load()
    names = [parse_metric(name).name for name in metrics]
    with run_folder(Path(out)) as folder:
        result = compare(
            dataset,
            arms,
            encoder,
            cache=cache,
            metrics=names,
            primary=primary,
            seed=seed,
            latency_sample=latency_sample,
            step=step,
        )
        write_json(folder / "metrics.json", result.content)
        result.comparison.save(folder / "comparison.json")
        per_query_table(dataset, list(result.arms), result.values).to_parquet(folder / "per_query.parquet", index=False)
        _table([{"arm": name, **row} for name, item in result.flips.items() for row in item.rows], folder / "flips.parquet")
        for name, report in result.losses.items():
            report.save(folder / f"losses-{list(result.losses).index(name)}.json")
        (folder / "summary.txt").write_text(str(result) + "\n", encoding="utf-8")
        recorded = result.content["arms"]
        split = None
        if source.part is not None:
            split = {"part": source.part, "seed": source.split_seed, "key": None, "earlier_uses": 0}
            whole = source.split(source.load_all())
            split["key"] = whole.key
            if source.part == "test":
                hashes = sorted(recorded[name]["config_hash"] for name, _ in arms)
                split["earlier_uses"] = note_test_use(whole, {"arms": hashes})
        settings = {
            "arms": [{"name": name, "config": config.to_record()} for name, config in arms],
            "metrics": names,
            "primary": primary,
            "latency_sample": latency_sample,
        }
        more = {
            "arms": {name: {"config": recorded[name]["config"], "hash": recorded[name]["config_hash"]} for name, _ in arms},
            "split": split,
        }
        if len(arms) == 2:
            from workbench.reports.html import write_report

            # the report reads a manifest, which in turn names the report's checksum: first without files, then as it is
            draft = write_manifest(folder, "ab", dataset, source, encoder.name, clock, seed=seed, settings=settings, **more)
            write_report(folder, result.content, draft)
        write_manifest(folder, "ab", dataset, source, encoder.name, clock, seed=seed, settings=settings, **more)
    return result


def _table(rows: list[dict[str, Any]], path: Path) -> None:
    import pandas as pd

    columns = [
        "arm", "query_id", "user_id", "group", "metric", "value_a", "value_b", "outcome", "entry_id", "stage_a", "stage_b",
    ]  # fmt: skip
    frame = pd.DataFrame(rows, columns=columns)
    for name in ("value_a", "value_b"):
        frame[name] = frame[name].astype("float64")
    frame.to_parquet(path, index=False)
