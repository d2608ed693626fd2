"""What a started fault does to one exchange: a state machine that touches no socket, clock or file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from faultwire.events import Send

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from faultwire.events import Action, Chunk, Headers, Request, Response

Memory = dict[str, Any]
"""What a fault keeps between the exchanges of a session; the fault keeps it small."""


class Mutator:
    """What a started fault does to one exchange. Every method passes through by default.

    `effect` stays None until the fault has fired; then it describes what was done. `canary` is
    a word that was planted in what was delivered.
    `replaces` is True where what it delivers no longer holds anything of what it was fed. `memory` is
    shared by all mutators of one entry in one session.
    """

    effect: str | None = None
    replaces: bool = False
    canary: str | None = None
    memory: Memory

    def arrived(self, memory: Memory, at_s: float) -> None:
        """Called right after the start; `at_s` is the exchange's instant in its session."""
        self.memory = memory

    def before(self) -> Iterable[Action]:
        """Before upstream is called: `Wait`, or an end (`Cut`, `Reset`)."""
        return ()

    def answer(self) -> Response | None:
        """An answer given without calling upstream, body included."""
        return None

    def outbound(self, request: Request) -> Request:
        """The request to forward."""
        return request

    def head(self, response: Response) -> Response:
        """The response head to deliver."""
        return response

    def passing(self, events: Sequence[bytes]) -> int:
        """How many of these events, from the first on, it lets pass as they are, and has counted. It is fed
        the one after them. A fault that does not know beforehand is fed each."""
        return 0

    def feed(self, chunk: Chunk) -> Iterable[Action]:
        """What to do in place of sending this chunk."""
        yield Send(chunk.data)

    def upward(self, chunk: Chunk) -> Iterable[Action]:
        """What to do in place of sending this WebSocket message of the client on to the server."""
        yield Send(chunk.data, to="server")

    def finish(self) -> Iterable[Action]:
        """What to do before the regular end of the response, or before the server's Close frame."""
        return ()

    def trailers(self, headers: Headers) -> Headers:
        """The trailers to deliver after the body."""
        return headers
