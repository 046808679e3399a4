"""The inspector in a notebook: the browser sends slider positions, the library re-ranks, the browser draws."""

from __future__ import annotations

from time import perf_counter_ns
from typing import TYPE_CHECKING, Any

import anywidget
import traitlets

from workbench.errors import WorkbenchError
from workbench.reports.inspector import payload
from workbench.reports.inspector.assets import script, style

if TYPE_CHECKING:
    from workbench.reports.inspector.inspector import Inspector


class InspectorWidget(anywidget.AnyWidget):
    """facts, view: what is shown. values: slider positions, written by the browser. problem: why positions were refused.

    ``milliseconds`` in the view is the time from positions to a finished view, measured here.
    """

    _esm = script()
    _css = style()
    facts = traitlets.Dict().tag(sync=True)
    view = traitlets.Dict().tag(sync=True)
    values = traitlets.Dict().tag(sync=True)
    problem = traitlets.Unicode("").tag(sync=True)

    def __init__(self, inspector: Inspector) -> None:
        self._inspector = inspector
        view = inspector.view()
        super().__init__(facts=inspector.facts(), view=view, values=dict(view["values"]))
        self.observe(self._moved, names="values")
        self.on_msg(self._asked)

    def _moved(self, change: Any) -> None:
        start = perf_counter_ns()
        try:
            self._inspector.set(change["new"])
        except WorkbenchError as error:
            self.problem = str(error)
            return
        view = self._inspector.view()
        self.problem = ""
        self.view = {**view, "milliseconds": round((perf_counter_ns() - start) / 1e6, 2)}

    def _asked(self, _: Any, content: Any, buffers: Any) -> None:
        """Answer a search among the entries that were not sent from the start."""
        if isinstance(content, dict) and isinstance(content.get("find"), str):
            self.send({"find": content["find"], "entries": payload.find(self._inspector.assembled, content["find"])})
