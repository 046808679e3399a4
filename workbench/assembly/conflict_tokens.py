"""Tokens of a statement, the language it is in, and the `Word` of every token."""

from __future__ import annotations

import re
import unicodedata
from functools import cache
from itertools import repeat

from workbench.assembly import conflict_korean as korean
from workbench.assembly.conflict_lexicon import FLAGS, KEY_LENGTH, SPOKEN, Lexicon, Word, lexicon, stem, word_set

_TOKEN = re.compile(
    r"`[^`]*`|\d{4}-\d{2}-\d{2}|\d{1,2}[./]\d{1,2}[./]\d{2,4}|\d{1,2}[:h]\d{2}(?!\d)|\d+(?:[.,]\d+)*"
    r"|km/h|[^\W\d_](?:[\w'/@+-]|\.(?=\w))*|°C|[€$£¥₩%°]|[.;:!?,()—–…¿¡\n]"
)
_CURLY = str.maketrans("’‘“”", "''\"\"")
_MEMORY_LIMIT = 50_000
_CHARACTERS = {
    "ã": "pt",
    "õ": "pt",
    "ç": "pt",
    "ñ": "es",
    "¿": "es",
    "¡": "es",
    "ß": "de",
    "ü": "de",
    "ä": "de",
    "ö": "de",
}
PUNCTUATION = Word("", 0)
"""Every mark that is no word."""
_DIGITS = Word("", FLAGS["value"])
_VOTERS = FLAGS["func"] | FLAGS["prep"] | FLAGS["neg"] | FLAGS["poss"] | FLAGS["nom"] | FLAGS["kin"] | FLAGS["self"]


def tokenize(text: str) -> list[str]:
    """Splits NFC text into words, numbers, code spans, currency signs and punctuation, in order."""
    if not text.isascii():
        text = unicodedata.normalize("NFC", text).translate(_CURLY)
    return _TOKEN.findall(text)


@cache
def _votes() -> dict[str, int]:
    """Token -> packed counters (12 bits a language, in the order of `SPOKEN`): 2 for grammar words, 1 for other listed ones."""
    table: dict[str, int] = {}
    for index, language in enumerate(SPOKEN[:4]):
        for token, word in lexicon(language).words.items():
            weight = 2 if word.flags & _VOTERS else 1
            table[token] = table.get(token, 0) + (weight << (12 * index))
    return table


def language_of(text: str, lows: list[str]) -> str:
    """One of `SPOKEN`: Korean by script, the others by their grammar words; English if nothing speaks for another."""
    if not text.isascii() and any("가" <= character <= "힣" for character in text):
        return "ko"
    total = sum(map(_votes().get, lows[:300], repeat(0)))
    if not total >> 12:
        return "en" if text.isascii() else _by_letters(text, [total, 0, 0, 0])
    return _by_letters(text, [total & 0xFFF, (total >> 12) & 0xFFF, (total >> 24) & 0xFFF, total >> 36])


def _by_letters(text: str, counts: list[int]) -> str:
    """The language with most votes, letters only one language has included; the earlier in `SPOKEN` on a tie."""
    if not text.isascii():
        for letter, language in _CHARACTERS.items():
            if letter in text:
                counts[SPOKEN.index(language)] += 1
    return SPOKEN[counts.index(max(counts))]


def _suffixed(base: Word, flag: int) -> Word:
    return base._replace(flags=base.flags | flag)


def _negated(verb: str) -> Word:
    """`isn't`, `didn't`, `couldn't`: a negator that keeps the tense and mood of its verb."""
    flags = FLAGS["neg"] | FLAGS["func"] | FLAGS["aux"]
    if verb in ("would", "could", "might"):
        flags |= FLAGS["hypo"]
    if verb in ("did", "was", "were", "had"):
        flags |= FLAGS["past"]
    return Word("", flags)


def _english(token: str, low: str, book: Lexicon) -> Word | None:
    """Contractions and genitives."""
    head, apostrophe, tail = low.rpartition("'")
    if apostrophe and tail in ("s", "m", "re", "ve", "ll", "d", ""):
        if not head:
            return Word("", FLAGS["func"])
        base = resolve(token[: len(head)], book.language)
        if tail in ("s", ""):
            return _suffixed(base, FLAGS["genitive"])
        return _suffixed(base, FLAGS["aux"] | FLAGS["be"]) if tail in ("m", "re") else base
    return None


_MEMORY: dict[str, dict[str, Word]] = {language: {} for language in SPOKEN}


def remembered(language: str) -> dict[str, Word]:
    """Tokens of one language that were resolved before; look here first, then call `resolve`."""
    return _MEMORY[language]


def resolve(token: str, language: str) -> Word:
    """The `Word` of one token as written. Pure; remembered, because the same words come back all the time."""
    known = _MEMORY[language]
    found = known.get(token)
    if found is None:
        if len(known) > _MEMORY_LIMIT:
            known.clear()
        found = known[token] = _resolve(token, language)
    return found


def _resolve(token: str, language: str) -> Word:
    book = lexicon(language)
    first = token[0]
    if first == "`":
        return Word(token.strip("` ").lower(), FLAGS["name"] | FLAGS["code"])
    if first.isdecimal() or first in "€$£¥₩":
        return _DIGITS
    if not first.isalpha():
        return PUNCTUATION
    low = token.lower()
    word = _classify(token, low, book)
    return _suffixed(word, FLAGS["opener"]) if low in book.phrases else word


def _classify(token: str, low: str, book: Lexicon) -> Word:
    language = book.language
    first = token[0]
    if low.endswith("n't") and language == "en":
        return _negated(low[:-3])
    word = book.words.get(low)
    if word is not None:
        if low.endswith(("'m", "'re")):
            return _suffixed(word, FLAGS["aux"] | FLAGS["be"])
        if language == "en" and low.endswith("ed") and len(low) > 4 and not (word.flags & _NO_TENSE or word.opposed):
            word = _suffixed(word, FLAGS["participle"])
        flags = FLAGS["aux"] * (low in _AUXILIARIES) | FLAGS["be"] * (low in _PASSIVE)
        return _suffixed(word, flags) if flags else word
    if language == "ko":
        return _korean(token, book)
    if language == "en":
        word = _english(token, low, book)
        if word is not None:
            return word
    elif language == "pt" and "-" in low and low.rpartition("-")[2] in _ENCLITICS:
        return resolve(token[: token.rindex("-")], language)
    elif low.endswith("'"):
        return _suffixed(resolve(token[:-1], language), FLAGS["genitive"])
    flags = 0
    coded = any(character.isdecimal() or character == "_" for character in low) or "." in low
    if coded or (first.islower() and low != token):  # mergeTicketsById
        return Word(low, FLAGS["name"] | FLAGS["code"])
    root = stem(low, language)
    if first.isupper() and language != "de":
        flags |= FLAGS["cap"]
        if token[1:] != low[1:] and low.endswith("s") and token[:-1].isupper():
            root = stem(low[:-1], language)
    word = book.stems.get(root)
    if language == "en" and word is None and len(root) >= 6 and root.endswith(("er", "or")):
        root = root[:-2]  # who or what does it: editor, printer
    if language == "en" and low.endswith("ed") and len(low) > 4:
        flags |= FLAGS["participle"]
    if word is not None:
        return _suffixed(word, flags & ~FLAGS["cap"])
    if "-" in low and language != "de":
        root = low[: KEY_LENGTH + 8]
    return Word(root, flags)


_AUXILIARIES = frozenset(
    [
        "is",
        "are",
        "am",
        "be",
        "been",
        "being",
        "was",
        "were",
        "has",
        "have",
        "had",
        "'s",
        "'re",
        "get",
        "gets",
        "got",
        "will",
        "ist",
        "sind",
        "wird",
        "werden",
        "wurde",
        "wurden",
        "está",
        "están",
        "foi",
        "é",
    ]
)
_NO_TENSE = FLAGS["func"] | FLAGS["reports"]
_ENCLITICS = word_set("se me te lo la los las lhe lhes nos")
_PASSIVE = word_set("is are am was were be been being gets got")


def _korean(token: str, book: Lexicon) -> Word:
    flags = 0
    if korean.negated(token):
        flags |= FLAGS["neg"]
    if korean.past(token):
        flags |= FLAGS["past"]
    if korean.conditional(token):
        flags |= FLAGS["if"]
    for candidate in korean.stems(token):
        word = book.words.get(candidate)
        if word is not None:
            return _suffixed(word, flags)
    if flags & FLAGS["neg"]:
        return Word("", flags | FLAGS["func"])
    return Word(korean.key(token), flags)
