"""``workbench report``: every kind of run, every number where the footnote says, prompts only where the licence lets them."""

from __future__ import annotations

import csv
import gc
import importlib.util
import io
import itertools
import json
import re
import shutil
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from matplotlib import _pylab_helpers
from matplotlib.figure import Figure
from typer.testing import CliRunner

from workbench.errors import RunError
from workbench.experiments.comparison_table import Comparison
from workbench.experiments.flips import flips_of_table
from workbench.experiments.losses import LossReport, losses_of_table
from workbench.experiments.verification import verify
from workbench.reports.cells import Table
from workbench.reports.document import Details, Document, Page, Picture, Prompts
from workbench.reports.html import render
from workbench.reports.index import BEGIN, END, write_index
from workbench.reports.labels import label
from workbench.reports.markdown import markdown, write_markdown
from workbench.reports.numbers import number, p_value
from workbench.reports.run_pages import document_of, run_page

spec = importlib.util.spec_from_file_location("small_runs", Path(__file__).with_name("small_runs.py"))
assert spec is not None
assert spec.loader is not None
small = importlib.util.module_from_spec(spec)
spec.loader.exec_module(small)

RP1 = ("saves $$ daily", "_baseline", "a_b$c^$", "茶 run", "<script>")
RESULTS = Path(__file__).parents[2] / "results"


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory, bundled: Any) -> Any:
    home = tmp_path_factory.mktemp("runs")
    patch = pytest.MonkeyPatch()
    patch.setenv("WORKBENCH_CACHE", str(home / "cache"))
    yield small.make_runs(home, bundled, ("ab", "ab3", "run", "sweep", "tune", "split"))
    patch.undo()


@pytest.fixture(scope="module")
def page_of(runs: Path) -> Callable[..., Page]:
    """``page_of(kind, quoted=0)``: the page of a run nobody changed, made once and only to be read."""
    return lru_cache(lambda kind, quoted=0: run_page(runs / kind, quoted=quoted))


def blocks(page: Page) -> list[Any]:
    out: list[Any] = []

    def walk(items: Any) -> None:
        for item in items:
            out.append(item)
            walk(getattr(item, "blocks", ()))

    for part in page.sections:
        walk(part.blocks)
    return out


def looked_up(content: Any, pointer: str) -> Any:
    for part in pointer.strip("/").split("/"):
        part = part.replace("~1", "/").replace("~0", "~")
        content = content[int(part)] if isinstance(content, list) else content[part]
    return content


@pytest.mark.parametrize("kind", ["ab", "ab3", "run", "sweep", "tune", "split"])
def test_every_number_with_a_pointer_is_the_recorded_one(runs: Path, page_of: Any, kind: str) -> None:
    page = page_of(kind)
    content = json.loads((runs / kind / "metrics.json").read_text())
    checked = 0
    for table in (item for item in blocks(page) if isinstance(item, Table)):
        assert table.source or kind == "split", table.caption
        for cell in (cell for row in table.rows for cell in row if cell.path):
            file, _, pointer = cell.path.partition("#")
            assert file == "metrics.json"
            value = looked_up(content, pointer)
            if isinstance(value, str):
                assert cell.text == value
            elif value is None:
                assert cell.text == "–"
            else:
                shown = {
                    number(value, unit, signed=sign)
                    for unit in ("share", "tokens", "entries", "effect")
                    for sign in (True, False)
                }
                assert cell.text in shown | {p_value(value), f"{value:,}"}, (cell, value)
            checked += 1
    assert checked > 10
    for card in page.cards:
        assert card.path


@pytest.mark.parametrize("kind", ["ab", "ab3", "run", "sweep", "tune", "split"])
def test_the_page_of_every_kind_is_whole_and_stands_alone(runs: Path, page_of: Any, kind: str, page: Any) -> None:
    made = page_of(kind)
    read = page(render(Document(title=made.title, pages=(made,))))
    shown = read.text()
    assert made.question in shown
    assert made.answer.sentence in shown
    keys = [part.key for part in made.sections]
    assert "results" in keys
    assert keys[-2:] == ["limits", "record"]
    manifest = json.loads((runs / kind / "manifest.json").read_text())
    assert manifest["dataset"]["checksum"] in shown
    assert f"run {kind}, " in shown
    assert not [tag for tag, attributes in read.elements if attributes.get("src")]
    for picture in (item for item in blocks(made) if isinstance(item, Picture)):
        assert picture.caption
        assert picture.source


def test_an_infeasible_sweep_says_so(runs: Path, tmp_path: Path) -> None:
    shutil.copytree(runs / "sweep", tmp_path / "sweep")
    content = json.loads((tmp_path / "sweep" / "metrics.json").read_text())
    content["feasible"] = False
    (tmp_path / "sweep" / "metrics.json").write_text(json.dumps(content))
    answer = run_page(tmp_path / "sweep").answer
    assert answer.word == "infeasible"
    assert answer.tone == "bad"


def test_three_arms_are_compared_one_by_one(runs: Path, page_of: Any) -> None:
    page = page_of("ab3")
    table = Comparison.load(runs / "ab3" / "comparison.json")
    assert page.answer.word == "2 comparisons"
    for arm in table.arms:
        row = table.row("ContextRecall", arm)
        wanted = number(row.mean_a if row.verdict == "no difference" else row.mean_b)
        assert any(wanted in text for text in page.answer.details), (wanted, row.verdict)
    heads = [item.caption for item in blocks(page) if isinstance(item, Table)]
    assert heads.count("Metrics of both arms and their difference") == 2


def test_losses_and_flips_of_the_table_are_those_of_the_run(runs: Path) -> None:
    frame = pd.read_parquet(runs / "ab" / "per_query.parquet")
    for at, arm in enumerate(small.NAMES):
        recorded = LossReport.load(runs / "ab" / f"losses-{at}.json")
        found = losses_of_table(frame, arm, dataset=recorded.dataset, group_name=recorded.group_name)
        for one, other in zip(found.rows, recorded.rows, strict=True):
            assert {**one, "covered": 0} == {**other, "covered": 0}
        assert [row["entry_id"] for row in found.lost] == [row["entry_id"] for row in recorded.lost]
        assert found.total["covered"] is None
    flipped = flips_of_table(frame, *small.NAMES)
    recorded_flips = pd.read_parquet(runs / "ab" / "flips.parquet").drop(columns="arm")
    assert flipped.to_dataframe().astype(str).equals(recorded_flips.astype(str))
    assert flipped.rows


def test_the_waterfall_counts_what_the_stages_took(runs: Path, page_of: Any) -> None:
    content = json.loads((runs / "ab" / "metrics.json").read_text())
    page = page_of("ab")
    figure = next(item for item in blocks(page) if isinstance(item, Picture) and item.drawing.name == "losses")
    texts = [text.strip() for text in re.findall(r"<text[^>]*>(.*?)</text>", figure.drawing.svg, re.DOTALL)]
    counts = [content["arms"][arm]["relevant_entries"] for arm in small.NAMES]
    assert f"n {sum(counts[0].values())}" in texts
    over = " / ".join(f"−{part['over budget']}" if part["over budget"] else "0" for part in counts)
    assert over in texts
    for arm, part in zip(small.NAMES, counts, strict=True):
        assert f"{arm} shows {part['selected']} of {sum(part.values())}" in figure.caption
    table = next(item for item in blocks(page) if isinstance(item, Table) and item.caption.startswith("Relevant entries per"))
    last = [cell.text for cell in table.rows[-1]]
    assert last[:3] == ["all", "relevance-only", str(sum(counts[1].values()))]


def test_both_prompts_stand_side_by_side_with_their_differences(page_of: Any) -> None:
    page = page_of("ab", quoted=2)
    found = [item for item in blocks(page) if isinstance(item, Prompts)]
    assert len(found) == 2
    for item in found:
        left = [line.text for line, _ in item.rows if line is not None]
        right = [line.text for _, line in item.rows if line is not None]
        assert left != right
        for line, other in item.rows:
            assert line is None or (line.mark == "-") == (line.text not in right)
            assert other is None or (other.mark == "+") == (other.text not in left)
        assert any(line.judged == "relevant" for pair in item.rows for line in pair if line is not None)
    assert len([item for item in blocks(page) if isinstance(item, Details)]) >= 2
    assert "Where is the" in render(Document(title="x", pages=(page,)))


@pytest.mark.parametrize(
    ("licence", "own", "shown"),
    [("CC BY-NC 4.0", True, False), ("not stated", False, False), ("not stated", True, True), ("MIT", False, True),
     ("CC BY-SA 4.0", False, True)],
)  # fmt: skip
def test_texts_are_shown_only_where_the_licence_lets_them(
    runs: Path, tmp_path: Path, licence: str, own: bool, shown: bool
) -> None:
    shutil.copytree(runs / "ab", tmp_path / "ab")
    manifest = json.loads((tmp_path / "ab" / "manifest.json").read_text())
    manifest["dataset"]["licence"] = licence
    (tmp_path / "ab" / "manifest.json").write_text(json.dumps(manifest))
    page = run_page(tmp_path / "ab", own=own, quoted=3)
    text = render(Document(title="x", pages=(page,)))
    assert ("Where is the" in text) == shown
    assert ("stands in room" in text) == shown
    assert ("Ids and numbers only" in text) != shown
    if not shown:
        assert licence in text


def test_data_that_are_gone_or_changed_leave_ids_and_the_reason(runs: Path, tmp_path: Path) -> None:
    gone = {"name": "gone", "options": {}, "part": None, "split_seed": 0}
    for key, value, reason in (("checksum", "0" * 64, "another checksum"), ("load", gone, "gone")):
        shutil.copytree(runs / "ab", tmp_path / key)
        manifest = json.loads((tmp_path / key / "manifest.json").read_text())
        manifest["dataset"][key] = value
        (tmp_path / key / "manifest.json").write_text(json.dumps(manifest))
        text = render(document_of([tmp_path / key], quoted=1))
        assert "Ids and numbers only" in text
        assert reason in text


def test_an_unknown_kind_gets_its_summary_and_record(runs: Path, tmp_path: Path) -> None:
    manifest = json.loads((runs / "ab" / "manifest.json").read_text()) | {"kind": "séance"}
    (tmp_path / "manifest.json").write_text(json.dumps(manifest))
    (tmp_path / "summary.txt").write_text("The table moved twice.\nmore\n")
    page = run_page(tmp_path)
    assert page.answer.sentence == "The table moved twice."
    assert any(
        "kind séance have no report" in text
        for part in page.sections
        for item in part.blocks
        for text in getattr(item, "items", ())
    )


def test_what_is_no_run_is_refused_by_name(runs: Path, tmp_path: Path) -> None:
    with pytest.raises(RunError, match="no folder"):
        run_page(tmp_path / "absent")
    with pytest.raises(RunError, match="no run folder"):
        run_page(tmp_path)
    with pytest.raises(RunError, match="at least one"):
        document_of([])
    for text, match in (("{", "cannot be read"), ('{"a": NaN}', "strict JSON"), ("[]", "holds a list"), ("{}", "lacks")):
        broken = tmp_path / "broken"
        shutil.copytree(runs / "tune", broken, dirs_exist_ok=True)
        (broken / "metrics.json").write_text(text)
        with pytest.raises(RunError, match=match):
            run_page(broken)


def test_several_runs_begin_with_an_overview(runs: Path, page: Any) -> None:
    document = document_of([runs / "ab", runs / "sweep", runs / "tune"], quoted=1)
    read = page(render(document))
    assert [row[0].text for row in document.overview.rows] == ["ab", "sweep", "tune"]
    ids = [attributes["id"] for _, attributes in read.elements if "id" in attributes]
    assert len(ids) == len(set(ids))
    links = [anchor["href"][1:] for anchor in read.all("a")]
    assert set(links) <= set(ids)
    levels = [int(tag[1]) for tag, _ in read.elements if re.fullmatch("h[1-6]", tag)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after <= before + 1 for before, after in itertools.pairwise(levels))


def test_markdown_says_the_same_and_its_figures_exist(runs: Path, tmp_path: Path) -> None:
    document = document_of([runs / "ab"], quoted=2)
    paths = write_markdown(document, tmp_path / "a report.md")
    text = paths[0].read_text(encoding="utf-8")
    assert document.pages[0].answer.sentence.split(". ")[0] in text
    links = re.findall(r"\]\(<(.+?)>\)", text)
    assert len(links) == len(paths) - 1 > 3
    assert all((tmp_path / link).is_file() for link in links)
    assert "```diff" in text
    assert re.search(r"^- - The \w+ of", text, re.MULTILINE)


def test_the_command_writes_all_forms_and_says_where(runs: Path, tmp_path: Path) -> None:
    from workbench.cli import app

    out = ["--out", str(tmp_path / "r.html"), "--markdown", str(tmp_path / "r.md"), "--flipped", "1"]
    done = CliRunner().invoke(app, ["report", str(runs / "ab"), str(runs / "tune"), *out])
    assert done.exit_code == 0, done.output
    assert (tmp_path / "r.html").read_text(encoding="utf-8").startswith("<!doctype html>")
    assert (tmp_path / "r.md").is_file()
    again = CliRunner().invoke(
        app, ["report", str(runs / "ab"), str(runs / "tune"), "--out", str(tmp_path / "again.html"), "--flipped", "1"]
    )
    assert again.exit_code == 0
    assert (tmp_path / "again.html").read_bytes() == (tmp_path / "r.html").read_bytes()


def test_without_a_browser_pdf_says_what_to_do(runs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from workbench.reports.pdf import write_pdf

    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(RunError, match=r"install Chromium.*open the HTML report"):
        write_pdf("<p>x", tmp_path / "x.pdf")


def test_the_index_lists_every_run_and_keeps_the_readme(runs: Path, tmp_path: Path, page: Any) -> None:
    for kind in ("ab", "tune"):
        shutil.copytree(runs / kind, tmp_path / kind)
    (tmp_path / "README.md").write_text(f"before\n{BEGIN}\nstale row\n{END}\nafter\n")
    written = write_index(tmp_path, quoted=0)
    assert [path.name for path in written] == ["index.html", "report.html", "report.html", "README.md"]
    links = [
        anchor["href"] for anchor in page((tmp_path / "index.html").read_text()).all("a") if not anchor["href"].startswith("#")
    ]
    assert links == ["ab/report.html", "tune/report.html"]
    assert all((tmp_path / link).is_file() for link in links)
    text = (tmp_path / "README.md").read_text()
    assert text.startswith("before\n")
    assert text.endswith("after\n")
    assert "stale row" not in text
    assert run_page(tmp_path / "ab", quoted=0).answer.sentence.split(" (")[0] in text.replace("\\", "")
    before = text
    write_index(tmp_path, quoted=0)
    assert (tmp_path / "README.md").read_text() == before
    with pytest.raises(RunError, match="holds no run"):
        write_index(tmp_path / "ab")
    # a report that is drawn anew does not make a run look changed
    assert verify(tmp_path / "ab").ok


def test_the_reference_contradiction_test_has_a_page() -> None:
    content = json.loads((RESULTS / "conflicts" / "metrics.json").read_text())
    page = run_page(RESULTS / "conflicts")
    table = next(item for item in blocks(page) if isinstance(item, Table) and item.caption.startswith("Percentiles"))
    wanted = content["similarity"]["percentiles"]
    for row in table.rows:
        assert [cell.sort for cell in row[1:]] == [wanted[row[0].text][rank] for rank in ("5", "25", "50", "75", "95")]
    hits = content["overall"]["recall"]
    assert f"{hits['hits']} of {hits['n']} contradictions" in page.answer.sentence


@pytest.mark.parametrize("pair", [(RP1[0], RP1[1]), (RP1[2], RP1[3]), (RP1[4], RP1[0])], ids=ascii)
def test_rp1_names_appear_literally_in_figures_legends_and_text(
    tmp_path: Path, bundled: Any, pair: tuple[str, str], page: Any
) -> None:
    home = small.make_runs(tmp_path, bundled, ("ab",), names=pair)
    document = document_of([home / "ab"], quoted=1)
    read = page(render(document))
    for name in pair:
        drawn = [data.strip() for tag, data in read.texts if tag == "text"]
        assert drawn.count(name) >= 5, drawn  # the legends of all figures, and the rows of some
        assert name in read.text()
    figures: dict[str, str] = {}
    text = markdown(document, "figures", figures)
    for name in pair:
        literal = re.sub(r"([\\`*_|~$])", r"\\\1", name.replace("<", "&lt;").replace(">", "&gt;"))
        assert literal in text
        assert any(f">{name.replace('<', '&lt;').replace('>', '&gt;')}<" in svg for svg in figures.values())
    assert not _pylab_helpers.Gcf.figs


@pytest.mark.slow
def test_rp1_sixty_reports_in_a_row_leave_no_figures_and_no_memory(runs: Path, memory_stays: Callable[..., None]) -> None:
    memory_stays(lambda: render(document_of([runs / "ab"], quoted=0)), times=60)
    assert not _pylab_helpers.Gcf.figs
    assert not [item for item in gc.get_objects() if isinstance(item, Figure)]


def test_csv_of_a_comparison_has_all_digits(runs: Path) -> None:
    result = Comparison.load(runs / "ab" / "comparison.json")
    rows = list(csv.DictReader(io.StringIO(result.to_csv())))
    assert [row["metric"] for row in rows] == [
        f"{label(row.metric)}\u00a0{'↑' if row.higher_is_better else '↓'}" for row in result.rows
    ]
    for shown, row in zip(rows, result.rows, strict=True):
        assert float(shown["difference"]) == row.difference
