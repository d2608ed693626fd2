"""One HTTP exchange inside mitmproxy, performing what its pipeline asks for on a live stream.

`FaultStream` takes over mitmproxy's stream state machine from the point where a request head has been
validated. It streams whatever nobody needs to hold, waits without holding a thread, and can cut or
reset a response between any two bytes, on HTTP/1 and HTTP/2. Everything runs in one wrapper: an
exception in our code refuses the exchange and voids the run, it never lets traffic pass.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mitmproxy import http
from mitmproxy.proxy import events
from mitmproxy.proxy.layers.http import GetHttpConnection, HttpLayer, SendHttp
from mitmproxy.proxy.layers.http._events import (
    RequestData,
    RequestEndOfMessage,
    RequestHeaders,
    RequestProtocolError,
    RequestTrailers,
    ResponseData,
    ResponseHeaders,
)
from mitmproxy.proxy.layers.http._hooks import (
    HttpRequestHeadersHook,
    HttpRequestHook,
)

from faultwire.mitm import compat
from faultwire.mitm.flow import convert, error_responses
from faultwire.mitm.flow.replay_stream import ReplayStream
from faultwire.mitm.network.egress_guard import MARK

if TYPE_CHECKING:
    from faultwire.exchange.pipeline import OutboundRequest
    from faultwire.mitm.flow.actions import Commands, Ended
    from faultwire.mitm.flow.gateway import Gateway


class FaultLayer(HttpLayer):
    """mitmproxy's HTTP layer with our streams in it, and its client side with a limit on heads."""

    gateway: Gateway

    def _handle_event(self, event: events.Event) -> Any:
        if isinstance(event, events.Start) and self.context.client.alpn != b"h2":
            server = compat.BoundedHttp1Server(self.context.fork())
            self.gateway.attend(server, self.context.client)
            self.connections.setdefault(self.context.client, server)
        return super()._handle_event(event)  # no generator of ours between mitmproxy's

    def make_stream(self, stream_id: int) -> Commands:
        """Called by mitmproxy for every request head."""
        stream = FaultStream(self.context.fork(), stream_id, self.gateway)
        self.streams[stream_id] = stream
        yield from self.event_to_child(stream, events.Start())


class FaultStream(ReplayStream):
    """One exchange: the wrapper around it, and the states of its request."""

    # ------------------------------------------------------------ the wrapper

    def handle_event(self, event: events.Event) -> Any:
        """mitmproxy's entry; while a fault lets time pass, events queue up behind it."""
        if type(event) is RequestProtocolError:
            self._left = True
            if self._pause is not None:
                self._pause.leave()
                if self._recorded is not None:
                    self._recorded.client_left()
        elif self._pause is not None and type(event) is ResponseData:
            self._hold_back(len(event.data))
        return super().handle_event(event)

    def _handle_event(self, event: events.Event) -> Commands:
        try:
            if type(event) is ResponseData:  # the most frequent by far
                yield from self.server_state(event)
            else:
                yield from super()._handle_event(event)
        except Exception as error:  # noqa: BLE001 - the one place where ours fails closed
            yield from self._fail(error)

    def _fail(self, error: Exception) -> Commands:
        refusal = error_responses.internal(error)
        told = self._head_sent or self.client_state == self.state_errored
        self._gateway.failed(self.flow.client_conn, self._recorded, error, None if told else refusal)
        if told:
            yield from self._hang_up("refused", refusal.message)
        else:
            yield from self._cancel_upstream()
            self.client_state = self.state_done
            yield from self._send_answer(refusal.response(), "refused", refusal.message)

    # ------------------------------------------------------------ request

    def state_wait_for_request_headers(self, event: events.Event) -> Commands:
        """mitmproxy checks the head and finds the target; from there on it is ours."""
        assert isinstance(event, RequestHeaders)
        stock = super().state_wait_for_request_headers(event)
        if event.request.method == "CONNECT":
            yield from stock
            if self.flow.error is not None and not self._left:
                self._gateway.malformed(self.context.client)
            return
        for command in stock:
            ours = isinstance(command, HttpRequestHeadersHook) and self.flow.error is None
            if not ours or self._gateway.stock_hooks:
                yield command
            if ours:
                stock.close()
                break
        else:  # mitmproxy has answered it, with 400
            self._gateway.malformed(self.context.client)
            return
        if not (self._gateway.stock_hooks and (yield from self.check_killed(True))):
            yield from self._begin(event)

    def _begin(self, event: RequestHeaders) -> Commands:
        request = self.flow.request
        if (convert.value_of(request.headers, b"expect") or "").lower() == "100-continue":
            go_on = http.Response.make(100)
            go_on.headers.clear()
            yield SendHttp(ResponseHeaders(self.stream_id, go_on), self.context.client)
            request.headers.pop("expect")
        self.server_state = self.state_wait_for_response_headers
        try:
            recorded = self._recorded = self._gateway.begin(self.flow)
            self._gateway.admit(recorded)
        except error_responses.Refusal as refusal:
            yield from self._answer_when_read(refusal, "refused")
            return
        if event.end_stream or recorded.needs_request_body:
            self.client_state = self.state_consume_request_body
            return
        convert.apply_request(request, recorded.depart(None).request)  # nothing is decided on such a one
        self.client_state = self.state_stream_request_body
        if (yield from self._connect()):
            convert.frame(request, None, h2_upstream=self.context.server.alpn == b"h2")
            yield SendHttp(RequestHeaders(self.stream_id, request, end_stream=False), self.context.server)

    def state_consume_request_body(self, event: events.Event) -> Commands:
        """Hold the body until it is whole, then set out."""
        assert self._recorded is not None
        if isinstance(event, RequestData):
            self.request_body_buf += event.data
            pipeline = self._recorded.pipeline
            early = pipeline.decides_on_first_message and self._gateway.replays is None
            if early and pipeline.ready(bytes(self.request_body_buf)):
                yield from self._set_out_early()
        elif isinstance(event, RequestTrailers):
            self._request_trailers(event.trailers)
        elif isinstance(event, RequestEndOfMessage):
            body = bytes(self.request_body_buf)
            self.request_body_buf.clear()
            self.flow.request.data.content = body
            self.client_state = self.state_done
            if self._gateway.stock_hooks:
                yield HttpRequestHook(self.flow)
                if (yield from self.check_killed(True)):
                    return
            self._meet(body)
            yield from self._set_out(self._recorded.depart(body))

    def _set_out_early(self) -> Commands:
        """What is there is enough to decide on; the rest of the body passes as it comes."""
        assert self._recorded is not None
        body = bytes(self.request_body_buf)
        self.request_body_buf.clear()
        self.flow.request.data.content = body
        self.client_state = self.state_stream_request_body
        yield from self._set_out(self._recorded.depart(body, live=True), live=True)

    def _request_trailers(self, trailers: http.Headers | None) -> None:
        self.flow.request.trailers = trailers
        if trailers is not None and self._recorded is not None:
            self._recorded.request_trailers(convert.headers_of(trailers))

    def _set_out(self, departure: OutboundRequest, *, live: bool = False) -> Commands:
        if (yield from self._act(departure.actions)):
            self._pass_over()
            self._nobody_asks()
            return
        answer, request = departure.answer, self.flow.request
        if answer is not None:
            self._pass_over()
            if live:
                self.client_state = self.state_ignore_request_body
            yield from self._give(answer)
            return
        assert self._recorded is not None
        self._recorded.forwards(departure.request)
        if self._gateway.replays is not None and (yield from self._play(departure.request)):
            return
        convert.apply_request(request, departure.request)
        if not (yield from self._connect()):
            return
        content = request.raw_content
        server = self.context.server
        convert.frame(request, None if live else len(content or b""), h2_upstream=server.alpn == b"h2")
        bare = not (live or content or request.trailers)
        yield SendHttp(RequestHeaders(self.stream_id, request, bare), server)
        if content:
            yield SendHttp(RequestData(self.stream_id, content), server)
        if live:
            return
        if request.trailers:
            yield SendHttp(RequestTrailers(self.stream_id, request.trailers), server)
        yield SendHttp(RequestEndOfMessage(self.stream_id), server)

    def state_stream_request_body(self, event: events.Event) -> Commands:
        """Pass the body on as it comes."""
        assert self._recorded is not None
        if isinstance(event, RequestData):
            self._recorded.request_chunk(event.data)
            yield SendHttp(RequestData(self.stream_id, event.data), self.context.server)
        elif isinstance(event, RequestTrailers):
            self._request_trailers(event.trailers)
        elif isinstance(event, RequestEndOfMessage):
            self.client_state = self.state_done
            if self._gateway.stock_hooks:
                yield HttpRequestHook(self.flow)
            if self.flow.request.trailers:
                trailers = RequestTrailers(self.stream_id, self.flow.request.trailers)
                yield SendHttp(trailers, self.context.server)
            yield SendHttp(event, self.context.server)
            if self.server_state == self.state_done:
                self._upstream = False
                yield from self.flow_done()

    # ------------------------------------------------------------ upstream

    def _connect(self) -> Ended:
        """Get a server connection; False where the exchange is over instead."""
        if self._nobody_asks():
            return False
        address, tls = self._gateway.routes.destination(self.flow.request)
        server = self.flow.server_conn
        connection, problem = yield GetHttpConnection(address, tls, server.via, server.transport_protocol)
        if problem:
            yield from self._unreachable(problem)
            return False
        self.context.server = self.flow.server_conn = connection
        self._upstream = True
        return not self._nobody_asks()

    def _nobody_asks(self) -> bool:
        """Has the client left? What is queued of its request then has no head before it, and goes nowhere."""
        left = self._client_left()
        if left and self.client_state == self.state_stream_request_body:
            self.client_state = self.state_ignore_request_body
        return left

    def _unreachable(self, problem: str) -> Commands:
        refused = problem.find(MARK)
        if refused >= 0:
            refusal = error_responses.not_allowed(problem[refused + len(MARK) :])
            ending = "refused"
        else:
            host = self.flow.request.host
            refusal = error_responses.upstream_failed(f"`{host}` was not reached: {problem}")
            ending = "upstream_aborted"
        yield from self._answer_when_read(refusal, ending)
