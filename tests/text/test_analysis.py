"""Tokens and canonical forms: what must meet, what must stay apart, what must not break."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import unicodedata
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.errors import DataError
from workbench.text.analysis import ANALYSIS_VERSION, analyze, analyze_query, canonical
from workbench.text.irregular import IRREGULAR
from workbench.text.stopwords import ONE_WORD, STOP_WORDS
from workbench.text.words import MAX_TOKEN, fold

TRICKY = "aAbB19.-_'&:,/+#@\\ éЁﬃ用かカー한กเ้ံ်ក\u0301\u3099\ud800🎉🇫🇷’"
TEXTS = st.text(st.one_of(st.characters(), st.sampled_from(TRICKY)), max_size=80)  # surrogates included


# --- canonical ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Ada feeds the geese at seven", "  ada feeds the geese at seven "),
        ("dessert: crème brûlée", "dessert: cre\u0300me bru\u0302le\u0301e"),
        ("a\tb\n\nc", "A b C"),
        ("non\u00a0breaking\u3000blank", "non breaking blank"),
        ("STRASSE", "straße"),
        ("ﬁsh and ﬂour", "fish and flour"),
        ("ＦＵＬＬ ｗｉｄｔｈ １２", "full width 12"),
        ("ΟΔΟΣ", "οδος"),
        ("Å", "\u212b"),
        ("한국", unicodedata.normalize("NFD", "한국")),
        ("ガギグ", unicodedata.normalize("NFD", "ガギグ")),
        ("ｶﾞ", "ガ"),
        ("m²", "M2"),
    ],
)
def test_equal_canonical_forms(one: str, other: str) -> None:
    assert canonical(one) == canonical(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [("resume", "résumé"), ("Ada is not in", "Ada is in"), ("a b", "ab"), ("5 cups", "6 cups"), ("mug.", "mug"), ("บ้าน", "บาน")],
)
def test_different_canonical_forms(one: str, other: str) -> None:
    assert canonical(one) != canonical(other)


def test_canonical_of_blanks_is_empty() -> None:
    assert canonical("") == canonical(" \t\n\u3000") == ""


@given(TEXTS)
def test_canonical_is_idempotent_and_can_be_hashed(text: str) -> None:
    form = canonical(text)
    assert canonical(form) == form
    form.encode()


@given(TEXTS.filter(lambda text: not any(0xD800 <= ord(c) < 0xE000 for c in text)))
def test_canonical_ignores_the_spelling_of_accents(text: str) -> None:
    assert canonical(text) == canonical(unicodedata.normalize("NFD", text)) == canonical(unicodedata.normalize("NFC", text))


def test_canonical_is_idempotent_on_every_character_that_normalisation_changes() -> None:
    for code in (*range(0x3400), *range(0xA640, 0xAC00), *range(0xF900, 0x10000), *range(0x1D400, 0x1F200)):
        character = chr(code)
        assert canonical(canonical(character)) == canonical(character), hex(code)


# --- words -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Caroline's", "Caroline"),
        ("Caroline’s", "caroline"),
        ("CAROLINE'S", "Caroline"),
        ("the dogs' bowls", "dog bowl"),
        ("O’Brien", "O'Brien"),
        ("cre\u0300me bru\u0302le\u0301e", "creme brulee"),
        ("crème brûlée", "CREME BRULEE"),
        ("Møller", "moller"),
        ("Łódź", "lodz"),
        ("Straße", "STRASSE"),
        ("İstanbul", "istanbul"),
        ("ışık", "isik"),
        ("phở", "pho"),
        ("ñandú", "nandu"),
        ("Ångström", "angstrom"),
        ("cœur", "coeur"),
        ("ΣΊΣΥΦΟΣ", "Σίσυφος"),
        ("ёлка", "елка"),
        ("собаку", "собака"),
        ("مُحَمَّد", "محمد"),
        ("שָׁלוֹם", "שלום"),
        ("किताबें", "किताब"),
        ("ＨＴＴＰ ２", "http 2"),
        ("٣٤", "34"),
        ("ﬁsh", "fish"),
        ("naïve\u00adly", "naively"),
        ("ferry\u200b", "ferry"),
        ("\ufeffferry", "ferry"),
        ("geese", "goose"),
        ("went", "going"),
        ("running", "runs"),
        ("don't", ""),
        ("can’t", ""),
        ("I'd've", ""),
        ("1,000", "1000"),
        ("8th", "8"),
        ("10:30am", "10:30"),
        ("v3.11.7", "3.11.7"),
        ("wi-fi", "wi‑fi"),
        ("“quoted”", "quoted"),
        ("2010\u20132015", "2010 2015"),
        ("U.S.", "US"),
        ("CDs", "CD"),
        ("_emphasis_ **strong**", "emphasis strong"),
    ],
)
def test_same_tokens(one: str, other: str) -> None:
    assert analyze(one) == analyze(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("C++", "C#"),
        ("C++", "C"),
        ("C#", "C"),
        ("F#", "F"),
        ("A+", "B+"),
        ("R", "R&D"),
        ("H2O", "H O 2"),
        ("2023", "23"),
        ("कमल", "कमाल"),  # vowel signs are marks, and make the word
        ("บ้าน", "บาน"),
        ("й", "и"),
        ("JavaScript", "Java script"),
        ("3.11.7", "11.7"),
        ("🍣", "🍜"),
    ],
)
def test_no_token_in_common(one: str, other: str) -> None:
    assert analyze(one)
    assert not set(analyze(one)) & set(analyze_query(other))
    assert not set(analyze(other)) & set(analyze_query(one))


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("order_total_cents", {"order", "total", "cent"}),
        ("MAX_RETRY_COUNT", {"max", "retri", "count"}),
        ("fetchRows", {"fetch", "row"}),
        ("HTTPServer2", {"httpserver2", "httpserver", "http", "server", "2"}),
        ("XMLHttpRequest", {"xml", "http", "request"}),
        ("userIDs", {"userid", "user", "id"}),
        ("iPhone13", {"iphon", "phone", "13"}),
        ("node.js", {"node", "js"}),
        ("user.id", {"userid", "user", "id"}),
        ("user-profile-page", {"user", "profil", "page"}),
        (".NET", {".net", "net"}),
        ("C++17", {"c++17", "c++"}),
        ("Objective-C", {"object"}),
        ("std::vector<int>", {"std", "vector", "int"}),
        ("src/app/main.py", {"src/app/main.py", "src", "app", "main", "py"}),
        ("C:\\Users\\ada\\notes.txt", {"/users/ada/notes.txt", "user", "ada", "note", "txt"}),
        ("3.11.7", {"3.11.7", "3.11"}),
        ("python3.11", {"python3.11", "python", "3.11"}),
        ("numpy-2.4.6", {"numpi", "2.4.6", "2.4"}),
        ("2023-05-08", {"2023-05-08", "2023", "5", "8"}),
        ("08/05/2023", {"08/05/2023", "2023", "5", "8"}),
        ("ada.king@example.org,", {"ada.king@example.org", "ada", "king", "exampl"}),
        ("(https://www.example.org/a/geese?x=1)", {"example.org/a/geese?x=1", "exampl", "org", "goos"}),
        ("[here](https://example.org)", {"here", "exampl"}),
        ("AT&T", {"at&t"}),
        ("TCP/IP", {"tcp/ip", "tcp", "ip"}),
        ("e-mail", {"email", "mail"}),
        ("l'école", {"ecol"}),
        ("O'Brien", {"obrien", "brien"}),
        ("sha256", {"sha256", "sha", "256"}),
        ("utf-8", {"utf8"}),
        ("👩🏽‍🚀 🇫🇷", {"👩", "🚀", "🇫🇷"}),
        ("0@\ud8001", {"0", "1"}),
        ("works in IT in the US", {"it", "us"}),
    ],
)
def test_tokens_among_others(text: str, tokens: set[str]) -> None:
    assert tokens <= set(analyze(text))


@pytest.mark.parametrize(
    "spelling", ["order_total_cents", "orderTotalCents", "OrderTotalCents", "order-total-cents", "order.total.cents"]
)
def test_all_spellings_of_an_identifier_meet(spelling: str) -> None:
    assert analyze(spelling) == analyze("order_total_cents")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "   ",
        "???",
        "the of and",
        "THE OF AND",
        "…",
        "\ud83d",
        "()[]{}",
        "- -- —",
        "'",
        "`",
        "it's",
        "don’t",
        "を",
        "です",
        "©",
        "\u200b",
        "ﷺ",
    ],
)
def test_nothing_to_search_for(text: str) -> None:
    assert analyze(text) == analyze_query(text) == []


def test_names_and_months_are_no_stop_words() -> None:
    assert analyze("Will may mine") == ["will", "may", "mine"]


def test_hash_parts_are_not_cut_up() -> None:
    assert len(analyze("550e8400-e29b-41d4-a716-446655440000")) <= 8


def test_the_word_lists_are_folded() -> None:
    for word in [*STOP_WORDS, *ONE_WORD, *IRREGULAR, *IRREGULAR.values()]:
        assert word == fold(word)
        assert word.isalpha()
    assert not set(IRREGULAR) & set(IRREGULAR.values())


def test_one_han_character_finds_and_two_do_not_hit_by_one() -> None:
    assert set(analyze_query("茶")) & set(analyze("用户每天早上喝乌龙茶"))
    assert not set(analyze_query("小屋")) & set(analyze("大小和房屋"))


def test_mixed_scripts_in_one_run() -> None:
    assert {"用户", "id", "user"} <= set(analyze("用户ID是user_id"))


# --- robustness --------------------------------------------------------------------------------------------------------


@given(TEXTS)
def test_tokens_are_short_encodable_and_without_blanks(text: str) -> None:
    for token in analyze(text) + analyze_query(text):
        token.encode()
        assert 0 < len(token) <= MAX_TOKEN
        assert not any(map(str.isspace, token))


@given(TEXTS)
def test_a_text_is_found_by_itself(text: str) -> None:
    assert set(analyze_query(text)) <= set(analyze(text))


@given(TEXTS.filter(lambda text: not any(0xD800 <= ord(c) < 0xE000 for c in text)))
def test_the_spelling_of_accents_does_not_matter(text: str) -> None:
    assert analyze(unicodedata.normalize("NFD", text)) == analyze(unicodedata.normalize("NFC", text))


@given(st.lists(st.sampled_from(["Ada", "fetchRows", "乌龙茶", "C++", "고양이가", "crème", "don't", "3.11.7"]), max_size=6))
def test_chunks_do_not_influence_each_other(chunks: list[str]) -> None:
    assert analyze(" ".join(chunks)) == [token for chunk in chunks for token in analyze(chunk)]


UNITS = [
    "^",
    "a",
    "_",
    ".",
    "a'",
    "'s",
    "n't",
    "a_",
    "1,",
    "1.",
    "a1",
    "\ud800",
    "用",
    "ก",
    "か",
    "ー",
    "한",
    "é",
    "e\u0301",
    "\u0301",
]
UNITS += [
    "aA",
    "A",
    "a-",
    "://",
    "a://",
    "@",
    "a/",
    "\\",
    "c++",
    ".a",
    "1:",
    "🎉",
    "ab&",
    "\u17d2\u1780",
    "\u1000\u1039",
    "#1",
    "ﷺ",
    "\x00",
]


@pytest.mark.parametrize("unit", UNITS, ids=ascii)
def test_long_runs_of_anything_survive(unit: str) -> None:
    # Quadratic work on so much text would take minutes, not milliseconds.
    text = unit * (50_000 // len(unit))
    assert max(map(len, analyze(text)), default=0) <= MAX_TOKEN
    analyze_query(text)
    canonical(text)


def test_a_million_carets_and_a_very_long_word() -> None:
    assert analyze("^" * 1_000_000) == []
    long_word = "a" * 200_000
    assert analyze(long_word) == analyze_query(long_word) == ["a" * MAX_TOKEN]


@pytest.mark.parametrize("value", [None, 7, b"ferry", ["ferry"]])
@pytest.mark.parametrize("function", [analyze, analyze_query, canonical])
def test_only_strings(function, value) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(DataError, match="must be a string"):
        function(value)


def test_threads_agree() -> None:
    words = [
        f"{stem}{ending}" for stem in ("walk", "paint", "generou", "organiz", "hik") for ending in ("ing", "ed", "s", "ation")
    ]
    texts = [f"{word} unseen{number}ing собаку{number} {word}" for number in range(400) for word in words]
    with ThreadPoolExecutor(8) as pool:
        together = list(pool.map(analyze, texts))
    assert together == [analyze(text) for text in texts]


def test_the_same_tokens_in_every_process() -> None:
    text = "Caroline's order_total_cents crème 用户 고양이가 กล้วยไม้ 🎉 3.11.7"
    code = f"import json; from workbench.text.analysis import analyze; print(json.dumps(analyze({text!r})))"
    for seed in ("0", "12345"):
        environment = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONIOENCODING": "utf-8"}
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, env=environment)
        assert json.loads(done.stdout) == analyze(text)


def test_the_version_names_what_the_tokens_depend_on() -> None:
    assert unicodedata.unidata_version in ANALYSIS_VERSION
