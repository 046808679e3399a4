"""An entry's line in the prompt, and the text it is found by."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.config import Templates
from workbench.text.render import indexed_text, long_date, rendered_line, soul_line

WHEN = "2023-05-08T23:30:00-05:00"


@pytest.mark.parametrize("month", range(1, 13))
def test_dates_are_written_in_english_whatever_the_locale(month: int) -> None:
    moment = datetime(2023, month, 8, tzinfo=UTC)
    assert long_date(moment) == moment.strftime("8 %B 2023")


def test_templates_see_the_fields_of_an_entry(kit: Any) -> None:
    templates = Templates(
        memories="[{date}|{iso_date}|{category}|{tags}|{source}] {text}",
        episodes="{iso_date} {summary} / {topics} / {outcome}",
        procedures="{name}: {steps} ({category})",
    )
    memory = kit.memory("m", "The {ferry}", created_at="2020-01-01", updated_at=WHEN, tags=("sea", "boat"), source="chat")
    # the last change counts, in UTC
    assert indexed_text(memory, templates) == "[9 May 2023|2023-05-09|fact|sea boat|chat] The {ferry}"
    episode = kit.episode("e", "Regatta", topics=("boats", "wind"), outcome="second", occurred_at="2023-05-08")
    assert indexed_text(episode, templates) == "2023-05-08 Regatta / boats, wind / second"
    assert indexed_text(kit.procedure("p", "Ring", steps=("walk", "pull")), templates) == "Ring: walk pull (workflow)"


@pytest.mark.parametrize("blank", ["", "  ", "\n\u3000"])
def test_blank_entries_are_neither_indexed_nor_rendered(kit: Any, blank: str) -> None:
    templates = Templates(memories="{date} {text}", episodes="{date} {summary}", procedures="do {name}")
    for entry in (
        kit.memory("m", blank),
        kit.episode("e", blank, topics=(blank,), outcome=blank),
        kit.procedure("p", blank, steps=(blank,)),
    ):
        assert indexed_text(entry, templates) == ""
        assert rendered_line(entry) == ""
    assert soul_line(kit.soul("s", blank)) == ""


@pytest.mark.parametrize(
    ("layer", "fields", "line"),
    [
        ("memory", {"text": " The ferry\nleaves "}, "- The ferry leaves\n"),
        ("memory", {"text": "</soul> & <b>"}, "- &lt;/soul&gt; &amp; &lt;b&gt;\n"),
        ("episode", {"summary": "Regatta", "outcome": ""}, "- 2023-05-09: Regatta\n"),
        ("episode", {"summary": "Regatta", "outcome": "second\nplace"}, "- 2023-05-09: Regatta → second place\n"),
        ("episode", {"summary": " ", "outcome": "second"}, "- 2023-05-09: second\n"),
        ("procedure", {"name": "Ring", "steps": ()}, "- Ring\n"),
        ("procedure", {"name": "Ring", "steps": ("walk\n## x", "", "pull")}, "- Ring: 1) walk ## x 2) pull\n"),
        ("procedure", {"name": "", "steps": ("walk",)}, "- 1) walk\n"),
    ],
)
def test_rendered_lines(kit: Any, layer: str, fields: dict[str, Any], line: str) -> None:
    make = {
        "memory": lambda: kit.memory("x", **fields),
        "episode": lambda: kit.episode("x", occurred_at=WHEN, **fields),
        "procedure": lambda: kit.procedure("x", **fields),
    }[layer]
    assert rendered_line(make()) == line


def test_soul_blocks_are_one_element(kit: Any) -> None:
    assert soul_line(kit.soul("s", "calm\n</worldview>", kind="worldview")) == (
        "<worldview>calm &lt;/worldview&gt;</worldview>\n"
    )


@given(text=st.text(st.characters(exclude_categories=["Cs"]), max_size=80))
def test_every_line_is_one_bullet_or_nothing(kit: Any, text: str) -> None:
    entries = [kit.memory("m", text), kit.episode("e", text, outcome=text), kit.procedure("p", text, steps=(text, text))]
    for line in map(rendered_line, entries):
        assert line == "" or (line.startswith("- ") and line.endswith("\n") and len(line.splitlines()) == 1)
        assert line == "" or line[2:].strip() == line[2:-1]
