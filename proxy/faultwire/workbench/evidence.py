"""The exchanges of a tape other than the one that is shown, as evidence of what an analysis says."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from faultwire.errors import TapeIncomplete
from faultwire.tape.read.reader import TapeReader
from faultwire.workbench.exchange_view import exchange_view, sections
from faultwire.workbench.row import short

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from markupsafe import Markup

    from faultwire.events import Recorded

SHOWN = 200
"""Exchanges that are listed."""


def exchanges_of(tape: Path, session: str | None) -> dict[str, Any]:
    """The exchanges of a session, or of all where none is named, in short. Raises TapeError."""
    with TapeReader.open(tape) as reader:
        names = [one.name for one in reader.sessions()]
        if session is not None and session not in names:
            raise TapeIncomplete(f"the tape has no session `{session}`", code="tape.no_session")
        found = list(_first(reader.exchanges(session)))
        rows = [short(one) for one in found[:SHOWN]]
    return {"rows": rows, "more": len(found) > SHOWN}


def view_of(tape: Path, session: str, number: int) -> Markup:
    """One exchange as markup, escaped. Raises TapeError where it is not there."""
    with TapeReader.open(tape) as reader:
        detail = reader.detail(session, number)
        recorded = detail.recorded
        view = exchange_view(recorded, recorded.started_ms, detail.forwarded, detail.redactions)
        return sections(view, "e")


def _first(exchanges: Iterator[Recorded]) -> Iterator[Recorded]:
    """One more than are listed, which tells that there are more."""
    for _, one in zip(range(SHOWN + 1), exchanges, strict=False):
        yield one
