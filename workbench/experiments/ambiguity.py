"""Judgements that contradict themselves: questions nobody could get right, whatever the configuration."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from workbench.data.judged import JudgedDataset
from workbench.entries import Episode, Memory, Procedure
from workbench.text.analysis import canonical


@dataclass(frozen=True, kw_only=True)
class Ambiguity:
    """kind: ``same_question`` (one user asks the same twice, with different truth) or ``same_entry`` (a relevant entry
    and one that is not agree in text and in every signal). query: id. other: the other query's or entry's id.
    """

    kind: str
    user_id: str
    query: str
    other: str

    def __str__(self) -> str:
        if self.kind == "same_question":
            return f"{self.query} and {self.other} ask the same and want different entries"
        return f"{self.query}: the wanted entry cannot be told from {self.other} by text or any signal"


def ambiguities(dataset: JudgedDataset) -> tuple[Ambiguity, ...]:
    """All ambiguities of a dataset, in the order of its queries.

    Texts are compared in canonical form; signals are layer, importance, confidence, time of the last change, access count and
    status. Members of one duplicates group are the same statement and never ambiguous.
    """
    found: list[Ambiguity] = []
    asked: dict[tuple[str, str, Any], tuple[str, frozenset[str]]] = {}
    alike: dict[str, dict[Any, list[str]]] = {}
    for user_id, store in dataset.stores.items():
        table = alike.setdefault(user_id, {})
        for layer in (store.memories, store.episodes, store.procedures):
            for entry in layer:
                table.setdefault(_profile(entry), []).append(entry.id)
    keys = {
        user_id: {key: profile for profile, ids in table.items() if len(ids) > 1 for key in ids}
        for user_id, table in alike.items()
    }
    for query in dataset.queries:
        truth = frozenset(query.relevant)
        key = (query.user_id, canonical(query.query), query.now)
        if key in asked and asked[key][1] != truth:
            found.append(Ambiguity(kind="same_question", user_id=query.user_id, query=asked[key][0], other=query.id))
        asked.setdefault(key, (query.id, truth))
        groups = [set(group) for group in query.duplicates]
        for wanted in query.relevant:
            profile = keys[query.user_id].get(wanted)
            if profile is None:
                continue
            same = {wanted}.union(*(group for group in groups if wanted in group))
            for other in alike[query.user_id][profile]:
                if other not in truth and other not in same:
                    found.append(Ambiguity(kind="same_entry", user_id=query.user_id, query=query.id, other=other))
    return tuple(found)


def _profile(entry: Memory | Episode | Procedure) -> tuple[Any, ...]:
    if isinstance(entry, Memory):
        text = entry.text
    elif isinstance(entry, Episode):
        text = f"{entry.summary}\n{entry.outcome}"
    else:
        text = "\n".join((entry.name, *entry.steps))
    return (
        entry.layer, canonical(text), entry.importance, entry.confidence, entry.changed_at, entry.access_count, entry.status,
    )  # fmt: skip
