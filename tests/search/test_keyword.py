"""The keyword arm: which memory is found by which query, and that the fast scores are rank-bm25's."""

from __future__ import annotations

import math
import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from workbench.errors import ConfigError, DataError
from workbench.search.keyword import KeywordIndex, ReferenceBM25, idf
from workbench.text.analysis import analyze, analyze_query, canonical


def hits(memories: list[str], query: str) -> list[int]:
    """Rows of the keyword hits, best first, earlier ones first among equals."""
    index = KeywordIndex.build([analyze(text) for text in memories])
    rows, scores = index.hits(analyze_query(query))
    assert (scores > 0).all()
    return [int(rows[at]) for at in np.argsort(-scores, kind="stable")]


# --- keyword-idf: a word that much of a small store contains still counts ------------------------------------------------


@pytest.mark.parametrize(
    ("memories", "query", "expected"),
    [
        (["ferry leaves at noon", "lamp is broken"], "ferry", [0]),
        (["ferry leaves at noon"], "ferry", [0]),
        (["ferry", "ferry"], "ferry", [0, 1]),
        (["ferry at noon", "ferry at dusk", "ferry"], "ferry", [2, 0, 1]),
        (["ferry at noon", "ferry at dusk"], "noon ferry", [0, 1]),
        (["lamp is broken", "ferry leaves at noon"], "Is the ferry gone?", [1]),
        (["blue mug", "blue lamp", "blue boat", "red boat"], "blue", [0, 1, 2]),
        (["blue mug", "blue lamp", "blue boat", "red boat"], "red boat", [3, 2]),
        (["ferry ferry ferry", "ferry mug lamp"], "ferry", [0, 1]),
        (["mug"] * 5 + ["ferry"], "mug", [0, 1, 2, 3, 4]),
        (["", "ferry"], "ferry", [1]),
        (["Anna likes tea", "Ben likes tea", "Cleo likes coffee"], "Who likes coffee?", [2, 0, 1]),
    ],
)
def test_small_stores(memories: list[str], query: str, expected: list[int]) -> None:
    assert hits(memories, query) == expected


@given(st.integers(1, 10**9), st.floats(0, 1))
def test_idf_is_positive_and_falls_with_df(n_docs: int, share: float) -> None:
    df = int(share * n_docs)
    assert idf(df, n_docs) > 0
    assert idf(df, n_docs) >= idf(min(df + 1, n_docs), n_docs)


# --- empty-input ---------------------------------------------------------------------------------------------------------


BLANK_STORES: list[list[str]] = [[], [""], ["", "   ", "…"], ["the of and", "???"], ["\u200b", "\ud800", "()"]]
EMPTY_QUERIES = [
    "",
    "   ",
    "???",
    "the of and",
    "zzqx",
    "…",
    "!!!",
    "()",
    "it's",
    "don't",
    "\n\t",
    "\u200b",
    "\ud83d",
    "を",
    "。、",
]


@pytest.mark.parametrize("query", EMPTY_QUERIES, ids=ascii)
@pytest.mark.parametrize("memories", [["ferry leaves noon", "lamp broken", "mug blue"], *BLANK_STORES])
def test_queries_without_words_hit_nothing(memories: list[str], query: str) -> None:
    assert hits(memories, query) == []


@pytest.mark.parametrize("memories", BLANK_STORES)
def test_blank_stores_score_zero(memories: list[str]) -> None:
    scores = KeywordIndex.build([analyze(text) for text in memories]).scores(analyze_query("ferry"))
    assert scores.shape == (len(memories),)
    assert scores.dtype == np.float64
    assert not scores.any()
    assert np.array_equal(scores, ReferenceBM25([analyze(text) for text in memories]).get_scores(["ferry"]))


# --- scripts without spaces ----------------------------------------------------------------------------------------------

CHINESE = ["用户每天早上喝乌龙茶", "用户住在山脚的小屋", "大小合适的房间里有一只猫", "周末和朋友去爬山", "弟弟在学校学习钢琴"]
JAPANESE = [
    "妹は毎朝コーヒーを飲みます",
    "週末はコードを書いています",
    "祖父は山の近くに住んでいます",
    "りんごとみかんが好きです",
    "さくらの木を植えました",
]
THAI = ["แม่ปลูกกล้วยไม้หลังบ้าน", "พ่อดื่มกาแฟทุกเช้า", "น้องชายเล่นเปียโนที่โรงเรียน", "แมวนอนบนเก้าอี้", "เขาช่วยซ่อมกล้องถ่ายรูป"]
KOREAN = [
    "고양이가 창문 옆에서 잔다",
    "할머니는 아침마다 녹차를 마신다",
    "동생은 학교에서 피아노를 배운다",
    "집에 사과가 많다",
    "주말에는 등산을 갑니다",
]
LAO = ["ແມ່ປູກດອກໄມ້ຢູ່ຫຼັງບ້ານ", "ພໍ່ດື່ມກາເຟທຸກເຊົ້າ"]
KHMER = ["ម្តាយដាំផ្កានៅក្រោយផ្ទះ", "ឆ្មាដេកលើគ្រែ"]
BURMESE = ["အမေက ပန်းစိုက်တယ်", "အဖေ ကော်ဖီသောက်တယ်"]


@pytest.mark.parametrize(
    ("memories", "query", "expected"),
    [
        (CHINESE, "乌龙茶", [0]),
        (CHINESE, "小屋", [1]),
        (CHINESE, "茶", [0]),
        (CHINESE, "猫", [2]),
        (CHINESE, "爬山", [3]),
        (CHINESE, "钢琴", [4]),
        (CHINESE, "用户", [1, 0]),
        (CHINESE, "冰箱", []),
        (JAPANESE, "コーヒー", [0]),
        (JAPANESE, "コード", [1]),
        (JAPANESE, "飲む", [0]),
        (JAPANESE, "祖父", [2]),
        (JAPANESE, "りんご", [3]),
        (JAPANESE, "さくら", [4]),
        (JAPANESE, "いくら", []),
        (JAPANESE, "ｺｰﾋｰ", [0]),
        (THAI, "กล้วยไม้", [0]),
        (THAI, "กาแฟ", [1]),
        (THAI, "โรงเรียน", [2]),
        (THAI, "แมว", [3]),
        (THAI, "กล้อง", [4]),
        (THAI, "แม่", [0]),
        (THAI, "ทะเล", []),
        (KOREAN, "고양이", [0]),
        (KOREAN, "고양이는", [0]),
        (KOREAN, "녹차", [1]),
        (KOREAN, "할머니가", [1]),
        (KOREAN, "학교", [2]),
        (KOREAN, "집은", [3]),
        (KOREAN, "사과", [3]),
        (KOREAN, "등산", [4]),
        (KOREAN, "강아지", []),
        (LAO, "ດອກໄມ້", [0]),
        (LAO, "ກາເຟ", [1]),
        (KHMER, "ផ្កា", [0]),
        (KHMER, "ឆ្មា", [1]),
        (BURMESE, "ပန်း", [0]),
        (BURMESE, "ကော်ဖီ", [1]),
        (["用户每天早上喝乌龙茶", "用户住在山脚的小屋", "แม่ปลูกกล้วยไม้หลังบ้าน"], "กล้วยไม้", [2]),
        ([*CHINESE, *JAPANESE, *THAI, *KOREAN], "乌龙茶", [0]),
    ],
)
def test_scripts_without_spaces(memories: list[str], query: str, expected: list[int]) -> None:
    assert hits(memories, query) == expected


@pytest.mark.parametrize(
    ("memories", "query", "expected"),
    [
        (CHINESE, "用户喜欢喝什么茶?乌龙茶吗?", 0),
        (CHINESE, "弟弟学习什么乐器?", 4),
        (JAPANESE, "妹は毎朝何を飲みますか", 0),
        (JAPANESE, "祖父はどこに住んでいますか", 2),
        (THAI, "แม่ปลูกอะไรหลังบ้าน", 0),
        (THAI, "ใครดื่มกาแฟตอนเช้า", 1),
        (KOREAN, "할머니가 무엇을 마셔요?", 1),
        (KOREAN, "고양이는 어디에서 자요?", 0),
    ],
)
def test_questions_in_scripts_without_spaces(memories: list[str], query: str, expected: int) -> None:
    assert hits(memories, query)[0] == expected


@pytest.mark.parametrize("separator", ["\u200b", "\u2060", "\ufeff"])
def test_invisible_word_separators_do_not_hide_words(separator: str) -> None:
    assert hits([separator.join(["ម្តាយ", "ដាំ", "ផ្កា"]), separator.join(["แม่", "ปลูก", "กล้วยไม้"])], "ផ្កា") == [0]
    assert hits([separator.join(["กล้วย", "ไม้"]), "แมว"], "กล้วยไม้") == [0]


# --- unicode-normalisation -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("memory", "query"),
    [
        ("dessert: cre\u0300me bru\u0302le\u0301e", "crème brûlée"),
        ("dessert: cre\u0300me bru\u0302le\u0301e", "cre\u0300me bru\u0302le\u0301e"),
        ("dessert: cre\u0300me bru\u0302le\u0301e", "CRÈME"),
        ("dessert: cre\u0300me bru\u0302le\u0301e", "creme brulee"),
        ("Zoë paints", "zoe"),
        ("lives in Köln", "KOLN"),
        ("lives in Łódź", "Lodz"),
        ("moved to İzmir", "izmir"),
        ("phở on Sundays", "pho"),
        ("the Straße is closed", "STRASSE"),
        ("ﬁsh soup", "fish"),
        ("ＦＥＲＲＹ at noon", "ferry"),
        ("αφήνει τον καφέ", "ΚΑΦΕ"),
        ("купила ёлку", "елка"),
        ("한국 여행", "\u1112\u1161\u11ab\u1100\u116e\u11a8"),
        ("ガラスの靴", "ｶﾞﾗｽ"),
        ("هُنا مَكْتَبَة", "مكتبة"),
        ("मेरी किताब", "किताबें"),
        ("Caroline’s boat", "Caroline's"),
        ("jalapen\u0303o jam", "jalapeño"),
    ],
)
def test_unicode_spellings_meet(memory: str, query: str) -> None:
    assert hits(["lamp is broken", memory], query) == [1]


def test_composed_and_decomposed_are_exact_duplicates() -> None:
    assert canonical("dessert: crème brûlée") == canonical("dessert: cre\u0300me bru\u0302le\u0301e")


# --- code-identifiers ----------------------------------------------------------------------------------------------------

CODE = [
    "column order_total_cents is nullable",
    "writes C++ on Fridays",
    "writes C# at work",
    "studies R for surveys",
    "node.js runs the kiosk; user.id is a uuid",
    "fetchRows retries three times before HTTPServer2 gives up",
    "the build needs Python 3.11.7 and .NET",
    "wrote C for ten years",
    "logs are in src/app/main.py and on build-agent-7",
    "mail goes to ada.king@example.org, docs at https://docs.example.org/geese/v2",
    "teaches Go and JavaScript in the evening",
    "learnt Java at a bank long ago, with mainframes and cards",
]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("total cents", 0),
        ("order_total_cents", 0),
        ("orderTotalCents", 0),
        ("ORDER_TOTAL_CENTS", 0),
        ("C++", 1),
        ("c++", 1),
        ("C#", 2),
        ("R", 3),
        ("node.js", 4),
        ("nodejs", 4),
        ("user.id", 4),
        ("userId", 4),
        ("fetchRows", 5),
        ("fetchrows", 5),
        ("fetch rows", 5),
        ("HTTPServer2", 5),
        ("http server", 5),
        ("3.11.7", 6),
        ("python 3.11", 6),
        (".NET", 6),
        ("C", 7),
        ("main.py", 8),
        ("src/app/main.py", 8),
        ("build-agent-7", 8),
        ("build agent", 8),
        ("ada.king@example.org", 9),
        ("https://docs.example.org/geese/v2", 9),
        ("docs.example.org", 9),
        ("JavaScript", 10),
        ("Java", 11),
    ],
)
def test_identifiers_whole_and_in_parts(query: str, expected: int) -> None:
    assert hits(CODE, query)[0] == expected


def test_c_and_its_relatives_are_told_apart() -> None:
    assert [hits(CODE, query) for query in ("C++", "C#", "C", "R", "Java", "JavaScript")] == [[1], [2], [7], [3], [11], [10]]


# --- the index -----------------------------------------------------------------------------------------------------------

WORDS = st.sampled_from(["a", "b", "c", "d", "e", "用户", "c++"])
CORPORA = st.lists(st.lists(WORDS, max_size=9), max_size=9)
QUERIES = st.lists(st.one_of(WORDS, st.just("unknown")), max_size=9)


@given(CORPORA, QUERIES, st.floats(0.01, 5), st.floats(0, 1))
@example([], ["a"], 1.5, 0.75)
@example([[], [], []], ["a"], 1.5, 0.75)
@example([["a"], []], ["a", "a"], 1.5, 1.0)
@example([["a", "a", "b"], ["a"]], ["a", "unknown", "a", "b"], 1e-6, 0.0)
def test_scores_are_those_of_rank_bm25(docs: list[list[str]], query: list[str], k1: float, b: float) -> None:
    index = KeywordIndex.build(docs, k1=k1, b=b)
    scores = index.scores(query)
    np.testing.assert_allclose(scores, ReferenceBM25(docs, k1=k1, b=b).get_scores(query), rtol=0, atol=1e-9)
    assert scores.shape == (len(docs),)
    for row, doc in enumerate(docs):
        assert (scores[row] > 0) == bool(set(doc) & set(query))
        assert math.isclose(sum(index.matches(query, row).values()), scores[row], abs_tol=1e-9)


def test_scores_of_a_larger_corpus_are_those_of_rank_bm25() -> None:
    rng = np.random.default_rng(7)
    docs = [[f"w{number}" for number in rng.zipf(1.3, rng.integers(0, 30))] for _ in range(400)]
    query = ["w1", "w2", "w2", "w17", "w99999999"]
    np.testing.assert_allclose(KeywordIndex.build(docs).scores(query), ReferenceBM25(docs).get_scores(query), rtol=0, atol=1e-9)


def test_a_score_worked_out_by_hand() -> None:
    index = KeywordIndex.build([["ferry", "noon"], ["lamp", "lamp", "ferry", "mug"]])
    lamp = math.log(1 + (2 - 1 + 0.5) / (1 + 0.5)) * 2 * 2.5 / (2 + 1.5 * (0.25 + 0.75 * 4 / 3))
    assert index.scores(["lamp"]).tolist() == pytest.approx([0.0, lamp])
    assert index.scores(["lamp", "lamp"]).tolist() == pytest.approx([0.0, 2 * lamp])
    assert index.matches(["lamp", "noon", "lamp"], 1) == pytest.approx({"lamp": 2 * lamp})


def test_terms_are_numbered_by_first_appearance() -> None:
    assert KeywordIndex.build([["pear", "fig"], [], ["fig", "apple", "pear"]]).vocabulary == ("pear", "fig", "apple")


def test_nothing_can_be_changed() -> None:
    index = KeywordIndex.build([["ferry"]])
    with pytest.raises(AttributeError):
        index.k1 = 2.0  # type: ignore[misc]
    with pytest.raises(ValueError, match="read-only"):
        index._weights[0] = 9.0
    scores = index.scores(["ferry"])
    scores[0] = 9.0  # the caller's own copy
    assert index.scores(["ferry"])[0] != 9.0


def test_threads_and_processes_get_the_same_bits() -> None:
    rng = np.random.default_rng(3)
    docs = [[f"w{number}" for number in rng.integers(0, 50, 12)] for _ in range(500)]
    index = KeywordIndex.build(docs)
    queries = [[f"w{number}" for number in rng.integers(0, 60, 8)] for _ in range(100)]
    alone = [index.scores(query).tobytes() for query in queries]
    with ThreadPoolExecutor(4) as pool:
        assert [scores.tobytes() for scores in pool.map(index.scores, queries)] == alone
    copied = pickle.loads(pickle.dumps(index))  # as joblib sends it to a worker
    assert [copied.scores(query).tobytes() for query in queries] == alone


@pytest.mark.parametrize(
    ("k1", "b"),
    [
        (0, 0.5),
        (-1, 0.5),
        (1001, 0.5),
        (math.nan, 0.5),
        (math.inf, 0.5),
        (1.5, -0.1),
        (1.5, 1.1),
        (1.5, math.nan),
        ("1.5", 0.5),
        (True, 0.5),
        (1.5, None),
    ],
)
@pytest.mark.parametrize("build", [lambda docs, k1, b: KeywordIndex.build(docs, k1=k1, b=b), ReferenceBM25])
def test_parameters_out_of_range(build, k1, b) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(ConfigError, match=r"k1|b"):
        build([["ferry"]], k1, b)


@pytest.mark.parametrize("docs", ["ferry", ["ferry"], [["ferry"], "lamp"], [None], [["ferry", 7]], [[["ferry"]]]])
def test_documents_that_are_no_tokens(docs) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(DataError, match=r"tokens|strings"):
        KeywordIndex.build(docs)


def test_a_query_that_is_no_tokens() -> None:
    with pytest.raises(DataError, match="analyze_query"):
        KeywordIndex.build([["f"]]).scores("ferry")


@pytest.mark.parametrize("row", [-1, 1])
def test_a_row_that_is_not_there(row: int) -> None:
    with pytest.raises(DataError, match="not in the keyword index"):
        KeywordIndex.build([["ferry"]]).matches(["ferry"], row)
