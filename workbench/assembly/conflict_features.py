"""What the rule-based conflict test keeps of a list of texts: sentences, and arrays by which whole lists of pairs are sifted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from workbench.assembly.conflict_bits import KEY_TYPE, PART_TYPE, TEXT_TYPE, TextBits, read_bits
from workbench.assembly.conflict_memo import VerdictMemo
from workbench.assembly.conflict_statement import Sentence

Columns = dict[str, npt.NDArray[Any]]


@dataclass(frozen=True, eq=False)
class RuleFeatures:
    """What `RuleConflictTest.features` keeps of n texts. Rows follow the texts; treat it as opaque.

    Attributes:
        texts: the texts.
        sentences: the sentences read out of each text.
        flat: (s,) the same, one text after the other.
        rows: columns of `TEXT_TYPE`, each (n,).
        parts: columns of `PART_TYPE`, each (s,): all sentences, one text after the other.
        first_part: (n + 1,) number of the first sentence of each text.
        places, roles: (k,) content keys of all sentences: their places (see `PLACES`) and bits of `ROLES`.
        first_key: (s + 1,) number of the first key of each sentence.
        verdicts: what pairs of texts were judged to be.
    """

    texts: tuple[str, ...]
    sentences: tuple[tuple[Sentence, ...], ...]
    flat: tuple[Sentence, ...]
    rows: Columns
    parts: Columns
    first_part: npt.NDArray[np.int64]
    places: npt.NDArray[np.uint16]
    roles: npt.NDArray[np.uint16]
    first_key: npt.NDArray[np.int64]
    verdicts: VerdictMemo

    def __len__(self) -> int:
        return len(self.texts)


def _columns(packed: bytes, kind: np.dtype[Any]) -> Columns:
    table = np.frombuffer(packed, dtype=kind)
    return {name: np.ascontiguousarray(table[name]) for name in kind.names or ()}


def _offsets(sizes: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
    return np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(sizes, dtype=np.int64)])


def gather_features(read: Sequence[TextBits]) -> RuleFeatures:
    """The features of texts that were read one by one."""
    rows = _columns(b"".join([one.row for one in read]), TEXT_TYPE)
    parts = _columns(b"".join([one.parts for one in read]), PART_TYPE)
    keys = _columns(b"".join([one.keys for one in read]), KEY_TYPE)
    return RuleFeatures(
        texts=tuple([one.text for one in read]),
        sentences=tuple([one.sentences for one in read]),
        flat=tuple([sentence for one in read for sentence in one.sentences]),
        rows=rows,
        parts=parts,
        first_part=_offsets(rows["parts"]),
        places=keys["place"],
        roles=keys["role"],
        first_key=_offsets(parts["keys"]),
        verdicts=VerdictMemo(len(read)),
    )


def read_features(texts: Sequence[str]) -> RuleFeatures:
    """Reads every text into sentences and bits. Rows follow the texts; each depends on its text only."""
    return gather_features([read_bits(text) for text in texts])
