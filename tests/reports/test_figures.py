"""Figures: real text, literal names, nothing open, nothing of the user's settings changed."""

from __future__ import annotations

import re
import subprocess
import sys
from typing import Any
from xml.etree import ElementTree

import matplotlib
import pytest

from workbench.reports.facts import Run
from workbench.reports.figures import all_figures, metrics
from workbench.reports.losses_figure import losses
from workbench.reports.style import ARMS, OKABE_ITO, Drawing, contrast

SVG = "{http://www.w3.org/2000/svg}"


def drawn(drawing: Drawing | None) -> str:
    assert drawing is not None
    return drawing.svg


def texts(svg: str) -> list[str]:
    return ["".join(item.itertext()).strip() for item in ElementTree.fromstring(svg).iter(f"{SVG}text")]


@pytest.fixture(scope="module")
def drawings(usual: tuple[dict[str, Any], dict[str, Any]]) -> dict[str, Drawing]:
    """The figures of the usual content, drawn once."""
    return all_figures(Run(usual[0], {}))


def test_labels_units_counts_and_intervals(make: Any, drawings: dict[str, Drawing]) -> None:
    content = make()
    shown = {name: texts(drawing.svg) for name, drawing in drawings.items()}
    assert "mean over n queries (share)" in shown["metrics"]
    assert "mean over n queries (tokens)" in shown["metrics"]
    assert "mean ContextRecall over n queries (share)" in shown["groups"]
    assert "no data" in shown["groups"]  # one group has no value of ContextRecall
    assert "limit 100 ms" in shown["latency"]
    assert "milliseconds per query; n timings" in shown["latency"]
    assert "n 40" in shown["latency"]
    assert "share of relevant entries (%); right: entries" in shown["losses"]
    counts = [content["arms"][arm]["relevant_entries"] for arm in ("production", "relevance-only")]
    assert f"n {' / '.join(str(sum(part.values())) for part in counts)}" in shown["losses"]
    assert f"n {' / '.join(str(part['selected']) for part in counts)}" in shown["losses"]
    for stage in ("not retrieved", "over the cap", "duplicate", "superseded", "below minimum score", "over budget"):
        lost = " / ".join(f"−{part[stage]}" if part[stage] else "0" for part in counts)
        assert stage in shown["losses"]
        assert lost in shown["losses"], stage
    n = content["arms"]["production"]["metrics"]["ContextRecall"]["n"]
    assert f"n {n}" in shown["metrics"]
    # per arm one line of its colour for every interval
    for arm, colour in zip(content["arms"].values(), ARMS, strict=False):
        intervals = [item for item in arm["metrics"].values() if item["ci95"] is not None]
        drawn = re.findall(f'<path [^>]*style="fill: none; stroke: {colour}; stroke-width: 1.6"', drawings["metrics"].svg)
        assert len(drawn) == len(intervals) > 0


def test_long_names_keep_both_ends(make: Any) -> None:
    names = [f"configuration with a very long and telling name, variant {end}" for end in "AB"]
    shown = texts(drawn(metrics(Run(make(names), {}))))
    assert len([text for text in shown if text.startswith("configuration with") and text.endswith(("A", "B"))]) == 2


def test_nothing_to_draw_gives_no_figure(make: Any, empty: Any) -> None:
    assert all_figures(Run(empty(make()), {})) == {}


def test_intervals_and_means_may_be_missing_one_by_one(make: Any) -> None:
    content = make()
    first, second = content["arms"].values()
    first["metrics"]["ContextRecall"] |= {"ci95": None}
    second["metrics"]["ContextRecall"] |= {"mean": None, "ci95": None, "n": 0}
    first["latency_ms"]["total"] |= {"p95": None, "p95_ci95": None}
    second["latency_ms"]["embed"] |= {"p50": None}
    second["relevant_entries"] = {}
    del second["effective_weights"]
    assert set(all_figures(Run(content, {}))) == {"metrics", "groups", "losses", "latency", "weights"}


def test_nothing_lost_is_said(make: Any) -> None:
    content = make()
    for arm in content["arms"].values():
        arm["relevant_entries"] = dict.fromkeys(arm["relevant_entries"], 0) | {"selected": 12}
    assert "no relevant entry was lost" in texts(drawn(losses(Run(content, {}))))


def test_settings_of_the_user_neither_count_nor_change(make: Any, drawings: dict[str, Drawing]) -> None:
    run = Run(make(), {})
    plain = {name: drawing.svg for name, drawing in drawings.items()}
    with matplotlib.rc_context(
        {"text.usetex": True, "font.size": 30, "svg.fonttype": "path", "axes.facecolor": "red", "text.parse_math": True}
    ):
        mine = dict(matplotlib.rcParams)
        assert {name: drawing.svg for name, drawing in all_figures(run).items()} == plain
        assert dict(matplotlib.rcParams) == mine


def test_inlined_figures_follow_the_theme_and_carry_no_spare_ids(drawings: dict[str, Drawing]) -> None:
    drawing = drawings["metrics"]
    inline = drawing.inline('what it "shows" <b>')
    assert "var(--ink)" in inline
    assert "var(--arm-0)" in inline
    assert not any(colour in inline for colour in ARMS)
    assert 'aria-label="what it &quot;shows&quot; &lt;b&gt;"' in inline
    for name in [part.split('"')[0] for part in inline.split(' id="')[1:]]:
        assert f"#{name}" in inline
    assert "http" not in inline


@pytest.mark.parametrize("colour", OKABE_ITO)
def test_values_inside_bars_are_readable(colour: str) -> None:
    def luminance(text: str) -> float:
        parts = [int(text[at : at + 2], 16) / 255 for at in (1, 3, 5)]
        red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue

    low, high = sorted((luminance(colour), luminance(contrast(colour))))
    assert (high + 0.05) / (low + 0.05) >= 4.5


def test_pyplot_is_never_imported() -> None:
    heavy = ("matplotlib.pyplot", "faiss", "torch")
    code = f"import sys, workbench.reports.html; print([name for name in {heavy} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
