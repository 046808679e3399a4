"""Contexts and runs in a terminal of any width and encoding."""

from __future__ import annotations

import hashlib
import io
import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from workbench.assembly.assembler import Assembler
from workbench.assembly.context import AssembledContext
from workbench.config import AssemblyConfig, Budgets
from workbench.entries import Episode, Memory, SoulBlock
from workbench.errors import StoreError
from workbench.reports.terminal import print_context, print_run
from workbench.store.user import UserStore

NOW = "2026-06-01T09:00:00Z"


class WordEncoder:
    """Vectors from a hash of the words."""

    name = "word-encoder@1"
    dim = 16

    def encode(self, texts: list[str], /) -> np.ndarray:
        out = np.zeros((len(texts), self.dim), dtype=np.float32)
        for row, text in enumerate(texts):
            for word in text.lower().split():
                seed = int.from_bytes(hashlib.sha256(word.encode()).digest()[:8], "little")
                out[row] += np.random.default_rng(seed).standard_normal(self.dim).astype(np.float32)
            out[row] /= np.linalg.norm(out[row]) or 1.0
        return out


@pytest.fixture(scope="module")
def context() -> AssembledContext:
    memories = [
        Memory(id=f"m{number}", text=f"The ferry {number} leaves at noon from pier {number}", created_at="2026-05-01")
        for number in range(30)
    ]
    memories.append(
        Memory(id="[bold]id[/bold]", text="The [bold red]ferry[/] :smile: costs $x^2$ 茶 → 5 €", created_at="2026-05-02")
    )
    store = UserStore(
        "ana",
        memories=memories,
        episodes=[Episode(id="e1", summary="Missed the ferry", occurred_at="2026-05-20T10:00:00Z")],
        soul=[SoulBlock(id="s1", text="A patient helper")],
    )
    config = AssemblyConfig(budgets=Budgets(memories=120))
    return Assembler(store, config, WordEncoder(), cache=False).assemble("ferry costs", now=NOW)


def output(context: AssembledContext, encoding: str = "utf-8", **options: Any) -> str:
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, encoding=encoding, newline="")
    print_context(context, file=stream, **({"rows": 40, "width": 140} | options))
    stream.flush()
    return raw.getvalue().decode(encoding)


def test_prompt_is_printed_as_it_is(context: AssembledContext) -> None:
    for width in (20, 80, 200):
        assert context.prompt.rstrip("\n") in output(context, width=width)
    assert "[bold red]ferry[/] :smile: costs $x^2$ 茶 → 5 €" in output(context)


def test_costs_and_fates(context: AssembledContext) -> None:
    text = output(context, rows=1000)
    assert f"{context.tokens['total']} in all" in text
    assert "embed" in text
    for key in context.fates["id"]:
        assert f"\n {key} " in text.replace("\n" + key, "\n " + key), key
    assert "more:" not in text


def test_selected_first_then_by_score_and_the_rest_counted(context: AssembledContext) -> None:
    ids = list(context.fates["id"])
    text = output(context, rows=1000)
    table = text[text.index("--- entries") :]
    places = {key: table.index(f"{key} ") for key in ids}
    selected = [places[key] for key in context.selected_ids]
    assert selected == sorted(selected)
    frame = context.fates.set_index("id")
    others = [key for key in ids if key not in context.selected_ids]
    assert others
    assert max(selected) < min(places[key] for key in others)
    by_place = [
        frame.loc[key, "score"]
        for key in sorted(others, key=places.__getitem__)
        if frame.loc[key, "score"] == frame.loc[key, "score"]
    ]
    assert by_place == sorted(by_place, reverse=True)
    few = output(context, rows=len(context.selected_ids))
    assert f"and {len(others)} more: " in few
    assert f"and {len(ids)} more: " in output(context, rows=0)


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "cp1252", "utf-8", "utf-16"])
@pytest.mark.parametrize("width", [1, 20, 40, 79, 80, 130, 300])
def test_any_width_and_encoding(context: AssembledContext, encoding: str, width: int) -> None:
    text = output(context, encoding, width=width, explain="m3")
    assert "--- explanation" in text or width < 20
    if encoding == "ascii":
        assert "\\u8336" in text


def test_explanation_and_unknown_id(context: AssembledContext) -> None:
    assert str(context.explain("m3")).splitlines()[0] in output(context, explain="m3", width=300)
    stream = io.StringIO()
    with pytest.raises(StoreError, match="nobody"):
        print_context(context, explain="nobody", as_json=False, rows=5, file=stream)
    assert stream.getvalue() == ""


def test_json_is_strict_and_alone(context: AssembledContext) -> None:
    def refuse(literal: str) -> None:
        raise AssertionError(literal)

    for encoding in ("ascii", "utf-8"):
        assert json.loads(output(context, encoding, as_json=True), parse_constant=refuse) == json.loads(
            json.dumps(context.to_dict())
        )
    explained = json.loads(output(context, as_json=True, explain="m3"))
    assert explained["explanation"]["id"] == "m3"
    assert explained["prompt"] == context.prompt


def test_control_characters_do_not_reach_the_terminal(context: AssembledContext) -> None:
    odd = SimpleNamespace(**{name: getattr(context, name) for name in ("tokens", "timings", "fate_rows", "selected_ids")})
    odd.prompt = "a\x1b[31mred\x1b[0m \x07 b"
    odd.warnings = ("careful [bold]\x1b]0;title\x07",)
    text = output(odd)  # type: ignore[arg-type]
    assert "\x1b" not in text
    assert "\x07" not in text
    assert "careful [bold]" in text


def test_empty_store() -> None:
    context = Assembler(UserStore("bo"), AssemblyConfig(), WordEncoder(), cache=False).assemble("anything", now=NOW)
    text = output(context)
    assert "(empty)" in text
    assert "the store is empty" in text


def test_run_prints_answer_table_and_place(make: Any) -> None:
    for width in (30, 120):
        for encoding in ("utf-8", "ascii"):
            raw = io.BytesIO()
            stream = io.TextIOWrapper(raw, encoding=encoding, newline="")
            content = make(("a [red]$$", "茶 b"))
            print_run(SimpleNamespace(metrics=content, folder=Path("runs/one")), file=stream, width=width)  # type: ignore[arg-type]
            stream.flush()
            text = raw.getvalue().decode(encoding)
            assert "is better" in text
            assert "report: runs/one/report.html" in text
            assert "a [red]$$" in " ".join(text.split())
