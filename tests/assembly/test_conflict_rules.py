"""The rule-based conflict test: phenomena one by one, own labelled pairs, silence on talk, and exactness of the fast path."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workbench.assembly.conflict_filter import candidates, promising
from workbench.assembly.conflict_judge import judge, judge_texts
from workbench.assembly.conflict_memo import VerdictMemo
from workbench.assembly.conflict_overlap import MOST_KEYS
from workbench.assembly.conflict_reader import read
from workbench.assembly.conflict_rules import RuleConflictTest
from workbench.assembly.conflict_test import CONFLICT, DUPLICATE, UNDECIDED, ConflictTest
from workbench.data.synthetic import synthesize
from workbench.errors import ConfigError, DataError
from workbench.store.snapshot import statement

TEST = RuleConflictTest()
OWN = [json.loads(line) for line in Path(__file__).with_name("conflict_pairs_own.jsonl").read_text("utf-8").splitlines()]
KNOWN_MISSES = {
    "own-en-115",  # "Grandma and Grandpa" beside "grandparents", and a home without a common word
    "own-en-138",  # selling at a market beside a stall there
    "own-en-144",  # "terrified of ... and hates them"
    "own-en-145",  # inside, outside on the terrace
    "own-en-156",  # "owes us a quote", "sent us the quote"
    "own-en-246",  # "meets with nine readers", "has grown to thirteen"
    "own-en-263",  # a language for a task, without a word of preference
    "own-en-268",  # what replaced it stands first, and the tool was only a place name to the reader
    "own-en-276",  # living alone beside a husband
    "own-ko-321",  # a Korean particle for what was given up
}


def verdict(a: str, b: str) -> str:
    code = TEST.decide(TEST.features([a, b]), np.array([0]), np.array([1]), np.array([0.8]))
    return TEST.reasons[int(code[0])]


def test_fits_the_interface() -> None:
    assert isinstance(TEST, ConflictTest)
    assert TEST.reasons[0] == ""
    assert len(set(TEST.reasons)) == len(TEST.reasons)


@pytest.mark.parametrize("pair", OWN, ids=lambda pair: pair["id"])
def test_own_pairs(pair: dict[str, str]) -> None:
    flagged = bool(verdict(pair["a"], pair["b"]))
    assert flagged == (pair["label"] == "conflict" and pair["id"] not in KNOWN_MISSES)


@pytest.mark.parametrize(
    ("a", "b", "reason"),
    [
        ("The greenhouse door stays locked at night", "The greenhouse door does not stay locked at night", "negation"),
        ("Prefers window seats", "Prefers aisle seats now", "exclusive value"),
        ("Prefers window seats", "Prefers aisle seats", "exclusive value"),
        ("The spare key hangs in the boathouse", "The spare key moved to the bakery", "moved"),
        ("Tomato seedlings go out in May", "Tomato soup is on the menu", ""),
        ("Tomato seedlings go out in May", "The printer needs magenta ink", ""),
        ("Walked the pier and saw two seals.", "Walked the pier and saw five seals.", ""),
        ("During term the cleaner comes on Tuesdays.", "During the holidays the cleaner comes on Fridays.", ""),
    ],
)
def test_reported_faults(a: str, b: str, reason: str) -> None:
    assert verdict(a, b) == reason


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("The ferry leaves at 3 pm.", "The ferry leaves at 15:00."),
        ("The ferry leaves at half past three.", "The ferry leaves at 3:30."),
        ("The rope is 1.5 m long.", "The rope is 150 cm long."),
        ("The sack weighs 12 kg.", "The sack weighs 12,000 g."),
        ("The rent is 1.2k euros.", "The rent is €1,200."),
        ("The walk takes an hour and a half.", "The walk takes 90 minutes."),
        ("The fair is on 4 June.", "The fair is on June 4th."),
        ("The fair is on 2026-06-04.", "The fair is on 4 June."),
        ("Der Akku hält anderthalb Tage.", "Der Akku hält 36 Stunden."),
        ("La jarra es de medio litro.", "La jarra es de 500 ml."),
        ("회의는 오후 세 시에 시작한다.", "회의는 15:00에 시작한다."),
        ("이 병의 용량은 2리터이다.", "이 병의 용량은 2000밀리리터이다."),
    ],
)
def test_equal_values_in_other_units_are_no_conflict(a: str, b: str) -> None:
    assert verdict(a, b) == ""


@pytest.mark.parametrize(
    ("a", "b", "reason"),
    [
        ("The ferry leaves at 3 pm.", "The ferry leaves at 15:30.", "time"),
        ("The rope is 1.5 m long.", "The rope is 160 cm long.", "number"),
        ("The rent is 1.2k euros.", "The rent is €1,300.", "number"),
        ("The fair is on 2026-06-04.", "The fair is on 5 June.", "date"),
        ("Der Akku hält anderthalb Tage.", "Der Akku hält 48 Stunden.", "number"),
        ("회의는 오후 세 시에 시작한다.", "회의는 16:00에 시작한다.", "time"),
    ],
)
def test_other_values_are(a: str, b: str, reason: str) -> None:
    assert verdict(a, b) == reason


@pytest.mark.parametrize(
    "text",
    [
        "Does the kiln work?",
        "¿Funciona el horno?",
        "If I had a kiln, I would fire tiles.",
        "I used to fire tiles.",
        "Maybe I will sell the kiln.",
        "From 2011 to 2014 I owned a kiln.",
        "",
        "...",
        "🙂",
    ],
)
def test_what_asserts_nothing_about_now_is_not_read(text: str) -> None:
    assert read(text) == ()


EVERYDAY = [
    ("The long trip is planned for July.", "The long trip is planned for January.", "date"),
    ("My long holiday is planned for March.", "I moved the long holiday to June.", "date"),
    ("A contract with Noodle for the internet at home.", "A contract with Rudd for the internet at home.", "name"),
    ("Our family doctor is Dr Wobblewand.", "Our family doctor is Dr Tumblemarsh now.", "name"),
    ("Imogen goes to Dr Mottleberry for dental check-ups.", "Imogen goes to Dr Trellis for dental check-ups.", "name"),
    ("I am employed by Hoble Housing.", "I am employed by Cuckoobellows Acoustics.", "name"),
    ("My everyday editor is Neovim, with plain key bindings.", "I have switched from Neovim to Kate for coding.", "ended"),
    ("Vivo en Orrintarn.", "Me he mudado de Orrintarn a Hobridgelune.", "ended"),
    ("Ida subscribes to the paper Salted Gazebo.", "Ida has cancelled the subscription to the paper Salted Gazebo.", "ended"),
    ("I help out at the reading club every other Saturday.", "I have stopped volunteering at the reading club.", "ended"),
    ("Colleagues reach me on extension 1924.", "Colleagues reach me on extension 4305.", "number"),
    ("I park in space F40 of the garage.", "My parking space in the garage has changed from F40 to F33.", "ended"),
]  # fmt: skip
LOOKALIKES = [
    ("The trip to Oslo is planned for July.", "The trip to Rome is planned for January."),
    ("The dentist of my landlord Winifred is Dr Knuckle.", "My dentist is Dr Crumbpebble."),
    ("The family doctor of my twin Dorothea is Dr Beam.", "My family doctor is Dr Bramble."),
    ("My godchild Wendelin goes to Dr Lantern for dental check-ups.", "I go to Dr Mottleberry for dental check-ups."),
    ("Contract F55/19846 covers pest control.", "Contract F55/19846 can be cancelled with a notice of five days."),
    (
        "The function stitchTickets is the work of Lavender.",
        "The function stitchTickets shall be replaced by the indexer some day.",
    ),
    ("Guardamos la GQ-8412 en el rellano.", "Guardamos la DT-3404 en el sótano."),
    ("A sticker with a comet now decorates the ZP-4592.", "We keep the ZP-4592 on top of the wardrobe."),
    ("The deadline for my tax return is 23 October.", "The deadline of Electric Falcon is 19 January."),
    ("My tennis partner Minerva writes code in Nano.", "The single caller of the function is the billing run."),
    ("Mungo takes 80 mg of iron a day.", "Mungo is no longer allergic to latex."),
    ("I am employed by Rooksey Insurance.", "I charge 68 euros an hour for freelance work."),
]


@pytest.mark.parametrize(("a", "b", "reason"), EVERYDAY)
def test_everyday_changes_are_seen(a: str, b: str, reason: str) -> None:
    assert verdict(a, b) == verdict(b, a) == reason


@pytest.mark.parametrize(("a", "b"), LOOKALIKES)
def test_lookalikes_stay(a: str, b: str) -> None:
    assert verdict(a, b) == ""


@pytest.mark.parametrize(
    "turn", ["Wow, that's great, Odo!", "Thanks, Odo! Sounds awesome.", "You'd love it there!", "Can't wait to see it!"]
)
def test_talk_without_a_statement_is_silent(turn: str) -> None:
    assert read(f"Fenna: {turn}") == ()


def test_speakers_speak_of_themselves() -> None:
    assert verdict("Fenna: I live in Ghent.", "Fenna: I live in Bruges.") == ""  # talk needs more in common
    assert verdict("Fenna: I live in the old mill in Ghent.", "Odo: I live in the old mill in Bruges.") == ""
    assert verdict("Fenna: My cello lesson is on Monday.", "Odo: My cello lesson is on Friday.") == ""
    same = ("Fenna: I eat smoked fish.", "Fenna: I don't eat smoked fish.")
    assert verdict(*same) == "negation"
    assert verdict(same[0], same[1].replace("Fenna", "Odo")) == ""


@pytest.mark.parametrize(
    "idiom",
    ["I can't wait for the harvest fair.", "I can't get enough of the harvest fair.", "Not only the harvest fair draws crowds."],
)
def test_idioms_are_no_negations(idiom: str) -> None:
    assert not any(clause.denies for sentence in read(idiom) for clause in sentence.clauses)


def test_double_negation_affirms() -> None:
    assert verdict("Fenna likes the new bell.", "Fenna doesn't dislike the new bell.") == ""
    assert verdict("Fenna smokes a pipe.", "Fenna hasn't stopped smoking a pipe.") == ""
    (sentence,) = read("Fenna doesn't dislike the new bell.")
    assert not sentence.clauses[0].denies


ALL_TEXTS = sorted({text for pair in OWN for text in (pair["a"], pair["b"])})


def slow(texts: Sequence[str], left: Any, right: Any) -> list[int]:
    """The verdicts without the filter: every pair of sentences is judged."""
    features = TEST.features(texts)
    codes = []
    for one, two in zip(left.tolist(), right.tolist(), strict=True):
        one, two = sorted((one, two), key=lambda row: texts[row])
        same = texts[one] == texts[two]
        codes.append(0 if same else judge_texts(features.sentences[one], features.sentences[two]))
    return codes


def fast(texts: Sequence[str], left: Any, right: Any) -> list[int]:
    return TEST.decide(TEST.features(texts), left, right, np.ones(left.size)).tolist()


def test_filter_never_loses_a_pair() -> None:
    texts = ALL_TEXTS[::4]
    left, right = np.triu_indices(len(texts), 1)
    codes = fast(texts, left, right)
    assert codes == slow(texts, left, right)
    features = TEST.features(texts)
    likely = promising(features, left, right)
    kept = candidates(features, left[likely], right[likely])
    assert kept.pair.size < 0.005 * left.size  # it also has to be worth its while
    assert sum(map(bool, codes)) >= 3
    judged = [judge(features.flat[one], features.flat[two]) for one, two in zip(kept.a.tolist(), kept.b.tolist(), strict=True)]
    assert all(not code or code >= lowest for code, lowest in zip(judged, kept.lowest.tolist(), strict=True))


def test_filter_never_loses_a_pair_of_a_generated_store() -> None:
    user = synthesize(users=1, size=260, seed=31)
    texts = [statement(entry) for store in user.stores.values() for entry in (*store.memories, *store.episodes)]
    left, right = np.triu_indices(len(texts), 1)
    codes = fast(texts, left, right)
    assert codes == slow(texts, left, right)
    assert any(codes)


@pytest.mark.parametrize(("n", "pairs"), [(1, 1), (2, 9), (40, 3000), (1500, 60_000), (300_000, 40_000)])
def test_remembered_verdicts_are_those_of_their_pair(n: int, pairs: int) -> None:
    memo = VerdictMemo(n)
    rng = np.random.default_rng(n)
    left, right = rng.integers(0, n, (2, pairs))
    codes = np.where(left == right, 0, (left + right) % 12)
    known = memo.recall(left, right)
    assert known.tolist() == np.where(left == right, 0, -1).tolist()
    new = np.flatnonzero(known < 0)
    memo.keep(left[new], right[new], codes[new])
    again = memo.recall(right, left)
    assert ((again == codes) | (again == -1)).all()
    assert (again >= 0).mean() > 0.8


def test_asked_again_the_verdicts_are_the_same() -> None:
    texts = ALL_TEXTS[:90]
    features = TEST.features(texts)
    left, right = np.triu_indices(len(texts), 1)
    half = TEST.decide(features, left[::2], right[::2], np.ones(left[::2].size))
    whole = TEST.decide(features, right, left, np.ones(left.size))
    assert half.tolist() == whole[::2].tolist()
    assert whole.tolist() == TEST.decide(features, left, right, np.ones(left.size)).tolist() == slow(texts, left, right)


def test_pairs_sifted_in_blocks_are_judged_as_in_one_go(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = [f"{one} {two}" for one, two in zip(ALL_TEXTS[:40], ALL_TEXTS[40:80], strict=True)]
    left, right = np.triu_indices(len(texts), 1)
    whole = fast(texts, left, right)
    monkeypatch.setattr("workbench.assembly.conflict_filter._BLOCK", 7)
    assert fast(texts, left, right) == whole == slow(texts, left, right)
    assert any(whole)


def test_sentences_with_more_words_than_the_counters_hold_are_judged() -> None:
    names = " and ".join(f"{letters}{number}" for number in range(70) for letters in product_of_letters("bcdfghjk"))
    texts = [f"My manager is Olga and {names}", f"My manager is Bern and {names}", "My manager is Bern", "My manager is Olga"]
    sentences = TEST.features(texts).flat
    assert max(len(sentence.keys) for sentence in sentences) > MOST_KEYS
    left, right = np.triu_indices(len(texts), 1)
    assert fast(texts, left, right) == slow(texts, left, right)


def product_of_letters(letters: str) -> list[str]:
    return [one + vowel + two for one in letters for vowel in "o" for two in letters]


FRAMES = (
    "My {0} is {1}.",
    "I no longer {2} {1}.",
    "I {2} {0} with {1}.",
    "I do not {2} {0} with {1}.",
    "The {0} of {1} costs {3} euros.",
    "The {0} was moved from {1} to {4}.",
    "{4} {2} the {0} in {1} on Mondays.",
    "Now {4} {2} {1} instead of {0}.",
    "I prefer {0} over {1}.",
    "The {0} is {5} and {1} is {6}.",
    "{4}: I {2} the {0}!",
    "Anna moved to {4}, and the {0} starts at {3}:00.",
    "I never {2} {0}. {4} is {5}.",
)
SLOTTED = tuple(
    part.split()
    for part in (
        "manager bicycle window meeting dog flat planner plan",
        "Ghent garden A12 lunch tea dog aisle",
        "like use live work hate moved",
        "3 4 12",
        "Anna Bern Odo",
        "broken open closed vegetarian married",
        "repaired pending soft hard divorced",
    )
)


@settings(max_examples=60)
@given(st.lists(st.tuples(st.sampled_from(FRAMES), st.tuples(*map(st.sampled_from, SLOTTED))), min_size=9, max_size=24))
def test_filter_never_loses_a_pair_of_like_frames(chosen: list[tuple[str, tuple[str, ...]]]) -> None:
    texts = [frame.format(*words) for frame, words in chosen]
    left, right = np.triu_indices(len(texts), 1)
    assert fast(texts, left, right) == slow(texts, left, right)


def test_order_of_arguments_and_of_rows_does_not_matter() -> None:
    texts = [text for pair in OWN[:120] for text in (pair["a"], pair["b"])]
    rows = np.arange(120)
    there = TEST.decide(TEST.features(texts), 2 * rows, 2 * rows + 1, np.ones(120))
    back = TEST.decide(TEST.features(texts), 2 * rows + 1, 2 * rows, np.ones(120))
    turned = TEST.decide(TEST.features(texts[::-1]), 239 - 2 * rows, 238 - 2 * rows, np.ones(120))
    assert there.tolist() == back.tolist() == turned.tolist()
    assert there.any()


def test_a_row_depends_on_its_text_only() -> None:
    together = TEST.features(ALL_TEXTS[:40])
    for row in range(40):
        alone = TEST.features([ALL_TEXTS[row]])
        assert together.sentences[row] == alone.sentences[0]
        for name, column in alone.rows.items():
            assert np.array_equal(together.rows[name][row], column[0])
        own = slice(together.first_part[row], together.first_part[row + 1])
        for name, column in alone.parts.items():
            assert np.array_equal(together.parts[name][own], column)
        keys = slice(together.first_key[own.start], together.first_key[own.stop])
        assert np.array_equal(together.places[keys], alone.places)
        assert np.array_equal(together.roles[keys], alone.roles)


def test_same_text_never_conflicts_with_itself() -> None:
    features = TEST.features(ALL_TEXTS + ALL_TEXTS)
    rows = np.arange(len(ALL_TEXTS))
    assert not TEST.decide(features, rows, rows + len(ALL_TEXTS), np.ones(rows.size)).any()


def test_relation_tells_duplicates_from_lookalikes() -> None:
    texts = [
        "The kiln room is locked on Sundays.",
        "On Sundays the kiln room is locked.",
        "The kiln room is not locked on Sundays.",
        "The glaze room is locked on Sundays.",
        "My brother lives in Bath.",
        "My sister lives in Bath.",
        "The jar holds 2 litres.",
        "The cup holds 3 litres.",
    ]
    features = TEST.features(texts)
    left, right = np.array([0, 0, 0, 4, 6, 0]), np.array([1, 2, 3, 5, 7, 1])
    cosine = np.array([0.97, 0.97, 0.97, 0.97, 0.97, 0.80])
    found = TEST.relation(features, left, right, cosine, duplicate_at=0.9).tolist()
    assert found == [DUPLICATE, CONFLICT, UNDECIDED, UNDECIDED, UNDECIDED, UNDECIDED]


def test_empty_store_and_no_pairs() -> None:
    none = np.zeros(0, dtype=np.int64)
    features = TEST.features([])
    assert len(features) == 0
    assert TEST.decide(features, none, none, np.zeros(0)).shape == (0,)
    assert TEST.decide(TEST.features(["a", "b"]), none, none, np.zeros(0)).dtype == np.int64


def test_bad_arguments_are_refused() -> None:
    features = TEST.features(["I eat fish.", "I don't eat fish."])
    with pytest.raises(DataError, match="text 1 is a int"):
        TEST.features(["I eat fish.", 7])  # type: ignore[list-item]
    with pytest.raises(ConfigError, match=r"RuleConflictTest\.features"):
        TEST.decide(["I eat fish."], np.array([0]), np.array([0]), np.array([1.0]))
    with pytest.raises(ConfigError, match="shapes"):
        TEST.decide(features, np.array([0, 1]), np.array([1]), np.array([1.0]))
    with pytest.raises(ConfigError, match=r"0\.\.1"):
        TEST.decide(features, np.array([0]), np.array([2]), np.array([1.0]))
    with pytest.raises(ConfigError, match=r"0\.\.1"):
        TEST.decide(features, np.array([-1]), np.array([1]), np.array([1.0]))


FRAGMENTS = (
    "I my the not no never kiln glaze 3 pm 12 kg € % `x` On Monday June 4 moved to stopped used ? . , : ; don't Odo's 안 없다 "
    "오후 두 시 nicht mehr ya no é ² ٣ 1.2.3 99999999999999999999 half past quarter to ¿ - ' \u0301 🙂 `` 8h30 2024-09-02"
)
WORDS = st.sampled_from(FRAGMENTS.split())


@settings(max_examples=150)
@given(st.lists(st.one_of(WORDS, st.text(max_size=8)), max_size=24), st.lists(WORDS, max_size=12))
def test_any_text_is_read_and_judged_symmetrically(one: list[str], two: list[str]) -> None:
    a, b = " ".join(one), " ".join(two)
    features = TEST.features([a, b])
    left, right = np.array([0, 1, 0]), np.array([1, 0, 0])
    codes = TEST.decide(features, left, right, np.ones(3))
    assert codes[0] == codes[1]
    assert codes[2] == 0
    if a != b:
        assert codes[0] == judge_texts(*(features.sentences[row] for row in sorted((0, 1), key=[a, b].__getitem__)))


def test_long_texts_take_linear_time_to_read() -> None:
    text = "The kiln is hot and the glaze is not dry, because Odo moved it to the shed. " * 2000
    assert len(read(text)) <= 32
    assert verdict(text, "The kiln is cold.") in TEST.reasons


def test_same_verdicts_for_any_hash_seed() -> None:
    script = (
        "import json,sys,numpy as np\n"
        "from workbench.assembly.conflict_rules import RuleConflictTest\n"
        "texts=json.load(sys.stdin); t=RuleConflictTest(); f=t.features(texts)\n"
        "i,j=np.triu_indices(len(texts),1); print(t.decide(f,i,j,np.ones(i.size)).tolist())\n"
    )
    texts = json.dumps(ALL_TEXTS[::6])
    seen = {
        subprocess.run(
            [sys.executable, "-c", script],
            input=texts,
            capture_output=True,
            text=True,
            check=True,
            encoding="utf-8",
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONUTF8": "1"},
        ).stdout
        for seed in ("0", "1", "77")
    }
    assert len(seen) == 1
