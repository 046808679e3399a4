"""Results that hold a few numbers show them as tables like every other result."""

from __future__ import annotations

import numpy as np
import pytest

from workbench.data.agreement import agreement
from workbench.data.importers.report import ImportReport, Noted
from workbench.data.labels import Judgements
from workbench.experiments.bench_replay import ReplayBench
from workbench.experiments.summary import summarise
from workbench.experiments.verification import Verification
from workbench.tabular import Tabular

BENCH = ReplayBench(
    candidates=300, contexts=1000, replayed_per_second=250_000.4, rerun=10, rerun_per_second=500.0, recall_equal=True,
    compile_seconds=1.0, side_by_side_per_second=400_000.0,
)  # fmt: skip
VERIFICATION = Verification(
    run="r", changed=("losses-0.json",), different=(("metrics.json:x", 1, None),), compared=3, environment=("numpy: 1 -> 2",)
)
REPORT = ImportReport(
    kind="mem0", files=("a.json",), records=2, users=1, entries={"memory": 1}, mapped=(Noted(what="a -> b", count=2, first="a"),),
    refused=("a.json, line 2: <no> text",),
)  # fmt: skip
SUMMARY = summarise({"ContextRecall": [1, 0.5, np.nan], "Tokens": [10, 20, 30]}, ["a", "b", "c"])
NOTHING = summarise({"ContextRecall": [np.nan]}, ["a"])["ContextRecall"]


@pytest.mark.parametrize(
    ("result", "rows"),
    [
        (BENCH, ["| replay | 1,000 | 250,000 | 500.00 |", "| re-run | 10 | 500 | 1.00 |", "400,000"]),
        (VERIFICATION, ["| losses-0.json | as written | changed since |", "| metrics.json:x | 1 | None |", "numpy: 1"]),
        (REPORT, ["| mapped | a -&gt; b | 2 | a |", "| refused | a.json, line 2: &lt;no&gt; text | 1 |"]),
        (SUMMARY["ContextRecall"], ["| ContextRecall | 0.750 | 0.000 | 1.000 | 2 | 2 | 1 | 0 |", "higher is better"]),
        (SUMMARY["Tokens"], ["| Tokens | 20.0 |", "lower is better"]),
        (NOTHING, ["| ContextRecall | – | – | – | 0 | 0 | 1 | 0 |"]),
    ],
    ids=["bench", "verification", "import", "summary", "tokens", "no data"],
)
def test_the_table_has_the_numbers_of_the_result(result: Tabular, rows: list[str]) -> None:
    text = result.to_markdown()
    for row in rows:
        assert row in text
    assert result._repr_html_().count("<table") == len(result.tables())
    assert repr(result) == str(result)


def test_agreement_shows_kappa_and_which_labels_met() -> None:
    labels = {("q1", f"m{at}"): "answers" if at % 2 else "no" for at in range(6)} | {("q2", "m9"): "helps"}
    other = labels | {("q1", "m0"): "answers"}
    judgements = Judgements()
    judgements.entries = {"Ada": labels, "Bo": other}
    found = agreement(judgements, "Ada", "Bo", resamples=99)
    assert found.kappa is not None
    assert found.kappa < 1
    text = found.to_markdown()
    assert f"| label | {found.kappa:.3f} |" in text
    assert "| Ada: no | " in text
