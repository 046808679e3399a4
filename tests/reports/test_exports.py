"""Results as tables: Markdown, LaTeX, CSV, notebook and terminal say the same, and nothing a user wrote does anything in them."""

from __future__ import annotations

import csv
import io
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from workbench.assembly.fates import Fate
from workbench.experiments.ablation import Ablation
from workbench.experiments.comparison import compare_arms
from workbench.experiments.conflict_eval import evaluate_conflicts
from workbench.experiments.constraints import choose
from workbench.experiments.flips import Flips
from workbench.experiments.identifiability import Identifiability
from workbench.experiments.losses import LossReport
from workbench.experiments.pareto import Marginal, Split
from workbench.experiments.sweep_table import flat_table
from workbench.experiments.tuning import CrossTuning, Goal
from workbench.reports.cells import Cell, Column, Table, flat, number_cell, text_cell
from workbench.reports.exports import csv_text, latex_text, markdown_text, to_csv, to_latex, to_markdown
from workbench.reports.notebook import SCRIPT, tables_html
from workbench.reports.numbers import MISSING
from workbench.tabular import Tabular

EVIL = '<script>alert(1)</script>"><img src=x onerror=f()> `a` *b* _c_ $d$ | [e](javascript:f) \\input{x} & 5% #h ~i^ =1+1'
PAIRS = Path(__file__).parents[1] / "assembly" / "conflict_pairs_own.jsonl"


def comparison(arms: tuple[str, ...] = ("b",)) -> Any:
    rng = np.random.default_rng(1)
    users = [f"u{at // 6}" for at in range(72)]
    values = {
        name: {"ContextRecall": rng.uniform(0.2, 0.9, 72), "Tokens": rng.integers(90, 400, 72).astype(float)}
        for name in ("a", *arms)
    }
    values["a"]["StaleExposure"] = np.full(72, np.nan)
    for arm in arms:
        values[arm]["StaleExposure"] = np.full(72, np.nan)
    return compare_arms(values, users, baseline="a", primary="ContextRecall")


def identifiability() -> Identifiability:
    row = {"weight": 0.5, "spread": 0.1, "least": 0.0, "most": 1.0, "varies_in": 1.0, "effective": 1.0}
    rows = (
        {"signal": "relevance", **row, "verdict": "testable"},
        {"signal": "recency", **row, "spread": 0.0, "verdict": "untestable here"},
    )
    return Identifiability(dataset=EVIL, rows=rows, n_pools=3, n_users=2)


def results() -> dict[str, Tabular]:
    fates = {fate.label: 1 for fate in Fate}
    losses = LossReport(
        arm=EVIL, dataset="d", group_name="scenario", n_queries=7, n_unjudged=0, lost=(),
        rows=({"group": EVIL, "relevant": 7, **fates, "covered": None}, {"group": "all", "relevant": 7, **fates, "covered": 0}),
    )  # fmt: skip
    flips = Flips(
        arm_a=EVIL, arm_b="b", metric="ContextRecall", n_queries=1, wins=1, ties=0, losses=0,
        rows=({"query_id": EVIL, "user_id": "u", "group": "g", "metric": "ContextRecall", "value_a": None, "value_b": 1.0,
               "outcome": "win", "entry_id": "m1", "stage_a": "over budget", "stage_b": "selected"},),
    )  # fmt: skip
    step = {
        "tier": "memories",
        "budget_from": 0,
        "budget_to": 100,
        "n": 9,
        "tokens": 80.5,
        "recall": 0.25,
        "ci95_low": 0.1,
        "ci95_high": 0.4,
    }
    means = {"mean_ContextRecall": 0.5, "ci_low_ContextRecall": 0.4, "ci_high_ContextRecall": 0.6, "n_ContextRecall": 4}
    table = flat_table([{"x": 1}, {"x": 2}], ["h1", "h2"], [means] * 2, ["ContextRecall"])
    fold = {"held_out_user": EVIL, "row": 1, "train": 0.8, "held_out": 0.7, "baseline": None, "n": 4, "params": {"x": 1.0}}
    return {
        "comparison": comparison(),
        "comparison of several arms": comparison(("b", EVIL)),
        "identifiability": identifiability(),
        "ablation": Ablation(
            comparison=comparison(), signals=identifiability(), metrics=("ContextRecall",), verdicts={"relevance": "worse"}
        ),
        "losses": losses,
        "flips": flips,
        "marginal": Marginal(rows=({**step, "recall_per_100_tokens": None},)),
        "split": Split(
            total=9, soul=1, budgets={"memories": 8}, recall=0.5, tokens=7.0, present_recall=0.4, present_tokens=6.5, n=3,
            tried=2, ties=1,
        ),
        "choice": choose(table, "max ContextRecall"),
        "cross tuning": CrossTuning(
            goal=Goal.parse("max ContextRecall"), folds=(fold,), comparison=comparison(), gap=0.1, final=0,
            final_params={"x": 1.0}, final_mean=0.9, n_tried=2, signals=identifiability(),
        ),
        "conflicts": evaluate_conflicts(PAIRS),
    }  # fmt: skip


RESULTS = results()
each = pytest.mark.parametrize("result", RESULTS.values(), ids=RESULTS.keys())


class Strict(HTMLParser):
    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[str] = []
        self.names: list[str] = []
        self.texts: list[str] = []
        self.feed(text)
        self.close()
        assert not self.open

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.tags.append(tag)
        self.names += [name for name, _ in attrs]
        self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] not in ("script", "style"):
            self.texts.append(data)


@each
def test_in_a_notebook_it_is_a_whole_table_and_nothing_else_runs(result: Any) -> None:
    html = result._repr_html_()
    read = Strict(html)
    assert read.tags.count("table") == len(result.tables())
    assert read.tags.count("script") == 1
    assert "img" not in read.tags
    assert not [name for name in read.names if name.startswith("on") or name in ("src", "href")]
    assert html == result._repr_html_()
    body = read.tags.count("tr") - read.tags.count("table")
    assert body == sum(len(table.rows) for table in result.tables())


@each
def test_a_terminal_shows_every_text_as_it_is(result: Any) -> None:
    out = io.StringIO()
    Console(file=out, width=4000, no_color=True).print(result)
    shown = " ".join(out.getvalue().split())
    for table in result.tables():
        for row in table.rows:
            for cell in row:
                assert " ".join(cell.text.split()) in shown


@each
def test_markdown_has_a_row_per_row_and_equal_columns(result: Any) -> None:
    text = result.to_markdown()
    lines = [line for line in text.splitlines() if line.startswith("|")]
    tables = result.tables()
    assert len(lines) == sum(len(table.rows) + 2 for table in tables)
    wanted = [len(table.columns) for table in tables for _ in range(len(table.rows) + 2)]
    assert [len(re.split(r"(?<!\\)\|", line)) - 2 for line in lines] == wanted
    assert "<script" not in text
    assert "](javascript" not in text.replace("&#91;", "") or "&#91;e]" in text
    assert not re.search(r"(?<!\\)[$`]", text)


@each
def test_csv_has_all_digits_and_no_formula(result: Any) -> None:
    rows = list(csv.reader(io.StringIO(result.to_csv())))
    table = result.tables()[0]
    assert [len(row) for row in rows] == [len(table.columns)] * (len(table.rows) + 1)
    for row, cells in zip(rows[1:], table.rows, strict=True):
        for text, cell in zip(row, cells, strict=True):
            assert not text.startswith(("=", "@", "\t"))
            if (
                isinstance(cell.sort, float)
                and not cell.text.startswith("[")
                and "/" not in cell.text
                and " of " not in cell.text
            ):
                assert float(text) == cell.sort


@each
def test_latex_closes_what_it_opens(result: Any) -> None:
    text = result.to_latex()
    assert text.count(r"\begin{tabular}") == text.count(r"\end{tabular}") == len(result.tables())
    assert r"\input" not in text
    plain = re.sub(r"\\[\\{}$#%&_]", "", text)
    assert plain.count("{") == plain.count("}")
    assert plain.count("$") % 2 == 0
    assert "%" not in plain


def test_values_are_those_of_the_result() -> None:
    result = RESULTS["comparison"]
    first = result.tables()[0].rows[0]
    row = result.rows[0]
    texts = [cell.text for cell in first]
    assert texts[0].startswith(row.metric)
    assert first[1].text == f"{row.n}"
    assert first[1].subs[0].startswith(f"{row.n_clusters} users")
    assert [cell.sort for cell in first[2:5]] == [row.mean_a, row.mean_b, row.difference]
    assert row.verdict in texts
    undefined = result.tables()[0].rows[-1]
    assert result.rows[-1].n == 0
    assert [cell.text for cell in undefined[2:8]] == [MISSING] * 6


def test_the_table_of_one_split_shows_no_made_up_budget() -> None:
    rows = RESULTS["split"].tables()[0].rows
    assert [cell.text for cell in rows[1]][1:3] == [MISSING, MISSING]


@given(st.text(max_size=60))
def test_any_text_survives_markdown_as_itself(text: str) -> None:
    out = markdown_text(text)
    assert "\n" not in out
    assert "<" not in out.replace("&lt;", "")
    assert not re.search(r"(?<!\\)(?:\\\\)*[`*_|$]", out)


@given(st.text(max_size=60))
def test_any_text_fits_latex_and_csv(text: str) -> None:
    out = latex_text(text)
    plain = re.sub(
        r"\\(?:textbackslash|textasciitilde|textasciicircum|textless|textgreater|textbar|textquotedbl|dots)\{\}", "", out
    )
    plain = plain.replace("{[}", "").replace("{]}", "").replace("$-$", "")
    plain = re.sub(r"\$\\(?:uparrow|downarrow|rightarrow|times|pm)\$", "", plain)
    assert not re.search(r"(?<!\\)[{}$#%&_]", plain)
    assert not csv_text(text).startswith(("=", "+", "-", "@"))
    written = io.StringIO()
    csv.writer(written).writerow([csv_text(text)])
    assert len(list(csv.reader(io.StringIO(written.getvalue())))) <= 1 or "\n" in csv_text(text)


def test_cells_that_span_rows_are_repeated_where_there_are_no_spans() -> None:
    head = Cell(text="g", head="rowgroup", rows=2)
    table = Table(
        caption="c", columns=tuple(Column(text=name) for name in "abc"),
        bodies=(((head, text_cell("x"), number_cell(1.0)), (text_cell("y"), number_cell(None))),),
    )  # fmt: skip
    assert [[cell.text for cell in row] for row in table.rows] == [["g", "x", "1.000"], ["g", "y", MISSING]]
    assert to_csv(table).splitlines() == ["a,b,c", "g,x,1.0", f"g,y,{MISSING}"]
    assert "| g | y | – |" in to_markdown(table)
    assert "g & y & --" in to_latex(table)
    assert tables_html((table,)).count("<th ") == 4


def test_the_same_table_gives_the_same_bytes_and_the_script_is_a_constant() -> None:
    table = Table(caption=EVIL, columns=(Column(text=EVIL),), bodies=flat([[text_cell(EVIL)]]))
    html = tables_html((table,))
    key = re.search(r'data-wb="([0-9a-f]{12})"', html)
    assert key is not None
    assert SCRIPT.replace("KEY", key[1]) in html
    assert html.count("</script>") == 1
