"""The word classes of the rule-based conflict test, and the lookup that turns a token into a `Word`.

Classes in the language files (`func`, `neg`, `end`, ...) become bits; see `FLAGS`. Everything a word means is settled
here, once per distinct token, so that reading a text is one dictionary lookup per token.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import Stemmer

from workbench.assembly import conflict_lexicon_de_ko as de_ko
from workbench.assembly import conflict_lexicon_en as en
from workbench.assembly import conflict_lexicon_romance as romance


def word_set(text: str) -> frozenset[str]:
    """The words of a space-separated list."""
    return frozenset(text.split())


CLASSES: dict[str, str] = {
    "func": "grammar word without a topic",
    "prep": "preposition",
    "indef": "indefinite article",
    "conj": "opens a clause",
    "and": "joins phrases, and clauses if a verb or subject follows",
    "light": "word too general to be a topic",
    "weak": "everyday verb: matters to what is denied, not to what is talked about",
    "vague": "pronoun that may stand for anything",
    "neg": "negates",
    "never": "negates for all times",
    "noneg": "phrase that looks like a negation and is none (can't wait)",
    "end": "says that something stops or is replaced",
    "endword": "makes a negation say that something stopped (any more)",
    "supersede": "one thing takes the place of another",
    "separable": "verb that ends something with a later particle (give away)",
    "particle": "such a particle",
    "move": "may move something, if a goal follows",
    "relocate": "always moves its subject",
    "resched": "gives something another time",
    "upd": "says that something is new (now, these days)",
    "past": "verb form of the past",
    "reports": "past form that frames what still holds (decided that, showed that)",
    "pastb": "speaks of a closed period (used to, as a child)",
    "plan": "gives something its time (planned for)",
    "until": "bounds a period",
    "hypo": "supposes or wishes",
    "nohypo": "phrase that looks like a wish and states a preference (would rather)",
    "if": "opens a condition",
    "self": "first person",
    "nom": "pronoun as a subject",
    "first": "verb form of the first person where the pronoun is left out",
    "poss": "possessive",
    "mine": "possessive of the first person",
    "you": "second person",
    "third": "third person",
    "univ": "leaves no exception (all, only)",
    "pref": "prefers",
    "uniq": "noun of which there is one at a time (landlord, birthday)",
    "uniqadj": "makes its noun such a one (main, favourite)",
    "kin": "relative or close person",
    "greet": "opens talk",
    "name": "written as a name",
    "cap": "starts with a capital",
    "code": "written as code",
    "genitive": "has a genitive ending",
    "participle": "may be a past tense or a participle",
    "aux": "auxiliary or copula",
    "be": "form of to be or to get",
    "opener": "first word of a phrase",
    "value": "number, weekday, month or currency sign",
    "rich": "has states, scopes or groups",
}
"""Every class of words, and what a word of it does."""

FLAGS: dict[str, int] = {name: 1 << i for i, name in enumerate(CLASSES)}
"""Bit of every class."""

SLOTS: dict[str, int] = {
    name: 1 << i for i, name in enumerate(("reside", "work", "study", "place", "tool", "code", "site", "home"))
}
"""Bit of every functional slot: a slot holds one value per subject at a time."""


SPOKEN = ("en", "es", "de", "pt", "ko")
"""Languages with a lexicon. Texts in another language are read as English and mostly stay silent."""

KEY_LENGTH = 7
"""Stems are cut to this length so that derived forms meet (subscribe, subscription)."""

_NO_KEY = 0
for _name in word_set(
    "func light neg noneg end endword move resched upd past pastb until hypo if self you third univ pref prep conj poss "
    "nohypo indef relocate greet supersede separable"
):
    _NO_KEY |= FLAGS[_name]


class Word(NamedTuple):
    """What one token means.

    Attributes:
        key: canonical content key, "" for words that carry no topic.
        flags: union of `FLAGS` bits.
        slots: union of `SLOTS` bits.
        flip: the key is meant with reversed polarity ("dislike" is "love" flipped).
        opposed: (family, stage) pairs of mutually exclusive states.
        scope: class and key of a scope word ("season:summer"), else "".
        groups: kinds of belongings or relatives it names ("pet"), for presuppositions.
        generic: kinds it names as a whole ("pets"), so that denying it denies every member.
        lacks: kinds whose absence it states ("single" lacks a partner).
        number: value of a number word.
        weekday: 0 (Monday) to 6, or -1.
        month: 1 to 12, or 0.
    """

    key: str
    flags: int = 0
    slots: int = 0
    flip: bool = False
    opposed: tuple[tuple[str, str], ...] = ()
    scope: str = ""
    groups: tuple[str, ...] = ()
    lacks: tuple[str, ...] = ()
    generic: tuple[str, ...] = ()
    number: float | None = None
    weekday: int = -1
    month: int = 0


class Lexicon(NamedTuple):
    """One language: exact words, stems, and phrases by first token (longest first)."""

    language: str
    words: dict[str, Word]
    stems: dict[str, Word]
    phrases: dict[str, tuple[tuple[tuple[str, ...], Word], ...]]


_LANGUAGES: dict[str, tuple[dict[str, str], dict[str, float], str, str]] = {
    "en": (en.WORDS, en.NUMBERS, en.WEEKDAYS, en.MONTHS),
    "es": (romance.SPANISH, romance.NUMBERS_ES, romance.WEEKDAYS_ES, romance.MONTHS_ES),
    "pt": (romance.PORTUGUESE, romance.NUMBERS_PT, romance.WEEKDAYS_PT, romance.MONTHS_PT),
    "de": (de_ko.GERMAN, de_ko.NUMBERS_DE, de_ko.WEEKDAYS_DE, de_ko.MONTHS_DE),
    "ko": (de_ko.KOREAN, de_ko.NUMBERS_KO, de_ko.WEEKDAYS_KO, ""),
}
_STEMMERS = {"en": "english", "es": "spanish", "pt": "portuguese", "de": "german"}


@cache
def _stemmer(language: str) -> Stemmer.Stemmer:
    return Stemmer.Stemmer(_STEMMERS[language])


def stem(token: str, language: str) -> str:
    """The content key of a lower-case token: its snowball stem, cut to `KEY_LENGTH` (Korean tokens are keys already)."""
    if language == "ko":
        return token
    return str(_stemmer(language).stemWord(token))[:KEY_LENGTH]


def _word(token: str, classes: list[str], language: str) -> Word:
    """Merges all classes a word is listed under; a later synonym key wins over the stem."""
    flags = slots = 0
    key, flip, scope = "", False, ""
    opposed: list[tuple[str, str]] = []
    groups: list[str] = []
    lacks: list[str] = []
    generic: list[str] = []
    keyed = False
    for name in classes:
        head, _, rest = name.partition(":")
        if head == "slot":
            slots |= SLOTS[rest]
        elif head in ("syn", "flip"):
            key, flip, keyed = rest, head == "flip", True
        elif head == "opp":
            family, _, stage = rest.partition(":")
            opposed.append((family, stage))
        elif head == "scope":
            scope = f"{rest}:{stem(token, language)}"
        elif head == "group":
            groups.append(rest)
        elif head == "hyper":
            groups.append(rest)
            generic.append(rest)
        elif head == "lacks":
            lacks.append(rest)
        else:
            flags |= FLAGS[head]
    if not keyed and not flags & _NO_KEY and not scope and ("_" not in token or flags & (FLAGS["uniq"])):
        key = stem(token, language)
    if flags & FLAGS["kin"] and not keyed:
        key = token if language in ("es", "pt") else stem(token, language)
    if opposed or scope or groups or lacks:
        flags |= FLAGS["rich"]
    return Word(key, flags, slots, flip, tuple(opposed), scope, tuple(dict.fromkeys(groups)), tuple(lacks), tuple(generic))


@cache
def lexicon(language: str) -> Lexicon:
    """The compiled lexicon of one of `SPOKEN`."""
    listed, numbers, weekdays, months = _LANGUAGES[language]
    classes: dict[str, list[str]] = {}
    for name, text in listed.items():
        for token in text.split():
            classes.setdefault(token, []).append(name)
    words: dict[str, Word] = {}
    stems: dict[str, Word] = {}
    phrases: dict[str, list[tuple[tuple[str, ...], Word]]] = {}

    def add(token: str, word: Word, *, by_stem: bool) -> None:
        if "_" in token:
            first, *rest = token.split("_")
            phrases.setdefault(first, []).append((tuple(rest), word))
            return
        words[token] = word
        if by_stem and language != "ko":
            stems.setdefault(stem(token, language), word)

    for token, names in classes.items():
        word = _word(token, names, language)
        add(
            token,
            word,
            by_stem=bool(word.key or word.flags & FLAGS["light"]) and not word.flags & FLAGS["past"] and not word.opposed,
        )
    for token, value in numbers.items():
        add(token, Word("", FLAGS["value"], number=float(value)), by_stem=False)
    for kind, table in (("weekday", weekdays), ("month", months)):
        for index, names_of_one in enumerate(table.split("|") if table else ()):
            for token in names_of_one.split():
                word = Word("", FLAGS["value"], weekday=index) if kind == "weekday" else Word("", FLAGS["value"], month=index + 1)
                add(token, word, by_stem=False)
                if language == "en" and token.endswith("day"):
                    add(token + "s", word, by_stem=False)
    weak = {word.key for word in words.values() if word.flags & FLAGS["weak"] and word.key}
    for known in (words, stems):
        for token, word in known.items():
            if word.key in weak and not word.flags & FLAGS["weak"]:
                known[token] = word._replace(flags=word.flags | FLAGS["weak"])
    for entries in phrases.values():
        entries[:] = [
            (rest, word._replace(flags=word.flags | FLAGS["weak"]) if word.key in weak else word) for rest, word in entries
        ]
    ordered = {first: tuple(sorted(rest, key=lambda item: -len(item[0]))) for first, rest in phrases.items()}
    return Lexicon(language, words, stems, ordered)
