"""Decides whether two sentences that were read can both hold. Each rule names one linguistic phenomenon and errs on silence."""

from __future__ import annotations

from collections.abc import Sequence

from workbench.assembly.conflict_changes import exclusive, moved, rescheduled, status, value_change
from workbench.assembly.conflict_compare import CODES, linked_by, pair, same_subject, scopes_agree
from workbench.assembly.conflict_lexicon import FLAGS
from workbench.assembly.conflict_statement import TRAITS, Clause, Sentence, near, rest

_PREF, _UPD, _SUPERSEDE = FLAGS["pref"], FLAGS["upd"], FLAGS["supersede"]


def negation(a: Sentence, b: Sentence) -> bool:
    """One affirms what the other denies: every denied word occurs in the affirmation, and nothing else tells them apart."""
    if not (_denies(a, b) or _denies(b, a)):
        return False
    p = pair(a, b)
    return not (p.occasions or p.names)


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
    if len(p.keys) - len(extra) < 2 and len(extra) > (1 if topic and not yes.flags & _PREF else 0):
        return False  # "I don't know" against "I know Go"
    if no.talk and ((len(topic) < 2 and extra) or len(extra) > len(n.scope)):
        return False
    if n.never:
        return True
    if p.past != n.past:
        return False
    return not (p.past and (extra or front))


def ended(a: Sentence, b: Sentence, subject: bool) -> bool:
    """`b` says that something stopped, was replaced or cancelled which `a` states as current."""
    if (a.past and not b.flags & _UPD) or any(clause.denies for clause in a.clauses):
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
        about = [key for key in n.ended if key in a.keys or (key not in b.names and near(key, a.reach))]
        core = [key for key in about if key in b.strong and key not in common]
        if all(key in b.heads for key in core) and not all(key in b.heads for key in n.ended):
            continue  # "Mungo is no longer allergic" is not about everything that Mungo does
        missing = len([key for key in n.ended if key in b.strong and not near(key, a.reach)])
        if (
            b.language == "en"
            and n.first
            and not near(n.first, a.reach)
            and a.direct
            and a.heads
            and not b.heads
            and not b.flags & _SUPERSEDE
        ):
            continue  # "I sleep after lunch", "The hens no longer sleep here"
        if (
            not core
            or missing > len(about)
            or (missing == len(about) and b.language == "en" and not any(k in b.names for k in core))
        ):
            continue
        if b.language == "en" and not near(n.ended[-1], a.reach) and not any(key in b.names for key in core):
            continue  # "the yoga trip" is no yoga pose
        if linked_by(a, b.reach) & linked_by(b, a.reach):
            continue  # a ticket for one event, a ticket for another
        covered = sum(near(key, b.reach) for key in topic)
        if a.unique and not missing and not a.talk and all(key in a.value_names or near(key, a.value_names) for key in core):
            return True  # "my editor is Neovim", "switched from Neovim"
        if (covered * 2 < len(topic) and (missing or len(core) < 2)) or (a.talk and (covered < 2 or missing)):
            continue
        return True
    return False


def judge(a: Sentence, b: Sentence) -> int:
    """Code of the first reason why `a` and `b` cannot both hold, 0 if none is seen."""
    either, both = a.traits | b.traits, a.traits & b.traits
    if not ((both & _BOTH) | (either & _EITHER)) or a.language != b.language:
        return 0
    if either & _LACKS and (a.lacks & b.has or b.lacks & a.has):
        return CODES["presupposition"]
    subject = same_subject(a, b)
    if a.talk and b.talk:
        p = pair(a, b)
        if not subject or len(p.shared) < 2 or p.coverage < 0.5:
            return 0
    if either & _ENDS and (ended(a, b, subject) or ended(b, a, subject)):
        return CODES["ended"]
    if not subject:
        return 0
    if either & _DENIES and negation(a, b):
        return CODES["negation"]
    if not ((both & _BOTH) | (either & _CHANGES)):
        return 0
    p = pair(a, b)
    code = value_change(p) or status(p) or exclusive(p)
    if code:
        return code
    if rescheduled(p):
        return CODES["date"]
    return CODES["moved"] if moved(a, b, p.rest_a, p.rest_b) or moved(b, a, p.rest_b, p.rest_a) else 0


_LACKS, _ENDS, _DENIES = TRAITS["lacks"], TRAITS["ends"], TRAITS["denies"]
_CHANGES = TRAITS["updates"] | TRAITS["moves"] | TRAITS["unique"]
_EITHER = _CHANGES | _LACKS | _ENDS | _DENIES
_BOTH = (
    TRAITS["prefers"]
    | TRAITS["placed"]
    | TRAITS["settled"]
    | TRAITS["named_value"]
    | TRAITS["valued"]
    | TRAITS["staged"]
    | TRAITS["weekly"]
)


def judge_texts(a: Sequence[Sentence], b: Sequence[Sentence]) -> int:
    """Lowest code among the conflicting pairs of sentences of two texts, 0 if there is none."""
    if len(a) == len(b) == 1:
        return judge(a[0], b[0])
    codes = [code for one in a for two in b if (code := judge(one, two))]
    return min(codes, default=0)
