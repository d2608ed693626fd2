"""What a response says, whole or framed: read after the fact, or listened to while it passes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from faultwire.errors import WireError
from faultwire.events import ResponseView, header
from faultwire.wire import json_bytes
from faultwire.wire.framing import content_coding, split as framing

if TYPE_CHECKING:
    from faultwire.events import Request, Response, ToolCall
    from faultwire.wire.protocol import Protocol

MOST = content_coding.AT_ONCE
"""Bytes of a response that are kept while it passes; what is longer is not understood."""
MOST_VALUES = 1 << 15
"""JSON values of one: what a parser takes its time for are not bytes, but values. A line counts as eight."""


def response_view(
    protocol: Protocol, response: Response, request: Request | None = None, *, at_once: bool = False
) -> ResponseView:
    """What a whole response says. Raises WireError.

    The request tells how the response is framed where its content type alone does not. A packed body is
    unpacked within limits, which are tighter `at_once`, for an event loop; what they cut is a part.
    """
    body = response.body or b""
    partial = False
    if content_coding.is_encoded(response.headers):
        body, partial = (content_coding.at_once if at_once else content_coding.decoded)(
            body, response.headers
        )
    if at_once and _values(body) > MOST_VALUES:
        raise WireError(f"found more than {MOST_VALUES} JSON values, expected fewer to read them at once")
    splitter = framing.splitter_of(response, protocol, request)
    if splitter is None:
        return _named(protocol.response_view(response.status, body), protocol, response)
    reader = protocol.reader()
    events = splitter.feed(body)
    for event in events:
        reader.feed(event)
    flaw = framing.flaw(splitter)
    rest = splitter.finish()
    view = reader.view()
    if rest:
        reader.feed(rest)
        view = _with_rest(view, reader.view()) if events else reader.view()
    whole = ResponseView(
        view.model,
        view.text,
        view.finish_reason,
        view.tool_calls,
        view.usage,
        view.error or flaw or (None if not partial else "the body is only a part"),
        view.complete and not partial,
        view.request_id,
        view.answer_id,
    )
    return _named(whole, protocol, response)


def _with_rest(before: ResponseView, after: ResponseView) -> ResponseView:
    """The view with what stands behind the last whole event. An event that was cut in its middle is no JSON,
    and none that its server made of it: it says nothing."""
    is_cut = before.error is None and (after.error or "").startswith(json_bytes.NO_JSON)
    return before if is_cut else after


def _named(view: ResponseView, protocol: Protocol, response: Response) -> ResponseView:
    """The view with the request's name in the head: that is the one which SDKs show."""
    ident = request_id(protocol, response)
    if ident is None:
        return view
    # what `dataclasses.replace` gives, in a third of the time
    return ResponseView(
        view.model,
        view.text,
        view.finish_reason,
        view.tool_calls,
        view.usage,
        view.error,
        view.complete,
        ident,
        view.answer_id,
    )


def request_id(protocol: Protocol, response: Response) -> str | None:
    """What the provider calls the request in the head of its answer; None where it says nothing."""
    for name in protocol.request_ids:
        value = header(response.headers, name)
        if value:
            return value
    return None


def _values(body: bytes) -> int:
    """About how many JSON values there are; counting is a hundred times faster than parsing."""
    return sum(map(body.count, (b",", b"[", b"{"))) + 8 * body.count(b"\n")


class ResponseObserver:
    """Listens to a response on its way, without touching it."""

    def __init__(self, protocol: Protocol, head: Response, request: Request | None = None) -> None:
        self._protocol = protocol
        self._head = head
        self._request = request
        self._held: bytearray | None = bytearray()
        packed = content_coding.is_encoded(head.headers)
        self._splitter = None if packed else framing.splitter_of(head, protocol, request)
        self._reader = protocol.reader()

    def observe(self, data: bytes) -> tuple[ToolCall, ...]:
        """Take bytes as they are delivered; returns the calls of a stream once it has ended."""
        if self._splitter is None:
            self._keep(data)
            return ()
        closed = False
        for event in self._splitter.feed(data):
            self._reader.feed(event)
            closed = closed or self._protocol.is_terminal(event)
        return self._reader.view().tool_calls if closed else ()

    def end(self) -> tuple[ToolCall, ...]:
        """The calls that the response made, now that it is over."""
        if self._splitter is not None:
            return self._reader.view().tool_calls
        if self._held is None or self._head.status >= 300:
            return ()
        head = self._head
        try:
            whole = type(head)(head.status, head.reason, head.headers, bytes(self._held))
            return response_view(self._protocol, whole, self._request, at_once=True).tool_calls
        except WireError:
            return ()  # an answer that its own protocol does not know names no call

    def _keep(self, data: bytes) -> None:
        if self._held is not None:
            self._held += data
            if len(self._held) > MOST:
                self._held = None
