"""A page printed to PDF by a browser that is already on the machine."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from workbench.errors import RunError

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome", "msedge")
_SECONDS = 120
_INSTEAD = "open the HTML report and print it from there"


def find_browser() -> str | None:
    """Path of the first of ``BROWSERS`` that is there."""
    return next((path for path in map(shutil.which, BROWSERS) if path), None)


def write_pdf(page: str, target: Path) -> Path:
    """Print the text of a page. Raises RunError when no browser is found, or it does not print."""
    browser = find_browser()
    if browser is None:
        raise RunError(
            f"no browser to print {target.name} with: install Chromium or Chrome (looked for {', '.join(BROWSERS)}), "
            f"or {_INSTEAD}"
        )
    with tempfile.TemporaryDirectory(prefix="workbench-pdf-") as scratch:
        source, made = Path(scratch) / "report.html", Path(scratch) / "report.pdf"
        source.write_text(page, encoding="utf-8")
        # a browser started by the superuser refuses its own sandbox; the page loads nothing and runs one known script
        own = ["--no-sandbox"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []
        command = [
            browser, "--headless", *own, "--disable-gpu", "--no-first-run", "--disable-extensions",
            f"--user-data-dir={scratch}/profile", "--no-pdf-header-footer", f"--print-to-pdf={made}", source.as_uri(),
        ]  # fmt: skip
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=_SECONDS, check=False)
        except (OSError, subprocess.SubprocessError) as error:
            raise RunError(f"{Path(browser).name} did not print {target.name}: {error}; {_INSTEAD}") from None
        if not made.is_file():
            last = (done.stderr.strip().splitlines() or ["no message"])[-1][:200]
            raise RunError(f"{Path(browser).name} printed nothing: {last}; {_INSTEAD}")
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(made, target)
        except OSError as error:
            raise RunError(f"cannot write {target}: {error.strerror}; choose another place") from None
    return target
