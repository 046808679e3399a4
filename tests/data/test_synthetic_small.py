"""The shipped reference set: regenerated here, compared with its published checksum."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from workbench.data.registry import dataset_info, list_datasets, load_dataset
from workbench.data.synthetic import small
from workbench.errors import DataError

FOLDER = Path(__file__).resolve().parents[2] / "datasets" / "synthetic-small"


def test_the_set_is_regenerated_with_its_checksum() -> None:
    dataset = load_dataset("synthetic-small")
    assert dataset.checksum == small.SHA256
    assert (len(dataset.stores), {len(store) for store in dataset.stores.values()}) == (20, {300})


def test_parameters_and_card_agree_with_the_code() -> None:
    shipped = json.loads((FOLDER / "parameters.json").read_text(encoding="utf-8"))
    assert shipped == {"name": small.NAME, **small.PARAMETERS, "sha256": small.SHA256}
    assert small.SHA256 in (FOLDER / "CARD.md").read_text(encoding="utf-8")
    assert not list(FOLDER.glob("*.jsonl"))


def test_the_registry_knows_it() -> None:
    info = dataset_info("synthetic-small")
    assert (info.sha256, info.size) == (small.SHA256, small.SIZE)
    assert info in list_datasets()
    with pytest.raises(DataError, match="no option"):
        load_dataset("synthetic-small", skip_bad=True)
    with pytest.raises(DataError, match="takes none"):
        load_dataset("synthetic-small", data="x.json")


def test_another_wording_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(small, "PARAMETERS", {**small.PARAMETERS, "users": 1, "seed": 8})
    with pytest.raises(DataError, match="expected 5489a407"):
        small.small()
