"""A run as the report reads it: the content of metrics.json and manifest.json, checked and in a fixed order.

The order of everything comes from here and never from the order of keys, so that a report made from the files is the
same, byte for byte, as the one made when the run ended.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from workbench.assembly.fates import Fate
from workbench.assembly.prompt import SECTIONS
from workbench.assembly.stages import PARTS
from workbench.config import SIGNALS
from workbench.errors import RunError
from workbench.experiments.metrics import DEFAULT
from workbench.reports.cells import pointer
from workbench.reports.labels import label, ordered
from workbench.reports.numbers import known

"""The timed stages in order, as ``workbench.assembly.assembler`` names them (which is too heavy to import for names)."""

MAIN_METRIC = "ContextRecall"
GROUP_METRICS = ("ContextRecall", "Recall@10", "nDCG@10", "StaleExposure")
# An effective weight this small is 0: what is left is rounding.
_NOTHING = 1e-9


@dataclass(frozen=True, eq=False)
class Run:
    """Read access to one run with two or more arms.

    content: as in metrics.json. manifest: as in manifest.json. run_id: what footnotes call the run. arms: names, the
    baseline first. metrics, groups: names in the order shown. Raises RunError when the content lacks what a report cannot
    do without.
    """

    content: Mapping[str, Any]
    manifest: Mapping[str, Any]
    run_id: str = ""
    arms: tuple[str, ...] = field(init=False)
    metrics: tuple[str, ...] = field(init=False)
    groups: tuple[str, ...] = field(init=False)

    def __post_init__(self) -> None:
        if not isinstance(self.content, Mapping) or not isinstance(self.manifest, Mapping):
            raise RunError("cannot make a report: content and manifest must be tables, as read from metrics.json")
        missing = [name for name in ("dataset", "arms", "comparison", "comparison_arms") if name not in self.content]
        if missing:
            raise RunError(f"cannot make a report: metrics.json lacks {', '.join(missing)}; run again to write it anew")
        arms, pair = self.content["arms"], self.content["comparison_arms"]
        first = tuple(str(pair[key]) for key in ("a", "b") if key in pair)
        if len(first) != 2 or any(name not in arms for name in first):
            raise RunError(f"cannot make a report: comparison_arms is {dict(pair)!r}, the arms are {sorted(arms)}")
        put = object.__setattr__
        put(self, "arms", ordered(arms, first))
        names = {name for arm in arms.values() for name in arm.get("metrics", {})} | set(self.content["comparison"])
        put(self, "metrics", ordered(names, DEFAULT))
        groups = {name for arm in arms.values() for name in arm.get("groups", {})}
        put(self, "groups", tuple(sorted(ordered(groups, ()), key=lambda name: name in self.rollups)))

    @property
    def a(self) -> str:
        """The baseline, as shown."""
        return label(self.arms[0])

    @property
    def b(self) -> str:
        """The arm compared with the baseline, as shown."""
        return label(self.arms[1])

    @property
    def dataset(self) -> str:
        """The name of the dataset, as shown."""
        return label(self.content["dataset"])

    @property
    def group_name(self) -> str:
        """What a group is: scenario, category."""
        return label(self.content.get("group_name") or "group")

    @property
    def main(self) -> str | None:
        """The metric that the verdict is about; None for a run that compared nothing."""
        if MAIN_METRIC in self.content["comparison"]:
            return MAIN_METRIC
        return next((name for name in self.metrics if name in self.content["comparison"]), None)

    @property
    def group_metrics(self) -> tuple[str, ...]:
        """The metrics shown per group."""
        chosen = tuple(name for name in GROUP_METRICS if name in self.metrics)
        return chosen or self.metrics[:4]

    @property
    def rollups(self) -> frozenset[str]:
        """Groups that are several groups taken together."""
        return frozenset(self.content.get("rollups") or ())

    def row(self, metric: str) -> Mapping[str, Any]:
        """The comparison of a metric; empty if there is none."""
        return self.content["comparison"].get(metric) or {}

    def summary(self, arm: str, metric: str, group: str | None = None) -> Mapping[str, Any]:
        """Mean, n and interval of a metric of an arm, over all queries or one group; empty if there is none."""
        part = self.arm(arm, "metrics") if group is None else self.arm(arm, "groups").get(group) or {}
        return part.get(metric) or {}

    def arm(self, arm: str, part: str) -> Mapping[str, Any]:
        """One part of what is known of an arm, empty if there is none."""
        return self.content["arms"][arm].get(part) or {}

    def unit(self, metric: str) -> str:
        """The unit of a metric: share, tokens, entries."""
        for facts in (*(self.summary(arm, metric) for arm in self.arms), self.row(metric)):
            if facts.get("unit"):
                return str(facts["unit"])
        return "share"

    def higher_is_better(self, metric: str) -> bool:
        """The direction of a metric."""
        for facts in (self.row(metric), *(self.summary(arm, metric) for arm in self.arms)):
            if "higher_is_better" in facts:
                return bool(facts["higher_is_better"])
        return True

    @property
    def fates(self) -> tuple[str, ...]:
        """Labels of the fates in the order of the stages, the last one is selected."""
        names = {name for arm in self.arms for name in self.arm(arm, "relevant_entries")}
        return ordered(names, [fate.label for fate in Fate])

    @property
    def stages(self) -> tuple[str, ...]:
        """The timed stages, the residual after them; ``total`` is not among them."""
        names = {name for arm in self.arms for name in self.arm(arm, "latency_ms")} - {"total"}
        return ordered(names, PARTS)

    @property
    def sections(self) -> tuple[str, ...]:
        """The sections of the prompt in order."""
        return ordered({name for arm in self.arms for name in self.arm(arm, "section_tokens")}, SECTIONS)

    def nominal(self, arm: str) -> dict[str, float]:
        """Weights as configured, divided by their sum, so that they compare with effective ones."""
        given = {name: float(self.arm(arm, "config").get("weights", {}).get(name, 0.0)) for name in SIGNALS}
        total = sum(given.values())
        return {name: value / total if total > 0 else 0.0 for name, value in given.items()}

    def undecidable(self) -> dict[str, tuple[str, ...]]:
        """Signals that decide nothing although they have a weight: signal -> arms as shown. The data cannot judge them."""
        found: dict[str, tuple[str, ...]] = {}
        for name in SIGNALS:
            effective = {arm: self.arm(arm, "effective_weights").get(name) for arm in self.arms}
            arms = tuple(
                label(arm)
                for arm, value in effective.items()
                if self.nominal(arm)[name] > 0 and known(value) and value < _NOTHING
            )
            if arms:
                found[name] = arms
        return found

    def compared(self, metric: str, key: str) -> str:
        """Where a number of the comparison of a metric is recorded."""
        at = (self.content.get("comparison_place") or {}).get(metric)
        place = ("comparison", metric) if at is None else ("comparison_table", "rows", at)
        return f"metrics.json#{pointer(*place, key)}"

    @property
    def limit_ms(self) -> float:
        """The limit that the total latency is judged by, in milliseconds."""
        return float(self.content.get("latency_limit_ms") or 100.0)

    def comparisons(self) -> Iterator[tuple[str, Mapping[str, Any]]]:
        """Metrics and their comparisons, in the order shown."""
        return ((name, self.row(name)) for name in self.metrics if self.row(name))


def pairs_of(content: Mapping[str, Any], manifest: Mapping[str, Any], run_id: str) -> tuple[Run, tuple[Run, ...]]:
    """The run with all its arms, and one view of it per arm against the baseline (with two arms: itself)."""
    given = isinstance(content, Mapping)
    if not given or "comparison" in content or not isinstance(content.get("comparison_table"), Mapping):
        run = Run(content, manifest, run_id)
        return run, (run,)
    table = content["comparison_table"]
    views = []
    for arm in table["arms"]:
        place = {row["metric"]: at for at, row in enumerate(table["rows"]) if row["arm_b"] == arm}
        views.append(
            {
                **content,
                "comparison": {metric: table["rows"][at] for metric, at in place.items()},
                "comparison_place": place,
                "comparison_arms": {"a": table["baseline"], "b": arm},
                "comparison_family": table["family"]["text"],
            }
        )
    if not views:
        raise RunError("cannot make a report: metrics.json compares no arm; run again to write it anew")
    pairs = []
    for view in views:
        both = view["comparison_arms"].values()
        pairs.append(Run({**view, "arms": {arm: view["arms"][arm] for arm in both}}, manifest, run_id))
    return Run(views[0], manifest, run_id), tuple(pairs)
