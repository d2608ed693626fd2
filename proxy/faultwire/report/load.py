"""Reads a `report.json` to render it in another format. Unknown members are refused."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from faultwire.errors import UsageError
from faultwire.report.document import SCHEMA, VERSION
from faultwire.report.schema import problems_of

if TYPE_CHECKING:
    from pathlib import Path

LARGEST = 512 * 1024 * 1024
"""Bytes of a report that are read."""
FILE = "report.json"
SHOWN = 3
"""Problems that an error names."""


def load(path: Path) -> dict[str, Any]:
    """The document of a `report.json`, or of a run's folder that has one.

    Raises UsageError: `report.missing`, `report.unreadable`, `report.foreign` (another kind or version),
    `report.invalid` (not the shape that its version says).
    """
    file = path / FILE if path.is_dir() else path
    text = _read(file)
    try:
        document: dict[str, Any] = json.loads(text, parse_constant=_refuse)
    except (ValueError, RecursionError) as error:
        raise UsageError(f"found no JSON in `{file}`: {error}", code="report.invalid") from error
    kind = document.get("schema") if isinstance(document, dict) else None
    if kind != SCHEMA:
        raise UsageError(
            f"`{file}` is not a faultwire report: found the schema `{_short(kind)}`, expected `{SCHEMA}`",
            code="report.foreign",
        )
    if document.get("version") != VERSION:
        raise UsageError(
            f"`{file}` has version `{_short(document.get('version'))}`, expected `{VERSION}`",
            code="report.foreign",
            hint="open it with the faultwire release that wrote it",
        )
    found = problems_of(text) or _dangling(document)
    if found:
        raise UsageError(f"`{file}` is not a valid report: {'; '.join(found[:SHOWN])}", code="report.invalid")
    return document


def _dangling(document: dict[str, Any]) -> list[str]:
    """Names of invocations and scenarios that the document does not have."""
    there = {part["id"] for part in document["invocations"]}
    columns = {part["name"] for part in document["scenarios"]}
    seen = [one["invocation"] for part in document["suggestions"] for one in part["evidence"]]
    lost = [name for name in (*(c["invocation"] for c in document["cells"]), *seen) if name not in there]
    nowhere = [c["scenario"] for c in document["cells"] if c["scenario"] not in columns]
    return [
        *(f"no invocation is named `{_short(name)}`" for name in lost[:SHOWN]),
        *(f"no scenario is named `{_short(name)}`" for name in nowhere[:SHOWN]),
    ]


def _read(file: Path) -> bytes:
    try:
        if file.stat().st_size > LARGEST:
            raise UsageError(
                f"found {file.stat().st_size:,} bytes in `{file}`, expected at most {LARGEST:,}",
                code="report.unreadable",
            )
        return file.read_bytes()
    except FileNotFoundError as error:
        raise UsageError(
            f"found no report at `{file}`", code="report.missing", hint="`faultwire runs` lists the runs"
        ) from error
    except OSError as error:
        raise UsageError(f"cannot read `{file}`: {error.strerror}", code="report.unreadable") from error


def _short(value: Any) -> str:
    return str(value)[:40]


def _refuse(constant: str) -> Any:
    raise ValueError(f"`{constant}` is not JSON")
