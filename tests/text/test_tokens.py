"""Counts are tiktoken's, special tokens are ordinary text, and lines add up."""

from __future__ import annotations

from collections.abc import Callable
from importlib.metadata import requires
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.assembly.prompt import HEADINGS, identity_lines
from workbench.config import ENCODINGS
from workbench.errors import ConfigError
from workbench.text.render import rendered_line, soul_line
from workbench.text.tokens import count, count_lines, encoding

SPECIAL = ("<|endoftext|>", "<|im_start|>", "<|fim_prefix|>", "<|endofprompt|>")
AWKWARD = (
    "\n", "\r", " ", "  ", "\t", "\u00a0", "\u3000", "\u2028", "\x85", "\x00", "\u200b", "\u200d", "\u202e",
    "\ufeff", "\u0301", "/", "//", "-", "#", "##", "'s", "'LL", "’s", "<", ">", "&", "1234567", "A", "aB", "é",
    "ß", "小", "屋", "한국", "שלום", "مرحبا", "ไทย", "🦩", "👩‍🚀", "🇯🇵", "\U0010ffff", *SPECIAL,
)  # fmt: skip
texts = (
    st.text(st.characters(exclude_categories=["Cs"]), max_size=40)
    | st.lists(st.sampled_from(AWKWARD), max_size=20).map("".join)
    | st.tuples(st.sampled_from(AWKWARD), st.integers(1, 70)).map(lambda pair: pair[0] * pair[1])
)


@pytest.mark.parametrize(
    ("name", "text", "tokens"),
    [
        ("o200k_base", "hello world", [24912, 2375]),
        ("cl100k_base", "hello world", [15339, 1917]),
        ("cl100k_base", "tiktoken is great!", [83, 1609, 5963, 374, 2294, 0]),
        ("o200k_base", "tiktoken is great!", [83, 8251, 2488, 382, 2212, 0]),
    ],
)
def test_known_encodings(name: str, text: str, tokens: list[int]) -> None:
    assert encoding(name).encode_ordinary(text) == tokens
    assert count(text, name) == len(tokens)


@pytest.mark.parametrize("name", ENCODINGS)
def test_special_tokens_are_ordinary_text(name: str) -> None:
    for special in SPECIAL:
        assert count(special, name) > 1
        assert encoding(name).decode(encoding(name).encode_ordinary(special)) == special
    assert count("", name) == 0


@given(entries=st.lists(texts, min_size=1, max_size=6), blocks=st.lists(texts, max_size=3), name=st.sampled_from(ENCODINGS))
def test_the_count_of_a_prompt_is_the_sum_of_its_lines(kit: Any, entries: list[str], blocks: list[str], name: str) -> None:
    lines = identity_lines([("soul", line) for line in (soul_line(kit.soul("s", text)) for text in blocks) if line])
    for number, heading in enumerate(HEADINGS.values()):
        make = (kit.memory, kit.memory, kit.episode, kit.procedure)[number]
        lines += [heading, *(rendered_line(make("x", text)) for text in entries)]
    assert int(count_lines(lines, name).sum()) == count("".join(lines), name)


def test_lines_are_counted_one_by_one() -> None:
    counts = count_lines(["- tea\n", "", "- green tea\n"])
    assert counts.dtype == np.int32
    assert counts.tolist() == [count("- tea\n"), 0, count("- green tea\n")]
    assert count_lines([]).shape == (0,)


@pytest.mark.parametrize("name", ["gpt2", "my-local-llm", "", "O200K_BASE"])
def test_unknown_encodings_are_named(name: str) -> None:
    with pytest.raises(ConfigError, match=r"encoding is .*: must be one of o200k_base, cl100k_base"):
        count("tea", name)


def test_text_that_tiktoken_cannot_take_is_an_error_and_no_panic() -> None:
    assert count("half \ud83d pair") == count("half \ufffd pair")
    with pytest.raises(ConfigError, match="more than 5000 blank characters"):
        count("a" + " " * 1_000_000)
    assert count("a" + " " * 5000) > 0


def test_counting_needs_no_network(no_network: None, recount: Callable[[str, str], int]) -> None:
    fresh = encoding.__wrapped__("cl100k_base")
    assert fresh.encode_ordinary("the ferry") == encoding("cl100k_base").encode_ordinary("the ferry")
    assert count("the ferry", "cl100k_base") == recount("the ferry", "cl100k_base") == 2


def test_tiktoken_is_pinned_to_releases_without_quadratic_time() -> None:
    assert any(line.startswith("tiktoken>=0.12") for line in requires("context-workbench") or [])


@pytest.mark.parametrize("name", ENCODINGS)
def test_long_runs_end(name: str) -> None:
    for text in ("a" * 30_000, "^" * 100_000, "tea" * 20_000, "\u0300" * 50_000, "'" * 50_000, "1" * 100_000, "/" * 50_000):
        assert 0 < count(text, name) <= 4 * len(text)
