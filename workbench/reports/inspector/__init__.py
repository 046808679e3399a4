"""The inspector: one context, every candidate's fate, and what other settings would change."""

from __future__ import annotations

from workbench.reports.inspector.inspector import Inspector
from workbench.reports.inspector.page import Block
from workbench.reports.inspector.rerank import rerank

__all__ = ["Block", "Inspector", "rerank"]
