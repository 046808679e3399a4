"""The five sections of the system prompt, in their fixed order.

identity is XML (active Soul blocks by group); the other four are a heading and one line per entry. Everything a user wrote is
escaped and on one line, so no entry can look like a heading, open a section or close one. A section without entries is left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from workbench.text.tokens import count

SECTIONS = ("identity", "preferences", "relevant_facts", "recent_context", "workflows")
HEADINGS = {
    "preferences": "## Preferences\n",
    "relevant_facts": "## Relevant facts\n",
    "recent_context": "## Recent context\n",
    "workflows": "## Workflows\n",
}
# section of the searchable layers 0, 1, 2
LAYER_SECTIONS = ("relevant_facts", "recent_context", "workflows")


@cache
def line_tokens(line: str, encoding: str) -> int:
    """Token count of a fixed line (a heading or a tag)."""
    return count(line, encoding)


def identity_lines(blocks: Sequence[tuple[str, str]]) -> list[str]:
    """Lines of the identity section for ``blocks`` of (group, rendered line), which are ordered by group; none for none."""
    if not blocks:
        return []
    lines = ["<identity>\n"]
    current = ""
    for group, line in blocks:
        if group != current:
            lines += [f"</{current}>\n"] if current else []
            lines.append(f"<{group}>\n")
            current = group
        lines.append(line)
    return [*lines, f"</{current}>\n", "</identity>\n"]


def section_lines(section: str, lines: Sequence[str]) -> list[str]:
    """Heading and lines of a section; none if there is nothing to show."""
    return [HEADINGS[section], *lines] if lines else []
