"""Answers that are changed on their way to one client, behind the tape: links that must lead back to us."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from mitmproxy.proxy.layers.http._events import ResponseData, ResponseEndOfMessage, ResponseHeaders

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from mitmproxy import http
    from mitmproxy.proxy.layers.http._base import HttpEvent


class Outgoing(Protocol):
    """Changes what one client is sent."""

    def head(self, response: http.Response) -> bool:
        """Change a response's head in place; True where its body is wanted whole."""

    def body(self, response: http.Response, body: bytes) -> bytes:
        """What is sent in place of the body."""


class ChangedAnswers:
    """The answers of one connection; `find` gives who changes the one to the request at hand, if anybody
    does."""

    def __init__(self, find: Callable[[], Outgoing | None]) -> None:
        self._find = find
        self._held: tuple[Outgoing, ResponseHeaders, bytearray] | None = None

    def events(self, event: HttpEvent) -> Iterator[HttpEvent]:
        """What is sent for an event: nothing yet, for one whose body is held, or more than one."""
        if isinstance(event, ResponseHeaders):
            changes = self._find()
            if changes is not None:
                event = ResponseHeaders(event.stream_id, event.response.copy(), event.end_stream)
                if changes.head(event.response):
                    self._held = (changes, event, bytearray())
                    return
        elif self._held is not None:
            if isinstance(event, ResponseData):
                self._held[2].extend(event.data)
                return
            yield from self._let_go(whole=isinstance(event, ResponseEndOfMessage))
        yield event

    def _let_go(self, *, whole: bool) -> Iterator[HttpEvent]:
        """What was held; a body that was cut off goes as it is."""
        assert self._held is not None
        (changes, head, data), self._held = self._held, None
        body = bytes(data)
        if whole:
            body = changes.body(head.response, body)
            head.response.headers.pop("transfer-encoding", None)
            head.response.headers["content-length"] = str(len(body))
        yield head
        yield ResponseData(head.stream_id, body)
