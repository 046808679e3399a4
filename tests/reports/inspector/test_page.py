"""The page stands on its own, holds what users wrote as text, and is the same every time."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from workbench.assembly.context import AssembledContext
from workbench.cli import app
from workbench.entries import SoulBlock
from workbench.errors import ConfigError, RunError
from workbench.reports.inspector import Inspector, inspector, payload
from workbench.reports.inspector.assets import script, style

EVIL = "</script><script>stolen=1</script><!-- <img src=x onerror=stolen=1> \u2028 {{ 7*7 }} $$a_b$$"


@pytest.fixture
def hostile(kit: Any) -> AssembledContext:
    memories = [kit.memory(f"m{EVIL}", f"ferry {EVIL}", category=EVIL), kit.memory("__proto__", "constructor ferry")]
    assembler = kit.assembler(memories, user_id=f"ana {EVIL}", soul=[SoulBlock(id=f"s{EVIL}", text=EVIL)])
    context: AssembledContext = assembler.assemble(f"ferry {EVIL}", now=kit.now)
    return context


def test_the_page_reads_strictly_and_loads_nothing(hostile: AssembledContext, page: Any) -> None:
    text = hostile.inspect().html()
    parsed = page(text)
    assert [item for item in parsed.all("script") if "src" in item] == []
    assert not {"img", "link", "iframe", "object", "base", "form"} & {tag for tag, _ in parsed.elements}
    assert not any(name.startswith("on") for _, attributes in parsed.elements for name in attributes)
    assert len(parsed.all("script")) == 2
    policy = next(item["content"] for item in parsed.all("meta") if item.get("http-equiv") == "Content-Security-Policy")
    assert policy.startswith("default-src 'none'")
    assert hostile.inspect().block().script_hash in policy
    # readable without scripts
    assert "constructor ferry" in text[text.index("<noscript>") : text.index("</noscript>")]


def test_the_data_in_the_page_is_what_the_inspector_shows(hostile: AssembledContext) -> None:
    shown = hostile.inspect()
    found = re.search(r'<script type="application/json">(.*?)</script>', shown.html(), re.DOTALL)
    assert found
    data = json.loads(found[1])
    assert data["view"] == json.loads(json.dumps(shown.view()))
    assert data["facts"] == json.loads(json.dumps(shown.facts()))
    ids = [item["id"] for item in data["facts"]["entries"]]
    assert {f"m{EVIL}", "__proto__", f"s{EVIL}"} == set(ids)


def test_the_same_context_gives_the_same_bytes(kit: Any) -> None:
    def make() -> str:
        context = kit.assembler([kit.memory("m1", "ferry at noon")]).assemble("ferry", now=kit.now)
        return Inspector(context).html()

    assert make() == make()


def test_several_blocks_share_a_page(kit: Any) -> None:
    blocks = [
        kit.assembler([kit.memory("m1", text)]).assemble("ferry", now=kit.now).inspect().block() for text in ("a b", "ferry")
    ]
    assert blocks[0].style == blocks[1].style
    assert blocks[0].script == blocks[1].script
    assert blocks[0].html != blocks[1].html


def test_script_and_style_stay_within_the_inspector() -> None:
    code = script()
    for word in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "fetch(", "import(", "http"):
        assert word not in code
    assert not re.search(r"^\s*import\b", code, re.MULTILINE)
    assert "url(" not in style()
    assert "@import" not in style()
    for rule in re.findall(r"(?:^|\})\s*([^@{}]+)\{", re.sub(r"@[^{]+\{", "}", style())):
        assert all(".wb-inspector" in part for part in rule.split(",")), rule


def test_the_page_is_written_where_asked(hostile: AssembledContext, tmp_path: Path) -> None:
    target = hostile.inspect().to_html(tmp_path / "deep" / "page.html")
    assert target.read_text(encoding="utf-8") == hostile.inspect().html()
    (tmp_path / "taken").mkdir()
    with pytest.raises(RunError, match="cannot write the page taken"):
        hostile.inspect().to_html(tmp_path / "taken")


def test_a_store_without_entries_and_a_query_without_words(kit: Any) -> None:
    shown = kit.assembler([]).assemble("", now=kit.now).inspect().set(recency=1.0, memories=0)
    assert shown.view()["rows"] == []
    assert "<noscript>" in shown.html()


def test_entries_beyond_the_list_are_counted_and_can_be_found(kit: Any) -> None:
    memories = [kit.memory(f"m{number:03}", f"word{number} text") for number in range(60)]
    context = kit.assembler(memories).assemble("word7", now=kit.now, top_k=3)
    live = len(payload.live_ids(context))
    told = payload.facts(context, context, listed=10)
    assert told["unlisted"] == 60 - live - 10
    assert len(told["entries"]) == live + 10
    assert [item["id"] for item in payload.find(context, "WORD31 ")] == ["m031"]
    assert len(payload.find(context, "word", most=5)) == 5
    assert payload.find(context, "absent") == []


def test_without_widgets_the_message_says_what_to_install(hostile: AssembledContext, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "anywidget", None)
    monkeypatch.setattr(inspector, "find_spec", lambda name: None)
    shown = hostile.inspect()
    data, _ = shown._repr_mimebundle_()
    for kind in ("text/plain", "text/html"):
        assert "pip install" in data[kind]
        assert "context-workbench[lab]" in data[kind].replace("&#x27;", "'")
    assert data["text/html"].count("<script>") == 1  # the one that sorts the table
    with pytest.raises(ConfigError, match="need the package anywidget"):
        _ = shown.widget
    assert shown.html().startswith("<!doctype html>")


def test_inspecting_loads_no_widgets_until_they_are_shown() -> None:
    code = (
        "import sys; from workbench.reports.inspector import Inspector; "
        "print([name for name in ('anywidget', 'ipywidgets', 'matplotlib') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_the_command_writes_the_page(tmp_path: Path) -> None:
    out = tmp_path / "page.html"
    done = CliRunner().invoke(
        app,
        ["inspect", "--dataset", "starter", "--user", "tidewater", "Where is the Saltmarsh Heron moored?", "--now",
         "2026-06-01T09:00:00Z", "--config", "relevance-only", "--out", str(out)],
    )  # fmt: skip
    assert done.exit_code == 0, done.output
    assert str(out) in done.output
    text = out.read_text(encoding="utf-8")
    assert "berth C12" in text
    assert '"against":{"name":"production"' in text
