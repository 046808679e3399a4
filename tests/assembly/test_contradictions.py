"""The newer of two conflicting entries wins; what was not tested is counted."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from workbench.assembly.contradictions import Conflict, ConflictReport, combine, find_conflicts
from workbench.config import AssemblyConfig
from workbench.entries import epoch_seconds, utc

NOW = epoch_seconds(utc("2026-03-02T09:00:00Z"))
RANDOM = np.random.default_rng(0)


def case(
    kit: Any, texts: list[str], cosines: dict[tuple[int, int], float], days: list[int] | None = None, **calibration: Any
) -> Any:
    """Memories m0, m1 … created on these days of 2026 (default: one after the other), with wanted cosines (others 0.1)."""
    gram = np.full((len(texts), len(texts)), 0.1)
    np.fill_diagonal(gram, 1.0)
    for (one, two), value in cosines.items():
        gram[one, two] = gram[two, one] = value
    days = days or list(range(1, len(texts) + 1))
    # the query is unlike all of them, and found by its words only
    entries = [
        kit.memory(f"m{number}", text, created_at=f"2026-01-{day:02d}")
        for number, (text, day) in enumerate(zip(texts, days, strict=True))
    ]
    vectors = dict(zip(texts, kit.with_cosines(gram), strict=True))
    vectors["which"] = np.ones(len(texts)) / np.sqrt(len(texts))
    return kit.assembler(entries, encoder=kit.Given(vectors, **calibration))


def conflicts_of(
    assembler: Any, band: tuple[float, float] = (0.75, 0.92), now: float = NOW
) -> tuple[dict[str, str], ConflictReport]:
    snapshot = assembler.snapshot()
    superseded, report = find_conflicts(snapshot, [np.arange(len(snapshot.ids))], band, assembler.conflict_test, now)
    return {snapshot.ids[old]: snapshot.ids[new] for old, new in superseded.items()}, report


def test_the_newer_wins_and_the_report_names_both(kit: Any) -> None:
    assembler = case(kit, ["seat = window", "seat = aisle", "tea"], {(0, 1): 0.84})
    superseded, report = conflicts_of(assembler)
    assert superseded == {"m0": "m1"}
    assert report == ConflictReport(
        conflicts=(Conflict(newer="m1", older="m0", similarity=0.84, reason="exclusive value", decided=True),),
        tested=1,
        below_band=2,
    )


def test_insertion_order_and_ids_do_not_decide(kit: Any) -> None:
    assert conflicts_of(case(kit, ["seat = window", "seat = aisle"], {(0, 1): 0.84}, days=[9, 2]))[0] == {"m1": "m0"}


def test_below_the_band_is_not_tested_and_counted(kit: Any) -> None:
    superseded, report = conflicts_of(case(kit, ["seat = window", "seat = aisle"], {(0, 1): 0.6}))
    assert superseded == {}
    assert report == ConflictReport(conflicts=(), tested=0, below_band=1)


def test_the_band_is_inclusive_below_and_open_above(kit: Any) -> None:
    assembler = case(kit, ["seat = window", "seat = aisle"], {(0, 1): 0.84})
    cosine = conflicts_of(assembler)[1].conflicts[0].similarity
    assert conflicts_of(assembler, (cosine + 1e-5, 0.92))[0] == {}
    assert conflicts_of(assembler, (cosine - 1e-5, 0.92))[0] == {"m0": "m1"}
    # conflict outranks duplicate: above the band a pair is tested too
    assert conflicts_of(assembler, (0.1, 0.2))[0] == {"m0": "m1"}


def test_in_the_band_without_a_conflict_nothing_happens(kit: Any) -> None:
    superseded, report = conflicts_of(case(kit, ["tomato seedlings", "tomato soup"], {(0, 1): 0.8}))
    assert superseded == {}
    assert (report.conflicts, report.tested) == ((), 1)


def test_a_chain_is_settled_by_the_newest(kit: Any) -> None:
    texts = ["city = Madrid", "city = Berlin", "city = Rome"]
    superseded, report = conflicts_of(case(kit, texts, {(0, 1): 0.8, (1, 2): 0.8, (0, 2): 0.8}))
    assert superseded == {"m0": "m2", "m1": "m2"}
    assert len(report.conflicts) == 3
    # the oldest conflicts only with what is itself superseded, and is no less outdated for that
    assert conflicts_of(case(kit, texts, {(0, 1): 0.8, (1, 2): 0.8, (0, 2): 0.4}))[0] == {"m0": "m1", "m1": "m2"}


@pytest.mark.parametrize("days", [[5, 5], [5, 5, 5]])
def test_without_a_newer_side_both_stay(kit: Any, days: list[int]) -> None:
    texts = ["seat = window", "seat = aisle", "seat = none"][: len(days)]
    assembler = case(kit, texts, {(one, two): 0.8 for two in range(len(days)) for one in range(two)}, days=days)
    superseded, report = conflicts_of(assembler)
    assert superseded == {}
    assert report.conflicts
    assert not any(conflict.decided for conflict in report.conflicts)
    context = assembler.assemble("which", now=kit.now)
    assert len(context.selected_ids) == len(days)
    assert any("no newer side" in note for note in context.warnings)


def test_a_date_far_in_the_future_wins_nothing(kit: Any) -> None:
    texts = ["seat = window", "seat = aisle"]
    vectors = dict(zip([*texts, "which"], kit.with_cosines([[1, 0.84, 0.1], [0.84, 1, 0.1], [0.1, 0.1, 1]]), strict=True))
    for created, decided in (("2036-01-01", False), ("2026-03-03T08:00:00Z", True)):
        entries = [kit.memory("m0", texts[0], created_at="2026-01-01"), kit.memory("m1", texts[1], created_at=created)]
        context = kit.assembler(entries, encoder=kit.Given(vectors)).assemble("which", now=kit.now)
        assert [conflict.decided for conflict in context.conflicts.conflicts] == [decided]
        assert set(context.selected_ids) == ({"m1"} if decided else {"m0", "m1"})


def test_layers_do_not_contradict_each_other(kit: Any) -> None:
    assembler = kit.assembler(
        [kit.memory("m", "seat = window", created_at="2026-01-01")],
        procedures=[kit.procedure("p", "seat = aisle", created_at="2026-02-01")],
        episodes=[kit.episode("e", "seat = none", occurred_at="2026-02-02")],
    )
    assert set(assembler.assemble("seat", now=kit.now).selected_ids) == {"m", "p", "e"}


def test_switched_off_nothing_is_superseded(kit: Any) -> None:
    assembler = case(kit, ["seat = window", "seat = aisle"], {(0, 1): 0.84})
    context = assembler.assemble("which", now=kit.now, contradictions=False)
    assert set(context.selected_ids) == {"m0", "m1"}
    assert context.conflicts == ConflictReport()


def test_the_pair_and_its_reason_are_in_the_context(kit: Any) -> None:
    assembler = case(kit, ["seat = window", "seat = aisle"], {(0, 1): 0.84})
    context = assembler.assemble("which", now=kit.now)
    assert context.selected_ids == ("m1",)
    explanation = context.explain("m0")
    assert (explanation.fate, explanation.reason) == ("superseded", "contradicted by m1, which is newer")
    assert context.to_dict()["conflicts"] == [
        {"newer": "m1", "older": "m0", "similarity": 0.84, "reason": "exclusive value", "decided": True}
    ]
    # the store is as it was
    assert assembler.store["m0"].status == "active"


def test_reports_add_up() -> None:
    one = ConflictReport(
        conflicts=(Conflict(newer="a", older="b", similarity=0.8, reason="x", decided=True),), tested=3, below_band=4
    )
    assert combine([one, ConflictReport(tested=1), one]) == ConflictReport(conflicts=one.conflicts * 2, tested=7, below_band=8)
    assert combine([]) == ConflictReport()


def test_no_pairs(kit: Any) -> None:
    assembler = case(kit, ["seat = window"], {})
    assert conflicts_of(assembler) == ({}, ConflictReport())


def test_large_pools_are_the_same_on_any_number_of_blas_threads(kit: Any) -> None:
    from threadpoolctl import threadpool_limits

    entries = [
        kit.memory(f"m{number:03d}", f"topic {number % 7} = {number}", created_at=f"2026-01-{1 + number % 28:02d}")
        for number in range(200)
    ]
    assembler = kit.assembler(entries, config=AssemblyConfig(top_k=200, cap=200))
    results = []
    for threads in (1, 2):
        with threadpool_limits(threads):
            row = assembler.assemble("topic", now=kit.now).to_dict()
        del row["timings_ms"]
        results.append(row)
    assert results[0] == results[1]
    assert results[0]["conflicts"]
