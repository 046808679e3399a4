"""Keyword search: BM25 over sparse postings, and the slow reference that proves it right.

Both compute, for every occurrence of a term in the query,

    idf(t) * f * (k1 + 1) / (f + k1 * (1 - b + b * length / average_length))
    idf(t) = log(1 + (N - df + 0.5) / (df + 0.5))

with `f` the count of the term in the document and `df` the number of the `N` documents that have it. The frequency part
is rank-bm25's Okapi. The IDF is Lucene's, which, unlike rank-bm25's own, is positive for every term: a word that half or
all of a small store contains still counts, and a document scores above 0 exactly if it shares a term with the query.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, Final

import numpy as np
import numpy.typing as npt
from rank_bm25 import BM25Okapi  # type: ignore[import-untyped, unused-ignore]

from workbench.errors import ConfigError, DataError

DEFAULT_K1: Final = 1.5
DEFAULT_B: Final = 0.75
_MAX_K1: Final = 1000.0

Floats = npt.NDArray[np.float64]
Rows = npt.NDArray[np.intp]


@dataclass(frozen=True, slots=True, eq=False)
class KeywordIndex:
    """An immutable BM25 index. Row i is the i-th document it was built from; make one with `build`.

    Safe to share between threads: nothing is written after `build`.
    """

    n_docs: int
    k1: float
    b: float
    _numbers: dict[str, int]
    """Term -> number, counted in order of first appearance in the documents."""
    _offsets: tuple[int, ...]
    """Postings of term number t are at `_offsets[t]` up to `_offsets[t + 1]`."""
    _rows: Rows
    """Documents, ascending within a term; shape (number of postings,)."""
    _weights: Floats
    """The BM25 contribution of one occurrence of the term in the query to that document; > 0; same shape."""

    @classmethod
    def build(cls, docs: Sequence[Sequence[str]], *, k1: float = DEFAULT_K1, b: float = DEFAULT_B) -> KeywordIndex:
        """Index documents given as tokens, as `workbench.text.analysis.analyze` makes them. Blank or no documents are fine.

        `k1` in (0, 1000] is how slowly repetition saturates, `b` in [0, 1] how much long documents are held back.

        Raises `ConfigError` for `k1` or `b` out of range, `DataError` for a document that is not a sequence of strings.
        """
        k1, b = _checked(k1, b)
        if isinstance(docs, str) or any(isinstance(doc, str) for doc in docs):
            raise DataError("a document to index must be a sequence of tokens, got a plain string; call analyze(text) first")
        n_docs = len(docs)
        numbers: defaultdict[str, int] = defaultdict()
        numbers.default_factory = numbers.__len__  # a new term gets the next number
        try:
            lengths = np.fromiter(map(len, docs), dtype=np.int64, count=n_docs)
            n_tokens = int(lengths.sum())
            terms = np.fromiter(map(numbers.__getitem__, chain.from_iterable(docs)), dtype=np.int64, count=n_tokens)
        except TypeError as error:
            raise DataError(f"a document to index must be a sequence of strings ({error}); call analyze(text) first") from error
        if strangers := [term for term in numbers if not isinstance(term, str)]:
            raise DataError(f"tokens to index must be strings, got {strangers[0]!r}; call analyze(text) on each document")
        keys = terms * max(n_docs, 1) + np.repeat(np.arange(n_docs, dtype=np.int64), lengths)
        pairs, counts = np.unique(keys, return_counts=True)
        term_of, rows = np.divmod(pairs, max(n_docs, 1))
        df = np.bincount(term_of, minlength=len(numbers))
        average = n_tokens / n_docs if n_tokens else 1.0
        tf = counts.astype(np.float64)
        # Written as rank-bm25 writes it, operation by operation, so that the scores agree to the last bit.
        weights = _idfs(df, n_docs)[term_of] * (tf * (k1 + 1) / (tf + k1 * (1 - b + b * lengths[rows] / average)))
        rows = np.ascontiguousarray(rows, dtype=np.intp)
        for array in (rows, weights):
            array.setflags(write=False)
        offsets = (0, *np.cumsum(df).tolist())
        return cls(n_docs, k1, b, dict(numbers), offsets, rows, weights)

    @property
    def vocabulary(self) -> tuple[str, ...]:
        """The terms, in order of first appearance in the documents."""
        return tuple(self._numbers)

    def scores(self, query_tokens: Sequence[str]) -> Floats:
        """BM25 of every document, float64 of shape (n_docs,); 0 exactly where no term matches.

        Every occurrence of a term in the query adds. Terms are added in query order, one after the other, so the
        same query gives the same bits on every machine.
        """
        out = np.zeros(self.n_docs)
        for rows, weights in self._postings(query_tokens):
            np.add.at(out, rows, weights)  # measured faster than bincount and than out[rows] += weights
        return out

    def hits(self, query_tokens: Sequence[str]) -> tuple[Rows, Floats]:
        """Rows that share a term with the query, ascending, and their scores, all > 0; both of shape (n_hits,)."""
        scores = self.scores(query_tokens)
        rows = np.flatnonzero(scores)
        return rows, scores[rows]

    def matches(self, query_tokens: Sequence[str], row: int) -> dict[str, float]:
        """What each query term adds to the score of one document: term -> contribution > 0, in query order."""
        if not 0 <= row < self.n_docs:
            raise DataError(f"row {row} is not in the keyword index; allowed are 0 to {self.n_docs - 1}")
        found: dict[str, float] = {}
        for token in _tokens(query_tokens):
            number = self._numbers.get(token)
            if number is None:
                continue
            start, stop = self._offsets[number], self._offsets[number + 1]
            at = start + int(np.searchsorted(self._rows[start:stop], row))
            if at < stop and self._rows[at] == row:
                found[token] = found.get(token, 0.0) + float(self._weights[at])
        return found

    def _postings(self, query_tokens: Sequence[str]) -> list[tuple[Rows, Floats]]:
        offsets, found = self._offsets, []
        for token in _tokens(query_tokens):
            number = self._numbers.get(token)
            if number is not None:
                span = slice(offsets[number], offsets[number + 1])
                found.append((self._rows[span], self._weights[span]))
        return found


class ReferenceBM25(BM25Okapi):  # type: ignore[misc, unused-ignore]
    """rank-bm25's Okapi with the IDF of this module: the oracle that `KeywordIndex` is tested against. Slow.

    Empty corpora and blank documents, on which rank-bm25 divides by zero, score 0.
    """

    def __init__(self, corpus: Sequence[Sequence[str]], k1: float = DEFAULT_K1, b: float = DEFAULT_B) -> None:
        k1, b = _checked(k1, b)
        super().__init__([list(document) for document in corpus], k1=k1, b=b)

    def _initialize(self, corpus: Sequence[Sequence[str]]) -> dict[str, int]:
        if any(map(len, corpus)):
            return dict(super()._initialize(corpus))
        self.corpus_size = len(corpus)
        self.avgdl = 1.0
        self.doc_len = [0] * len(corpus)
        self.doc_freqs: list[dict[str, int]] = [{} for _ in corpus]
        return {}

    def _calc_idf(self, nd: Mapping[str, int]) -> None:
        self.idf = {word: idf(df, self.corpus_size) for word, df in nd.items()}

    def get_scores(self, query: Sequence[str]) -> Floats:
        """Scores of all documents, float64 of shape (number of documents,)."""
        with np.errstate(invalid="ignore"):  # 0 / 0 for a blank document under b = 1
            return np.nan_to_num(np.asarray(super().get_scores(query), dtype=np.float64), nan=0.0)


def idf(df: int, n_docs: int) -> float:
    """Lucene's inverse document frequency of a term found in `df` of `n_docs` documents; > 0 for 0 <= df <= n_docs."""
    return math.log(1 + (n_docs - df + 0.5) / (df + 0.5))


def _idfs(df: npt.NDArray[np.intp], n_docs: int) -> Floats:
    """IDF per term, shape (n_terms,). By `math.log`: the last bit of numpy's depends on the machine's vector unit."""
    values, inverse = np.unique(df, return_inverse=True)
    return np.array([idf(value, n_docs) for value in values.tolist()], dtype=np.float64)[inverse]


def _tokens(query_tokens: Sequence[str]) -> Sequence[str]:
    if isinstance(query_tokens, str):
        raise DataError(f"a query must be a sequence of tokens, got {query_tokens[:40]!r}; call analyze_query(text) first")
    return query_tokens


def _checked(k1: Any, b: Any) -> tuple[float, float]:
    for name, value in (("k1", k1), ("b", b)):
        if isinstance(value, bool) or not isinstance(value, (int, float, np.integer, np.floating)):
            raise ConfigError(f"{name} must be a number, got {value!r}")
    if not 0 < k1 <= _MAX_K1:
        raise ConfigError(f"k1 = {k1!r} is out of range; allowed is 0 < k1 <= 1000 (1e-6 as good as ignores repetition)")
    if not 0 <= b <= 1:
        raise ConfigError(f"b = {b!r} is out of range; allowed is 0 <= b <= 1 (0 ignores the length of documents)")
    return float(k1), float(b)
