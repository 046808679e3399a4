"""The prompts of recorded queries, assembled again: run folders keep ids and numbers, never texts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.errors import WorkbenchError
from workbench.reports.document import Chip, Inspected, Line, Prompts
from workbench.reports.labels import label
from workbench.reports.licences import may_quote

if TYPE_CHECKING:
    from workbench.assembly.context import AssembledContext
    from workbench.data.judged import JudgedQuery


@dataclass(frozen=True, kw_only=True)
class Quoted:
    """A query with the prompts that two arms make for it. differs: arms whose prompt no longer shows what the run recorded.
    inspected: the second arm's context against the first arm's settings; only for the first query, because it is large."""

    query: str
    prompts: Prompts
    differs: tuple[str, ...]
    inspected: Inspected | None = None


@dataclass(frozen=True, kw_only=True)
class PromptPairs:
    """By query id, and, when there are none, why not."""

    pairs: Mapping[str, Quoted]
    why_not: str = ""


def prompt_pairs(
    manifest: Mapping[str, Any],
    arms: Sequence[str],
    query_ids: Sequence[str],
    recorded: Mapping[tuple[str, str], Sequence[str]],
    *,
    data: Path | None = None,
    own: bool = False,
) -> PromptPairs:
    """Assemble queries again under two arms. recorded: (arm, query id) -> ids the run showed.

    data: local copy of a public dataset's file. own: see ``may_quote``. Whatever stands in the way (licence, data that are not
    at hand or not those of the run, an encoder that is missing) is told in ``why_not``; nothing is raised for it.
    """
    permission = may_quote((manifest.get("dataset") or {}).get("licence"), own=own)
    if not permission.allowed:
        return PromptPairs(pairs={}, why_not=permission.reason)
    if not query_ids:
        return PromptPairs(pairs={})
    try:
        return _assemble(manifest, arms, query_ids, recorded, data)
    except (WorkbenchError, KeyError, TypeError) as error:
        reason = f"the manifest lacks {error}" if isinstance(error, KeyError) else str(error)
        return PromptPairs(pairs={}, why_not=f"the queries could not be assembled again: {reason}")


def _assemble(
    manifest: Mapping[str, Any],
    arms: Sequence[str],
    query_ids: Sequence[str],
    recorded: Mapping[tuple[str, str], Sequence[str]],
    data: Path | None,
) -> PromptPairs:
    from workbench.assembly.assembler import Assembler
    from workbench.config import AssemblyConfig
    from workbench.embedding.encoder import recorded_encoder
    from workbench.experiments.manifest import Source

    dataset = Source.of(manifest, data).load()
    if dataset.checksum != manifest["dataset"]["checksum"]:
        return PromptPairs(pairs={}, why_not=f"the data of {dataset.name} at hand are not those of the run (another checksum)")
    encoder = recorded_encoder(str(manifest["encoder"]))
    if encoder.name != manifest["encoder"]:
        return PromptPairs(pairs={}, why_not=f"the run used the encoder {manifest['encoder']}, at hand is {encoder.name}")
    configs = [AssemblyConfig.from_record(manifest["arms"][arm]["config"]) for arm in arms]
    queries = {query.id: query for query in dataset.queries}
    assemblers: dict[str, Assembler] = {}
    pairs: dict[str, Quoted] = {}
    for key in query_ids:
        query = queries[key]
        if query.user_id not in assemblers:
            assemblers[query.user_id] = Assembler(dataset.stores[query.user_id], encoder=encoder)
        made = [assemblers[query.user_id].assemble(query.query, now=query.now, config=config) for config in configs]
        other = tuple(
            label(arm) for arm, item in zip(arms, made, strict=True) if _shown(item) != list(recorded.get((arm, key), ()))
        )
        chips = (Chip(text=label(arms[0]), arm=0), Chip(text=label(arms[1]), arm=1))
        inspected = None if pairs else Inspected(part=made[1].inspect(against=made[0].config).block())
        prompts = side_by_side(made[0], made[1], query, chips)
        pairs[key] = Quoted(query=query.query, prompts=prompts, differs=other, inspected=inspected)
    return PromptPairs(pairs=pairs)


def _shown(context: AssembledContext) -> list[str]:
    soul = {block.id for block in context.snapshot.soul}
    return [key for key in context.selected_ids if key not in soul]


def side_by_side(a: AssembledContext, b: AssembledContext, query: JudgedQuery, names: tuple[Chip, Chip]) -> Prompts:
    """Two prompts line by line; lines that only one of them has are marked, and lines that the judgement speaks of too.

    A line that both have in different places counts as present in both.
    """
    left, right = (_lines(context, query) for context in (a, b))
    texts = [[line.text for line in lines] for lines in (left, right)]
    common = set(texts[0]) & set(texts[1])
    left = [line if line.text in common else _marked(line, "-") for line in left]
    right = [line if line.text in common else _marked(line, "+") for line in right]
    rows: list[tuple[Line | None, Line | None]] = []
    for _, i, j, k, m in SequenceMatcher(None, texts[0], texts[1], autojunk=False).get_opcodes():
        for at in range(max(j - i, m - k)):
            rows.append((left[i + at] if i + at < j else None, right[k + at] if k + at < m else None))
    return Prompts(names=names, rows=tuple(rows), tokens=(a.tokens["total"], b.tokens["total"]))


def _marked(line: Line, mark: str) -> Line:
    return Line(text=line.text, mark=mark, judged=line.judged)


def _lines(context: AssembledContext, query: JudgedQuery) -> list[Line]:
    snapshot = context.snapshot
    judged = {}
    for key in context.selected_ids:
        if key in snapshot.row_of:
            words = "relevant" if key in query.relevant else "must not appear" if key in query.forbidden else ""
            if words:
                judged[snapshot.lines[snapshot.row_of[key]].rstrip("\n")] = words
    return [Line(text=text, judged=judged.get(text, "")) for text in context.prompt.splitlines()]
