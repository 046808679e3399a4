"""The datasets known by name, and one way to load any of them or a directory of one's own."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from workbench.data import longmemeval
from workbench.data.exporting import read_store
from workbench.data.files import load_directory
from workbench.data.judged import JudgedDataset
from workbench.data.local_copies import local_copy
from workbench.data.locomo import LOCOMO_LICENCE, LOCOMO_SHA256, LOCOMO_URL, load_locomo
from workbench.data.longmemeval import load_longmemeval
from workbench.data.rows import META_FILE, is_dataset_file
from workbench.data.strict_json import shown
from workbench.errors import DataError


@dataclass(frozen=True, kw_only=True)
class DatasetInfo:
    """A dataset known by name. ``file``: name of the downloaded file, empty when it ships with the project.

    size: bytes. sha256: of the file; of a shipped dataset, its checksum as ``JudgedDataset.checksum`` has it.
    options: keyword options of ``load_dataset`` for it.
    """

    name: str
    description: str
    source: str
    licence: str
    citation: str
    size: int
    sha256: str
    url: str = ""
    file: str = ""
    options: tuple[str, ...] = ()


_STARTER = DatasetInfo(
    name="starter",
    description="Fictional users written by hand, with judged queries over fourteen scenarios; ships with the project.",
    source="written for this project (datasets/starter)",
    licence="Apache-2.0",
    citation="Context assembly workbench, starter dataset",
    size=0,
    sha256="",
    options=("skip_bad",),
)
_LOCOMO = DatasetInfo(
    name="locomo",
    description="Ten long two-person conversations, 5,882 turns, 1,986 questions with evidence turns (1,982 judged).",
    source="https://github.com/snap-research/locomo",
    licence=LOCOMO_LICENCE,
    citation=(
        "Maharana, Lee, Tulyakov, Bansal, Barbieri, Fang: Evaluating Very Long-Term Conversational Memory of LLM "
        "Agents. ACL 2024, arXiv:2402.17753"
    ),
    size=2_805_274,
    sha256=LOCOMO_SHA256,
    url=LOCOMO_URL,
    file="locomo10.json",
    options=("unit", "template"),
)
_LONGMEMEVAL_SIZES = {
    "oracle": "only the sessions that hold the evidence",
    "s": "some 48 sessions (115,000 tokens) a question",
    "m": "some 500 sessions a question",
}
_LONGMEMEVAL = tuple(
    DatasetInfo(
        name=f"longmemeval-{release.variant}",
        description=f"500 questions (30 of them without an answer) over dated chat sessions: {what}.",
        source="https://github.com/xiaowu0162/LongMemEval",
        licence=longmemeval.LICENCE,
        citation=(
            "Wu, Wang, Yu, Zhang, Chang, Yu: LongMemEval: Benchmarking Chat Assistants on Long-Term Interactive Memory. "
            "ICLR 2025, arXiv:2410.10813"
        ),
        size=release.size,
        sha256=release.sha256,
        url=longmemeval.URL + release.file,
        file=release.file,
        options=("roles", "template", "limit"),
    )
    for release, what in ((item, _LONGMEMEVAL_SIZES[item.variant]) for item in longmemeval.RELEASES)
)
_KNOWN = {info.name: info for info in (_STARTER, _LOCOMO, *_LONGMEMEVAL)}
_DIRECTORY_OPTIONS = ("skip_bad",)

# the starter set is package data in an installed wheel (see pyproject.toml) and lies beside the package in a checkout
_STARTER_PLACES = (
    Path(__file__).parent / "starter",
    Path(__file__).resolve().parents[2] / "datasets" / "starter",
)


def starter_directory() -> Path:
    """Where the starter dataset lies. Raises DataError when it is not there."""
    for directory in _STARTER_PLACES:
        if (directory / META_FILE).is_file():
            return directory
    raise DataError(
        f"the starter dataset is in neither of {', '.join(map(str, _STARTER_PLACES))}; install the package again or "
        "work from a checkout"
    )


def list_datasets() -> tuple[DatasetInfo, ...]:
    """All datasets known by name, in the order of their names."""
    return tuple(dataset_info(name) for name in sorted(_KNOWN))


def dataset_info(name: str) -> DatasetInfo:
    """What is known of a dataset. Raises DataError naming the known ones."""
    if name not in _KNOWN:
        raise DataError(f"no dataset is named {shown(name)}; known are {', '.join(sorted(_KNOWN))}")
    info = _KNOWN[name]
    if info is not _STARTER:
        return info
    directory = starter_directory()
    size = sum(item.stat().st_size for item in directory.iterdir() if is_dataset_file(item.name))
    return replace(info, size=size, sha256=load_directory(directory).checksum)


def load_dataset(
    name_or_path: str | os.PathLike[str], *, data: str | os.PathLike[str] | None = None, **options: Any
) -> JudgedDataset:
    """Load a judged dataset.

    ``"starter"`` ships with the project. ``"locomo"`` and ``"longmemeval-oracle"``, ``-s``, ``-m`` read the file ``data`` if
    given, else the copy in the cache directory, which a small one is downloaded to once (options: see ``load_locomo`` and
    ``load_longmemeval``). Anything else is the path of one's own store: a directory of the JSONL layout, of CSV or of
    Parquet tables, or one such table or SQLite file (option ``skip_bad``, see ``read_store``); a directory called like a known
    dataset is reached as ``./starter``. Raises DataError.
    """
    if not isinstance(name_or_path, (str, os.PathLike)):
        raise DataError(f"the dataset is {shown(name_or_path)}: give a name ({', '.join(sorted(_KNOWN))}) or a directory")
    known = isinstance(name_or_path, str) and name_or_path in _KNOWN
    allowed = _KNOWN[str(name_or_path)].options if known else _DIRECTORY_OPTIONS
    extra = sorted(set(options) - set(allowed))
    if extra:
        raise DataError(f"dataset {shown(str(name_or_path))} has no option {', '.join(extra)}; it has {', '.join(allowed)}")
    if known and name_or_path == "locomo":
        return load_locomo(local_copy(_LOCOMO) if data is None else data, **options)
    if known and str(name_or_path).startswith("longmemeval-"):
        return load_longmemeval(local_copy(_KNOWN[str(name_or_path)]) if data is None else data, **options)
    if data is not None:
        raise DataError(
            f"data= names the file of a public dataset (locomo, longmemeval-s); {shown(str(name_or_path))} takes none, "
            "leave it out"
        )
    if known:
        return load_directory(starter_directory(), **options)
    return read_store(_own(name_or_path), **options).dataset


def _own(name_or_path: str | os.PathLike[str]) -> Path:
    path = Path(name_or_path)
    names = ", ".join(sorted(_KNOWN))
    try:
        # an empty name is no name; only "." means the current directory
        if str(name_or_path) and path.exists():
            if path.is_file() and path.suffix.lower() == ".json":
                raise DataError(
                    f"{path} is a file; give a public dataset's file with its name, load_dataset('locomo', data=...), and "
                    "bring other exports in with: workbench data import"
                )
            return path
    except (OSError, ValueError) as error:
        if isinstance(error, DataError):
            raise
    raise DataError(f"no dataset or directory {shown(str(name_or_path))}; known datasets are {names}")
