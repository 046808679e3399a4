"""Values made from parts: invented persons, places, firms and codes, and times and sums as a language writes them."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta

from workbench.data.synthetic.streams import Stream
from workbench.data.synthetic.wording import wording

NOW = datetime.fromisoformat("2026-06-01T09:00:00+00:00")
"""The moment at which every judged query is asked."""

_JOBS = ("importer", "mailer", "scheduler", "exporter", "checkout", "indexer", "billing run", "watchdog", "crawler")
Make = Callable[[Stream, str], str]


def part(stream: Stream, pool: str, language: str = "en") -> str:
    """One plain value of a pool."""
    return stream.pick(wording(language).pools[pool]).source


def place(stream: Stream, _: str = "en") -> str:
    """An invented one-word name, such as ``Tarnmere``."""
    return part(stream, "place_a") + part(stream, "place_b")


def town(stream: Stream, _: str = "en") -> str:
    """An invented town, such as ``Tarnmereford``; two parts or three."""
    head = part(stream, "place_a") + (part(stream, "place_b") if stream.chance(60) else "")
    return head + part(stream, "town_b")


def surname(stream: Stream, _: str = "en") -> str:
    return part(stream, "surname_a") + part(stream, "surname_b")


def first_name(stream: Stream, _: str = "en") -> str:
    return part(stream, "first")


def full_name(stream: Stream, _: str = "en") -> str:
    return f"{first_name(stream)} {surname(stream)}"


def firm(stream: Stream, _: str = "en") -> str:
    head = surname(stream) if stream.chance(50) else place(stream)
    return f"{head} {part(stream, 'firm_b')}"


def model(stream: Stream, _: str = "en") -> str:
    """A type designation, such as ``KX-907``."""
    letters = "".join(chr(65 + stream.below(26)) for _ in range(2))
    return f"{letters}-{stream.between(11, 9_899)}"


def ticket(stream: Stream, _: str = "en") -> str:
    letters = "".join(chr(65 + stream.below(26)) for _ in range(3))
    return f"{letters}-{stream.between(1_001, 99_899)}"


def contract(stream: Stream, _: str = "en") -> str:
    return f"{chr(65 + stream.below(26))}{stream.between(10, 99)}/{stream.between(10_001, 99_899)}"


def booking(stream: Stream, _: str = "en") -> str:
    return f"{part(stream, 'place_a').upper()}-{stream.between(101, 998)}{chr(65 + stream.below(26))}"


def daemon(stream: Stream, _: str = "en") -> str:
    """The name of a program, such as ``tarnmered``."""
    return place(stream).lower() + stream.pick(("d", "ctl", "bot", "hub", "run", "mon"))


def codename(stream: Stream, _: str = "en") -> str:
    return f"{part(stream, 'code_adjective')} {part(stream, 'code_noun')}"


def camel(stream: Stream, _: str = "en") -> str:
    """A function name, such as ``mergePayoutsOnce``."""
    tail = part(stream, "tail_code") if stream.chance(70) else ""
    return part(stream, "verb_code") + part(stream, "noun_code") + tail


def snake(stream: Stream, _: str = "en") -> str:
    """A column name, such as ``order_total_cents``."""
    return "_".join(part(stream, pool) for pool in ("snake_a", "snake_b", "snake_c"))


def spoken(identifier: str) -> str:
    """An identifier as people say it: ``merge payouts once``, ``order total cents``."""
    spaced = "".join(f" {letter.lower()}" if letter.isupper() else letter for letter in identifier)
    return spaced.replace("_", " ").strip()


def file_name(stream: Stream, _: str = "en") -> str:
    suffix = stream.pick((".py", ".rs", ".go", ".kt", ".ts", ".ex"))
    return f"{part(stream, 'snake_a')}s/{part(stream, 'snake_b')}_{part(stream, 'verb_code')}{suffix}"


def component(stream: Stream, _: str = "en") -> str:
    return f"the {place(stream).lower()} {stream.pick(_JOBS)}"


def clock(stream: Stream, _: str = "en") -> str:
    """A time of day on a quarter, such as ``09:45``."""
    return f"{stream.between(7, 20):02d}:{15 * stream.below(4):02d}"


def clock_ko(stream: Stream, _: str = "ko") -> str:
    half = stream.pick(("", " 30분"))
    return f"저녁 {stream.between(5, 9)}시{half}"


def money(stream: Stream, language: str = "en") -> str:
    amount = 5 * stream.between(9, 380)
    if language == "de":
        return f"{amount} Euro"
    return f"{amount} euros"


def money_ko(stream: Stream, _: str = "ko") -> str:
    return f"{stream.between(12, 140)}만 원"


def big_money(stream: Stream, _: str = "en") -> str:
    return f"{5 * stream.between(3, 180)},000 euros"


def number(stream: Stream, _: str = "en") -> str:
    return str(stream.between(3, 60))


def digits(stream: Stream, _: str = "en") -> str:
    return str(stream.between(1_001, 9_899))


def version(stream: Stream, _: str = "en") -> str:
    return f"release {stream.between(1, 9)}.{stream.between(0, 19)}"


def bay(stream: Stream, _: str = "en") -> str:
    return f"{stream.pick('ABCDEFGH')}{stream.between(1, 99)}"


def doctor(stream: Stream, _: str = "en") -> str:
    return f"Dr {surname(stream)}"


def month_name(month: int, language: str) -> str:
    return wording(language).pools["month"][month - 1].source


def future_date(stream: Stream, language: str = "en") -> str:
    """A day in the ten months after ``NOW``, written out."""
    day = NOW + timedelta(days=stream.between(6, 300))
    name = month_name(day.month, language)
    if language == "ko":
        return f"{name} {day.day}일"
    if language == "de":
        return f"{day.day}. {name}"
    return f"{day.day} de {name}" if language in ("es", "pt") else f"{day.day} {name}"


def month_and_year(moment: datetime, language: str) -> str:
    """``March 2026`` as the language writes it."""
    name = month_name(moment.month, language)
    if language == "ko":
        return f"{moment.year}년 {name}"
    return f"{name} de {moment.year}" if language in ("es", "pt") else f"{name} {moment.year}"


def pet_name(stream: Stream, _: str = "en") -> str:
    return part(stream, "pet_first")


def place_ko(stream: Stream, _: str = "ko") -> str:
    return part(stream, "place_a_ko", "ko") + part(stream, "place_b_ko", "ko")


def name_ko(stream: Stream, _: str = "ko") -> str:
    return part(stream, "name_b_ko", "ko") + part(stream, "name_a_ko", "ko")


def town_ko(stream: Stream, _: str = "ko") -> str:
    head = part(stream, "place_a_ko", "ko") + part(stream, "town_b_ko", "ko")
    return f"{head} {stream.pick(('마을', '읍', '동네', '나루', '장터'))}"


MAKERS: dict[str, Make] = {
    "placename": place, "town": town, "newtown": town, "surname": surname, "firstname": first_name, "newname": full_name,
    "fullname": full_name, "firm": firm, "newfirm": firm, "model": model, "ticket": ticket, "contract": contract,
    "booking": booking, "daemon": daemon, "codename": codename, "camel": camel, "snake": snake, "filename": file_name,
    "component": component, "clock": clock, "clock_ko": clock_ko, "money": money, "money_ko": money_ko, "bigmoney": big_money,
    "num": number, "digits": digits, "version": version, "bay": bay, "doctor": doctor, "futuredate": future_date,
    "futuredate_ko": future_date, "placename_ko": place_ko, "petname": pet_name, "name_ko": name_ko, "town_ko": town_ko,
}  # fmt: skip
"""Slot name -> maker, for values that are not in a pool."""
