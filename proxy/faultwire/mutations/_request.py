"""How the HTTP request that carries a prompt is changed: what is to be sent, for an agent to perform."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from faultwire.events import Headers


@dataclass(frozen=True, slots=True)
class RequestChange:
    """Changes of one request; what is None, empty or 0 stays as it is.

    Values are sent as they stand, line ends in them too: whoever performs them writes bytes and does not
    use a client that would repair or refuse them.
    """

    method: str | None = None
    headers: Headers = ()
    """Fields to add behind the others."""
    content_type: str | None = None
    """The media type that is claimed; the body keeps its own."""
    query: tuple[tuple[str, str], ...] = ()
    """Fields to add to the query, percent-encoded by whoever sends them."""
    pad_bytes: int = 0
    """The body grows by a JSON member (or white space) of so many bytes."""
    nested: int = 0
    """The body gets a member of so many nested arrays."""
    chunk_bytes: int = 0
    """The body is sent chunked (RFC 9112 §7.1), in pieces of this size."""
    both_lengths: bool = False
    """A `content-length` stands beside `transfer-encoding`."""
    http_version: str | None = None
    copies: int = 1
    """How many of the same request are sent at once."""
    pause_s: float = 0.0
    """Seconds between two pieces of the request."""

    def __str__(self) -> str:
        """In words, for reports: only what is changed."""
        default = RequestChange()
        changes = (
            f"{field.name.replace('_', ' ')} {getattr(self, field.name)!r}"
            for field in fields(self)
            if getattr(self, field.name) != getattr(default, field.name)
        )
        return ", ".join(changes) or "nothing"
