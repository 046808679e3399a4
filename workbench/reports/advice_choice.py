"""What to do next after a choice of many configurations: a sweep, or a tuning."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from typing import Any

from workbench.reports.advice import next_section, without
from workbench.reports.document import Block, Code, Section, paragraph
from workbench.reports.labels import label, listed, portable_command
from workbench.reports.numbers import whole


def after_sweep(content: Mapping[str, Any], manifest: Mapping[str, Any]) -> Section:
    """After many configurations on the same queries."""
    if not content["feasible"]:
        return next_section(
            [
                f"Loosen a limit of “{label(content['goal'])}” or widen the grid: no configuration satisfies it, and the answer "
                "names the nearest."
            ]
        )
    steps = ["Do not adopt the best row yet: it was chosen on the queries that it is reported on."]
    commands = []
    words = [str(word) for word in manifest.get("command") or ()]
    if words[1:2] == ["sweep"]:
        kept = without(words[2:], ("--total", "--metric", "--latency", "--split", "--search", "--range", "--block", "--out"))
        tuning = ["workbench", "tune", *kept, "--out", "runs/tuning"]
        if "--weights" not in tuning:
            tuning[2:2] = ["--weights", "none"]
        if "--search" not in words:
            commands.append(("The same choice, made on some users and reported on others:", tuning))
    blind = [row["signal"] for row in content["signals"]["rows"] if row["verdict"] != "testable"]
    if blind:
        steps.append(f"Leave the weights of {listed(blind)} as they are: these data cannot judge them.")
    idle = [tier for tier in _tiers(content) if _flat_from(content, tier) is not None]
    if idle:
        spare = [f"{label(tier)} beyond {whole(_flat_from(content, tier))}" for tier in idle]
        steps.append(f"Tokens can be saved where the last steps of a budget bought no recall: {listed(spare)}.")
    return next_section(steps, commands)


def after_tuning(tuning: Mapping[str, Any], verdict: str, by_user: bool, manifest: Mapping[str, Any]) -> Section:
    """After a choice on some users that was reported on others."""
    signals = (tuning.get("signals") or {}).get("rows", ())
    blind = [row["signal"] for row in signals if row["verdict"] != "testable"]
    params = tuning["final_params"] if by_user else tuning["params"]
    steps: list[str] = []
    blocks: list[Block] = []
    if verdict == "better":
        steps.append(
            "Compare the chosen configuration with the base on users that had no part in this, then adopt it. "
            "How large the gain is there decides, not the mean on the users it was chosen on."
        )
        kept = {f"weights.{row['signal']}": row["weight"] for row in signals if row["signal"] in blind}
        text = _toml({**params, **{name: value for name, value in kept.items() if name in params}})
        if text:
            words = ["workbench", "ab", *_data(manifest), "--a", "production", "--b", "tuned.toml", "--out", "runs/ab-tuned"]
            note = "; weights that these data cannot judge are those of the base" if kept else ""
            blocks = [
                paragraph(f"The configuration, as the file tuned.toml{note}:"),
                Code(text=text, title="tuned.toml"),
                paragraph("The comparison, with a dataset of such users:"),
                Code(text=shlex.join(portable_command(words)), title="The comparison", wrap=True),
            ]
    elif verdict == "inconclusive":
        steps.append("Keep the base configuration and add users: these cannot tell whether the tuned one is better.")
    elif verdict == "not enough data":
        steps.append("Keep the base configuration, and judge queries of more users.")
    else:
        steps.append("Keep the base configuration: tuning won nothing on users it was not done on.")
    if blind:
        steps.append(
            f"Ignore what was chosen for {listed(blind)}: constant in these data, so any weight would have done as well. "
            "Keep their base weights, or judge them on data in which they differ."
        )
    part = next_section(steps)
    return Section(key=part.key, title=part.title, nav=part.nav, blocks=(*part.blocks, *blocks))


def _tiers(content: Mapping[str, Any]) -> list[str]:
    return list(dict.fromkeys(row["tier"] for row in content.get("marginal") or ()))


def _flat_from(content: Mapping[str, Any], tier: str) -> int | None:
    """The budget from which on every step of a tier used more tokens and bought nothing; None when the last one bought some."""
    found: int | None = None
    for row in reversed([row for row in content.get("marginal") or () if row["tier"] == tier]):
        if row["recall"] != 0.0 or not row["tokens"]:
            break
        found = int(row["budget_from"])
    return found


def _data(manifest: Mapping[str, Any]) -> list[str]:
    """The options of the command of a run that name its data."""
    words = [str(word) for word in manifest.get("command") or ()]
    out: list[str] = []
    for name in ("--dataset", "--data", "--unit", "--template"):
        if name in words[:-1]:
            out += [name, words[words.index(name) + 1]]
    return out if "--dataset" in out else ["--dataset", str((manifest.get("dataset") or {}).get("name") or "starter"), *out]


def _toml(params: Mapping[str, Any]) -> str:
    """Settings such as ``weights.recency`` as TOML; nothing for values that are no plain numbers."""
    tables: dict[str, list[str]] = {}
    for name, value in params.items():
        if isinstance(value, bool) or not isinstance(value, int | float):
            return ""
        table, _, key = str(name).rpartition(".")
        tables.setdefault(table, []).append(f"{key} = {value!r}")
    lines: list[str] = list(tables.pop("", []))
    for table, rows in tables.items():
        lines += ["", f"[{table}]", *rows] if lines else [f"[{table}]", *rows]
    return "\n".join(lines)
