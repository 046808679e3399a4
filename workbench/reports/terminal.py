"""Contexts and runs in a terminal, of any width and any encoding; what users wrote is printed and never interpreted."""

from __future__ import annotations

import json
import math
import sys
from collections import Counter
from collections.abc import Mapping
from typing import IO, TYPE_CHECKING, Any

from rich.box import ASCII2, SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from workbench.assembly.fates import Fate
from workbench.assembly.prompt import SECTIONS
from workbench.config import SIGNALS
from workbench.reports.labels import label, printable
from workbench.reports.numbers import MISSING, interval, number, p_value, whole

if TYPE_CHECKING:
    from workbench.assembly.context import AssembledContext
    from workbench.experiments.run import RunResult
    from workbench.reports.facts import Run

_WIDE, _MIDDLE = 130, 80
"""Columns from which the five signals fit, and the reason."""


def print_context(
    context: AssembledContext,
    *,
    explain: str | None = None,
    as_json: bool = False,
    rows: int = 40,
    file: IO[str] | None = None,
    width: int | None = None,
) -> None:
    """Print the prompt, what it cost and what became of the candidates.

    explain: id of an entry whose fate is explained (StoreError if there is none). as_json: print ``context.to_dict()`` as
    strict JSON and nothing else (with ``explanation`` if one is asked for). rows: most candidates listed. file: standard
    output by default. width: columns, those of the terminal by default.
    """
    target = file or sys.stdout
    explanation = None if explain is None else context.explain(explain)
    if as_json:
        content = context.to_dict()
        if explanation is not None:
            content["explanation"] = {name: _plain(value) for name, value in vars(explanation).items()}
        # escaped, because the encoding of the output is anything; a JSON reader gets the same text
        target.write(json.dumps(content, indent=2, ensure_ascii=True, allow_nan=False) + "\n")
        return
    console = _console(target, width)
    _rule(console, "prompt")
    console.print(_text(context.prompt.rstrip("\n") or "(empty)"), soft_wrap=True)
    _rule(console, "tokens")
    parts = [f"{name.replace('_', ' ')} {whole(context.tokens.get(name))}" for name in SECTIONS if context.tokens.get(name)]
    console.print(_text(f"{whole(context.tokens['total'])} in all" + (f": {', '.join(parts)}" if parts else "")))
    _rule(console, "time")
    stages = [f"{name} {number(value, 'ms')}" for name, value in context.timings.items() if name != "total"]
    console.print(_text(f"{number(context.timings.get('total'), 'ms')} ms: {', '.join(stages)}"))
    for warning in context.warnings:
        console.print(_text(f"warning: {warning}", style="yellow"))
    _rule(console, "entries")
    _print_fates(console, context, rows)
    if explanation is not None:
        _rule(console, "explanation")
        console.print(_text(str(explanation)))


def print_run(result: RunResult, *, file: IO[str] | None = None, width: int | None = None) -> None:
    """Print the answer of a run, the comparison of its metrics and where its report is."""
    from workbench.reports.facts import Run
    from workbench.reports.verdicts import answer, latency_verdicts

    run = Run(result.metrics, {})
    console = _console(file or sys.stdout, width)
    said = answer(run)
    console.print(_text(said.sentence, style="bold"))
    for line in (*said.details, *latency_verdicts(run)):
        console.print(_text(f"- {line}"))
    if console.width >= _WIDE:
        console.print(_metric_table(console, run))
    else:
        console.print(_text(_metric_lines(run)), soft_wrap=True)
    console.print(_text(f"report: {result.folder / 'report.html'}"), soft_wrap=True)


def _metric_table(console: Console, run: Run) -> Table:
    table = _table(console)
    for name in ("metric", run.a, run.b, "difference", "95 % interval", "p Holm", "n", "verdict"):
        table.add_column(_text(name), justify="left" if name in ("metric", "verdict") else "right", overflow="fold")
    for name, row in run.comparisons():
        unit = run.unit(name)
        cells = (
            label(name),
            number(row.get("mean_a"), unit),
            number(row.get("mean_b"), unit),
            number(row.get("difference"), unit, signed=True),
            interval(row.get("ci95"), unit, signed=True),
            p_value(row.get("p_adjusted")),
            whole(row.get("n")),
            str(row.get("verdict") or MISSING),
        )
        table.add_row(*(_text(cell) for cell in cells))
    return table


def _metric_lines(run: Run) -> str:
    """The same for 80 columns: a table would break numbers over lines there."""
    lines = [f"a = {label(run.a)}, b = {label(run.b)}, difference = b - a", ""]
    lines.append(f"{'metric':<17}{'a':>8}{'b':>8}{'differ.':>9}  {'95 % interval':<17}{'n':>6}  verdict")
    for name, row in run.comparisons():
        unit = run.unit(name)
        lines.append(
            f"{label(name):<17}{number(row.get('mean_a'), unit):>8}{number(row.get('mean_b'), unit):>8}"
            f"{number(row.get('difference'), unit, signed=True):>9}  {interval(row.get('ci95'), unit):<17}"
            f"{whole(row.get('n')):>6}  {row.get('verdict') or MISSING}"
        )
    return "\n".join(["", *lines, ""])


def _print_fates(console: Console, context: AssembledContext, rows: int) -> None:
    """Selected entries in prompt order, then the others by score, those never scored last, the nearest to the prompt first."""
    records = context.fate_rows
    place = {key: position for position, key in enumerate(context.selected_ids)}
    stage = {fate.label: int(fate) for fate in Fate}

    def order(item: tuple[int, dict[str, Any]]) -> tuple[float, ...]:
        position, record = item
        score = record["score"]
        scored = score is not None and not math.isnan(score)
        at = place.get(record["id"], len(place))
        return (at, not scored, -score if scored else 0.0, -stage.get(record["fate"], -1), position)

    ranked = [record for _, record in sorted(enumerate(records), key=order)]
    wide, middle = console.width >= _WIDE, console.width >= _MIDDLE
    table = _table(console)
    table.add_column("id", overflow="fold")
    table.add_column("where", overflow="fold")
    for name in ("score", *(SIGNALS if wide else ()), "tokens"):
        table.add_column(name if len(name) < 8 else f"{name[:5]}.", justify="right", no_wrap=True)
    table.add_column("fate", overflow="fold")
    if middle:
        table.add_column("reason", overflow="fold")
    for record in ranked[:rows]:
        numbers = [_score(record[name]) for name in ("score", *(SIGNALS if wide else ()))]
        where = str(record["section"] or record["layer"]).replace("_", " ")
        cells = [label(record["id"]), where, *numbers, whole(record["tokens"]), record["fate"]]
        table.add_row(*(_text(cell) for cell in (*cells, *((record["reason"],) if middle else ()))))
    if ranked and rows > 0:
        console.print(table)
    rest = Counter(record["fate"] for record in ranked[rows:])
    if rest:
        fates = sorted(rest, key=lambda fate: -stage.get(fate, -1))
        counts = ", ".join(f"{fate} {whole(rest[fate])}" for fate in fates)
        console.print(_text(f"and {whole(sum(rest.values()))} more: {counts}"))
    elif not ranked:
        console.print(_text("the store is empty"))


def _score(value: float | None) -> str:
    return MISSING if value is None or math.isnan(value) else f"{value:.3f}"


def _plain(value: Any) -> Any:
    return dict(value) if isinstance(value, Mapping) else value


def _text(content: str, style: str = "") -> Text:
    """Text as it is: no markup, no emoji codes, no control characters that a terminal would obey."""
    return Text(printable(content.replace("\r\n", "\n")), style=style)


def _rule(console: Console, title: str) -> None:
    console.print(Text(f"--- {title} ".ljust(min(console.width, 60), "-"), style="dim"))


def _table(console: Console) -> Table:
    return Table(box=SIMPLE_HEAD if _unicode(console.file) else ASCII2, pad_edge=False, header_style="bold")


def _console(file: IO[str], width: int | None) -> Console:
    safe: Any = file if _unicode(file) else _Replacing(file)
    return Console(file=safe, width=width, highlight=False, markup=False, emoji=False, safe_box=True)


def _unicode(file: Any) -> bool:
    encoding = getattr(file, "encoding", None) or "utf-8"
    return str(encoding).lower().replace("-", "").replace("_", "").startswith("utf")


_PLAIN = str.maketrans({"–": "-", "−": "-", "…": "..."})


class _Replacing:
    """A text stream that writes what its encoding lacks as ``\\u`` escapes, where the plain stream would raise an error."""

    def __init__(self, stream: IO[str]) -> None:
        self.stream = stream
        self.encoding: str = getattr(stream, "encoding", None) or "ascii"

    def write(self, text: str) -> int:
        text = text.translate(_PLAIN)
        return self.stream.write(text.encode(self.encoding, "backslashreplace").decode(self.encoding))

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stream, name)
