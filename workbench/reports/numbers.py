"""Numbers as text for tables, figures and sentences. What is missing shows as a dash, what is not 0 never shows as 0.

A difference too small for the digits of its unit gets as many as it takes for two that count; a level shows as ``<0.001``.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TypeGuard

MISSING = "–"
MINUS = "−"
_DIGITS = {"share": 3, "tokens": 1, "entries": 2}
_TINY = 1e-6
"""Below this a difference is written with an exponent."""


def known(value: float | None) -> TypeGuard[float]:
    """True for a finite number."""
    return value is not None and math.isfinite(value)


def number(value: float | None, unit: str = "share", *, signed: bool = False) -> str:
    """A value in its unit: shares with 3 decimals, tokens 1, entries 2, milliseconds by size, anything else 3 digits."""
    if value is None or not math.isfinite(value):
        return MISSING
    size = abs(value)
    sign = MINUS if value < 0 else "+" if signed and value > 0 else ""
    if unit == "ms":
        text = _milliseconds(size)
        return text if text == "0.00" else sign + text
    if unit in _DIGITS:
        digits = _DIGITS[unit]
        text = f"{size:,.{digits}f}"
        if size and not float(text.replace(",", "")):
            if not sign:
                return f"<{10.0**-digits:.{digits}f}"
            text = f"{size:.{1 - math.floor(math.log10(size))}f}" if size >= _TINY else f"{size:.1e}".replace("e-", f"e{MINUS}")
        return sign + text
    return sign + f"{size:.3g}".replace("e-", f"e{MINUS}")


def _milliseconds(size: float) -> str:
    if size < 1e-6:  # below a nanosecond: what is left of adding floating-point numbers
        return "0.00"
    if size < 0.005:
        return "<0.01"
    return f"{size:.2f}" if size < 9.995 else f"{size:.1f}" if size < 99.95 else f"{size:,.0f}"


def interval(bounds: Sequence[float] | None, unit: str = "share", *, signed: bool = False) -> str:
    """``[low, high]``, or the sign for missing."""
    if bounds is None or len(bounds) != 2 or not all(known(end) for end in bounds):
        return MISSING
    return f"[{number(bounds[0], unit, signed=signed)}, {number(bounds[1], unit, signed=signed)}]"


def span(bounds: Sequence[float] | None, unit: str = "share", *, signed: bool = False) -> str:
    """``low to high`` for sentences, or the sign for missing."""
    return interval(bounds, unit, signed=signed).strip("[]").replace(", ", " to ")


def p_value(value: float | None) -> str:
    """A p-value with 3 decimals, ``<0.001`` below."""
    if value is None or not math.isfinite(value):
        return MISSING
    return "<0.001" if value < 0.001 else f"{value:.3f}"


def percent(part: float | None, whole: float | None = 1.0) -> str:
    """``part / whole`` in per cent; missing for a whole of 0. Neither 0 % nor 100 % unless it is exactly that."""
    if part is None or whole is None or not whole or not math.isfinite(part / whole):
        return MISSING
    share = 100.0 * part / whole
    text = f"{share:.1f}"
    if text == "0.0" and share > 0:
        return "<0.1 %"
    if text == "100.0" and share < 100:
        return ">99.9 %"
    return f"{text} %"


def whole(value: float | None) -> str:
    """A count with separators for thousands."""
    return MISSING if value is None or not math.isfinite(value) else f"{int(value):,}"


def plural(count: int, one: str, many: str | None = None) -> str:
    """``1 query``, ``2 queries``."""
    return f"{whole(count)} {one if count == 1 else many or one + 's'}"
