"""The top package is light, and its names are the promised ones."""

from __future__ import annotations

import subprocess
import sys

import pytest

import workbench
from workbench.errors import ConfigError, DataError, RunError, StoreError

HEAVY = (
    "torch",
    "faiss",
    "pandas",
    "scipy",
    "matplotlib",
    "sentence_transformers",
    "transformers",
    "numpy",
    "tiktoken",
    "pyarrow",
)
NAMES = {
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
}  # fmt: skip


def loaded_after(code: str) -> set[str]:
    run = subprocess.run(
        [sys.executable, "-c", f"import sys\n{code}\nprint(*sorted(sys.modules))"], capture_output=True, text=True, check=True
    )
    return set(run.stdout.split())


def test_importing_the_package_loads_nothing_heavy() -> None:
    assert not loaded_after("import workbench, workbench.errors") & set(HEAVY)


def test_entries_and_configuration_need_no_model_and_no_index() -> None:
    modules = loaded_after("from workbench import Memory, UserStore, Weights, Budgets, AssemblyConfig, WorkbenchError")
    assert not modules & {"torch", "faiss", "pandas", "scipy", "matplotlib", "sentence_transformers"}


def test_assembling_with_an_own_encoder_loads_no_model_library() -> None:
    assert not loaded_after("from workbench import Assembler") & {"torch", "sentence_transformers", "matplotlib", "pandas"}


def test_public_names() -> None:
    assert set(workbench.__all__) == NAMES
    assert set(dir(workbench)) >= NAMES
    for name in NAMES:
        assert getattr(workbench, name).__name__ == name


def test_an_unknown_name_lists_the_known_ones() -> None:
    with pytest.raises(AttributeError, match=r"no attribute 'Assembly'.*AssemblyConfig"):
        workbench.Assembly  # noqa: B018


def test_every_error_is_a_workbench_error() -> None:
    for kind in (ConfigError, DataError, RunError, StoreError):
        assert issubclass(kind, workbench.WorkbenchError)
