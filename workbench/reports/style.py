"""How figures look: one palette, one type size, and SVG that a page can theme.

Figures are drawn without pyplot, so nothing stays open, and under matplotlib's defaults plus the settings below,
whatever the user's own settings are. Text is never read as mathematics, and it stays text in the SVG: the viewer's fonts
draw it, so that any script appears. For that reason no layout may depend on measured text: places are given in inches.
"""

from __future__ import annotations

import io
import re
import threading
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from typing import Any

import matplotlib
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Rectangle

from workbench.reports.labels import columns, printable

WIDTH = 6.8
"""Width of every figure in inches; with 10 point type it stays legible at half the width of a page."""

# Stand-ins that an inlined figure turns into the page's colours, light or dark; a file keeps them as they are.
INK, MUTED, GRID, SURFACE = "#1c2127", "#59636e", "#dde2e7", "#fefefe"
ARMS = ("#0071b2", "#d45e00", "#009e72", "#cc79a6")
"""Colours of the arms: Okabe & Ito's blue, vermilion, green and purple, each off by one so that it can be found again."""
MARKERS = ("o", "s", "^", "D")
"""Markers of the arms, so that colour is never the only difference."""
OKABE_ITO = ("#009E73", "#E69F00", "#F0E442", "#CC79A7", "#56B4E9", "#0072B2", "#D55E00", "#999999")
"""Colours for parts of a whole (Okabe & Ito 2008), safe for colour-blind readers."""

_THEMED = {INK: "--ink", MUTED: "--muted", GRID: "--grid", SURFACE: "--card"} | {
    colour: f"--arm-{number}" for number, colour in enumerate(ARMS)
}
_SETTINGS: dict[str, Any] = {
    "font.family": ["DejaVu Sans"],
    "font.size": 10.0,
    "text.parse_math": False,
    "text.usetex": False,
    "text.color": INK,
    "axes.labelcolor": INK,
    "axes.labelsize": 10.0,
    "axes.edgecolor": MUTED,
    "axes.linewidth": 0.8,
    "axes.facecolor": "none",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.spines.left": False,
    "axes.axisbelow": True,
    "axes.formatter.use_mathtext": False,
    "axes.unicode_minus": True,
    "grid.color": GRID,
    "grid.linewidth": 0.8,
    "xtick.color": MUTED,
    "xtick.labelcolor": INK,
    "ytick.color": MUTED,
    "ytick.labelcolor": INK,
    "ytick.major.size": 0.0,
    "ytick.major.pad": 9.0,
    "figure.facecolor": SURFACE,
    "svg.fonttype": "none",
}
# matplotlib's settings and Python's warning filters belong to the process, so one thread draws at a time
_LOCK = threading.RLock()
_FONTS = "system-ui, 'Segoe UI', Roboto, 'Noto Sans', 'Noto Sans CJK SC', 'DejaVu Sans', sans-serif"


@dataclass(frozen=True, kw_only=True)
class Drawing:
    """A finished figure. name: of its file, without suffix. title: what it is. svg: the file's text, deterministic."""

    name: str
    title: str
    svg: str = field(repr=False)
    figure: Figure | None = field(default=None, repr=False, compare=False)

    def _repr_png_(self) -> bytes:
        """For notebooks, which show an SVG only when they are trusted; the fonts are then those of this machine."""
        if self.figure is None:
            raise NotImplementedError
        buffer = io.BytesIO()
        with settings(self.name):
            self.figure.savefig(buffer, format="png", dpi=110, facecolor="white")
        return buffer.getvalue()

    def save(self, path: str | Path) -> Path:
        """Write the SVG; the folder must exist."""
        Path(path).write_text(self.svg, encoding="utf-8")
        return Path(path)

    def inline(self, description: str) -> str:
        """The figure for the body of a page: themed by the page, described for those who cannot see it, no unused ids."""
        body = self.svg[self.svg.index("<svg") :]
        body = re.sub(r"<style\b.*?</style>", "", body, flags=re.DOTALL)
        for colour, variable in _THEMED.items():
            body = body.replace(colour, f"var({variable})")
        used = set(re.findall(r"url\(#([^)]+)\)|href=\"#([^\"]+)\"", body))
        keep = {name for pair in used for name in pair if name}
        body = re.sub(r" id=\"([^\"]*)\"", lambda match: match[0] if match[1] in keep else "", body)
        box = re.search(r'viewBox="([^"]*)"', body)
        head = f'<svg viewBox="{box[1] if box else ""}" role="img" aria-label="{escape(printable(description))}">'
        return re.sub(r"^<svg\b[^>]*>", lambda _: head, body, count=1).strip()


@contextmanager
def settings(name: str) -> Iterator[None]:
    """Matplotlib's own defaults with the settings above, whatever the user's are; they come back afterwards.

    Glyphs that the measuring font lacks are no matter here: the viewer's fonts draw the text.
    """
    chosen: dict[Any, Any] = {
        **{key: value for key, value in matplotlib.rcParamsDefault.items() if not key.startswith("backend")},
        **_SETTINGS,
        "svg.hashsalt": f"workbench-{name}",
    }
    with _LOCK, matplotlib.rc_context(), warnings.catch_warnings():
        warnings.simplefilter("ignore", matplotlib.MatplotlibDeprecationWarning)
        matplotlib.rcParams.update(chosen)
        warnings.filterwarnings("ignore", message="Glyph .* missing from font")
        yield


def render(figure: Figure, name: str, title: str) -> Drawing:
    """The figure as SVG text: no date, no version, ids from its content. To be called inside ``settings``."""
    buffer = io.StringIO()
    figure.savefig(buffer, format="svg", metadata=dict.fromkeys(("Date", "Creator", "Format", "Type")))
    svg = buffer.getvalue().replace("'DejaVu Sans'", _FONTS)
    svg = svg.replace("<metadata>", "<title>" + escape(title) + "</title>\n  <metadata>", 1)
    svg = re.sub(r"[ \t]*<metadata>.*?</metadata>\n?", "", svg, flags=re.DOTALL)
    return Drawing(name=name, title=title, svg="\n".join(line.rstrip() for line in svg.splitlines()) + "\n", figure=figure)


def canvas(height: float, title: str) -> Figure:
    """An empty figure of the common width and ``height`` inches with its title at the top left."""
    figure = Figure(figsize=(WIDTH, height))
    write(figure, 0.08, height - 0.2, title, weight="bold")
    return figure


def write(figure: Figure, x: float, y: float, text: str, **options: Any) -> None:
    """Text with its left end and middle at x, y inches from the bottom left."""
    figure.text(x, y, text, transform=figure.dpi_scale_trans, **({"va": "center", "ha": "left"} | options))


def axes(figure: Figure, left: float, bottom: float, width: float, height: float) -> Axes:
    """Axes at a place given in inches, with a grid across the values."""
    total = figure.get_size_inches()
    ax: Axes = figure.add_axes((left / total[0], bottom / total[1], width / total[0], height / total[1]))
    ax.grid(axis="x")
    return ax


@dataclass(frozen=True)
class Key:
    """One entry of a legend. shape: a marker, or "bar"."""

    text: str
    colour: str
    shape: str = "bar"
    hollow: bool = False


def legend(figure: Figure, keys: Sequence[Key], top: float) -> float:
    """Entries in lines from the left, below ``top`` inches; returns where the last line ends.

    Drawn here and not by matplotlib, which drops names that begin with an underscore and places entries by measured text.
    """
    x, y = 0.12, top - 0.12
    for key in keys:
        width = 0.3 + 0.085 * columns(key.text) + 0.2
        if x > 0.12 and x + width > WIDTH:
            x, y = 0.12, y - 0.22
        if key.shape == "bar":
            patch = Rectangle((x, y - 0.06), 0.16, 0.12, facecolor=key.colour, transform=figure.dpi_scale_trans)
            figure.add_artist(patch)
        else:
            figure.add_artist(
                Line2D([x + 0.08], [y], transform=figure.dpi_scale_trans, **marker(key.shape, key.colour, key.hollow))
            )
        write(figure, x + 0.24, y, key.text)
        x += width
    return y - 0.12


def marker(shape: str, colour: str, hollow: bool = False) -> dict[str, Any]:
    """Options of ``plot`` for a marker without a line."""
    return {
        "marker": shape,
        "linestyle": "none",
        "markersize": 6.5,
        "markerfacecolor": SURFACE if hollow else colour,
        "markeredgecolor": colour,
        "markeredgewidth": 1.4,
    }


def contrast(colour: str) -> str:
    """Black or white, whichever reads better on ``colour`` (#rrggbb), by WCAG's relative luminance."""
    parts = [int(colour[at : at + 2], 16) / 255.0 for at in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    luminance = 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
    return "#000000" if luminance > 0.179 else "#ffffff"
