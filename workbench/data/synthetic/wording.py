"""The wording files: which blocks of frames there are for each language.

A file is plain UTF-8 text. A line ``@kind name | key=value | flag`` opens a block; the lines below it are its frames,
each with a mark in front: ``+`` statement, ``!`` one that may well matter most, ``~`` statement after a change, ``?``
question, ``&`` part of a question, ``-`` other entry on the same topic, ``=`` steps or details, ``^`` name of the
subject, ``*`` values separated by `` / ``. A line may have several columns, separated by `` | ``. Lines that begin with
``#`` are comments. Files of a language are read in the order of their names.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import MappingProxyType

from workbench.data.synthetic.frames import Frame
from workbench.errors import DataError

LANGUAGES = ("en", "es", "de", "pt", "ko")
_FOLDER = Path(__file__).parent / "wording"
_MARKS = "+!~?&-=^*"


@dataclass(frozen=True, eq=False)
class Block:
    """One block: its kind, name, attributes, and its lines by mark, each a tuple of columns."""

    kind: str
    name: str
    attributes: Mapping[str, str]
    lines: Mapping[str, tuple[tuple[Frame, ...], ...]]
    values: tuple[Frame, ...]

    def rows(self, mark: str) -> tuple[tuple[Frame, ...], ...]:
        """The lines of one mark, in order, with all their columns."""
        return self.lines.get(mark, ())

    def of(self, *marks: str) -> tuple[Frame, ...]:
        """The first columns of the lines with these marks."""
        return tuple(row[0] for mark in marks for row in self.lines.get(mark, ()))


@dataclass(frozen=True, eq=False)
class Wording:
    """All blocks of one language, in order, by kind."""

    language: str
    blocks: Mapping[str, tuple[Block, ...]]
    pools: Mapping[str, tuple[Frame, ...]]

    def of(self, kind: str) -> tuple[Block, ...]:
        """The blocks of one kind; empty when the language has none."""
        return self.blocks.get(kind, ())

    def frames(self) -> Iterator[Frame]:
        """Every frame of the language, the values of pools left out."""
        for blocks in self.blocks.values():
            for block in blocks:
                for rows in block.lines.values():
                    for row in rows:
                        yield from row


@cache
def wording(language: str) -> Wording:
    """The wording of one language, read once per process. Raises DataError naming file and line."""
    if language not in LANGUAGES:
        raise DataError(f"language is {language!r}: must be one of {', '.join(LANGUAGES)}")
    blocks: dict[str, list[Block]] = {}
    for path in sorted((_FOLDER / language).glob("*.txt"), key=lambda item: item.name):
        for block in parse(path.read_text(encoding="utf-8"), f"{language}/{path.name}"):
            blocks.setdefault(block.kind, []).append(block)
    pools = {block.name: block.values for block in blocks.pop("pool", [])}
    return Wording(
        language=language,
        blocks=MappingProxyType({kind: tuple(items) for kind, items in blocks.items()}),
        pools=MappingProxyType(pools),
    )


def parse(text: str, where: str) -> Iterator[Block]:
    """The blocks of one file. Raises DataError naming ``where`` and the line."""
    head: tuple[str, str, dict[str, str]] | None = None
    lines: dict[str, list[tuple[Frame, ...]]] = {}
    values: list[Frame] = []
    for number, raw in enumerate(text.splitlines(), start=1):
        line = raw.strip()
        if not line or line.startswith("#"):
            continue
        if line.startswith("@"):
            if head is not None:
                yield _block(head, lines, values)
            head, lines, values = _head(line, f"{where}, line {number}"), {}, []
            continue
        mark, body = line[0], line[1:].strip()
        if head is None or mark not in _MARKS or not body:
            raise DataError(f"{where}, line {number}: {line!r} is neither a block nor a frame with one of the marks {_MARKS}")
        try:
            if mark == "*":
                values += [Frame(item.strip()) for item in body.split(" / ") if item.strip()]
            else:
                lines.setdefault(mark, []).append(tuple(Frame(column.strip()) for column in body.split(" | ")))
        except DataError as error:
            raise DataError(f"{where}, line {number}: {error}") from None
    if head is not None:
        yield _block(head, lines, values)


def _head(line: str, where: str) -> tuple[str, str, dict[str, str]]:
    parts = [part.strip() for part in line[1:].split("|")]
    words = parts[0].split()
    if len(words) != 2:
        raise DataError(f"{where}: {line!r} must begin with @kind name")
    attributes = {}
    for part in parts[1:]:
        key, _, value = part.partition("=")
        attributes[key.strip()] = value.strip()
    return words[0], words[1], attributes


def _block(head: tuple[str, str, dict[str, str]], lines: dict[str, list[tuple[Frame, ...]]], values: list[Frame]) -> Block:
    kind, name, attributes = head
    return Block(
        kind=kind,
        name=name,
        attributes=MappingProxyType(attributes),
        lines=MappingProxyType({mark: tuple(rows) for mark, rows in lines.items()}),
        values=tuple(values),
    )
