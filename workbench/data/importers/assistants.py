"""Memories of ChatGPT and Claude, as people get them out: plain text or Markdown, or JSON.

Shapes (see ``datasets/README.md`` for the mapping):

- text: what the assistant prints when asked for its memories, or what the settings page shows; see ``listing``
- ChatGPT JSON: ``{"memories": [{"id", "content", "created_timestamp", "updated_at", "status"}]}`` as its web application
  holds them; also a bare list of such objects, or of texts
- Claude JSON: ``memories.json`` of the account export, ``[{"conversations_memory": Markdown, "project_memories": {project id:
  Markdown}, "account_uuid"}]``
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from workbench.data.importers.documents import Document, read_json_or_text, rows_under
from workbench.data.importers.intake import Intake, Record
from workbench.data.importers.listing import Aside, read_listing
from workbench.data.strict_json import shown
from workbench.entries import PREFERENCE
from workbench.errors import DataError

_ROWS = ("memories", "memory_entries", "results", "items", "data")
_CLAUDE_FIELDS = ("conversations_memory", "project_memories", "memory_files")


def read_chatgpt(path: Path, intake: Intake) -> None:
    """Take a ChatGPT memory export. Raises DataError."""
    document = read_json_or_text(path)
    if isinstance(document, str):
        take_text(document, str(path), intake, source="chatgpt")
        return
    if isinstance(document.value, dict):
        for key, value in document.value.items():
            if key not in _ROWS:
                intake.unread_field(key, value, document.where(document.value, "the document"))
    rows = rows_under(document, *_ROWS, what="a ChatGPT memory export")
    _no_conversations(rows, document)
    for number, row in enumerate(rows, start=1):
        where = document.where(row, f"element {number}")
        intake.records += 1
        try:
            _chatgpt_row(row, where, intake)
        except DataError as error:
            intake.refuse(where, error)


def _chatgpt_row(row: Any, where: str, intake: Intake) -> None:
    if isinstance(row, str):
        row = {"content": row}
    if not isinstance(row, dict):
        raise DataError(f"the memory is {shown(row)}: must be an object or a text")
    record = Record(row, where, intake)
    text = record.text("content", "memory", "text", "value", to="text")
    values = {
        "layer": "memory",
        "id": record.ident("id", "memory_id", to="id"),
        "text": text,
        "created_at": record.time("created_timestamp", "created_at", "create_time", to="created_at"),
        "updated_at": record.time("updated_at", "updated_timestamp", "update_time", to="updated_at"),
        "source": "chatgpt",
    }
    record.keep_out("status", "gizmo_id", "conversation_id", "message_id")
    record.finish()
    if text is None and not record.has_empty("content", "memory", "text", "value"):
        raise DataError("content is missing; it holds the memory's text")
    if text is None or not text.strip():
        intake.left_out.add("without text", where)
        return
    intake.add(values, where)


def read_claude(path: Path, intake: Intake) -> None:
    """Take a Claude memory export. Raises DataError."""
    document = read_json_or_text(path)
    if isinstance(document, str):
        take_text(document, str(path), intake, source="claude")
        return
    accounts = document.value if isinstance(document.value, list) else [document.value]
    _no_conversations(accounts, document)
    for number, row in enumerate(accounts, start=1):
        where = document.where(row, f"element {number}")
        if isinstance(row, dict) and not any(key in row for key in _CLAUDE_FIELDS):
            raise DataError(
                f"{where}: none of {', '.join(_CLAUDE_FIELDS)} is there; give memories.json of the account export, or the text "
                "of the memory page"
            )
        try:
            _claude_account(row, where, intake)
        except DataError as error:
            intake.refuse(where, error)


def _claude_account(row: Any, where: str, intake: Intake) -> None:
    if not isinstance(row, dict):
        raise DataError(f"the account is {shown(row)}: must be an object with conversations_memory")
    record = Record(row, where, intake)
    user = record.ident("account_uuid", "account_id", to="user_id") or ""
    general = record.text("conversations_memory", to="text, split into lines")
    texts: list[tuple[str, str]] = [("", general)] if general else []
    projects = row.get("project_memories")
    if projects is not None and not isinstance(projects, dict):
        raise DataError(f"project_memories is {shown(projects)}: must map project ids to texts")
    part = record.part("project_memories")
    for project in projects or {}:
        text = part.text(project, to="text, split into lines; tag project:<id>")
        texts += [(f"project:{project}", text)] if text else []
    files = record.pick(["memory_files"], "entries, one file after the other")[1] or []
    for number, file in enumerate(files if isinstance(files, list) else [files]):
        if not isinstance(file, dict) or not isinstance(file.get("content"), str):
            intake.unread_field("memory_files", file, where)
            continue
        inner = Record(file, where, intake, prefix="memory_files.")
        name = inner.text("path", "name", "file_name", to="tag file:<name>") or str(number + 1)
        texts.append((f"file:{name}", inner.text("content", to="text, split into lines") or ""))
        inner.finish()
    record.finish()
    for tag, text in texts:
        take_text(text, where, intake, source="claude", user=user, tag=tag, inner=True)


def take_text(text: str, where: str, intake: Intake, *, source: str, user: str = "", tag: str = "", inner: bool = False) -> None:
    """Take every memory of a listing. ``inner``: the text stands inside a field, so its lines are named within that field."""
    for item in read_listing(text):
        place = f"{where}, {'text ' if inner else ''}line {item.line}"
        if isinstance(item, Aside):
            intake.left_out.add(f"talk around the list: {shown(item.text, 60)}", place)
            continue
        intake.records += 1
        tags = [part for part in (tag, item.section) if part]
        if item.section:
            intake.mapped.add("heading -> tags", place)
        values: dict[str, Any] = {"layer": "memory", "text": item.text, "created_at": item.at, "source": source, "tags": tags}
        if user:
            values["user_id"] = user
        if "preference" in item.section.casefold():
            values["category"] = PREFERENCE
            intake.guessed.add(f"category {PREFERENCE}, from the heading {shown(item.section, 40)}", place)
        if item.at is not None:
            intake.mapped.add("date in front -> created_at", place)
        intake.mapped.add("line -> text", place)
        try:
            intake.add(values, place)
        except DataError as error:
            intake.refuse(place, error)


def _no_conversations(rows: list[Any], document: Document) -> None:
    """Account exports hold conversations in a file of a similar look; they are not memories."""
    if any(isinstance(row, dict) and ("mapping" in row or "chat_messages" in row) for row in rows[:3]):
        raise DataError(
            f"{document.path} holds conversations, not memories; give the memories (settings, memory page, copied as text), or "
            "bring conversations in with: workbench data import conversations"
        )
