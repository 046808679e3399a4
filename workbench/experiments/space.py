"""Which configurations a sweep tries: weights on an integer lattice or drawn, grids of any setting, and products of both."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from itertools import combinations, pairwise, product
from typing import Any

import numpy as np

from workbench.config import SIGNALS, AssemblyConfig, Budgets, Templates, Weights
from workbench.errors import ConfigError

_NESTED: Mapping[str, type] = {"weights": Weights, "budgets": Budgets, "templates": Templates}
MOST_POINTS = 1_000_000


def simplex(steps: int, parts: int = len(SIGNALS)) -> Iterator[tuple[int, ...]]:
    """All ways to share ``steps`` whole units among ``parts``, in lexicographic order; ``comb(steps + parts - 1, parts - 1)``
    of them.

    Whole numbers on purpose: adding tenths as floats loses points to rounding.

    Example:
        >>> list(simplex(2, 2))
        [(0, 2), (1, 1), (2, 0)]
        >>> sum(1 for _ in simplex(10))
        1001
    """
    for bars in combinations(range(steps + parts - 1), parts - 1):
        edges = (-1, *bars, steps + parts - 1)
        yield tuple(right - left - 1 for left, right in pairwise(edges))


def weight_points(plan: str) -> list[Weights]:
    """The weights of a plan: ``lattice:10`` (every point of the simplex in tenths), ``dirichlet:500`` or ``dirichlet:500:7``
    (that many draws spread evenly over the simplex, with a seed). Raises ConfigError for anything else."""
    kind, _, rest = plan.partition(":")
    numbers = rest.split(":")
    if not all(part.isdecimal() for part in numbers) or len(numbers) > (2 if kind == "dirichlet" else 1):
        raise ConfigError(f"weights plan is {plan!r}: write lattice:STEPS, dirichlet:N or dirichlet:N:SEED, such as lattice:10")
    count = int(numbers[0])
    if kind == "lattice" and 1 <= count <= 40:
        return [_weights([unit / count for unit in point]) for point in simplex(count)]
    if kind == "dirichlet" and 1 <= count <= MOST_POINTS:
        seed = int(numbers[1]) if len(numbers) > 1 else 0
        draws = np.random.Generator(np.random.PCG64(seed)).dirichlet(np.ones(len(SIGNALS)), size=count)
        return [_weights(row) for row in draws.tolist()]
    raise ConfigError(
        f"weights plan is {plan!r}: STEPS must be from 1 to 40 and N from 1 to {MOST_POINTS}; kinds are lattice and dirichlet"
    )


def _weights(values: Sequence[float]) -> Weights:
    return Weights(**dict(zip(SIGNALS, values, strict=True)))


def parse_grid(texts: Sequence[str]) -> dict[str, list[Any]]:
    """``budgets.memories=1000,2000`` as ``{"budgets.memories": [1000, 2000]}``; values are JSON, anything else is text."""
    grid: dict[str, list[Any]] = {}
    for text in texts:
        name, equals, values = text.partition("=")
        if not equals or not values:
            raise ConfigError(f"grid is {text!r}: write NAME=VALUE,VALUE such as budgets.memories=1000,2000")
        if name in grid:
            raise ConfigError(f"grid names {name!r} twice; give all its values at once")
        grid[name] = _values(values)
    return grid


def _values(text: str) -> list[Any]:
    if text.startswith("["):
        try:
            listed = json.loads(text)
        except ValueError as error:
            raise ConfigError(f"grid values {text!r} are not a JSON list: {error}") from None
        return list(listed)
    out: list[Any] = []
    for part in text.split(","):
        try:
            out.append(json.loads(part))
        except ValueError:
            out.append(part)
    return out


@dataclass(frozen=True, kw_only=True)
class Space:
    """The product of a weights plan and of grids over settings, around ``base``.

    weights: a plan as in ``weight_points``, a list of Weights, or None. grid: setting -> values, with dotted names inside
    weights, budgets and templates (``budgets.memories``). Points come in a fixed order, weights first.
    """

    base: AssemblyConfig = field(default_factory=AssemblyConfig)
    weights: str | Sequence[Weights] | None = None
    grid: Mapping[str, Sequence[Any]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        known = [item.name for item in fields(AssemblyConfig)]
        for name, values in self.grid.items():
            outer, dot, inner = name.partition(".")
            if outer not in known or (dot and inner not in [item.name for item in fields(_NESTED.get(outer, Space))]):
                raise ConfigError(
                    f"grid names {name!r}, which is no setting; settings are {', '.join(known)}, "
                    f"and inside {', '.join(_NESTED)} as in budgets.memories"
                )
            if isinstance(values, str) or not values:
                raise ConfigError(f"grid {name} is {values!r}: must be a list of at least one value")
            if self.weights is not None and outer == "weights":
                raise ConfigError(f"grid names {name!r} beside a weights plan; vary the weights in one way")

    def points(self) -> list[tuple[dict[str, Any], AssemblyConfig]]:
        """Every point as (parameters by dotted name, configuration). Raises ConfigError naming a point that is out of range."""
        plan = weight_points(self.weights) if isinstance(self.weights, str) else list(self.weights or [])
        names = list(self.grid)
        count = max(len(plan), 1)
        for values in self.grid.values():
            count *= len(values)
        if count > MOST_POINTS:
            raise ConfigError(f"the sweep has {count} points; at most {MOST_POINTS} are allowed, so make a grid coarser")
        out = []
        choices: list[Weights | None] = [*plan] if plan else [None]
        for weights, combination in product(choices, product(*self.grid.values())):
            params: dict[str, Any] = {}
            if weights is not None:
                params.update({f"weights.{name}": getattr(weights, name) for name in SIGNALS})
            params.update(zip(names, combination, strict=True))
            out.append((params, changed(self.base, params)))
        return out


@dataclass(frozen=True, kw_only=True)
class Listed:
    """Configurations one by one: ``base`` with each of ``changes``, mappings from dotted names to values."""

    base: AssemblyConfig
    changes: Sequence[Mapping[str, Any]]

    def points(self) -> list[tuple[dict[str, Any], AssemblyConfig]]:
        """Every point as (parameters by dotted name, configuration), in the order given."""
        return [(dict(params), changed(self.base, params)) for params in self.changes]


def changed(base: AssemblyConfig, params: Mapping[str, Any]) -> AssemblyConfig:
    """``base`` with settings by dotted name (``budgets.memories``). Raises ConfigError naming the point."""
    changes: dict[str, Any] = {}
    for name, value in params.items():
        outer, dot, inner = name.partition(".")
        if dot:
            changes.setdefault(outer, {})[inner] = value
        else:
            changes[outer] = value
    try:
        return base.override(**changes)
    except ConfigError as error:
        raise ConfigError(f"point {dict(params)} of the sweep cannot be: {error}") from None


def value_of(config: AssemblyConfig, name: str) -> Any:
    """The value of a setting by dotted name."""
    outer, dot, inner = name.partition(".")
    return getattr(getattr(config, outer), inner) if dot else getattr(config, outer)
