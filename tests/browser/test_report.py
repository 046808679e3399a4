"""Reports and result tables in a real browser: quiet, offline, accessible, sortable, and deaf to scripts in names and texts."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from workbench.experiments.comparison_table import Comparison
from workbench.reports.html import render
from workbench.reports.index import write_index
from workbench.reports.pdf import write_pdf
from workbench.reports.run_pages import document_of

spec = importlib.util.spec_from_file_location("small_runs", Path(__file__).parents[1] / "reports" / "small_runs.py")
assert spec is not None
assert spec.loader is not None
small = importlib.util.module_from_spec(spec)
spec.loader.exec_module(small)

pytestmark = pytest.mark.browser
NAMES = (small.SCRIPT, small.IMAGE)
KINDS = ("ab", "sweep", "tune")


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory, bundled: Any) -> Iterator[Path]:
    home = tmp_path_factory.mktemp("hostile")
    patch = pytest.MonkeyPatch()
    patch.setenv("WORKBENCH_CACHE", str(home / "cache"))
    yield small.make_runs(home, bundled, KINDS, names=NAMES, hostile=True)
    patch.undo()


@pytest.fixture(scope="module")
def pages(runs: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Addresses of pages by name."""
    home = tmp_path_factory.mktemp("pages")
    out = {}
    for name, folders in [*((kind, [runs / kind]) for kind in KINDS), ("many", [runs / kind for kind in KINDS])]:
        path = home / f"{name}.html"
        path.write_text(render(document_of(folders, quoted=2)), encoding="utf-8")
        out[name] = path.as_uri()
    own = home / "results"
    own.mkdir()
    for kind in KINDS:
        (own / kind).symlink_to(runs / kind, target_is_directory=True)
    out["index"] = write_index(own, quoted=0)[0].as_uri()
    table = Comparison.load(runs / "tune" / "comparison.json")
    cell = home / "cell.html"
    cell.write_text(
        f'<!doctype html><html lang="en"><title>cell</title><main><h1>Cell</h1>{table._repr_html_()}{table._repr_html_()}</main>'
    )
    out["cell"] = cell.as_uri()
    return out


def serious(page: Any) -> list[str]:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe-playwright-python is not installed")
    found = axe.Axe().run(page).response["violations"]
    return [f"{item['id']}: {item['nodes'][0]['html'][:200]}" for item in found if item["impact"] in ("serious", "critical")]


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("name", [*KINDS, "many", "index", "cell"])
def test_a_page_is_quiet_offline_accessible_and_runs_no_text_of_a_user(
    open_page: Callable[..., Any], pages: dict[str, str], name: str, dark: bool
) -> None:
    seen = open_page(pages[name], dark=dark)
    seen.page.evaluate("document.querySelectorAll('details').forEach(item => { item.open = true; })")
    seen.page.wait_for_timeout(100)
    assert seen.errors == []
    assert seen.requests == [pages[name]]
    assert seen.page.evaluate("window.pwned") is None
    assert seen.page.locator("img").count() == 0
    assert serious(seen.page) == []
    if name in ("ab", "many"):
        assert small.SCRIPT in seen.page.locator("body").inner_text()
        assert "onerror" in seen.page.locator("body").inner_text()


@pytest.mark.parametrize("width", [1200, 600])
def test_nothing_but_tables_and_figures_scrolls_sideways(
    open_page: Callable[..., Any], pages: dict[str, str], width: int
) -> None:
    for name in ("ab", "tune", "index"):
        page = open_page(pages[name], width=width).page
        assert page.evaluate("document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize(("name", "where"), [("ab", "#results table.sortable"), ("cell", ".wb-result table")])
def test_a_table_sorts_by_mouse_and_keyboard(open_page: Callable[..., Any], pages: dict[str, str], name: str, where: str) -> None:
    page = open_page(pages[name]).page
    table = page.locator(where).first

    def column(at: int) -> list[str]:
        return list(table.locator("tbody tr").evaluate_all(f"rows => rows.map(row => row.cells[{at}].getAttribute('data-sort'))"))

    head = table.locator("thead th").first
    button = head.locator("button")
    button.click()
    assert head.get_attribute("aria-sort") == "ascending"
    up = column(0)
    assert up == sorted(up, key=str.casefold)
    button.focus()
    page.keyboard.press("Enter")
    assert head.get_attribute("aria-sort") == "descending"
    assert column(0) == up[::-1]
    # by number, with the keyboard alone: the next button is one Tab away
    page.keyboard.press("Tab")
    page.keyboard.press("Space")
    second = table.locator("thead th").nth(1)
    assert second.get_attribute("aria-sort") == "ascending"
    assert head.get_attribute("aria-sort") is None
    numbers = [float(value) for value in column(1) if value is not None]
    assert numbers == sorted(numbers)


def test_two_equal_tables_in_one_notebook_sort_apart(open_page: Callable[..., Any], pages: dict[str, str]) -> None:
    page = open_page(pages["cell"]).page
    tables = page.locator(".wb-result table")
    assert tables.count() == 2
    tables.nth(1).locator("thead button").first.click()
    assert tables.nth(0).locator("[aria-sort]").count() == 0
    assert tables.nth(1).locator("[aria-sort]").count() == 1


def test_links_of_the_index_lead_to_its_pages(open_page: Callable[..., Any], pages: dict[str, str]) -> None:
    page = open_page(pages["index"]).page
    page.get_by_role("link", name="tune", exact=True).click()
    assert page.url.endswith("tune/report.html")
    assert page.locator("h1").count() == 1


def test_the_report_prints_to_pdf(runs: Path, tmp_path: Path) -> None:
    path = write_pdf(render(document_of([runs / "ab"], quoted=1)), tmp_path / "report.pdf")
    content = path.read_bytes()
    assert content.startswith(b"%PDF-")
    assert content.count(b"/Type /Page\n") + content.count(b"/Type /Page ") + content.count(b"/Type/Page") >= 3
