"""Making user text safe to show inside the prompt: one line, XML-escaped, nothing that XML 1.0 forbids."""

from __future__ import annotations

import html
import re

# Control characters, surrogates and the two non-characters that XML 1.0 (section 2.2) does not allow.
_FORBIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
# Blank runs this long carry no meaning, cost tokens and can overflow tiktoken's splitter.
# (The looks back keep a search from starting again at each blank of a run, which would take quadratic time.)
_LONG_BLANK = re.compile(r"(?<!\s)\s{33,}")
# Everything str.splitlines treats as a line end, with the blanks around it.
_BREAK = re.compile("(?:(?<![ \t])[ \t]+)?[\n\r\x0b\x0c\x1c-\x1e\x85\u2028\u2029]+\\s*")


def one_line(text: str) -> str:
    """``text`` on one line: line breaks and overlong blank runs become one blank, forbidden characters U+FFFD."""
    text = _LONG_BLANK.sub(" ", text)
    text = _BREAK.sub(" ", text)
    return _FORBIDDEN.sub("\ufffd", text).strip()


def escape_line(text: str) -> str:
    """``text`` on one line with ``&``, ``<`` and ``>`` escaped, so that no entry can open or close a section."""
    return html.escape(one_line(text), quote=False)


def unescape_line(line: str) -> str:
    """The inverse of the escaping of ``escape_line`` (folded breaks and replaced characters stay so)."""
    return line.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")


def escape_attribute(text: str) -> str:
    """``text`` for use between double quotes in an XML attribute."""
    return html.escape(one_line(text), quote=True)
