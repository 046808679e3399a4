"""What to do next, per kind of run: derived from its verdict and numbers, with the command that does it.

Nothing here is a finding of its own: every sentence repeats what the run recorded, or says how to learn what it could not.
"""

from __future__ import annotations

import math
import shlex
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from workbench.assembly.stages import STAGES
from workbench.reports.document import Block, Bullets, Code, Section, paragraph, section
from workbench.reports.facts import Run
from workbench.reports.labels import label, listed, portable_command
from workbench.reports.numbers import known, number, plural, whole

FEW_USERS = 20
FEWEST_TO_SPLIT = 8
"""Below this many users the test part holds a single one, and no difference has an interval."""
_MOST_USERS = 100_000


def next_section(sentences: Iterable[str], commands: Sequence[tuple[str, Sequence[str]]] = ()) -> Section:
    """The section. sentences: steps, the first one first. commands: (what it does, its words), shown ready to be copied."""
    blocks: list[Block] = [Bullets(tuple(sentences))]
    for what, words in commands:
        blocks += [paragraph(what), Code(text=shlex.join(portable_command(words)), title=what.rstrip(":"), wrap=True)]
    return section("next", "What to do next", blocks, "Next")


def after_comparison(run: Run) -> Section:
    """After a comparison of two arms."""
    metric = run.main
    row = run.row(metric) if metric else {}
    verdict, users = str(row.get("verdict") or "not enough data"), int(row.get("n_clusters") or 0)
    part = _part(run.manifest)
    steps: list[str] = []
    commands: list[tuple[str, Sequence[str]]] = []
    if verdict == "better":
        if part == "test":
            steps.append(f"Adopt {run.b}: it is better on the locked test part of the users. {_costs(run)}".strip())
            commands.append(
                ("To make its weights the production weights:", ["workbench", "weights", "promote", "RUN", "--reason", "WHY"])
            )
        else:
            steps.append(
                f"If {run.b} was chosen with these users in view, confirm it on others before adopting it. {_costs(run)}".strip()
            )
            again = _on_the_test_part(run.manifest, users)
            if again:
                commands.append(("The same comparison on the test part of the users:", again))
    elif verdict == "worse":
        steps.append(f"Keep {run.a}. {_widest(run)}".strip())
    elif verdict in ("equivalent", "no difference"):
        steps.append(
            f"Keep {run.a} unless {run.b} is simpler or cheaper: on {label(metric)} nothing is won. {_costs(run)}".strip()
        )
    elif verdict == "inconclusive":
        steps.append(f"Keep {run.a} for now, and add users rather than queries. {_wanted(row, run.unit(metric or ''))}".strip())
    else:
        steps.append(
            "Judge queries of at least two users, better of ten: workbench data judge labels which entries answer one's own "
            "queries, workbench data generate makes users whose answers are known."
        )
    if verdict in ("better", "worse") and users < FEW_USERS:
        steps.append(f"Repeat it with more than {plural(users, 'user')} before taking the size of the difference as known.")
    blind = run.undecidable()
    if blind:
        steps.append(f"Leave the weights of {listed([label(name) for name in blind])} as they are: these data cannot judge them.")
    lost = _lost(run)
    if lost:
        steps.append(lost)
    return next_section(steps, commands)


def after_comparisons(pairs: Sequence[Run]) -> Section:
    """After several arms against one baseline."""
    found: dict[str, list[str]] = {}
    for pair in pairs:
        row = pair.row(pair.main) if pair.main else {}
        found.setdefault(str(row.get("verdict") or "not enough data"), []).append(pair.b)
    steps = []
    if "better" in found:
        names = listed(found["better"])
        steps.append(f"Compare {names} with {pairs[0].a} once more on users that nothing was chosen on, then adopt the best.")
    else:
        steps.append(f"Keep {pairs[0].a}: no arm is better.")
    if "inconclusive" in found:
        steps.append(f"Add users to decide about {listed(found['inconclusive'])}.")
    return next_section(steps)


def after_latency(content: Mapping[str, Any], cells: Sequence[Mapping[str, Any]], word: str, run_id: str) -> Section:
    """After a latency profile."""
    steps: list[str] = []
    if not cells:
        return next_section(["Time some queries: nothing was timed."])
    worst = max(cells, key=lambda cell: cell["latency"]["stages"]["total"]["p95"])
    table = worst["latency"]["stages"]
    slowest = max((name for name in STAGES if name in table), key=lambda name: table[name]["p50"])
    where = f"{slowest} (median {number(table[slowest]['p50'], 'ms')} ms of {number(table['total']['p50'], 'ms')} ms)"
    at = f"at {whole(worst['size'])} entries"
    if word == "over the limit":
        steps.append(f"Begin with what takes longest {at}: {where}.")
    elif word == "undecided":
        steps.append(f"Time more queries (--queries): these cannot tell. What takes longest {at} is {where}.")
    else:
        steps.append(f"Nothing has to be done up to {whole(worst['size'])} entries. Should it grow, begin with {where}.")
    cheaper = _cheaper_cap(content)
    if cheaper:
        steps.append(cheaper)
    # the name of the folder and not its place: a report may be read elsewhere
    words = ["workbench", "latency", "--dataset", str(content["dataset"]), "--against", run_id, "--out", "runs/latency-new"]
    what = "After a change, on the same machine and as quiet (give the path of this run):"
    return next_section(steps, [(what, words)] if run_id and run_id != "this run" else ())


def after_conflicts(content: Mapping[str, Any]) -> Section:
    """After a contradiction test on labelled pairs."""
    steps = []
    rows = [row for row in content["by_kind"] if row["label"] == "conflict" and row["share"] is not None and row["n"] >= 5]
    low = sorted((row for row in rows if row["share"] < 1.0), key=lambda row: (row["share"], row["kind"]))[:3]
    if low:
        kinds = listed([f"{label(row['kind'])} ({row['hits']} of {row['n']})" for row in low])
        steps.append(f"Look at the kinds of contradictions that are missed most: {kinds}.")
    missed, wrong = list(content.get("missed") or ()), list(content.get("wrong") or ())
    if missed:
        steps.append(f"Missed pairs by id: {listed([label(key) for key in missed], most=12)}.")
    if wrong:
        steps.append(f"False alarms cost true memories their place; by id: {listed([label(key) for key in wrong], most=12)}.")
    steps.append("Label pairs in the wording of your own users before relying on these shares.")
    words = ["workbench", "conflicts", "mine.jsonl", "--encoder", "bundled", "--out", "runs/conflicts"]
    return next_section(steps, [("The same measurement on pairs of your own, in the same layout:", words)])


def _part(manifest: Mapping[str, Any]) -> str:
    return str(((manifest.get("dataset") or {}).get("load") or {}).get("part") or "")


def _on_the_test_part(manifest: Mapping[str, Any], users: int) -> list[str]:
    """The command of the run on the test part of its users; nothing where there are too few users to split."""
    words = [str(word) for word in manifest.get("command") or ()]
    if words[1:2] not in (["ab"], ["run"]) or users < FEWEST_TO_SPLIT:
        return []
    kept = without(words[2:], ("--split", "--out"))
    return ["workbench", "ab", *kept, "--split", "test", "--out", "runs/confirm"]


def without(words: Sequence[str], names: Sequence[str]) -> list[str]:
    """Words of a command without these options and their values, and without --no-progress."""
    out: list[str] = []
    skip = False
    for word in words:
        if skip:
            skip = False
        elif word in names:
            skip = True
        elif word.partition("=")[0] not in names and word not in ("--no-progress", "--progress"):
            out.append(word)
    return out


def _costs(run: Run) -> str:
    """What else got worse, in a sentence."""
    worse = [label(name) for name in ("StaleExposure", "Tokens", "Leaks") if run.row(name).get("verdict") == "worse"]
    totals = [run.arm(arm, "latency_ms").get("total") or {} for arm in run.arms]
    over = str(totals[-1].get("verdict") or "").startswith("over")
    found = [*worse, *(["time per query is over the limit"] if over else [])]
    return f"Weigh what it costs first: {listed(found)} {'is' if len(worse) == 1 else 'are'} worse." if worse else (
        "Its time per query is over the limit." if over else ""
    )  # fmt: skip


def _widest(run: Run) -> str:
    """The group in which most is lost."""
    metric = run.main
    if metric is None:
        return ""
    gaps = []
    for group in run.groups:
        means = [run.summary(arm, metric, group).get("mean") for arm in run.arms]
        if group not in run.rollups and known(means[0]) and known(means[1]):
            gaps.append(((means[1] - means[0]) * (1 if run.higher_is_better(metric) else -1), group))
    if not gaps or min(gaps)[0] >= 0:
        return ""
    most = min(gaps)[1]
    return f"Where {run.b} falls short most is {run.group_name} {label(most)}; its flipped queries below show what is missing."


def _wanted(row: Mapping[str, Any], unit: str) -> str:
    """How many users it would take to find a difference that matters."""
    mde, margin, users = row.get("mde"), row.get("margin"), int(row.get("n_clusters") or 0)
    if not (known(mde) and known(margin)) or margin <= 0 or users < 2 or mde <= margin:
        return ""
    wanted = math.ceil(users * (mde / margin) ** 2)
    if wanted > _MOST_USERS:
        return ""
    return (
        f"To find a true difference of {number(margin, unit)}, the smallest that counts, takes roughly {whole(wanted)} users "
        f"like these {whole(users)} (four times out of five)."
    )


def _lost(run: Run) -> str:
    """The stage that loses most of the relevant entries under the better arm, and the setting that rules it."""
    arm = run.arms[1] if str((run.row(run.main or "")).get("verdict")) == "better" else run.arms[0]
    counts = {name: int(value or 0) for name, value in run.arm(arm, "relevant_entries").items()}
    total, lost = sum(counts.values()), {name: count for name, count in counts.items() if name in _SETTINGS and count}
    if not lost:
        return ""
    stage = max(lost, key=lambda name: (lost[name], name))
    return (
        f"To win more with {label(arm)}: of {whole(total)} relevant entries it loses most, {whole(lost[stage])}, as “{stage}”; "
        f"what rules that is {_SETTINGS[stage]}."
    )


_SETTINGS = {
    "not retrieved": "top_k, the encoder and what is indexed (templates)",
    "over the cap": "cap",
    "duplicate": "duplicate_threshold",
    "superseded": "the contradiction test and its band",
    "below minimum score": "min_score",
    "over budget": "the tier budgets and the weights",
}


def _cheaper_cap(content: Mapping[str, Any]) -> str:
    """The smallest candidate cap that keeps the context recall of the default one, if it saves time."""
    rows = [row for row in content.get("recall", []) if row["index"] == "exact" and row.get("latency", {}).get("n")]
    default = next((row for row in rows if row["cap"] == 100), None)
    if default is None or default.get("context_recall") is None:
        return ""
    equal = [row for row in rows if row["cap"] < 100 and row.get("context_recall") == default["context_recall"]]
    if not equal:
        return ""
    best = min(equal, key=lambda row: row["cap"])
    return (
        f"A candidate cap of {best['cap']} keeps the context recall of 100 on these "
        f"{plural(best['n_queries'], 'query', 'queries')} ({number(best['context_recall'])}): "
        f"{number(best['latency']['p50'], 'ms')} instead of {number(default['latency']['p50'], 'ms')} ms at the median, "
        "embedding left out; check it on more of them before using it."
    )
