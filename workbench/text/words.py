"""Words and identifiers: folding, stemming, and taking compounds apart.

Works on text between two blanks that is already NFKC-normalised, with plain apostrophes and hyphens (`analysis` sees to
it). Every compound yields itself, joined, and its parts: `order_total_cents`, `orderTotalCents` and `order-total-cents`
all give `ordertotalc order total cent`.
"""

from __future__ import annotations

import threading
import unicodedata
from functools import lru_cache
from typing import Any, Final

import regex  # type: ignore[import-untyped, unused-ignore]
import Stemmer  # type: ignore[import-not-found, import-untyped, unused-ignore]

from workbench.text.irregular import IRREGULAR
from workbench.text.stopwords import ACRONYMS, ONE_WORD, STOP_WORDS

MAX_TOKEN: Final = 100
"""Longest token, in characters. Longer words are cut to it: they are data, and no one types them in full."""

_COMPOUND: Final = regex.compile(
    r"(?P<dot>(?<![\w.])\.(?=\p{L}))?+"  # .NET, .gitignore
    r"(?P<body>[^\W_]++(?:(?:[-.']|_++|::|(?<=\p{L})&(?=\p{L})|(?<=\d)[:,](?=\d))[^\W_]++)*+)"
    r"(?:(?P<mark>\+\+|\+(?![\w+])|\#(?!\p{L}))(?P<edition>\d*+)(?!\p{L})(?:'s\b)?+)?+"  # C++, C++17, C#, A+
)
_CONNECTOR: Final = regex.compile(r"[-.'&:,]++|_++")
_DOTTED: Final = regex.compile(r"\d++(?:\.\d++)++|[^\W\d_]++(?=\d++\.\d)|[^\W_]++")  # python3.11, numpy-2.4.6
_CLITICS: Final = frozenset({"s", "re", "ve", "ll", "d", "m"})
_NUMBER: Final = regex.compile(r"(?:v(?=\d++\.))?+\d++(?:[-.,:]\d++)*+", regex.IGNORECASE)
_THOUSANDS: Final = regex.compile(r"\d{1,3}(?:,\d{3})++(?:\.\d++)?+")
_ORDINAL: Final = regex.compile(r"(\d++)(?:st|nd|rd|th)", regex.IGNORECASE)
_HUMP: Final = regex.compile(r"\p{Lu}{2,}s(?!\p{Ll})|\p{Lu}+(?!\p{Ll})|\p{Lu}?(?:(?!\p{Lu})[^\W\d_])++|\d++")
_PLURAL: Final = regex.compile(r"\p{Lu}{2,}s")  # CDs, URLs
_SCHEME: Final = regex.compile(r"(?:\b[a-z][a-z0-9+.-]{0,15})?+://(?:www\.)?+", regex.IGNORECASE)
_DRIVE: Final = regex.compile(r"\b[a-z]:(?=\\)", regex.IGNORECASE)
_CLOCK: Final = regex.compile(r"(\d{1,2}:\d\d)[ap]m", regex.IGNORECASE)
_OUTER: Final = regex.compile(r"^[^\w/\\.]++|[^\w/\\]++$")
_PICTURE: Final = regex.compile(r"(?![\x00-\xff])(?:\p{Extended_Pictographic}|[\U0001f1e6-\U0001f1ff]{2})")

_ACCENT: Final = regex.compile(r"(?!и\u0306)([\p{Latin}\p{Greek}\p{Cyrillic}])\p{Mn}+")
_POINTS: Final = regex.compile(r"[\u0640\u064b-\u0652\u0670\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7]+")
_LETTERS: Final = str.maketrans(
    {"ø": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "æ": "ae", "œ": "oe", "ı": "i", "ħ": "h", "ŧ": "t", "ß": "ss"}
)
# A script other than Latin stands for the language that most often writes it.
_LANGUAGES: Final = (
    ("\u0370", "\u03ff", "greek"),
    ("\u0400", "\u04ff", "russian"),
    ("\u0530", "\u058f", "armenian"),
    ("\u0600", "\u06ff", "arabic"),
    ("\u0900", "\u097f", "hindi"),
    ("\u0b80", "\u0bff", "tamil"),
)


class _Stemmers(threading.local):
    """One set of stemmers per thread: a Snowball environment is a mutable buffer and must not be shared."""

    def __init__(self) -> None:
        self._by_language: dict[str, Any] = {}

    def stem(self, language: str, word: str) -> str:
        stemmer = self._by_language.get(language)
        if stemmer is None:
            stemmer = self._by_language[language] = Stemmer.Stemmer(language, 0)  # `term` caches already
        return str(stemmer.stemWord(word))


_stemmers = _Stemmers()


def fold(word: str) -> str:
    """Case-folded, without the accents of Latin, Greek and Cyrillic letters and the vowel points of Arabic and Hebrew.

    Other combining marks are vowels of their scripts and stay. Cyrillic й stays too: it is a letter, typed by everyone.
    """
    word = word.casefold()
    if word.isascii():
        return word
    word = unicodedata.normalize("NFD", word.translate(_LETTERS))
    return unicodedata.normalize("NFC", _POINTS.sub("", _ACCENT.sub(r"\1", word)))


@lru_cache(maxsize=1 << 16)
def term(word: str) -> str:
    """The token of one folded word: its Snowball stem. Numbers and mixtures of letters and digits stay as they are."""
    if not word or word[0].isdigit() or word[-1].isdigit():
        return word
    first = word[0]
    if first <= "\u024f":
        return _stemmers.stem("english", IRREGULAR.get(word, word))
    for low, high, language in _LANGUAGES:
        if low <= first <= high:
            return _stemmers.stem(language, word) or word
    return word


def chunk_tokens(chunk: str) -> list[str]:
    """Tokens of the text between two blanks, in a script that has spaces; punctuation yields none, a pictograph one."""
    if chunk.isascii() and chunk.isalpha() and (chunk.islower() or chunk.istitle() or chunk.isupper()):
        return _plain(chunk, chunk.lower())
    if "://" in chunk:
        return [token for part in _SCHEME.sub(" ", chunk).split() for token in chunk_tokens(part)]
    if ":\\" in chunk:
        chunk = _DRIVE.sub("", chunk)
    tokens: list[str] = []
    for match in _COMPOUND.finditer(chunk):
        tokens += _compound(*match.groups())
    if tokens and ("/" in chunk or "@" in chunk or "\\" in chunk):
        literal = _literal(chunk)
        if literal:
            tokens.insert(0, literal)
    if not chunk.isascii():
        tokens += _PICTURE.findall(chunk)
    return tokens


def _literal(chunk: str) -> str | None:
    """A path, URL or e-mail address as one token; None where it is no more than its only part."""
    if len(chunk) > 4 * MAX_TOKEN:
        return None
    literal = fold(_OUTER.sub("", chunk)).replace("\\", "/").rstrip("/")
    if len(literal) > MAX_TOKEN or not any(separator in literal[1:] for separator in "/@"):
        return None
    return literal


def _plain(word: str, folded: str) -> list[str]:
    if folded in STOP_WORDS and word not in ACRONYMS:
        return []
    return [_token(folded)]


def _token(folded: str) -> str:
    return term(folded)[:MAX_TOKEN] if len(folded) <= MAX_TOKEN else folded[:MAX_TOKEN]


def _compound(dot: str | None, body: str, mark: str | None, edition: str | None) -> list[str]:
    if "'" in body:
        body = _without_clitics(body)
        if body[-3:].lower() == "n't":  # only auxiliaries, stop words all, contract with "not"
            return []
    if mark and (mark == "++" or len(body) <= 2) and len(body) <= MAX_TOKEN:
        return _marked(body, mark, edition)
    after = [edition] if edition else []
    if body.isalpha():
        tokens = _word(body, keep_single=True)
        return ([f".{fold(body[: MAX_TOKEN - 1])}"] if dot and tokens else []) + tokens + after
    if clock := _CLOCK.fullmatch(body):
        body = clock[1]
    if _NUMBER.fullmatch(body):
        return _number(body) + after
    if len(body) <= MAX_TOKEN and "." in body:
        pieces = _DOTTED.findall(body)
    else:
        pieces = [piece for piece in _CONNECTOR.split(body) if piece]
    if len(pieces) == 1:
        return _word(pieces[0], keep_single=True) + after
    parts = [token for piece in pieces for token in _word(piece, keep_single=False)]
    if len(body) > MAX_TOKEN:
        return parts + after
    joined = fold(("&" if "&" in body else "").join(pieces))
    if all(len(piece) == 1 for piece in pieces):  # U.S., e.g., R&D
        return ([] if joined in STOP_WORDS and body.islower() else [joined]) + after
    return [_token(joined), *parts, *after]


def _without_clitics(body: str) -> str:
    """Caroline's is Caroline; I'd've has two."""
    for _ in range(2):
        at = body.rfind("'")
        if body[at + 1 :].lower() in _CLITICS:
            body = body[:at]
    return body


def _marked(body: str, mark: str, edition: str | None) -> list[str]:
    """C++, C#, F#, A+: the mark is part of the name, and the bare letter would be another one."""
    name = fold(body)
    tokens = [f"{name}{mark}"]
    if len(body) > 1:
        tokens += _word(body, keep_single=True)
    if edition and len(body) == 1:
        return [f"{name}{mark}{edition}", *tokens]
    return [*tokens, edition] if edition else tokens


def _number(body: str) -> list[str]:
    """1,000 is 1000; 3.11.7 is found by 3.11 too, 2023-05-08 and 10:30 by their parts, 05 by 5."""
    body = body.lstrip("vV") or body
    if _THOUSANDS.fullmatch(body):
        body = body.replace(",", "")
    body = body[:MAX_TOKEN]
    fields = [field for field in regex.split(r"[-,:]", body) if field]
    tokens = [body] if len(fields) > 1 and "," not in body else []
    for field in fields:
        steps = field.strip(".").split(".")
        tokens += [".".join(steps[:depth]) for depth in range(len(steps), min(2, len(steps)) - 1, -1)]
        short = field.lstrip("0")
        if short and short != field and short.isdigit():
            tokens.append(short)
    return tokens


def _word(word: str, *, keep_single: bool) -> list[str]:
    """A word without connectors, and the humps of a camel-cased one. Single letters are words only on their own."""
    if word.isalpha() and (word.islower() or word.istitle()):
        return _plain(word, fold(word)) if keep_single or len(word) > 1 else []
    if word[0].isdigit() and word.replace(".", "").isdigit():
        return _number(word)
    if len(word) > MAX_TOKEN:
        return [fold(word[:MAX_TOKEN])[:MAX_TOKEN]]
    return list(_mixed(word)) if keep_single or len(word) > 1 else []


@lru_cache(maxsize=1 << 14)
def _mixed(word: str) -> tuple[str, ...]:
    """A word with inner capitals or digits: itself and its humps."""
    if ordinal := _ORDINAL.fullmatch(word):
        return (ordinal[1],)
    if _PLURAL.fullmatch(word):
        word = word[:-1]
    folded = fold(word)
    humps = _HUMP.findall(word)
    if len(humps) < 2 or folded in ONE_WORD:
        return tuple(_plain(word, folded))
    tokens = [_token(folded)]
    numbers = [hump for hump in humps if hump.isdigit()]
    if len(humps) > 2 and humps[-1:] == numbers:  # iPhone13 is an iPhone
        tokens.append(_token(fold(word[: -len(humps[-1])])))
    tokens += [token for hump in humps if not hump.isdigit() for token in _word(hump, keep_single=False)]
    if len(numbers) == 1 and numbers[0] in (humps[0], humps[-1]):  # not the digits of H2O or of a hash
        tokens += numbers
    return tuple(dict.fromkeys(tokens))
