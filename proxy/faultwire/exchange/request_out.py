"""What all exchanges of a session share, and what is done once a request is known."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from faultwire import clock, wire
from faultwire.events import header, with_header

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from faultwire.dice import Dice
    from faultwire.events import Action, Request, Response
    from faultwire.exchange.session_state import SessionState
    from faultwire.profile.model import Profile


@dataclass(frozen=True, slots=True)
class SessionContext:
    """What all exchanges of a session share. `name` is stable between runs: the dice depend on it."""

    name: str
    profile: Profile
    dice: Dice
    state: SessionState
    now: Callable[[], float] = clock.monotonic
    """Seconds on a clock that never goes back."""
    began: float = field(default_factory=clock.monotonic)
    """The session's first instant on that clock."""


class OutboundRequest:
    """What the shell does once it has the request.

    It performs `actions` in order (a `Cut` or `Reset` ends the exchange), then delivers `answer`
    without calling upstream, or else forwards `request`. Asking for either passes over what is left of
    the actions.
    """

    __slots__ = ("_answer", "_request", "actions")

    def __init__(self, request: Request) -> None:
        self.actions: Iterator[Action] = iter(())
        self._request = request
        self._answer: Response | None = None

    @property
    def request(self) -> Request:
        """The request to forward."""
        for _ in self.actions:
            pass
        return self._request

    @property
    def answer(self) -> Response | None:
        """The answer to give in upstream's place, if there is one."""
        for _ in self.actions:
            pass
        return self._answer

    def settle(self, request: Request, answer: Response | None) -> None:
        """The actions are used up: this is what comes of them."""
        self._request, self._answer = request, answer


def unpacked(request: Request) -> Request:
    """The request asking for an answer that is not packed, unless its signature forbids that."""
    if wire.signs_header(request, "accept-encoding"):
        return request
    return replace(request, headers=with_header(request.headers, "accept-encoding", "identity"))


def with_body(request: Request, body: bytes) -> Request:
    """The request with another body and the length of it."""
    if body is request.body:
        return request
    headers = request.headers
    if header(headers, "content-length") is not None:
        headers = with_header(headers, "content-length", str(len(body)))
    return replace(request, body=body, headers=headers)


GRPC_PREFIX = 5
"""Bytes before a gRPC message: one flag, and its length."""


def is_dialogue(request: Request) -> bool:
    """May the client wait for answers before it ends this request? Only gRPC's streams do that."""
    return (header(request.headers, "content-type") or "").lower().startswith("application/grpc")


def first_message(body: bytes) -> bytes | None:
    """The first message of a dialogue with its prefix, None while it is not whole."""
    end = GRPC_PREFIX + int.from_bytes(body[1:GRPC_PREFIX])
    return body[:end] if len(body) >= end else None
