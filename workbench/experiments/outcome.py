"""What an arm did with judged queries, and the counts that every metric is made of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from workbench.data.judged import JudgedQuery
from workbench.errors import DataError

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What one arm did with one judged query.

    ranking: ids of the scored pool before budgets, best first; the order given is the order judged, so ties are
    decided by what was displayed. selected: ids in the assembled prompt, in prompt order. tokens: of the whole
    prompt. prefix: the rendered identity and preferences, or a hash of them (compared for equality only). foreign:
    ids shown that are not in the user's store. failed: the arm raised; such a query gets the worst value of every
    metric that applies to it, whatever the other fields say.
    """

    query: JudgedQuery
    ranking: tuple[str, ...]
    selected: tuple[str, ...]
    tokens: int
    prefix: str = ""
    foreign: int = 0
    failed: bool = False

    def __post_init__(self) -> None:
        if not isinstance(self.query, JudgedQuery):
            raise DataError(f"query is a {type(self.query).__name__}: must be a JudgedQuery")
        for name in ("ranking", "selected"):
            ids = getattr(self, name)
            if isinstance(ids, str) or not isinstance(ids, Sequence) or not all(isinstance(key, str) for key in ids):
                raise DataError(f"query {self.query.id!r}: {name} is {ids!r}: must be a sequence of entry ids")
            object.__setattr__(self, name, tuple(ids))
        for name in ("tokens", "foreign"):
            count = getattr(self, name)
            if isinstance(count, bool) or not isinstance(count, int | np.integer) or count < 0:
                raise DataError(f"query {self.query.id!r}: {name} is {count!r}: must be a whole number >= 0")
            object.__setattr__(self, name, int(count))


@dataclass(frozen=True, kw_only=True)
class Facts:
    """Counts over n outcomes, as arrays in the order of the outcomes; every metric is arithmetic over these.

    A *statement* is an entry, or a group of entries that say the same thing (``JudgedQuery.duplicates``).

    relevant: (n,) relevant statements; 0 where the query is not judged or has no answer. hit_row, hit_rank, hit_gain:
    one element per relevant statement in a ranking: row of the outcome, 1-based rank of its first occurrence, grade.
    ideal_*: the same for the best possible ranking of all judged statements. found: (n,) relevant statements in the
    prompt. shown: (n,) entries in the prompt, repeats included. repeated: (n,) of them, those that repeat a statement
    already shown. forbidden, stale: (n,) forbidden statements, and how many of them the prompt shows. tokens,
    foreign: (n,) as given. unanswerable, failed: (n,) flags. follows: (n,) an earlier outcome of the same user
    exists. stable: (n,) 1 when the prefix equals the user's previous one, else 0, NaN when there is none or both are
    empty. ranking_repeats: (n,) ids that a ranking names again (ignored after the first time).
    """

    relevant: Ints
    hit_row: Ints
    hit_rank: Ints
    hit_gain: Floats
    ideal_row: Ints
    ideal_rank: Ints
    ideal_gain: Floats
    found: Ints
    shown: Ints
    repeated: Ints
    forbidden: Ints
    stale: Ints
    tokens: Ints
    foreign: Ints
    unanswerable: Bools
    failed: Bools
    follows: Bools
    stable: Floats
    ranking_repeats: Ints

    def __len__(self) -> int:
        return len(self.relevant)


@dataclass(frozen=True)
class Statements:
    """One query's judgement by statement.

    same: id -> statement, for ids in a duplicates group (other ids stand for themselves). gains: relevant statement ->
    grade. wanted: id -> relevant statement. unwanted: id -> forbidden statement.
    """

    same: Mapping[str, str]
    gains: Mapping[str, int]
    wanted: Mapping[str, str]
    unwanted: Mapping[str, str]


def statements(query: JudgedQuery) -> Statements:
    """Resolve a query's duplicates groups.

    Groups that share an id are one. A group takes the highest grade among its members, and any member finds it. What
    a query says about an id outranks its group: a forbidden id never counts as a hit. A member that is neither
    relevant nor forbidden itself stands for a forbidden statement if its group has a forbidden member and no relevant
    one.
    """
    same: dict[str, str] = {}
    for group in query.duplicates:
        heads = dict.fromkeys(same.get(key, key) for key in group)
        if not heads:
            continue
        head = next(iter(heads))
        same.update({key: head for key, old in same.items() if old in heads})
        same.update(dict.fromkeys(group, head))
    forbidden = frozenset(query.forbidden)
    gains: dict[str, int] = {}
    if query.judged and query.answerable:
        for key, grade in query.relevant.items():
            head = same.get(key, key)
            gains[head] = max(grade, gains.get(head, 0))
    wanted = {key: head for key, head in same.items() if head in gains and key not in forbidden}
    wanted.update({key: same.get(key, key) for key in query.relevant} if gains else {})
    unwanted = {key: same.get(key, key) for key in query.forbidden}
    heads_unwanted = frozenset(unwanted.values())
    heads_wanted = frozenset(same.get(key, key) for key in query.relevant)
    unwanted.update({key: head for key, head in same.items() if head in heads_unwanted - heads_wanted})
    return Statements(same, gains, wanted, unwanted)


def facts(outcomes: Sequence[Outcome]) -> Facts:
    """Count what the metrics need; outcomes of one user must be in the order in which they happened.

    Raises DataError when a query has two outcomes: an arm answers each query once.
    """
    n = len(outcomes)
    columns = {name: np.zeros(n, dtype=np.int64) for name in _COUNTS}
    flags = {name: np.zeros(n, dtype=np.bool_) for name in _FLAGS}
    stable = np.full(n, np.nan)
    hits: list[tuple[int, int, int]] = []
    ideal: list[tuple[int, int, int]] = []
    seen: set[str] = set()
    users: set[str] = set()
    prefixes: dict[str, str] = {}
    for row, outcome in enumerate(outcomes):
        query = outcome.query
        if query.id in seen:
            raise DataError(f"query {query.id!r} has two outcomes; an arm answers each query once, so keep one of them")
        seen.add(query.id)
        judged = statements(query)
        columns["relevant"][row] = len(judged.gains)
        columns["forbidden"][row] = len(set(judged.unwanted.values()))
        columns["tokens"][row], columns["foreign"][row] = outcome.tokens, outcome.foreign
        flags["unanswerable"][row] = query.judged and not query.answerable
        flags["failed"][row] = outcome.failed
        flags["follows"][row] = query.user_id in users
        users.add(query.user_id)
        if outcome.failed:
            continue
        previous = prefixes.get(query.user_id)
        if previous is not None and (previous or outcome.prefix):
            stable[row] = previous == outcome.prefix
        prefixes[query.user_id] = outcome.prefix
        ranking: Sequence[str] = outcome.ranking
        if len(set(ranking)) < len(ranking):
            ranking = tuple(dict.fromkeys(ranking))
            columns["ranking_repeats"][row] = len(outcome.ranking) - len(ranking)
        if judged.gains:
            hits.extend(_hits(row, ranking, judged))
            ideal.extend((row, rank, gain) for rank, gain in enumerate(sorted(judged.gains.values(), reverse=True), start=1))
        selected = outcome.selected
        columns["shown"][row] = len(selected)
        columns["repeated"][row] = len(selected) - len({judged.same.get(key, key) for key in selected})
        columns["found"][row] = len({judged.wanted[key] for key in selected if key in judged.wanted})
        columns["stale"][row] = len({judged.unwanted[key] for key in selected if key in judged.unwanted})
    hit = np.array(hits, dtype=np.int64).reshape(-1, 3)
    best = np.array(ideal, dtype=np.int64).reshape(-1, 3)
    counted: dict[str, Any] = {**columns, **flags}
    return Facts(
        **counted,
        stable=stable,
        hit_row=hit[:, 0],
        hit_rank=hit[:, 1],
        hit_gain=hit[:, 2].astype(np.float64),
        ideal_row=best[:, 0],
        ideal_rank=best[:, 1],
        ideal_gain=best[:, 2].astype(np.float64),
    )


_COUNTS = ("relevant", "found", "shown", "repeated", "forbidden", "stale", "tokens", "foreign", "ranking_repeats")
_FLAGS = ("unanswerable", "failed", "follows")


def _hits(row: int, ranking: Sequence[str], judged: Statements) -> list[tuple[int, int, int]]:
    """(row, rank, gain) of each relevant statement at its first occurrence.

    A second entry that says the same keeps its place in the ranking, because it was displayed there, and adds nothing.
    """
    left = dict(judged.gains)
    wanted = judged.wanted
    result = []
    for rank, key in enumerate(ranking, start=1):
        if key in wanted:
            gain = left.pop(wanted[key], 0)
            if gain:
                result.append((row, rank, gain))
                if not left:
                    break
    return result


def tally(outcomes: Sequence[Outcome]) -> dict[str, int]:
    """Counts that belong beside every table: how many queries were evaluated, skipped and why, and what was repaired.

    queries; judged (with relevant entries); unjudged (no usable evidence); unanswerable; failed;
    rankings_with_repeats and repeated_ids (ids a ranking names more than once; each is counted at its first place
    only).
    """
    known = facts(outcomes)
    return {
        "queries": len(known),
        "judged": int((known.relevant > 0).sum()),
        "unjudged": sum(not outcome.query.judged for outcome in outcomes),
        "unanswerable": int(known.unanswerable.sum()),
        "failed": int(known.failed.sum()),
        "rankings_with_repeats": int((known.ranking_repeats > 0).sum()),
        "repeated_ids": int(known.ranking_repeats.sum()),
    }
