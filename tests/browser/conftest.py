"""A real headless Chromium, and a real JupyterLab on a free port whose folders are all temporary."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

NOTEBOOKS = Path(__file__).parents[2] / "notebooks"


@dataclass
class Watched:
    """A page, and what went wrong on it: errors on the console, uncaught exceptions, requests that left for a network."""

    page: Any
    errors: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)


@pytest.fixture(scope="session")
def chromium() -> Iterator[Any]:
    """Debian's Chromium (or the one that CHROMIUM names), driven by playwright."""
    found = (
        os.environ.get("CHROMIUM")
        or shutil.which("chromium")
        or shutil.which("chromium-browser")
        or shutil.which("google-chrome")
    )
    if found is None:
        pytest.skip("no Chromium on the PATH; name one with the environment variable CHROMIUM")
    # imported where it is used: every run of the suite collects this folder, few run it
    sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    with sync_api.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=found, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture
def open_page(chromium: Any, artifacts: Path, request: pytest.FixtureRequest) -> Iterator[Callable[..., Watched]]:
    """``open_page(url, width=, dark=)``: a fresh profile each time."""
    contexts = []

    def start(url: str, *, width: int = 1200, height: int = 1000, dark: bool = False) -> Watched:
        context = chromium.new_context(
            viewport={"width": width, "height": height},
            color_scheme="dark" if dark else "light",
            permissions=["clipboard-read", "clipboard-write"] if url.startswith("http") else [],
        )
        contexts.append(context)
        watched = Watched(context.new_page())
        watched.page.on("pageerror", lambda error: watched.errors.append(f"uncaught: {error}"))
        watched.page.on("console", lambda message: message.type == "error" and watched.errors.append(message.text))
        watched.page.on("request", lambda request: watched.requests.append(request.url))
        watched.page.goto(url)
        return watched

    yield start
    for number, context in enumerate(contexts):
        for page in context.pages:
            page.screenshot(path=artifacts / f"{request.node.name}-{number}.png")
        context.close()


@dataclass(frozen=True)
class Lab:
    """A running JupyterLab. root: the folder it serves."""

    url: str
    root: Path
    settings: Path

    def notebook(self, name: str, *cells: str) -> str:
        """Write a notebook of code cells; returns its address in JupyterLab."""
        import nbformat  # takes seconds

        content = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
        content.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3", "language": "python"}
        nbformat.write(content, self.root / name)
        return f"{self.url}/lab/tree/{name}?reset"


@pytest.fixture(params=["JupyterLab Light", "JupyterLab Dark"])
def theme(lab: Lab, request: pytest.FixtureRequest) -> str:
    """JupyterLab's own theme, for pages opened from now on."""
    target = lab.settings / "@jupyterlab" / "apputils-extension" / "themes.jupyterlab-settings"
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(json.dumps({"theme": request.param}))
    return str(request.param)


@pytest.fixture(scope="session")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    """JupyterLab over a copy of the project's notebooks, as ``make lab`` starts it, with settings and state of its own."""
    base = tmp_path_factory.mktemp("lab")
    root = base / "notebooks"
    root.mkdir()
    for notebook in NOTEBOOKS.glob("*.ipynb"):
        shutil.copy(notebook, root)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    folders = {
        name: str(base / name.lower()) for name in ("JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR", "IPYTHONDIR")
    }
    environment = {
        **os.environ,
        **folders,
        "JUPYTERLAB_SETTINGS_DIR": str(base / "s"),
        "JUPYTERLAB_WORKSPACES_DIR": str(base / "w"),
    }
    # JupyterLab would ask for its news on a network
    page_config = base / "jupyter_config_dir" / "labconfig" / "page_config.json"
    page_config.parent.mkdir(parents=True)
    page_config.write_text('{"disabledExtensions": {"@jupyterlab/apputils-extension:announcements": true}}')
    log = (base / "server.log").open("w")
    server = subprocess.Popen(
        [sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root", f"--notebook-dir={root}", "--ServerApp.ip=127.0.0.1",
         f"--ServerApp.port={port}", "--ServerApp.port_retries=0", "--IdentityProvider.token=", "--ServerApp.password="],
        env=environment, stdout=log, stderr=subprocess.STDOUT,
    )  # fmt: skip
    url = f"http://127.0.0.1:{port}"
    try:
        for _ in range(240):
            try:
                urllib.request.urlopen(f"{url}/api", timeout=5).close()
                break
            except (urllib.error.URLError, ConnectionError, TimeoutError):
                if server.poll() is not None:
                    break
                time.sleep(0.25)
        else:
            pytest.fail("JupyterLab did not answer: " + (base / "server.log").read_text()[-2000:])
        if server.poll() is not None:
            pytest.fail("JupyterLab ended: " + (base / "server.log").read_text()[-2000:])
        yield Lab(url, root, base / "s")
    finally:
        server.terminate()
        try:
            server.wait(timeout=15)
        except subprocess.TimeoutExpired:
            server.kill()
        log.close()


@pytest.fixture(scope="session")
def artifacts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where screenshots are kept: the folder WORKBENCH_ARTIFACTS names, or a temporary one."""
    folder = Path(os.environ.get("WORKBENCH_ARTIFACTS") or tmp_path_factory.mktemp("artifacts"))
    folder.mkdir(parents=True, exist_ok=True)
    return folder
