"""A tape as one HTML file: no script, nothing loaded, everything from the wire inert.

The beginning of a large tape is shown in full, what follows in short, and what would make the page larger
than a browser likes is counted.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from faultwire._core import __version__
from faultwire.clock import iso
from faultwire.errors import TapeError
from faultwire.report.html import environment
from faultwire.report.text import clip
from faultwire.workbench.exchange_view import IN_A_LIST, exchange_view, sections

if TYPE_CHECKING:
    from collections.abc import Iterator

    from markupsafe import Markup

    from faultwire.events import Recorded
    from faultwire.tape.evidence.verify import VerifyReport
    from faultwire.tape.read.reader import Foreign, SessionInfo, TapeReader

FULL = 6_000_000
"""Bytes of exchanges in full."""
LARGEST = 1_500_000
"""Bytes of one exchange in full; one that takes more is shown in short."""
ALL = 8_000_000
"""Bytes of all exchanges; those beyond are counted."""
FOREIGN = 500
"""Events of an imported log that are listed for each session."""


@dataclass(slots=True)
class TapePage:
    """A page, and why reading the tape stopped before its end, where that is so."""

    text: str
    stopped: str | None


@dataclass(slots=True)
class _Room:
    """What is left of the page, and what has been counted."""

    size: int = 0
    exchanges: int = 0
    fired: int = 0
    left_out: int = 0
    stopped: str | None = None
    sessions: list[dict[str, Any]] = field(default_factory=list)


def tape_page(reader: TapeReader, report: VerifyReport) -> TapePage:
    """The page of a tape and of what its verification found. Raises TapeError where the tape cannot be read
    at all; where it can in part, the page says so."""
    info, room = reader.info(), _Room()
    try:
        notes = list(reader.notes())
        for session in reader.sessions():
            _add(reader, session, room)
    except TapeError as error:
        notes, room.stopped = [], f"{error.code}: {error.message}"
    text = (
        environment()
        .get_template("tape.html.j2")
        .render(
            tape={"name": reader.path.name, "path": str(reader.path), "created": iso(info.created_ms)},
            check=report.dump(),
            notes=notes,
            stopped=room.stopped,
            sessions=room.sessions,
            totals={"exchanges": room.exchanges, "fired": room.fired},
            left_out=room.left_out,
            version=__version__,
        )
    )
    return TapePage(text, room.stopped)


def _add(reader: TapeReader, session: SessionInfo, room: _Room) -> None:
    shown: list[Markup] = []
    room.sessions.append(
        {
            "name": session.name,
            "began": iso(session.started_ms),
            "ended": session.ended_ms is not None,
            "profile": session.profile,
            "seed": session.seed if session.profile else None,
            "agent": session.agent,
            "foreign": [_foreign(one) for one in _first(reader.foreign(session.name))],
            "exchanges": shown,
        }
    )
    exchanges = list(reader.exchanges(session.name))
    origin_ms = min((one.started_ms for one in exchanges), default=0)
    span = max((one.started_ms - origin_ms + one.duration_ms for one in exchanges), default=0.0) or 1.0
    forwarded = reader.forwarded(session.name)
    for recorded in exchanges:
        room.exchanges += 1
        room.fired += sum(fault.outcome == "fired" for fault in recorded.faults)
        if room.size >= ALL:
            room.left_out += 1
            continue
        view = exchange_view(
            recorded,
            origin_ms,
            forwarded.get((session.name, recorded.number)),
            session=_before(exchanges, recorded),
            limits=IN_A_LIST,
        )
        text = _made(view, f"s{len(room.sessions)}e{recorded.number}", span, full=room.size < FULL)
        room.size += len(text)
        shown.append(text)


def _made(view: dict[str, Any], anchor: str, span: float, *, full: bool) -> Markup:
    macros: Any = environment().get_template("_tape.html.j2").module
    fired = [fault for fault in view["faults"] if fault["outcome"] == "fired"]
    if full:
        text: Markup = macros.full(view, fired, span, anchor, sections(view, anchor))
        if len(text) <= LARGEST:
            return text
    short: Markup = macros.short(view, fired, span, anchor)
    return short


def _before(exchanges: list[Recorded], recorded: Recorded) -> Iterator[Recorded]:
    return (one for one in exchanges if one.number < recorded.number)


def _first(events: Iterator[Foreign]) -> Iterator[Foreign]:
    return (one for at, one in enumerate(events) if at < FOREIGN)


def _foreign(one: Foreign) -> dict[str, Any]:
    text = one.data[: IN_A_LIST.event * 4].decode("utf-8", "replace")
    return {
        "number": one.number,
        "kind": one.kind,
        "source": one.source,
        "text": clip(text, IN_A_LIST.event),
    }


def name_of(path: Path) -> str:
    """What the page of a tape is called where nobody says: the tape's name, in the working directory."""
    return f"{path.name.removesuffix('.tape')}.html"
