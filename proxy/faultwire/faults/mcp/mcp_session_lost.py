"""`mcp_session_lost`: a server no longer knows the session."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from faultwire.faults._api import Fault, Mutator, Site
from faultwire.faults.mcp._asked import no_request
from faultwire.wire.mcp import http as mcp

if TYPE_CHECKING:
    from faultwire.dice import FaultDice
    from faultwire.events import Exchange, Response

KEPT = 256
"""Lost sessions that are remembered."""


class McpSessionLost(Fault):
    """Let an MCP server forget the client's session.

    What it does:
        Answers 404 to a request that names a session, as the specification says of one that was ended,
        and to every later request that names the same one. A client that begins anew with `initialize`
        gets a new session, which lives until the fault fires again. In 2026-07-28 there are no sessions
        to lose.

    Why agents break:
        Clients must begin anew; most raise instead, and the agent loses all tools of that server for the
        rest of the task.

    Real-world source:
        Servers behind a load balancer without sticky sessions, restarts, expired sessions.

    Example:
        faults:
          - mcp_session_lost:
            on: {kind: tool}
            trigger: {first: 1}
    """

    name: ClassVar[str] = "mcp_session_lost"
    site: ClassVar[Site] = "response"
    protocols: ClassVar[tuple[str, ...]] = ("mcp",)
    answers: ClassVar[bool] = True

    def inapplicable(self, exchange: Exchange) -> str | None:
        """Only a request that names a session can hear that it is lost."""
        why = super().inapplicable(exchange) or no_request(exchange, "*")
        if why is None and mcp.session(exchange.request) is None:
            return "the request names no session"
        return why

    def start(self, exchange: Exchange, dice: FaultDice) -> Mutator:
        """Lose the session."""
        return _Lost(mcp.session(exchange.request) or "", now=True)

    def watch(self, exchange: Exchange) -> Mutator:
        """A session that was lost before stays lost."""
        return _Lost(mcp.session(exchange.request) or "", now=False)


class _Lost(Mutator):
    def __init__(self, session: str, *, now: bool) -> None:
        self._session = session
        self._now = now

    def answer(self) -> Response | None:
        if not self._now and self._session not in self.memory:
            return None
        self.memory[self._session] = True
        while len(self.memory) > KEPT:
            del self.memory[next(iter(self.memory))]
        self.effect = "session lost" if self._now else "session lost earlier"
        return mcp.Mcp().error(404, message="Session not found")
