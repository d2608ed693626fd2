"""`push --check`: what is missing between the database and the place for tapes."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from faultwire.cli.output import say, show
from faultwire.errors import UsageError, printable
from faultwire.text import counted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from faultwire.store.missing import Missing


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
    there = f"{counted(found.runs, 'run')}, {counted(found.tapes, 'tape')}"
    if found.missing:
        say(f"{there}: {counted(len(found.missing), 'thing')} missing from `{project}`")
        sys.exit(1)
    say(f"{there}: nothing is missing from `{project}`")


def _line(one: Missing) -> str:
    if one.kind == "tape":
        return f"run {one.run}: its tape {printable(str(one.name))} ({one.digest}) is not there"
    if one.kind == "pieces":
        of = "" if one.run is None else f" of run {one.run}"
        return f"tape {one.digest}{of}: it lacks {counted(one.pieces, 'piece')}"
    return f"tape {one.digest}: no run in the store has it"
