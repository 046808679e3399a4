"""The report: what stands in it, that it stands alone, and that nothing a user wrote does anything in it."""

from __future__ import annotations

import base64
import gc
import hashlib
import itertools
import json
import re
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from matplotlib.figure import Figure

from workbench.errors import RunError
from workbench.reports import costs
from workbench.reports.facts import Run
from workbench.reports.html import write_report
from workbench.reports.labels import label
from workbench.reports.numbers import MISSING
from workbench.reports.tables import by_group, headline


def written(folder: Path, content: dict[str, Any], manifest: Any) -> str:
    path = write_report(folder, content, manifest(content))
    assert path == folder / "report.html"
    return path.read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, usual: tuple[dict[str, Any], dict[str, Any]]) -> Path:
    """The usual report with its figures, written once and only to be read."""
    made = tmp_path_factory.mktemp("usual")
    write_report(made, *usual)
    return made


@pytest.fixture(scope="module")
def report(folder: Path) -> str:
    return (folder / "report.html").read_text(encoding="utf-8")


def check(text: str, page: Any) -> Any:
    """What holds for every page."""
    read = page(text)
    assert read.all("html") == [{"lang": "en"}]
    headings = [int(tag[1]) for tag, _ in read.elements if re.fullmatch("h[1-6]", tag)]
    assert headings[0] == 1
    assert headings.count(1) == 1
    assert all(after <= before + 1 for before, after in itertools.pairwise(headings))
    assert all(head.get("scope") in ("col", "row", "rowgroup") for head in read.all("th"))
    pictures = [picture for picture in read.all("svg") if picture.get("aria-hidden") != "true"]
    assert all(picture["role"] == "img" and picture["aria-label"] for picture in pictures)
    ids = [attributes["id"] for _, attributes in read.elements if "id" in attributes]
    assert len(ids) == len(set(ids))
    links = [anchor["href"] for anchor in read.all("a")]
    assert all(link.startswith("#") and link[1:] in ids for link in links)
    # nothing is loaded: no element that loads, no reference that is not inside the page
    assert not {tag for tag, _ in read.elements} & {
        "img",
        "link",
        "iframe",
        "object",
        "embed",
        "base",
        "form",
        "image",
        "foreignobject",
    }
    for tag, attributes in read.elements:
        assert not [name for name in attributes if name.startswith("on") or name in ("src", "srcset", "action")], tag
        for name in ("href", "xlink:href"):
            assert (attributes.get(name) or "#").startswith("#")
        assert "url(" not in re.sub(r"url\(#[\w-]+\)", "", attributes.get("style") or "")
    style = "".join(data for tag, data in read.texts if tag == "style")
    assert "url(" not in style
    assert "@import" not in style
    # the only script is the one that the page's own policy allows
    scripts = [data for tag, data in read.texts if tag == "script"]
    assert len(read.all("script")) == 1
    digest = base64.b64encode(hashlib.sha256("".join(scripts).encode()).digest()).decode()
    policy = next(meta["content"] for meta in read.all("meta") if meta.get("http-equiv"))
    assert policy is not None
    assert f"script-src 'sha256-{digest}'" in policy
    assert "default-src 'none'" in policy
    return read


def test_everything_asked_for_stands_in_order(folder: Path, report: str, make: Any, page: Any) -> None:
    content = make()
    read = check(report, page)
    shown = read.text()
    order = [
        "relevance-only against production on toy",
        "Does relevance-only put more",
        "Yes: relevance-only is better",
        "What was compared",
        "Budgets are scaled to small stores.",
        "left out no evidence",
        "Metrics of both arms",
        "relevant statements in the assembled prompt / relevant statements",
        "Metrics per scenario and arm",
        "Where relevant entries were lost",
        "Time per query",
        "within the limit",
        "in effect",
        "Tokens per section",
        "Limits",
        "Few users",
        "Run record",
        "workbench run --data",
    ]
    place = 0
    for text in order:
        place = shown.find(text, place)
        assert place >= 0, text
    # the numbers are those of the content
    row = content["comparison"]["ContextRecall"]
    low, high = row["ci95"]
    assert f"a difference of +{row['difference']:.3f} (95 % interval +{low:.3f} to +{high:.3f})" in shown
    assert f"over {row['n']} queries of {row['n_clusters']} users" in shown
    for arm in content["arms"].values():
        for item in arm["metrics"].values():
            assert f"· n {item['n']}" in shown
        assert f"{arm['latency_ms']['total']['p99']:.1f}" in shown
    assert {path.name for path in (folder / "figures").iterdir()} == {
        "metrics.svg", "groups.svg", "losses.svg", "latency.svg", "weights.svg",
    }  # fmt: skip
    assert len(read.all("figure")) == len(read.all("figcaption")) == 5


def test_missing_is_a_dash_and_never_zero(tmp_path: Path, make: Any, manifest: Any, page: Any, empty: Any) -> None:
    read = check(written(tmp_path, empty(make()), lambda _: {}), page)
    shown = read.text()
    assert "Not enough data" in shown
    assert "not enough data" in shown
    assert "–" in shown
    run = Run(empty(make()), {})
    for table in (headline(run), by_group(run), costs.latency(run)):
        numbers = [cell.text for body in table.bodies for row in body for cell in row if cell.numeric]
        assert set(numbers) <= {MISSING, "0"}  # 0 is a count of timings
    assert "nan" not in shown.lower().split()
    assert "None" not in shown
    assert not read.all("figure")


def test_one_group_one_user_few_timings(tmp_path: Path, make: Any, manifest: Any, page: Any) -> None:
    content = make(groups=("all",), users=1, per_user=3, timings=3)
    shown = check(written(tmp_path, content, manifest), page).text()
    assert "Not enough data" in shown
    assert "not enough data: 3 timings" in shown
    assert "at least two users" in shown


def test_dataset_settings_that_an_arm_overrides_stand_out(report: str) -> None:
    # the dataset asks for 400, both arms ran with 2000
    assert re.search(
        r'budgets\.memories</th>\s*<td class="num">400</td>\s*<td class="num bad"><span class="tag">2000</span>', report
    )


def test_hostile_names_appear_literally_and_do_nothing(tmp_path: Path, make: Any, manifest: Any, page: Any, hostile: Any) -> None:
    first, other = hostile
    content = make(hostile, groups=(first, other, "x"), dataset=first)
    content["group_name"] = first
    content["dataset_config_note"] = first
    content["dataset_notes"] = {first: 1}
    content["comparison"]["ContextRecall"]["note"] = first
    for arm in content["arms"].values():
        arm["config"]["templates"]["memories"] = first
        arm["config"]["boosts"] = {first: 2.0}
    content["comparison"][first] = dict(content["comparison"]["ContextRecall"], metric=first)
    record = manifest(content)
    record["command"] = ["workbench", first]
    record["environment"][first] = first
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        text = written(tmp_path, content, lambda _: record)
    read = check(text, page)
    assert f"{label(other)} against {label(first)} on {label(first)}" in read.text()
    # figures carry the name as text, in the page and in the files
    for name in hostile:
        assert [data.strip() for tag, data in read.texts if tag == "text"].count(label(name)) >= 6
        for path in (tmp_path / "figures").iterdir():
            drawn = ["".join(item.itertext()).strip() for item in ElementTree.parse(path).iter()]
            assert [item for item in drawn if item.removesuffix(": effective") == label(name)], path.name
    assert "49" not in [data.strip() for _, data in read.texts]
    assert not re.search("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff]", text)


def test_no_path_of_the_machine(folder: Path, report: str) -> None:
    for part in ("/home", "figgle", "secret", "/srv", "C:", str(folder)):
        assert part not in report, part
    assert "…/data.json" in report
    assert "--out=…/one" in report
    assert "…/a.toml" in report


def test_same_content_same_bytes_also_when_read_from_files(tmp_path: Path, make: Any, manifest: Any) -> None:
    content = make(groups=("10", "9", "x"))
    first = written(tmp_path / "a", content, manifest)
    figures = {path.name: path.read_bytes() for path in (tmp_path / "a" / "figures").iterdir()}
    again = json.loads(json.dumps(content, sort_keys=True))
    record = json.loads(json.dumps(manifest(content), sort_keys=True))
    assert written(tmp_path / "b", again, lambda _: record) == first
    assert {path.name: path.read_bytes() for path in (tmp_path / "b" / "figures").iterdir()} == figures


def test_figures_are_released(tmp_path: Path, make: Any, manifest: Any) -> None:
    written(tmp_path, make(), manifest)
    gc.collect()
    assert not [item for item in gc.get_objects() if isinstance(item, Figure)]


@pytest.mark.slow
def test_twenty_written_reports_in_a_row_keep_memory_flat(
    tmp_path: Path, make: Any, manifest: Any, memory_stays: Callable[..., None]
) -> None:
    content = make()
    memory_stays(lambda: written(tmp_path, content, manifest), times=20)


def test_content_of_something_else_is_refused(tmp_path: Path, make: Any) -> None:
    with pytest.raises(RunError, match=r"metrics.json lacks dataset, arms, comparison"):
        write_report(tmp_path, {}, {})
    content = make()
    content["comparison_arms"] = {"a": "production", "b": "nobody"}
    with pytest.raises(RunError, match="nobody"):
        write_report(tmp_path, content, {})
    with pytest.raises(RunError, match="must be tables"):
        write_report(tmp_path, [], {})  # type: ignore[arg-type]
    blocked = tmp_path / "file"
    blocked.write_text("x")
    with pytest.raises(RunError, match="choose another folder"):
        write_report(blocked, make(), {})
