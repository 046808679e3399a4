"""A report carries the inspector of its first flipped query, and its policy lets exactly its own scripts run."""

from __future__ import annotations

import base64
import hashlib
import html
import re
from pathlib import Path

import pytest

from workbench.reports.html import render
from workbench.reports.run_pages import document_of

RUN = Path(__file__).parents[2] / "results" / "ab-starter"


@pytest.mark.slow
def test_the_first_flipped_query_can_be_inspected() -> None:
    page = render(document_of([RUN], quoted=2))
    assert page.count("data-wb-inspector>") == 1
    policy = html.unescape(re.search(r'Content-Security-Policy" content="([^"]*)"', page)[1])  # type: ignore[index]
    scripts = re.findall(r'<script(?: type="module")?>(.*?)</script>', page, flags=re.DOTALL)
    digests = {base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in scripts}
    assert set(re.findall(r"'sha256-([^']+)'", policy)) == digests
    assert len(digests) == 2
    assert "data-wb-inspector>" not in render(document_of([RUN], quoted=0))
