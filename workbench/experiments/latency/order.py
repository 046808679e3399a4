"""The order in which the parts of a profile are shown: recorded JSON has its names in alphabetical order."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from workbench.assembly.stages import PARTS
from workbench.experiments.latency.cold import PHASES

Item = Mapping[str, Any]


def in_order(found: Mapping[str, Any], names: tuple[str, ...]) -> list[tuple[str, Any]]:
    """The items of ``found`` as ``names`` has them; those it does not name come last, in their own order."""
    return [(name, found[name]) for name in (*names, *(name for name in found if name not in names)) if name in found]


def stage_items(cell: Item) -> list[tuple[str, Item]]:
    """Stages of one size and configuration, then what is made of them."""
    return in_order(cell["latency"]["stages"], PARTS)


def cold_items(content: Item) -> list[tuple[str, Item]]:
    """Phases of a cold start as they follow each other, then what is made of them; empty when none was timed."""
    return in_order(content["latency"].get("cold") or {}, PHASES)


def growth_items(content: Item) -> list[tuple[str, str, Item | None]]:
    """(configuration, kind, fit or None), configurations as they were timed."""
    names = tuple(dict.fromkeys(cell["config"] for cell in content["cells"]))
    fits = in_order(content["latency"].get("growth", {}), names)
    return [(config, kind, fit) for config, kinds in fits for kind, fit in kinds.items()]
