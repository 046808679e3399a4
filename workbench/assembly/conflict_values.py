"""Numbers, amounts, clock times and dates in a token sequence, normalised so that equal values compare equal.

Units are folded into one base unit per dimension (grams, metres, seconds, bytes, ...), 3 pm and 15:00 into minutes of a day.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from workbench.assembly.conflict_lexicon import FLAGS, Word
from workbench.assembly.conflict_units import UNITS, Value

_FUNC, _PREP, _CAP, _CODE = FLAGS["func"], FLAGS["prep"], FLAGS["cap"], FLAGS["code"]


_MULTIPLIERS = {
    "k": 1e3,
    "thousand": 1e3,
    "million": 1e6,
    "mil": 1e3,
    "tausend": 1e3,
    "만": 1e4,
    "천": 1e3,
    "억": 1e8,
    "bn": 1e9,
}
_LABELS = frozenset(("extension", "room", "locker", "desk", "platform", "channel", "durchwahl", "extensión", "ramal"))
"""Words whose number is a name: 1924 is no year behind them."""
_ISO = re.compile(r"(\d{4})-(\d{2})-(\d{2})")
_DMY = re.compile(r"(\d{1,2})[./](\d{1,2})[./](\d{2,4})")
_CLOCK = re.compile(r"(\d{1,2})[:h](\d{2})")
_KO_TAIL = re.compile(r"(이다|입니다|이며|이고|부터|까지|에서|마다|에|은|는|이|가|을|를|로|으로|다|쯤|간|의)+$")
_KO_HALF = {"오전": 0, "오후": 12, "아침": 0, "저녁": 12, "밤": 12, "낮": 12}


def _number(text: str) -> float:
    """Reads digits with thousands separators; a single separator followed by three digits separates thousands."""
    body = text[:40]
    if "," in body and "." in body:
        body = body.replace(",", "") if body.rfind(".") > body.rfind(",") else body.replace(".", "").replace(",", ".")
    elif re.fullmatch(r"\d{1,3}([.,]\d{3})+", body):
        body = body.replace(",", "").replace(".", "")
    else:
        body = body.replace(",", ".")
    try:
        return float(body)
    except ValueError:  # several points: a version or an address
        return float(re.sub(r"\D", "", body) or 0)


def _unit(low: str, language: str) -> tuple[str, float] | None:
    found = UNITS.get(low)
    if found is None and language == "ko":
        found = UNITS.get(_KO_TAIL.sub("", low[:16]))
    return found


def _clock(hour: float, minute: int, known: bool) -> tuple[int, int]:
    return (int(hour) % 24 * 60 + minute, 1 if known else 0)


def read_value(lows: Sequence[str], words: Sequence[Word], i: int, at: int, language: str) -> tuple[Value | None, int]:
    """Reads the value that starts at token `i`.

    Args:
        lows: lower-case tokens.
        words: their words.
        i: a token that starts with a digit or is a number word, a currency sign, a weekday or a month.
        at: number of content keys read so far.
        language: language of the text.

    Returns:
        The value (None if the token starts none) and the index of the first token after it.
    """
    n = len(lows)
    low, word = lows[i], words[i]
    previous = lows[i - 1] if i else ""
    following = lows[i + 1] if i + 1 < n else ""
    if word.weekday >= 0:
        habit = previous in ("every", "each", "jeden", "cada", "los", "toda", "todas", "às", "매주")
        if low[0] != "(" and (low.endswith("s") and language in ("en", "de") and low not in ("tues", "thurs")):
            habit = True
        habit = habit or following in ("mornings", "afternoons", "evenings", "nights", "lunchtimes")
        return Value("habit" if habit else "weekday", float(word.weekday), "", at), i + 1
    if word.month:
        if following[:1].isdecimal() and "." not in following[:-1] and _number(following) <= 31:
            return Value("date", (0, word.month, int(_number(following))), "", at), i + 2
        return Value("month", float(word.month), "", at), i + 1
    match = _ISO.fullmatch(low)
    if match:
        return Value("date", (int(match[1]), int(match[2]), int(match[3])), "", at), i + 1
    match = _DMY.fullmatch(low)
    if match:
        return Value("date", (int(match[3]) % 100 + 2000, int(match[2]), int(match[1])), "", at), i + 1
    match = _CLOCK.fullmatch(low)
    if match and int(match[1]) < 25 and int(match[2]) < 60:
        if previous == "in":
            return Value("elapsed", float(int(match[1]) * 60 + int(match[2])), "", at), i + 1
        hour, end = int(match[1]), i + 1
        if following[:1] in ("a", "p") and following.replace(".", "") in ("am", "pm"):
            return Value("clock", _clock(hour % 12 + (12 if following[0] == "p" else 0), int(match[2]), True), "", at), i + 2
        return Value("clock", _clock(hour, int(match[2]), hour > 12 or low[0] == "0"), "", at), end
    currency = None
    if low in UNITS and not low[:1].isdecimal() and word.number is None:
        currency = UNITS[low]
        i += 1
        if i >= n or not lows[i][:1].isdecimal():
            return None, i
        low, word = lows[i], words[i]
    return _amount(lows, words, i, at, language, currency)


def _amount(
    lows: Sequence[str], words: Sequence[Word], i: int, at: int, language: str, currency: tuple[str, float] | None
) -> tuple[Value | None, int]:
    """Reads a number with its multipliers, then decides by its neighbours what it measures."""
    n = len(lows)
    low = lows[i]
    start = i
    amount = _number(low) if low[:1].isdecimal() else float(words[i].number or 0.0)
    i += 1
    while i < n:
        multiplier = _MULTIPLIERS.get(lows[i]) or (100.0 if lows[i] == "hundred" else None)
        if multiplier:
            amount *= multiplier
        elif (words[i].number or amount) < amount and amount >= 20 and not lows[i][:1].isdecimal():
            amount += float(words[i].number or 0.0)
        elif lows[i : i + 3] == ["and", "a", "half"]:
            amount += 0.5
            i += 2
        else:
            break
        i += 1
    if i < n and lows[i] == "-":
        i += 1
    following = lows[i] if i < n else ""
    before = lows[start - 1] if start else ""
    if currency:
        return Value(currency[0], amount * currency[1], "", at), i
    clock = _spoken_clock(lows, start, i, amount, following, before, language)
    if low == "halb":
        return None, i  # the hour behind it says which
    if low in ("half", "quarter"):
        if following in ("past", "to") and i + 1 < n and (lows[i + 1].isdecimal() or words[i + 1].number is not None):
            hour = float(lows[i + 1]) if lows[i + 1].isdecimal() else float(words[i + 1].number or 0.0)
            minute = 30 if low == "half" else 15
            shown = _clock(hour, minute, False) if following == "past" else _clock(hour - 1, 60 - minute, False)
            return Value("clock", shown, "", at), i + 2
        if low == "quarter":
            return None, i
    if clock:
        return Value("clock", clock[0], "", at), clock[1]
    date = _spoken_date(lows, words, i, amount, following, before)
    if date:
        return Value(date[0], date[1], "", at), date[2]
    unit = _unit(following, language)
    if unit:
        i += 1
        if lows[i : i + 3] == ["and", "a", "half"]:
            amount += 0.5
            i += 3
        item = ""
        j = i + 1 if i < n and lows[i] in ("of", "de") else i
        if j < n and words[j].key and (j > i or language == "de"):
            item = words[j].key
        return Value(unit[0], amount * unit[1], item, at), i
    if before in _LABELS and words[start - 1].key and low.isdecimal():
        return Value(f"of:{words[start - 1].key}", amount, "", at), i
    if 1900 <= amount <= 2100 and low.isdecimal() and len(low) == 4:
        return Value("year", amount, "", at), i
    if start and words[start - 1].flags & (_CAP | _CODE) and words[start - 1].key and low[:1].isdecimal():
        return Value(f"of:{words[start - 1].key}", amount, "", at), i
    for j in range(i, min(i + 2, n)):
        if words[j].key:
            return Value(f"of:{words[j].key}", amount, words[j].key, at), i
        if words[j].flags & _PREP or not words[j].flags:
            break
    return Value("plain", amount, "", at), i


def _spoken_clock(
    lows: Sequence[str], start: int, i: int, amount: float, following: str, before: str, language: str
) -> tuple[tuple[int, int], int] | None:
    """Times without a colon: `4 pm`, `at eight`, `19 Uhr`, `7h`, `오후 두 시 반`."""
    if amount > 24 or amount != int(amount):
        return None
    if following.replace(".", "") in ("am", "pm"):
        return _clock(amount % 12 + (12 if following[0] == "p" else 0), 0, True), i + 1
    if following == "uhr":
        minute = int(lows[i + 1]) if i + 1 < len(lows) and lows[i + 1].isdecimal() and int(lows[i + 1]) < 60 else 0
        return _clock(amount, minute, amount > 12), i + 1
    if language == "de" and (before == "um" or before == "halb") and not _unit(following, language) and amount >= 1:
        return (_clock(amount - 1, 30, False) if before == "halb" else _clock(amount, 0, amount > 12)), i
    if following == "o'clock":
        return _clock(amount, 0, False), i + 1
    if language == "ko":
        tail = _KO_TAIL.sub("", following)
        if tail == "시":
            half = _KO_HALF.get(before)
            minute = 30 if i + 1 < len(lows) and lows[i + 1].startswith("반") else 0
            if half is None:
                return _clock(amount, minute, amount > 12), i + 1
            return _clock(amount % 12 + half, minute, True), i + 1
        return None
    if following == "h" and before in ("às", "as", "las", "a", "à"):
        return _clock(amount, 0, amount > 12), i + 1
    if language == "es" and before in ("las", "la") and start >= 2 and lows[start - 2] in ("a", "de"):
        return _clock(amount, 30 if lows[i : i + 2] == ["y", "media"] else 0, amount > 12), i
    if language == "pt" and before == "às" and not _unit(following, language):
        return _clock(amount, 0, amount > 12), i
    if language == "en" and before in ("at", "by", "around") and not _unit(following, language) and amount >= 1:
        later = lows[i : i + 4]
        if (
            not following
            or following in (".", ",", ";")
            or not following[:1].isalpha()
            or any(
                token in ("in", "on", "every", "each", "now", "these", "sharp", "and", "today", "tomorrow", "from")
                for token in later[:1]
            )
        ):
            return _clock(amount, 0, False), i
    return None


def _spoken_date(
    lows: Sequence[str], words: Sequence[Word], i: int, amount: float, following: str, before: str
) -> tuple[str, tuple[int, ...], int] | None:
    """`14 June`, `4. März`, `1 de mayo`, `the 4th`, `3월 4일`."""
    if not 1 <= amount <= 31 or amount != int(amount):
        return None
    n = len(lows)
    ordinal = following in ("st", "nd", "rd", "th")
    j = i + 1 if ordinal or following in (".", "de", "월") else i
    if following == "월" and j < n and lows[j][:1].isdecimal():
        return "date", (0, int(amount), int(_number(lows[j]))), min(j + 2, n)
    if j < n and ordinal and lows[j] == "of":
        j += 1
    if j < n and words[j].month:
        year = int(lows[j + 1]) if j + 1 < n and lows[j + 1].isdecimal() and len(lows[j + 1]) == 4 else 0
        return "date", (year, words[j].month, int(amount)), j + (2 if year else 1)
    if ordinal and before in ("the", "on"):
        return "date", (0, 0, int(amount)), i + 1
    return None


def differ(one: Value, other: Value) -> bool:
    """Whether two values of one dimension cannot be the same value. Unknown parts of dates and times match anything."""
    a, b = one.amount, other.amount
    if isinstance(a, tuple) and isinstance(b, tuple):
        if one.dimension == "clock":
            period = 1440 if a[1] and b[1] else 720
            return a[0] % period != b[0] % period
        return any(x and y and x != y for x, y in zip(a, b, strict=True))
    if isinstance(a, tuple) or isinstance(b, tuple):
        return False
    return abs(a - b) > 1e-6 * max(abs(a), abs(b), 1.0)
