"""Names, numbers and paths as text."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.assembly import assembler
from workbench.assembly.stages import STAGES
from workbench.reports.labels import columns, label, listed, ordered, portable, portable_command, printable, short
from workbench.reports.numbers import MISSING, interval, number, p_value, percent, plural, span, whole


def test_stages_are_those_of_the_assembler() -> None:
    assert assembler.STAGES == STAGES


@given(st.text(alphabet=st.characters(codec=None)))
def test_labels_are_one_printable_line(name: str) -> None:
    text = label(name)
    assert text
    assert text.encode("utf-8")
    assert len(text.splitlines()) == 1
    assert printable(text) == text


@given(st.text(), st.integers(6, 60))
def test_short_names_fit(name: str, width: int) -> None:
    assert columns(short(name, width)) <= max(width, columns("(blank)"))


def test_right_to_left_names_are_isolated() -> None:
    assert label("שלום") == "\u2068שלום\u2069"
    assert label("plain") == "plain"
    assert label(" \n ") == "(blank)"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("/home/a/b.json", "…/b.json"),
        ("read from /home/a/b.json today", "read from …/b.json today"),
        ("~/data/x.json", "…/x.json"),
        ("file:///srv/x/y.json", "…/y.json"),
        ("C:\\Users\\me\\a.toml", "…/a.toml"),
        ("https://example.org/a/b.json", "https://example.org/a/b.json"),
        ("datasets/starter/queries.jsonl", "datasets/starter/queries.jsonl"),
        ("12 ms/query and/or tokens/day", "12 ms/query and/or tokens/day"),
        ("{date}: {text}", "{date}: {text}"),
    ],
)
def test_absolute_paths_are_cut(text: str, shown: str) -> None:
    assert portable(text) == shown


def test_commands_keep_everything_but_folders() -> None:
    words = [
        "workbench",
        "run",
        "--data",
        "/my dir/x y.json",
        "--out=/tmp/r",
        "--seed",
        "3",
        "rel/path",
        "a=/tmp/b",
        "/tmp/deep/",
    ]
    assert portable_command(words) == [
        "workbench",
        "run",
        "--data",
        "…/x y.json",
        "--out=…/r",
        "--seed",
        "3",
        "rel/path",
        "a=/tmp/b",
        "…/deep",
    ]


def test_order_is_given_first_then_natural() -> None:
    assert ordered(["b10", "b9", "x", "y"], ("y", "x")) == ("y", "x", "b9", "b10")
    assert listed(["a"]) == "a"
    assert listed(["a", "b", "c"]) == "a, b and c"
    assert listed(list("abcd"), most=2) == "a, b and 2 more"


@given(
    st.floats(allow_nan=True, allow_infinity=True), st.sampled_from(["share", "tokens", "entries", "count", "x"]), st.booleans()
)
def test_what_is_not_zero_never_shows_as_zero(value: float, unit: str, signed: bool) -> None:
    text = number(value, unit, signed=signed)
    if not math.isfinite(value):
        assert text == MISSING
        return
    back = float(text.removeprefix("<").replace("−", "-").replace(",", ""))
    assert text.startswith("<") <= (0 < value < back)
    assert (back == 0) == (value == 0)
    assert back == 0 or math.copysign(1, back) == math.copysign(1, value)


def test_numbers_as_shown() -> None:
    assert number(None) == MISSING
    assert number(0.0, signed=True) == "0.000"
    assert number(-0.0) == "0.000"
    assert number(0.0514, signed=True) == "+0.051"
    assert number(-4.9e-4) == "−0.00049"
    assert number(-0.049, "tokens", signed=True) == "−0.049"
    assert number(4.7e-8) == "<0.001"
    assert number(4.7e-8, signed=True) == "+4.7e−08"
    assert number(12345.67, "tokens") == "12,345.7"
    assert [number(value, "ms") for value in (7e-15, 0.004, 0.05, 9.994, 43.73, 142.2)] == [
        "0.00",
        "<0.01",
        "0.05",
        "9.99",
        "43.7",
        "142",
    ]
    assert interval([0.1, 0.25]) == "[0.100, 0.250]"
    assert interval(None) == MISSING
    assert span([-0.1, 0.25], signed=True) == "−0.100 to +0.250"
    assert p_value(0.0004) == "<0.001"
    assert p_value(None) == MISSING
    assert [percent(part, 10_000) for part in (0, 1, 5000, 9999, 10_000)] == ["0.0 %", "<0.1 %", "50.0 %", ">99.9 %", "100.0 %"]
    assert percent(1, 0) == MISSING
    assert whole(1982) == "1,982"
    assert plural(1, "query", "queries") == "1 query"
    assert plural(2, "user") == "2 users"
