"""The page of a contradiction test measured on labelled pairs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from workbench.reports import advice, record
from workbench.reports.comparison_page import record_blocks
from workbench.reports.conflict_figure import flagged_figure, similarity_figure
from workbench.reports.document import Answer, Bullets, Card, Facts, Page, Picture, Section, paragraph, section
from workbench.reports.labels import label, listed
from workbench.reports.numbers import MISSING, interval, number, span, whole
from workbench.reports.result_tables import conflict_tables, frame_table

METRICS = "metrics.json"
PERCENTILES = (5, 25, 50, 75, 95)


def conflict_page(content: Mapping[str, Any], manifest: Mapping[str, Any], *, run_id: str) -> Page:
    """The page. content: ``ConflictEvaluation.to_dict()``."""
    overall = content["overall"]
    by_language, by_kind = conflict_tables(content, source=METRICS, place=f"{METRICS}#")
    drawing = flagged_figure(content)
    flagged = Picture(drawing=drawing, caption=_worst(content), source=f"{METRICS}: by_kind") if drawing else None
    parts: list[Section] = [
        advice.after_conflicts(content),
        section("results", "Results", [by_language]),
        section("kinds", "Per kind of pair", [flagged, by_kind], "Per kind"),
    ]
    if content.get("similarity"):
        parts.append(_cosines(content))
    parts += [
        section("limits", "Limits", [Bullets(tuple(_limits(content)))]),
        section(
            "record",
            "Run record",
            [_facts(manifest), *record_blocks(manifest)],
        ),
    ]
    return Page(
        run_id=run_id,
        kind="conflicts",
        kicker="Context assembly · contradiction test",
        title=f"{label(content['test'])} on {label(content['source'])}",
        question=(
            "How many contradictions between two statements does the test find, and how often does it see one that is none?"
        ),
        answer=_answer(content),
        cards=(
            _share_card("Precision", overall["precision"], f"{METRICS}#/overall/precision/share"),
            _share_card("Recall", overall["recall"], f"{METRICS}#/overall/recall/share"),
            Card(
                title="F1",
                value=number(overall["f1"]),
                sub=f"{interval(overall['f1_interval'])} · n {whole(overall['n'])} pairs",
                tone="plain",
                path=f"{METRICS}#/overall/f1",
            ),
        ),
        sections=tuple(parts),
        dataset=label(content["source"]),
    )


def _facts(manifest: Mapping[str, Any]) -> Facts:
    given = (*record.recorded_dataset(manifest), *record.made(manifest))
    return Facts(tuple(replace(fact, term="Pairs") if fact.term == "Queries" else fact for fact in given))


def _share_card(title: str, share: Mapping[str, Any], path: str) -> Card:
    sub = f"{interval(share['interval'])} · {share['hits']} of {share['n']}"
    return Card(title=title, value=number(share["share"]), sub=sub, tone="plain", path=path)


def _answer(content: Mapping[str, Any]) -> Answer:
    recall, precision = content["overall"]["recall"], content["overall"]["precision"]
    alarms = [f"{share['hits']} of {share['n']} {name} pairs" for name, share in content["false_alarms"].items()]
    if recall["share"] is None:
        return Answer(word="no data", tone="muted", sentence="The file holds no contradiction, so recall is undefined.")
    sentence = (
        f"It finds {recall['hits']} of {recall['n']} contradictions ({number(recall['share'])}, 95 % interval "
        f"{span(recall['interval'])}); of {precision['n']} pairs that it flags, {precision['hits']} are contradictions."
    )
    return Answer(
        word="measured",
        tone="plain",
        sentence=sentence,
        details=(f"False alarms: {listed(alarms)}.",) if alarms else (),
        source=f"{METRICS}: overall, false_alarms",
    )


def _worst(content: Mapping[str, Any]) -> str:
    rows = [row for row in content["by_kind"] if row["label"] == "conflict" and row["share"] is not None]
    if not rows:
        return "There are no kinds of contradictions in the file."
    low = min(rows, key=lambda row: row["share"])
    full = sum(row["hits"] == row["n"] for row in rows)
    return (
        f"Of {len(rows)} kinds of contradictions {full} are found completely; the lowest share is that of {label(low['kind'])}, "
        f"{low['hits']} of {low['n']}."
    )


def _cosines(content: Mapping[str, Any]) -> Section:
    similarity = content["similarity"]
    rows = [
        {"label": name, **{f"p{rank}": values[str(rank)] for rank in PERCENTILES}}
        for name, values in similarity["percentiles"].items()
    ]
    columns = {"label": "pairs", **{f"p{rank}": f"{rank} %" for rank in PERCENTILES}}
    table = frame_table(
        f"Percentiles of the cosine under {label(similarity['encoder'])}",
        rows,
        columns,
        source=f"{METRICS}: similarity.percentiles",
    )
    ends = [MISSING if end is None else f"{end:.2f}" for end in similarity["recommended"]]
    text = (
        f"Recommended band: {ends[0]} to {ends[1]}. The lower end is the 5th percentile of the contradictions, so that 95 % "
        "of them are proposed to the test; above the upper end nearly every pair that the test does not flag is a duplicate."
    )
    spread = similarity["percentiles"]
    middle = [f"{number(values['50'])} of {label(name)} pairs" for name, values in spread.items()]
    caption = f"The median cosine is {listed(middle)}.{_overlap(spread)}"
    picture = Picture(drawing=similarity_figure(content), caption=caption, source=f"{METRICS}: similarity.percentiles")
    return section("cosines", "Cosines under the encoder", [picture, table, paragraph(text)], "Cosines")


def _overlap(spread: Mapping[str, Mapping[str, float]]) -> str:
    """Whether other pairs are as similar as contradictions, between the 5th and 95th percentiles."""
    mine = spread.get("conflict")
    if mine is None:
        return ""
    like = [
        label(name) for name, one in spread.items() if name != "conflict" and one["5"] <= mine["95"] and mine["5"] <= one["95"]
    ]
    if not like:
        return " No other label has cosines like those of the contradictions."
    return f" Pairs labelled {listed(like)} are as similar as contradictions: a cosine only proposes pairs, the test decides."


def _limits(content: Mapping[str, Any]) -> list[str]:
    small = [label(row["kind"]) for row in content["by_kind"] if row["n"] < 10]
    out = [
        "Every pair is judged whatever its cosine; in the assembly only pairs inside the encoder's band reach the test.",
        "If these pairs were looked at while the rules were written, expect less on wording that the rules have not met.",
    ]
    if small:
        out.append(f"Fewer than 10 pairs in {listed(small, most=12)}: read those rows as single cases.")
    return out
