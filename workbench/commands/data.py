"""``workbench data list|info|pull|verify|import|export|judge|agreement``."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

from workbench.commands.printing import describe, say

app = typer.Typer(help="Datasets: public sets, one's own stores, exports and judgements.", no_args_is_help=True)
NAME = Annotated[str, typer.Argument(help="Name of a dataset; 'workbench data list' shows them.")]
SKIP_BAD = Annotated[bool, typer.Option("--skip-bad", help="Leave faulty records out and count them.")]
LABELS_FILE = Annotated[Path, typer.Option(help="File of labels; it only grows.")]


def register(main: typer.Typer) -> None:
    """Add the commands to the application."""
    main.add_typer(app, name="data")


@app.command("list")
def list_() -> None:
    """List the datasets known by name."""
    from workbench.data.registry import list_datasets

    describe((info.name, f"{info.description} {_size(info.size)}, {info.licence}.") for info in list_datasets())


@app.command()
def info(name: NAME, as_json: Annotated[bool, typer.Option("--json", help="Print as JSON.")] = False) -> None:
    """Show source, licence, citation, size, checksum and options of a dataset, and where its file lies."""
    from dataclasses import asdict

    from workbench.data.local_copies import verify as check
    from workbench.data.registry import dataset_info

    found = dataset_info(name)
    values: dict[str, Any] = asdict(found) | {"options": list(found.options)}
    if found.file:
        local = check(found)
        values |= {"local_file": str(local.path), "local_state": local.state}
    if as_json:
        typer.echo(json.dumps(values, indent=2, ensure_ascii=False))
        return
    describe(
        (field, ", ".join(value) if isinstance(value, list) else str(value))
        for field, value in values.items()
        if value not in ("", [])
    )


@app.command()
def pull(
    name: NAME,
    path: Annotated[Path | None, typer.Option("--path", "--data", help="A copy at hand, instead of a download.")] = None,
    progress: Annotated[bool, typer.Option(help="Show a progress bar.")] = True,
) -> None:
    """Download a dataset's file once (resumed where it broke off), verify it and show its licence."""
    from workbench.data.local_copies import pull as get
    from workbench.data.registry import dataset_info

    found = dataset_info(name)
    typer.echo(f"{found.name}: licence {found.licence}, from {found.source}\ncite: {found.citation}", err=True)
    with _bytes_bar(progress, found.file, found.size) as step:
        target = get(found, path=path, progress=step)
    typer.echo(f"{target} ({_size(found.size)}, SHA-256 {found.sha256})")


@app.command()
def verify(
    name: NAME, path: Annotated[Path | None, typer.Option("--path", "--data", help="A local copy to check.")] = None
) -> None:
    """Check a dataset's file against its published checksum; exit status 1 when it is missing or another file."""
    from workbench.data.local_copies import verify as check
    from workbench.data.registry import dataset_info

    result = check(dataset_info(name), path)
    say(result)
    if not result.ok:
        raise typer.Exit(1)


@app.command("import")
def import_(
    kind: Annotated[str, typer.Argument(help="mem0, chatgpt, claude, langgraph, letta, table or conversations.")],
    files: Annotated[list[Path], typer.Argument(help="Export files of that kind.")],
    out: Annotated[Path, typer.Option(help="Folder for the store, in the documented JSONL layout.")],
    user: Annotated[str, typer.Option(help="User of all records, whatever the files say.")] = "",
    at: Annotated[str | None, typer.Option(help="Time of records without one, e.g. that of the export.")] = None,
    skip_bad: SKIP_BAD = False,
    name: Annotated[str, typer.Option(help="Name of the dataset.")] = "",
    licence: Annotated[str, typer.Option(help="Licence of the data.")] = "not stated",
    mapped: Annotated[list[str] | None, typer.Option("--map", help="table, conversations: field=column.")] = None,
    constants: Annotated[list[str] | None, typer.Option("--set", help="table: field=value for every row.")] = None,
    scales: Annotated[list[str] | None, typer.Option("--scale", help="table: importance=10 if it goes from 0 to 10.")] = None,
    separator: Annotated[str, typer.Option(help="table: between the texts of a list in one cell.")] = ";",
    table: Annotated[str, typer.Option(help="table: name of the table in a SQLite file.")] = "",
    user_label: Annotated[int | None, typer.Option(help="langgraph: which namespace label is the user (0, 1, -1).")] = None,
    report: Annotated[Path | None, typer.Option(help="File for the account of the import (JSON).")] = None,
) -> None:
    """Bring an export into the JSONL layout, with an account of what was mapped, guessed, left out and refused."""
    from workbench.data.importers.run import import_to, settings_of

    settings = settings_of(
        kind, mapped=mapped or (), constants=constants or (), scales=scales or (), separator=separator, table=table,
        user_label=user_label,
    )  # fmt: skip
    shown, target = import_to(
        kind, files, out, user=user, at=at, skip_bad=skip_bad, name=name, licence=licence, report=report, **settings
    )
    say(shown)
    typer.echo(f"store: {target}")


@app.command()
def export(
    dataset: Annotated[str, typer.Argument(help="A dataset's name, or one's own store.")],
    out: Annotated[Path, typer.Option(help="Folder (jsonl, parquet) or file (sqlite) to write.")],
    format: Annotated[str, typer.Option(help="jsonl, parquet or sqlite.")] = "jsonl",
    data: Annotated[Path | None, typer.Option(help="Local copy of a public dataset's file.")] = None,
    skip_bad: SKIP_BAD = False,
) -> None:
    """Write any dataset or store as JSONL, Parquet or SQLite; reading it back gives the same."""
    from workbench.data.exporting import export as write
    from workbench.data.registry import load_dataset

    judged = load_dataset(dataset, data=data, **({"skip_bad": True} if skip_bad else {}))
    typer.echo(f"{write(judged, out, format=format)}: {judged}")  # type: ignore[arg-type]  # export names the formats


@app.command()
def judge(
    dataset: Annotated[str, typer.Argument(help="One's own store, or a dataset's name.")],
    queries: Annotated[Path, typer.Option(help="Queries to judge: JSON Lines, or text with one a line.")],
    labels: LABELS_FILE,
    by: Annotated[str, typer.Option(help="Who labels.")],
    out: Annotated[Path | None, typer.Option(help="Folder for the judged dataset (JSONL layout).")] = None,
    now: Annotated[str | None, typer.Option(help="Time of queries that name none, ISO 8601 UTC.")] = None,
    config: Annotated[list[str] | None, typer.Option(help="Configurations whose finds are pooled.")] = None,
    depth: Annotated[int, typer.Option(min=1, help="How many of each configuration's finds are shown.")] = 20,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the order in which entries are shown.")] = 0,
    resolve: Annotated[str, typer.Option(help="Where people differ: lower or higher.")] = "lower",
    ask: Annotated[bool, typer.Option(help="Ask; --no-ask only writes what was labelled so far.")] = True,
    progress: Annotated[bool, typer.Option(help="Show a progress bar.")] = True,
) -> None:
    """Label which entries answer one's own queries, one key a label; go on later where you left."""
    from workbench.data.judging import JudgingSession, judged_dataset
    from workbench.data.judging_loop import judge_in_terminal
    from workbench.data.labels import LabelLog
    from workbench.data.pooling import build_pools, configs_of, read_queries
    from workbench.data.registry import load_dataset
    from workbench.data.saving import save_directory

    store = load_dataset(dataset)
    own = read_queries(queries, store, now=now)
    with LabelLog(labels) as log:
        with _bytes_bar(progress, "finding candidates", len(own), unit="query") as step:
            asks = build_pools(store, own, configs_of(config or ()), depth=depth, seed=seed, step=lambda _: step(None))
        if ask:
            judge_in_terminal(JudgingSession(store, asks, log, by=by), write=typer.echo)
        judged = judged_dataset(store, asks, log.judgements, resolve=resolve)  # type: ignore[arg-type]  # it names the two
    typer.echo(f"{judged}; finished {judged.notes['queries_finished']} of {len(asks)} queries")
    if out is not None:
        typer.echo(f"judged dataset: {save_directory(judged, out)}")


@app.command()
def agreement(
    labels: Annotated[list[Path], typer.Argument(help="Files of labels.")],
    seed: Annotated[int, typer.Option(min=0, help="Seed of the resampling.")] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="Print as JSON.")] = False,
) -> None:
    """Show how far people who labelled the same entries agree: Cohen's kappa with its size and interval."""
    from workbench.data.agreement import all_agreements
    from workbench.data.labels import read_labels

    found = all_agreements(read_labels(*labels), seed=seed)
    if as_json:
        typer.echo(json.dumps([item.to_dict() for item in found], indent=2, ensure_ascii=False, allow_nan=False))
        return
    for item in found:
        say(item)
    if not found:
        typer.echo("one person has labelled; agreement needs two")


def _size(count: int) -> str:
    return f"{count / 1e6:,.1f} MB" if count >= 100_000 else f"{count} B"


@contextmanager
def _bytes_bar(show: bool, title: str, total: int, *, unit: str = "B") -> Iterator[Any]:
    """A progress bar on standard error; yields a function that is told how far it is (None: one further)."""
    from tqdm.auto import tqdm

    with tqdm(total=total, desc=title, unit=unit, unit_scale=unit == "B", dynamic_ncols=True, disable=not show) as bar:

        def step(done: int | None) -> None:
            bar.update(1 if done is None else done - bar.n)

        yield step
