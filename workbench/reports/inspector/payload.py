"""What the inspector shows, as strict JSON: facts that stay, and a view that every change of a setting makes anew.

All numbers come from what the context recorded (``explain``, ``tokens``, ``effective_weights``); a browser computes none.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import islice
from typing import Any

import numpy as np

from workbench.assembly.context import AssembledContext, Explanation
from workbench.assembly.fates import Fate
from workbench.assembly.prompt import LAYER_SECTIONS, SECTIONS, identity_lines
from workbench.config import PRODUCTION_WEIGHTS, SIGNALS
from workbench.entries import LAYERS
from workbench.reports.inspector.controls import positions, sliders
from workbench.reports.labels import printable
from workbench.text.escape import unescape_line

TIER_SECTIONS = {
    "soul": ("identity",),
    "memories": ("preferences", "relevant_facts"),
    "episodes": ("recent_context",),
    "procedures": ("workflows",),
}
LISTED = 2000
"""How many entries that were never retrieved are listed from the start; any other can be asked for."""


def facts(context: AssembledContext, against: AssembledContext, *, listed: int = LISTED) -> dict[str, Any]:
    """What no slider changes. context: as assembled. against: the context it is compared with."""
    snapshot = context.snapshot
    live = set(live_ids(context))
    rest = [key for key in snapshot.ids if key not in live]
    shown = [*live_ids(context), *rest[:listed]]
    before = against.selected_ids
    return {
        "query": printable(context.query),
        "user": printable(context.user_id),
        "now": context.now.isoformat().replace("+00:00", "Z"),
        "encoder": printable(snapshot.encoder_name),
        "stored": len(snapshot.ids) + len(snapshot.soul) + len(snapshot.silent_soul),
        "candidates": len(context.retrieved),
        "signals": list(SIGNALS),
        "fates": [fate.label for fate in sorted(Fate, reverse=True)],
        "layers": [*LAYERS, "soul"],
        "sliders": sliders(context.config),
        "starts": _starts(context, against),
        "against": {"name": name_of(against), "selected": list(before), "ranks": _ranks(against)},
        "entries": [entry(context, key) for key in shown],
        "unlisted": len(rest) - len(rest[:listed]),
    }


def view(context: AssembledContext, against: AssembledContext) -> dict[str, Any]:
    """What the current settings make of the query, and what enters and leaves the prompt compared with ``against``."""
    last = last_chosen(context)
    rows = [row(context.explain(key), context.config.min_score, last) for key in live_ids(context)]
    before, after = against.selected_ids, context.selected_ids
    had, has = set(before), set(after)
    return {
        "values": positions(context.config),
        "effective": {name: round(share, 4) for name, share in context.effective_weights.items()},
        "tiers": tiers(context),
        "total": {"used": context.tokens["total"], "budget": context.config.budgets.total, "before": against.tokens["total"]},
        "sections": sections(context),
        "rows": rows,
        "highest": max((item["score"] for item in rows if item["score"] is not None), default=0.0),
        "entering": [key for key in after if key not in had],
        "leaving": [key for key in before if key not in has],
        "selected": len(after),
        "prompt": context.prompt,
        "toml": context.config.to_toml(),
        "hash": context.config_hash,
        "warnings": [printable(text) for text in context.warnings],
    }


def live_ids(context: AssembledContext) -> list[str]:
    """Ids whose fate the sliders can change or that a search arm found: Soul blocks, standing preferences, retrieved entries."""
    standing = np.setdiff1d(context.preferences.rows, context.retrieved.row)
    rows = np.sort(np.concatenate([context.retrieved.row, standing])).tolist()
    return [*(block.id for block in context.snapshot.soul), *(context.snapshot.ids[number] for number in rows)]


def entry(context: AssembledContext, entry_id: str) -> dict[str, Any]:
    """One entry of the store as it is shown, with its fate in ``context``."""
    snapshot = context.snapshot
    told = context.explain(entry_id)
    out: dict[str, Any] = {
        "id": entry_id,
        "layer": told.layer,
        "fate": told.fate,
        "reason": printable(told.reason),
        "tokens": told.tokens,
    }
    if entry_id in snapshot.row_of:
        number = snapshot.row_of[entry_id]
        line, stored = snapshot.lines[number], snapshot.entries[number]
        out |= {"category": printable(stored.category), "date": stored.changed_at.date().isoformat()}
    else:
        line = next((block.line for block in snapshot.soul if block.id == entry_id), "")
        out |= {"category": "", "date": ""}
    text = printable(unescape_line(line).removeprefix("- ").strip())
    return {**out, "text": text, **({} if f"- {text}\n" == line else {"line": printable(line.rstrip("\n"))})}


def row(told: Explanation, min_score: float, last: Mapping[str, str]) -> dict[str, Any]:
    """The fate of one entry with its numbers; ``gap`` says what stands between a scored entry and the prompt."""
    scored, gap = told.score is not None, ""
    if told.score is not None and told.fate == Fate.BELOW_MINIMUM.label:
        gap = f"It lacks {min_score - told.score:.4f} of the minimum."
    elif scored and told.fate == Fate.OVER_BUDGET.label:
        gap = last[told.layer]
    return {
        "id": told.id,
        "fate": told.fate,
        "reason": printable(told.reason),
        "section": told.section,
        "tokens": told.tokens,
        "score": _round(told.score),
        "rank": told.rank,
        "signals": [_round(told.signals[name]) for name in SIGNALS] if scored else None,
        "parts": [_round(told.contributions[name]) for name in SIGNALS] if scored else None,
        "gap": gap,
    }


def last_chosen(context: AssembledContext) -> dict[str, str]:
    """Per layer, in words, the entry that took the last room for what the query found."""
    out: dict[str, str] = {}
    for layer, section in zip(LAYERS, LAYER_SECTIONS, strict=True):
        chosen = context.selection.rows[section]
        out[layer] = "No entry of its layer found room."
        if chosen.size:
            last = context.explain(context.snapshot.ids[int(chosen[-1])])
            out[layer] = f"The last of its layer to find room is {printable(last.id)}: rank {last.rank}, score {last.score:.4f}."
    return out


def tiers(context: AssembledContext) -> list[dict[str, Any]]:
    """Per budget: its tokens and what each of its sections uses."""
    budgets = context.config.budgets
    return [
        {
            "name": name,
            "budget": getattr(budgets, name),
            "parts": [{"section": section, "tokens": context.tokens[section]} for section in parts],
        }
        for name, parts in TIER_SECTIONS.items()
    ]


def sections(context: AssembledContext) -> list[dict[str, Any]]:
    """The prompt section by section; a line without an id is a tag of the identity section."""
    snapshot, selection = context.snapshot, context.selection
    blocks = [snapshot.soul[at] for at in selection.soul]
    owner = {block.line: block.id for block in blocks}
    identity = [
        {"id": owner.get(line), "line": printable(line.rstrip("\n"))}
        for line in identity_lines([(block.group, block.line) for block in blocks])
    ]
    out = [{"name": "identity", "tokens": context.tokens["identity"], "lines": identity}]
    for name in SECTIONS[1:]:
        ids = (snapshot.ids[number] for number in selection.rows[name].tolist())
        out.append({"name": name, "tokens": context.tokens[name], "lines": [{"id": key} for key in ids]})
    return out


def find(context: AssembledContext, text: str, *, most: int = 100) -> list[dict[str, Any]]:
    """Entries of the three searchable layers whose id or text holds ``text`` (case aside); at most ``most``."""
    wanted = text.casefold().strip()
    hits = (
        key
        for number, key in enumerate(context.snapshot.ids)
        if wanted in key.casefold() or wanted in unescape_line(context.snapshot.lines[number]).casefold()
    )
    return [entry(context, key) for key in islice(hits, most)]


def name_of(context: AssembledContext) -> str:
    """How a context is called that others are compared with."""
    return "production" if context.config.weights == PRODUCTION_WEIGHTS else f"configuration {context.config_hash}"


def _starts(context: AssembledContext, against: AssembledContext) -> list[dict[str, Any]]:
    out = [{"label": "Reset", "values": positions(context.config)}]
    if positions(against.config) != positions(context.config):
        out.append({"label": f"Set to {name_of(against)}", "values": positions(against.config)})
    return out


def _ranks(context: AssembledContext) -> list[list[Any]]:
    # pairs and not an object: an id may be any text, also the name of something that every object has
    return [[key, context.explain(key).rank] for key in _scored_ids(context)]


def _scored_ids(context: AssembledContext) -> Iterable[str]:
    return (context.snapshot.ids[number] for number in context.retrieved.row[context.scored].tolist())


def _round(value: float | None) -> float | None:
    return None if value is None else round(value, 6)
