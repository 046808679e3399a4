"""Decides whether two sentences that were read can both hold. Each rule names one linguistic phenomenon and errs on silence."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from workbench.assembly.conflict_lexicon import FLAGS, SLOTS
from workbench.assembly.conflict_statement import CHANGE, SELF, Clause, Sentence, near, rest
from workbench.assembly.conflict_values import Value, differ

REASONS: tuple[str, ...] = (
    "", "negation", "ended", "number", "time", "date", "name", "exclusive value", "status", "opposite", "moved", "presupposition",
)  # fmt: skip
"""What the codes mean; 0 is compatible."""
CODES = {reason: code for code, reason in enumerate(REASONS)}

_PREF, _UPD, _UNIV, _SUPERSEDE = FLAGS["pref"], FLAGS["upd"], FLAGS["univ"], FLAGS["supersede"]
_RESCHED, _MOVE = FLAGS["resched"], FLAGS["move"]
_PERSON_SLOTS = SLOTS["reside"] | SLOTS["work"] | SLOTS["study"]
_THING_SLOTS = SLOTS["place"] | SLOTS["tool"]
_PERSONAL = frozenset("marital job hospital leave birth diet chrono".split())
_GRADED = frozenset("len firm cook formal sweet chrono arch vis mode temp lr seat sync order case auto".split())
_OCCASIONS = frozenset(("date", "weekday", "month", "clock"))
_UNCOUNTED = frozenset(("month", "year", "elapsed"))
_HOMES = frozenset("in at near for en bei im em no na num numa 에".split())
_PLACES = frozenset("im am in at on under behind beside inside with by from en bei auf unter em no na num numa pelo 에".split())
_GOALS = _PLACES | frozenset("to into onto over nach para a".split())


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
    shared = [key for key in topic_a if near(key, b.reach)]
    back = sum(near(key, a.reach) for key in topic_b)
    coverage = max(len(shared) / max(len(topic_a), 1), back / max(len(topic_b), 1))
    rest_a, rest_b = rest(a.keys, b.reach), rest(b.keys, a.reach)
    names = any(key in a.names for key in rest_a) and any(key in b.names for key in rest_b)
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


def changed_values(a: Sequence[Value], b: Sequence[Value], dimensions: frozenset[str] | None = None) -> tuple[Value, Value] | None:
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
    return bool(_sites(p.a, p.b.reach) & _sites(p.b, p.a.reach))


def _sites(a: Sentence, other: frozenset[str]) -> set[str]:
    sites: set[str] = set()
    last = len(a.keys) - 1
    for i, key in enumerate(a.keys):
        if key not in a.strong or near(key, other):
            continue
        if i == 0 or near(a.keys[i - 1], other):
            sites.add("<" + (a.keys[i - 1][:5] if i else ""))
        if i < last and near(a.keys[i + 1], other):
            sites.add(">" + a.keys[i + 1][:5])
        if key in a.links:
            sites.add(a.links[key])
    return sites


def negation(p: Pair) -> bool:
    """One affirms what the other denies: every denied word occurs in the affirmation."""
    if p.occasions or p.names:
        return False
    return _denies(p.a, p.b) or _denies(p.b, p.a)


def _denies(yes: Sentence, no: Sentence) -> bool:
    if not scopes_agree(yes, no, narrower_a=True):
        return False
    for n in no.clauses:
        if n.denies and n.scope:
            for p in yes.clauses:
                if not p.denies and p.keys and _denied(p, n, yes, no):
                    return True
    return False


def _denied(p: Clause, n: Clause, yes: Sentence, no: Sentence) -> bool:
    where = p.reach if len(yes.clauses) > 1 else yes.reach
    if rest(n.scope, where):
        return False
    extra = [key for key in p.keys if not near(key, no.reach)]
    front = rest(n.front, yes.reach)
    if p.first and not near(p.first, no.reach) and not (n.first and near(n.first, yes.reach)):
        return False  # "My boss drinks tea", "I don't drink tea"
    if front and extra:
        return False
    topic = [key for key in n.keys if key in no.strong and near(key, where)]
    if not topic and (extra or len(p.keys) != len(n.keys) or p.vague or n.vague):
        return False  # "I haven't tried it" against "I'll try the salad"
    if len(p.keys) - len(extra) < 2 and len(extra) > (1 if topic else 0):
        return False  # "I don't know" against "I know Go"
    if no.talk and (len(topic) < 2 and extra or len(extra) > len(n.scope)):
        return False
    if n.never:
        return True
    if p.past != n.past:
        return False
    return not (p.past and (extra or front))


def ended(a: Sentence, b: Sentence, subject: bool) -> bool:
    """`b` says that something stopped, was replaced or cancelled which `a` states as current."""
    if a.past and not b.flags & _UPD or any(clause.denies for clause in a.clauses):
        return False
    if not subject and not b.flags & _SUPERSEDE:
        return False
    common = a.heads & b.heads
    topic = [key for key in a.strong if key not in common] or a.keys
    for n in b.clauses:
        if n.ended is None or not n.denies:
            continue
        if not scopes_agree(a, b, narrower_a=True, narrower_b=not any(s.startswith(("env", "where", "if")) for s in b.scopes)):
            continue
        about = [key for key in n.ended if near(key, a.reach)]
        core = [key for key in about if key in b.strong and key not in common]
        missing = len(n.ended) - len(about)
        if not core or missing > len(about):
            continue
        if b.language == "en" and not near(n.ended[-1], a.reach) and not any(key in b.names for key in core):
            continue  # "the yoga trip" is no yoga pose
        covered = sum(near(key, b.reach) for key in topic)
        if (covered * 2 < len(topic) and (missing or len(core) < 2)) or (a.talk and (covered < 2 or missing)):
            continue
        return True
    return False


def value_change(p: Pair) -> int:
    """The same slot holds another number, time or date."""
    a, b = p.a, p.b
    found = changed_values(a.values, b.values) if a.values and b.values else None
    if found is None:
        return 0
    one, two = found
    change = (a.flags | b.flags) & CHANGE
    if p.names or not scopes_agree(a, b) or not _known(a, b) or (a.past and not a.flags & CHANGE) or (b.past and not b.flags & CHANGE):
        return 0
    if one.item and two.item and one.item != two.item:
        return 0
    if p.shared:
        if p.coverage < 0.5:
            return 0
    elif not (a.scopes and a.scopes == b.scopes):
        common = [key for key in a.keys if near(key, b.reach)]
        if not common or (p.rest_a and p.rest_b) or len(p.rest_a) + len(p.rest_b) >= len(common):
            return 0
    when = one.dimension in ("date", "weekday")
    if when and a.indefinite & b.indefinite and not change:
        return 0
    if not when and p.occasions and one.dimension != "clock":
        return 0
    if parallel(p) and not (a.flags | b.flags) & _RESCHED:
        return 0
    return CODES["date" if when else "time" if one.dimension == "clock" else "number"]


def _known(a: Sentence, b: Sentence) -> bool:
    """Whether no third person is the subject of one sentence and absent from the other."""
    for one, other in ((a, b), (b, a)):
        if one.heads and not other.heads and not one.heads & {SELF}:
            if all(head in one.names or ">" in head for head in one.heads) and not any(head in other.keys for head in one.heads):
                return False
    return True


def rescheduled(p: Pair) -> bool:
    """A weekly habit got other days: "on Tuesdays", "has moved to Thursdays"."""
    a, b = p.a, p.b
    days = a.scopes ^ b.scopes
    if not days or not all(scope.startswith(("wk:", "part:")) for scope in days) or p.names or p.coverage < 0.5 or not p.shared:
        return False
    if not (a.scopes - b.scopes and b.scopes - a.scopes) or a.past and not a.moved:
        return False
    return bool((a.flags | b.flags) & (_UPD | _RESCHED | _MOVE)) and not any(c.denies for c in a.clauses + b.clauses)


def status(p: Pair) -> int:
    """Both name a stage of one course of events (open, closed), or opposite ends of one scale (soft, hard)."""
    a, b = p.a, p.b
    if not a.opposed or not b.opposed or p.occasions:
        return 0
    decisive = (a.flags | b.flags) & (_PREF | _UNIV)
    for family, stage, key, denied in a.opposed:
        theirs = [entry for entry in b.opposed if entry[0] == family]
        if not theirs or any((other == stage) == (no == denied) for _, other, _, no in theirs):
            continue  # same stage, or "not broken" beside "repaired"
        if sum(entry[0] == family and entry[1] != stage for entry in a.opposed):
            continue  # the sentence itself names both
        own = {key, *(entry[2] for entry in theirs)}
        shared = [word for word in p.shared if word not in own]
        rest_a = [word for word in p.rest_a if word not in own and word in a.strong]
        rest_b = [word for word in p.rest_b if word not in own and word in b.strong]
        graded = family in _GRADED
        if not scopes_agree(a, b, narrower_a=not graded, narrower_b=not graded):
            continue
        if family in _PERSONAL and a.heads and b.heads and (not graded or decisive):
            if family != "diet" or {"eat", "love"} & {*a.keys, *b.keys}:
                return CODES["status"]
        if not shared or p.names:
            continue
        if not graded:
            if p.coverage >= 0.5:
                return CODES["status"]
        elif not (a.past or b.past or rest_a and rest_b):
            if decisive or "love" not in a.keys + b.keys and not (key in a.indefinite and own & b.indefinite):
                return CODES["opposite"]
    return 0


def exclusive(p: Pair) -> int:
    """One slot, two values: a preference, a role held by one, a residence, the place of a thing, the one tool for a job."""
    a, b = p.a, p.b
    if (a.past and not a.flags & CHANGE) or (b.past and not b.flags & CHANGE):
        return 0
    if any(clause.denies for clause in a.clauses) or any(clause.denies for clause in b.clauses):
        return 0
    update = (a.flags | b.flags) & _UPD
    if not scopes_agree(a, b, narrower_a=bool(update), narrower_b=bool(update)):
        return 0
    if not p.rest_a or not p.rest_b:
        return _swapped(p)
    reason = CODES["name"] if p.names else CODES["exclusive value"]
    if a.slots & b.slots & _PERSON_SLOTS and a.direct and b.direct and same_person(a, b) and not p.occasions:
        if _located(a, p.rest_a, _HOMES) and _located(b, p.rest_b, _HOMES) and not (a.names & b.names) - a.heads:
            if not (a.talk or b.talk) or p.names:
                return reason
    if a.flags & b.flags & _PREF and a.scopes != b.scopes:
        return 0
    if p.names and _copular(a, p.rest_a) and _copular(b, p.rest_b) and p.shared and not (a.talk or b.talk):
        return reason
    domain = bool(p.shared) or bool(a.scopes and a.scopes == b.scopes)
    if not domain or _runs(a, b.reach) != 1 or _runs(b, a.reach) != 1 or (a.talk and p.coverage < 0.6):
        return 0
    if a.flags & b.flags & _PREF:
        return reason
    alone = [key for key in a.unique | b.unique if near(key, a.reach) and near(key, b.reach)]
    if alone and (a.unique & b.unique or len(p.shared) >= 2 or (update and p.names)):
        return reason
    if a.talk or not near(a.keys[0], b.reach) and not near(b.keys[0], a.reach) and not a.heads & b.heads:
        return 0  # what stands first differs: two subjects
    if a.slots & b.slots & _THING_SLOTS and _located(a, p.rest_a, _PLACES) and _located(b, p.rest_b, _PLACES):
        return reason
    if update and (a.slots | b.slots) & _THING_SLOTS:
        if len(p.shared) >= 2 or (_located(a, p.rest_a, _GOALS) and _located(b, p.rest_b, _GOALS)):
            return reason
    if update and p.names and all(
        key in side.names or key not in side.strong for side, keys in ((a, p.rest_a), (b, p.rest_b)) for key in keys
    ):
        return reason
    return 0


def _copular(a: Sentence, keys: list[str]) -> bool:
    """Whether all that is unmatched is a name behind a copula: "the gate code is ...", "my teacher is ..."."""
    return bool(a.value_names) and all(key in a.names and key not in a.links for key in keys) and a.keys[0] not in keys




def _located(a: Sentence, keys: list[str], links: frozenset[str]) -> bool:
    """Whether an unmatched word is a place or means: after one of `links`, or a name."""
    return a.language == "ko" or any(a.links.get(key) in links or key in a.names for key in keys)


def _runs(a: Sentence, other: frozenset[str]) -> int:
    """Number of unbroken stretches of unmatched words; one means that the sentences differ in one place."""
    runs, inside = 0, False
    for key in a.strong:
        miss = not near(key, other)
        runs += miss and not inside
        inside = miss
    return runs


def _swapped(p: Pair) -> int:
    """`X over Y` against `Y over X`."""
    a, b = p.a, p.b
    if a.flags & b.flags & _PREF and not p.rest_a and not p.rest_b and a.keys != b.keys and set(a.keys) == set(b.keys):
        over_a = [key for key, link in a.links.items() if link in ("over", "to", "que", "als")]
        over_b = [key for key, link in b.links.items() if link in ("over", "to", "que", "als")]
        if over_a and over_b and over_a != over_b:
            return CODES["exclusive value"]
    return 0


def moved(a: Sentence, b: Sentence, rest_a: list[str], rest_b: list[str]) -> bool:
    """`b` says that something moved; `a` has it somewhere else."""
    if not b.moved or a.moved or a.past or not rest_a or not rest_b:
        return False
    if any(clause.denies for clause in a.clauses) or not scopes_agree(a, b, narrower_a=True, narrower_b=True):
        return False
    if a.talk and not (any(key in a.names for key in rest_a) and any(key in b.names for key in rest_b)):
        return False
    if b.replaced and a.keys and all(near(key, a.reach) for key in b.replaced) and near(a.keys[0], b.reach):
        return any(key in a.names for key in rest_a) or bool(a.unique)
    if b.moved == 2 and a.slots & _PERSON_SLOTS and a.direct and b.direct and same_person(a, b):
        return _located(a, rest_a, _HOMES) and _located(b, rest_b, _GOALS) and not (a.names & b.names) - a.heads
    if not a.slots & (SLOTS["place"] | SLOTS["site"]) or not b.keys or not a.keys or not _located(a, rest_a, _PLACES):
        return False
    return near(b.keys[0], a.reach) and near(a.keys[0], b.reach) and any(near(key, b.reach) for key in a.strong)


def judge(a: Sentence, b: Sentence) -> int:
    """Code of the first reason why `a` and `b` cannot both hold, 0 if none is seen."""
    if a.language != b.language:
        return 0
    if a.lacks & b.has or b.lacks & a.has:
        return CODES["presupposition"]
    subject = same_subject(a, b)
    talk = a.talk and b.talk
    if talk and not subject:
        return 0
    p = pair(a, b)
    if talk and (len(p.shared) < 2 or p.coverage < 0.5):
        return 0
    if ended(a, b, subject) or ended(b, a, subject):
        return CODES["ended"]
    if not subject:
        return 0
    if negation(p):
        return CODES["negation"]
    code = value_change(p) or status(p) or exclusive(p)
    if code:
        return code
    if rescheduled(p):
        return CODES["date"]
    return CODES["moved"] if moved(a, b, p.rest_a, p.rest_b) or moved(b, a, p.rest_b, p.rest_a) else 0


def judge_texts(a: Sequence[Sentence], b: Sequence[Sentence]) -> int:
    """Lowest code among the conflicting pairs of sentences of two texts, 0 if there is none."""
    codes = [code for one in a for two in b if (code := judge(one, two))]
    return min(codes, default=0)


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
