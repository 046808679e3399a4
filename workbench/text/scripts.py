"""Writing systems: splitting text into runs of one script, and runs without spaces into searchable n-grams.

Chinese, Japanese, Thai, Lao, Khmer and Burmese put no spaces between words, and a dictionary segmenter cuts the same
word differently in different sentences. Character n-grams cannot be cut differently: every substring of a run is
findable. What counts as one character depends on the script: a Han character, a kana, a Thai or Lao consonant together
with its vowel signs and tone, a Khmer or Burmese syllable.

Indexing and searching differ on purpose. An indexed text carries single characters as well as pairs (and triples), so
that a query of one character finds it. A query carries only the longest units that it has, so that `小屋` (hut) does not
hit `大小` (size) through the one character that they share. Simplified and traditional Chinese are not unified.

Korean has spaces but glues particles to its words; `korean` strips them.
"""

from __future__ import annotations

from typing import Final

import regex  # type: ignore[import-untyped, unused-ignore]

SEGMENTS: Final = regex.compile(
    r"(?P<han>\p{Han}+)"
    r"|(?P<hiragana>\p{Hiragana}[\p{Hiragana}ー]*+)"
    r"|(?P<katakana>[\p{Katakana}ー]++)"
    r"|(?P<hangul>\p{Hangul}++)"
    r"|(?P<thai>[\u0e01-\u0e2e\u0e30-\u0e3a\u0e40-\u0e45\u0e47-\u0e4e]++)"
    r"|(?P<lao>[\u0e81-\u0eae\u0eb0-\u0ebd\u0ec0-\u0ec4\u0ec8-\u0ece\u0edc-\u0edf]++)"
    r"|(?P<khmer>[\u1780-\u17d3\u17dd]++)"
    r"|(?P<burmese>[\u1000-\u103f\u1050-\u108f\uaa60-\uaa7f]++)"
    r"|(?P<other>(?:(?![\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}ー\u0e01-\u0e2e\u0e30-\u0e3a\u0e40-\u0e45\u0e47-\u0e4e"
    r"\u0e81-\u0eae\u0eb0-\u0ebd\u0ec0-\u0ec4\u0ec8-\u0ece\u0edc-\u0edf\u1780-\u17d3\u17dd\u1000-\u103f\u1050-\u108f"
    r"\uaa60-\uaa7f]).)++)",
    regex.DOTALL,
)
"""Splits text into maximal runs; `lastgroup` names the script, `other` is everything that has spaces or is no letter."""

# Repetition is bounded, so that no garbage makes a token of unbounded length.
_UNITS: Final = {
    # Leading vowel, consonant, vowel signs and tones, following vowel: the "character cluster" that no one splits.
    "thai": regex.compile(
        r"[\u0e40-\u0e44]{0,2}[\u0e01-\u0e2e][\u0e31\u0e34-\u0e3a\u0e47-\u0e4e]{0,4}[\u0e30\u0e32\u0e33\u0e45]{0,2}|.",
        regex.DOTALL,
    ),
    "lao": regex.compile(
        r"[\u0ec0-\u0ec4]{0,2}[\u0e81-\u0eae\u0edc-\u0edf][\u0eb1\u0eb4-\u0ebc\u0ec8-\u0ece]{0,4}[\u0eb0\u0eb2\u0eb3\u0ebd]{0,2}|.",
        regex.DOTALL,
    ),
    # Consonant or independent vowel, subscript consonants (coeng), signs.
    "khmer": regex.compile(r"[\u1780-\u17b3](?:\u17d2[\u1780-\u17b3]|[\u17b4-\u17d1\u17d3\u17dd]){0,8}|.", regex.DOTALL),
    # Consonant, stacked consonants, medials and vowels, then final consonants, recognised by the asat that kills their vowel.
    "burmese": regex.compile(
        r"[\u1000-\u102a\u103f\u1050-\u1055](?:\u1039[\u1000-\u1021]|[\u102b-\u1038\u103a-\u103e\u1056-\u108f]"
        r"|[\u1000-\u1021](?=\u1037?\u103a)){0,8}|.",
        regex.DOTALL,
    ),
}

# Hiragana pairs that are particles and verb endings rather than words. を is never part of a word.
_GRAMMAR_PAIRS: Final = """
    です ます まし した して でし せん から まで より ので のに けど こと もの それ これ あれ この その あの どの
    どれ する され れる られ せる ない なか かっ った って てい いる いた たい たら だっ だと とい いう うと
    よう では とは には のは のが もう しい いで ては ても でも てる いま りま きま みま ちゃ いて
"""
_GRAMMAR: Final = frozenset(_GRAMMAR_PAIRS.split())
_SHORT: Final = {"hiragana": 4, "thai": 5, "lao": 5}
"""A lone run of at most so many units is taken for one word; longer ones for a phrase. Typical word lengths."""


def ngram_tokens(script: str, run: str, *, query: bool, alone: bool) -> list[str]:
    """N-grams of one run of a script without spaces.

    `query` selects the sparse form for searching, otherwise the full form for indexing; `alone` says that nothing else
    stands between the blanks around the run, so that a short one is probably a word that someone looks for.
    """
    units = _UNITS[script].findall(run) if script in _UNITS else list(run)
    n = len(units)
    if n == 1:
        return [] if script == "hiragana" else units  # one hiragana is a particle or an inflection
    if script in ("han", "khmer", "burmese"):
        pairs = _join(units, 2)
        return pairs if query else units + pairs
    pairs = _join(units, 2)
    triples = _join(units, 3)
    if not query:  # a lone kana or a consonant without a vowel is no word
        words = [unit for unit in units if len(unit) > 1]
        return words + _content(script, pairs + triples)
    if n == 2:
        return _content(script, pairs)
    if script == "katakana" or (alone and n <= _SHORT[script]):
        return triples
    if script in ("thai", "lao"):  # two bare consonants (วย, กร) occur in unrelated words; triples cover them
        pairs = [pair for pair in pairs if len(pair) > 2]
    return _content(script, pairs + triples)


def _join(units: list[str], n: int) -> list[str]:
    return ["".join(units[i : i + n]) for i in range(len(units) - n + 1)]


def _content(script: str, grams: list[str]) -> list[str]:
    """Without the n-grams that are grammar from end to end."""
    if script != "hiragana":
        return grams
    return [gram for gram in grams if "を" not in gram and not (gram[:2] in _GRAMMAR and gram[-2:] in _GRAMMAR)]


# Particles and the endings of polite and plain speech. Those of `_NOUN_LIKE` also end many nouns (사과 apple, 지도 map),
# so a query does not strip them where a single syllable would be left.
_ENDINGS: Final = """
    은 는 이 가 을 를 에 의 도 로 와 과 만 나 야 께 에서 에게 한테 께서 으로 까지 부터 처럼 보다 마다 조차 밖에 이나
    이랑 랑 이며 에는 에도 에서는 에서도 에게는 에게서 한테서 으로는 으로서 으로써 로서 까지는 부터는 라고 이라고
    라는 이라는 들 들은 들이 들을 들의 하고 입니다 합니다 했습니다 습니다 니다 입니까 습니까 이에요 예요 해요 했어요
    어요 아요 했다 한다 하다 하는 해서 이다 이었다 였다 인가요 나요 까요
"""
_PARTICLES: Final = tuple(sorted(_ENDINGS.split(), key=lambda particle: (-len(particle), particle)))
_NOUN_LIKE: Final = frozenset("과와도의로만나야")
_MAX_WORD: Final = 12


def korean(run: str, *, query: bool) -> list[str]:
    """Tokens of a run of Hangul: the word, the word without its particles (at most two layers), and pairs of syllables.

    Pairs, of what is left without particles, let a compound or an unspaced phrase be found by its parts.
    """
    forms = [run]
    while len(forms) < 3:
        word = forms[-1]
        particle = next((p for p in _PARTICLES if len(p) < len(word) and word.endswith(p)), None)
        if particle is None or (query and len(word) == 2 and particle in _NOUN_LIKE):
            break
        forms.append(word[: -len(particle)])
    tokens = [form for form in forms if len(form) <= _MAX_WORD]
    tokens += _join(list(forms[-1]), 2)
    return list(dict.fromkeys(tokens))
