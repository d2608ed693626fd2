"""Incident sessions and contracts as files that are read back just as they were written."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import yaml

from faultwire.errors import ScenarioError, UsageError, printable
from faultwire.output_file import create
from faultwire.replay.incident_read import parse

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

WIDTH = 100


class _Dumper(yaml.SafeDumper):
    """Writes every value out, and texts of several lines as such."""

    def ignore_aliases(self, data: Any) -> bool:
        return True


def _text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    style = None if text.isprintable() else "|" if _is_block(text) else '"'
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


def _is_block(text: str) -> bool:
    """Can it stand as a block: lines without blanks at their ends, and nothing that must be escaped?"""
    lines = text.split("\n")
    return all(line.isprintable() and line == line.rstrip() for line in lines) and not text.startswith(" ")


_Dumper.add_representer(str, _text)


def text_of(document: Mapping[str, Any]) -> str:
    """A document as YAML."""
    text: str = yaml.dump(
        dict(document),
        Dumper=_Dumper,
        sort_keys=False,
        allow_unicode=True,
        width=WIDTH,
        default_flow_style=False,
    )
    return text


def write_session(document: Mapping[str, Any], path: Path, *, anywhere: bool = False) -> Path:
    """Write a session that can be replayed. Raises ScenarioError where it could not be read back, and
    UsageError where the file is there already or cannot be written."""
    text = text_of({key: value for key, value in document.items() if value not in (None, "", [], {})})
    try:
        parse(text.encode("utf-8", "replace"), path)
    except ScenarioError as error:
        raise ScenarioError(
            f"the session `{printable(path.name)}` cannot be written: {error.message}",
            code="scenario.unwritable",
        ) from error
    return write(path, text, anywhere=anywhere)


def write(path: Path, text: str, *, anywhere: bool = False) -> Path:
    """Write a new file, for its owner alone, outside the working directory only with `anywhere`. Raises
    UsageError."""
    try:
        with create(path, anywhere=anywhere, parents=True, mode=0o600) as file:
            file.write(text.encode())
    except FileExistsError as error:
        if not path.exists():  # something else is in the way
            raise UsageError(
                f"cannot write `{printable(str(path))}`: found a file in place of a folder",
                code="usage.output",
            ) from error
        raise UsageError(
            f"found `{printable(str(path))}` already, expected a new file",
            code="usage.exists",
            hint="name another folder with --output",
        ) from error
    except OSError as error:
        why = printable(error.strerror or "unknown error").lower()
        raise UsageError(f"cannot write `{printable(str(path))}`: {why}", code="usage.output") from error
    return path
