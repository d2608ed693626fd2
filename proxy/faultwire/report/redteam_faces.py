"""The red-team report as a page, as SARIF 2.1.0, as JSON and as Markdown."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from faultwire._core import __version__, sha256_hex
from faultwire.errors import UsageError
from faultwire.report.html import environment
from faultwire.report.redteam import AGENTIC_TOP_10, LLM_TOP_10, UNCONTROLLED, lines
from faultwire.report.text import line

if TYPE_CHECKING:
    from collections.abc import Mapping

Face = Literal["html", "json", "sarif", "md"]
ENDINGS: dict[str, Face] = {".html": "html", ".json": "json", ".sarif": "sarif", ".md": "md"}
SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"


def face_of(path: Path) -> Face:
    """The format that a file's ending names. Raises UsageError."""
    if path.suffix not in ENDINGS:
        raise UsageError(
            f"found `{path}` for --output, expected a name that ends in {', '.join(ENDINGS)}",
            code="usage.output",
        )
    return ENDINGS[path.suffix]


def render(found: Mapping[str, Any], face: Face) -> str:
    """The report in one format."""
    if face == "json":
        return json.dumps(found, indent=2) + "\n"
    if face == "sarif":
        return json.dumps(sarif(found), indent=2) + "\n"
    if face == "md":
        return "\n".join(lines(found)) + "\n"
    page = environment().get_template("redteam.html.j2")
    return page.render(doc=found, llm=LLM_TOP_10, agentic=AGENTIC_TOP_10, uncontrolled=UNCONTROLLED)


def sarif(found: Mapping[str, Any]) -> dict[str, Any]:
    """A rule for each family that was tried, and a result for each finding."""
    rules = [one["name"] for one in found["families"]]
    driver = {
        "name": "faultwire",
        "semanticVersion": __version__,
        "rules": [_rule(one) for one in found["families"]],
    }
    results = [_result(one, rules.index(one["family"])) for one in found["findings"]]
    run = {"tool": {"driver": driver}, "results": results, "properties": {"notTried": found["not_tried"]}}
    return {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}


def _rule(one: Mapping[str, Any]) -> dict[str, Any]:
    words = one["source"] or "A text of the user's own."
    return {
        "id": f"attack/{one['name']}",
        "name": one["name"],
        "shortDescription": {"text": f"An injected text of the family `{one['name']}` is obeyed."},
        "fullDescription": {"text": line(words)},
        "properties": {"tags": ["security", *one["owasp_llm"], *one["owasp_agentic"], *one["atlas"]]},
    }


def _result(one: Mapping[str, Any], rule: int) -> dict[str, Any]:
    identity = f"{one['payload']} {one['fault']}"
    return {
        "ruleId": f"attack/{one['family']}",
        "ruleIndex": rule,
        "level": "error",
        "message": {"text": f"{one['payload']} was obeyed: {line(one['evidence'])}\n{one['reproduce']}"},
        "locations": [
            {
                "physicalLocation": {"artifactLocation": {"uri": Path(one["tape"]).as_posix()}},
                "logicalLocations": [{"fullyQualifiedName": f"{one['session']}#{one['exchange']}"}],
            }
        ],
        "partialFingerprints": {"attack/v1": sha256_hex(identity.encode())[:32]},
    }
