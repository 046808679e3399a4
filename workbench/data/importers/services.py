"""Dumps of memory services: mem0 ``get_all``, a LangGraph store, Letta (MemGPT) archival memory and blocks.

Shapes and mappings: ``datasets/README.md``. Signals that an export lacks keep the defaults of the layout; those that people
keep in ``metadata`` (or in a LangGraph value) under the names of the layout are taken.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from workbench.data.importers.documents import Document, read_json, rows_under
from workbench.data.importers.intake import Intake, Record
from workbench.data.strict_json import shown
from workbench.entries import PREFERENCE
from workbench.errors import DataError

_PREFERENCES = ("preference", "preferences", "user_preference", "user_preferences")
# labels that say what a LangGraph namespace holds, not whose it is
_SECTIONS = frozenset(
    ("memories", "memory", "users", "user", "profile", "profiles", "facts", "semantic", "episodes", "episodic", "procedures",
     "procedural", "instructions", "documents", "docs", "collection", "store", "long_term", "assistant", "agents", "threads",
     *_PREFERENCES)
)  # fmt: skip


def read_mem0(path: Path, intake: Intake) -> None:
    """Take a mem0 ``get_all`` result: a list, ``{"results": [...]}``, or a page with ``next``. Raises DataError."""
    document = read_json(path)
    rows = rows_under(document, "results", "memories", what="a mem0 get_all export")
    # pages that were collected into one list: the next one is there, unless it is the last
    paged = [isinstance(row, dict) and isinstance(row.get("results"), list) for row in rows]
    tops = [document.value] if isinstance(document.value, dict) else [row for row, page in zip(rows, paged, strict=True) if page]
    for number, top in enumerate(tops, start=1):
        _beside(top, document.where(top, f"page {number}"), intake, last=number == len(tops))
    if any(paged):
        rows = [part for row, page in zip(rows, paged, strict=True) for part in (row["results"] if page else [row])]
    _each(rows, document, intake, _mem0)


def _beside(top: dict[str, Any], where: str, intake: Intake, *, last: bool) -> None:
    """Account for what stands beside the records of a document or page."""
    for key, value in top.items():
        if key == "next" and value:
            if last:
                intake.left_out.add(f"a further page of the export: {shown(value, 80)}", where)
        elif key == "relations" and value:
            intake.left_out.add(f"graph relations ({len(value) if isinstance(value, list) else 1})", where)
        elif key not in ("results", "memories", "count", "next", "previous", "relations"):
            intake.unread_field(key, value, where)


def _mem0(record: Record, where: str, intake: Intake) -> None:
    text = record.text("memory", "data", "text", to="text")
    values: dict[str, Any] = {
        "layer": "memory",
        "id": record.ident("id", "memory_id", to="id"),
        "text": text,
        "user_id": record.ident("user_id", "agent_id", "app_id", "run_id", to="user_id"),
        "created_at": record.time("created_at", to="created_at"),
        "updated_at": record.time("updated_at", to="updated_at"),
        "source": "mem0",
        "tags": record.texts("categories", to="tags"),
    }
    metadata = record.part("metadata")
    _signals(metadata, values)
    _preference(values, [*values["tags"], str(metadata.row.get("type", ""))], where, intake)
    metadata.finish()
    record.keep_out("hash", "score", "embedding", "vector", "text_lemmatized", "immutable", "organization", "owner", "version")
    record.finish()
    values["empty"] = record.has_empty("memory", "data", "text")
    _take(values, "memory", where, intake)


def read_langgraph(path: Path, intake: Intake, *, user_label: int | None = None) -> None:
    """Take a dump of a LangGraph store: items as ``Item.dict()`` gives them, in a list or under ``items``.

    user_label: which label of the namespace names the user (0 is the first, -1 the last). Without it the user is the one label
    that does not say what the namespace holds (``memories``, ``users``, ...), else the whole namespace. Raises DataError.
    """
    document = read_json(path)
    rows = rows_under(document, "items", "results", what="a dump of a LangGraph store")

    def one(record: Record, where: str, intake: Intake) -> None:
        _langgraph(record, where, intake, user_label)

    _each(rows, document, intake, one)


def _langgraph(record: Record, where: str, intake: Intake, user_label: int | None) -> None:
    name, found = record.pick(["namespace", "prefix"], "user_id, tags")
    # the database keeps a namespace as one text with dots
    labels = found.split(".") if isinstance(found, str) else found
    if not isinstance(labels, (list, tuple)) or not labels or not all(isinstance(label, str) and label for label in labels):
        raise DataError(f"{name or 'namespace'} is {shown(found)}: must be a list of non-empty texts")
    key = record.ident("key", to="id")
    if key is None:
        raise DataError("key is missing; it names the item within its namespace")
    user, tags = _owner(list(labels), user_label, where, intake)
    value = record.row.get("value")
    text: str | None
    if isinstance(value, str):
        text, inner = record.text("value", to="text"), None
    else:
        inner = record.part("value")
        content = inner.row.get("content")
        if isinstance(content, dict):
            # a langmem memory: {"kind": "Memory", "content": {"content": "..."}}
            deep = inner.part("content")
            text = deep.text("content", "memory", "text", to="text")
            deep.finish()
        else:
            text = inner.text("content", "memory", "text", "data", "fact", "summary", to="text")
    values: dict[str, Any] = {
        "layer": "memory",
        "id": key,
        "text": text,
        "user_id": user,
        "created_at": record.time("created_at", "createdAt", to="created_at"),
        "updated_at": record.time("updated_at", "updatedAt", to="updated_at"),
        "source": "langgraph",
        "tags": tags,
    }
    if inner is not None:
        _signals(inner, values)
        _preference(values, [*tags, str(inner.row.get("kind", ""))], where, intake)
        if text is None and inner.row:
            raise DataError(f"value has no text under content, memory, text, data, fact or summary: {shown(dict(inner.row))}")
        inner.finish()
    record.keep_out("score", "embedding", "ttl_minutes", "expires_at")
    record.finish()
    if key in intake.users.get(intake.user or user, {}):
        # keys are unique within a namespace only
        values["id"] = "/".join([*labels, key])
    _take(values, "value", where, intake)


def _owner(labels: list[str], user_label: int | None, where: str, intake: Intake) -> tuple[str, list[str]]:
    if user_label is not None:
        if not -len(labels) <= user_label < len(labels):
            raise DataError(f"namespace is {shown(labels)}: it has no label {user_label}; choose another --user-label")
        at = user_label % len(labels)
        return labels[at], labels[:at] + labels[at + 1 :]
    names = [label for label in labels if label.casefold() not in _SECTIONS]
    if len(names) == 1:
        intake.guessed.add("the user is the one label of the namespace that names no section (else: --user-label)", where)
        return names[0], [label for label in labels if label != names[0]]
    intake.guessed.add("no single label names the user: the whole namespace stands for it (else: --user-label)", where)
    return "/".join(labels), []


def read_letta(path: Path, intake: Intake) -> None:
    """Take Letta or MemGPT passages (a list, ``passages``, ``archival_memory`` or search results) and memory blocks.

    Blocks become Soul blocks: ``persona`` in the group soul, every other label in the group context. Raises DataError.
    """
    document = read_json(path)
    value = document.value
    blocks: list[Any] = []
    if isinstance(value, dict):
        memory = value.get("memory")
        inner = memory.get("blocks") if isinstance(memory, dict) else None
        blocks = next((part for part in (value.get("blocks"), inner) if isinstance(part, list)), [])
    keys = ("passages", "archival_memory", "results", "data")
    if blocks and isinstance(value, dict) and not any(isinstance(value.get(key), list) for key in keys):
        rows: list[Any] = []
    else:
        rows = rows_under(document, *keys, what="an archival memory dump of Letta or MemGPT")
    agent = None
    if isinstance(value, dict):
        top = document.where(value, "the document")
        agent = value.get("agent_id") or value.get("id")
        if isinstance(agent, str):
            intake.guessed.add("user: the agent of the whole dump, where a record names none", top)
        for key, part in value.items():
            known = (*keys, "blocks", "memory", *(("agent_id",) if value.get("agent_id") else ("id",)))
            if key not in known and part not in (None, [], {}):
                intake.unread_field(key, part, top)
    rows = [row["passage"] if isinstance(row, dict) and isinstance(row.get("passage"), dict) else row for row in rows]
    whose = agent if isinstance(agent, str) else None

    def passage(record: Record, where: str, intake: Intake) -> None:
        _passage(record, where, intake, whose)

    def block(record: Record, where: str, intake: Intake) -> None:
        _block(record, where, intake, whose)

    _each([row for row in rows if not _is_block(row)], document, intake, passage)
    _each(blocks + [row for row in rows if _is_block(row)], document, intake, block)


def _is_block(row: Any) -> bool:
    return isinstance(row, dict) and "label" in row and "value" in row


def _passage(record: Record, where: str, intake: Intake, agent: str | None) -> None:
    text = record.text("text", "contents", "content", to="text")
    values: dict[str, Any] = {
        "layer": "memory",
        "id": record.ident("id", "passage_id", to="id"),
        "text": text,
        "user_id": record.ident("agent_id", "archive_id", "user_id", "source_id", to="user_id") or agent,
        "created_at": record.time("created_at", "timestamp", to="created_at"),
        "updated_at": record.time("updated_at", to="updated_at"),
        "source": record.text("file_name", "data_source", to="source") or "letta",
        "tags": record.texts("tags", to="tags"),
    }
    metadata = record.part("metadata" if "metadata" in record.row else "metadata_")
    _signals(metadata, values)
    _preference(values, values["tags"], where, intake)
    metadata.finish()
    deleted = record.row.get("is_deleted") is True
    record.keep_out(
        "embedding", "embedding_config", "organization_id", "created_by_id", "last_updated_by_id", "file_id", "doc_id",
        "is_deleted", "embedding_dim", "embedding_model", "archive_id", "source_id", "user_id",
    )  # fmt: skip
    record.finish()
    if deleted:
        intake.left_out.add("deleted", where)
        return
    values["empty"] = record.has_empty("text", "contents", "content")
    _take(values, "text", where, intake)


def _block(record: Record, where: str, intake: Intake, agent: str | None) -> None:
    label = record.text("label", "name", to="kind") or "block"
    text = record.text("value", to="text")
    kind = re.sub(r"[^A-Za-z0-9_-]+", "_", label)[:60]
    kind = kind if kind[:1].isascii() and kind[:1].isalpha() else f"block_{kind}"
    if kind != label:
        intake.guessed.add(f"kind {kind}, from the label {shown(label, 40)}", where)
    values = {
        "layer": "soul",
        "id": record.ident("id", to="id") or f"block-{kind}",
        "group": "soul" if label.casefold() == "persona" else "context",
        "kind": kind,
        "text": text,
        "user_id": record.ident("agent_id", to="user_id") or agent,
    }
    record.keep_out(
        "limit", "description", "read_only", "is_template", "template_name", "metadata", "created_by_id", "last_updated_by_id",
        "preserve_on_migration", "hidden", "template_id", "base_template_id", "deployment_id", "entity_id", "project_id", "tags",
    )  # fmt: skip
    record.finish()
    _take(values, "value", where, intake)


def _each(rows: Sequence[Any], document: Document, intake: Intake, take: Any) -> None:
    for number, row in enumerate(rows, start=1):
        where = document.where(row, f"element {number}")
        intake.records += 1
        try:
            if not isinstance(row, dict):
                raise DataError(f"the record is {shown(row)}: must be an object")
            take(Record(row, where, intake), where, intake)
        except DataError as error:
            intake.refuse(where, error)


def _take(values: dict[str, Any], field: str, where: str, intake: Intake) -> None:
    text, empty = values["text"], values.pop("empty", False)
    if text is None and field in ("memory", "text") and not empty:
        raise DataError(f"{field} is missing; it holds the entry's text")
    if text is None or not text.strip():
        intake.left_out.add("without text", where)
        return
    intake.add(values, where)


def _signals(record: Record, values: dict[str, Any]) -> None:
    """Signals that people keep beside a memory under the names of the layout."""
    for name in ("importance", "confidence"):
        values[name] = record.share(name, to=name)
    values["access_count"] = record.number("access_count", to="access_count")
    values["category"] = record.text("category", to="category")
    values["tags"] = [*values["tags"], *record.texts("tags", to="tags")]


def _preference(values: dict[str, Any], signs: Sequence[str], where: str, intake: Intake) -> None:
    sign = next((sign for sign in signs if sign.casefold() in _PREFERENCES), None)
    if values.get("category") is None and sign is not None:
        values["category"] = PREFERENCE
        intake.guessed.add(f"category {PREFERENCE}, from {shown(sign, 40)}", where)
