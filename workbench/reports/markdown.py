"""A document as Markdown, with its figures as files beside it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from workbench.errors import RunError
from workbench.reports.document import (
    Block,
    Bullets,
    Callout,
    Code,
    Details,
    Document,
    Facts,
    Heading,
    Inspected,
    Line,
    Page,
    Picture,
    Prompts,
    Text,
)  # fmt: skip
from workbench.reports.exports import markdown_text, to_markdown
from workbench.reports.labels import printable


def write_markdown(document: Document, target: Path) -> tuple[Path, ...]:
    """Write the document and, in ``<name>-figures`` beside it, its figures; returns all paths. Raises RunError."""
    folder = target.with_name(f"{target.stem}-figures")
    figures: dict[str, str] = {}
    text = markdown(document, folder.name, figures)
    paths = [target]
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        if figures:
            folder.mkdir(exist_ok=True)
        for name, svg in figures.items():
            (folder / name).write_text(svg, encoding="utf-8", newline="\n")
            paths.append(folder / name)
        target.write_text(text, encoding="utf-8", newline="\n")
    except OSError as error:
        raise RunError(f"cannot write {target}: {error.strerror}; choose another place") from None
    return tuple(paths)


def markdown(document: Document, folder: str, figures: dict[str, str]) -> str:
    """The text. folder: where its links expect the figures, which are put into ``figures`` by file name."""
    lines: list[str] = []
    many = len(document.pages) > 1
    if many:
        lines += [f"# {markdown_text(document.title)}", ""]
        if document.overview is not None:
            lines += [to_markdown(document.overview)]
    for number, page in enumerate(document.pages, start=1):
        prefix = f"{number}-" if many else ""
        lines += _page(page, 2 if many else 1, folder, prefix, figures)
    return re.sub(r"\n{3,}", "\n\n", printable("\n".join(lines))).rstrip("\n") + "\n"


def _page(page: Page, level: int, folder: str, prefix: str, figures: dict[str, str]) -> Iterator[str]:
    answer = page.answer
    yield from (f"{'#' * level} {markdown_text(page.title)}", "", f"*{markdown_text(page.question)}*", "")
    yield from (f"**{markdown_text(answer.word.capitalize())}.** {markdown_text(answer.sentence)}", "")
    yield from (f"- {markdown_text(detail)}" for detail in answer.details)
    if answer.source:
        yield from ("", _source(page, answer.source))
    yield ""
    for card in page.cards:
        yield f"- {markdown_text(card.title)}: **{markdown_text(card.value)}** ({markdown_text(card.sub)})"
    for part in page.sections:
        yield from ("", f"{'#' * (level + 1)} {markdown_text(part.title)}", "")
        for block in part.blocks:
            yield from _block(block, page, level + 1, folder, prefix, figures)


def _block(block: Block, page: Page, level: int, folder: str, prefix: str, figures: dict[str, str]) -> Iterator[str]:
    if isinstance(block, Text):
        yield from (_words(block), "")
    elif isinstance(block, Bullets):
        yield from (*(f"- {markdown_text(item)}" for item in block.items), "")
    elif isinstance(block, Facts):
        yield from (*(f"- {markdown_text(fact.term)}: {markdown_text(fact.text)}" for fact in block.items), "")
    elif isinstance(block, Code):
        yield from (*fenced(block.text), "")
    elif isinstance(block, Heading):
        yield from (f"{'#' * (level + 1)} {markdown_text(block.text)}", "")
    elif isinstance(block, Picture):
        name = f"{prefix}{block.drawing.name}.svg"
        figures[name] = block.drawing.svg
        yield from (f"![{markdown_text(block.drawing.title)}](<{folder}/{name}>)", "", markdown_text(block.caption), "")
        if block.source:
            yield from (_source(page, block.source), "")
    elif isinstance(block, Details | Callout):
        title = _words(block.summary) if isinstance(block, Details) else markdown_text(block.title)
        yield from (f"{'#' * (level + 1)} {title}", "")
        for inner in block.blocks:
            yield from _block(inner, page, level + 1, folder, prefix, figures)
    elif isinstance(block, Prompts):
        yield from (*_prompts(block), "")
    elif isinstance(block, Inspected):
        yield from ("The inspector is on the HTML page only.", "")
    else:
        yield to_markdown(block)
        if block.source:
            yield from (_source(page, block.source), "")


def _words(text: Text) -> str:
    return markdown_text("".join(part if isinstance(part, str) else part.text for part in text.parts))


def _source(page: Page, source: str) -> str:
    return f"<sub>{markdown_text(f'run {page.run_id}' if page.run_id else 'this run')}, {markdown_text(source)}</sub>"


def fenced(text: str, kind: str = "") -> list[str]:
    """Text in a fence that nothing in it can close."""
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return [f"{fence}{kind}", *printable(text).split("\n"), fence]


def _prompts(block: Prompts) -> list[str]:
    """Both prompts as one difference: Markdown has no columns for long lines."""
    names = " against ".join(f"{chip.text} ({count} tokens)" for chip, count in zip(block.names, block.tokens, strict=True))
    lines: list[str] = []
    for left, right in block.rows:
        if left is not None and right is not None and not left.mark and left.text == right.text:
            lines.append(_line(left))
        else:
            lines += [_line(line) for line in (left, right) if line is not None]
    return [markdown_text(names), "", *fenced("\n".join(lines), "diff")]


def _line(line: Line) -> str:
    return f"{line.mark or ' '} {line.text}{f'  [{line.judged}]' if line.judged else ''}"
