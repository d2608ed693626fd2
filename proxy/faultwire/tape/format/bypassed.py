"""What the end of a session says of connections past the proxy: two members of its event, there only where
something was seen, so that tapes without them are as they always were."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from faultwire.events import Bypass

if TYPE_CHECKING:
    from collections.abc import Sequence

    Event = dict[str, Any]

KEPT = 100
"""Addresses that a session's end names; of others it says how many there were."""
_MEMBERS = ("address", "port", "transport", "host")


def bypass_members(bypassed: Sequence[Bypass], more: int = 0) -> Event:
    """The members: `bypassed`, the first addresses, and `bypassed_more`, how many are not among them."""
    event: Event = {}
    if bypassed:
        event["bypassed"] = [{name: getattr(one, name) for name in _MEMBERS} for one in bypassed[:KEPT]]
    left = len(bypassed[KEPT:]) + more
    if left:
        event["bypassed_more"] = left
    return event


def bypasses(event: Event) -> tuple[tuple[Bypass, ...], int]:
    """The addresses back from a `session_end`, and how many more there were.

    Raises KeyError, TypeError or ValueError on members that no tape has.
    """
    found = tuple(_bypass(one) for one in _typed(event.get("bypassed", []), list))
    return found, _count(event.get("bypassed_more", 0))


def _bypass(document: Any) -> Bypass:
    if len(_typed(document, dict)) != len(_MEMBERS):
        raise TypeError("an address past the proxy has other members")
    host = document["host"]
    return Bypass(
        _typed(document["address"], str),
        _count(document["port"]),
        _typed(document["transport"], str),
        None if host is None else _typed(host, str),
    )


def _count(value: Any) -> int:
    if _typed(value, int) < 0:
        raise ValueError("a count is below 0")
    return int(value)


def _typed(value: Any, kind: type) -> Any:
    if type(value) is not kind:
        raise TypeError(f"expected a {kind.__name__}")
    return value
