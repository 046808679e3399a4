"""The inspector without a kernel: a block for any page, and a page of its own that loads nothing from anywhere."""

from __future__ import annotations

import base64
import hashlib
import html
import json
from dataclasses import dataclass
from typing import Any

from workbench.reports.inspector.assets import page_style, script, style
from workbench.reports.labels import printable

_START = "mountAll(document);\n"


@dataclass(frozen=True)
class Block:
    """The parts of an inspector for a page. html: for the body, as many as wanted. style, script: the same for all, once a page.

    The script is an ES module for ``<script type="module">``; ``script_hash`` is its source for a content security policy.
    """

    html: str
    style: str
    script: str

    @property
    def script_hash(self) -> str:
        """``sha256-...``, as ``script-src`` wants it."""
        return "sha256-" + base64.b64encode(hashlib.sha256(self.script.encode()).digest()).decode()


def block(facts: dict[str, Any], view: dict[str, Any]) -> Block:
    """The inspector of one context for the body of a page. Without scripts the prompt is still there to read."""
    # "<" cannot stand in the data, so nothing in it can end the element
    data = json.dumps({"facts": facts, "view": view}, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    data = data.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")
    body = (
        f'<div class="wb-inspector" data-wb-inspector><script type="application/json">{data}</script>'
        f"<noscript><pre>{html.escape(printable(view['prompt']))}</pre></noscript></div>"
    )
    return Block(html=body, style=style(), script=script() + _START)


def page(facts: dict[str, Any], view: dict[str, Any]) -> str:
    """A whole HTML document; the same context gives the same bytes."""
    part = block(facts, view)
    policy = f"default-src 'none'; style-src 'unsafe-inline'; script-src '{part.script_hash}'"
    title = html.escape(f"Context for {facts['user']}: {facts['query']}"[:120])
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n<title>{title}</title>\n'
        f"<style>\n{page_style()}{part.style}</style>\n</head>\n<body>\n<main>\n"
        f"<h1>Context inspector</h1>\n{part.html}\n</main>\n"
        f'<script type="module">{part.script}</script>\n</body>\n</html>\n'
    )
