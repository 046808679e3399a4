"""Rules for what changed: another number, day, state, value or place. Each is one phenomenon and errs on silence."""

from __future__ import annotations

from workbench.assembly.conflict_compare import (
    CODES,
    Pair,
    changed_values,
    linked,
    located,
    parallel,
    runs,
    same_person,
    scopes_agree,
)
from workbench.assembly.conflict_lexicon import FLAGS, SLOTS, word_set
from workbench.assembly.conflict_statement import CHANGE, SELF, Sentence, is_serial, near

_PREF, _UPD, _UNIV, _SUPERSEDE = FLAGS["pref"], FLAGS["upd"], FLAGS["univ"], FLAGS["supersede"]
_PLAN, _DATED, _MONTH = FLAGS["plan"], FLAGS["resched"] | FLAGS["move"], word_set("month")
_RESCHED, _MOVE = FLAGS["resched"], FLAGS["move"]
_PERSON_SLOTS = SLOTS["reside"] | SLOTS["work"] | SLOTS["study"]
_THING_SLOTS = SLOTS["place"] | SLOTS["tool"] | SLOTS["code"]
_PERSONAL = word_set("marital job hospital leave birth diet chrono")
_GRADED = word_set("len firm cook formal sweet chrono arch vis mode temp lr sync order case auto")
_OWNED = word_set("of de do da von")
_HOMES = word_set("in at near for en bei im em no na num numa 에")
_PLACES = word_set("im am in at on under behind beside inside with by from en bei auf unter em no na num numa pelo 에")
_GOALS = _PLACES | word_set("to into onto over nach para a")


def value_change(p: Pair) -> int:
    """The same slot holds another number, time or date."""
    a, b = p.a, p.b
    change = (a.flags | b.flags) & CHANGE
    found = changed_values(a.values, b.values) if a.values and b.values else None
    if found is None and a.values and b.values and (change & _DATED or a.flags & b.flags & _PLAN):
        found = changed_values(a.values, b.values, _MONTH)
    if found is None:
        return 0
    one, two = found
    if any(c.denies for c in a.clauses) != any(c.denies for c in b.clauses) and not change:
        return 0
    if (
        p.names
        or not scopes_agree(a, b)
        or not _known(a, b)
        or (a.past and not a.flags & CHANGE)
        or (b.past and not b.flags & CHANGE)
    ):
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
    when = one.dimension in ("date", "weekday", "month")
    if one.dimension == "plain" and not change and p.rest_a and p.rest_b and len(p.rest_a) + len(p.rest_b) > 2:
        return 0  # two numbers that nothing relates
    if one.dimension == "month" and (p.rest_a or p.rest_b) and not (change and not (p.rest_a and p.rest_b)):
        return 0
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
        if not one.heads or other.heads or SELF in one.heads:
            continue
        third = all(head in one.names or ">" in head for head in one.heads)
        if third and not any(head in other.keys for head in one.heads):
            return False
    return True


def rescheduled(p: Pair) -> bool:
    """A weekly habit got other days: "on Tuesdays", "has moved to Thursdays"."""
    a, b = p.a, p.b
    days = a.scopes ^ b.scopes
    if not days or not all(scope.startswith(("wk:", "part:")) for scope in days) or p.names or p.coverage < 0.5 or not p.shared:
        return False
    if not (a.scopes - b.scopes and b.scopes - a.scopes) or (a.past and not a.moved):
        return False
    return bool((a.flags | b.flags) & (_UPD | _RESCHED | _MOVE)) and not any(c.denies for c in a.clauses + b.clauses)


def status(p: Pair) -> int:
    """Both name a stage of one course of events (open, closed), or opposite ends of one scale (soft, hard)."""
    a, b = p.a, p.b
    if not a.opposed or not b.opposed or p.occasions:
        return 0
    decisive = (a.flags | b.flags) & (_PREF | _UNIV)
    for family, stage, key, denied in a.opposed:
        theirs = [entry for entry in b.opposed if entry[0] == family and (entry[2] != key or entry[1] != stage)]
        if family == "diet" and (denied or any(entry[3] for entry in theirs)):
            continue  # what is denied may be a part only ("no red meat")
        if not theirs or any((other == stage) == (no == denied) for _, other, _, no in theirs):
            continue  # same stage, or "not broken" beside "repaired"
        if sum(entry[0] == family and entry[1] != stage for entry in a.opposed):
            continue  # the sentence itself names both
        own = {key, *(entry[2] for entry in theirs)}
        shared = [word for word in p.shared if word not in own]
        rest_a = [word for word in p.rest_a if word not in own and word in a.strong]
        rest_b = [word for word in p.rest_b if word not in own and word in b.strong]
        graded = family in _GRADED
        lax = not graded and family != "diet"
        if not scopes_agree(a, b, narrower_a=lax, narrower_b=lax):
            continue
        personal = family in _PERSONAL and a.heads and b.heads and (not graded or decisive)
        if personal and (family != "diet" or {"eat", "love"} & {*a.keys, *b.keys}):
            return CODES["status"]
        if p.names or (not shared and not (graded and same_person(a, b) and a.direct and b.direct)):
            continue
        if not graded:
            smaller = len(shared) + min(len(rest_a), len(rest_b))
            if 2 * len(shared) > smaller or len(shared) > 1 or any(word in a.names for word in shared):
                return CODES["status"]
            continue
        # Two short films can be liked beside two long ones; a mattress is soft or firm.
        several = "love" in a.keys + b.keys or (key in a.indefinite and own & b.indefinite)
        if not (a.past or b.past or (rest_a and rest_b)) and (decisive or not several):
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
    if _other_item(p):
        return 0
    if _lives_elsewhere(p):
        return reason
    if a.flags & b.flags & _PREF and a.scopes != b.scopes:
        return 0
    if p.names and _copular(a, p.rest_a) and _copular(b, p.rest_b) and p.shared and not (a.talk or b.talk):
        return reason
    domain = any(key not in a.heads and key not in b.heads for key in p.shared) or bool(a.scopes and a.scopes == b.scopes)
    if not domain or runs(a, p.rest_a) != 1 or runs(b, p.rest_b) != 1 or (a.talk and p.coverage < 0.6):
        return 0
    if a.flags & b.flags & _PREF and parallel(p) and ("over" in a.links.values()) == ("over" in b.links.values()):
        return reason
    alone = [key for key in a.unique | b.unique if near(key, a.reach) and near(key, b.reach)]
    if any(side.links.get(key) in ("with", "w") for key in alone for side in (a, b)):
        alone = []  # an appointment with the one who holds the role
    if alone and (_other_owner(p, alone) or not _known(a, b)):
        return 0
    if alone and (a.unique & b.unique or len(p.shared) >= 2 or (update and p.names)):
        return reason
    if a.talk or (not near(a.keys[0], b.reach) and not near(b.keys[0], a.reach) and not a.heads & b.heads):
        return 0  # what stands first differs: two subjects
    if (
        near(a.keys[0], b.reach)
        and near(b.keys[0], a.reach)
        and a.slots & b.slots & _THING_SLOTS
        and not p.occasions
        and located(a, p.rest_a, _PLACES)
        and located(b, p.rest_b, _PLACES)
    ):
        return reason
    placed = (a.slots | b.slots) & _THING_SLOTS
    if update and placed and not (near(a.keys[0], b.reach) and near(b.keys[0], a.reach)) and not a.heads & b.heads:
        return 0  # what stands first in one stands elsewhere in the other: "a sticker now decorates the oven"
    if (
        update
        and placed
        and any(
            key in unmatched and side.links.get(key) == "for" and near(one, other.reach)
            for side, unmatched, other in ((a, p.rest_a, b), (b, p.rest_b, a))
            for one, key in zip(side.keys, side.keys[1:], strict=False)
        )
    ):
        return 0  # "stickers for the scheduler"
    if update and placed and (len(p.shared) >= 2 or (located(a, p.rest_a, _GOALS) and located(b, p.rest_b, _GOALS))):
        return reason
    only_names = all(key in a.names or key not in a.strong for key in p.rest_a) and all(
        key in b.names or key not in b.strong for key in p.rest_b
    )
    return reason if update and p.names and only_names else 0


def _other_owner(p: Pair, alone: list[str]) -> bool:
    """Whether one says whose it is and the other does not say the same, or both say what it is for, and differ in that.

    "The dentist of my landlord", "my dentist"; "the deadline for the novel", "the deadline for my tax return".
    """
    for_what = 0
    for side, unmatched in ((p.a, p.rest_a), (p.b, p.rest_b)):
        for one, key in zip(side.keys, side.keys[1:], strict=False):
            if key in unmatched and one in alone and side.links.get(key) in _OWNED:
                return True
        for_what += any(side.links.get(key) == "for" for key in unmatched)
    return for_what == 2


def _other_item(p: Pair) -> bool:
    """Whether both name an item by its number and the items differ: "the printer GQ-8412", "contract U37/89234"."""
    return all(any(is_serial(side, key) for key in keys) for side, keys in ((p.a, p.rest_a), (p.b, p.rest_b)))


def _lives_elsewhere(p: Pair) -> bool:
    """One person, two places to live, work or study."""
    a, b = p.a, p.b
    slots = a.slots & b.slots & _PERSON_SLOTS
    if not slots or p.occasions or not (a.direct and b.direct and same_person(a, b)) or (a.names & b.names) - a.heads:
        return False
    if not (_housed(a, p.rest_a, slots) and _housed(b, p.rest_b, slots)):
        return False
    if p.names:
        return True
    # A kind of home and a town go together ("in a houseboat", "in Ghent").
    unnamed = not any(key in a.names for key in p.rest_a) and not any(key in b.names for key in p.rest_b)
    return not (a.talk or b.talk) and unnamed


def _housed(a: Sentence, keys: list[str], slots: int) -> bool:
    """Whether an unmatched word says where; or by whom somebody is employed."""
    return linked(a, keys, _HOMES) or bool(
        slots & SLOTS["work"] and any(a.links.get(key) == "by" and key in a.names for key in keys)
    )


def _copular(a: Sentence, keys: list[str]) -> bool:
    """Whether all that is unmatched is a name behind a copula: "the gate code is ...", "my teacher is ..."."""
    return bool(a.value_names) and all(key in a.names and key not in a.links for key in keys) and a.keys[0] not in keys


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
    if any(a.links.get(key) == "of" for key in rest_a):
        return False  # somebody else's
    if b.replaced and a.keys and all(near(key, a.reach) for key in b.replaced) and near(a.keys[0], b.reach):
        return any(key in a.names for key in rest_a) or bool(a.unique)
    settled = a.slots & (SLOTS["reside"] | b.slots & _PERSON_SLOTS)
    if b.moved == 2 and settled and "over" not in b.links.values() and a.direct and b.direct and same_person(a, b):
        return located(a, rest_a, _HOMES) and located(b, rest_b, _GOALS) and not (a.names & b.names) - a.heads
    if same_person(a, b) and a.direct and b.direct and SELF not in a.heads:
        return False
    if not a.slots & (SLOTS["place"] | SLOTS["site"]) or not b.keys or not a.keys or not located(a, rest_a, _PLACES):
        return False
    if b.language == "en" and not near(b.carried or b.keys[0], a.reach):
        return False  # "Team chat moved", "The team meets in ..."
    return (
        near(b.keys[0], a.reach)
        and near(a.keys[0], b.reach)
        and any(near(key, b.reach) for key in a.strong if key not in a.heads or key not in b.heads)
    )
