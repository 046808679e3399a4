"""The wording files: frames compile, slots have values, questions of meaning share no words with their answers."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.data.synthetic.cast import Cast, Scope
from workbench.data.synthetic.frames import Frame, capitalised, contracted, settle_particles
from workbench.data.synthetic.streams import Stream
from workbench.data.synthetic.wording import LANGUAGES, parse, wording
from workbench.errors import DataError
from workbench.text.analysis import analyze, analyze_query

# Slots whose value comes from the context of a block, not from a pool or maker.
BOUND = {"anchor", "thing", "v", "w", "event", "detail", "hint", "when", "parts", "split", "camel", "snake"}


def scope_for(language: str) -> Scope:
    stream = Stream("wording", language)
    return Scope(Cast.create(stream, 300, ""), stream, language, **dict.fromkeys(BOUND, "X"))


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_slot_has_a_value(language: str) -> None:
    scope = scope_for(language)
    for frame in wording(language).frames():
        for slot in frame.slots:
            assert scope(slot), (frame, slot)
    for pool in wording(language).pools.values():
        for frame in pool:
            assert scope.fill(frame)
    for block in (*wording(language).of("me"), *wording(language).of("aspect")):
        if "v" in block.attributes:
            assert scope.value(block.attributes["v"]), block.name


@pytest.mark.parametrize("language", LANGUAGES)
def test_there_are_several_hundred_frames(language: str) -> None:
    frames, surfaces = (1_500, 2_000) if language == "en" else (190, 240)
    found = list(wording(language).frames())
    assert len(found) >= frames
    assert sum(frame.surfaces for frame in found) >= surfaces
    sources = [frame.source for frame in found]
    assert len(set(sources)) > 0.95 * len(sources)


@pytest.mark.parametrize("language", LANGUAGES)
def test_blocks_are_complete(language: str) -> None:
    book = wording(language)
    for block in book.of("family"):
        assert len(block.of("+", "!")) >= 13, block.name
        assert len(block.of("?")) == 2, block.name
        assert all("anchor" in frame.slots for frame in block.of("+", "!", "?")), block.name
    for block in book.of("me"):
        assert len(block.of("+")) >= 2, block.name
        assert len(block.of("~")) >= 2, block.name
        assert block.of("?"), block.name
    for block in book.of("aspect"):
        if not block.name.startswith("kin."):
            assert len(block.of("&")) == 1, block.name
    for block in book.of("procedure"):
        assert len(block.of("?")) == 2, block.name
        assert 3 <= len(block.rows("=")[0]) <= 5, block.name
    for block in book.of("recurring"):
        assert len(block.rows("=")) >= 6, block.name
        assert all(len(row) == 3 for row in block.rows("=")), block.name
    kinds = {block.kind for blocks in book.blocks.values() for block in blocks}
    assert {"family", "me", "thing", "aspect", "mentions", "paraphrase", "procedure", "recurring", "preference", "life"} <= kinds
    for blocks in book.blocks.values():
        names = [block.name for block in blocks]
        assert len(set(names)) == len(names)


def test_other_languages_name_the_english_block_they_repeat() -> None:
    english = {kind: {block.name for block in wording("en").of(kind)} for kind in ("me", "paraphrase", "preference")}
    for language in LANGUAGES[1:]:
        for kind, names in english.items():
            for block in wording(language).of(kind):
                like = block.attributes["like"]
                assert like in names or like == "choir", (language, kind, block.name)


def filled(frame: Frame, language: str) -> list[str]:
    """A few texts of a frame, with different alternatives."""
    stream = Stream("filled", frame.source)
    cast = Cast.create(stream, 300, "")
    voices = ("first", "user", "name") if language == "en" else ("first",)
    return [Scope(cast, stream, language, voice=voice).fill(frame) for voice in voices for _ in range(4)]


@pytest.mark.parametrize("language", LANGUAGES)
def test_questions_of_meaning_share_no_content_word_with_their_answers(language: str) -> None:
    function_words = {
        "en": "",
        "es": "a al de del el en es la las lo los me mi mis no por que quién qué se un una y con su fue dónde debe he se",
        "de": "am auf bei das dem den der die ein eine im in ist mein meine mich mir und vor was wie wo zu mit "
        "uns wer kein nicht ich",
        "pt": "a à ao da de do e em está há lá me meu minha minhas na no o os para por quem que se um uma é às as tem",
        "ko": "",
    }[language]
    idle = {token for word in function_words.split() for token in analyze(word)}
    for block in wording(language).of("paraphrase"):
        for question in block.of("?"):
            asked = {token for text in filled(question, language) for token in analyze_query(text)} - idle
            for answer in block.of("+"):
                said = {token for text in filled(answer, language) for token in analyze(text)} - idle
                assert not asked & said, (block.name, asked & said)
            others = {token for frame in block.of("-") for text in filled(frame, language) for token in analyze(text)}
            assert asked & others, (block.name, "no other entry shares a word with the question")


@pytest.mark.parametrize("language", LANGUAGES)
def test_texts_come_out_clean(language: str) -> None:
    scope = scope_for(language)
    for frame in wording(language).frames():
        text = scope.fill(frame)
        assert not re.search(r"[{}\[\]<>]|  | [.,;:?!](?!\w)|\(로\)|은\(는\)", text), text
        assert text == text.strip()


def test_frames_choose_and_fill() -> None:
    frame = Frame("{Animal} <sleep|sleeps> [here|on {spot}|].")
    values = {"animal": "an owl", "spot": "the mat"}
    texts = {frame.fill(values.__getitem__, Stream(number), third=True) for number in range(40)}
    assert texts == {"An owl sleeps here.", "An owl sleeps on the mat.", "An owl sleeps ."}
    assert frame.slots == {"animal", "spot"}
    assert frame.surfaces == 3


@pytest.mark.parametrize("source", ["{open", "shut}", "[a|b", "a > b", "[a|[b|c]]"])
def test_broken_frames_are_refused(source: str) -> None:
    with pytest.raises(DataError, match="close"):
        Frame(source)


def test_broken_files_are_refused_with_their_line() -> None:
    with pytest.raises(DataError, match=r"x\.txt, line 1"):
        list(parse("+ before any block", "x.txt"))
    with pytest.raises(DataError, match=r"x\.txt, line 2"):
        list(parse("@family a\n% what", "x.txt"))
    with pytest.raises(DataError, match=r"x\.txt, line 2.*close"):
        list(parse("@family a\n+ {broken", "x.txt"))
    with pytest.raises(DataError, match="@kind name"):
        list(parse("@family", "x.txt"))


def test_particles_and_contractions() -> None:
    assert settle_particles("부두은(는) 창고이(가) 산으로(로) KX-90을(를)") == "부두는 창고가 산으로 KX-90을"
    assert settle_particles("집과(와) 나와과(와) 별이다(다) 개이다(다)") == "집과 나와와 별이다 개다"
    assert settle_particles("서울으로(로) 나무으로(로)") == "서울로 나무로"
    assert contracted("desde de el muelle a el lado de él", "es") == "desde del muelle al lado de él"
    assert contracted("perto de a serra em o cais por a rua", "pt") == "perto da serra no cais pela rua"
    assert contracted("de el", "en") == "de el"
    assert [capitalised(word) for word in ("order_total", "fetchRows", "the fern", "KX-90")] == [
        "order_total", "fetchRows", "The fern", "KX-90",
    ]  # fmt: skip


@given(st.lists(st.one_of(st.integers(), st.text(max_size=5)), min_size=1, max_size=4))
def test_streams_depend_on_their_name_alone(name: list[int | str]) -> None:
    one, two = Stream(*name), Stream(*name)
    assert [one.below(1_000) for _ in range(5)] == [two.below(1_000) for _ in range(5)]
    other = Stream(*name, "more")
    assert [one.below(10**9) for _ in range(3)] != [other.below(10**9) for _ in range(3)]


def test_streams_draw_within_bounds_and_without_repetition() -> None:
    stream = Stream("bounds")
    assert {stream.between(3, 5) for _ in range(200)} == {3, 4, 5}
    assert sorted(stream.shuffled(range(50))) == list(range(50))
    for n in (0, 3, 9, 40):
        assert len(set(stream.sample(range(40), n))) == n
    assert {stream.weighted((0, 1, 0, 3)) for _ in range(100)} == {1, 3}
    assert Stream("ab", "c").below(10**9) != Stream("a", "bc").below(10**9)
    assert Stream(1).below(10**9) != Stream("1").below(10**9)
    # the sequence is part of what a version of the generator promises
    stream = Stream(7, "user", 3)
    assert [stream.below(1_000) for _ in range(6)] == [788, 714, 616, 72, 608, 632]
