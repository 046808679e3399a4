"""``plot(result)``: the figures of any result, by name, as drawings that a notebook shows and ``save`` writes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from workbench.config import SIGNALS, AssemblyConfig
from workbench.errors import ConfigError
from workbench.reports.style import Drawing

Figures = Mapping[str, Callable[[], Drawing | None]]


def plot(result: Any, kind: str | None = None, *, base: AssemblyConfig | None = None) -> Drawing:
    """One figure of a result: an assembled context, an A/B comparison, a sweep, a tuning by user, a budget's marginal recall, a
    difficulty, a latency profile, a contradiction test, or a recorded run of any kind (``load_run``).

    kind: which figure; the first one by default. base: for a sweep, the configuration to mark. Raises ConfigError naming the
    figures that there are, or that this result has nothing to draw.
    """
    figures = _figures(result, base)
    if not figures:
        raise ConfigError(f"a {type(result).__name__} has no figure; {', '.join(_WITH_FIGURES)} have")
    chosen = kind if kind is not None else next(iter(figures))
    if chosen not in figures:
        raise ConfigError(f"kind is {kind!r}: a {type(result).__name__} has {', '.join(figures)}")
    drawing = figures[chosen]()
    if drawing is None:
        raise ConfigError(f"there is nothing to draw for {chosen!r}: the result holds no values for it")
    return drawing


_WITH_FIGURES = (
    "contexts", "A/B comparisons", "sweeps", "tunings by user", "marginal recall", "difficulties", "latency profiles",
    "contradiction tests", "recorded runs",
)  # fmt: skip


def _figures(result: Any, base: AssemblyConfig | None) -> Figures:
    from workbench.assembly.context import AssembledContext
    from workbench.experiments.ab import ABResult
    from workbench.experiments.conflict_eval import ConflictEvaluation
    from workbench.experiments.difficulty_result import Difficulty
    from workbench.experiments.latency.profile import LatencyProfile
    from workbench.experiments.pareto import Marginal
    from workbench.experiments.sweep_table import Sweep
    from workbench.experiments.tuning import CrossTuning
    from workbench.reports.recorded import RecordedRun

    if isinstance(result, RecordedRun):
        return {name: partial(_given, drawing) for name, drawing in result.figures.items()}
    if isinstance(result, AssembledContext):
        return {"weights": lambda: _context(result)}
    if isinstance(result, Marginal):
        from workbench.reports.choice_figures import marginal

        return {"marginal": lambda: marginal(result.rows)}
    if isinstance(result, CrossTuning):
        from workbench.reports.choice_figures import folds
        from workbench.reports.sweep_page import metric_unit

        metric = result.goal.metric
        return {"folds": lambda: folds(result.folds, metric, metric_unit(metric))}
    if isinstance(result, ABResult):
        return _comparison(result)
    if isinstance(result, Sweep):
        from workbench.reports.sweep_figures import frontier_figure, weights_figure

        frontier: Figures = {"frontier": lambda: frontier_figure(result, base=base)}
        if any(str(name).startswith("param_weights.") for name in result.table):
            return {"weights": lambda: weights_figure(result, base=base), **frontier}
        return frontier
    if isinstance(result, Difficulty):
        from workbench.reports.difficulty_figure import difficulty_figure

        return {"difficulty": lambda: difficulty_figure(result)}
    if isinstance(result, LatencyProfile):
        from workbench.reports import latency_figures

        return {
            "stages": lambda: _drawing(latency_figures.stages(result.content)),
            "distribution": lambda: _drawing(latency_figures.distribution(result.content, result.samples)),
            "growth": lambda: _drawing(latency_figures.growth(result.content)),
            "tradeoff": lambda: _drawing(latency_figures.tradeoff(result.content)),
        }
    if isinstance(result, ConflictEvaluation):
        from workbench.reports.conflict_figure import flagged_figure, similarity_figure

        recorded = result.to_dict()
        return {"flagged": lambda: flagged_figure(recorded), "similarity": lambda: similarity_figure(recorded)}
    return {}


def _comparison(result: Any) -> Figures:
    from workbench.reports import figures
    from workbench.reports.facts import Run
    from workbench.reports.losses_figure import losses

    if "comparison" not in result.content:
        raise ConfigError("figures show two arms; this comparison has more, so compare two of them")
    run = Run(result.content, {})
    return {
        "groups": lambda: figures.groups(run),
        "metrics": lambda: figures.metrics(run),
        "losses": lambda: losses(run),
        "latency": lambda: figures.latency(run),
        "weights": lambda: figures.weights(run),
    }


def _context(context: Any) -> Drawing:
    from workbench.reports.figures import weights_of
    from workbench.reports.numbers import plural

    given = dict(zip(SIGNALS, context.config.weights.as_tuple(), strict=True))
    total = sum(given.values()) or 1.0
    effective = context.effective_weights if any(context.effective_weights.values()) else {}
    pool = f"in the {plural(len(context.selection.scores), 'candidate')} of this query"
    axis = f"share of the weight (sum 1); effective: {pool if effective else 'no data, nothing to order'}"
    return weights_of([("this query", {name: value / total for name, value in given.items()}, effective)], axis)


def _given(drawing: Drawing) -> Drawing:
    return drawing


def _drawing(figure: Any) -> Drawing | None:
    return None if figure is None else figure[0]
