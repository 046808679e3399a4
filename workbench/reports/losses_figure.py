"""The waterfall of the relevant entries: how many each stage takes, down to those in the prompt."""

from __future__ import annotations

from collections.abc import Mapping

from matplotlib.axes import Axes

from workbench.assembly.fates import Fate
from workbench.reports import draw, style
from workbench.reports.facts import Run
from workbench.reports.labels import short
from workbench.reports.numbers import MINUS, whole
from workbench.reports.style import ARMS, MARKERS, MUTED, Drawing, Key

START = "relevant entries"
END = "in the prompt"
TITLE = "From the relevant entries to those in the prompt"


def fate_counts(run: Run, arm: str) -> dict[str, int]:
    """Fate -> relevant entries of an arm, in the order of the stages, the last one being selected."""
    return {fate: int(run.arm(arm, "relevant_entries").get(fate) or 0) for fate in run.fates}


def losses(run: Run) -> Drawing | None:
    """Per arm from all relevant entries through what each stage takes to what is in the prompt; then the losses alone on a scale
    of their own, because a few of many entries are too narrow to compare in the waterfall. None without relevant entries."""
    counts = {arm: fate_counts(run, arm) for arm in run.arms}
    total = {arm: sum(counts[arm].values()) for arm in run.arms}
    if not any(total.values()):
        return None
    stages = [fate.label for fate in Fate if fate is not Fate.SELECTED]
    stages += [fate for fate in run.fates if fate not in (*stages, Fate.SELECTED.label)]
    taken = [fate for fate in stages if any(counts[arm].get(fate) for arm in run.arms)]
    texts = {START: _each(run, {arm: whole(total[arm]) for arm in run.arms}, "n ")}
    for fate in stages:
        lost = {arm: counts[arm].get(fate, 0) for arm in run.arms}
        texts[fate] = _each(run, {arm: f"{MINUS}{whole(number)}" if number else "0" for arm, number in lost.items()})
    texts[END] = _each(run, {arm: whole(counts[arm].get(Fate.SELECTED.label, 0)) for arm in run.arms}, "n ")
    keys = [Key(short(arm), ARMS[at % 4]) for at, arm in enumerate(run.arms)]
    points = [Key(short(arm), ARMS[at % 4], MARKERS[at % 4]) for at, arm in enumerate(run.arms)]
    with style.settings("losses"):
        rows = [START, *stages, END]
        tall, lower = (draw.ROW + 0.04 * len(run.arms)) * len(rows), draw.ROW * max(len(taken), 1)
        legend = draw.legend_height([key.text for key in keys])
        height = 0.4 + 2 * legend + tall + lower + 2 * draw.AXIS + 0.2
        figure = style.canvas(height, TITLE)
        top = style.legend(figure, keys, height - 0.38) - 0.05
        left, right = draw.left([*rows, *taken]), draw.right(list(texts.values()))
        ax = style.axes(figure, left, top - tall, style.WIDTH - left - right, tall)
        for at, arm in enumerate(run.arms):
            _fall(ax, at, len(run.arms), counts[arm], stages, total[arm])
        for row, name in enumerate(rows):
            draw.count(ax, row, texts[name])
        draw.rows(ax, rows)
        ax.set_xlim(0, 100)
        ax.set_xlabel("share of relevant entries (%); right: entries")
        top = style.legend(figure, points, top - tall - draw.AXIS)
        ax = style.axes(figure, left, top - 0.08 - lower, style.WIDTH - left - right, lower)
        if not taken:
            ax.text(0.5, 0.5, "no relevant entry was lost", transform=ax.transAxes, ha="center", va="center", color=MUTED)
        for at, arm in enumerate(run.arms):
            shares = [100.0 * counts[arm].get(fate, 0) / total[arm] if total[arm] else 0.0 for fate in taken]
            places = [row + draw.offset(at, len(run.arms)) for row in range(len(taken))]
            draw.lines(ax, at, [(y, 0.0, share) for y, share in zip(places, shares, strict=True)], 2.0)
            draw.points(ax, at, list(zip(places, shares, strict=True)))
        for row, fate in enumerate(taken):
            draw.count(ax, row, texts[fate])
        draw.rows(ax, taken or [""])
        ax.set_xlim(left=0)
        ax.set_xlabel("lost there, share of relevant entries (%); right: entries")
        return style.render(figure, "losses", TITLE)


def _fall(ax: Axes, at: int, arms: int, counts: Mapping[str, int], stages: list[str], total: int) -> None:
    """The bars of one arm: whole, then each loss where the one before ended, then the rest."""
    if not total:
        return
    high = 0.78 / arms
    y = (at - (arms - 1) / 2) * high
    left = 100.0
    spans = [(0.0, 100.0)]
    for fate in stages:
        share = 100.0 * counts.get(fate, 0) / total
        spans.append((left - share, share))
        left -= share
    spans.append((0.0, 100.0 * counts.get(Fate.SELECTED.label, 0) / total))
    for row, (start, size) in enumerate(spans):
        if size > 0:
            ax.barh([row + y], [size], left=[start], height=high * 0.9, color=ARMS[at % 4], linewidth=0)
    # a thin line carries the level from one row to the next
    level = 100.0
    for row, (_, size) in enumerate(spans[1:-1], start=1):
        ax.plot([level, level], [row - 1 + y, row + y], color=ARMS[at % 4], linewidth=0.7)
        level -= size
    ax.plot([level, level], [len(spans) - 2 + y, len(spans) - 1 + y], color=ARMS[at % 4], linewidth=0.7)


def _each(run: Run, texts: Mapping[str, str], before: str = "") -> str:
    """``n 231 / 229``, or one text where all arms say the same."""
    return before + " / ".join(dict.fromkeys(texts.values()) if len(set(texts.values())) == 1 else texts.values())
