"""Where the workbench keeps what it can make or fetch again."""

from __future__ import annotations

import os
from pathlib import Path

CACHE_VARIABLE = "WORKBENCH_CACHE"


def cache_dir() -> Path:
    """The directory for caches and downloads; it need not exist yet.

    The environment variable ``WORKBENCH_CACHE`` names it (``~`` is expanded, an empty value counts as unset);
    otherwise it is the platform's user cache directory for ``context-workbench``. Safe to delete at any time.
    """
    named = os.environ.get(CACHE_VARIABLE, "").strip()
    if named:
        return Path(named).expanduser()
    import platformdirs

    return Path(platformdirs.user_cache_dir("context-workbench", appauthor=False))
