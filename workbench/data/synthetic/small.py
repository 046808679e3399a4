"""The reference set ``synthetic-small``: shipped as parameters and a checksum, generated where it is needed."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from workbench.data.judged import JudgedDataset
from workbench.data.synthetic.generator import GENERATOR_VERSION, Synthesis, synthesize_labelled
from workbench.errors import DataError

NAME = "synthetic-small"
PARAMETERS: Mapping[str, Any] = MappingProxyType(
    {"users": 20, "size": 300, "seed": 7, "languages": ["en", "es", "de", "pt", "ko"], "generator_version": "1"}
)
"""Arguments of ``synthesize``, and the version of the generator that the checksum belongs to."""
SHA256 = "5489a407d5bc14322a3b26faf5f197e087f8278be5974f1e7b73ec0bfeaf168f"
"""Checksum of the saved form (``JudgedDataset.checksum``)."""
SIZE = 2_294_278
"""Bytes of the saved form."""


def small_labelled() -> Synthesis:
    """The reference set with its labels. Raises DataError when the generator gives other bytes than it was published with."""
    arguments = {key: value for key, value in PARAMETERS.items() if key != "generator_version"}
    made = synthesize_labelled(**arguments, name=NAME)
    if made.dataset.checksum != SHA256:
        raise DataError(
            f"{NAME} was generated with the checksum {made.dataset.checksum}, expected {SHA256}; the generator (version "
            f"{GENERATOR_VERSION}) or its wording was changed: raise the version and publish the new checksum, or undo the change"
        )
    return made


def small() -> JudgedDataset:
    """The reference set: 20 users, 300 entries each."""
    return small_labelled().dataset
