"""A context under other weights, boosts, budgets and thresholds, without searching again.

Runs the assembler's own scoring and selection over the candidates that the context keeps, so the result is what assembling
anew under that configuration would give, entry for entry and byte for byte; only the timings are those of the re-ranking.
"""

from __future__ import annotations

from dataclasses import replace
from time import perf_counter_ns

from workbench.assembly.assembler import Candidates, context_warnings, final_fates, render_prompt
from workbench.assembly.context import AssembledContext
from workbench.assembly.fates import Fate
from workbench.assembly.selection import select
from workbench.assembly.stages import STAGES
from workbench.config import AssemblyConfig
from workbench.entries import epoch_seconds
from workbench.errors import ConfigError
from workbench.experiments.pools import RERANK_FIELDS, search_settings

_OPEN = ("conflict_band", "duplicate_threshold", "reference_relevance")


def rerank(context: AssembledContext, config: AssemblyConfig) -> AssembledContext:
    """``context`` as it would have been under ``config``.

    What ``config`` leaves to the encoder is taken from the context. Raises ConfigError when ``config`` would search differently.
    """
    config = checked(context, config)
    start = perf_counter_ns()
    now = epoch_seconds(context.now)
    fate, other = context.fate.copy(), context.other.copy()
    fate[context.scored], other[context.scored] = Fate.NOT_RETRIEVED, -1
    pool = context.retrieved.take(context.scored)
    found = Candidates(context.retrieved, fate, other, context.scored, pool, context.conflicts)
    selection = select(context.snapshot, pool, context.preferences, now, config)
    fate, other = final_fates(found, selection)
    chosen = perf_counter_ns()
    prompt = render_prompt(context.snapshot, selection)
    end = perf_counter_ns()
    timings = dict.fromkeys(STAGES, 0.0)
    timings |= {"score": (chosen - start) / 1e6, "prompt": (end - chosen) / 1e6, "total": (end - start) / 1e6, "residual": 0.0}
    return replace(
        context,
        config=config,
        prompt=prompt,
        tokens=selection.tokens,
        timings=timings,
        warnings=context_warnings(context.snapshot, found, selection, now),
        fate=fate,
        other=other,
        selection=selection,
    )


def checked(context: AssembledContext, config: AssemblyConfig) -> AssemblyConfig:
    """``config`` with nothing left open. Raises ConfigError when it differs from the context's in more than re-ranking."""
    if not isinstance(config, AssemblyConfig):
        raise ConfigError(f"the configuration is a {type(config).__name__}: must be an AssemblyConfig; load_config takes names")
    filled = {name: getattr(context.config, name) for name in _OPEN if getattr(config, name) is None}
    config = config.override(**filled) if filled else config
    own, given = search_settings(context.config), search_settings(config)
    wrong = sorted(name for name in own if own[name] != given[name])
    if wrong:
        raise ConfigError(
            f"this context was searched with {', '.join(f'{name} = {own[name]!r}' for name in wrong)}, the configuration has "
            f"{', '.join(repr(given[name]) for name in wrong)}; re-ranking can change {', '.join(RERANK_FIELDS)}: "
            "assemble anew for anything else"
        )
    return config
