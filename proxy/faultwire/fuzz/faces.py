"""The report of a fuzzing as a page, as SARIF 2.1.0, as JSON, as Markdown, as JSON lines and as prompts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from faultwire._core import __version__
from faultwire.errors import UsageError
from faultwire.fuzz.crash import KINDS
from faultwire.fuzz.export import as_jsonl, as_prompts
from faultwire.fuzz.report import MEANING, lines, summary
from faultwire.report.html import environment
from faultwire.report.redteam_faces import SCHEMA
from faultwire.report.text import line

if TYPE_CHECKING:
    from collections.abc import Mapping

ENDINGS = (".html", ".json", ".sarif", ".md", ".jsonl", ".yaml")


def checked(path: Path) -> str:
    """The ending that names a format. Raises UsageError."""
    if path.suffix not in ENDINGS:
        raise UsageError(
            f"found `{path}` for --output, expected a name that ends in {', '.join(ENDINGS)}",
            code="usage.output",
        )
    return path.suffix


def render(found: Mapping[str, Any], ending: str, prompt: str | None = None) -> str:
    """The report in one format; `prompt` is the user's own."""
    if ending == ".json":
        return json.dumps(found, indent=2) + "\n"
    if ending == ".sarif":
        return json.dumps(sarif(found), indent=2) + "\n"
    if ending == ".md":
        return "\n".join(lines(found)) + "\n"
    if ending == ".jsonl":
        return as_jsonl(found, prompt)
    if ending == ".yaml":
        return as_prompts(found)
    page = environment().get_template("fuzz.html.j2")
    return page.render(doc=found, summary=list(summary(found)), meaning=MEANING)


def sarif(found: Mapping[str, Any]) -> dict[str, Any]:
    """A rule for each class of crashes, and a result for each crash."""
    rules = [
        {"id": f"fuzz/{kind}", "name": f"fuzz_{kind}", "shortDescription": {"text": MEANING[kind]}}
        for kind in KINDS
    ]
    driver = {"name": "faultwire", "semanticVersion": __version__, "rules": rules}
    return {
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [
            {
                "tool": {"driver": driver},
                "results": [_result(one) for one in found["crashes"]],
                "properties": {"notGenerated": found["not_generated"], "cases": found["cases"]},
            }
        ],
    }


def _result(one: Mapping[str, Any]) -> dict[str, Any]:
    sure = one["confirmed"][0] == one["confirmed"][1] > 0
    parts = "; ".join(
        f"{part['target']}: {', '.join(part['steps']) or part['base']}" for part in one["parts"]
    )
    return {
        "ruleId": f"fuzz/{one['kind']}",
        "ruleIndex": KINDS.index(one["kind"]),
        "level": "error" if sure else "warning",
        "message": {"text": f"{line(one['title'])} ({line(parts)})\n{one['reproduce']}"},
        "locations": [
            {
                "physicalLocation": {"artifactLocation": {"uri": Path(one["folder"]).as_posix()}},
                "logicalLocations": [{"fullyQualifiedName": one["session"]}],
            }
        ],
        "partialFingerprints": {"crash/v1": one["key"]},
    }
