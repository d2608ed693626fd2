"""The balance of a session: requests that were written to servers, and exchanges that were recorded.

A server must never get a request that is not on the tape, whatever let it through: a flaw of ours, of
mitmproxy or of a library below it. So requests are counted in the bytes that leave (`compat.http1.Written`),
exchanges where they end, and where the two differ the session proves nothing and its tape is PARTIAL.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from faultwire.events import Exchange, Request

if TYPE_CHECKING:
    from collections.abc import Iterable

    from faultwire.mitm.flow.recorded_exchange import RecordedExchange
    from faultwire.mitm.sessions.session import Session
    from faultwire.tape.record.writer import TapeWriter


def written(recorded: RecordedExchange | None, sessions: Iterable[Session], count: int) -> None:
    """So many requests were written for an exchange; for None, by a client whose sessions these are."""
    if recorded is not None:
        recorded.wrote(count)
        return
    for session in sessions:
        session.requests_written += count


def settle(session: Session, tape: TapeWriter | None) -> None:
    """The session is over: void it, and mark its tape, where the two counts differ."""
    sent, kept = session.requests_written, session.requests_recorded
    if sent == kept:
        return
    reason = f"{sent} requests were written to servers, and {kept} of them are recorded as exchanges"
    session.void(reason)
    session.incomplete = f"the tape is incomplete: {reason}"
    if tape is not None:
        unknown = Request("", "", "", 0, "")
        tape.drop(Exchange(session.name, session.exchanges + 1, unknown), reason)
