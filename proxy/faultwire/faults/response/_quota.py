"""A quota of requests and tokens per window of time, as providers keep it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from faultwire.errors import WireError
from faultwire.wire.editing import token_budget
from faultwire.wire.editing.api import Quota
from faultwire.wire.framing import split as framing

if TYPE_CHECKING:
    from faultwire.events import Request, Response, ResponseView
    from faultwire.wire.protocol import Protocol


@dataclass(slots=True)
class Window:
    """What was used since `since_s`; all exchanges of one entry in one session share it."""

    requests: int | None
    tokens: int | None
    window_s: float
    since_s: float
    used_requests: int = 0
    used_tokens: int = 0

    def enter(self, at_s: float) -> None:
        """Begin a new window where the old one is over; it starts with the request that comes then."""
        if at_s - self.since_s >= self.window_s:
            self.since_s, self.used_requests, self.used_tokens = at_s, 0, 0

    @property
    def full(self) -> str | None:
        """What is used up, None where there is room for another request."""
        if self.requests is not None and self.used_requests >= self.requests:
            return "requests"
        return "tokens" if self.tokens is not None and self.used_tokens >= self.tokens else None

    def left(self, at_s: float) -> Quota:
        """The quota as headers tell it."""
        return Quota(
            requests=self.requests,
            requests_left=max(0, (self.requests or 0) - self.used_requests),
            tokens=self.tokens,
            tokens_left=max(0, (self.tokens or 0) - self.used_tokens),
            reset_s=max(0.0, self.since_s + self.window_s - at_s),
        )


class Meter:
    """Counts the tokens of one answer: what its usage says, else about as many as it has words."""

    def __init__(self, protocol: Protocol, response: Response, request: Request) -> None:
        self._protocol = protocol
        self._status = response.status
        self._splitter = framing.splitter_of(response, protocol, request)
        self._reader = protocol.reader()
        self._body = bytearray()

    def receive(self, data: bytes) -> None:
        """Take delivered bytes, divided in any way."""
        if self._splitter is None:
            self._body += data
            return
        for event in self._splitter.feed(data):
            try:
                self._reader.feed(event)
            except WireError:
                continue  # a broken event uses nothing

    def used(self) -> int:
        """Tokens of the exchange, input and output."""
        try:
            view = self._view()
        except WireError:
            return 0
        if view.usage is not None:
            return view.usage.input_tokens + view.usage.output_tokens
        return token_budget.count(view.text)

    def _view(self) -> ResponseView:
        if self._splitter is None:
            return self._protocol.response_view(self._status, bytes(self._body))
        return self._reader.view()
