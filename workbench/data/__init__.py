"""Judged datasets: what ships, what is public, what is generated, and one's own, from an export to labels.

The names for bringing one's own store are importable from here, each loaded on first use.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from workbench.data.importers.run import import_to
    from workbench.data.judging import JudgingSession, judged_dataset
    from workbench.data.labels import LabelLog
    from workbench.data.pooling import build_pools, configs_of, read_queries
    from workbench.data.saving import save_directory

_HOME = {
    "JudgingSession": "judging",
    "LabelLog": "labels",
    "build_pools": "pooling",
    "configs_of": "pooling",
    "import_to": "importers.run",
    "judged_dataset": "judging",
    "read_queries": "pooling",
    "save_directory": "saving",
}

__all__ = [
    "JudgingSession",
    "LabelLog",
    "build_pools",
    "configs_of",
    "import_to",
    "judged_dataset",
    "read_queries",
    "save_directory",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'workbench.data' has no attribute {name!r}; it has {', '.join(__all__)}")
    value = getattr(import_module(f"workbench.data.{_HOME[name]}"), name)
    globals()[name] = value
    return value
