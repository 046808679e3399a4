"""User text is safe wherever the prompt puts it: one line, escaped, nothing that XML 1.0 forbids."""

from __future__ import annotations

import subprocess
import sys
import xml.etree.ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.text.escape import escape_attribute, escape_line, one_line, unescape_line

any_text = st.text(st.characters(), max_size=60) | st.text(
    st.sampled_from(" \t\n\r\x0b\x0c\x1c\x1d\x1e\x1f\x85\u2028\u2029\u00a0\u3000<>&;\"'#ab-\x00\x07\ufffe\uffff\ud800"),
    max_size=60,
)


@given(any_text)
def test_the_result_is_one_stripped_line(text: str) -> None:
    line = one_line(text)
    assert line == line.strip()
    assert len(line.splitlines()) <= 1
    assert one_line(line) == line


@given(any_text)
def test_escaped_text_is_well_formed_content_and_reads_back(text: str) -> None:
    line = escape_line(text)
    assert unescape_line(line) == one_line(text)
    assert "<" not in line
    assert ">" not in line
    assert (ET.fromstring(f"<a>{line}</a>").text or "") == one_line(text)


@given(any_text)
def test_escaped_attributes_read_back(text: str) -> None:
    # a parser turns the blanks it may meet in an attribute into plain ones; tabs are the only ones left
    read = ET.fromstring(f'<a b="{escape_attribute(text)}"/>').get("b")
    assert read == one_line(text).replace("\t", " ")


@given(st.text(st.characters(exclude_categories=["Cc", "Cs", "Zl", "Zp"], exclude_characters="\ufffe\uffff"), max_size=60))
def test_ordinary_text_is_kept(text: str) -> None:
    assert unescape_line(escape_line(text)) == text.strip()


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("a\nb", "a b"),
        ("a \t\r\n \n  b", "a b"),
        ("a\u2028b\u2029c\x85d\x0be\x0cf", "a b c d e f"),
        ("\n\n", ""),
        ("tea \x00 bell \x07", "tea \ufffd bell \ufffd"),
        ("a\x1fb", "a\ufffdb"),
        ("half \ud83d pair", "half \ufffd pair"),
        ("\ufffe\uffff", "\ufffd\ufffd"),
        ("a  b", "a  b"),
        ("a" + " " * 32 + "b", "a" + " " * 32 + "b"),
        ("a" + " " * 33 + "b", "a b"),
        ("a" + " " * 20 + "\n" + " " * 20 + "b", "a b"),
        ("\u3000" * 40, ""),
        ("- item", "- item"),
        ("## Workflows", "## Workflows"),
    ],
    ids=ascii,
)
def test_examples(text: str, line: str) -> None:
    assert one_line(text) == line


def test_escaping_twice_reads_back_once() -> None:
    assert unescape_line(escape_line("&lt;b&gt; &amp;amp; <i>")) == "&lt;b&gt; &amp;amp; <i>"


def test_long_runs_take_linear_time() -> None:
    # a quadratic expression takes hours for this; the limit only has to tell hours from seconds
    code = """
from workbench.text.escape import escape_line
for run in (" ", "\\t", "\\u3000", " \\t", "\\n", "&", " " * 32 + "x", " " * 32 + "\\n", "\\t" * 32 + "\\u3000"):
    escape_line("a" + run * (1_000_000 // len(run)) + "b")
"""
    subprocess.run([sys.executable, "-c", code], check=True, timeout=120)
