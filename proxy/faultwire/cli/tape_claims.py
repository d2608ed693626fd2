"""`faultwire tape claims`: an agent's own log beside what the wire shows of the same session."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from faultwire.cli.output import Format, columns, format_option, say, show, show_json
from faultwire.text import counted, safe

if TYPE_CHECKING:
    from collections.abc import Iterator

    from faultwire.ingestion.compare_claims import Comparison, Row
    from faultwire.tape.read.reader import TapeReader

MOST_UNCLEAR = 20
"""Lines on what is not comparable; `--format json` gives all."""


@click.command()
@click.argument("name")
@click.argument("log")
@click.option("--session", help="The session on the tape; needed where it has several.")
@click.option("--reported", metavar="ID", help="The session in LOG; needed where it has several.")
@format_option
def claims(name: str, log: str, session: str | None, reported: str | None, format_: Format) -> None:
    """Compare what an agent reports of itself with what the wire shows.

    NAME is a tape (a path, a run, or `last`), LOG a log of AgentOps Replay (JSON lines, or an export) or a
    tape of `faultwire ingest`. Exits 0 where both say the same, 1 where they differ.
    """
    from faultwire.ingestion.claims import log_of
    from faultwire.ingestion.compare_claims import compare
    from faultwire.tape.files.find import find
    from faultwire.tape.read.reader import TapeReader

    with TapeReader.open(find(name)) as reader:
        history = reader.history(_session(reader, session))
        found = compare(log_of(_reported(Path(log), reported)), history)
    if format_ == "json":
        show_json(_document(found))
    else:
        _print(found)
    raise SystemExit(1 if found.differences else 0)


def _session(reader: TapeReader, wanted: str | None) -> str:
    from faultwire.errors import UsageError

    names = [info.name for info in reader.sessions() if info.exchanges]
    if wanted is not None:
        return wanted
    if len(names) != 1:
        listed = ", ".join(f"`{one}`" for one in names[:5]) or "none"
        raise UsageError(
            f"the tape has {counted(len(names), 'session')} with traffic ({listed}), expected one",
            code="usage.session",
            hint="name it with `--session`",
        )
    return names[0]


def _reported(path: Path, wanted: str | None) -> Iterator[tuple[int, str, Any]]:
    """Number, type and payload of the events of one session. Raises UsageError where there are several."""
    from faultwire.errors import UsageError

    events = list(_events(path))
    names = list(dict.fromkeys(session for session, *_ in events))
    if wanted is None and len(names) > 1:
        raise UsageError(
            f"`{path}` has {counted(len(names), 'session')}, expected one",
            code="usage.session",
            hint=f"name it with `--reported`, for example `--reported {safe(names[0])}`",
        )
    if wanted is not None and wanted not in names:
        raise UsageError(f"`{path}` has no session `{safe(wanted)}`", code="usage.session")
    return ((number, kind, payload) for session, number, kind, payload in events if wanted in (None, session))


def _events(path: Path) -> Iterator[tuple[str, int, str, Any]]:
    from faultwire.tape.files.find import SUFFIX
    from faultwire.tape.import_._api import Event
    from faultwire.tape.import_._source import parsed
    from faultwire.tape.import_.agentops import read
    from faultwire.tape.read.reader import TapeReader

    if path.suffix == SUFFIX:
        with TapeReader.open(path) as reader:
            found = [(one.session, one.number, one.kind, one.data) for one in reader.foreign()]
    else:
        found = [
            (one.session, one.number, one.kind, one.data) for one in read(path) if isinstance(one, Event)
        ]
    for at, (session, number, kind, data) in enumerate(found):
        event = parsed(data)
        payload = event.get("payload") if isinstance(event, dict) else None
        if isinstance(payload, str):  # exports keep the canonical text
            payload = parsed(payload.encode())
        yield session, at if number is None else number, kind, payload


def _print(found: Comparison) -> None:
    shown = [*found.differences, *found.unclear[:MOST_UNCLEAR]]
    rows = [(row.kind, *_places(row), row.verdict, row.text) for row in shown]
    same = sum(row.verdict == "same" for row in found.rows)
    if rows:
        show(columns(("what", "event", "exchange", "verdict", "in words"), rows))
    for note in found.notes:
        show(f"note: {note}")
    show(
        f"{counted(len(found.differences), 'difference')}; {same} the same; {len(found.unclear)} not "
        "comparable (hashed in a way that is not known, or not on the tape)"
    )
    if not found.rows:
        say("neither the log nor the tape says anything of a model or a tool")


def _places(row: Row) -> tuple[str, str]:
    event = str(row.claim.number) if row.claim else "-"
    return event, str(row.seen.exchange) if row.seen else "-"


def _document(found: Comparison) -> dict[str, Any]:
    return {
        "differences": len(found.differences),
        "notes": found.notes,
        "rows": [
            {
                "kind": row.kind,
                "verdict": row.verdict,
                "event": row.claim.number if row.claim else None,
                "exchange": row.seen.exchange if row.seen else None,
                "claimed": asdict(row.claim) if row.claim else None,
                "text": row.text,
            }
            for row in found.rows
        ],
    }
