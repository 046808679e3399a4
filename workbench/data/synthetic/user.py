"""One user: a store, its judged queries and the labels of what was planted."""

from __future__ import annotations

from dataclasses import dataclass

from workbench.data.judged import JudgedQuery
from workbench.data.synthetic.cast import Cast
from workbench.data.synthetic.draft import Book, Planted
from workbench.data.synthetic.facts import plant_facts
from workbench.data.synthetic.families import plant_families
from workbench.data.synthetic.filler import fill
from workbench.data.synthetic.layers import plant_procedures, plant_recurring, write_soul
from workbench.data.synthetic.plan import plan
from workbench.data.synthetic.singles import plant_paraphrases, plant_preferences
from workbench.data.synthetic.streams import Stream
from workbench.data.synthetic.things import plant_things
from workbench.data.synthetic.timeline import DAY
from workbench.data.synthetic.twins import plant_twins
from workbench.store.user import UserStore


@dataclass(frozen=True, eq=False)
class SyntheticUser:
    """A generated user. queries and planted name entries of ``store``."""

    store: UserStore
    queries: tuple[JudgedQuery, ...]
    planted: tuple[Planted, ...]


def synthesize_user(index: int, *, size: int, seed: int, languages: tuple[str, ...]) -> SyntheticUser:
    """User number ``index`` of a generated set; depends on these arguments alone, so users can be made in any order and place.

    The second language goes round the ones after the first. Every part of the life draws from a stream of its own, named by seed,
    user and part.
    """
    counts = plan(size)
    others = languages[1:]
    second = others[index % len(others)] if others else ""

    def stream(part: str) -> Stream:
        return Stream(seed, "user", index, part)

    cast = Cast.create(stream("cast"), size, second)
    span = stream("span").between(400, 1_095) * DAY
    book = Book(f"{cast.surname.lower()}-{index + 1:04d}", cast, span, counts.memories)
    plant_twins(book, seed, index, stream("twins"))
    plant_families(book, stream("families"), counts.families, counts.family_size, second)
    plant_facts(book, stream("facts"), counts, second)
    plant_things(book, stream("things"), counts, second)
    plant_paraphrases(book, stream("paraphrases"), counts.paraphrases, second)
    plant_preferences(book, stream("preferences"), counts.preferences, second)
    plant_procedures(book, stream("procedures"), counts.procedures, second)
    plant_recurring(book, stream("recurring"), counts.recurring, second)
    write_soul(book, stream("soul"))
    fill(book, stream("filler"), counts, second)
    store, queries, planted = book.finish(stream("ids"))
    return SyntheticUser(store, tuple(queries), tuple(planted))
