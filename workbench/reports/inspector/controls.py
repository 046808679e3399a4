"""The sliders: which there are, and which configuration their positions stand for.

Weights are normalised. Only the proportions of the five positions count: they are scaled so that their sum stays that of the
starting configuration (1 for the reference), rounded to four decimals. So scores keep their range, a minimum score keeps its
meaning, and ``Weights`` accepts every position. Sliders that nobody has moved give the starting weights as they are.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from numbers import Real
from typing import Any

from workbench.config import SIGNALS, TIERS, AssemblyConfig, Weights
from workbench.errors import ConfigError

MIN_SCORE = "min_score"
NAMES = (*SIGNALS, *TIERS, MIN_SCORE)
_HIGHEST_SUM = 10.0


def positions(config: AssemblyConfig) -> dict[str, float]:
    """Where the sliders stand for ``config``: name -> value, in the order of ``NAMES``."""
    weights = dict(zip(SIGNALS, config.weights.as_tuple(), strict=True))
    return {**weights, **{name: getattr(config.budgets, name) for name in TIERS}, MIN_SCORE: config.min_score}


def sliders(config: AssemblyConfig) -> list[dict[str, Any]]:
    """Per slider: name, group, unit, value, max (the minimum is 0), step of an arrow key, and fine step (with Shift)."""
    start = positions(config)
    top = max(1.0, math.ceil(max(config.weights.as_tuple())))
    out = [
        {"name": name, "group": "weights", "unit": "", "value": start[name], "max": top, "step": 0.01, "fine": 0.001}
        for name in SIGNALS
    ]
    for name in TIERS:
        most = max(500, 2 * int(start[name]))
        step = max(1, 10 ** (len(str(most)) - 2))
        out.append(
            {"name": name, "group": "budgets", "unit": "tokens", "value": start[name], "max": most, "step": step, "fine": 1}
        )
    score = max(1.0, math.ceil(config.min_score))
    out.append(
        {
            "name": MIN_SCORE,
            "group": "threshold",
            "unit": "",
            "value": start[MIN_SCORE],
            "max": score,
            "step": 0.01,
            "fine": 0.001,
        }
    )
    return out


def configured(base: AssemblyConfig, values: Mapping[str, Any]) -> AssemblyConfig:
    """The configuration that slider positions stand for; names that are missing stand where ``base`` has them.

    Raises ConfigError for an unknown name, for what is no finite number, and for values that the configuration refuses.
    """
    start = positions(base)
    unknown = sorted(str(name) for name in values if name not in start)
    if unknown:
        raise ConfigError(f"there is no slider {', '.join(unknown)}; there are {', '.join(NAMES)}")
    for name, value in values.items():
        if isinstance(value, bool) or not isinstance(value, Real) or not math.isfinite(value):
            raise ConfigError(f"{name} is {value!r}: must be a finite number")
    now = {**start, **values}
    budgets = {name: round(now[name]) for name in TIERS}
    return base.override(weights=normalised(base.weights, now), budgets=budgets, min_score=now[MIN_SCORE])


def normalised(base: Weights, values: Mapping[str, float]) -> Weights:
    """Weights in proportion to ``values``, with the sum of ``base`` (at most 10); all 0 if all values are.

    Rounded to four decimals; what rounding loses goes to the largest. Raises ConfigError for a negative value.
    """
    given = [float(values[name]) for name in SIGNALS]
    if given == list(base.as_tuple()):
        return base
    for name, value in zip(SIGNALS, given, strict=True):
        if not 0.0 <= value <= 10.0:
            raise ConfigError(f"weights.{name} is {value!r}: must lie from 0 to 10")
    total, aim = sum(given), min(sum(base.as_tuple()) or 1.0, _HIGHEST_SUM)
    if total == 0.0:
        return Weights(**dict.fromkeys(SIGNALS, 0.0))
    scaled = [round(aim * value / total, 4) for value in given]
    largest = given.index(max(given))
    scaled[largest] = round(min(max(scaled[largest] + aim - sum(scaled), 0.0), 10.0), 10)
    return Weights(**dict(zip(SIGNALS, scaled, strict=True)))
