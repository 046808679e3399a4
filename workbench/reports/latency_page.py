"""The page of a latency profile."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.errors import RunError
from workbench.reports import advice, latency_tables, record
from workbench.reports.comparison_page import record_blocks
from workbench.reports.document import (
    Answer,
    Block,
    Bullets,
    Card,
    Document,
    Facts,
    Page,
    Picture,
    Section,
    paragraph,
    section,
    small,
)
from workbench.reports.labels import label
from workbench.reports.latency_figures import Samples, latency_figures
from workbench.reports.latency_tables import NO_DATA
from workbench.reports.latency_tables import TONES as _TONES
from workbench.reports.numbers import interval, number, plural, span, whole

if TYPE_CHECKING:
    from workbench.experiments.latency.profile import LatencyProfile


def write_latency_report(folder: Path, profile: LatencyProfile) -> Path:
    """Write ``folder/report.html`` and ``folder/figures/latency-*.svg``; returns the path of the page. Raises RunError."""
    from workbench.reports.comparison_page import drawings_of
    from workbench.reports.html import FIGURES, render

    page = latency_page(profile.content, profile.samples)
    try:
        (folder / FIGURES).mkdir(parents=True, exist_ok=True)
        for drawing in drawings_of(page):
            (folder / FIGURES / f"{drawing.name}.svg").write_text(drawing.svg, encoding="utf-8", newline="\n")
        target = folder / "report.html"
        target.write_text(render(Document(title=page.title, pages=(page,))), encoding="utf-8", newline="\n")
    except OSError as error:
        raise RunError(f"cannot write the report into {folder.name}: {error.strerror}; choose another folder") from None
    return target


SOURCES = {
    "distribution": "samples.parquet: total; metrics.json: cells[].latency.limit",
    "stages": "metrics.json: cells[].latency.stages",
    "growth": "metrics.json: cells[].latency.stages, latency.growth",
    "tradeoff": "metrics.json: recall",
}
_FEW = 300


def latency_page(
    content: Mapping[str, Any], samples: Samples, *, run_id: str = "this run", manifest: Mapping[str, Any] | None = None
) -> Page:
    """The page of a timed profile. content: as in metrics.json. manifest: as in manifest.json, when it is there already."""
    figures = latency_figures(content, samples)

    def figure(name: str) -> Picture | None:
        if name not in figures:
            return None
        drawing, said = figures[name]
        return Picture(drawing=drawing, caption=said, source=SOURCES[name])

    cells = [cell for cell in content["cells"] if "latency" in cell]
    plan = content["plan"]
    method = paragraph(
        f"Closed loop: {whole(plan['queries'])} queries a configuration ({whole(plan['distinct_queries'])} different ones), one "
        f"after the other, configurations in turns, after {whole(plan['warm_up'])} that do not count. Percentiles by linear "
        "interpolation (type 7); intervals are 95 %, by bootstrap over queries. The query's embedding is included."
    )
    answer = _answer(content, cells)
    against = latency_tables.against_table(content) if content["latency"].get("against") else None
    compared = [block for block in (latency_tables.ab_table(content), against) if block is not None]
    parts: list[Section | None] = [
        advice.after_latency(content, cells, answer.word, run_id),
        section("results", "Time per query", [method, latency_tables.totals(cells), figure("distribution")], nav="Time"),
        section("stages", "Stages", [latency_tables.stage_table(cells), figure("stages")]),
        section("growth", "Growth with the store", [latency_tables.growth_table(content), figure("growth")], nav="Growth"),
        section("load", "Under load", [latency_tables.load_table(cells), small(_LOAD)], nav="Load"),
        section("recall", "Time against recall", [latency_tables.recall_table(content), figure("tradeoff")], nav="Recall"),
        section("cold", "Cold start", [latency_tables.cold_table(content), small(_COLD)], nav="Cold start"),
        section("compared", "Compared", compared) if compared else None,
        section("limits", "Limits", [Bullets(tuple(_limits(content, cells)))]),
        section("record", "Run record", _record(content, cells, manifest or {})),
    ]
    return Page(
        run_id=run_id,
        kind="latency",
        kicker="Context assembly · latency",
        title=f"Time per query on {label(content['dataset'])} stores",
        question="How long does an assembly take, where does the time go, and does it stay within the limit as stores grow?",
        answer=answer,
        cards=_cards(content, cells),
        sections=tuple(part for part in parts if part is not None),
        dataset=str(content["dataset"]),
    )


_LOAD = (
    "Open loop: queries are due at fixed times, and the time counts from when a query was due, so that waiting for a slow one is "
    "not left out. Threads: one assembler asked by several threads, each sending its next query when the last is answered."
)
_COLD = (
    "New processes, one after the other. Data: reading the dataset and filling the store, which no application does. Store: "
    "compiling it with its entries' vectors already cached. First answer: everything but reading the dataset."
)


def _answer(content: Mapping[str, Any], cells: Sequence[Mapping[str, Any]]) -> Answer:
    if not cells:
        return Answer(word=NO_DATA, tone="muted", sentence="Nothing was timed.")
    words = [cell["latency"]["limit"]["verdict"] for cell in cells]
    worst = max(cells, key=lambda cell: cell["latency"]["stages"]["total"]["p95"])
    total, limit = worst["latency"]["stages"]["total"], worst["latency"]["limit"]
    word = (
        "over the limit"
        if "over the limit" in words
        else "within the limit"
        if set(words) == {"within the limit"}
        else "undecided"
    )
    probability = limit["probability"]
    return Answer(
        word=word,
        tone=_TONES.get(word, "plain"),
        sentence=(
            f"{_SAID[word]}: at {worst['size']:,} entries under {label(worst['config'])}, the slowest of {len(cells)} cells, "
            f"95 % of the queries take at most {number(total['p95'], 'ms')} ms{_between(total['p95_ci95'])}, "
            f"n {whole(total['n'])}; the limit is {limit['limit_ms']:g} ms."
        ),
        details=(
            f"Probability that {100 * limit['share']:g} % of such queries keep the limit: "
            + (NO_DATA if probability is None else "above 0.999" if probability > 0.999 else f"{probability:.3f}")
            + ".",
        ),
        source="metrics.json: cells[].latency.limit",
    )


def _cards(content: Mapping[str, Any], cells: Sequence[Mapping[str, Any]]) -> tuple[Card, ...]:
    cards = []
    for cell in cells[:6]:
        total = cell["latency"]["stages"]["total"]
        cards.append(
            Card(
                title=f"p95, {cell['size']:,} · {label(cell['config'])}",
                value=f"{number(total['p95'], 'ms')} ms",
                sub=f"{interval(total['p95_ci95'], 'ms')} · n {whole(total['n'])}",
                tone=_TONES.get(cell["latency"]["limit"]["verdict"], "muted"),
            )
        )
    cold = content["latency"].get("cold", {}).get("first answer")
    if cold:
        cards.append(
            Card(
                title="first answer of a new process",
                value=f"{cold['median'] / 1000:.1f} s",
                sub=f"{cold['min'] / 1000:.1f} to {cold['max'] / 1000:.1f} s · n {cold['n']}",
                tone="muted",
            )
        )
    return tuple(cards)


_SAID = {"within the limit": "Yes, it stays within the limit", "over the limit": "No, it does not", "undecided": "Undecided"}


def _between(bounds: Sequence[float] | None) -> str:
    return "" if bounds is None else f" (95 % interval {span(bounds, 'ms')})"


def _limits(content: Mapping[str, Any], cells: Sequence[Mapping[str, Any]]) -> list[str]:
    """What the profile cannot say, from its own numbers."""
    out = [_sentence(note) for note in content["notes"]]
    out.append("Times belong to the machine that took them, as busy as it was; compare runs of one machine only.")
    counts = [int(cell["latency"]["stages"]["total"]["n"]) for cell in cells]
    if counts and min(counts) < _FEW:
        out.append(
            f"With {whole(min(counts))} timings the 99th percentile rests on very few of them, and the upper end of its interval "
            "is too low."
        )
    queries = [int(row["n_queries"]) for row in content.get("recall", [])]
    if queries:
        out.append(f"Recall against time rests on {plural(max(queries), 'judged query', 'judged queries')} of one store.")
    if len({cell["size"] for cell in cells}) == 2:
        out.append("Two sizes always lie on a line: whether the growth is a power law needs a third.")
    return out


def _sentence(text: str) -> str:
    text = label(text)
    return f"{text[:1].upper()}{text[1:]}{'' if text.endswith(('.', '!', '?')) else '.'}"


def _record(content: Mapping[str, Any], cells: Sequence[Mapping[str, Any]], manifest: Mapping[str, Any]) -> list[Block | None]:
    threads = content["latency"]["threads"]
    loads = "; ".join(
        f"{cell['size']:,}: {cell['latency']['load']['before'][0]:.1f} before, {cell['latency']['load']['after'][0]:.1f} after"
        for cell in cells
        if cell["config"] == cells[0]["config"]
    )
    facts = (*record.recorded_dataset(manifest), *record.made(manifest))
    return [
        Facts(facts) if facts else None,
        small(
            f"Encoder {content['encoder']}. Threads: FAISS {threads['faiss']}, OMP_NUM_THREADS {threads['OMP_NUM_THREADS']}. "
            f"Load averages of one minute: {loads}. Machine, versions and settings are in manifest.json."
        ),
        *record_blocks(manifest),
    ]
