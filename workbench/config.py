"""Everything about assembly that can be tuned, as frozen values with an identity.

Two configurations with the same fields have the same ``hash``; files round-trip through TOML and JSON.
"""

from __future__ import annotations

import hashlib
import json
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from numbers import Integral, Real
from pathlib import Path
from string import Formatter
from types import MappingProxyType
from typing import Any

from workbench.errors import ConfigError

SIGNALS = ("relevance", "importance", "confidence", "recency", "frequency")
TIERS = ("soul", "memories", "episodes", "procedures")
FUSIONS = ("spread", "linear", "minmax", "rrf", "calibrated")
FILLS = ("stop", "skip")
ENCODINGS = ("o200k_base", "cl100k_base")
TEMPLATE_FIELDS = {
    "memories": ("text", "date", "iso_date", "category", "tags", "source"),
    "episodes": ("summary", "topics", "outcome", "date", "iso_date", "category", "tags", "source"),
    "procedures": ("name", "steps", "category", "tags", "source"),
}


def _is_number(value: object, kind: type) -> bool:
    # numpy's scalars are Real and Integral too, and so is bool, which is none here
    return isinstance(value, kind) and not isinstance(value, bool)


def _number(value: Any, name: str, low: float, high: float) -> float:
    if not _is_number(value, Real):
        raise ConfigError(f"{name} is {value!r}: must be a finite number from {low:g} to {high:g}")
    # also refuses NaN, and whole numbers too large for a float
    if not low <= value <= high:
        raise ConfigError(f"{name} is {value!r}: must lie from {low:g} to {high:g}")
    return float(value) + 0.0  # -0.0 is 0.0, so that equal settings have equal hashes


def _whole(value: Any, name: str, low: int, high: int) -> int:
    if not _is_number(value, Integral) or not low <= value <= high:
        raise ConfigError(f"{name} is {value!r}: must be a whole number from {low} to {high}")
    return int(value)


def _choice(value: object, name: str, allowed: tuple[str, ...]) -> str:
    if not isinstance(value, str) or value not in allowed:
        raise ConfigError(f"{name} is {value!r}: must be one of {', '.join(allowed)}")
    return value


def _text(value: object, name: str) -> str:
    if not isinstance(value, str):
        raise ConfigError(f"{name} is {value!r}: must be text")
    if any("\ud800" <= letter <= "\udfff" for letter in value):
        raise ConfigError(f"{name} is {value!r}: has a lone surrogate, which cannot be written as UTF-8")
    return value


def _known(cls: type, row: Mapping[str, Any], name: str) -> dict[str, Any]:
    if not isinstance(row, Mapping):
        raise ConfigError(f"{name} is {row!r}: must be a table of named values")
    allowed = [item.name for item in fields(cls)]
    extra = sorted(str(key) for key in row if key not in allowed)
    if extra:
        raise ConfigError(f"{name} has no setting {', '.join(extra)}; it has {', '.join(allowed)}")
    return {str(key): value for key, value in row.items()}


@dataclass(frozen=True, kw_only=True)
class Weights:
    """Weights of the five signals, each finite and in [0, 10]. They are used as given, not normalised."""

    relevance: float = 0.50
    importance: float = 0.15
    confidence: float = 0.15
    recency: float = 0.10
    frequency: float = 0.10

    def __post_init__(self) -> None:
        for name in SIGNALS:
            object.__setattr__(self, name, _number(getattr(self, name), f"weights.{name}", 0.0, 10.0))

    def as_tuple(self) -> tuple[float, float, float, float, float]:
        """The weights in the order of ``SIGNALS``."""
        return (self.relevance, self.importance, self.confidence, self.recency, self.frequency)


PRODUCTION_WEIGHTS = Weights()


@dataclass(frozen=True, kw_only=True)
class Budgets:
    """Token budgets. ``memories`` covers preferences and facts; ``total`` (None: no limit) caps the whole prompt."""

    soul: int = 500
    memories: int = 2000
    episodes: int = 1000
    procedures: int = 500
    total: int | None = None

    def __post_init__(self) -> None:
        for name in TIERS:
            object.__setattr__(self, name, _whole(getattr(self, name), f"budgets.{name}", 0, 10**9))
        if self.total is not None:
            object.__setattr__(self, "total", _whole(self.total, "budgets.total", 0, 10**9))


@dataclass(frozen=True, kw_only=True)
class Templates:
    """What is indexed (embedded and keyword-searched) for each layer, apart from what is rendered.

    ``{date}`` is written out (8 May 2023), ``{iso_date}`` is 2023-05-08; both from the entry's last change.
    """

    memories: str = "{text}"
    episodes: str = "{date}: {summary} {topics} {outcome}"
    procedures: str = "{name}: {steps}"

    def __post_init__(self) -> None:
        for layer, allowed in TEMPLATE_FIELDS.items():
            template = _text(getattr(self, layer), f"templates.{layer}")
            try:
                parts = [part for part in Formatter().parse(template) if part[1] is not None]
            except ValueError as error:
                raise ConfigError(
                    f"templates.{layer} is {template!r}: {error}; write {{{{ or }}}} for a brace that is meant as one"
                ) from None
            # no attributes, conversions or format specifications: "{text:>999999999}" would fill the memory
            if any(name not in allowed or spec or conversion for _, name, spec, conversion in parts):
                raise ConfigError(
                    f"templates.{layer} is {template!r}: may use only the fields "
                    + ", ".join("{" + name + "}" for name in allowed)
                )
            if not parts:
                raise ConfigError(f"templates.{layer} is {template!r}: uses no field, so all entries would be alike")


def _boosts(value: object) -> MappingProxyType[str, float]:
    if not isinstance(value, Mapping):
        raise ConfigError(f"boosts is {value!r}: must map a category to a factor")
    checked = {}
    for category in sorted(value, key=str):
        name = _text(category, "a category in boosts")
        checked[name] = _number(value[category], f"boosts.{name}", 0.0, 100.0)
    return MappingProxyType(checked)


@dataclass(frozen=True, kw_only=True)
class AssemblyConfig:
    """All settings of one assembly; the defaults are the reference behaviour.

    top_k: hits per layer and arm. cap: candidates per layer after merging. fusion: how relevance is formed (``spread`` is the
    reference). alpha: share of the vector arm in [0, 1]. conflict_band, duplicate_threshold, reference_relevance: None
    takes the encoder's measured value. min_score: entries scoring less leave. half_life_days: > 0.
    frequency_saturation: access count at which frequency reaches 1. preference_share: of the memory budget.
    """

    weights: Weights = PRODUCTION_WEIGHTS
    budgets: Budgets = field(default_factory=Budgets)
    templates: Templates = field(default_factory=Templates)
    boosts: Mapping[str, float] = field(default_factory=dict)
    top_k: int = 100
    cap: int = 100
    fusion: str = "spread"
    alpha: float = 0.6
    bm25_k1: float = 1.5
    bm25_b: float = 0.75
    reference_relevance: float | None = None
    conflict_band: tuple[float, float] | None = None
    duplicate_threshold: float | None = None
    contradictions: bool = True
    min_score: float = 0.0
    half_life_days: float = 30.0
    frequency_saturation: int = 100
    preference_min_importance: float = 0.7
    preference_share: float = 0.25
    fill: str = "stop"
    encoding: str = "o200k_base"

    def __post_init__(self) -> None:
        put = object.__setattr__
        for name, cls in (("weights", Weights), ("budgets", Budgets), ("templates", Templates)):
            value = getattr(self, name)
            if isinstance(value, Mapping):
                value = cls(**_known(cls, value, name))
                put(self, name, value)
            if not isinstance(value, cls):
                raise ConfigError(f"{name} is {value!r}: must be {cls.__name__}")
        put(self, "boosts", _boosts(self.boosts))
        put(self, "top_k", _whole(self.top_k, "top_k", 1, 10_000))
        put(self, "cap", _whole(self.cap, "cap", 0, 10_000))
        _choice(self.fusion, "fusion", FUSIONS)
        put(self, "alpha", _number(self.alpha, "alpha", 0.0, 1.0))
        put(self, "bm25_k1", _number(self.bm25_k1, "bm25_k1", 0.01, 100.0))
        put(self, "bm25_b", _number(self.bm25_b, "bm25_b", 0.0, 1.0))
        if self.reference_relevance is not None:
            put(self, "reference_relevance", _number(self.reference_relevance, "reference_relevance", 0.0, 1.0))
        if self.conflict_band is not None:
            put(self, "conflict_band", _band(self.conflict_band))
        if self.duplicate_threshold is not None:
            put(self, "duplicate_threshold", _number(self.duplicate_threshold, "duplicate_threshold", -1.0, 1.01))
        if not isinstance(self.contradictions, bool):
            raise ConfigError(f"contradictions is {self.contradictions!r}: must be true or false")
        put(self, "min_score", _number(self.min_score, "min_score", 0.0, 1000.0))
        put(self, "half_life_days", _number(self.half_life_days, "half_life_days", 1e-3, 1e6))
        put(self, "frequency_saturation", _whole(self.frequency_saturation, "frequency_saturation", 1, 10**9))
        put(self, "preference_min_importance", _number(self.preference_min_importance, "preference_min_importance", 0, 1))
        put(self, "preference_share", _number(self.preference_share, "preference_share", 0.0, 1.0))
        _choice(self.fill, "fill", FILLS)
        _choice(self.encoding, "encoding", ENCODINGS)

    def __hash__(self) -> int:
        return hash(self.hash)

    def __reduce__(self) -> tuple[Any, ...]:
        # mapping proxies do not pickle; the plain form does
        return (AssemblyConfig.from_record, (self.to_record(),))

    @property
    def given(self) -> frozenset[str]:
        """Names of the settings that a file or ``override`` stated, also where the value is the default.

        ``budgets.memories`` for a part of a setting. A dataset's own settings leave these alone. Not part of the identity:
        configurations that differ in nothing else are equal.
        """
        given: frozenset[str] = self.__dict__.get("_given", frozenset())
        return given

    def to_dict(self) -> dict[str, Any]:
        """All settings as JSON-ready values."""
        out: dict[str, Any] = {}
        for item in fields(self):
            value = getattr(self, item.name)
            if isinstance(value, (Weights, Budgets, Templates)):
                value = {part.name: getattr(value, part.name) for part in fields(value)}
            elif isinstance(value, Mapping):
                value = dict(value)
            elif isinstance(value, tuple):
                value = list(value)
            out[item.name] = value
        return out

    @classmethod
    def from_dict(cls, row: Mapping[str, Any]) -> AssemblyConfig:
        """The inverse of ``to_dict``; missing settings take their defaults, unknown ones raise ConfigError."""
        return cls(**_known(cls, row, "config"))

    def to_record(self) -> dict[str, Any]:
        """All settings as JSON-ready values, and under ``given`` which of them were stated."""
        return {**self.to_dict(), "given": sorted(self.given)} if self.given else self.to_dict()

    @classmethod
    def from_record(cls, row: Mapping[str, Any]) -> AssemblyConfig:
        """The inverse of ``to_record``."""
        config = cls.from_dict({name: value for name, value in row.items() if name != "given"})
        return _giving(config, frozenset(row.get("given", ())))

    @property
    def hash(self) -> str:
        """Identity by content: 16 hex digits of the SHA-256 of the canonical JSON form."""
        text = json.dumps(self.to_dict(), sort_keys=True, separators=(",", ":"), allow_nan=False)
        return hashlib.sha256(text.encode("utf-8")).hexdigest()[:16]

    def override(self, **changes: Any) -> AssemblyConfig:
        """A copy with some settings changed.

        ``weights``, ``budgets`` and ``templates`` may be given as partial mappings, whose missing values stay as they are;
        ``boosts`` replaces the whole mapping. Unknown settings raise ConfigError.
        """
        changes = _known(AssemblyConfig, changes, "config")
        asked = dict(changes)
        for name, cls in (("weights", Weights), ("budgets", Budgets), ("templates", Templates)):
            value = changes.get(name)
            if isinstance(value, Mapping):
                changes[name] = replace(getattr(self, name), **_known(cls, value, name))
        return _giving(replace(self, **changes), self.given | _names(asked))

    def filled(self, values: Mapping[str, Any]) -> AssemblyConfig:
        """A copy with these values for settings that were left open; unlike by ``override`` they do not count as ``given``."""
        return _giving(replace(self, **values), self.given)

    def to_toml(self) -> str:
        """The settings as TOML; settings that are None (taken from the encoder) are left out."""
        return _toml(self.to_dict())

    @classmethod
    def load(cls, path: str | Path) -> AssemblyConfig:
        """Read a ``.toml`` or ``.json`` file. Raises ConfigError naming the file."""
        source = Path(path)
        try:
            data = source.read_bytes()
            row = tomllib.loads(data.decode("utf-8")) if source.suffix == ".toml" else json.loads(data)
        except OSError as error:
            raise ConfigError(f"cannot read the configuration {source}: {error.strerror}") from None
        except (ValueError, RecursionError) as error:
            raise ConfigError(f"the configuration {source} is not valid TOML or JSON: {error}") from None
        try:
            return _giving(cls.from_dict(row), _names(row))
        except ConfigError as error:
            raise ConfigError(f"{source}: {error}") from None


def _names(row: Mapping[str, Any]) -> frozenset[str]:
    """The settings that a mapping states."""
    names: set[str] = set()
    for name, value in row.items():
        if name in ("weights", "budgets", "templates"):
            names |= {f"{name}.{part}" for part in (value if isinstance(value, Mapping) else vars(value))}
        else:
            names.add(name)
    return frozenset(names)


def _giving(config: AssemblyConfig, names: frozenset[str]) -> AssemblyConfig:
    object.__setattr__(config, "_given", names)
    return config


def _band(value: object) -> tuple[float, float]:
    if not isinstance(value, (tuple, list)) or len(value) != 2:
        raise ConfigError(f"conflict_band is {value!r}: must be a pair such as [0.75, 0.92]")
    low, high = (_number(part, "conflict_band", -1.0, 1.0) for part in value)
    if low > high:
        raise ConfigError(f"conflict_band is {value!r}: the lower end must not exceed the upper")
    return (low, high)


def _toml(row: Mapping[str, Any]) -> str:
    def text(value: Any) -> str:
        # JSON strings, numbers, booleans and flat lists are valid TOML (DEL apart, which TOML wants escaped)
        return json.dumps(value, allow_nan=False, ensure_ascii=False).replace("\x7f", "\\u007F")

    flat = [f"{key} = {text(value)}" for key, value in row.items() if value is not None and not isinstance(value, dict)]
    for key, value in row.items():
        if isinstance(value, dict):
            flat += ["", f"[{key}]"]
            flat += [f"{text(name)} = {text(part)}" for name, part in value.items() if part is not None]
    return "\n".join(flat) + "\n"


def preset(name: str) -> AssemblyConfig:
    """A named configuration. Raises ConfigError naming the presets."""
    if name not in PRESETS:
        raise ConfigError(f"no preset named {name!r}; there are {', '.join(PRESETS)}")
    return PRESETS[name]


PRESETS: Mapping[str, AssemblyConfig] = MappingProxyType(
    {
        "production": AssemblyConfig(),
        "relevance-only": AssemblyConfig(
            weights=Weights(relevance=1.0, importance=0.0, confidence=0.0, recency=0.0, frequency=0.0)
        ),
        "rrf": AssemblyConfig(fusion="rrf"),
        "linear": AssemblyConfig(fusion="linear"),
        "minmax": AssemblyConfig(fusion="minmax"),
        "calibrated": AssemblyConfig(fusion="calibrated"),
        "no-contradictions": AssemblyConfig(contradictions=False),
    }
)


def load_config(name_or_path: str) -> AssemblyConfig:
    """A preset by name, or a configuration file by path (``.toml`` or ``.json``)."""
    if name_or_path in PRESETS:
        return PRESETS[name_or_path]
    if name_or_path.endswith((".toml", ".json")):
        return AssemblyConfig.load(name_or_path)
    raise ConfigError(f"no configuration named {name_or_path!r}; give a preset ({', '.join(PRESETS)}) or a .toml or .json file")
