"""One user's entries, validated together. In memory; a durable store can hand out the same object."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from workbench.entries import Episode, Memory, Procedure, SoulBlock, checked_text
from workbench.errors import DataError, StoreError

if TYPE_CHECKING:
    from workbench.store.parts import Parts


def _checked(values: Iterable[Any], kind: type, name: str) -> tuple[Any, ...]:
    try:
        items = tuple(values)
    except TypeError:
        raise DataError(f"{name} is a {type(values).__name__}: must be a list of {kind.__name__} entries") from None
    for number, item in enumerate(items):
        if not isinstance(item, kind):
            raise DataError(f"{name}[{number}] is a {type(item).__name__}: must be {kind.__name__}")
    return items


class UserStore:
    """The memories, episodes, procedures and Soul blocks of one user; immutable.

    Ids are unique over all layers of the store. User ids are plain text and compared exactly: ``ana`` and ``ANA`` differ.
    Raises DataError on duplicate ids or wrong types.
    """

    def __init__(
        self,
        user_id: str,
        *,
        memories: Iterable[Memory] = (),
        episodes: Iterable[Episode] = (),
        procedures: Iterable[Procedure] = (),
        soul: Iterable[SoulBlock] = (),
    ) -> None:
        if not user_id:
            raise DataError(f"user_id is {user_id!r}: must be non-empty text")
        self.user_id = checked_text(user_id, "user_id")
        self.memories: tuple[Memory, ...] = _checked(memories, Memory, "memories")
        self.episodes: tuple[Episode, ...] = _checked(episodes, Episode, "episodes")
        self.procedures: tuple[Procedure, ...] = _checked(procedures, Procedure, "procedures")
        self.soul: tuple[SoulBlock, ...] = _checked(soul, SoulBlock, "soul")
        self._by_id: dict[str, Memory | Episode | Procedure | SoulBlock] = {}
        for entry in self:
            if entry.id in self._by_id:
                raise DataError(
                    f"user {user_id!r} has two entries with the id {entry.id!r}: a {self._by_id[entry.id].layer} and a "
                    f"{entry.layer}; ids must be unique over all layers of a store"
                )
            self._by_id[entry.id] = entry
        self._fingerprint: str | None = None
        self._parts: Parts | None = None

    def with_entries(
        self, entries: Iterable[Memory | Episode | Procedure | SoulBlock], *, without: Iterable[str] = ()
    ) -> UserStore:
        """A store of the same user with ``entries`` added and the ids ``without`` left out; this one stays as it is.

        An entry with the id of one that is there takes its place. The new store shares what compiling this one has computed per
        entry, so that compiling it takes work for the new entries only. Raises DataError for anything that is no entry, for an id
        that comes twice and for an id to leave out that is not there.

        >>> store = UserStore("ana", memories=[Memory(id="m1", text="Tea at four", created_at="2026-03-01")])
        >>> len(store.with_entries([Memory(id="m2", text="Two lamps", created_at="2026-03-02")], without=["m1"]))
        1
        """
        kinds: dict[type, str] = {Memory: "memories", Episode: "episodes", Procedure: "procedures", SoulBlock: "soul"}
        added: dict[str, list[Any]] = {layer: [] for layer in kinds.values()}
        for number, entry in enumerate(entries):
            if type(entry) not in kinds:
                raise DataError(
                    f"entries[{number}] is a {type(entry).__name__}: must be a Memory, an Episode, a Procedure or a SoulBlock"
                )
            added[kinds[type(entry)]].append(entry)
        gone = set(without)
        if unknown := sorted(map(repr, (key for key in gone if key not in self))):
            raise DataError(f"user {self.user_id!r} has no entry {unknown[0]} to leave out; the store holds {len(self)} entries")
        gone.update(entry.id for layer in added.values() for entry in layer)
        kept = {layer: [entry for entry in getattr(self, layer) if entry.id not in gone] for layer in added}
        changed = UserStore(self.user_id, **{layer: kept[layer] + added[layer] for layer in added})
        changed._parts = self._parts
        return changed

    def __getstate__(self) -> dict[str, Any]:
        # what was computed per entry stays with this process: it is large and can be had again
        return {**self.__dict__, "_parts": None}

    def __iter__(self) -> Any:
        yield from self.memories
        yield from self.episodes
        yield from self.procedures
        yield from self.soul

    def __len__(self) -> int:
        return len(self._by_id)

    def __contains__(self, entry_id: object) -> bool:
        return entry_id in self._by_id

    def __getitem__(self, entry_id: str) -> Memory | Episode | Procedure | SoulBlock:
        try:
            return self._by_id[entry_id]
        except KeyError:
            raise StoreError(f"user {self.user_id!r} has no entry {entry_id!r}; the store holds {len(self)} entries") from None

    def __repr__(self) -> str:
        return (
            f"UserStore({self.user_id!r}: {len(self.memories)} memories, {len(self.episodes)} episodes, "
            f"{len(self.procedures)} procedures, {len(self.soul)} Soul blocks)"
        )

    @property
    def fingerprint(self) -> str:
        """SHA-256 over all entries, the user id included; stores of the same entries, in any order, have equal ones."""
        if self._fingerprint is None:
            digest = hashlib.sha256(json.dumps(self.user_id).encode())
            for entry in sorted(self, key=lambda entry: entry.id):
                digest.update(json.dumps(entry.to_dict(), sort_keys=True).encode())
            self._fingerprint = digest.hexdigest()
        return self._fingerprint
