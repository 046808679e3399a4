"""``ctx.inspect()``: one context, why it is what it is, and what other settings would make of it."""

from __future__ import annotations

import html
from collections.abc import Mapping
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.assembly.context import AssembledContext
from workbench.config import PRODUCTION_WEIGHTS, AssemblyConfig
from workbench.errors import ConfigError, RunError
from workbench.reports.inspector import page, payload
from workbench.reports.inspector.controls import configured
from workbench.reports.inspector.rerank import rerank

if TYPE_CHECKING:
    from workbench.reports.inspector.widget import InspectorWidget

INSTALL = "pip install 'context-workbench[lab]'"


class Inspector:
    """Shows a context with its candidates; in a notebook with sliders that re-rank live, elsewhere as a page.

    context: as assembled. against: the same query under the settings it is compared with: by default production weights, no
    boosts and no minimum score, all else as in the context. Budgets are no part of that default, because a dataset may bring its
    own. Raises ConfigError when ``against`` would search differently.
    """

    def __init__(self, context: AssembledContext, *, against: AssemblyConfig | None = None) -> None:
        if against is None:
            against = context.config.override(weights=PRODUCTION_WEIGHTS, boosts={}, min_score=AssemblyConfig().min_score)
        self.assembled = context
        self.against = rerank(context, against)
        self._current = context

    @property
    def context(self) -> AssembledContext:
        """The context under the current settings."""
        return self._current

    @property
    def config(self) -> AssemblyConfig:
        """The current settings."""
        return self._current.config

    @property
    def entering(self) -> tuple[str, ...]:
        """Ids in the prompt now that are not in the one compared with, in prompt order."""
        had = set(self.against.selected_ids)
        return tuple(key for key in self._current.selected_ids if key not in had)

    @property
    def leaving(self) -> tuple[str, ...]:
        """Ids in the prompt compared with that are not in it now, in its order."""
        has = set(self._current.selected_ids)
        return tuple(key for key in self.against.selected_ids if key not in has)

    def set(self, values: Mapping[str, float] | None = None, **named: float) -> Inspector:
        """Put sliders to values, as moving them does, e.g. ``set(recency=0.4, memories=800)``; the others go back to the start.

        The five weights are positions: their proportions count (see ``controls``). Raises ConfigError for names and values that
        do not exist; the settings then stay as they were.
        """
        config = configured(self.assembled.config, {**(values or {}), **named})
        self._current = self.assembled if config == self.assembled.config else rerank(self.assembled, config)
        return self

    def view(self) -> dict[str, Any]:
        """What the current settings make of the query, as strict JSON values."""
        return payload.view(self._current, self.against)

    def facts(self) -> dict[str, Any]:
        """What no setting changes, as strict JSON values."""
        return payload.facts(self.assembled, self.against)

    def block(self) -> page.Block:
        """The inspector under the current settings, without sliders, for the body of another page."""
        return page.block(self.facts(), self.view())

    def html(self) -> str:
        """A self-contained page under the current settings, without sliders."""
        return page.page(self.facts(), self.view())

    def to_html(self, path: str | Path) -> Path:
        """Write the page; returns its path. Raises RunError when the file cannot be written."""
        target = Path(path)
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(self.html(), encoding="utf-8", newline="\n")
        except OSError as error:
            raise RunError(f"cannot write the page {target.name}: {error.strerror}; choose another path") from None
        return target

    @cached_property
    def widget(self) -> InspectorWidget:
        """The notebook widget. Raises ConfigError when anywidget is not installed."""
        if not has_widgets():
            raise ConfigError(f"the sliders need the package anywidget, which is not installed: {INSTALL}")
        from workbench.reports.inspector.widget import InspectorWidget

        return InspectorWidget(self)

    def __str__(self) -> str:
        name = payload.name_of(self.against)
        return f"{self._current}; against {name}: {len(self.entering)} enter, {len(self.leaving)} leave"

    def __repr__(self) -> str:
        return f"<Inspector of {self}>"

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> Any:
        if has_widgets():
            bundle = self.widget._repr_mimebundle_(include=include, exclude=exclude)
            data, metadata = bundle if isinstance(bundle, tuple) else (bundle or {}, {})
            # what a viewer without widgets shows
            return {**data, "text/plain": str(self), "text/html": self._current._repr_html_()}, metadata
        note = f"The sliders need the package anywidget: {INSTALL}. Without it, .to_html(path) writes the page."
        plain = f"{self}\n{note}"
        return {"text/plain": plain, "text/html": f"<p>{html.escape(note)}</p>{self._current._repr_html_()}"}, {}


def has_widgets() -> bool:
    """Whether the widget's packages are installed."""
    return find_spec("anywidget") is not None and find_spec("ipywidgets") is not None
