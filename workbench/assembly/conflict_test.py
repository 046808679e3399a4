"""What a conflict test must offer: telling whether two statements of one user's memory can both hold now.

Two statements conflict when the newer one makes the older one untrue: the fact was negated, ended, moved, replaced,
or given another number, date or name. The test is symmetric; whoever calls it knows which statement is newer.

The work is cut in two so that nothing linguistic runs while a user waits for an answer: `features` reads the texts once,
when a store is compiled, and `decide` only compares what was read. A test backed by a language model fits the same shape
(features: tokenised texts or embeddings; decide: score the few pairs the caller proposes).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol, TypeAlias, runtime_checkable

import numpy as np
import numpy.typing as npt

IntArray: TypeAlias = npt.NDArray[np.integer[Any]]
"""Whole numbers: row numbers, reason codes, relation codes."""

FloatArray: TypeAlias = npt.NDArray[np.floating[Any]]
"""Real numbers: here cosine similarities in [-1, 1]."""

COMPATIBLE = 0
"""Code of `decide` for a pair that can hold at the same time."""

UNDECIDED, DUPLICATE, CONFLICT = 0, 1, 2
"""Codes of `relation`: nothing claimed, same statement twice, cannot both hold."""


@runtime_checkable
class ConflictTest(Protocol):
    """Decides pairs of statements; one object serves any number of stores and threads.

    Attributes:
        name: identity of the behaviour. It enters config hashes and cache keys, so it changes whenever a verdict can.
        reasons: what the codes of `decide` mean. `reasons[0]` is `""` (compatible).
    """

    @property
    def name(self) -> str: ...

    @property
    def reasons(self) -> tuple[str, ...]: ...

    def features(self, texts: Sequence[str]) -> Any:
        """Read `texts` once. Returns an opaque object with one row per text, in order; a row depends on its text only."""
        ...

    def decide(self, features: Any, left: IntArray, right: IntArray, similarity: FloatArray) -> IntArray:
        """Judge the pairs `(left[k], right[k])` of rows of `features`.

        Args:
            features: what `features` returned.
            left: shape (p,), row numbers.
            right: shape (p,), row numbers.
            similarity: shape (p,), cosine of each pair; a test may ignore it.

        Returns:
            Shape (p,), int64 index into `reasons`; 0 means compatible. Swapping `left` and `right` changes nothing.
        """
        ...

    def relation(
        self, features: Any, left: IntArray, right: IntArray, similarity: FloatArray, *, duplicate_at: float
    ) -> IntArray:
        """As `decide`, but tells duplicates apart.

        Returns:
            Shape (p,), int64: `CONFLICT` where `decide` is non-zero, else `DUPLICATE` where the similarity is at least
            `duplicate_at` and nothing that was read says the two are about different things, else `UNDECIDED`.
        """
        ...


@runtime_checkable
class PerTextConflictTest(ConflictTest, Protocol):
    """A conflict test that reads its texts one by one, so that what was read of a text can be kept when a store grows.

    `gather([read(text) for text in texts])` is `features(texts)`.
    """

    def read(self, text: str) -> Any:
        """What the test keeps of one text. Depends on the text and on `name` only."""
        ...

    def gather(self, read: Sequence[Any]) -> Any:
        """The features of texts that were read."""
        ...
