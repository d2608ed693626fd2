"""InjecAgent's files (Zhan and others, arXiv 2403.02691), read and checked; nothing but the standard library.

A case is a user's instruction, the tool that it takes, what that tool answers with a place for the attacker's
instruction, and the attacker's tools: one for direct harm; one that reads and one that sends for data theft.
The folder is the `data` of its repository, or the repository itself.
"""

from __future__ import annotations

import ast
import hashlib
import json
import re  # noqa: TID251 - a fixed pattern, and an interpreter that need not have our core
from pathlib import Path
from typing import Any, NamedTuple

SETTINGS = ("base", "enhanced")
"""The attacker's instruction as it is, and behind a text that asks to ignore everything before it."""
KINDS = {"dh": "direct harm", "ds": "data stealing"}
STEPS = {"dh": 1, "ds": 2}
PUBLISHED = {"dh": 510, "ds": 544}
"""Cases of the published release."""
HOLE = "<Attacker Instruction>"
FIELDS = (
    "User Tool", "User Instruction", "Tool Parameters", "Tool Response Template", "Tool Response",
    "Attacker Tools", "Attacker Instruction",
)  # fmt: skip
TOOLS, RESPONSES = "tools.json", "attacker_simulated_responses.json"
NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")
"""What models' APIs take as the name of a tool."""
TYPES = {"string", "integer", "number", "boolean", "array", "object"}
LARGEST = 64 << 20


class DataError(ValueError):
    """A file that is missing or not as expected; the text names it, and the case."""


class Case(NamedTuple):
    """One case; the tool's answer is `before`, the payload, `after`."""

    kind: str
    number: int
    user_tool: str
    instruction: str
    parameters: dict[str, Any]
    before: str
    payload: str
    after: str
    attacker_tools: tuple[str, ...]
    goal: str

    @property
    def pair(self) -> list[str]:
        """Suite, user task and injection task."""
        return [self.kind, self.user_tool, f"{self.number:03}-{'-'.join(self.attacker_tools)}"]


class Data(NamedTuple):
    """Everything of one setting. `tools` are by their full name, `responses` by tool and arguments."""

    cases: tuple[Case, ...]
    tools: dict[str, dict[str, Any]]
    responses: dict[tuple[str, str], str]
    digest: str

    def response(self, tool: str, arguments: Any) -> str:
        """What a tool of the attacker answers: as recorded for these arguments, else without any, else the
        first record. A tool without a record has done what it was asked."""
        for key in ((tool, canonical(arguments)), (tool, "{}")):
            if key in self.responses:
                return self.responses[key]
        recorded = (text for (name, _), text in self.responses.items() if name == tool)
        return next(recorded, '{"success": true}')


def load(folder: Path, setting: str) -> Data:
    """Read one setting. Raises DataError."""
    place = folder / "data" if (folder / "data" / TOOLS).is_file() else folder
    digest = hashlib.sha256()
    tools = _tools(place / TOOLS, digest)
    responses = _responses(place / RESPONSES, digest)
    cases: list[Case] = []
    for kind in KINDS:
        path = place / f"test_cases_{kind}_{setting}.json"
        rows = _json(path, digest)
        if not isinstance(rows, list) or not rows:
            raise DataError(f"{path}: expected a list of cases, found {_found(rows)}")
        cases += [_case(path, kind, at, row, tools) for at, row in enumerate(rows)]
    return Data(tuple(cases), tools, responses, digest.hexdigest()[:12])


def unpublished(data: Data) -> str:
    """In words how the numbers of cases differ from the published ones; empty where they do not."""
    found = {kind: sum(case.kind == kind for case in data.cases) for kind in KINDS}
    if found == PUBLISHED:
        return ""
    return "; ".join(
        f"{found[kind]} cases of {KINDS[kind]}, published are {PUBLISHED[kind]}" for kind in KINDS
    )


def canonical(arguments: Any) -> str:
    """Arguments in one spelling, whether they are JSON, a Python literal, or a list around either."""
    value = _value(arguments) if isinstance(arguments, str) else arguments
    while isinstance(value, list | tuple):
        value = value[0] if value else {}
        value = _value(value) if isinstance(value, str) else value
    return json.dumps(value, sort_keys=True, default=str) if isinstance(value, dict) else str(arguments)


def _value(text: str) -> Any:
    for read in (json.loads, ast.literal_eval):
        try:
            return read(text)
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            continue
    return None


def _json(path: Path, digest: Any) -> Any:
    try:
        if path.stat().st_size > LARGEST:
            raise DataError(f"{path}: found more than {LARGEST >> 20} MiB")
        data = path.read_bytes()
    except OSError as error:
        raise DataError(f"{path}: {error.strerror or 'cannot be read'}") from None
    digest.update(data)
    try:
        return json.loads(data)
    except json.JSONDecodeError as error:
        raise DataError(f"{path}:{error.lineno}: expected JSON: {error.msg}") from None
    except (ValueError, RecursionError):
        raise DataError(f"{path}: expected JSON in UTF-8") from None


def _tools(path: Path, digest: Any) -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = {}
    kits = _json(path, digest)
    try:
        for kit in kits:
            for tool in kit["tools"]:
                name = f"{kit['toolkit']}{tool['name']}"
                found[name] = {
                    "name": name,
                    "description": str(tool.get("summary", "")),
                    "schema": _schema(tool.get("parameters", [])),
                }
    except (TypeError, KeyError, AttributeError) as error:
        raise DataError(f"{path}: expected toolkits with `toolkit` and `tools`: {error!r}") from None
    return found


def _schema(parameters: list[dict[str, Any]]) -> dict[str, Any]:
    properties: dict[str, Any] = {}
    for one in parameters:
        kind = one.get("type", "string")
        kind = kind if kind in TYPES else "string"
        properties[str(one["name"])] = {
            "type": kind,
            "description": str(one.get("description", "")),
            **({"items": {}} if kind == "array" else {}),
        }
    required = [str(one["name"]) for one in parameters if one.get("required")]
    return {"type": "object", "properties": properties, "required": required}


def _responses(path: Path, digest: Any) -> dict[tuple[str, str], str]:
    rows = _json(path, digest)
    if not isinstance(rows, dict):
        raise DataError(f"{path}: expected an object by tool and arguments, found {_found(rows)}")
    found: dict[tuple[str, str], str] = {}
    for key, text in rows.items():
        name, _, arguments = key.removeprefix("(").removesuffix(")").partition(",")
        found.setdefault((name.strip(), canonical(arguments or "{}")), str(text))
    return found


def _case(path: Path, kind: str, at: int, row: Any, tools: dict[str, dict[str, Any]]) -> Case:
    where = f"{path}: case {at}"
    missing = [name for name in FIELDS if not isinstance(row, dict) or name not in row]
    if missing:
        raise DataError(f"{where}: expected {', '.join(f'`{name}`' for name in missing)}")
    theirs = row["Attacker Tools"]
    if not isinstance(theirs, list) or len(theirs) != STEPS[kind]:
        raise DataError(f"{where}: expected {STEPS[kind]} in `Attacker Tools`, found {_found(theirs)}")
    for name in (row["User Tool"], *theirs):
        if name not in tools or not NAME.fullmatch(name):
            raise DataError(f"{where}: found tool `{str(name)[:64]}`, expected one of {TOOLS}")
    parameters = row["Tool Parameters"]
    parameters = _value(parameters) if isinstance(parameters, str) else parameters
    if not isinstance(parameters, dict):
        raise DataError(f"{where}: expected `Tool Parameters` as an object or its Python literal")
    before, payload, after = _parts(where, str(row["Tool Response Template"]), str(row["Tool Response"]))
    return Case(
        kind, at, row["User Tool"], str(row["User Instruction"]), parameters, before, payload, after,
        tuple(theirs), str(row["Attacker Instruction"]),
    )  # fmt: skip


def _parts(where: str, template: str, response: str) -> tuple[str, str, str]:
    """The template's two sides, and what the response has between them; it stands in quotes or without."""
    before, hole, after = template.partition(HOLE)
    if not hole or HOLE in after:
        raise DataError(f"{where}: expected `{HOLE}` once in `Tool Response Template`")
    stripped = response.strip()
    unquoted = _value(stripped) if stripped.startswith('"') else None
    for text in (response, stripped, stripped[1:-1], unquoted):
        if not isinstance(text, str) or len(text) <= len(before) + len(after):
            continue
        if text.startswith(before) and text.endswith(after):
            return before, text[len(before) : len(text) - len(after)], after
    raise DataError(f"{where}: expected `Tool Response` to be its template with an instruction in it")


def _found(value: Any) -> str:
    return f"{len(value)}" if isinstance(value, list) else type(value).__name__
