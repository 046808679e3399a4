"""Results as tables: one builder per kind of result, from the object or its recorded form, for every way of showing them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from workbench.reports.cells import (
    Cell,
    Column,
    Table,
    count_cell,
    flat,
    interval_cell,
    number_cell,
    text_cell,
    verdict_cell,
)
from workbench.reports.labels import label, listed
from workbench.reports.numbers import MISSING, p_value

if TYPE_CHECKING:
    from workbench.experiments.comparison_table import Comparison


def comparison_table(result: Comparison, *, source: str = "", place: str = "") -> Table:
    """A row per arm and metric. place: JSON pointer of the rows, ``comparison.json#/rows``, when they are recorded."""
    many = len(result.arms) > 1
    rows = []
    for at, row in enumerate(result.rows):

        def path(key: str, at: int = at) -> str:
            return f"{place}/{at}/{key}" if place else ""

        def p(value: float | None, key: str, at: int = at) -> Cell:
            return Cell(text=p_value(value), sort=value, numeric=True, path=f"{place}/{at}/{key}" if place else "")

        low, high = row.ci95 or (None, None)
        undefined = row.n_undefined + row.n_undefined_a_only + row.n_undefined_b_only
        size = Cell(
            text=f"{row.n:,}",
            subs=(f"{row.n_clusters:,} users" + (f" · {undefined:,} undefined" if undefined else ""),),
            sort=row.n,
            numeric=True,
            path=path("n"),
        )
        rows.append(
            (
                *((text_cell(row.arm_b, head="row"),) if many else ()),
                Cell(
                    text=f"{label(row.metric)}\u00a0{'↑' if row.higher_is_better else '↓'}",
                    sort=row.metric,
                    head="" if many else "row",
                ),
                size,
                number_cell(row.mean_a, row.unit, path=path("mean_a")),
                number_cell(row.mean_b, row.unit, path=path("mean_b")),
                number_cell(row.difference, row.unit, signed=True, path=path("difference")),
                interval_cell(low, high, row.unit, signed=True),
                p(row.p_value, "p_value"),
                p(row.p_adjusted, "p_adjusted"),
                verdict_cell(row.verdict, path=path("verdict")),
                number_cell(row.effect_size, "effect", signed=True, path=path("effect_size")),
                number_cell(row.mde, row.unit, path=path("mde")),
                Cell(text=f"{row.wins}/{row.ties}/{row.losses}", numeric=True, sort=row.wins - row.losses),
            )
        )
    names = ("metric", "n", result.baseline if not many else "baseline", "value" if many else result.arms[0])
    columns = (
        *((Column(text="arm"),) if many else ()),
        *(Column(text=label(name), numeric=at > 0) for at, name in enumerate(names)),
        Column(text="difference", numeric=True),
        Column(text="95 % interval", numeric=True),
        Column(text="p", sub="raw", numeric=True),
        Column(text="p", sub="Holm", numeric=True),
        Column(text="verdict"),
        Column(text="d_z", numeric=True),
        Column(text="detectable", numeric=True),
        Column(text="win/tie/loss", numeric=True),
    )
    noted: dict[str, list[str]] = {}
    for row in result.rows:
        if row.note:
            noted.setdefault(label(row.note), []).append(f"{label(row.arm_b)} {label(row.metric)}" if many else label(row.metric))
    notes = [f"{listed(names, most=12)}: {note}." for note, names in noted.items()]
    return Table(
        caption=f"{', '.join(label(arm) for arm in result.arms)} against {label(result.baseline)}",
        columns=columns,
        bodies=flat(rows),
        sortable=True,
        source=source,
        notes=(*notes, f"{label(result.family)}."),
    )


def signals_table(signals: Mapping[str, Any], *, source: str = "", place: str = "") -> Table:
    """Which signals the data can judge; ``Identifiability.to_dict()``."""

    def path(at: int, key: str) -> str:
        return f"{place}/rows/{at}/{key}" if place else ""

    rows = [
        (
            text_cell(row["signal"], head="row"),
            number_cell(row["weight"], path=path(at, "weight")),
            number_cell(row["spread"], path=path(at, "spread")),
            number_cell(row["effective"], path=path(at, "effective")),
            interval_cell(row["least"], row["most"]),
            number_cell(row["varies_in"], path=path(at, "varies_in")),
            Cell(text=row["verdict"], sort=row["verdict"], tone="" if row["verdict"] == "testable" else "bad"),
        )
        for at, row in enumerate(signals["rows"])
    ]
    columns = (
        Column(text="signal"),
        Column(text="weight", sub="nominal", numeric=True),
        Column(text="spread", sub="mean SD in a pool", numeric=True),
        Column(text="effective", sub="weight × spread", numeric=True),
        Column(text="range", numeric=True),
        Column(text="varies in", sub="share of pools", numeric=True),
        Column(text="verdict"),
    )
    return Table(
        caption=f"Signals in {signals['n_pools']:,} pools of {signals['n_users']:,} users of {label(signals['dataset'])}",
        columns=columns,
        bodies=flat(rows),
        sortable=True,
        source=source,
        notes=(
            "Effective: nominal weight times standard deviation in the pool, normalised per pool, mean over the pools. A signal "
            "that is constant in every pool is untestable here.",
        ),
    )


def frame_table(
    caption: str,
    records: Sequence[Mapping[str, Any]],
    columns: Mapping[str, str],
    *,
    units: Mapping[str, str] | None = None,
    notes: Sequence[str] = (),
    source: str = "",
    head: int = 1,
) -> Table:
    """Flat records as a table. columns: key -> heading, in order. units: key -> unit of its numbers. head: first columns that
    are headers of their row. Whole numbers show as counts, missing values as a dash."""
    numeric = {key: any(_is_number(row.get(key)) for row in records) for key in columns}
    rows = []
    for row in records:
        cells = []
        for at, key in enumerate(columns):
            value = row.get(key)
            role = "row" if at < head else ""
            if isinstance(value, bool):
                cells.append(text_cell("yes" if value else "no", head=role))
            elif value is None or value != value:
                cells.append(Cell(text=MISSING, numeric=numeric[key], head=role))
            elif _is_number(value):
                unit = (units or {}).get(key)
                cell = count_cell(int(value)) if isinstance(value, int) and unit is None else number_cell(value, unit or "share")
                cells.append(Cell(text=cell.text, sort=cell.sort, numeric=True, head=role))
            else:
                cells.append(text_cell(value, head=role))
        rows.append(tuple(cells))
    heads = tuple(Column(text=label(name), numeric=numeric[key]) for key, name in columns.items())
    return Table(caption=caption, columns=heads, bodies=flat(rows), sortable=True, notes=tuple(notes), source=source)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def share_cells(share: Mapping[str, Any], path: str = "") -> tuple[Cell, Cell, Cell]:
    """A share of counts: value, Wilson interval, hits of n."""
    low, high = share["interval"] or (None, None)
    return (
        number_cell(share["share"], path=f"{path}/share" if path else ""),
        interval_cell(low, high),
        Cell(text=f"{share['hits']} of {share['n']}", sort=share["n"], numeric=True),
    )


def conflict_tables(result: Mapping[str, Any], *, source: str = "", place: str = "") -> tuple[Table, ...]:
    """Precision and recall by language, then what was flagged of every kind; ``ConflictEvaluation.to_dict()``."""
    scored = [("all", result["overall"], "overall")]
    scored += [(lang, score, f"by_language/{lang}") for lang, score in sorted(result["by_language"].items())]
    rows = []
    for name, score, where in scored:
        at = f"{place}/{where}" if place else ""
        low, high = score["f1_interval"] or (None, None)
        rows.append(
            (
                text_cell(name, head="row"),
                count_cell(score["n"]),
                *share_cells(score["precision"], f"{at}/precision" if at else ""),
                *share_cells(score["recall"], f"{at}/recall" if at else ""),
                number_cell(score["f1"], path=f"{at}/f1" if at else ""),
                interval_cell(low, high),
            )
        )
    bounds = "95 % interval"
    names = ("language", "pairs", "precision", bounds, "of flagged", "recall", bounds, "of conflicts", "F1", bounds)
    note = "Intervals are Wilson's, 95 %, one row each."
    first = Table(
        caption=f"Conflict test {label(result['test'])} on {label(result['source'])}",
        columns=tuple(Column(text=name, numeric=at > 0) for at, name in enumerate(names)),
        bodies=flat(rows),
        sortable=True,
        source=f"{source}: overall, by_language" if source else "",
        notes=(note,),
    )
    kinds = [
        (
            text_cell(row["kind"], head="row"),
            text_cell(row["label"]),
            *share_cells(row, f"{place}/by_kind/{at}" if place else ""),
            text_cell("recall" if row["label"] == "conflict" else "false alarms"),
        )
        for at, row in enumerate(result["by_kind"])
    ]
    heads = ("kind", "label", "flagged", "95 % interval", "pairs", "which is")
    second = Table(
        caption="Share of pairs flagged, by kind",
        columns=tuple(Column(text=name, numeric=at in (2, 3, 4)) for at, name in enumerate(heads)),
        bodies=flat(kinds),
        sortable=True,
        source=f"{source}: by_kind" if source else "",
        notes=(note,),
    )
    return first, second


def loss_table(rows: Sequence[Mapping[str, Any]], stages: Sequence[str], *, caption: str, group: str, source: str = "") -> Table:
    """Rows of a loss report: group, relevant, one column per stage, selected, covered."""
    columns = {"group": group, "relevant": "relevant", **{stage: stage for stage in stages}, "selected": "in the prompt"}
    if any("covered" in row for row in rows):
        columns["covered"] = "covered"
    return frame_table(caption, rows, columns, source=source)
