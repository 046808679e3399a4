"""Strict JSON: what the standard library lets pass is refused with a reason."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.data.strict_json import JsonFault, clipped, decode_utf8, parse_document, parse_json, shown
from workbench.errors import DataError


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('{"a": NaN}', "NaN is not JSON"),
        ("[Infinity]", "Infinity is not JSON"),
        ("[-Infinity]", "-Infinity is not JSON"),
        ("[1e999]", "too large for a double"),
        ("[-1e999]", "too large for a double"),
        ("[9223372036854775808]", "does not fit into 64 bits"),
        ("[-9223372036854775809]", "does not fit into 64 bits"),
        ("[" + "9" * 100_000 + "]", "does not fit into 64 bits"),
        ("[" * 100_000 + "]" * 100_000, "nested too deeply"),
        ('{"a":' * 100_000, "nested too deeply"),
        ('{"a": 1, "a": 1}', "'a' stands twice"),
        ('{"x": {"b": 1, "c": 2, "b": 3}}', "'b' stands twice"),
        ("\ufeff{}", "byte order mark"),
        ('{"note": "\\ud800"}', "'note' has a lone surrogate"),
        ('{"\\udfff": 1}', "lone surrogate"),
        ('["\\ude00\\ud83d"]', "lone surrogate"),
        ("{", "malformed JSON at column 2"),
        ("{}\n{}", "malformed JSON at line 2, column 1: Extra data"),
        ("'a'", "malformed JSON"),
        ('["\t"]', "malformed JSON"),
        ("", "malformed JSON"),
    ],
)
def test_refused(text: str, reason: str) -> None:
    with pytest.raises(JsonFault) as caught:
        parse_json(text)
    assert reason in str(caught.value)
    assert len(str(caught.value)) < 400
    str(caught.value).encode("utf-8")


def test_limits_and_escapes_pass() -> None:
    assert parse_json("[9223372036854775807, -9223372036854775808, 1.5e308]") == [2**63 - 1, -(2**63), 1.5e308]
    assert parse_json('"\\ud83d\\ude00"') == "😀"
    assert parse_json("\t[1]\r\n") == [1]


@given(
    st.recursive(
        st.none()
        | st.booleans()
        | st.integers(-(2**63), 2**63 - 1)
        | st.floats(allow_nan=False, allow_infinity=False)
        | st.text(st.characters(exclude_categories=["Cs"])),
        lambda part: st.lists(part) | st.dictionaries(st.text(st.characters(exclude_categories=["Cs"])), part),
        max_leaves=8,
    ),
    st.booleans(),
)
def test_agrees_with_the_standard_library_on_strict_json(value: object, ascii_only: bool) -> None:
    assert parse_json(json.dumps(value, ensure_ascii=ascii_only)) == value


def test_decoding_names_the_byte() -> None:
    with pytest.raises(JsonFault, match=r"byte 3 of the line \(0xff\)"):
        decode_utf8(b"ab\xff")


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        (b"", "f.json is empty"),
        (b"\xef\xbb\xbf \r\n", "f.json is empty"),
        (b"\xff\xfe{\x00}\x00", "UTF-16"),
        (b'{\n"a": "\xe9"}', "f.json, line 2: not UTF-8 (byte 0xe9)"),
        (b'{\n"a": x}', "f.json: malformed JSON at line 2"),
    ],
)
def test_documents(raw: bytes, reason: str) -> None:
    with pytest.raises(DataError) as caught:
        parse_document(raw, "f.json")
    assert reason in str(caught.value)


def test_document_may_begin_with_a_byte_order_mark() -> None:
    assert parse_document(b'\xef\xbb\xbf{"a": 1}', "f.json") == {"a": 1}


def test_shown_never_raises_and_is_short() -> None:
    deep: list[object] = []
    for _ in range(5000):
        deep = [deep]
    assert shown(deep) == "a list too large to show"
    assert "int" in shown(10**5000)
    assert len(shown("x" * 1000)) == 80
    assert len(clipped("x" * 10_000)) == 600
