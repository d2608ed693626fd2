"""The states of a response: it streams from its first byte on, unless a fault has to hold it."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Any

from mitmproxy.net.http.validate import validate_headers
from mitmproxy.proxy.events import Start
from mitmproxy.proxy.layers.http import SendHttp
from mitmproxy.proxy.layers.http._events import (
    RequestProtocolError,
    ResponseData,
    ResponseEndOfMessage,
    ResponseHeaders,
    ResponseProtocolError,
    ResponseTrailers,
)
from mitmproxy.proxy.layers.http._hooks import HttpResponseHeadersHook

from faultwire.events import Send, Wait
from faultwire.mitm import compat
from faultwire.mitm.flow import convert, error_responses
from faultwire.mitm.flow.actions import ActionExecutor
from faultwire.mitm.flow.websocket import WebSocketLayer
from faultwire.wire.framing import split as framing
from faultwire.wire.framing.grpc_status import parted

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from mitmproxy import http
    from mitmproxy.proxy import events

    from faultwire.events import Action, Response
    from faultwire.mitm.flow.actions import Commands
    from faultwire.mitm.flow.recorded_exchange import RecordedExchange


class Responder(ActionExecutor):
    """The response half of an exchange. `_head` is the head to deliver, while its body is held."""

    _head: Response | None = None
    _trailers: http.Headers | None = None

    def state_wait_for_response_headers(self, event: events.Event) -> Commands:
        """Upstream's head is there: from here on the response streams, unless a fault must hold it."""
        if self._client_left():
            return
        assert isinstance(event, ResponseHeaders)
        recorded = self._recorded
        assert recorded is not None
        response = self.flow.response = event.response
        try:
            validate_headers(response)
        except ValueError as error:
            yield from self._cancel_upstream()
            yield from self._bad_response(str(error))
            return
        if self._gateway.stock_hooks:
            yield HttpResponseHeadersHook(self.flow)
            if (yield from self.check_killed(True)):
                return
        told = convert.response_of(response)
        if recorded.needs_request_body and (yield from self._act(recorded.pending(told))):
            return
        head = recorded.arrive(told)
        if event.end_stream or recorded.pipeline.needs_response_body:
            self._head = head
            self.server_state = self.state_consume_response_body
            return
        if recorded.touches:
            head = convert.open_ended(head, self.flow.request.http_version)
        yield from self._deliver_head(head, told)
        self.server_state = self.state_stream_response_body

    def _deliver_head(self, head: Response, told: Response | None) -> Commands:
        """Send a head, which is the one on the tape as well; `told` is what stands in the flow."""
        assert self._recorded is not None
        assert self.flow.response is not None
        if head is not told:
            convert.apply_response(self.flow.response, head)
        self._recorded.sends(head)
        yield from self._send_head(end_stream=False)

    def _bad_response(self, problem: str) -> Commands:
        refusal = error_responses.upstream_failed(
            f"`{self.flow.request.host}` sent a malformed response: {problem}"
        )
        yield from self._send_answer(refusal.response(), "upstream_aborted", refusal.message)

    def state_stream_response_body(self, event: events.Event) -> Any:
        """Every chunk as it comes; through the pipeline only where a fault touches this response."""
        recorded = self._recorded
        assert recorded is not None
        if self._left or recorded.ended:
            self._upstream = self._upstream and not isinstance(event, ResponseEndOfMessage)
            return ()
        if isinstance(event, ResponseData):
            recorded.upstream_chunk(event.data)
            if self._waiting:
                self._release(len(event.data))
            if not recorded.touches:
                return (SendHttp(event, self.context.client),)
            return self._act(recorded.feed(event.data))
        if isinstance(event, ResponseTrailers):
            self._trailers = event.trailers
        elif isinstance(event, ResponseEndOfMessage):
            return self._end_of_stream(recorded)
        return ()

    def _end_of_stream(self, recorded: RecordedExchange) -> Commands:
        self._upstream = self.client_state == self.state_stream_request_body
        if recorded.touches and (yield from self._act(recorded.finish())):
            return
        self._trail()
        yield from self._complete("complete")

    def state_consume_response_body(self, event: events.Event) -> Commands:
        """Hold a body that a fault must see whole (or that is empty), then deliver it."""
        recorded = self._recorded
        assert recorded is not None
        assert self.flow.response is not None
        if self._client_left():
            self._upstream = self._upstream and not isinstance(event, ResponseEndOfMessage)
            return
        if isinstance(event, ResponseData):
            recorded.upstream_chunk(event.data)
            self._release(len(event.data))
            self.response_body_buf += event.data
        elif isinstance(event, ResponseTrailers):
            self._trailers = event.trailers
        elif isinstance(event, ResponseEndOfMessage):
            body = bytes(self.response_body_buf)
            self.response_body_buf.clear()
            if self._head is not None and self._head.status == framing.SWITCHING:
                yield from self._upgrade()
                return
            yield from self._cancel_switched()
            self._upstream = False
            yield from self._deliver_whole(body)

    def _deliver_whole(self, body: bytes) -> Commands:
        recorded, response, head = self._recorded, self.flow.response, self._head
        assert recorded is not None
        assert response is not None
        assert head is not None
        actions = recorded.whole(body) if recorded.touches or body else iter(())
        ready, stop = _at_once(actions)
        if not (body or ready or stop) and (not recorded.touches or self.flow.request.is_http2):
            self._trail()
            convert.apply_response(response, head)
            recorded.sends(head)
            yield from self._send_head(end_stream=not response.trailers)
            yield from self._complete("complete")
            return
        bodiless = self.flow.request.method == "HEAD" or head.status in (204, 304)
        if not bodiless and stop is None and not self._trailers:
            head = convert.sized(head, sum(len(action.data) for action in ready))
        elif not bodiless and (self._trailers or isinstance(stop, Wait)):
            # What comes after the wait is not asked for yet, so nobody knows how much it is; and trailers
            # need chunks before them.
            head = convert.open_ended(head, self.flow.request.http_version)
        yield from self._deliver_head(head, None)
        todo: Iterable[Action] = chain(ready, () if stop is None else (stop,), actions)
        if bodiless:
            todo = (action for action in todo if not isinstance(action, Send))
        if not (yield from self._act(todo)):
            self._trail()
            yield from self._complete("complete")

    def _trail(self) -> None:
        """Put the trailers in place that come after the body."""
        recorded, response, told = self._recorded, self.flow.response, self._trailers
        assert recorded is not None
        assert response is not None
        if told is None and not recorded.touches:
            return
        known = convert.headers_of(told) if told is not None else ()
        delivered = recorded.trailers(known)
        response.trailers = told if delivered == known else convert.fields_of(delivered)

    def _give(self, answer: Response) -> Commands:
        """Give an answer of ours, on the way that upstream's takes."""
        assert self._recorded is not None
        message = self.flow.response = self._own(answer)
        self._head = self._recorded.replaces(convert.response_of(message))
        if self._recorded.touches:
            # A head that goes out by itself cannot be an answer of nothing but trailers.
            self._head, trailers = parted(self._head)
            self._trailers = convert.fields_of(trailers) if trailers else None
        yield from self._deliver_whole(answer.body or b"")

    # ------------------------------------------------------------ WebSocket

    def _cancel_switched(self) -> Commands:
        """Upstream has changed to another protocol, and the client is told something else: let it go."""
        assert self.flow.response is not None
        if self.flow.response.status_code == framing.SWITCHING:
            yield from self._cancel_upstream()

    def _upgrade(self) -> Commands:
        """101: the session is this one exchange until it is closed."""
        assert self._recorded is not None
        assert self._head is not None
        assert self.flow.response is not None
        self._head_sent = True
        convert.apply_response(self.flow.response, self._head)
        self._recorded.sends(self._head)
        self._gateway.upgraded(self.flow)
        yield from self.send_response()
        if self.flow.websocket is None:
            self._recorded.end("refused", "upstream changed to a protocol that cannot be passed on")

    def flow_done(self) -> Commands:
        """The exchange is over, or becomes a WebSocket, whose messages are ours to pass."""
        if self.flow.websocket is None:
            yield from super().flow_done()
            return
        assert self._recorded is not None
        self._release(self._waiting)  # from here on the socket counts what it holds
        self.child_layer = self._socket()
        self._handle_event = self.state_socket
        yield from self.child_layer.handle_event(Start())
        yield SendHttp(ResponseEndOfMessage(self.stream_id), self.context.client)

    def _socket(self) -> WebSocketLayer:
        assert self._recorded is not None
        return WebSocketLayer(self.context, self.flow, self._gateway, self._recorded)

    def state_socket(self, event: events.Event) -> Commands:
        """What comes from either end of a WebSocket; as with all of ours, a failure lets nothing pass."""
        try:
            yield from self.passthrough(event)
        except Exception as error:  # noqa: BLE001 - fails closed, as the wrapper of a stream does
            self._gateway.failed(self.flow.client_conn, self._recorded, error, None)
            self._handle_event = self.state_errored
            gone = ResponseProtocolError(self.stream_id, "failed", compat.KILL)
            yield SendHttp(gone, self.context.client)
            cancelled = RequestProtocolError(self.stream_id, "failed", compat.CANCEL)
            yield SendHttp(cancelled, self.context.server)


def _at_once(actions: Iterator[Action]) -> tuple[list[Send], Action | None]:
    """What may be sent before the first action that is none; that one, if there is any."""
    ready: list[Send] = []
    for action in actions:
        if not isinstance(action, Send):
            return ready, action
        ready.append(action)
    return ready, None
