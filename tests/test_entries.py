"""Entries are valid once they exist: every field that a caller can get wrong has a clear error."""

from __future__ import annotations

import json
import pickle
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.entries import Episode, Memory, Procedure, SoulBlock, entry_from_dict, epoch_seconds, utc
from workbench.errors import DataError

AT = "2026-03-01T09:00:00Z"


def memory(**fields: Any) -> Memory:
    return Memory(**{"id": "m1", "text": "The ferry leaves at noon", "created_at": AT, **fields})


BAD = float("nan"), float("inf"), -0.001, 1.001, 10**400, True, "0.5", None, [0.5], 1j, Decimal("0.5"), np.bool_(True)


@pytest.mark.parametrize("field", ["importance", "confidence"])
@pytest.mark.parametrize("value", BAD, ids=repr)
def test_scores_outside_the_unit_interval_are_refused(field: str, value: object) -> None:
    with pytest.raises(DataError, match=rf"memory 'm1': {field} is .*must be a number from 0 to 1"):
        memory(**{field: value})


@pytest.mark.parametrize("value", [0, 1, 0.25, np.float32(0.25), np.float64(0.25), np.int64(1)], ids=repr)
def test_numbers_of_numpy_become_plain_floats(value: Any) -> None:
    made = memory(importance=value)
    assert type(made.importance) is float
    assert made.importance == float(value)


def test_negative_zero_is_zero() -> None:
    assert str(memory(importance=-0.0).importance) == "0.0"


@pytest.mark.parametrize("value", [-1, 2**63, 1.0, True, "3", None, float("nan")], ids=repr)
def test_access_counts_are_whole_and_not_negative(value: object) -> None:
    with pytest.raises(DataError, match=r"access_count is .*must be a whole number from 0"):
        memory(access_count=value)


def test_access_counts_of_numpy_become_plain_ints() -> None:
    assert type(memory(access_count=np.int32(7)).access_count) is int
    assert memory(access_count=2**63 - 1).access_count == 2**63 - 1


@pytest.mark.parametrize("value", ["", "   ", "\n\t", None, 7, b"m1", "a\ud800"], ids=repr)
def test_ids_are_text_that_says_something(value: object) -> None:
    with pytest.raises(DataError, match=r"^id "):
        memory(id=value)


@pytest.mark.parametrize("value", [None, 7, b"bytes", ["text"], "half \ud83d pair"], ids=repr)
def test_texts_are_text_that_can_be_written(value: object) -> None:
    with pytest.raises(DataError, match=r"memory 'm1': text .*(must be text|lone surrogate at character 5)"):
        memory(text=value)


@pytest.mark.parametrize("value", ["", "  ", "…", "\x00\x07", "a" * 100_000, "\U0001f600\u202e"], ids=ascii)
def test_texts_are_kept_exactly(value: str) -> None:
    assert memory(text=value).text == value


# names of the cases must not depend on the order of a set, or workers of one test run disagree
@pytest.mark.parametrize("value", ["tag", b"tag", {"a"}, frozenset("a"), {"a": 1}, 5, None, ["a", 3], [None]], ids=repr)
def test_tags_are_an_ordered_list_of_texts(value: object) -> None:
    # the order of a set is another one in the next process, and tags can be part of what is indexed
    with pytest.raises(DataError, match=r"memory 'm1': tags"):
        memory(tags=value)


def test_tags_may_come_from_any_ordered_iterable() -> None:
    assert memory(tags=["b", "a"]).tags == ("b", "a")
    assert memory(tags=(tag for tag in "ba")).tags == ("b", "a")


@pytest.mark.parametrize("value", ["deleted", "", None, 1, ["active"], np.array(["active", "x"])], ids=repr)
def test_status_is_one_of_three(value: object) -> None:
    with pytest.raises(DataError, match="must be one of active, superseded, archived"):
        memory(status=value)


def test_an_update_cannot_come_before_the_creation() -> None:
    with pytest.raises(DataError, match=r"updated_at 2026-02-28.* is earlier than created_at 2026-03-01"):
        memory(updated_at="2026-02-28")
    assert memory().updated_at == memory().created_at


class _NoOffset(tzinfo):
    def __repr__(self) -> str:  # names the test case, so it must not hold an address
        return "NoOffset()"

    def utcoffset(self, moment: datetime | None) -> timedelta | None:
        return None


SAME_MOMENT = [
    "2026-03-01T09:00:00",
    "2026-03-01T09:00:00Z",
    " 2026-03-01T09:00:00+00:00 ",
    "2026-03-01T18:00:00+09:00",
    "20260301T090000Z",
    datetime(2026, 3, 1, 9),
    datetime(2026, 3, 1, 9, tzinfo=UTC),
    datetime(2026, 3, 1, 18, tzinfo=timezone(timedelta(hours=9))),
    datetime(2026, 3, 1, 9, tzinfo=_NoOffset()),
    pd.Timestamp("2026-03-01T09:00:00"),
    pd.Timestamp("2026-03-01T18:00:00.000000789", tz="Asia/Tokyo"),
]


@pytest.mark.parametrize("value", SAME_MOMENT, ids=repr)
def test_every_way_to_write_a_moment_is_one_plain_utc_datetime(value: datetime | str) -> None:
    moment = utc(value)
    assert type(moment) is datetime
    assert moment == datetime(2026, 3, 1, 9, tzinfo=UTC)
    assert moment.tzinfo is UTC
    assert memory(created_at=value).to_dict()["created_at"] == AT


@pytest.mark.parametrize(
    "value",
    [
        "", "yesterday", "2026-13-01", "2026-02-30", "1772356800", "2026-03-01T25:00", "\ud800", 1772356800, 1.5, None, pd.NaT,
        datetime(2026, 3, 1).date(), float("nan"), np.datetime64("2026-03-01"),
    ],
    ids=repr,
)  # fmt: skip
def test_what_is_no_moment_is_refused(value: Any) -> None:
    with pytest.raises(DataError, match="memory 'm1': created_at is"):
        memory(created_at=value)


@pytest.mark.parametrize("value", ["0001-01-01T00:00:00+05:00", "9999-12-31T23:00:00-05:00"])
def test_moments_outside_the_calendar_are_refused(value: str) -> None:
    with pytest.raises(DataError, match="outside the years 1 to 9999"):
        utc(value)


@given(st.datetimes(timezones=st.just(UTC)), st.datetimes(timezones=st.just(UTC)))
def test_seconds_keep_the_order_of_moments(one: datetime, two: datetime) -> None:
    assert (epoch_seconds(one) <= epoch_seconds(two)) >= (one <= two)
    assert abs(epoch_seconds(one) - (one - datetime(1970, 1, 1, tzinfo=UTC)) / timedelta(seconds=1)) < 1e-4


@pytest.mark.parametrize("kind", ["", "1a", "a b", "ä", "a>", "-a", "a\n", "x" * 65, None, 3], ids=repr)
def test_soul_kinds_are_element_names(kind: object) -> None:
    with pytest.raises(DataError, match="soul block 's1': kind"):
        SoulBlock(id="s1", text="calm", kind=kind)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("field", "value"),
    [("group", "mood"), ("group", None), ("active", 1), ("active", "yes"), ("priority", 1.5), ("priority", True),
     ("priority", 10**9 + 1), ("priority", "1"), ("text", None)],
)  # fmt: skip
def test_soul_fields_are_checked(field: str, value: object) -> None:
    with pytest.raises(DataError, match=f"soul block 's1': {field}"):
        SoulBlock(**{"id": "s1", "text": "calm", field: value})


ENTRIES = [
    memory(tags=("a", "ä"), category="preference", importance=0.9, access_count=3, status="superseded", source="chat"),
    memory(text="\u2028 \x00 🦩", updated_at="2026-03-01T10:00:00.000001+02:00", created_at="2026-02-28T00:00:00+05:30"),
    Episode(id="e1", summary="Regatta", topics=("boats",), outcome="second", occurred_at=AT),
    Procedure(id="p1", name="Ring the bell", steps=("walk", "pull"), created_at=AT),
    SoulBlock(id="s1", group="style", kind="style-guide", text="short", active=False, priority=-3),
]


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.id)
def test_entries_survive_json_and_pickle(entry: Any) -> None:
    row = json.loads(json.dumps(entry.to_dict(), allow_nan=False))
    assert entry_from_dict(row) == entry
    assert type(entry).from_dict(row) == entry
    assert pickle.loads(pickle.dumps(entry)) == entry
    assert hash(entry_from_dict(row)) == hash(entry)


def test_rows_with_unknown_or_missing_fields_name_them() -> None:
    row = memory().to_dict()
    with pytest.raises(DataError, match=r"unknown field colour, size for a memory; allowed: access_count, category"):
        entry_from_dict({**row, "size": 1, "colour": 2})
    del row["text"]
    with pytest.raises(DataError, match="a memory lacks the field 'text'"):
        entry_from_dict(row)
    with pytest.raises(DataError, match="layer is 'note': must be one of memory, episode, procedure, soul"):
        entry_from_dict({"layer": "note"})
    with pytest.raises(DataError, match="layer is None"):
        entry_from_dict({})


def test_entries_cannot_be_changed() -> None:
    with pytest.raises(AttributeError):
        memory().text = "other"  # type: ignore[misc]
