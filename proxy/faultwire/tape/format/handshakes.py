"""What the end of a session says of handshakes that clients gave up: a member of its event, there only where
there was one. Readers that do not know it pass over it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from faultwire.events import FailedHandshake

if TYPE_CHECKING:
    from collections.abc import Sequence

    Event = dict[str, Any]

_REASONS = ("refused", "closed")


def handshake_members(failed: Sequence[FailedHandshake]) -> Event:
    """The member `handshakes`. Of a program only its name is kept: a path may tell of its user."""
    each = [
        {
            "host": one.host,
            "reason": one.reason,
            "count": one.count,
            "program": one.program.rpartition("/")[2] if one.program else None,
        }
        for one in failed
    ]
    return {"handshakes": each} if each else {}


def failed_handshakes(event: Event) -> tuple[FailedHandshake, ...]:
    """The handshakes back from a `session_end`; raises TypeError or ValueError on what no tape has."""
    documents = event.get("handshakes", [])
    if not isinstance(documents, list):
        raise TypeError("the handshakes are no list")
    return tuple(_handshake(one) for one in documents)


def _handshake(document: Any) -> FailedHandshake:
    if not isinstance(document, dict) or document.keys() != {"host", "reason", "count", "program"}:
        raise TypeError("a handshake has other members")
    host, reason, count, program = (
        document["host"],
        document["reason"],
        document["count"],
        document["program"],
    )
    if type(host) is not str or type(count) is not int or not isinstance(program, str | None):
        raise TypeError("a handshake has members of other types")
    if reason not in _REASONS or count < 1:
        raise ValueError("a handshake has members that no tape has")
    return FailedHandshake(host, reason, count, program)
