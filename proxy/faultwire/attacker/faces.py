"""The report of a search as a page, as SARIF 2.1.0, as JSON and as Markdown."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from faultwire.attacker.report import k_words, lines, rate_words, summary
from faultwire.report.html import environment
from faultwire.report.redteam import AGENTIC_TOP_10, LLM_TOP_10
from faultwire.report.redteam_faces import sarif

if TYPE_CHECKING:
    from collections.abc import Mapping

    from faultwire.report.redteam_faces import Face


def render(found: Mapping[str, Any], face: Face) -> str:
    """The report in one format."""
    if face == "json":
        return json.dumps(found, indent=2) + "\n"
    if face == "sarif":
        return json.dumps(sarif(found), indent=2) + "\n"
    if face == "md":
        return "\n".join(lines(found)) + "\n"
    page = environment().get_template("attack.html.j2")
    return page.render(
        doc=found, summary=list(summary(found)), rate_words=rate_words, k_words=k_words, llm=LLM_TOP_10,
        agentic=AGENTIC_TOP_10,
    )  # fmt: skip
