"""The errors a caller can meet. Every message says what was wrong, the value, what is allowed and what to do."""

from __future__ import annotations


class WorkbenchError(Exception):
    """Base of every error this package raises on purpose."""


class ConfigError(WorkbenchError, ValueError):
    """A configuration value is unknown, out of range or of the wrong type."""


class DataError(WorkbenchError, ValueError):
    """An entry, a judged query or a data file is malformed; names the file, line and field where it can."""


class StoreError(WorkbenchError):
    """A user store or one of its indexes cannot be built, read or matched with its encoder."""


class RunError(WorkbenchError):
    """A run folder cannot be written, read or verified."""
