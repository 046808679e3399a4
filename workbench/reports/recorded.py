"""``load_run(folder)``: a recorded run in a notebook, with the verdict, tables and figures of its report."""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import cached_property
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.errors import ConfigError
from workbench.reports.labels import printable
from workbench.tabular import Tabular

if TYPE_CHECKING:
    from workbench.experiments.verification import Verification
    from workbench.reports.cells import Table
    from workbench.reports.document import Block, Page, Section
    from workbench.reports.style import Drawing


class RunPart(Tabular):
    """One section of a run's report: its tables, in every form that results have."""

    def __init__(self, section: Section) -> None:
        self.title = section.title
        self._section = section

    def tables(self) -> tuple[Table, ...]:
        """The tables of the section, in order."""
        from workbench.reports.cells import Table

        return tuple(block for block in _all(self._section.blocks) if isinstance(block, Table))

    def __str__(self) -> str:
        return f"{self.title}\n\n{self.to_markdown()}"


class RecordedRun(Tabular):
    """A run as its folder records it. Get one from ``load_run``.

    manifest, content: what ``manifest.json`` and ``metrics.json`` hold. kind: run, ab, sweep, tune, latency, conflicts.
    verdict: a word. question, sentence: what the run asked, and the answer with its numbers.
    """

    def __init__(self, folder: Path, page: Page, manifest: Mapping[str, Any], content: Mapping[str, Any]) -> None:
        self.folder, self.manifest, self.content = folder, manifest, content
        self.kind, self.question = page.kind, page.question
        self.verdict, self.sentence = page.answer.word, page.answer.sentence
        self._page = page

    @property
    def parts(self) -> tuple[str, ...]:
        """Names of the sections of its report, for ``part``."""
        return tuple(section.key for section in self._page.sections)

    def part(self, name: str) -> RunPart:
        """One section. Raises ConfigError naming those there are."""
        for section in self._page.sections:
            if section.key == name:
                return RunPart(section)
        raise ConfigError(f"the run has no part {name!r}; it has {', '.join(self.parts)}")

    @cached_property
    def figures(self) -> dict[str, Drawing]:
        """Its figures by name; ``plot(run, name)`` gives one."""
        from workbench.reports.document import Picture

        blocks = (block for section in self._page.sections for block in _all(section.blocks))
        return {block.drawing.name.removeprefix(f"{self.kind}-"): block.drawing for block in blocks if isinstance(block, Picture)}

    def verify(self, *, data: str | os.PathLike[str] | None = None) -> Verification:
        """Compute the run again and compare everything but timings; see ``workbench runs verify``. data: local file of a public
        dataset."""
        from workbench.experiments.verification import verify

        return verify(self.folder, data=None if data is None else Path(data))

    def tables(self) -> tuple[Table, ...]:
        """The tables of its results."""
        return self.part("results").tables()

    def __str__(self) -> str:
        return f"{self.question}\n{self.verdict}: {self.sentence}"

    def _repr_html_(self) -> str:
        word, sentence = (escape(printable(text)) for text in (self.verdict, self.sentence))
        return f"<p>{escape(printable(self.question))}</p><p><b>{word}</b>. {sentence}</p>{super()._repr_html_()}"


def load_run(folder: str | os.PathLike[str]) -> RecordedRun:
    """Read a run folder of any kind. Raises RunError when it is none, or not whole."""
    from workbench.reports.run_pages import read_run, run_page

    home = Path(folder)
    return RecordedRun(home, run_page(home, quoted=0), *read_run(home))


def _all(blocks: tuple[Block, ...]) -> list[Block]:
    from workbench.reports.document import Callout, Details

    out: list[Block] = []
    for block in blocks:
        out += [block, *_all(block.blocks)] if isinstance(block, Details | Callout) else [block]
    return out
