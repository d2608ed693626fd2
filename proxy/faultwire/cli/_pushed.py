"""What `push` does beside sending a run: results of blame go along, and both places are compared."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from faultwire.cli.output import say, show
from faultwire.errors import UsageError, printable
from faultwire.text import counted

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from faultwire.store.missing import Missing

LARGEST = 8 << 20
"""Bytes of a `blame.json`, as the service takes them."""


def blames_of(run: Path, named: Sequence[Path]) -> Iterator[tuple[Path, dict[str, Any]]]:
    """The results of blame that `ci --explain` left in a run's folder, and those that are named. Raises
    UsageError for what is none, or one of another run."""
    from faultwire.service.blame import checked

    for path in (*sorted(run.glob("blame-*.json")), *named):
        try:
            with path.open("rb") as file:
                data = file.read(LARGEST + 1)
            found = json.loads(data) if len(data) <= LARGEST else None
        except (OSError, ValueError, RecursionError) as error:
            raise UsageError(f"cannot read `{path}`: {error}", code="usage.blame") from error
        if not isinstance(found, dict):
            raise UsageError(f"found no result of `faultwire blame` in `{path}`", code="usage.blame")
        yield path, checked(found, run.name)


def compare(url: str | None, project: str, tapes: str | None, names: Sequence[str]) -> None:
    """Print what is missing between the database and the place for tapes, and exit by it. Raises UsageError
    where they are not both named. Called within `with_store`."""
    if names or tapes is None or url is None or url.startswith(("https://", "http://")):
        raise UsageError(
            "found `--check`, expected the database (--store) and --tapes with it, and no run",
            code="usage.push",
            hint="a service does not tell of tapes that it lacks: name its database",
        )
    from faultwire.store import missing
    from faultwire.store.database import open_engine
    from faultwire.store.objects import Objects

    engine = open_engine(url)
    try:
        found = missing.compare(engine, Objects(tapes), project)
    finally:
        engine.dispose()
    for one in found.missing:
        show(_line(one))
    if found.unknown:
        say(f"note: of {counted(found.unknown, 'run')} the store does not know the tapes: push them again")
    there = f"{counted(found.runs, 'run')} and {counted(found.tapes, 'tape')} of `{project}`"
    if found.missing:
        say(f"{there}: {counted(len(found.missing), 'thing')} missing")
        sys.exit(1)
    say(f"{there}: nothing is missing")


def _line(one: Missing) -> str:
    if one.kind == "tape":
        return f"run {one.run}: its tape {printable(str(one.name))} ({one.digest}) is not there"
    if one.kind == "pieces":
        of = "" if one.run is None else f" of run {one.run}"
        return f"tape {one.digest}{of}: it lacks {counted(one.pieces, 'piece')}"
    return f"tape {one.digest}: no run in the store has it"
