"""Other systems' run files: both forms, displayed order, missing queries, and agreement with trec_eval's measures."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from workbench.data.judged import JudgedDataset, JudgedQuery
from workbench.data.saving import save_directory
from workbench.entries import Memory
from workbench.errors import DataError
from workbench.experiments.scorefile import Ranked, read_run_file, score
from workbench.store.user import UserStore

NOW = "2026-06-01T09:00:00Z"


@pytest.fixture(scope="module")
def dataset() -> JudgedDataset:
    stores, queries = {}, []
    for user in ("hob", "nix", "pim"):
        memories = [Memory(id=f"m{at}", text=f"fact {at}", created_at="2026-05-01") for at in range(6)]
        stores[user] = UserStore(user, memories=memories)
        queries += [
            JudgedQuery(id=f"{user}-1", user_id=user, query="a", now=NOW, relevant={"m0": 2, "m1": 1}, forbidden=("m5",)),
            JudgedQuery(id=f"{user}-2", user_id=user, query="b", now=NOW, relevant={"m2": 1}),
            JudgedQuery(id=f"{user}-3", user_id=user, query="c", now=NOW, answerable=False),
        ]
    return JudgedDataset(
        name="tiny", stores=stores, queries=tuple(queries), licence="Apache-2.0", source="made here", checksum="0" * 64
    )


def written(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "run.txt"
    path.write_text(text, encoding="utf-8")
    return path


def test_trec_files_are_ordered_by_score_then_by_displayed_rank(tmp_path: Path) -> None:
    path = written(tmp_path, "q1 Q0 c 3 1.0 x\nq1 Q0 a 1 1.0 x\nq1 Q0 b 2 1.0 x\n\nq1 Q0 d 4 5.0 x\nq2 Q0 a 1 0.5 x\n")
    found = read_run_file(path)
    assert found["q1"].ranking == ("d", "a", "b", "c")
    assert found["q1"].selected is None
    assert found["q2"].ranking == ("a",)


def test_scores_agree_with_ir_measures(tmp_path: Path, dataset: JudgedDataset) -> None:
    import ir_measures
    from ir_measures import RR, P, R, nDCG

    rng = np.random.default_rng(4)
    lines, run = [], []
    for query in dataset.queries:
        for rank, key in enumerate(rng.permutation([f"m{at}" for at in range(6)])[:4].tolist(), start=1):
            lines.append(f"{query.id} Q0 {key} {rank} {1 / rank} me")
            run.append(ir_measures.ScoredDoc(query.id, key, 1 / rank))
    result = score(read_run_file(written(tmp_path, "\n".join(lines))), dataset)
    qrels = [ir_measures.Qrel(query.id, key, grade) for query in dataset.queries for key, grade in query.relevant.items()]
    names = {R @ 5: "Recall@5", nDCG @ 10: "nDCG@10", P @ 10: "Precision@10", RR: "RR"}
    for measure, value in ir_measures.calc_aggregate(list(names), qrels, run).items():
        assert result.summaries[names[measure]].mean == pytest.approx(value), names[measure]


def test_selections_missing_queries_repeats_and_strangers(tmp_path: Path, dataset: JudgedDataset) -> None:
    rows: list[dict[str, Any]] = [
        {"query_id": "hob-1", "selected": ["m0", "m0", "m5", "zzz"], "tokens": 40},
        {"query_id": "hob-2", "selected": ["m2"], "tokens": 10},
    ]
    result = score(read_run_file(written(tmp_path, "\n".join(map(json.dumps, rows)))), dataset)
    assert result.values["ContextRecall"][0] == 0.5
    assert result.values["StaleExposure"][0] == 1.0
    assert result.values["Leaks"][0] == 1.0
    assert result.values["ContextRecall"][3] == 0.0  # not answered: the worst, and it does not vanish
    assert len(result.missing) == 7
    assert result.strangers == 1
    assert result.summaries["ContextRecall"].n == 6
    assert "7 missing" in str(result)
    assert result.summaries["Tokens"].n == 9


def test_the_first_k_can_stand_for_a_selection(tmp_path: Path, dataset: JudgedDataset) -> None:
    found = {query.id: Ranked(ranking=("m5", "m0", "m1"), selected=None) for query in dataset.queries}
    assert "ContextRecall" not in score(found, dataset).summaries
    result = score(found, dataset, first_k=2)
    assert result.values["ContextRecall"][0] == 0.5
    with pytest.raises(DataError, match="selected"):
        score(found, dataset, metrics=["ContextRecall"])
    with pytest.raises(DataError, match="tokens"):
        score(found, dataset, metrics=["Tokens"], first_k=2)
    with pytest.raises(DataError, match="first_k"):
        score(found, dataset, first_k=0)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "empty"),
        ("q1 Q0 a 1 0.5\n", "line 1"),
        ("q1 Q0 a one 0.5 x\n", "line 1"),
        ("q1 Q0 a 1 nan x\n", "score"),
        ('{"query_id": "hob-1"}', "line 1"),
        ('{"query_id": "hob-1", "selected": "m1"}', "list"),
        ('{"query_id": "hob-1", "selected": []}\n{"query_id": "hob-1", "selected": []}', "once"),
        ('{"query_id": "hob-1", "selected": [], "score": 3}', "nothing else"),
        ('{"query_id": "hob-1", "selected": [], "tokens": -1}', "tokens"),
        ('{"query_id": "hob-1", "selected": []}\nnonsense', "line 2"),
        ('{"query_id": "hob-1", "selected": []}\n{"query_id": "hob-2", "ranking": []}', "same for every"),
    ],
)
def test_bad_files_are_named_by_line(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(DataError, match=message):
        read_run_file(written(tmp_path, text))
    with pytest.raises(DataError, match="cannot read"):
        read_run_file(tmp_path / "absent")


def test_queries_of_another_dataset_are_refused(dataset: JudgedDataset) -> None:
    with pytest.raises(DataError, match="does not have"):
        score({"other-1": Ranked(ranking=("m0",), selected=None)}, dataset)


def test_the_command_prints_and_writes(tmp_path: Path, dataset: JudgedDataset) -> None:
    import typer

    from workbench.commands import score as command

    app = typer.Typer()
    command.register(app)
    save_directory(dataset, tmp_path / "data")
    path = written(tmp_path, "hob-1 Q0 m0 1 1.0 x\n")
    done = CliRunner().invoke(app, [str(path), "--dataset", str(tmp_path / "data"), "--out", str(tmp_path / "score.json")])
    assert done.exit_code == 0, done.output
    assert "Recall@10" in done.output
    content = json.loads((tmp_path / "score.json").read_text())
    assert content["metrics"]["Recall@10"]["n"] == 6
