"""What a message's header fields say about secrets and about its body, found in one pass."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from faultwire.tape.redact.names import header_class

if TYPE_CHECKING:
    from faultwire.events import Headers

PLAIN, SECRET, KIND, CODING, OFFERS = range(5)

_KNOWN: dict[str, int] = {}
_MOST = 4096


class Head(NamedTuple):
    """Redacted header fields, the media type in lower case, and the content codings as applied."""

    headers: Headers
    kind: str = ""
    codings: tuple[str, ...] = ()


def role(name: str) -> int:
    """What a field of this name is to us; remembered, since names repeat without end."""
    found = _KNOWN.get(name)
    if found is None:
        found = _role(name.strip().lower())
        if len(_KNOWN) < _MOST:
            _KNOWN[name] = found
    return found


def roles(headers: Headers) -> list[int]:
    """The roles of all fields."""
    known = _KNOWN.get
    found = [known(name, -1) for name, _ in headers]
    return [role(name) for name, _ in headers] if -1 in found else found


def _role(name: str) -> int:
    if name == "content-type":
        return KIND
    if name == "content-encoding":
        return CODING
    if name == "sec-websocket-protocol":
        return OFFERS
    return SECRET if header_class(name) else PLAIN


def codings(values: list[str]) -> tuple[str, ...]:
    """The codings that `content-encoding` fields name, in the order in which they were applied."""
    names = (name.strip().lower() for value in values for name in value.split(","))
    return tuple(name for name in names if name not in ("", "identity"))
