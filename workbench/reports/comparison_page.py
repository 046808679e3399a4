"""The page of a comparison of arms: kinds ``run`` and ``ab``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from workbench.reports import advice, captions, costs, limits, record, tables, verdicts
from workbench.reports.document import (
    Answer,
    Block,
    Bullets,
    Callout,
    Chip,
    Code,
    Details,
    Facts,
    Heading,
    Page,
    Picture,
    Section,
    Text,
    paragraph,
    section,
    small,
)  # fmt: skip
from workbench.reports.facts import Run, pairs_of
from workbench.reports.figures import all_figures
from workbench.reports.labels import label
from workbench.reports.query_tables import QueryTables
from workbench.reports.style import Drawing

FIGURE_SOURCES = {
    "metrics": "metrics.json: arms.<arm>.metrics",
    "groups": "metrics.json: arms.<arm>.groups.<group>",
    "losses": "metrics.json: arms.<arm>.relevant_entries",
    "latency": "metrics.json: arms.<arm>.latency_ms.<stage>",
    "weights": "metrics.json: arms.<arm>.config.weights, arms.<arm>.effective_weights",
}


def comparison_page(
    content: Mapping[str, Any],
    manifest: Mapping[str, Any],
    *,
    run_id: str = "",
    queries: QueryTables | None = None,
) -> Page:
    """The page. queries: what is known per query (losses per group, flipped queries, prompts); None leaves that out."""
    run, pairs = pairs_of(content, manifest, run_id)
    drawings = all_figures(run)
    said = captions.captions(run)

    def figure(name: str) -> Picture | None:
        if name not in drawings:
            return None
        return Picture(drawing=drawings[name], caption=said[name], source=FIGURE_SOURCES[name])

    timed = Bullets(tuple(verdicts.latency_verdicts(run)))
    parts: list[Section | None] = [
        advice.after_comparison(run) if len(pairs) == 1 else advice.after_comparisons(pairs),
        _compared(run),
        _results(pairs, figure("metrics")),
        _groups(run, figure("groups")),
        _losses(run, figure("losses"), queries),
        _flipped(queries),
        section("latency", "Time per query", [timed, figure("latency"), costs.latency(run)], "Time"),
        _weights(run, figure("weights")),
        section("tokens", "Tokens per section", [costs.tokens(run)], "Tokens"),
        section("limits", "Limits", [Bullets(tuple(limits.limits(run)))]),
        _record(run),
    ]  # fmt: skip
    return Page(
        run_id=run_id,
        kind=str(manifest.get("kind") or "run"),
        kicker="Context assembly · A/B report",
        title=verdicts.title(run) if len(pairs) == 1 else f"{len(run.arms)} arms on {run.dataset}",
        question=verdicts.question(run) if len(pairs) == 1 else _many_question(run),
        answer=verdicts.answer(run) if len(pairs) == 1 else _many_answers(pairs),
        cards=tuple(verdicts.cards(run)) if len(pairs) == 1 else (),
        sections=tuple(part for part in parts if part is not None),
        dataset=run.dataset,
    )


def drawings_of(page: Page) -> tuple[Drawing, ...]:
    """Every figure of a page, in order."""
    return tuple(block.drawing for part in page.sections for block in part.blocks if isinstance(block, Picture))


def _many_question(run: Run) -> str:
    return (
        f"Which of {len(run.arms)} configurations puts most of what is relevant into the prompt on the judged queries of "
        f"{run.dataset}, and at which cost? Each is compared with {run.a}."
    )


def _many_answers(pairs: tuple[Run, ...]) -> Answer:
    answers = [verdicts.answer(pair) for pair in pairs]
    counts = {word: sum(item.word == word for item in answers) for word in dict.fromkeys(item.word for item in answers)}
    sentence = f"Against {pairs[0].a}: {', '.join(f'{number} {word}' for word, number in counts.items())}."
    details = [text for item in answers for text in (item.sentence, *item.details)]
    return Answer(
        word=f"{len(pairs)} comparisons", tone="plain", sentence=sentence, details=tuple(details), source=answers[0].source
    )


def _compared(run: Run) -> Section:
    config_note = record.shown(run.content.get("dataset_config_note") or "")
    names: list[str | Chip] = []
    for at, arm in enumerate(run.arms):
        names += [" against " if at == 1 else ", "] if at else []
        names.append(Chip(text=label(arm), arm=at))
    which = "the second one as the one that might replace the first" if len(run.arms) == 2 else "the first one as the baseline"
    names.append(f", {which}. Every query was assembled under {'both' if len(run.arms) == 2 else 'each'}.")
    asked: list[Block] = [paragraph(config_note)] if config_note else []
    settings = record.dataset_settings(run)
    nothing = "The dataset sets nothing itself." if config_note else (
        "The dataset asks for no settings of its own: "
        f"{'both' if len(run.arms) == 2 else 'all'} arms ran as configured."
    )  # fmt: skip
    asked.append(settings if settings is not None else paragraph(nothing))
    differences = tables.settings_difference(run)
    notes = record.notes(run)
    told: list[Block] = []
    if notes:
        told = [Heading("What the loader counted, left out or repaired"), Facts(tuple(notes), tight=True)]
    return section(
        "compared",
        "What was compared",
        [
            Text(tuple(names)),
            Callout(title="Settings the dataset is judged with", blocks=tuple(asked)),
            Heading("How the arms differ"),
            differences or paragraph(f"All settings are the same in {'both' if len(run.arms) == 2 else 'all'} arms."),
            Heading("Dataset"),
            Facts(tuple(record.dataset_facts(run))),
            *told,
        ],
        "Compared",
    )


def _results(pairs: tuple[Run, ...], figure: Picture | None) -> Section:
    blocks: list[Block | None] = []
    for pair in pairs:
        if len(pairs) > 1:
            blocks.append(Heading(f"{pair.b} against {pair.a}"))
        blocks.append(tables.headline(pair))
    family = label(pairs[0].content.get("comparison_family") or "")
    blocks.append(small(f"{family}.") if pairs[0].content.get("comparison_family") else None)
    summary = paragraph("Definitions of the metrics, with their denominators")
    blocks += [Details(summary=summary, blocks=(tables.definitions(pairs[0]),)), figure]
    return section("results", "Results", blocks)


def _groups(run: Run, figure: Picture | None) -> Section | None:
    if not run.groups:
        return None
    blocks = [figure, tables.by_group(run)]
    return section("groups", f"Results per {run.group_name}", blocks, f"Per {run.group_name}")


def _losses(run: Run, figure: Picture | None, queries: QueryTables | None) -> Section:
    intro = paragraph("Every entry that a query needs has one fate: it is in the prompt, or one stage lost it.")
    more: list[Block] = []
    if queries is not None and queries.losses is not None:
        more = [Heading(f"Per {run.group_name}"), queries.losses]
    return section("losses", "Where relevant entries were lost", [intro, figure, costs.losses(run), *more], "Losses")


def _flipped(queries: QueryTables | None) -> Section | None:
    if queries is None or not queries.flips:
        return None
    return section("flipped", "Flipped queries", list(queries.flips), "Flipped")


def _weights(run: Run, figure: Picture | None) -> Section:
    text = paragraph(
        "A weight counts only as far as its signal differs among the candidates of a query. The effective weight is the weight "
        "times the standard deviation of the signal in the pool, as a share of the sum over the five signals, averaged over the "
        "queries."
    )
    return section("weights", "Weights: as configured and in effect", [text, figure, costs.weights(run)], "Weights")


def _record(run: Run) -> Section:
    blocks: list[Block | None] = record_blocks(run.manifest)
    blocks.insert(2, Facts(tuple(record.run_facts(run))))
    for at, config in enumerate(record.configs(run)):
        chip = Chip(text=config.term, arm=at)
        code = Code(text=config.text, title=f"Configuration of {config.term}")
        blocks.append(Details(summary=Text(("Full configuration of ", chip)), blocks=(code,)))
    return section("record", "Run record", blocks)


def record_blocks(manifest: Mapping[str, Any]) -> list[Block | None]:
    """The command that makes a run again, and the machine and versions it was made with."""
    command = record.command(manifest)
    environment = record.environment(manifest)
    machine = Details(summary=paragraph("Versions, machine, threads"), blocks=(Facts(tuple(environment), tight=True),))
    return [
        paragraph("The command that makes this run again:") if command else None,
        Code(text=command, title="Command", wrap=True) if command else None,
        machine if environment else None,
    ]
