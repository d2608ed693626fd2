"""What a connection of the mock and its server know of each other, over any version of HTTP."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable

    from faultwire.events import Request
    from faultwire.mock._api import Answer
    from faultwire.mock.gate import Gate


class Client(Protocol):
    """A client's connection."""

    def abort(self) -> None:
        """Drop the client."""


class Service(Protocol):
    """The server, as its connections see it."""

    requests: int
    """Requests that were answered, or begun to be."""
    answer: Callable[[Request], Answer]
    hold: Gate | None
    """Stops streams half way, for tests."""

    def join(self, connection: Client) -> None:
        """A client has come."""

    def leave(self, connection: Client) -> None:
        """A client is gone."""
