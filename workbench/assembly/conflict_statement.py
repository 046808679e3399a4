"""What the conflict test reads out of one sentence: a `Sentence` of topic keys, subject, polarity, values and change words."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

from workbench.assembly.conflict_lexicon import FLAGS
from workbench.assembly.conflict_units import Value

_SERIAL = re.compile(r"[-/]\d{2}|\d{2}[-/]")

SELF = "self"
"""Person key of the user ("I", "we", "my", "the user"); entries that name their speaker use the speaker's name instead."""

_TRAITS = (
    *("denies", "affirms", "ends", "prefers", "updates", "moves", "placed", "settled", "named_value", "valued", "staged"),
    *("unique", "lacks", "crowded", "named", "weekly"),
)
TRAITS: dict[str, int] = {name: 1 << i for i, name in enumerate(_TRAITS)}
"""Bits of what a sentence contains, by which pairs that no rule can flag are passed over."""

CHANGE = FLAGS["end"] | FLAGS["move"] | FLAGS["relocate"] | FLAGS["resched"] | FLAGS["upd"]
"""Words that say something changed."""


class Clause(NamedTuple):
    """One clause.

    Attributes:
        keys: content keys in order.
        reach: the same with their stubs, for `near`.
        first: the first key of the subject or predicate, "" if the subject is a person.
        front: keys between the subject and the first negator: what the denial presupposes.
        scope: keys the negation bears on: those after the negator, or all where word order does not tell.
        denies: parity of negators, reversed words ("dislike") and endings ("no longer") together.
        refuses: parity of negators and endings, without reversed words.
        never: the negation is universal ("never").
        ended: keys said to have ended, been replaced or been cancelled; None if nothing is.
        past: its finite verb is in the past tense.
        vague: a pronoun stands for what it is about ("it", "them").
    """

    keys: tuple[str, ...]
    reach: frozenset[str]
    first: str
    front: tuple[str, ...]
    scope: tuple[str, ...]
    denies: bool
    refuses: bool
    never: bool
    ended: tuple[str, ...] | None
    past: bool
    vague: bool


class Sentence(NamedTuple):
    """One sentence.

    Attributes:
        language: its language.
        talk: it was said in a conversation ("Name: ...").
        keys: content keys in order, names included, people left out.
        reach: the same with their stubs, for `near`.
        strong: keys that make a topic: no everyday verbs.
        names: keys written as names or code.
        heads: who the sentence is about, as person keys; empty if unknown.
        direct: the subject is one of the heads itself, not something they own.
        owners: names that only own something here.
        values: numbers, times and dates.
        scopes: restrictions as "class:key": seasons, weekdays, environments, conditions.
        slots: bits of `SLOTS`.
        opposed: (family, stage, key, denied) of exclusive states.
        flags: union of the flags of its words.
        clauses: its clauses, at least one.
        indefinite: keys right after an indefinite article.
        unique: keys of which there is one at a time ("my main editor", "manager").
        lacks: (person, kind) pairs it denies.
        has: (person, kind) pairs it takes for granted.
        links: key -> the preposition in front of it.
        value_names: names right after a copula ("my manager is Sofia").
        moved: 2 if it says that its subject moved, 1 if something else did, 0 if nothing.
        carried: the key in front of the verb of moving: the head of what moved.
        replaced: what got another value ("switched *supplier* to ...").
        past: any clause is in the past tense.
        traits: union of `TRAITS` bits.
    """

    language: str
    talk: bool
    keys: tuple[str, ...]
    reach: frozenset[str]
    strong: tuple[str, ...]
    names: frozenset[str]
    heads: frozenset[str]
    direct: bool
    owners: frozenset[str]
    values: tuple[Value, ...]
    scopes: frozenset[str]
    slots: int
    opposed: tuple[tuple[str, str, str, bool], ...]
    flags: int
    clauses: tuple[Clause, ...]
    indefinite: frozenset[str]
    unique: frozenset[str]
    lacks: frozenset[tuple[str, str]]
    has: frozenset[tuple[str, str]]
    links: dict[str, str]
    value_names: frozenset[str]
    moved: int
    carried: str
    replaced: tuple[str, ...]
    past: bool
    traits: int


def reach(keys: Iterable[str]) -> frozenset[str]:
    """Keys and their stubs; a key is `near` another if itself or its stub is in the reach."""
    forms: list[str] = []
    for key in keys:
        found = _FORMS.get(key)
        if found is None:
            if len(_FORMS) > _FORMS_LIMIT:
                _FORMS.clear()
            found = _FORMS[key] = _forms(key)
        forms += found
    return frozenset(forms)


_FORMS: dict[str, tuple[str, ...]] = {}
_FORMS_LIMIT = 50_000


def _forms(key: str) -> tuple[str, ...]:
    if len(key) > 5:
        return (key, key[:-1]) if key.isalpha() else (key,)
    return (key, "~" + key[:2]) if key[0] >= "가" else (key,)


def near(key: str, where: frozenset[str]) -> bool:
    """Whether a key, or one that differs in its last letter only (Korean: begins with the same word), belongs to a `reach`."""
    if key in where:
        return True
    if len(key) > 5:
        return key[:-1] in where and key.isalpha()
    return key[0] >= "가" and (key[:2] in where or (len(key) == 2 and "~" + key in where))


def rest(keys: Iterable[str], where: frozenset[str]) -> list[str]:
    """Keys that are not near, in order."""
    return [key for key in keys if not near(key, where)]


def is_serial(a: Sentence, key: str) -> bool:
    """Whether a key of the sentence numbers an item: "the printer GQ-8412", "contract U37/89234"."""
    return key not in a.links and key not in a.value_names and _SERIAL.search(key) is not None
