"""What a user store holds: memories, episodes, procedures and Soul blocks, each checked when it is made.

An entry that exists is valid: ids are non-empty text, scores lie in [0, 1], times are timezone-aware UTC. Times may be
given as ``datetime`` or as ISO 8601 text; a time without a zone is read as UTC, by this one rule, everywhere. Texts are kept
exactly as given (escaping happens when a prompt is rendered), only text that cannot be written as UTF-8 is refused.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass, fields
from datetime import UTC, datetime, timedelta
from numbers import Integral, Real
from typing import Any, ClassVar, Literal

from workbench.errors import DataError

Layer = Literal["memory", "episode", "procedure", "soul"]
LAYERS: tuple[Layer, ...] = ("memory", "episode", "procedure")
STATUSES = ("active", "superseded", "archived")
SOUL_GROUPS = ("soul", "style", "context")
PREFERENCE = "preference"
MAX_ACCESS_COUNT = 2**63 - 1


def utc(value: datetime | str, *, field: str = "time") -> datetime:
    """Return ``value`` as an aware UTC datetime.

    Text must be ISO 8601 (a trailing ``Z`` is fine). A value without a zone means UTC. Raises DataError otherwise.
    """
    moment: datetime
    if isinstance(value, str):
        try:
            moment = datetime.fromisoformat(value.strip())
        except ValueError:
            raise DataError(
                f"{field} is {value!r}: not an ISO 8601 date and time; write for example 2026-03-01T09:00:00Z"
            ) from None
    elif isinstance(value, datetime):
        # pandas timestamps are datetimes too; their NaT has no parts to convert
        if value != value:
            raise DataError(f"{field} is {value!r}: not a time; give a datetime or ISO 8601 text")
        moment = value
    else:
        raise DataError(f"{field} is {value!r} ({type(value).__name__}): give a datetime or ISO 8601 text")
    try:
        moment = moment.replace(tzinfo=UTC) if moment.utcoffset() is None else moment.astimezone(UTC)
    except OverflowError:
        raise DataError(f"{field} is {value!r}: outside the years 1 to 9999 in UTC; correct the date") from None
    # a plain datetime, whatever subclass came in: pandas timestamps carry nanoseconds that no field here keeps
    return datetime(
        moment.year, moment.month, moment.day, moment.hour, moment.minute, moment.second, moment.microsecond, tzinfo=UTC
    )


_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def epoch_seconds(moment: datetime) -> float:
    """Seconds since 1970-01-01 UTC, exact to the microsecond (``datetime.timestamp`` rounds through the C library)."""
    delta: timedelta = moment - _EPOCH
    return delta.days * 86_400.0 + delta.seconds + delta.microseconds / 1e6


def checked_text(value: object, field: str, *, empty: bool = True) -> str:
    if not isinstance(value, str):
        raise DataError(f"{field} is {value!r} ({type(value).__name__}): must be text")
    try:
        value.encode("utf-8")
    except UnicodeEncodeError as error:
        raise DataError(
            f"{field} has a lone surrogate at character {error.start}: it cannot be written as UTF-8; "
            "decode the source again with the right encoding"
        ) from None
    if not empty and not value.strip():
        raise DataError(f"{field} is {value!r}: must not be empty")
    return value


def _is_number(value: object, kind: type) -> bool:
    # numpy's scalars are Real and Integral too, and so is bool, which is none here
    return isinstance(value, kind) and not isinstance(value, bool)


def _unit(value: Any, field: str) -> float:
    # the comparison also refuses NaN, and whole numbers too large for a float
    if not _is_number(value, Real) or not 0 <= value <= 1:
        raise DataError(f"{field} is {value!r}: must be a number from 0 to 1")
    return float(value) + 0.0  # -0.0 is 0.0


def checked_texts(value: object, field: str) -> tuple[str, ...]:
    if isinstance(value, (str, bytes, Mapping, Set)) or not isinstance(value, Iterable):
        # a set has no order, so the same input would not give the same bytes
        raise DataError(f"{field} is {value!r}: must be a list of texts")
    return tuple(checked_text(item, f"{field}[{number}]") for number, item in enumerate(value))


def _count(value: Any, field: str) -> int:
    if not _is_number(value, Integral) or not 0 <= value <= MAX_ACCESS_COUNT:
        raise DataError(f"{field} is {value!r}: must be a whole number from 0 to {MAX_ACCESS_COUNT}")
    return int(value)


def _one_of(value: object, field: str, allowed: tuple[str, ...]) -> str:
    if not isinstance(value, str) or value not in allowed:
        raise DataError(f"{field} is {value!r}: must be one of {', '.join(allowed)}")
    return value


class _Record:
    """JSON form of the entry classes: flat, strict, with the layer named; ``from_dict`` is its exact inverse."""

    layer: ClassVar[Layer]

    def to_dict(self) -> dict[str, Any]:
        """The entry as JSON-ready values; times as ISO 8601 text ending in ``Z``."""
        out: dict[str, Any] = {"layer": self.layer}
        for field in fields(self):  # type: ignore[arg-type]
            value = getattr(self, field.name)
            if isinstance(value, datetime):
                value = value.isoformat().replace("+00:00", "Z")
            elif isinstance(value, tuple):
                value = list(value)
            out[field.name] = value
        return out

    @classmethod
    def from_dict(cls, row: Mapping[str, Any]) -> Any:
        """Build the entry from ``to_dict`` form; unknown or missing fields raise DataError naming them."""
        known = {field.name for field in fields(cls)}  # type: ignore[arg-type]
        extra = sorted(str(key) for key in row if key not in known and key not in ("layer", "user_id"))
        if extra:
            raise DataError(f"unknown field {', '.join(extra)} for a {cls.layer}; allowed: {', '.join(sorted(known))}")
        try:
            return cls(**{str(key): value for key, value in row.items() if key in known})
        except TypeError as error:
            missing = str(error).rpartition(":")[2].strip()
            raise DataError(f"a {cls.layer} lacks the field {missing}") from None


@dataclass(frozen=True, kw_only=True)
class _Entry(_Record):
    """Fields that memories, episodes and procedures share."""

    id: str
    category: str = "fact"
    tags: tuple[str, ...] = ()
    importance: float = 0.5
    confidence: float = 1.0
    access_count: int = 0
    status: str = "active"
    source: str = ""

    def _check_shared(self) -> None:
        put = object.__setattr__
        put(self, "id", checked_text(self.id, "id", empty=False))
        where = f"{self.layer} {self.id!r}: "
        put(self, "category", checked_text(self.category, where + "category", empty=False))
        put(self, "tags", checked_texts(self.tags, where + "tags"))
        put(self, "importance", _unit(self.importance, where + "importance"))
        put(self, "confidence", _unit(self.confidence, where + "confidence"))
        put(self, "access_count", _count(self.access_count, where + "access_count"))
        put(self, "status", _one_of(self.status, where + "status", STATUSES))
        put(self, "source", checked_text(self.source, where + "source"))

    def _check_times(self, created: object, updated: object) -> None:
        where = f"{self.layer} {self.id!r}: "
        made = utc(created, field=where + "created_at")  # type: ignore[arg-type]
        changed = made if updated is None else utc(updated, field=where + "updated_at")  # type: ignore[arg-type]
        if changed < made:
            raise DataError(
                f"{where}updated_at {changed.isoformat()} is earlier than created_at {made.isoformat()}; "
                "swap them or leave updated_at out"
            )
        object.__setattr__(self, "created_at", made)
        object.__setattr__(self, "updated_at", changed)


@dataclass(frozen=True, kw_only=True)
class Memory(_Entry):
    """One remembered statement. ``category="preference"`` flags a preference.

    importance, confidence: [0, 1]; access_count: >= 0; created_at, updated_at: UTC, updated_at defaults to created_at.
    """

    layer: ClassVar[Layer] = "memory"
    text: str
    created_at: datetime
    updated_at: datetime = None  # type: ignore[assignment]  # filled from created_at

    def __post_init__(self) -> None:
        self._check_shared()
        object.__setattr__(self, "text", checked_text(self.text, f"memory {self.id!r}: text"))
        self._check_times(self.created_at, self.updated_at)

    @property
    def changed_at(self) -> datetime:
        """Time of the last change of the content: what recency and "newer" mean."""
        return self.updated_at


@dataclass(frozen=True, kw_only=True)
class Episode(_Entry):
    """Something that happened: a session, a meeting, a day. Its time is ``occurred_at`` (UTC)."""

    layer: ClassVar[Layer] = "episode"
    category: str = "event"
    summary: str
    topics: tuple[str, ...] = ()
    outcome: str = ""
    occurred_at: datetime

    def __post_init__(self) -> None:
        self._check_shared()
        where = f"episode {self.id!r}: "
        object.__setattr__(self, "summary", checked_text(self.summary, where + "summary"))
        object.__setattr__(self, "topics", checked_texts(self.topics, where + "topics"))
        object.__setattr__(self, "outcome", checked_text(self.outcome, where + "outcome"))
        object.__setattr__(self, "occurred_at", utc(self.occurred_at, field=where + "occurred_at"))

    @property
    def changed_at(self) -> datetime:
        """Time of the event: what recency and "newer" mean for an episode."""
        return self.occurred_at


@dataclass(frozen=True, kw_only=True)
class Procedure(_Entry):
    """A way of doing something: a name and ordered steps."""

    layer: ClassVar[Layer] = "procedure"
    category: str = "workflow"
    name: str
    steps: tuple[str, ...] = ()
    created_at: datetime
    updated_at: datetime = None  # type: ignore[assignment]  # filled from created_at

    def __post_init__(self) -> None:
        self._check_shared()
        where = f"procedure {self.id!r}: "
        object.__setattr__(self, "name", checked_text(self.name, where + "name"))
        object.__setattr__(self, "steps", checked_texts(self.steps, where + "steps"))
        self._check_times(self.created_at, self.updated_at)

    @property
    def changed_at(self) -> datetime:
        """Time of the last change of the content: what recency and "newer" mean."""
        return self.updated_at


@dataclass(frozen=True, kw_only=True)
class SoulBlock(_Record):
    """A part of the assistant's identity, shown in every prompt while active.

    group: soul (identity, worldview, tensions, rules), style, or context. Blocks are shown by group in that order, then by
    ``priority`` (smaller first), then by id. ``kind`` becomes the XML element and must be a name such as ``worldview``.
    """

    layer: ClassVar[Layer] = "soul"
    id: str
    group: str = "soul"
    kind: str = "identity"
    text: str
    active: bool = True
    priority: int = 100

    def __post_init__(self) -> None:
        put = object.__setattr__
        put(self, "id", checked_text(self.id, "id", empty=False))
        where = f"soul block {self.id!r}: "
        put(self, "group", _one_of(self.group, where + "group", SOUL_GROUPS))
        put(self, "text", checked_text(self.text, where + "text"))
        kind = checked_text(self.kind, where + "kind", empty=False)
        plain = kind.replace("_", "a").replace("-", "a")
        if not (kind.isascii() and plain.isalnum() and kind[0].isalpha() and len(kind) <= 64):
            raise DataError(
                f"{where}kind is {kind!r}: must be ASCII letters, digits, '_' or '-', beginning with a letter, "
                "at most 64 characters"
            )
        if not isinstance(self.active, bool):
            raise DataError(f"{where}active is {self.active!r}: must be true or false")
        if not _is_number(self.priority, Integral) or abs(self.priority) > 10**9:
            raise DataError(f"{where}priority is {self.priority!r}: must be a whole number from -10^9 to 10^9")
        put(self, "priority", int(self.priority))


Entry = Memory | Episode | Procedure
ENTRY_TYPES: dict[str, type[Memory] | type[Episode] | type[Procedure] | type[SoulBlock]] = {
    "memory": Memory,
    "episode": Episode,
    "procedure": Procedure,
    "soul": SoulBlock,
}


def entry_from_dict(row: Mapping[str, Any]) -> Memory | Episode | Procedure | SoulBlock:
    """Build any entry from its JSON form; the field ``layer`` says which. Raises DataError."""
    layer = row.get("layer")
    if not isinstance(layer, str) or layer not in ENTRY_TYPES:
        raise DataError(f"layer is {layer!r}: must be one of {', '.join(ENTRY_TYPES)}")
    entry: Memory | Episode | Procedure | SoulBlock = ENTRY_TYPES[layer].from_dict(row)
    return entry
