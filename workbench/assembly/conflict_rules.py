"""The rule-based conflict test: reads statements with word lists for five languages, compares them with one rule per phenomenon.

`decide` first discards pairs by integer operations on whole arrays: every rule implies a condition on bits that were set
when the texts were read, so the filter never loses a pair the rules would flag. Only survivors are judged one by one.

What it does not see: conflicts that need knowledge of the world ("strict vegetarian", "lamb chops every Sunday"), and
paraphrases without a common word.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from workbench.assembly.conflict_bits import TextBits, read_bits
from workbench.assembly.conflict_compare import REASONS, distinct
from workbench.assembly.conflict_features import RuleFeatures, gather_features, read_features
from workbench.assembly.conflict_filter import candidates, promising
from workbench.assembly.conflict_judge import judge
from workbench.assembly.conflict_overlap import Ints
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

    name = "rules-3"
    reasons = REASONS

    def features(self, texts: Sequence[str]) -> RuleFeatures:
        """Reads the texts. Raises `DataError` if one is not a string."""
        for row, text in enumerate(texts):
            if not isinstance(text, str):
                raise DataError(f"text {row} is a {type(text).__name__}, not a string: {text!r}; pass the statements as str")
        return read_features(texts)

    def read(self, text: str) -> TextBits:
        """What is kept of one text."""
        return read_bits(text)

    def gather(self, read: Sequence[TextBits]) -> RuleFeatures:
        """The features of texts that were read."""
        return gather_features(read)

    def decide(self, features: Any, left: IntArray, right: IntArray, similarity: FloatArray) -> IntArray:
        """See `ConflictTest.decide`. The similarity is not used: which pairs are proposed is the caller's decision.

        Raises:
            ConfigError: the features are another test's, the arrays differ in length, or a row number is out of range.
        """
        left, right = _checked(features, left, right, similarity)
        if left.size <= _FEW:
            return _remembered(features, left, right)
        # of many pairs most are discarded sooner than a verdict on them could be looked up
        likely = promising(features, left, right)
        codes = np.zeros(left.size, dtype=np.int64)
        codes[likely] = _remembered(features, left[likely], right[likely])
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


_FEW: Final = 256
"""Up to so many pairs the verdicts are looked up at once."""


def _remembered(features: RuleFeatures, left: Ints, right: Ints) -> Ints:
    """Codes of pairs of texts, each judged once and remembered."""
    codes: Ints = features.verdicts.recall(left, right)
    new = np.flatnonzero(codes < 0)
    if new.size:
        codes[new] = _judged(features, left[new], right[new])
        features.verdicts.keep(left[new], right[new], codes[new])
    return codes


def _judged(features: RuleFeatures, left: Ints, right: Ints) -> Ints:
    """Codes of pairs of texts: the lowest among the conflicts of their sentences."""
    codes = [0] * left.size
    found = candidates(features, left, right)
    texts, flat = features.texts, features.flat
    for k, one, two, lowest in zip(*(column.tolist() for column in found), strict=True):
        if 0 < codes[k] <= lowest:
            continue  # nothing lower can come of it
        text, other = texts[left[k]], texts[right[k]]
        if text != other:
            code = judge(flat[one], flat[two]) if text < other else judge(flat[two], flat[one])
            if code and not 0 < codes[k] < code:
                codes[k] = code
    return np.array(codes, dtype=np.int64)


def _checked(features: Any, left: IntArray, right: IntArray, similarity: FloatArray) -> tuple[Ints, Ints]:
    if not isinstance(features, RuleFeatures):
        raise ConfigError(f"features are a {type(features).__name__}; pass what RuleConflictTest.features returned")
    one: Ints = np.asarray(left, dtype=np.int64)
    two: Ints = np.asarray(right, dtype=np.int64)
    if one.ndim != 1 or one.shape != two.shape or np.shape(similarity) != one.shape:
        raise ConfigError(
            f"left, right and similarity have shapes {one.shape}, {two.shape} and {np.shape(similarity)}; "
            "pass three one-dimensional arrays of one length"
        )
    if one.size and not (min(one.min(), two.min()) >= 0 and max(one.max(), two.max()) < len(features)):
        raise ConfigError(
            f"row numbers must lie in 0..{len(features) - 1}; got {one.min()}..{one.max()} and {two.min()}..{two.max()}"
        )
    return one, two
