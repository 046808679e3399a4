"""Text analysis for keyword search, and the canonical form that decides whether two texts are the same.

`analyze` makes the tokens to index, `analyze_query` those to search with. They agree on scripts with spaces (but for a
few Korean particles) and differ where there are none; `scripts` says why. Both are pure, deterministic, thread-safe and
linear in the length of the text.

What a text becomes, step by step:

1. cut at white space; each chunk is looked up in a bounded cache, since natural text repeats itself;
2. NFKC, invisible characters removed, curly apostrophes and special hyphens made plain, all digits made ASCII;
3. split into runs of one script; scripts without spaces become character n-grams, Korean words lose their particles;
4. words and identifiers are taken apart, folded, stopped (English only) and stemmed (`words`).

Emoji are tokens, one per pictograph, so that a memory with 🍣 is found by 🍣; skin tones and joiners are dropped. Lone
surrogates separate words and are never part of a token: every token can be encoded as UTF-8.
"""

from __future__ import annotations

import unicodedata
from functools import lru_cache
from typing import Final

import regex  # type: ignore[import-untyped, unused-ignore]
import Stemmer  # type: ignore[import-not-found, import-untyped, unused-ignore]

from workbench.errors import DataError
from workbench.text.scripts import SEGMENTS, korean, ngram_tokens
from workbench.text.words import chunk_tokens

ANALYSIS_VERSION: Final = f"keyword-1/unicode-{unicodedata.unidata_version}/snowball-{Stemmer.version()}"
"""Changes whenever the tokens of some text may change; belongs in every cache key made from them."""

_CACHED_LENGTH: Final = 48
_CACHE_SIZE: Final = 1 << 16

_APOSTROPHES: Final = (0x2018, 0x2019, 0x201B, 0x02BC, 0x02B9, 0x2032, 0x0060, 0x055A)
_HYPHENS: Final = (0x2010, 0x2011, 0x2212, 0x05BE)
_INVISIBLE: Final = (
    *(0x00AD, 0x034F, 0x061C, 0x20E3, 0xFEFF),  # soft hyphen, joiners, keycap, byte order mark
    *range(0x180B, 0x1810),  # Mongolian variation selectors
    *range(0x200B, 0x2010),  # zero-width blanks and joiners, direction marks
    *range(0x202A, 0x202F),  # embedding of directions
    *range(0x2060, 0x2070),  # word joiner, isolates
    *range(0xFE00, 0xFE10),  # variation selectors
    *range(0xE0000, 0xE0200),  # tags, more variation selectors
)
_PLAIN: Final = {
    **dict.fromkeys(_APOSTROPHES, "'"),
    **dict.fromkeys(_HYPHENS, "-"),
    **dict.fromkeys(_INVISIBLE),
}
_SURROGATE: Final = regex.compile(r"[\ud800-\udfff]")
_FOREIGN_DIGIT: Final = regex.compile(r"(?![0-9])\p{Nd}")


def canonical(text: str) -> str:
    """The form in which equal texts are exact duplicates: NFKC, case-folded, white-space runs one blank, ends stripped.

    Idempotent. Lone surrogates, which no encoding can store, become U+FFFD, so that the result can always be hashed.

    >>> canonical("  Ada  feeds\\tthe geese ") == canonical("ada feeds the geese")
    True
    """
    _check(text)
    if text.isascii():
        return " ".join(text.lower().split())
    # Case folding can undo normalisation and the other way round; Unicode's NFKC_Casefold repeats both, and so do we.
    folded = _SURROGATE.sub("\ufffd", unicodedata.normalize("NFD", text))
    for _ in range(2):
        folded = unicodedata.normalize("NFKC", folded).casefold()
    return " ".join(unicodedata.normalize("NFKC", folded).split())


def analyze(text: str) -> list[str]:
    """Tokens to index `text` by, in order of appearance, with repetitions.

    Stop words, punctuation and blanks yield none. No token is longer than 100 characters.

    Raises `DataError` if `text` is not a string.

    >>> analyze("Caroline's order_total_cents")
    ['carolin', 'ordertotalc', 'order', 'total', 'cent']
    """
    _check(text)
    tokens: list[str] = []
    for chunk in text.split():
        tokens += _to_index(chunk) if len(chunk) <= _CACHED_LENGTH else _tokens(chunk, query=False)
    return tokens


def analyze_query(text: str) -> list[str]:
    """Tokens to search with. As `analyze`, but scripts without spaces give only their longest n-grams.

    Searching with `analyze` finds all that this finds, and texts that merely share a character.

    >>> analyze_query("小屋"), analyze("小屋")
    (['小屋'], ['小', '屋', '小屋'])
    """
    _check(text)
    tokens: list[str] = []
    for chunk in text.split():
        tokens += _to_search(chunk) if len(chunk) <= _CACHED_LENGTH else _tokens(chunk, query=True)
    return tokens


def _check(text: object) -> None:
    if not isinstance(text, str):
        raise DataError(f"text to analyse must be a string, got {type(text).__name__}; decode bytes, drop missing values")


@lru_cache(maxsize=_CACHE_SIZE)
def _to_index(chunk: str) -> tuple[str, ...]:
    return tuple(_tokens(chunk, query=False))


@lru_cache(maxsize=_CACHE_SIZE)
def _to_search(chunk: str) -> tuple[str, ...]:
    return tuple(_tokens(chunk, query=True))


def _tokens(chunk: str, *, query: bool) -> list[str]:
    if chunk.isascii():
        return chunk_tokens(chunk.replace("`", "'"))
    # NFKC would make a blank of the accent and eighteen letters of the ligature
    chunk = _SURROGATE.sub(" ", chunk.replace("´", "'").replace("\ufdfa", " "))
    plain = unicodedata.normalize("NFKC", chunk).translate(_PLAIN)
    plain = _FOREIGN_DIGIT.sub(lambda match: str(unicodedata.decimal(match[0], "")), plain)
    tokens: list[str] = []
    for part in plain.split():  # NFKC turns some characters into blanks
        runs = [(match.lastgroup, match[0]) for match in SEGMENTS.finditer(part)]
        alone = sum(script != "other" or any(map(str.isalnum, run)) for script, run in runs) == 1
        for script, run in runs:
            if script == "other":
                tokens += chunk_tokens(run)
            elif script == "hangul":
                tokens += korean(run, query=query)
            else:
                tokens += ngram_tokens(script, run, query=query, alone=alone)
    return tokens
