"""Synthetic judged data: users as lives, with planted and labelled truth."""

from __future__ import annotations

from workbench.data.synthetic.draft import Planted
from workbench.data.synthetic.generator import (
    DESCRIPTION,
    GENERATOR_VERSION,
    Synthesis,
    synthesize,
    synthesize_labelled,
)
from workbench.data.synthetic.user import SyntheticUser, synthesize_user

__all__ = [
    "DESCRIPTION",
    "GENERATOR_VERSION",
    "Planted",
    "Synthesis",
    "SyntheticUser",
    "synthesize",
    "synthesize_labelled",
    "synthesize_user",
]
