"""The labelling loop for a terminal (one key a label) and the same as buttons for a notebook."""

from __future__ import annotations

import os
import select
import sys
from collections.abc import Callable
from importlib import import_module
from typing import Any

from workbench.data.judging import Item, JudgingSession, about, entry_text
from workbench.errors import ConfigError

KEYS = {
    "2": "answers", "1": "helps", "0": "no", "f": "forbidden", "x": "none of the rest", "s": "skip the query", "u": "undo",
    "q": "leave",
}  # fmt: skip
"""What each key does while an entry is shown."""

QUERY_KEYS = {
    "n": "the store holds no answer", "y": "it does, but it was not shown", "s": "skip the query", "u": "undo", "q": "leave",
}  # fmt: skip
"""What each key does when nothing that was shown is relevant."""


def judge_in_terminal(
    session: JudgingSession, *, read_key: Callable[[], str] | None = None, write: Callable[[str], Any] = print
) -> bool:
    """Ask until everything is labelled (True) or the person leaves (False). Every label is kept as soon as it is given.

    read_key: gives one key at a time, "" at the end of the input; None reads the terminal.
    """
    key_of = read_key or _terminal_key
    shown = ""
    while (item := session.current()) is not None:
        if item.ask.query.id != shown:
            shown = item.ask.query.id
            write(_head(item))
        write(_body(item))
        key = key_of()
        if key in ("q", "", "\x03", "\x04"):
            write(str(session))
            return False
        write(_act(session, item, key))
        if key in ("u", "s"):
            shown = ""
    write(f"{session}: everything is labelled")
    return True


def _act(session: JudgingSession, item: Item, key: str) -> str:
    names = KEYS if item.entry is not None else QUERY_KEYS
    if key not in names:
        return "keys: " + ", ".join(f"{name} {what}" for name, what in names.items())
    if key == "u":
        return "taken back" if session.undo() else "there is nothing to take back in this session"
    if key == "s":
        session.skip()
    elif item.entry is None:
        session.answerable(key == "y")
    elif key == "x":
        session.rest_is_not()
    else:
        session.label(names[key])
    return f"  [{names[key]}]"


def _head(item: Item) -> str:
    query = item.ask.query
    return (
        f"\n== query {item.query_number} of {item.queries} ({printable(query.user_id)}, {query.now.date().isoformat()})\n"
        f"   {printable(query.query)}\n   keys: " + ", ".join(f"{name} {what}" for name, what in KEYS.items())
    )


def _body(item: Item) -> str:
    if item.entry is None:
        return "-- nothing shown was relevant: " + ", ".join(f"{name} {what}" for name, what in QUERY_KEYS.items())
    return f"-- {item.number}/{item.of} ({printable(about(item.entry))})\n   {printable(entry_text(item.entry))}"


def printable(text: str) -> str:
    """Text for a terminal: control characters, which could move the cursor or change colours, as visible marks."""
    marks = {code: f"\\x{code:02x}" for code in (*range(32), *range(127, 160)) if chr(code) not in "\n\t"}
    return text.translate(marks).replace("\n", "\n   ")


def _terminal_key() -> str:
    """One key of the terminal without Enter; of anything else one line's first character."""
    if not sys.stdin.isatty():
        line = sys.stdin.readline()
        return "" if not line else line.strip()[:1] or "?"
    try:
        import termios
        import tty
    except ImportError:
        return input("> ").strip()[:1] or "?"
    number = sys.stdin.fileno()
    before = termios.tcgetattr(number)
    try:
        # not the default, which throws away what a fast person has typed ahead
        tty.setcbreak(number, termios.TCSADRAIN)
        return _whole_key(number)
    finally:
        termios.tcsetattr(number, termios.TCSADRAIN, before)


def _whole_key(number: int) -> str:
    """One key as one text: an arrow or function key sends several characters, none of which may count as a label."""
    data = os.read(number, 1)
    if data == b"\x1b":
        while select.select([number], [], [], 0.02)[0] and (more := os.read(number, 1)):
            data += more
        return data.decode("utf-8", "replace")
    # the first byte of a letter says how many follow
    following = 0 if not data or data[0] < 0xC0 else 1 if data[0] < 0xE0 else 2 if data[0] < 0xF0 else 3
    for _ in range(following):
        data += os.read(number, 1)
    return data.decode("utf-8", "replace")


def judge_in_notebook(session: JudgingSession) -> Any:
    """The session as a widget with one button a label; needs ipywidgets (extra ``lab``). Raises ConfigError without it."""
    try:
        ipywidgets: Any = import_module("ipywidgets")
    except ImportError:
        raise ConfigError(
            "the buttons need ipywidgets: pip install 'context-workbench[lab]', or label in cells: session.label('answers')"
        ) from None
    view, said = ipywidgets.HTML(), ipywidgets.HTML()
    entry_box, query_box = ipywidgets.HBox(), ipywidgets.HBox()

    def show() -> None:
        item = session.current()
        view.value = session._repr_html_()
        labelling = item is not None and item.entry is not None
        entry_box.layout.display, query_box.layout.display = ("flex", "none") if labelling else ("none", "flex")

    def button(key: str, what: str) -> Any:
        made = ipywidgets.Button(description=what, tooltip=what)

        def pressed(_: Any) -> None:
            item = session.current()
            if item is not None:
                said.value = _act(session, item, key)
            elif key == "u":
                said.value = "taken back" if session.undo() else "there is nothing to take back in this session"
            show()

        made.on_click(pressed)
        return made

    entry_box.children = [button(key, what) for key, what in KEYS.items() if key != "q"]
    query_box.children = [button(key, what) for key, what in QUERY_KEYS.items() if key != "q"]
    show()
    return ipywidgets.VBox([view, entry_box, query_box, said])
