"""The result of a latency profile: what was timed, on what, and how long it took."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.assembly.stages import PARTS
from workbench.errors import RunError
from workbench.experiments.latency.order import cold_items, growth_items, stage_items
from workbench.experiments.latency.verdict import probability_text
from workbench.experiments.manifest import MANIFEST, read_manifest
from workbench.experiments.percentile import NO_DATA
from workbench.experiments.record import write_json
from workbench.tabular import Tabular

if TYPE_CHECKING:
    import pandas as pd

    from workbench.reports.cells import Table

QS = (50.0, 90.0, 95.0, 99.0)
METRICS, SAMPLES = "metrics.json", "samples.parquet"

CellKey = tuple[int, str]


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class LatencyProfile(Tabular):
    """content: as in metrics.json. samples: (size, configuration) -> stage -> ms per query, in the order asked; also ``total``,
    ``residual`` and ``cpu``."""

    content: Mapping[str, Any]
    samples: Mapping[CellKey, Mapping[str, Sequence[float]]] = field(repr=False)

    @property
    def cells(self) -> list[Mapping[str, Any]]:
        """One mapping per size and configuration, sizes ascending."""
        return list(self.content["cells"])

    def cell(self, size: int, config: str) -> Mapping[str, Any]:
        """The cell of one size and configuration. Raises RunError naming those that exist."""
        for cell in self.cells:
            if (cell["size"], cell["config"]) == (size, config):
                return cell
        known = ", ".join(f"{cell['size']} {cell['config']}" for cell in self.cells)
        raise RunError(f"the profile has no cell of size {size} and configuration {config!r}; it has {known}")

    def to_dataframe(self) -> pd.DataFrame:
        """One row per size, configuration and stage (residual, total, without embed, cpu too): n, percentiles, intervals, max."""
        import pandas as pd

        rows = []
        for cell in self.cells:
            for stage, item in stage_items(cell):
                row: dict[str, Any] = {"size": cell["size"], "config": cell["config"], "stage": stage, "n": item["n"]}
                for q in QS:
                    low, high = item[f"p{q:g}_ci95"] or (None, None)
                    row |= {f"p{q:g}": item[f"p{q:g}"], f"p{q:g}_low": low, f"p{q:g}_high": high}
                rows.append({**row, "max": item["max"]})
        return pd.DataFrame(rows)

    def save(self, folder: str | Path) -> None:
        """Write metrics.json and samples.parquet into ``folder``."""
        import pandas as pd

        target = Path(folder)
        write_json(target / METRICS, self.content)
        parts = [
            pd.DataFrame({"size": size, "config": config, "query": range(len(columns["total"])), **columns})
            for (size, config), columns in self.samples.items()
        ]
        if parts:
            pd.concat(parts, ignore_index=True).to_parquet(target / SAMPLES, index=False)

    @classmethod
    def load(cls, folder: str | Path) -> LatencyProfile:
        """Read a run folder of kind latency. Raises RunError when it is none or cannot be read."""
        import pandas as pd

        home = Path(folder)
        if (home / MANIFEST).is_file() and read_manifest(home)["kind"] != "latency":
            raise RunError(f"{home} is a run of kind {read_manifest(home)['kind']!r}; a latency run is needed")
        try:
            content = json.loads((home / METRICS).read_text(encoding="utf-8"))
            frame = pd.read_parquet(home / SAMPLES)
        except (OSError, ValueError) as error:
            raise RunError(f"{home} holds no latency profile that can be read: {error}") from None
        samples: dict[CellKey, dict[str, list[float]]] = {}
        for (size, config), part in frame.groupby(["size", "config"], sort=True):
            samples[int(size), str(config)] = {name: part[name].tolist() for name in (*PARTS, "total", "cpu")}
        return cls(content=content, samples=samples)

    def __str__(self) -> str:
        return "\n".join(text_lines(self.content))

    def tables(self) -> tuple[Table, ...]:
        """Percentiles of the total with verdicts, stages, growth, load, and cold start where it was measured."""
        from workbench.reports.latency_tables import cold_table, growth_table, load_table, stage_table, totals

        timed = [cell for cell in self.cells if "latency" in cell]
        if not timed:
            return ()
        more = (cold_table(self.content),) if self.content["latency"].get("cold") else ()
        return (totals(timed), stage_table(timed), growth_table(self.content), load_table(timed), *more)


def text_lines(content: Mapping[str, Any]) -> list[str]:
    """The profile as lines of text, every number with its n."""
    plan = content["plan"]
    lines = [
        f"latency on {content['dataset']} stores filled to size, encoder {content['encoder']}, ms a query, embedding included",
        f"{plan['warm_up']} warm-up queries a configuration, then {plan['queries']}; percentiles by linear interpolation "
        "(type 7), [95 % bootstrap interval]",
    ]
    lines += [f"note: {note}" for note in content["notes"]]
    names = max((len(cell["config"]) for cell in content["cells"]), default=6) + 2
    lines.append(
        f"{'entries':>8}  {'configuration':{max(names, 15)}}{'n':>5}{'p50':>8} {'':16}{'p95':>8} {'':16}{'p99':>8}{'max':>8}"
        f"{'no embed p95':>14}{'residual':>10}"
    )
    for cell in content["cells"]:
        if "latency" not in cell:
            continue
        total, rest = cell["latency"]["stages"]["total"], cell["latency"]["stages"]["without embed"]
        lines.append(
            f"{cell['size']:>8,}  {cell['config']:{max(names, 15)}}{total['n']:>5}{ms_text(total['p50']):>8} "
            f"{_span(total['p50_ci95']):16}{ms_text(total['p95']):>8} {_span(total['p95_ci95']):16}{ms_text(total['p99']):>8}"
            f"{ms_text(total['max']):>8}{ms_text(rest['p95']):>14}{ms_text(cell['latency']['stages']['residual']['p50'], 3):>10}"
        )
    for cell in content["cells"]:
        if "latency" not in cell:
            continue
        judged = cell["latency"]["limit"]
        lines.append(
            f"{cell['size']:,} {cell['config']}: {judged['verdict']} of {judged['limit_ms']:g} ms ({judged['over']} of "
            f"{judged['n']} over; probability that {100 * judged['share']:g} % keep it "
            f"{NO_DATA if judged['probability'] is None else probability_text(judged['probability'])})"
        )
        queue = cell["latency"].get("open")
        if queue:
            lines.append(
                f"  open loop, {queue['rate']:.1f} queries/s: p50 {ms_text(queue['latency']['p50'])}, p95 "
                f"{ms_text(queue['latency']['p95'])}, max {ms_text(queue['latency']['max'])}; {queue['late']} of "
                f"{queue['latency']['n']} had to wait"
            )
        for row in cell["latency"].get("parallel", []):
            lines.append(
                f"  {row['workers']} thread{'s' * (row['workers'] != 1)}: "
                f"p50 {ms_text(row['latency']['p50'])}, p95 {ms_text(row['latency']['p95'])}, "
                f"{row['per_second']:.1f} queries/s (n {row['latency']['n']}); prompts "
                f"{'equal to one thread' if row['equal'] else 'DIFFER from one thread'}"
            )
    lines += _summary_lines(content)
    return lines


def _summary_lines(content: Mapping[str, Any]) -> list[str]:
    lines = []
    timed = content.get("latency", {})
    for config, kind, found in growth_items(content) if timed else ():
        said = NO_DATA
        if found is not None:
            said = f"exponent {found['exponent']:.2f} [{found['ci95'][0]:.2f}, {found['ci95'][1]:.2f}], sizes {found['sizes']}"
        lines.append(f"growth of the median, {config}, {kind}: {said}")
    for row in timed.get("ab", []):
        interval = f" [{row['interval'][0]:+.2f}, {row['interval'][1]:+.2f}]" if row["interval"] else ""
        median = NO_DATA if row["median"] is None else f"{row['median']:+.2f} ms{interval}"
        lines.append(f"{row['size']:,}: {row['b']} against {row['a']}: {median} (median of {row['n']} pairs): {row['verdict']}")
    cold = cold_items(content) if timed else []
    if not cold:
        lines.append(f"cold start: {NO_DATA}")
    for phase, item in cold:
        lines.append(
            f"cold start, {phase}: median {ms_text(item['median'])} ms, {ms_text(item['min'])} to {ms_text(item['max'])} "
            f"(n {item['n']})"
        )
    lines += [f"against the earlier run: {note}" for note in timed.get("against_notes", [])]
    for row in timed.get("against", []):
        lines.append(f"against the earlier run, {row['size']:,} {row['config']}: {row['text']}")
    return lines


def ms_text(value: float | None, digits: int = 1) -> str:
    """Milliseconds as text, or "no data"; never 0 for what was not measured."""
    return NO_DATA if value is None else f"{value:,.{digits}f}"


def _span(bounds: Sequence[float] | None) -> str:
    return "" if bounds is None else f"[{bounds[0]:.1f}, {bounds[1]:.1f}]"
