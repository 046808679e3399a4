"""Results on narrow screens: every line fits, nothing is left out, and without a screen the text is as wide as it is."""

from __future__ import annotations

import io
import re

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from workbench.columns import aligned, fitted, frame_text, wrapped
from workbench.experiments.comparison import compare_arms
from workbench.experiments.comparison_table import Comparison

WORDS = st.text("abcdefghij 0123456789", min_size=1, max_size=18).map(str.strip).filter(bool)


def comparison(arms: int = 1) -> Comparison:
    rng = np.random.default_rng(4)
    users = np.repeat([f"u{at}" for at in range(8)], 5)
    names = ("ContextRecall", "StaleExposure", "Tokens", "nDCG@10")
    values = {
        f"a rather long name {at}": {name: rng.random(40) * (900 if name == "Tokens" else 1) for name in names}
        for at in range(arms + 1)
    }
    values["a rather long name 0"]["nDCG@10"][:4] = np.nan
    return compare_arms(values, users, baseline="a rather long name 0", seed=1, primary="ContextRecall")


@pytest.mark.parametrize("arms", [1, 2])
@pytest.mark.parametrize("width", [80, 100, 120])
def test_a_comparison_keeps_to_the_screen_and_says_all_it_says_elsewhere(arms: int, width: int) -> None:
    result = comparison(arms)
    wide = str(result)
    assert max(map(len, wide.split("\n"))) > 120
    with fitted(width):
        narrow = wrapped(str(result))
    assert max(map(len, narrow.split("\n"))) <= width
    assert str(result) == wide
    said = set(re.split(r"\s+", narrow))
    for cells in result.table():
        for name, cell in cells.items():
            assert set(cell.split("(")[0].split()) - {"–"} <= said, (name, cell)
            if name not in ("baseline", "value", "note"):
                assert set(name.split()) <= said
    first = narrow.split("\n\n")[0]
    # two arms with long names leave room for less
    assert all(word in first for word in ("difference", "95 % interval", "p Holm", *(("verdict", "n") if arms == 1 else ())))


@given(st.integers(1, 6), st.integers(2, 9), st.integers(30, 120), st.data())
def test_all_cells_of_all_columns_are_there_in_order(rows: int, columns: int, width: int, data: st.DataObject) -> None:
    names = [f"c{at}" for at in range(columns)]
    table = [{name: data.draw(WORDS) for name in names} for _ in range(rows)]
    with fitted(width):
        parts = aligned(table).split("\n\n")
    heads = [part.split("\n")[0].split() for part in parts]
    assert [name for head in heads for name in head[1:]] == names[1:]
    assert all(head[0] == "c0" for head in heads)
    assert all(part.count("\n") == rows for part in parts)
    assert all(len(line) <= max(width, 2 * 18 + 2) for part in parts for line in part.split("\n"))
    for at, row in enumerate(table):
        text = " ".join(part.split("\n")[at + 1] for part in parts)
        assert all(cell in text for cell in row.values())


def test_a_frame_is_shown_whole_without_a_screen_and_numbered_where_no_column_names_its_rows() -> None:
    frame = pd.DataFrame({"rank": [1, 1], "a long name of a column": [0.25, None], "another long name": ["x", "y"]})
    assert frame_text(frame, "{:.2f}".format) == frame.to_string(index=False, float_format="{:.2f}".format)
    with fitted(30):
        text = frame_text(frame, "{:.2f}".format, keys=0)
        empty = frame_text(frame[:0])
    assert text.split("\n\n")[-1].split("\n")[2].split() == ["2", "y"]
    assert "NaN" in text
    assert empty.endswith("(no rows)")
    assert next(iter(frame.columns)) == "rank"


def test_prose_is_broken_and_tables_are_not() -> None:
    prose, row = "  one two three four five six seven eight", "a  b" * 20
    with fitted(20):
        assert wrapped(f"{prose}\n{row}").split("\n") == ["  one two three four", "    five six seven", "    eight", row]
    assert wrapped(prose) == prose


@pytest.mark.parametrize("width", [80, 100])
def test_rich_shows_narrow_tables_without_breaking_numbers(width: int) -> None:
    result = comparison(2)
    out = io.StringIO()
    Console(file=out, width=width).print(result)
    text = out.getvalue()
    assert max(map(len, text.split("\n"))) <= width
    assert "(continued)" in text
    for row in result:
        assert f"{row.mean_a:.3f}" in text or f"{row.mean_a:,.1f}" in text
        assert f"{row.wins}/{row.ties}/{row.losses}" in text.replace(" ", "")
