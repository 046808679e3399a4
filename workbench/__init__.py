"""Context assembly workbench: tune what an assistant with long-term memory puts into its prompt.

The public names are imported on first use, so that ``import workbench`` loads neither torch nor FAISS nor pandas.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from workbench.api import (
        compare,
        difficulty,
        evaluate_conflicts,
        marginal_recall,
        profile_latency,
        propose_split,
        report,
        sweep,
        tune,
    )
    from workbench.assembly.assembler import Assembler
    from workbench.assembly.context import AssembledContext
    from workbench.config import AssemblyConfig, Budgets, Weights
    from workbench.data.registry import load_dataset
    from workbench.data.synthetic import synthesize
    from workbench.entries import Episode, Memory, Procedure, SoulBlock
    from workbench.errors import WorkbenchError
    from workbench.reports.plots import plot
    from workbench.reports.recorded import load_run
    from workbench.store.user import UserStore

__version__ = "0.1.0"

_HOME = {
    "Assembler": "workbench.assembly.assembler",
    "AssembledContext": "workbench.assembly.context",
    "AssemblyConfig": "workbench.config",
    "Budgets": "workbench.config",
    "Episode": "workbench.entries",
    "Memory": "workbench.entries",
    "Procedure": "workbench.entries",
    "SoulBlock": "workbench.entries",
    "UserStore": "workbench.store.user",
    "Weights": "workbench.config",
    "WorkbenchError": "workbench.errors",
    "compare": "workbench.api",
    "difficulty": "workbench.api",
    "evaluate_conflicts": "workbench.api",
    "load_dataset": "workbench.data.registry",
    "load_run": "workbench.reports.recorded",
    "marginal_recall": "workbench.api",
    "plot": "workbench.reports.plots",
    "profile_latency": "workbench.api",
    "propose_split": "workbench.api",
    "report": "workbench.api",
    "sweep": "workbench.api",
    "synthesize": "workbench.data.synthetic",
    "tune": "workbench.api",
}

__all__ = [
    "AssembledContext",
    "Assembler",
    "AssemblyConfig",
    "Budgets",
    "Episode",
    "Memory",
    "Procedure",
    "SoulBlock",
    "UserStore",
    "Weights",
    "WorkbenchError",
    "compare",
    "difficulty",
    "evaluate_conflicts",
    "load_dataset",
    "load_run",
    "marginal_recall",
    "plot",
    "profile_latency",
    "propose_split",
    "report",
    "sweep",
    "synthesize",
    "tune",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'workbench' has no attribute {name!r}; it has {', '.join(__all__)}")
    value = getattr(import_module(_HOME[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
