"""Progress bars with an estimate, in a terminal or a notebook."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from typing import Any


@contextmanager
def progress_steps(show: bool, totals: Mapping[str, int | None]) -> Iterator[Callable[[str, int], None]]:
    """``step(name, n)`` moves the bar of that name, which appears with its first step; names without a total only count."""
    from tqdm.auto import tqdm

    bars: dict[str, Any] = {}
    with ExitStack() as stack:

        def step(name: str, n: int) -> None:
            if not show:
                return
            if name not in bars:
                bars[name] = stack.enter_context(tqdm(total=totals.get(name), desc=name, dynamic_ncols=True))
            bars[name].update(n)

        yield step
