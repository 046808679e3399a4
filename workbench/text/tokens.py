"""Exact token counts with tiktoken's encodings, from rank files that a package carries, so that nothing is downloaded.

Special-token strings such as ``<|endoftext|>`` are ordinary text here.
"""

from __future__ import annotations

import binascii
import gzip
import hashlib
import re
from collections.abc import Sequence
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import numpy.typing as npt
import tiktoken

from workbench.errors import ConfigError, StoreError

# sha256 of the unpacked rank files, as tiktoken itself pins them
_RANK_SHA256 = {
    "o200k_base": "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d",
    "cl100k_base": "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7",
}

# tiktoken's splitter overflows its stack on whitespace runs somewhere above this (1,000,000 blanks end in a panic).
_LONGEST_BLANK = 5_000
_BLANK_RUN = re.compile(rf"\s{{{_LONGEST_BLANK + 1}}}")

# The split patterns published with the encodings (tiktoken_ext/openai_public.py).
_CONTRACTION = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
_PATTERNS = {
    "o200k_base": "|".join(
        [
            r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+" + _CONTRACTION,
            r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*" + _CONTRACTION,
            r"\p{N}{1,3}",
            r" ?[^\s\p{L}\p{N}]+[\r\n/]*",
            r"\s*[\r\n]+",
            r"\s+(?!\S)",
            r"\s+",
        ]
    ),
    "cl100k_base": (
        r"""'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+|"""
        r"""\s++$|\s*[\r\n]|\s+(?!\S)|\s"""
    ),
}


@cache
def encoding(name: str) -> tiktoken.Encoding:
    """The tiktoken encoding ``o200k_base`` or ``cl100k_base``. Raises ConfigError for other names."""
    if name not in _RANK_SHA256:
        raise ConfigError(f"encoding is {name!r}: must be one of {', '.join(_RANK_SHA256)}")
    # found without importing the package, which would load tokenizers of its own for seconds
    spec = find_spec("bpe_openai")
    try:
        folder = Path((spec.submodule_search_locations or [""])[0]) if spec else Path()
        packed = (folder / "data" / f"{name}.tiktoken.gz").read_bytes()
    except OSError:
        raise StoreError(f"the rank file of {name} is missing; install the package bpe-openai, which carries it") from None
    data = gzip.decompress(packed)
    if hashlib.sha256(data).hexdigest() != _RANK_SHA256[name]:
        raise StoreError(f"the rank file of {name} is not the one tiktoken publishes; reinstall the package bpe-openai")
    ranks = {}
    for line in data.splitlines():
        if line:
            token, rank = line.split()
            ranks[binascii.a2b_base64(token)] = int(rank)
    return tiktoken.Encoding(name=name, pat_str=_PATTERNS[name], mergeable_ranks=ranks, special_tokens={})


def count(text: str, name: str = "o200k_base") -> int:
    """Number of tokens of ``text``, special-token strings counted as ordinary text.

    A lone surrogate counts as U+FFFD. Raises ConfigError for an unknown encoding and for blank runs that tiktoken cannot take.
    """
    coder = encoding(name)
    if len(text) > _LONGEST_BLANK and _BLANK_RUN.search(text):
        raise ConfigError(
            f"the text has a run of more than {_LONGEST_BLANK} blank characters, which tiktoken cannot split; "
            "render it first (rendering folds long runs)"
        )
    return len(coder.encode_ordinary(text))


def count_lines(lines: Sequence[str], name: str = "o200k_base") -> npt.NDArray[np.int32]:
    """Token counts of many rendered lines, int32, shape (len(lines),)."""
    return np.fromiter((count(line, name) for line in lines), dtype=np.int32, count=len(lines))
