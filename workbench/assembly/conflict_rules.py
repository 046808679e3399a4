"""The rule-based conflict test: reads statements with word lists for five languages, compares them with one rule per phenomenon.

`decide` first discards pairs by integer operations on whole arrays: every rule implies a condition on bits that were set
when the texts were read, so the filter never loses a pair the rules would flag. Only survivors are judged one by one.

What it does not see: conflicts that need knowledge of the world ("strict vegetarian", "lamb chops every Sunday"), and
paraphrases without a common word.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from workbench.assembly.conflict_compare import REASONS, distinct
from workbench.assembly.conflict_features import RuleFeatures, read_features
from workbench.assembly.conflict_filter import candidates
from workbench.assembly.conflict_judge import judge_texts
from workbench.assembly.conflict_test import CONFLICT, DUPLICATE, UNDECIDED, FloatArray, IntArray
from workbench.errors import ConfigError, DataError


class RuleConflictTest:
    """Rules over word lists; see the module. Stateless: one object may serve any number of threads.

    Example:
        >>> test = RuleConflictTest()
        >>> read = test.features(["Prefers window seats", "Prefers aisle seats now"])
        >>> code = test.decide(read, np.array([0]), np.array([1]), np.array([0.84]))
        >>> test.reasons[code[0]]
        'exclusive value'
    """

    name = "rules-2"
    reasons = REASONS

    def features(self, texts: Sequence[str]) -> RuleFeatures:
        """Reads the texts. Raises `DataError` if one is not a string."""
        for row, text in enumerate(texts):
            if not isinstance(text, str):
                raise DataError(f"text {row} is a {type(text).__name__}, not a string: {text!r}; pass the statements as str")
        return read_features(texts)

    def decide(self, features: Any, left: IntArray, right: IntArray, similarity: FloatArray) -> IntArray:
        """See `ConflictTest.decide`. The similarity is not used: which pairs are proposed is the caller's decision.

        Raises:
            ConfigError: the features are another test's, the arrays differ in length, or a row number is out of range.
        """
        left, right = _checked(features, left, right, similarity)
        codes = np.zeros(left.shape, dtype=np.int64)
        kept = np.flatnonzero(candidates(features, left, right))
        if not kept.size:
            return codes
        swap = features.order[left[kept]] > features.order[right[kept]]
        first = np.where(swap, right[kept], left[kept]).tolist()
        second = np.where(swap, left[kept], right[kept]).tolist()
        sentences = features.sentences
        codes[kept] = [judge_texts(sentences[i], sentences[j]) for i, j in zip(first, second, strict=True)]
        return codes

    def relation(
        self, features: Any, left: IntArray, right: IntArray, similarity: FloatArray, *, duplicate_at: float
    ) -> IntArray:
        """See `ConflictTest.relation`: a close pair stays undecided if subject, names, values or polarity differ."""
        left, right = _checked(features, left, right, similarity)
        found = np.full(left.shape, UNDECIDED, dtype=np.int64)
        found[self.decide(features, left, right, similarity) != 0] = CONFLICT
        close = np.flatnonzero((np.asarray(similarity) >= duplicate_at) & (found == UNDECIDED))
        for k in close.tolist():
            if not distinct(features.sentences[int(left[k])], features.sentences[int(right[k])]):
                found[k] = DUPLICATE
        return found


def _checked(features: Any, left: IntArray, right: IntArray, similarity: FloatArray) -> tuple[IntArray, IntArray]:
    if not isinstance(features, RuleFeatures):
        raise ConfigError(f"features are a {type(features).__name__}; pass what RuleConflictTest.features returned")
    left, right = np.asarray(left, dtype=np.int64), np.asarray(right, dtype=np.int64)
    if left.ndim != 1 or left.shape != right.shape or np.shape(similarity) != left.shape:
        raise ConfigError(
            f"left, right and similarity have shapes {left.shape}, {right.shape} and {np.shape(similarity)}; "
            "pass three one-dimensional arrays of one length"
        )
    if left.size and not (min(left.min(), right.min()) >= 0 and max(left.max(), right.max()) < len(features)):
        raise ConfigError(
            f"row numbers must lie in 0..{len(features) - 1}; got {left.min()}..{left.max()} and {right.min()}..{right.max()}"
        )
    return left, right
