"""Judging what another system ranked or selected: TREC run files, or JSONL with one line per query."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.config import AssemblyConfig
from workbench.data.judged import JudgedDataset
from workbench.embedding.encoder import Encoder
from workbench.errors import DataError
from workbench.experiments.comparison import Comparison, compare_values
from workbench.experiments.metrics import DEFAULT, evaluate, parse_metric
from workbench.experiments.outcome import Floats, Outcome, tally
from workbench.experiments.poolstore import build_pools, effective_config
from workbench.experiments.replay import Replayer
from workbench.experiments.summary import Summary, summarise
from workbench.tabular import Tabular

if TYPE_CHECKING:
    from workbench.reports.cells import Table

RANKING_METRICS = ("Recall@5", "Recall@10", "Recall@20", "nDCG@10", "Precision@10", "RR")
SELECTION_METRICS = (
    "ContextRecall", "AnyRecall", "AllRecall", "ContextPrecision", "StaleExposure", "DuplicateRate", "Leaks", "FalseContext",
)  # fmt: skip
TOKEN_METRICS = ("Tokens", "TokensPerHit")
_FIELDS = {"query_id", "ranking", "selected", "tokens"}


@dataclass(frozen=True, kw_only=True)
class Ranked:
    """What a system gave for one query. None: not given."""

    ranking: tuple[str, ...] | None
    selected: tuple[str, ...] | None
    tokens: int | None = None


def read_run_file(path: str | Path) -> dict[str, Ranked]:
    """Query id -> what the system gave.

    A file whose first line begins with ``{`` is JSONL: ``query_id`` with ``ranking`` (ids, best first), ``selected`` (ids in
    the prompt) or both, and ``tokens`` of the prompt if known. Anything else is TREC: query id, Q0, entry id, rank, score, tag,
    separated by white space; ordered by score, ties by rank, as displayed. Raises DataError naming file and line.
    """
    source = Path(path)
    try:
        lines = source.read_text(encoding="utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"cannot read the run file {source}: {error}") from None
    numbered = [(number, line) for number, line in enumerate(lines, start=1) if line.strip()]
    if not numbered:
        raise DataError(f"the run file {source} is empty")
    found = _jsonl(numbered, source) if numbered[0][1].lstrip().startswith("{") else _trec(numbered, source)
    forms = {(item.ranking is None, item.selected is None, item.tokens is None) for item in found.values()}
    if len(forms) > 1:
        raise DataError(
            f"{source}: some lines have ranking, selected or tokens and others have not; give the same for every query"
        )
    return found


def _jsonl(lines: Sequence[tuple[int, str]], source: Path) -> dict[str, Ranked]:
    found: dict[str, Ranked] = {}
    for number, line in lines:
        where = f"{source}, line {number}"
        try:
            row = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise DataError(f"{where} is not JSON: {error}") from None
        if not isinstance(row, Mapping) or not {"query_id"} <= set(row) <= _FIELDS or not {"ranking", "selected"} & set(row):
            raise DataError(f"{where} must have query_id, ranking or selected or both, and may have tokens; nothing else")
        key, tokens = row["query_id"], row.get("tokens")
        if not isinstance(key, str) or key in found:
            raise DataError(f"{where}: query_id is {key!r}: must be text, and each query may occur once")
        if tokens is not None and (isinstance(tokens, bool) or not isinstance(tokens, int) or tokens < 0):
            raise DataError(f"{where}: tokens is {tokens!r}: must be a whole number >= 0")
        lists = {}
        for name in ("ranking", "selected"):
            ids = row.get(name)
            if ids is not None and not (isinstance(ids, list) and all(isinstance(item, str) for item in ids)):
                raise DataError(f"{where}: {name} is {str(ids)[:80]!r}: must be a list of entry ids")
            lists[name] = None if ids is None else tuple(ids)
        found[key] = Ranked(ranking=lists["ranking"], selected=lists["selected"], tokens=tokens)
    return found


def _trec(lines: Sequence[tuple[int, str]], source: Path) -> dict[str, Ranked]:
    rows: dict[str, list[tuple[float, int, int, str]]] = {}
    for number, line in lines:
        parts = line.split()
        try:
            if len(parts) != 6:
                raise ValueError(f"{len(parts)} columns")
            rank, score = int(parts[3]), float(parts[4])
            if not math.isfinite(score):
                raise ValueError(f"score {parts[4]}")
        except ValueError as error:
            raise DataError(
                f"{source}, line {number} is {line[:80]!r} ({error}): a TREC line has "
                "query id, Q0, entry id, rank, score and tag; "
                "ids with spaces need the JSONL form"
            ) from None
        rows.setdefault(parts[0], []).append((-score, rank, number, parts[2]))
    return {key: Ranked(ranking=tuple(item[3] for item in sorted(part)), selected=None) for key, part in rows.items()}


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class Score(Tabular):
    """A judged run file. summaries: metric -> mean, interval and counts. values: metric -> (Q,) per query of the dataset.
    missing: queries of the dataset that the file does not answer; they count as the worst. strangers: ids that are not in the
    user's store."""

    name: str
    dataset: str
    summaries: Mapping[str, Summary]
    values: Mapping[str, Floats]
    outcomes: tuple[Outcome, ...]
    counts: Mapping[str, int]
    missing: tuple[str, ...]
    strangers: int
    first_k: int | None

    @property
    def caption(self) -> str:
        how = "" if self.first_k is None else f"; the first {self.first_k} of each ranking count as selected"
        return (
            f"{self.name} on {self.dataset}: {self.counts['queries']} queries, {self.counts['judged']} judged, "
            f"{self.counts['unjudged']} without judgement, {len(self.missing)} missing from the file (counted as the worst), "
            f"{self.counts['repeated_ids']} repeated ids (counted once), {self.strangers} ids of no entry of the user{how}; "
            "intervals 95 %, wild cluster bootstrap by user"
        )

    def __str__(self) -> str:
        return "\n".join([self.caption, *map(str, self.summaries.values())])

    def tables(self) -> tuple[Table, ...]:
        """The result as tables; see ``Tabular``."""
        from workbench.reports.tables_of import score

        return score(self)

    def to_dict(self) -> dict[str, Any]:
        """Strict JSON."""
        return {
            "name": self.name,
            "dataset": self.dataset,
            "metrics": {name: item.to_dict() for name, item in self.summaries.items()},
            "counts": dict(self.counts),
            "missing": list(self.missing),
            "strangers": self.strangers,
            "first_k": self.first_k,
        }


def score(
    found: Mapping[str, Ranked],
    dataset: JudgedDataset,
    *,
    name: str = "run file",
    metrics: Sequence[str] | None = None,
    first_k: int | None = None,
    seed: int = 0,
) -> Score:
    """Judge a run file on the queries of ``dataset``.

    first_k: take the first k of a ranking as what the prompt shows, for files without ``selected``. metrics: None takes those
    that the file has the data for. Raises DataError for queries the dataset does not have, and for metrics the file cannot
    answer.
    """
    known = {query.id for query in dataset.queries}
    unknown = sorted(set(found) - known)
    if unknown:
        raise DataError(
            f"{name} answers {len(unknown)} queries that {dataset.name} does not have, such as {unknown[0]!r}; "
            f"its ids look like {dataset.queries[0].id if dataset.queries else 'none'!r}"
        )
    some = next(iter(found.values()), Ranked(ranking=(), selected=None))
    if first_k is not None and (some.selected is not None or first_k < 1):
        raise DataError(f"first_k is {first_k}: must be at least 1, and only for files that have no selected ids of their own")
    has_selection = some.selected is not None or first_k is not None
    allowed = [
        *(RANKING_METRICS if some.ranking is not None else ()),
        *(SELECTION_METRICS if has_selection else ()),
        *(TOKEN_METRICS if some.tokens is not None and has_selection else ()),
    ]
    names = (
        [parse_metric(metric).name for metric in metrics]
        if metrics is not None
        else [item for item in DEFAULT if item in allowed]
    )
    for metric in names:
        needs = "tokens" if metric in TOKEN_METRICS else "selected" if metric in SELECTION_METRICS else "ranking"
        there = {"ranking": some.ranking is not None, "selected": has_selection, "tokens": some.tokens is not None}[needs]
        if metric == "PrefixStability" or not there:
            raise DataError(f"{metric} needs {needs} of every query, which {name} does not give; it allows {', '.join(allowed)}")
    outcomes, missing, strangers = [], [], 0
    for query in dataset.queries:
        given = found.get(query.id)
        if given is None:
            missing.append(query.id)
            outcomes.append(Outcome(query=query, ranking=(), selected=(), tokens=0, failed=True))
            continue
        store = dataset.stores[query.user_id]
        ranking = given.ranking if given.ranking is not None else given.selected or ()
        selected = given.selected if given.selected is not None else ranking[:first_k] if first_k is not None else ()
        foreign = sum(key not in store for key in selected)
        strangers += sum(key not in store for key in {*ranking, *selected})
        outcomes.append(Outcome(query=query, ranking=ranking, selected=selected, tokens=given.tokens or 0, foreign=foreign))
    values = evaluate(outcomes, names)
    failed = [outcome.failed for outcome in outcomes]
    return Score(
        name=name,
        dataset=dataset.name,
        summaries=summarise(values, [query.user_id for query in dataset.queries], failed=failed, seed=seed),
        values=values,
        outcomes=tuple(outcomes),
        counts=tally(outcomes),
        missing=tuple(missing),
        strangers=strangers,
        first_k=first_k,
    )


def beside(
    result: Score, dataset: JudgedDataset, name: str, config: AssemblyConfig, encoder: Encoder, *, seed: int = 0
) -> Comparison:
    """The run file against an assembled arm on the same queries and metrics; differences are run file minus arm."""
    effective = effective_config(dataset, config, encoder)
    replayer = Replayer(build_pools(dataset, effective, encoder, as_is=True))
    own = evaluate(replayer.facts(replayer.counts([effective]), 0), list(result.values))
    return compare_values(own, result.values, [query.user_id for query in dataset.queries], names=(name, result.name), seed=seed)
