"""A report as a value: pages of sections of blocks, which HTML and Markdown render each in its own way."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from workbench.reports.cells import Table
from workbench.reports.style import Drawing

if TYPE_CHECKING:  # whoever only reads a report loads no search index
    from workbench.reports.inspector.page import Block as InspectorPart


@dataclass(frozen=True, kw_only=True)
class Chip:
    """The name of an arm behind its marker."""

    text: str
    arm: int


@dataclass(frozen=True)
class Text:
    """A paragraph. parts: strings and arms. kind: "" or "small"."""

    parts: tuple[str | Chip, ...]
    kind: str = ""


@dataclass(frozen=True)
class Bullets:
    """A list of sentences."""

    items: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Fact:
    """A term and what it is."""

    term: str
    text: str


@dataclass(frozen=True)
class Facts:
    """Terms and what they are. tight: many of them, set smaller."""

    items: tuple[Fact, ...]
    tight: bool = False


@dataclass(frozen=True, kw_only=True)
class Code:
    """Text as it is. title: what it is, for those who cannot see it. wrap: break long lines."""

    text: str
    title: str
    wrap: bool = False


@dataclass(frozen=True, kw_only=True)
class Picture:
    """A figure with a sentence that says what it shows. source: as in Table."""

    drawing: Drawing
    caption: str
    source: str = ""


@dataclass(frozen=True)
class Heading:
    """A heading inside a section."""

    text: str


@dataclass(frozen=True, kw_only=True)
class Details:
    """Blocks that are shown on demand (and in print)."""

    summary: Text
    blocks: tuple[Block, ...]


@dataclass(frozen=True, kw_only=True)
class Callout:
    """Blocks in a box of their own."""

    title: str
    blocks: tuple[Block, ...]


@dataclass(frozen=True, kw_only=True)
class Line:
    """A line of a prompt. mark: "" in both prompts, "-" only in the first, "+" only in the second; judged: what the judgement
    says of the entry it shows ("relevant", "must not appear" or nothing)."""

    text: str
    mark: str = ""
    judged: str = ""


@dataclass(frozen=True, kw_only=True)
class Prompts:
    """Two prompts side by side. names: of the arms. rows: pairs of lines that stand beside each other, None where one prompt
    has nothing there. tokens: of each prompt."""

    names: tuple[Chip, Chip]
    rows: tuple[tuple[Line | None, Line | None], ...]
    tokens: tuple[int, int]


@dataclass(frozen=True, kw_only=True)
class Inspected:
    """The inspector of one context, without sliders. part: its HTML, and the style and script that all of them share."""

    part: InspectorPart


Block = Text | Bullets | Facts | Code | Picture | Heading | Details | Callout | Prompts | Inspected | Table


@dataclass(frozen=True, kw_only=True)
class Section:
    """A part of a page. key: of its address. nav: its name in the contents."""

    key: str
    title: str
    nav: str
    blocks: tuple[Block, ...]


@dataclass(frozen=True, kw_only=True)
class Answer:
    """word: the verdict. tone: of its box. sentence: the answer with its numbers. details: what else a reader must know.
    source: where the numbers are recorded."""

    word: str
    tone: str
    sentence: str
    details: tuple[str, ...] = ()
    source: str = ""


@dataclass(frozen=True, kw_only=True)
class Card:
    """One key number. title: what. value: the number. sub: interval, n, or what it is compared with. tone: of its verdict.
    path: where it is recorded."""

    title: str
    value: str
    sub: str
    tone: str
    path: str = ""


@dataclass(frozen=True, kw_only=True)
class Page:
    """One run. run_id: what footnotes call it. kind: as in its manifest. kicker: a line above the title."""

    run_id: str
    kind: str
    kicker: str
    title: str
    question: str
    answer: Answer
    cards: tuple[Card, ...] = ()
    sections: tuple[Section, ...] = ()
    dataset: str = ""


@dataclass(frozen=True, kw_only=True)
class Document:
    """One or more pages; several begin with an overview table. intro: sentences below the title of such a document."""

    title: str
    pages: tuple[Page, ...]
    overview: Table | None = None
    intro: str = ""


def section(key: str, title: str, blocks: Sequence[Block | None], nav: str | None = None) -> Section:
    """A section of the blocks that are there."""
    return Section(
        key=key, title=title, nav=title if nav is None else nav, blocks=tuple(item for item in blocks if item is not None)
    )


def paragraph(*parts: str | Chip) -> Text:
    """A paragraph."""
    return Text(tuple(parts))


def small(*parts: str | Chip) -> Text:
    """A paragraph in small type."""
    return Text(tuple(parts), "small")
