"""How hard a dataset is, as a table of shades: scenarios down, ways to answer across."""

from __future__ import annotations

from matplotlib.patches import Rectangle

from workbench.experiments.difficulty_arms import ARMS
from workbench.experiments.difficulty_result import Difficulty
from workbench.reports import draw, style
from workbench.reports.labels import label
from workbench.reports.style import MUTED, SURFACE, Drawing

_LOW, _HIGH = (0xF2, 0xF6, 0xFA), (0x00, 0x4C, 0x7D)


def difficulty_figure(difficulty: Difficulty) -> Drawing:
    """Clean recall of every arm per scenario in per cent, darker for more; a scenario without judged queries shows a dash."""
    scenarios = difficulty.scenarios
    names = [row.scenario for row in scenarios]
    tall = draw.ROW * max(len(names), 1)
    with style.settings("difficulty"):
        figure = style.canvas(tall + 1.05, f"How hard is {label(difficulty.dataset)}: recall of seven ways to answer")
        left, right = draw.left(names), 0.75
        width = style.WIDTH - left - right
        ax = style.axes(figure, left, 0.3, width, tall)
        ax.grid(visible=False)
        for y, row in enumerate(scenarios):
            for x, arm in enumerate(ARMS):
                value = row.recall.get(arm)
                colour = "#ffffff" if value is None else _shade(value)
                ax.add_patch(Rectangle((x - 0.5, y - 0.5), 1, 1, facecolor=colour, edgecolor=SURFACE, linewidth=1.5))
                ink = MUTED if value is None else style.contrast(colour)
                ax.text(x, y, "–" if value is None else f"{100 * value:.0f}", ha="center", va="center", color=ink, fontsize=9)
            draw.count(ax, y, f"n {row.n}")
        draw.rows(ax, names)
        ax.set_xlim(-0.5, len(ARMS) - 0.5)
        ax.set_xticks(range(len(ARMS)), list(ARMS))
        ax.xaxis.tick_top()
        ax.tick_params(axis="x", length=0, labelsize=9.5)
        ax.spines["bottom"].set_visible(False)
        style.write(figure, 0.12, 0.12, "clean recall in the context, per cent of n queries", color=MUTED, fontsize=9)
        return style.render(figure, "difficulty", "Difficulty per scenario")


def _shade(value: float) -> str:
    part = min(max(value, 0.0), 1.0)
    return "#" + "".join(f"{round(low + part * (high - low)):02x}" for low, high in zip(_LOW, _HIGH, strict=True))
