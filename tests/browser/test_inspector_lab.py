"""The inspector where it is used: in a notebook of a running JupyterLab, by keyboard, in Chromium."""

from __future__ import annotations

import json
import re
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.browser

INSPECT = """
from workbench import Assembler, AssemblyConfig, load_dataset
dataset = load_dataset("starter")
config = AssemblyConfig().override(**dataset.config)
context = Assembler(dataset.stores["tidewater"], config).assemble(
    "Where is the Saltmarsh Heron moored?", now="2026-06-01T09:00:00Z")
inspector = context.inspect()
inspector
"""
HOSTILE = """
from workbench import Assembler, Memory, UserStore
evil = "<img src=x onerror='window.stolen=1'><script>window.stolen=1</script>"
store = UserStore("ana" + evil, memories=[
    Memory(id="m1" + evil, text="The ferry leaves at noon " + evil, created_at="2026-03-01", category=evil),
    Memory(id="__proto__", text="constructor ferry", created_at="2026-03-01")])
Assembler(store).assemble("ferry " + evil, now="2026-03-02").inspect(against=None)
"""
LARGE = """
import zlib
import numpy as np
from workbench import Assembler, Memory, UserStore
class Encoder:
    name, dim = "by-checksum", 8
    def encode(self, texts):
        vectors = [np.random.default_rng(zlib.crc32(text.encode())).standard_normal(8) for text in texts]
        return np.array([vector / np.linalg.norm(vector) for vector in vectors], dtype=np.float32)
store = UserStore("ana", memories=[
    Memory(id=f"m{number:04}", text=f"note {number:04} about pier", created_at="2026-03-01") for number in range(2300)])
Assembler(store, encoder=Encoder(), cache=False).assemble("note 0007", now="2026-03-02", top_k=5).inspect()
"""


def _run(watched: Any) -> Any:
    """Run all cells of the opened notebook; returns the inspector when it is there."""
    page = watched.page
    page.wait_for_selector(".jp-Notebook .jp-CodeCell", timeout=60_000)
    page.locator(".jp-StatusBar-Widget, #jp-main-statusbar").get_by_text("| Idle").wait_for(timeout=60_000)
    prompt = page.locator(".jp-Notebook .jp-CodeCell .jp-InputPrompt").first
    # what is run before the session is settled is dropped, or makes JupyterLab ask for a kernel
    choice = page.locator(".jp-Dialog").get_by_role("button", name="Select", exact=True)
    for _ in range(20):
        if choice.is_visible():
            choice.click()
        page.locator(".jp-Notebook .jp-CodeCell .cm-content").first.click()
        page.keyboard.press("Shift+Enter")
        page.wait_for_timeout(1500)
        if "[ ]" not in prompt.inner_text():
            break
    inspector = page.locator(".wb-inspector")
    inspector.wait_for(timeout=60_000)
    return inspector


def test_a_slider_moved_by_keyboard_changes_the_selection(lab: Any, open_page: Callable[..., Any], artifacts: Path) -> None:
    watched = open_page(
        lab.notebook("inspect.ipynb", INSPECT, "print(inspector.config.weights, inspector.entering, inspector.leaving)")
    )
    inspector = _run(watched)
    assert inspector.get_by_text("The same entries are in the prompt.").is_visible()
    slider = inspector.get_by_role("slider", name="recency")
    before = inspector.locator(".wb-line").all_inner_texts()
    slider.focus()
    for _ in range(5):
        watched.page.keyboard.press("PageUp")
    watched.page.keyboard.press("ArrowRight")
    inspector.locator(".wb-enters h4").wait_for(timeout=20_000)
    watched.page.wait_for_function(
        "document.querySelector('[data-name=recency]').parentElement.querySelector('.wb-number').textContent === '0.404'"
    )
    assert slider.input_value() == "0.61"
    assert inspector.locator(".wb-line").all_inner_texts() != before
    entering = inspector.locator(".wb-enters li").count()
    assert entering > 0
    assert inspector.locator("[data-id].wb-fresh").count() == entering
    assert re.search(r"re-ranked in \d+\.\d ms", inspector.locator(".wb-time").inner_text())
    watched.page.screenshot(path=artifacts / "inspector-lab-slider.png")
    # the kernel agrees with what is on the screen
    watched.page.locator(".jp-Notebook .jp-CodeCell .cm-content").nth(1).click()
    watched.page.keyboard.press("Shift+Enter")
    said = watched.page.locator(".jp-OutputArea-output pre").filter(has_text="Weights(")
    said.wait_for(timeout=20_000)
    ids = inspector.locator(".wb-enters li code").all_inner_texts()
    assert all(f"'{key}'" in said.inner_text() for key in ids)
    assert "recency=0.404" in said.inner_text()
    # back to where it began
    inspector.get_by_role("button", name="Reset").press("Enter")
    inspector.get_by_text("The same entries are in the prompt.").wait_for(timeout=20_000)
    assert inspector.locator(".wb-line").all_inner_texts() == before
    assert watched.errors == []


def test_search_why_and_copy_work_and_letters_do_not_reach_jupyterlab(
    lab: Any, theme: str, open_page: Callable[..., Any], artifacts: Path
) -> None:
    watched = open_page(lab.notebook("why.ipynb", INSPECT), height=1400)
    inspector = _run(watched)
    page = watched.page
    page.evaluate("document.querySelector('.wb-inspector').scrollIntoView()")
    cells = page.locator(".jp-Notebook .jp-CodeCell").count()
    box = inspector.get_by_label("Search")
    box.focus()
    # in JupyterLab "dd" deletes a cell, "b" adds one
    page.keyboard.type("ddb")
    assert inspector.get_by_text("0 entries shown").is_visible()
    box.fill("not retrieved")
    row = inspector.locator("tr.wb-entry").first
    row.wait_for()
    row.get_by_role("button").press("Enter")
    assert "not among the top" in inspector.locator(".wb-detail").inner_text()
    assert page.locator(".jp-Notebook .jp-CodeCell").count() == cells
    inspector.get_by_role("button", name="Copy configuration").click()
    inspector.get_by_text("copied").wait_for()
    assert page.evaluate("navigator.clipboard.readText()").startswith("top_k = 100")
    assert page.evaluate("document.body.dataset.jpThemeLight") == ("false" if theme.endswith("Dark") else "true")
    page.screenshot(path=artifacts / f"inspector-lab-{theme.split()[-1].lower()}.png")
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe-playwright-python is not installed")
    found = axe.Axe().run(page, context=".wb-inspector").response["violations"]
    assert [(item["id"], item["nodes"][0]["target"]) for item in found if item["impact"] in ("serious", "critical")] == []
    assert watched.errors == []


def test_what_users_wrote_is_never_executed(lab: Any, open_page: Callable[..., Any]) -> None:
    watched = open_page(lab.notebook("hostile.ipynb", HOSTILE))
    inspector = _run(watched)
    assert "<script>" in inspector.locator(".wb-query").inner_text()
    inspector.get_by_role("button", name=re.compile("why .* __proto__")).click()
    assert "constructor ferry" in inspector.locator(".wb-detail").inner_text()
    slider = inspector.get_by_role("slider", name="memories")
    slider.focus()
    watched.page.keyboard.press("Home")
    inspector.locator(".wb-leaves h4").wait_for(timeout=20_000)
    assert watched.page.evaluate("window.stolen") is None
    assert watched.errors == []
    assert inspector.locator("img").count() == 0
    assert inspector.locator("script").count() == 0


def test_entries_that_were_not_sent_are_found_through_the_kernel(lab: Any, open_page: Callable[..., Any]) -> None:
    watched = open_page(lab.notebook("large.ipynb", LARGE))
    inspector = _run(watched)
    assert "more entries never retrieved can be found by searching" in inspector.locator(".wb-note[role=status]").inner_text()
    # equal dates are listed by id, so the last ids are those left out
    inspector.get_by_label("Search").fill("note 2298")
    row = inspector.locator("tr.wb-entry[data-id=m2298]")
    row.wait_for(timeout=20_000)
    row.get_by_role("button").press("Enter")
    assert "not among the top 5" in inspector.locator(".wb-detail").inner_text()
    assert watched.errors == []


def test_jupyterlab_lists_the_notebooks(lab: Any, open_page: Callable[..., Any]) -> None:
    with urllib.request.urlopen(f"{lab.url}/api/contents") as answer:
        listed = {item["name"] for item in json.load(answer)["content"]}
    ours = {path.name for path in (Path(__file__).parents[2] / "notebooks").glob("*.ipynb")}
    assert ours
    assert ours <= listed
    watched = open_page(f"{lab.url}/lab?reset")
    for name in sorted(ours):
        watched.page.locator(".jp-DirListing-itemText").filter(has_text=name).wait_for(timeout=60_000)
