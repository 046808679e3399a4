"""Configurations are checked, have one identity per content, and survive every way of writing them down."""

from __future__ import annotations

import copy
import json
import pickle
import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.config import (
    ENCODINGS,
    FILLS,
    FUSIONS,
    PRESETS,
    PRODUCTION_WEIGHTS,
    SIGNALS,
    AssemblyConfig,
    Budgets,
    Templates,
    Weights,
    load_config,
    preset,
)
from workbench.errors import ConfigError

NOT_NUMBERS = [None, "1", True, [1], float("nan"), float("inf"), -float("inf"), 1j, np.bool_(True)]
plain_text = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)

configs = st.builds(
    AssemblyConfig,
    weights=st.builds(Weights, **{name: st.floats(0, 10) for name in SIGNALS}),
    budgets=st.builds(
        Budgets,
        **{name: st.integers(0, 10**9) for name in ("soul", "memories", "episodes", "procedures")},
        total=st.none() | st.integers(0, 10**9),
    ),
    templates=st.builds(Templates, memories=plain_text.map(lambda text: text.replace("{", "{{").replace("}", "}}") + "{text}")),
    boosts=st.dictionaries(plain_text, st.floats(0, 100), max_size=4),
    top_k=st.integers(1, 10_000),
    cap=st.integers(0, 10_000),
    fusion=st.sampled_from(FUSIONS),
    alpha=st.floats(0, 1),
    reference_relevance=st.none() | st.floats(0, 1),
    conflict_band=st.none() | st.tuples(st.floats(-1, 0), st.floats(0, 1)),
    duplicate_threshold=st.none() | st.floats(-1, 1),
    contradictions=st.booleans(),
    min_score=st.floats(0, 1000),
    half_life_days=st.floats(1e-3, 1e6),
    fill=st.sampled_from(FILLS),
    encoding=st.sampled_from(ENCODINGS),
)


@given(configs)
def test_configurations_survive_every_form(config: AssemblyConfig) -> None:
    row = json.loads(json.dumps(config.to_dict(), allow_nan=False))
    forms = [
        AssemblyConfig.from_dict(row),
        AssemblyConfig.from_dict(tomllib.loads(config.to_toml())),
        pickle.loads(pickle.dumps(config)),
        copy.deepcopy(config),
        config.override(),
    ]
    for form in forms:
        assert form == config
        assert form.hash == config.hash
        assert hash(form) == hash(config)


@given(configs)
def test_files_give_back_what_was_written(config: AssemblyConfig) -> None:
    # the fixture tmp_path lives as long as the test, not as long as one example
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        for name, text in (("c.toml", config.to_toml()), ("c.json", json.dumps(config.to_dict()))):
            path = Path(folder) / name
            path.write_bytes(text.encode("utf-8"))
            assert AssemblyConfig.load(path) == config
            assert load_config(str(path)).hash == config.hash


@pytest.mark.parametrize("value", [Weights(recency=0.3), Budgets(total=9), Templates(memories="{date} {text}")], ids=repr)
def test_parts_pickle(value: Any) -> None:
    assert pickle.loads(pickle.dumps(value)) == value


def test_identity_is_content() -> None:
    assert AssemblyConfig().hash == AssemblyConfig(weights={"relevance": 0.5}, boosts={}).hash  # type: ignore[arg-type]
    assert len({AssemblyConfig(), AssemblyConfig(top_k=100), AssemblyConfig(top_k=99)}) == 2
    assert AssemblyConfig(boosts={"a": 1, "b": 2}).hash == AssemblyConfig(boosts={"b": 2.0, "a": 1.0}).hash
    assert AssemblyConfig(half_life_days=30).hash == AssemblyConfig(half_life_days=30.0).hash


def test_equal_configurations_have_equal_hashes_also_with_negative_zero() -> None:
    one, two = AssemblyConfig(min_score=-0.0, weights=Weights(recency=-0.0)), AssemblyConfig(weights=Weights(recency=0.0))
    assert one == two
    assert one.hash == two.hash


def test_every_setting_is_part_of_the_identity() -> None:
    changes: dict[str, Any] = {
        "weights": {"recency": 0.2}, "budgets": {"total": 5}, "templates": {"memories": "{date} {text}"}, "boosts": {"fact": 2},
        "top_k": 5, "cap": 5, "fusion": "rrf", "alpha": 0.5, "bm25_k1": 1.2, "bm25_b": 0.5, "reference_relevance": 0.5,
        "conflict_band": (0.1, 0.2), "duplicate_threshold": 0.9, "contradictions": False, "min_score": 0.1, "half_life_days": 5,
        "frequency_saturation": 5, "preference_min_importance": 0.5, "preference_share": 0.5, "fill": "skip",
        "encoding": "cl100k_base",
    }  # fmt: skip
    assert set(changes) == set(AssemblyConfig().to_dict())
    hashes = {AssemblyConfig().override(**{name: value}).hash for name, value in changes.items()}
    assert len(hashes | {AssemblyConfig().hash}) == len(changes) + 1


def test_configurations_cannot_be_changed() -> None:
    config = AssemblyConfig(boosts={"fact": 2.0})
    with pytest.raises(AttributeError):
        config.top_k = 3  # type: ignore[misc]
    with pytest.raises(TypeError):
        config.boosts["fact"] = 3.0  # type: ignore[index]


def test_a_mapping_that_changes_later_changes_nothing() -> None:
    boosts = {"fact": 2.0}
    config = AssemblyConfig(boosts=boosts)
    boosts["fact"] = 5.0
    assert config.boosts["fact"] == 2.0


@pytest.mark.parametrize("name", SIGNALS)
@pytest.mark.parametrize("value", [*NOT_NUMBERS, -0.1, 10.1, 10**400], ids=repr)
def test_weights_are_finite_and_in_range(name: str, value: object) -> None:
    with pytest.raises(ConfigError, match=rf"weights\.{name} is "):
        Weights(**{name: value})


@pytest.mark.parametrize("name", ["soul", "memories", "episodes", "procedures", "total"])
@pytest.mark.parametrize("value", [-1, 1.0, "10", True, 10**9 + 1, float("nan")], ids=repr)
def test_budgets_are_whole_numbers(name: str, value: object) -> None:
    with pytest.raises(ConfigError, match=rf"budgets\.{name} is .*whole number from 0"):
        Budgets(**{name: value})


@pytest.mark.parametrize(
    ("name", "values"),
    {
        "top_k": [0, -1, 1.5, "3", None, 10_001],
        "cap": [-1, 1.5, None, 10_001],
        "fusion": ["sum", None, 3, ""],
        "fill": ["best", None],
        "encoding": ["gpt2", "my-local-llm", "", None, 5],
        "alpha": [*NOT_NUMBERS, -0.1, 1.1],
        "bm25_k1": [*NOT_NUMBERS, -1],
        "bm25_b": [*NOT_NUMBERS, -0.1, 1.1],
        "reference_relevance": [*NOT_NUMBERS[1:], -0.1, 1.1],
        "conflict_band": [0.5, (0.5,), (0.9, 0.5), (0.5, float("nan")), ("a", "b"), (0.1, 2), "ab", {0.1, 0.2}],
        "duplicate_threshold": [*NOT_NUMBERS[1:], 1.5, -2],
        "contradictions": [0, 1, None, "yes"],
        "min_score": [*NOT_NUMBERS, -0.1],
        "half_life_days": [*NOT_NUMBERS, 0, -1],
        "frequency_saturation": [0, -1, 1.5, None],
        "preference_min_importance": [*NOT_NUMBERS, -0.1, 1.1],
        "preference_share": [*NOT_NUMBERS, -0.1, 1.1],
        "boosts": [None, [("a", 1)], {"a": -1}, {"a": float("nan")}, {"a": None}, {1: 1.0}, {"\ud800": 1.0}, "a"],
        "weights": [None, 1, [0.5], {"relevanz": 1}, {"relevance": "x"}, "production"],
        "budgets": [None, 5, {"facts": 5}, {"soul": -1}],
        "templates": [None, "{text}", {"memory": "{text}"}],
    }.items(),
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_settings_out_of_range_name_the_setting_and_the_value(name: str, values: list[object]) -> None:
    for value in values:
        with pytest.raises(ConfigError, match=name) as caught:
            AssemblyConfig(**{name: value})
        with pytest.raises(ConfigError, match=name):
            AssemblyConfig().override(**{name: value})
        assert "Traceback" not in str(caught.value)


@pytest.mark.parametrize(
    "template",
    [
        "", "no field", "{}", "{0}", "{nothing}", "{text", "text}", "{text.__class__}", "{text[0]}", "{text!r}", "{text:>9}",
        "{text:>999999999999}", "{text:{date}}", "{{text}}", "{steps}", "\ud800{text}", None, 5, b"{text}",
    ],
    ids=repr,
)  # fmt: skip
def test_templates_use_named_fields_and_nothing_else(template: Any) -> None:
    with pytest.raises(ConfigError, match=r"templates\.memories is "):
        Templates(memories=template)


@pytest.mark.parametrize("template", ["{text}", "{date}: {text}", "{{{text}}}", "{iso_date} {category} {tags} {source} {text}"])
def test_templates_may_use_the_fields_of_their_layer(template: str) -> None:
    assert Templates(memories=template).memories == template


def test_unknown_settings_are_named_with_the_known_ones() -> None:
    for call in (lambda: AssemblyConfig().override(topk=5), lambda: AssemblyConfig.from_dict({"topk": 5})):
        with pytest.raises(ConfigError, match=r"config has no setting topk; it has weights, budgets"):
            call()
    with pytest.raises(ConfigError, match="must be a table of named values"):
        AssemblyConfig.from_dict([1, 2])  # type: ignore[arg-type]


def test_partial_mappings_keep_the_rest() -> None:
    base = AssemblyConfig(weights=Weights(relevance=0.9), budgets=Budgets(soul=1, total=77))
    changed = base.override(weights={"recency": 0.0}, budgets={"memories": 0})
    assert changed.weights == Weights(relevance=0.9, recency=0.0)
    assert changed.budgets == Budgets(soul=1, memories=0, total=77)
    assert base.weights.recency == 0.10
    assert base.override(budgets={"total": None}).budgets.total is None


def test_numbers_of_a_numpy_sweep_are_taken() -> None:
    for k in np.arange(1, 4):
        config = AssemblyConfig(top_k=k, budgets=Budgets(memories=k), min_score=np.float32(0.5), frequency_saturation=k)
        assert type(config.top_k) is type(config.budgets.memories) is type(config.frequency_saturation) is int
        assert AssemblyConfig.from_dict(json.loads(json.dumps(config.to_dict()))) == config


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("c.toml", b"top_k = ", "not valid TOML or JSON"),
        ("c.toml", b"\xff\xfe", "not valid TOML or JSON"),
        ("c.json", b"{", "not valid TOML or JSON"),
        ("c.json", b"[1]", "must be a table of named values"),
        ("c.json", b"null", "must be a table of named values"),
        ("c.json", b'{"alpha": NaN}', "alpha is nan"),
        ("c.json", b'{"top_k": 1e3}', "top_k is 1000.0"),
        ("c.toml", b"alpha = 2.0", "alpha is 2.0"),
        ("c.toml", b"alpha = 2026-03-01", "alpha is datetime.date"),
        ("c.toml", b"[weights]\nrelevnce = 1.0", "weights has no setting relevnce"),
        ("c.json", b"[" * 100_000, "not valid TOML or JSON"),
    ],
)
def test_bad_files_are_named(tmp_path: Path, name: str, content: bytes, message: str) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(ConfigError, match=message) as caught:
        AssemblyConfig.load(path)
    assert str(path) in str(caught.value)


def test_missing_files_and_names_are_errors(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="cannot read the configuration"):
        AssemblyConfig.load(tmp_path / "none.toml")
    with pytest.raises(ConfigError, match=r"no configuration named 'prod'; give a preset \(production, "):
        load_config("prod")
    with pytest.raises(ConfigError, match="no preset named 'prod'"):
        preset("prod")


def test_presets() -> None:
    assert preset("production") == load_config("production") == AssemblyConfig()
    assert AssemblyConfig().weights == PRODUCTION_WEIGHTS
    assert PRODUCTION_WEIGHTS.as_tuple() == (0.50, 0.15, 0.15, 0.10, 0.10)
    assert preset("relevance-only").weights.as_tuple() == (1, 0, 0, 0, 0)
    assert len({config.hash for config in PRESETS.values()}) == len(PRESETS)
