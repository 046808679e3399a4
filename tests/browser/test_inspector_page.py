"""The page in Chromium: accessible in light and dark, without network, and with nothing that users wrote executed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from workbench import Assembler, AssemblyConfig, Memory, SoulBlock, UserStore, load_dataset

pytestmark = pytest.mark.browser
EVIL = "</script><script>window.stolen=1</script><img src=x onerror='window.stolen=1'>"


@pytest.fixture(scope="module")
def starter(tmp_path_factory: pytest.TempPathFactory) -> str:
    dataset = load_dataset("starter")
    config = AssemblyConfig().override(**dataset.config)
    assembler = Assembler(dataset.stores["tidewater"], config)
    context = assembler.assemble("Where is the Saltmarsh Heron moored?", now="2026-06-01T09:00:00Z")
    shown = context.inspect().set(recency=0.8, memories=260, min_score=0.2)
    assert shown.entering
    assert shown.leaving
    return shown.to_html(tmp_path_factory.mktemp("page") / "starter.html").as_uri()


def _serious(page: Any) -> list[str]:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe-playwright-python is not installed")
    found = axe.Axe().run(page).response["violations"]
    return [
        f"{item['id']}: {node['target']} {node['failureSummary']}"
        for item in found
        if item["impact"] in ("serious", "critical")
        for node in item["nodes"]
    ]


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("width", [1200, 700, 360])
def test_no_serious_accessibility_violation(
    starter: str, open_page: Callable[..., Any], artifacts: Path, dark: bool, width: int
) -> None:
    watched = open_page(starter, width=width, height=1400, dark=dark)
    page = watched.page
    page.locator(".wb-why").first.click()
    page.locator(".wb-detail").wait_for()
    assert _serious(page) == []
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    page.screenshot(path=artifacts / f"inspector-page-{'dark' if dark else 'light'}-{width}.png")
    assert watched.errors == []
    assert [url for url in watched.requests if not url.startswith("file:")] == []
    assert len(watched.requests) == 1


def test_the_page_tells_what_entered_and_left_and_has_no_sliders(starter: str, open_page: Callable[..., Any]) -> None:
    page = open_page(starter).page
    assert page.locator("input[type=range]").count() == 0
    entering = page.locator(".wb-enters li code").all_inner_texts()
    assert entering
    assert page.locator(".wb-leaves li").count() > 0
    assert page.locator(".wb-line.wb-fresh").evaluate_all("lines => lines.map(line => line.dataset.id)") == entering


def test_search_and_fates_by_keyboard(starter: str, open_page: Callable[..., Any]) -> None:
    page = open_page(starter).page
    page.get_by_label("Search").press_sequentially("berth c12")
    assert page.locator("tr.wb-entry").count() >= 1
    assert "C12" in page.locator("tr.wb-entry").first.inner_text()
    # the older answer, which the newer one supersedes
    page.get_by_label("Search").fill("")
    page.get_by_label("Fate", exact=True).select_option("superseded")
    row = page.locator("tr.wb-entry").first
    row.get_by_role("button").focus()
    page.keyboard.press("Enter")
    assert row.get_by_role("button").get_attribute("aria-expanded") == "true"
    assert "newer" in page.locator(".wb-detail").inner_text()
    page.keyboard.press("Enter")
    assert page.locator(".wb-detail").count() == 0


def test_every_control_can_be_reached_by_tab_in_the_order_of_reading(starter: str, open_page: Callable[..., Any]) -> None:
    page = open_page(starter).page
    reached = []
    for _ in range(9):
        page.keyboard.press("Tab")
        reached.append(
            page.evaluate(
                "(e => e.getAttribute('aria-label') || e.id.replace(/\\d+/, '') || e.textContent)(document.activeElement)"
            )
        )
    assert reached[:4] == ["Copy prompt", "Copy configuration (TOML)", "Enters", "Leaves"]
    assert reached[4:] == ["Prompt, section by section", "wb-search-", "wb-fate-", "wb-layer-", "Candidates"]


def test_stored_scripts_appear_as_text_and_do_not_run(open_page: Callable[..., Any], tmp_path: Path) -> None:
    store = UserStore(
        f"ana {EVIL}",
        memories=[
            Memory(id=f"m1{EVIL}", text=f"The ferry leaves {EVIL}", created_at="2026-03-01", category=EVIL),
            Memory(id="__proto__", text="constructor ferry", created_at="2026-03-01"),
        ],
        soul=[SoulBlock(id=f"s{EVIL}", text=EVIL)],
    )
    context = Assembler(store, cache=False).assemble(f"ferry {EVIL}", now="2026-03-02")
    watched = open_page(context.inspect().to_html(tmp_path / "hostile.html").as_uri())
    page = watched.page
    for button in page.locator(".wb-why").all():
        button.click()
    assert "window.stolen" in page.locator(".wb-query").inner_text()
    assert page.locator(".wb-detail").count() == 3
    assert page.evaluate("window.stolen") is None
    assert page.locator("img, iframe").count() == 0
    assert watched.errors == []


def test_several_inspectors_on_one_page_do_not_share_ids(open_page: Callable[..., Any], tmp_path: Path) -> None:
    memories = [Memory(id=f"m{number}", text=f"ferry {number}", created_at="2026-03-01") for number in range(3)]
    block = Assembler(UserStore("ana", memories=memories), cache=False).assemble("ferry", now="2026-03-02").inspect().block()
    path = tmp_path / "two.html"
    path.write_text(
        f"<!doctype html><html lang=en><title>two</title><style>{block.style}</style><main>{block.html}{block.html}</main>"
        f'<script type="module">{block.script}</script>',
        encoding="utf-8",
    )
    page = open_page(path.as_uri()).page
    assert page.locator(".wb-inspector").count() == 2
    # drawing the first again, now that the second is there
    page.get_by_label("Search").first.fill("ferry")
    for button in page.locator(".wb-why").all():
        button.click()
    ids = page.evaluate("[...document.querySelectorAll('[id]')].map((e) => e.id)")
    assert len([key for key in ids if key.startswith("wb-why-")]) == 6
    assert len(ids) == len(set(ids))


def test_copying_gives_the_prompt(starter: str, open_page: Callable[..., Any]) -> None:
    page = open_page(starter).page
    page.evaluate("document.addEventListener('copy', () => { window.copied = document.activeElement.value })")
    page.evaluate("navigator.clipboard.writeText = (text) => { window.copied = text; return Promise.resolve() }")
    page.get_by_role("button", name="Copy prompt").press("Enter")
    page.wait_for_function("window.copied")
    assert page.evaluate("window.copied").startswith("<identity>")
    assert page.get_by_text("Copy prompt: copied").count() == 1
