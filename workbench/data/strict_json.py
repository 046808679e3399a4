"""JSON as RFC 8259 has it, and nothing else: what the standard library lets pass is refused here.

Refused on top of plain syntax errors: ``NaN`` and ``Infinity``, numbers too large for a double (``1e999``), whole
numbers beyond 64 bits, a key twice in one object, lone surrogates (they cannot be written as UTF-8) and nesting too
deep to read.
"""

from __future__ import annotations

import json
import math
from typing import Any

from workbench.errors import DataError

WHOLE_LIMIT = 2**63
_MESSAGE_LIMIT = 600


class JsonFault(ValueError):
    """Text that is not strict JSON; the message is one line, without the place of the text."""


def shown(value: object, limit: int = 80) -> str:
    """``repr(value)`` for a message: cut to ``limit`` characters, never raising."""
    try:
        text = repr(value)
    except (RecursionError, ValueError):
        text = f"a {type(value).__name__} too large to show"
    return text if len(text) <= limit else text[: limit - 1] + "…"


def clipped(message: str) -> str:
    """A message cut to a readable length (values in it may be whole documents)."""
    return message if len(message) <= _MESSAGE_LIMIT else message[: _MESSAGE_LIMIT - 1] + "…"


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    row = dict(pairs)
    if len(row) != len(pairs):
        seen: set[str] = set()
        for key, _ in pairs:
            if key in seen:
                raise JsonFault(f"the key {shown(key)} stands twice in one object; keep one")
            seen.add(key)
    return row


def _whole(digits: str) -> int:
    # 20 characters hold every 64-bit number; longer ones may even be refused by int() itself
    if len(digits) <= 20:
        number = int(digits)
        if -WHOLE_LIMIT <= number < WHOLE_LIMIT:
            return number
    raise JsonFault(f"the number {shown(digits, 30)} does not fit into 64 bits; write it as text if it is an id")


def _real(digits: str) -> float:
    number = float(digits)
    if not math.isfinite(number):
        raise JsonFault(f"the number {shown(digits, 30)} is too large for a double")
    return number


def _constant(name: str) -> Any:
    raise JsonFault(f"{name} is not JSON; leave the field out or write a number")


_DECODER = json.JSONDecoder(object_pairs_hook=_object, parse_int=_whole, parse_float=_real, parse_constant=_constant, strict=True)


def parse_json(text: str) -> Any:
    """The value that ``text`` holds. Raises JsonFault (a ValueError) with a message naming what is wrong."""
    if text.startswith("\ufeff"):
        raise JsonFault("a byte order mark stands inside the file; save it as UTF-8 without one")
    try:
        value = _DECODER.decode(text)
    except JsonFault:
        raise
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}" if error.lineno > 1 else f"column {error.colno}"
        raise JsonFault(f"malformed JSON at {where}: {error.msg}") from None
    except RecursionError:
        raise JsonFault("nested too deeply to be read; data rows are flat") from None
    if "\\u" in text:
        _refuse_surrogates(value)
    return value


def _refuse_surrogates(value: Any) -> None:
    """Only ``\\uD800`` escapes can bring in lone surrogates: the text itself was decoded from UTF-8."""
    try:
        json.dumps(value, ensure_ascii=False).encode("utf-8")
        return
    except UnicodeEncodeError:
        pass
    except RecursionError:
        raise JsonFault("nested too deeply to be read; data rows are flat") from None
    field = ""
    if isinstance(value, dict):
        for key, part in value.items():
            try:
                json.dumps([key, part], ensure_ascii=False).encode("utf-8")
            except UnicodeEncodeError:
                field = f"{shown(key)} "
                break
    raise JsonFault(f"{field}has a lone surrogate escape (\\uD800-\\uDFFF without its partner): not Unicode text")


def decode_utf8(raw: bytes) -> str:
    """``raw`` as text. Raises JsonFault naming the first byte that is not UTF-8."""
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as error:
        raise JsonFault(
            f"not UTF-8 at byte {error.start + 1} of the line (0x{raw[error.start]:02x}); save the file as UTF-8"
        ) from None


def parse_document(raw: bytes, where: str) -> Any:
    """The value of a whole JSON file given as bytes (a UTF-8 byte order mark at its start is passed over).

    Raises DataError whose message begins with ``where`` and names the line.
    """
    body = raw.removeprefix(b"\xef\xbb\xbf")
    if body.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise DataError(f"{where} is UTF-16 text; save it as UTF-8")
    if not body.strip():
        raise DataError(f"{where} is empty; it must hold one JSON value")
    try:
        text = body.decode("utf-8")
    except UnicodeDecodeError as error:
        line = body.count(b"\n", 0, error.start) + 1
        raise DataError(f"{where}, line {line}: not UTF-8 (byte 0x{body[error.start]:02x}); save the file as UTF-8") from None
    try:
        return parse_json(text)
    except JsonFault as error:
        raise DataError(clipped(f"{where}: {error}")) from None
