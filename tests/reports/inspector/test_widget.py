"""The widget's side in the kernel: positions in, a finished view or a reason out."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("anywidget", reason="anywidget is not installed")


@pytest.fixture
def shown(kit: Any) -> Any:
    memories = [kit.memory(f"m{number}", f"ferry pier {number}", importance=number / 10) for number in range(9)]
    return kit.assembler(memories).assemble("ferry 3", now=kit.now).inspect()


def test_moving_a_slider_makes_a_new_view(shown: Any) -> None:
    widget = shown.widget
    before = dict(widget.view)
    widget.values = {**widget.values, "memories": 20, "importance": 1.0}
    assert widget.problem == ""
    assert shown.config.budgets.memories == 20
    assert widget.view["leaving"] == list(shown.leaving) != []
    assert widget.view["prompt"] == shown.context.prompt != before["prompt"]
    assert widget.view["milliseconds"] > 0
    widget.values = dict(before["values"])
    assert {key: value for key, value in widget.view.items() if key != "milliseconds"} == before


def test_positions_that_are_refused_leave_the_view_and_give_the_reason(shown: Any) -> None:
    widget = shown.widget
    before = dict(widget.view)
    widget.values = {**widget.values, "memories": -3}
    assert "budgets.memories is -3" in widget.problem
    assert widget.view == before
    widget.values = {**widget.values, "memories": 30}
    assert widget.problem == ""


def test_a_search_in_the_whole_store_is_answered(shown: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    sent: list[Any] = []
    widget = shown.widget
    monkeypatch.setattr(widget, "send", sent.append)
    for content in ({"find": "pier 4"}, {"find": 3}, "find", {}):
        widget._handle_custom_msg(content, [])
    assert [message["find"] for message in sent] == ["pier 4"]
    assert [item["id"] for item in sent[0]["entries"]] == ["m4"]


def test_a_notebook_gets_the_widget_and_a_table_for_viewers_without(shown: Any) -> None:
    data, _ = shown._repr_mimebundle_()
    assert "application/vnd.jupyter.widget-view+json" in data
    assert data["text/html"].startswith('<div class="wb-result"')
    assert "0 enter, 0 leave" in data["text/plain"]
