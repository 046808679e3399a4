"""Encoders are checked at the door, and their vectors before they are used."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from workbench.embedding.calibration import MEASURED, REFERENCE, calibration_of
from workbench.embedding.encoder import Encoder, as_unit_rows, check_encoder, checked_encode, load_encoder
from workbench.errors import ConfigError, StoreError


class Fixed:
    name = "fixed"
    dim = 3

    def __init__(self, output: Any) -> None:
        self.output = output

    def encode(self, texts: list[str], /) -> Any:
        return self.output


def test_an_encoder_is_anything_with_a_name_a_size_and_encode(kit: Any) -> None:
    check_encoder(kit.encoder)
    check_encoder(Fixed(None))
    assert isinstance(kit.encoder, Encoder)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"name": ""}, "name ''"),
        ({"name": None}, "name None"),
        ({"name": 7}, "name 7"),
        ({"dim": 0}, "dim 0"),
        ({"dim": -3}, "dim -3"),
        ({"dim": 3.0}, "dim 3.0"),
        ({"dim": True}, "dim True"),
        ({"dim": None}, "dim None"),
        ({"encode": None}, "no method encode"),
    ],
)
def test_what_is_no_encoder_is_refused(kit: Any, fields: dict[str, Any], message: str) -> None:
    class Broken(Fixed):
        pass

    broken = Broken(None)
    for name, value in fields.items():
        setattr(broken, name, value)
    for call in (lambda: check_encoder(broken), lambda: kit.assembler(encoder=broken)):
        with pytest.raises(ConfigError, match=message):
            call()


def test_any_object_is_no_encoder(kit: Any) -> None:
    for thing in (object(), "all-MiniLM-L6-v2", 5):
        with pytest.raises(ConfigError, match="encoder"):
            kit.assembler(encoder=thing)


@pytest.mark.parametrize(
    "output",
    [
        [[1, 0]], [[1, 0, 0]] * 3, [1, 0, 0], [[[1, 0, 0]]], [], np.zeros((2, 4)), np.zeros((3, 2)).T[:, :1],
    ],
    ids=repr,
)  # fmt: skip
def test_wrong_shapes_name_both_sizes(output: Any) -> None:
    with pytest.raises(StoreError, match=r"fixed promises vectors of size 3, expected shape \(2, 3\), got \("):
        checked_encode(Fixed(output), ["a", "b"])


@pytest.mark.parametrize("output", [None, "vectors", [[1, 0], [1]], [["a", "b", "c"]] * 2, [[None] * 3, [{}] * 3]], ids=repr)
def test_what_is_no_matrix_is_refused(output: Any) -> None:
    with pytest.raises(StoreError, match="fixed"):
        checked_encode(Fixed(output), ["a", "b"])


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_vectors_must_be_finite(value: float) -> None:
    with pytest.raises(StoreError, match="NaN or infinity for one of 2 texts"):
        checked_encode(Fixed([[1, 0, 0], [0, value, 0]]), ["a", "b"])


def test_no_texts_give_no_rows_without_asking() -> None:
    assert checked_encode(Fixed("never looked at"), []).shape == (0, 3)


@pytest.mark.parametrize(
    "layout",
    [
        lambda rows: rows.astype(np.float64),
        lambda rows: rows.astype(np.float16).astype(np.float64),
        lambda rows: rows.tolist(),
        lambda rows: np.asfortranarray(rows),
        lambda rows: np.repeat(rows, 2, axis=1)[:, ::2],
        lambda rows: rows.astype(">f4"),
    ],
)
def test_any_layout_of_numbers_is_taken(layout: Any) -> None:
    rows = np.array([[0.6, 0.8, 0], [0, 0, 1]], dtype=np.float32)
    vectors = checked_encode(Fixed(layout(rows)), ["a", "b"])
    assert vectors.dtype == np.float32
    assert vectors.flags.c_contiguous
    np.testing.assert_allclose(vectors, rows, atol=1e-3)


numbers = st.floats(-1e300, 1e300, allow_subnormal=True) | st.floats(-2, 2) | st.sampled_from([0.0, 1e-300, 5e-324, -1e300])


@given(hnp.arrays(np.float64, hnp.array_shapes(min_dims=2, max_dims=2, max_side=6), elements=numbers))
def test_rows_become_unit_vectors_of_the_same_direction(matrix: Any) -> None:
    unit = as_unit_rows(matrix, rows=matrix.shape[0], dim=matrix.shape[1], name="any")
    norms = np.linalg.norm(unit.astype(np.float64), axis=1)
    zero = ~matrix.any(axis=1)
    assert (norms[zero] == 0).all()
    np.testing.assert_allclose(norms[~zero], 1.0, atol=2e-5)
    assert (np.sign(unit) * np.sign(matrix) >= 0).all()


@given(hnp.arrays(np.float32, (3, 8), elements=st.floats(-1, 1, width=32)))
def test_unit_rows_are_kept_bit_for_bit(matrix: Any) -> None:
    once = as_unit_rows(matrix, rows=3, dim=8, name="any")
    assert as_unit_rows(once, rows=3, dim=8, name="any").tobytes() == once.tobytes()


def test_an_encoder_that_changes_its_size_is_named(kit: Any) -> None:
    class Growing(kit.Encoder):  # type: ignore[name-defined, misc]
        def encode(self, texts: list[str], /) -> Any:
            rows = super().encode(texts)
            return np.hstack([rows, rows]) if "query" in texts[0] else rows

    assembler = kit.assembler([kit.memory("m1", "tea")], encoder=Growing(name="growing"))
    with pytest.raises(StoreError, match=r"growing promises vectors of size 64, expected shape \(1, 64\), got \(1, 128\)"):
        assembler.assemble("query", now=kit.now)


@pytest.mark.parametrize("name", ["", None, 5])
def test_encoder_names_are_text(name: Any) -> None:
    with pytest.raises(ConfigError, match=r"must be a preset \(bundled, "):
        load_encoder(name)


@pytest.mark.slow  # the only one here that imports torch
def test_a_folder_without_a_model_is_a_clear_error(tmp_path: Any, no_network: None) -> None:
    with pytest.raises(StoreError, match=r"cannot load the sentence-transformers model .*give a local folder"):
        load_encoder(str(tmp_path))


def test_calibration_comes_from_the_encoder_then_from_measurement_then_from_the_reference(kit: Any) -> None:
    named = Fixed(None)
    named.name = "all-MiniLM-L6-v2@53aa51172d14"
    assert calibration_of(named) == MEASURED["all-MiniLM-L6-v2"]
    assert calibration_of(Fixed(None)) == REFERENCE
    own = Fixed(None)
    own.duplicate_threshold = 0.5  # type: ignore[attr-defined]
    own.conflict_band = None  # type: ignore[attr-defined]
    assert calibration_of(own).duplicate_threshold == 0.5
    assert calibration_of(own).conflict_band == REFERENCE.conflict_band
    settings = kit.assembler(encoder=own).settings()
    assert (settings.duplicate_threshold, settings.conflict_band) == (0.5, (0.75, 0.92))


def test_an_impossible_calibration_is_named(kit: Any) -> None:
    own = Fixed(None)
    own.conflict_band = (0.9, 0.1)  # type: ignore[attr-defined]
    with pytest.raises(ConfigError, match="conflict_band"):
        kit.assembler(encoder=own).settings()
