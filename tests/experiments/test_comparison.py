"""A/B comparisons: public cases, verdicts by direction, what is left out, and that results print, render and come back."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workbench.errors import ConfigError, DataError, RunError
from workbench.experiments.comparison import Comparison, ComparisonRow, compare_arms, compare_values
from workbench.experiments.metrics import Metric
from workbench.experiments.statistics import benjamini_hochberg, holm

USERS = np.repeat([f"user-{number}" for number in range(12)], 10)
SCORE = Metric(name="score", higher_is_better=True, unit="points", definition="points", low=None, high=None)


def one(a: list[float], b: list[float], users: list[str] | None = None) -> ComparisonRow:
    """Compare a single made-up metric; every query its own user unless said otherwise."""
    clusters = users or [f"u{number}" for number in range(len(a))]
    return compare_values({"score": a}, {"score": b}, clusters, metrics={"score": SCORE}).row("score")


def noisy(effect: float, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Recall of two arms on the same 120 queries, b better by effect."""
    rng = np.random.default_rng(seed)
    a = rng.uniform(0.2, 0.6, len(USERS))
    return a, a + effect + rng.normal(0, 0.05, len(USERS))


# public cases


def test_identical_arms_do_not_differ() -> None:
    """SG-1: p is 1, never NaN, never significant; the same values computed another way are still the same."""
    for b in ([0.5, 0.6, 0.7], [0.5, 0.6, 0.1 * 7]):
        row = one([0.5, 0.6, 0.7], b)
        assert (row.verdict, row.p_value, row.p_adjusted, row.q_value) == ("no difference", 1.0, 1.0, 1.0)
        assert (row.difference, row.ci95, row.wins, row.ties, row.losses) == (0.0, (0.0, 0.0), 0, 3, 0)


def test_a_constant_difference_is_flagged_and_its_p_is_not_0() -> None:
    """SG-1: zero variance is said, the effect is shown, p is that of the permutation test."""
    row = one([1.0, 2.0, 3.0], [0.0, 1.0, 2.0])
    assert (row.difference, row.p_value, row.p_floor) == (-1.0, 0.25, 0.25)
    assert (row.effect_size, row.mde) == (None, None)
    assert "zero variance" in row.note
    assert "p cannot fall under 0.25" in row.note
    assert row.verdict == "inconclusive"
    many = one([1.0] * 10, [0.0] * 10)
    assert (many.verdict, many.p_value, many.interval_method) == ("worse", 2 / 2**10, "zero variance")


def test_a_constant_difference_with_rounding_is_constant() -> None:
    row = one([0.7, 0.2, 0.4], [0.6, 0.1, 0.3])
    assert "zero variance" in row.note


@pytest.mark.parametrize(
    ("a", "b", "users"), [([1.0], [0.0], ["u"]), ([1.0, 2.0, 3.0], [0.0, 5.0, 9.0], ["u"] * 3), ([], [], None)]
)
def test_one_query_or_one_user_is_not_enough_data(a: list[float], b: list[float], users: list[str] | None) -> None:
    """SG-1: with n = 1 or one cluster there is no p, no interval and no effect size."""
    row = one(a, b, users)
    assert row.verdict == row.interval_method == "not enough data"
    assert (row.p_value, row.p_adjusted, row.q_value, row.ci95, row.effect_size, row.mde) == (None,) * 6
    assert f"{len(a)} queries of {len(set(users or []))} users" in row.note


def test_raw_and_adjusted_p_and_the_family_are_shown() -> None:
    """SG-2: the table names family, correction, raw and adjusted p."""
    a, b = noisy(0.01)
    values = {name: a + shift for name, shift in (("Recall@5", 0.0), ("Recall@10", 0.1), ("RR", 0.2))}
    other = {name: column + (b - a) * scale for (name, column), scale in zip(values.items(), (1, 0.2, -1), strict=True)}
    result = compare_values(values, other, USERS)
    raw = [row.p_value for row in result]
    np.testing.assert_array_equal([row.p_adjusted for row in result], holm(raw))
    np.testing.assert_array_equal([row.q_value for row in result], benjamini_hochberg(raw))
    text = str(result)
    for part in ("3 metrics x 1 arm against a, 3 tests", "Holm", "Benjamini-Hochberg", "sign-flip", "p raw", "n  ", "users"):
        assert part in text
    assert result.to_dict()["family"]["size"] == 3


# verdicts


@pytest.mark.parametrize(
    ("name", "effect", "expected"),
    [
        ("ContextRecall", 0.05, "better"),
        ("ContextRecall", -0.05, "worse"),
        ("StaleExposure", 0.05, "worse"),
        ("StaleExposure", -0.05, "better"),
        ("ContextRecall", 0.0, "inconclusive"),
    ],
)
def test_verdicts_know_the_direction(name: str, effect: float, expected: str) -> None:
    a, b = noisy(effect)
    row = compare_values({name: a}, {name: b}, USERS).row(name)
    assert row.verdict == expected
    assert row.ci95 is not None
    assert row.ci95[0] < row.difference < row.ci95[1]  # type: ignore[operator]
    assert row.difference == pytest.approx(b.mean() - a.mean())
    assert (row.ci95[0] > 0 or row.ci95[1] < 0) == (row.p_value <= 0.05)  # type: ignore[operator]
    assert row.wins + row.ties + row.losses == row.n == 120
    improved = (b > a) if name == "ContextRecall" else (b < a)
    assert row.wins == improved.sum()


def test_equivalence_needs_a_margin() -> None:
    a, b = noisy(0.0)
    values = ({"ContextRecall": a}, {"ContextRecall": b})
    assert compare_values(*values, USERS, margins={"ContextRecall": 0.03}).row("ContextRecall").verdict == "equivalent"
    assert compare_values(*values, USERS, margins={"ContextRecall": None}).row("ContextRecall").verdict == "inconclusive"
    a, b = noisy(0.05)
    row = compare_values({"RR": a}, {"RR": b}, USERS, margins={"RR": 0.2}).row("RR")
    assert row.verdict == "equivalent"
    assert "significant, but smaller than the margin" in row.note


def test_swapping_the_arms_mirrors_the_result() -> None:
    a, b = noisy(0.03)
    there, back = (compare_values({"RR": x}, {"RR": y}, USERS).row("RR") for x, y in ((a, b), (b, a)))
    assert there.ci95 is not None
    assert back.ci95 == (-there.ci95[1], -there.ci95[0])
    assert (back.p_value, back.mde, back.difference) == (there.p_value, there.mde, -there.difference)  # type: ignore[operator]
    assert (back.wins, back.losses) == (there.losses, there.wins)
    assert {there.verdict, back.verdict} == {"better", "worse"}


def test_too_few_users_for_the_family_is_said() -> None:
    users = [f"u{number % 7}" for number in range(70)]
    names = ["RR", "ContextRecall", "AnyRecall", "Recall@5"]
    rng = np.random.default_rng(0)
    a = {name: rng.uniform(0, 0.4, 70) for name in names}
    result = compare_values(a, {name: column + 0.5 * rng.random(70) for name, column in a.items()}, users)
    assert {row.verdict for row in result} == {"inconclusive"}
    assert all("corrected over 4 tests it may never reach 0.05" in row.note for row in result)


def test_an_arm_is_not_better_on_queries_it_leaves_out() -> None:
    a, b = noisy(-60.0)
    a, b = a * 0 + 500, b * 0 + 440 + np.arange(120) % 7
    b[:30] = np.nan
    a[:2] = b[40] = np.nan
    row = compare_values({"TokensPerHit": a}, {"TokensPerHit": b}, USERS).row("TokensPerHit")
    assert row.verdict == "inconclusive"
    assert (row.n, row.n_undefined, row.n_undefined_a_only, row.n_undefined_b_only) == (89, 2, 0, 29)
    assert "undefined for only one arm: 0 queries in a, 29 in b" in row.note
    assert compare_values({"TokensPerHit": b}, {"TokensPerHit": a}, USERS).row("TokensPerHit").verdict == "inconclusive"
    # where the arm ahead is the one that leaves out less, the verdict stands
    worse = compare_values({"TokensPerHit": a}, {"TokensPerHit": 1_000 - b}, USERS).row("TokensPerHit")
    assert worse.verdict == "worse"


def test_several_arms_are_one_family() -> None:
    a, b = noisy(0.05)
    arms = {"base": {"RR": a}, "good": {"RR": b}, "same": {"RR": a.copy()}}
    result = compare_arms(arms, USERS, baseline="base")
    assert [(row.arm_b, row.verdict) for row in result] == [("good", "better"), ("same", "no difference")]
    assert result.family_size == 2
    assert result.row("RR", "good").p_adjusted == 2 * result.row("RR", "good").p_value  # type: ignore[operator]
    with pytest.raises(DataError, match="no row"):
        result.row("RR")


def test_another_alpha_is_used_throughout() -> None:
    a, b = noisy(0.012, seed=4)
    strict, loose = (compare_values({"RR": a}, {"RR": b}, USERS, alpha=alpha).row("RR") for alpha in (0.001, 0.2))
    assert strict.p_value == loose.p_value
    assert 0.001 < strict.p_value < 0.2  # type: ignore[operator]
    assert (strict.verdict, loose.verdict) == ("inconclusive", "better")
    assert strict.mde > loose.mde  # type: ignore[operator]


# input


def test_bad_input_is_refused() -> None:
    a, b = noisy(0.0)
    with pytest.raises(DataError, match="differ in metrics"):
        compare_values({"RR": a}, {"AnyRecall": b}, USERS)
    with pytest.raises(DataError, match="one element per query"):
        compare_values({"RR": a}, {"RR": b[:-1]}, USERS)
    with pytest.raises(DataError, match="infinite"):
        compare_values({"RR": a}, {"RR": np.full(120, np.inf)}, USERS)
    with pytest.raises(ConfigError, match="unknown metric"):
        compare_values({"score": a}, {"score": b}, USERS)
    with pytest.raises(ConfigError, match="margin"):
        compare_values({"RR": a}, {"RR": b}, USERS, margins={"Recall@5": 0.1})
    with pytest.raises(ConfigError, match="margin"):
        compare_values({"RR": a}, {"RR": b}, USERS, margins={"RR": -0.1})
    with pytest.raises(ConfigError, match="alpha"):
        compare_values({"RR": a}, {"RR": b}, USERS, alpha=5)
    with pytest.raises(ConfigError, match="baseline"):
        compare_values({"RR": a}, {"RR": b}, USERS, names=("x", "x"))


def test_the_inputs_are_left_alone() -> None:
    a, b = noisy(0.0)
    before = a.copy(), b.copy()
    compare_values({"RR": a}, {"RR": b}, USERS)
    np.testing.assert_array_equal((a, b), before)


# output


@pytest.fixture
def mixed() -> Comparison:
    a, b = noisy(0.05)
    undefined = np.full(120, np.nan)
    return compare_values(
        {"RR": a, "StaleExposure": undefined, "Tokens": a * 1e3, "Leaks": a * 0},
        {"RR": b, "StaleExposure": undefined, "Tokens": b * 1e3, "Leaks": a * 0},
        USERS,
        names=("<b>production</b>", 'new & "shiny" <script>alert(1)</script>'),
    )


def test_a_comparison_is_strict_json_and_comes_back(mixed: Comparison, tmp_path: Path) -> None:
    assert json.loads(json.dumps(mixed.to_dict(), allow_nan=False)) == mixed.to_dict()
    mixed.save(tmp_path / "comparison.json")
    assert [path.name for path in tmp_path.iterdir()] == ["comparison.json"]
    assert Comparison.load(tmp_path / "comparison.json") == mixed


def test_what_is_not_a_comparison_is_refused(mixed: Comparison, tmp_path: Path) -> None:
    path = tmp_path / "other.json"
    for text in ("[]", "{}", "{", '{"schema": "workbench.comparison/1"}', '{"schema": "workbench.comparison/9", "rows": []}'):
        path.write_text(text)
        with pytest.raises(DataError):
            Comparison.load(path)
    with pytest.raises(DataError, match="cannot read"):
        Comparison.load(tmp_path / "missing.json")
    with pytest.raises(RunError, match="cannot write"):
        mixed.save(tmp_path / "no" / "folder.json")


def test_everything_rendered_is_escaped(mixed: Comparison) -> None:
    html = mixed._repr_html_()
    assert html.count("<script") == 1  # the one that sorts
    assert "<b>" not in html
    assert "&lt;script&gt;" in html
    assert html.count("<tr>") == 1 + len(mixed.rows)


def test_tables_show_n_and_never_round_to_0(mixed: Comparison) -> None:
    text = str(mixed)
    assert "0 (120 undefined)" in text
    assert "<0.001" in text or "0.00" in text
    tiny = replace(mixed, rows=tuple(replace(row, p_value=1e-9, difference=1e-7) for row in mixed.rows))
    for cells in tiny.table():
        assert cells["p raw"] == "<0.001"
        assert cells["difference"] == "+1.0e-07"
    assert "nothing compared" in str(replace(mixed, rows=()))
    assert replace(mixed, rows=())._repr_html_()


def test_a_frame_has_numbers_where_numbers_belong(mixed: Comparison) -> None:
    frame = mixed.to_dataframe()
    assert list(frame["metric"]) == ["RR", "StaleExposure", "Tokens", "Leaks"]
    for column in ("difference", "ci95_low", "ci95_high", "p_value", "p_adjusted", "q_value", "mde"):
        assert frame[column].dtype == np.float64
    assert frame["p_value"].isna().tolist() == [False, True, False, False]
    assert list(replace(mixed, rows=()).to_dataframe().columns) == list(frame.columns)


cell = st.one_of(st.just(np.nan), st.sampled_from([0.0, 0.5, 1.0]), st.floats(0, 1))


@settings(max_examples=150, deadline=None)
@given(st.lists(st.tuples(cell, cell, st.sampled_from("abcdefgh")), max_size=40))
def test_any_data_give_a_valid_row(data: list[tuple[float, float, str]]) -> None:
    a, b = (np.array([row[column] for row in data], dtype=float) for column in (0, 1))
    users = np.array([row[2] for row in data], dtype=str)
    row = compare_values({"RR": a, "Recall@5": b}, {"RR": b, "Recall@5": a}, users).row("RR")
    json.dumps(row.to_dict(), allow_nan=False)
    assert row.n + row.n_undefined + row.n_undefined_a_only + row.n_undefined_b_only == len(data)
    if row.p_value is None:
        assert row.verdict == "not enough data"
        return
    assert 0 < row.p_floor <= row.p_value + 1e-12 <= row.p_adjusted + 1e-12 <= 1 + 1e-12  # type: ignore[operator]
    low, high = row.ci95 or (np.nan, np.nan)
    assert -1 <= low <= row.difference + 1e-12  # type: ignore[operator]
    assert row.difference - 1e-12 <= high <= 1  # type: ignore[operator]
    if row.verdict == "better":
        assert row.difference > 0  # type: ignore[operator]
        assert row.p_adjusted <= 0.05  # type: ignore[operator]


def test_a_primary_metric_named_beforehand_is_its_own_family() -> None:
    rng = np.random.default_rng(5)
    users = np.repeat([f"u{number}" for number in range(6)], 30)
    names = ("ContextRecall", "Recall@5", "Recall@10", "nDCG@10", "RR")
    low = {name: rng.uniform(0.2, 0.4, len(users)) for name in names}
    high = {name: low[name] + rng.uniform(0.1, 0.3, len(users)) for name in names}
    one_family = compare_values(low, high, users)
    assert one_family.row("ContextRecall").verdict == "inconclusive"  # 2 / 2**6 corrected over five tests
    named = compare_values(low, high, users, primary="ContextRecall")
    assert named.row("ContextRecall").verdict == "better"
    assert named.row("ContextRecall").p_adjusted == named.row("ContextRecall").p_value == 2 / 2**6
    assert named.row("RR").p_adjusted == pytest.approx(4 * 2 / 2**6)
    assert "primary metric ContextRecall" in named.family
    assert Comparison.from_dict(named.to_dict()) == named
    with pytest.raises(ConfigError, match="not compared"):
        compare_values(low, high, users, primary="Tokens")
