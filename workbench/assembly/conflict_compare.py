"""What two sentences have in common and in what they differ: subject, topic, conditions, values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from workbench.assembly.conflict_lexicon import word_set
from workbench.assembly.conflict_statement import Sentence, near
from workbench.assembly.conflict_units import Value
from workbench.assembly.conflict_values import differ

REASONS: tuple[str, ...] = (
    "", "negation", "ended", "number", "time", "date", "name", "exclusive value", "status", "opposite", "moved",
    "presupposition",
)  # fmt: skip
"""What the codes mean; 0 is compatible."""
CODES = {reason: code for code, reason in enumerate(REASONS)}

_OCCASIONS = word_set("date weekday month clock")
_UNCOUNTED = word_set("month year elapsed")
_WHICH = word_set("for of at in on")


class Pair(NamedTuple):
    """Two sentences and what every rule asks about them.

    Attributes:
        a: one sentence.
        b: the other.
        shared: topic keys of `a` near `b`.
        rest_a: keys of `a` that `b` lacks.
        rest_b: keys of `b` that `a` lacks.
        coverage: the larger share of one side's topic that the other covers, in [0, 1].
        occasions: both name a time and the times differ.
        names: both name something the other does not.
    """

    a: Sentence
    b: Sentence
    shared: list[str]
    rest_a: list[str]
    rest_b: list[str]
    coverage: float
    occasions: bool
    names: bool


def pair(a: Sentence, b: Sentence) -> Pair:
    """Compares the topics of two sentences."""
    heads = a.heads & b.heads
    topic_a, topic_b = [key for key in a.strong if key not in heads], [key for key in b.strong if key not in heads]
    known_a = {key for key in a.keys if key in b.reach or near(key, b.reach)}
    known_b = {key for key in b.keys if key in a.reach or near(key, a.reach)}
    shared = [key for key in topic_a if key in known_a]
    back = sum([key in known_b for key in topic_b])
    coverage = max(len(shared) / max(len(topic_a), 1), back / max(len(topic_b), 1))
    rest_a, rest_b = [key for key in a.keys if key not in known_a], [key for key in b.keys if key not in known_b]
    names = bool(a.names and b.names) and not a.names.isdisjoint(rest_a) and not b.names.isdisjoint(rest_b)
    found = changed_values(a.values, b.values, _OCCASIONS) if a.values and b.values else None
    return Pair(a, b, shared, rest_a, rest_b, coverage, found is not None, names)


def same_person(a: Sentence, b: Sentence) -> bool:
    """Whether both name their subject and one of the subjects is the same; "Mum" may be anybody's."""
    if a.heads & b.heads:
        return True
    for head in a.heads:
        for other in b.heads:
            one, _, kin = head.partition(">")
            two, _, kin_too = other.partition(">")
            if kin and kin == kin_too and "?" in (one, two):
                return True
    return False


def same_subject(a: Sentence, b: Sentence) -> bool:
    """Whether the two can be about the same person or thing; an unknown subject may be anybody."""
    if not a.heads or not b.heads or same_person(a, b):
        return True
    # What only looks like a person ("Rent is due") is still the topic of a sentence that mentions it ("we pay the rent").
    # So is the owner of the topic ("Heron's main database").
    return any(head in b.keys and (not a.direct or head not in b.owners) for head in a.heads) or any(
        head in a.keys and (not b.direct or head not in a.owners) for head in b.heads
    )


def scopes_agree(a: Sentence, b: Sentence, *, narrower_a: bool = False, narrower_b: bool = False) -> bool:
    """Whether both hold under the same conditions.

    `narrower_a` allows `a` a restriction that `b` lacks. Times of the day only separate when both name one.
    """
    if a.scopes == b.scopes:
        return True
    only_a, only_b = a.scopes - b.scopes, b.scopes - a.scopes
    if only_a and only_b:
        return False
    firm_a = any(not scope.startswith("part:") for scope in only_a)
    firm_b = any(not scope.startswith("part:") for scope in only_b)
    return (narrower_a or not firm_a) and (narrower_b or not firm_b)


def changed_values(
    a: Sequence[Value], b: Sequence[Value], dimensions: frozenset[str] | None = None
) -> tuple[Value, Value] | None:
    """The first pair of values of one dimension where each side has one that the other side lacks."""
    for one in a:
        dimension = one.dimension
        if dimension in _UNCOUNTED if dimensions is None else dimension not in dimensions:
            continue
        theirs = [value for value in b if value.dimension == dimension]
        if not theirs or not all(differ(one, value) for value in theirs):
            continue
        mine = [value for value in a if value.dimension == dimension]
        for two in theirs:
            if all(differ(two, value) for value in mine):
                return one, two
    return None


def parallel(p: Pair) -> bool:
    """Whether unmatched words stand in the same place of both: beside the same neighbour or after the same preposition.

    Then the two speak of different items ("paint for the hall", "paint for the bedroom").
    """
    if not p.rest_a or not p.rest_b:
        return False
    sites = _sites(p.a, p.rest_a)
    return bool(sites) and not sites.isdisjoint(_sites(p.b, p.rest_b))


def _sites(a: Sentence, unmatched: list[str]) -> set[str]:
    """Where the unmatched topic words stand: "<" and what is in front, ">" and what is behind, the preposition."""
    sites: set[str] = set()
    keys, links = a.keys, a.links
    for i, key in enumerate(keys):
        if key not in unmatched or key not in a.strong:
            continue
        if i == 0:
            sites.add("<")
        elif keys[i - 1] not in unmatched:
            sites.add("<" + keys[i - 1][:5])
        if i + 1 < len(keys) and keys[i + 1] not in unmatched:
            sites.add(">" + keys[i + 1][:5])
        if key in links:
            sites.add(links[key])
    return sites


def linked_by(a: Sentence, other: frozenset[str]) -> set[str]:
    """Prepositions of unmatched words that say which one is meant."""
    return {link for key, link in a.links.items() if link in _WHICH and not near(key, other)}


def located(a: Sentence, keys: list[str], links: frozenset[str]) -> bool:
    """Whether an unmatched word is a place or means: after one of `links` (Korean: before a particle of place), or a name."""
    return any(a.links.get(key) in links or key in a.names for key in keys)


def linked(a: Sentence, keys: list[str], links: frozenset[str]) -> bool:
    """Whether an unmatched word stands behind one of `links` (Korean: in front of a particle of place)."""
    return any(a.links.get(key) in links for key in keys)


def runs(a: Sentence, unmatched: list[str]) -> int:
    """Number of unbroken stretches of unmatched topic words; one means that the sentences differ in one place."""
    runs, inside = 0, False
    for key in a.strong:
        miss = key in unmatched
        runs += miss and not inside
        inside = miss
    return runs


def distinct(a: Sequence[Sentence], b: Sequence[Sentence]) -> bool:
    """Whether something that was read says the two texts are not the same statement.

    Different subjects, names, values, polarity or conditions tell statements apart; texts that assert nothing (questions,
    requests) are told apart by nothing.
    """
    if not a or not b:
        return False
    if len(a) == len(b) == 1:
        return _distinct(a[0], b[0])
    return any(all(_distinct(one, two) for two in b) for one in a) or any(all(_distinct(two, one) for one in a) for two in b)


def _distinct(a: Sentence, b: Sentence) -> bool:
    if a.language != b.language:
        return False
    p = pair(a, b)
    if not same_subject(a, b) or p.names or (a.scopes - b.scopes and b.scopes - a.scopes):
        return True
    if changed_values(a.values, b.values) or p.occasions or parallel(p):
        return True
    return any(clause.denies for clause in a.clauses) != any(clause.denies for clause in b.clauses)
