"""Finished parts of an unfinished run, one JSON file each, so that an interrupted run goes on where it was."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from workbench.errors import RunError


class Units:
    """Parts of a run under ``folder`` (None keeps nothing). A part is found again only under the content it was computed from."""

    def __init__(self, folder: str | Path | None, identity: Mapping[str, Any]) -> None:
        self.folder = None if folder is None else Path(folder)
        self._identity = dict(identity)

    def get(self, name: str, compute: Callable[[], Any], **content: Any) -> Any:
        """The part ``name`` as JSON values: from its file, or computed and written. content: what it depends on beside the run's
        identity. A damaged file is computed anew. Raises RunError when the folder cannot be written."""
        if self.folder is None:
            return json.loads(json.dumps(compute(), allow_nan=False))
        key = json.dumps([name, self._identity, content], sort_keys=True, allow_nan=False)
        path = self.folder / f"{name}-{hashlib.sha256(key.encode()).hexdigest()[:16]}.json"
        try:
            return json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            pass
        text = json.dumps(compute(), allow_nan=False)
        spare = path.with_suffix(f".{os.getpid()}")
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            spare.write_text(text, encoding="utf-8")
            spare.replace(path)
        except OSError as error:
            raise RunError(f"cannot keep a finished part in {self.folder}: {error.strerror}; choose another --out") from None
        return json.loads(text)

    def discard(self) -> None:
        """Remove the parts of a run that is complete."""
        if self.folder is not None:
            shutil.rmtree(self.folder, ignore_errors=True)
