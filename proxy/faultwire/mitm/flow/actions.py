"""Performing what a pipeline asks for on one live response, and every way in which it can end.

`ActionExecutor` is the half of a stream that acts: it sends, waits without holding a thread, cuts (FIN) or
resets (RST) between any two bytes on HTTP/1 and HTTP/2, and answers in place of upstream.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from mitmproxy import flow as mitm_flow
from mitmproxy.proxy.layers.http import DropStream, HttpStream, SendHttp
from mitmproxy.proxy.layers.http._events import (
    RequestData,
    RequestEndOfMessage,
    RequestProtocolError,
    ResponseData,
    ResponseEndOfMessage,
    ResponseHeaders,
    ResponseProtocolError,
    ResponseTrailers,
)
from mitmproxy.proxy.layers.http._hooks import HttpErrorHook, HttpResponseHook

from faultwire.events import Close, Cut, Send, Wait
from faultwire.mitm import compat
from faultwire.mitm.compat.hooks import FaultwireResetHook, FaultwireWaitHook, Hangup, Pause
from faultwire.mitm.flow import convert, error_responses

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable

    from mitmproxy import http
    from mitmproxy.proxy import commands, events
    from mitmproxy.proxy.context import Context

    from faultwire.events import Action, Response
    from faultwire.mitm.flow.error_responses import Refusal
    from faultwire.mitm.flow.gateway import Gateway
    from faultwire.mitm.flow.recorded_exchange import RecordedExchange

    Commands = Generator[commands.Command, Any, None]
    Ended = Generator[commands.Command, Any, bool]

QUEUE_LIMIT = 512 * 1024
"""Bytes of a paused response that may wait in memory before we stop reading from upstream."""


class ActionExecutor(HttpStream):
    """One exchange on the wire. `_upstream` is True while a server connection works for it, `_said_all` once
    a client that still sends its request was told that the response is over."""

    def __init__(self, context: Context, stream_id: int, gateway: Gateway) -> None:
        super().__init__(context, stream_id)
        self._gateway = gateway
        self._recorded: RecordedExchange | None = None
        self._answer: tuple[Response, str, str | None] | None = None
        self._head_sent = False
        self._left = False
        self._upstream = False
        self._said_all = False
        self._pause: Pause | None = None
        self._waiting = 0
        self._throttled = False

    # ------------------------------------------------------------ actions

    def _act(self, actions: Iterable[Action]) -> Ended:
        """Perform actions in order, each before the next is asked for; True where the exchange is over
        for the client."""
        for action in actions:
            if isinstance(action, Send):
                if action.data:
                    assert self._recorded is not None
                    self._recorded.delivered(action)
                    yield SendHttp(ResponseData(self.stream_id, action.data), self.context.client)
            elif isinstance(action, Wait):
                if (yield from self._wait(action.seconds)):
                    return True
            elif isinstance(action, Cut | Close):
                yield from self._cut(clean=isinstance(action, Close) or action.clean)
                return True
            else:
                yield from self._reset()
                return True
        return False

    def _wait(self, seconds: float | None) -> Ended:
        """Let time pass, or the client leave; True in the second case (its error event is queued)."""
        if self._client_left():
            return True
        self._pause = Pause(self.flow.client_conn, seconds)
        try:
            yield FaultwireWaitHook(self._pause)
        finally:
            self._pause = None
        return self._client_left()

    def _client_left(self) -> bool:
        """Is there nobody left to answer? (The event that says so may still be queued.)"""
        return self._left or (self._recorded is not None and self._recorded.ended)

    def _cut(self, *, clean: bool) -> Commands:
        if not (clean and self._head_sent):
            yield from self._hang_up("cut", None)
            return
        yield from self._cancel_upstream()
        assert self.flow.response is not None
        if self.flow.response.headers.get("content-length") is not None:
            # The message says how long it is; ending it early shows only by closing.
            yield from self._hang_up("cut", None)
            return
        assert self._recorded is not None
        trailers = self._recorded.last_words()
        self.flow.response.trailers = convert.fields_of(trailers) if trailers else None
        yield from self._complete("closed")

    def _reset(self) -> Commands:
        if not self.flow.request.is_http2:
            yield FaultwireResetHook(Hangup(self.flow.client_conn))
        yield from self._hang_up("reset", None)

    def _hang_up(self, ending: str, error: str | None) -> Commands:
        """End without a word: FIN on HTTP/1, RST_STREAM on HTTP/2."""
        if self._recorded is not None:
            self._recorded.end(ending, error)
        yield from self._cancel_upstream()
        self._release(self._waiting)
        self.flow.error = mitm_flow.Error(error or f"faultwire: {ending}")
        if self._gateway.stock_hooks:
            yield HttpErrorHook(self.flow)
        if self.client_state != self.state_errored:
            killed = ResponseProtocolError(self.stream_id, ending, compat.KILL)
            yield SendHttp(killed, self.context.client)
        self.flow.live = False
        self.client_state = self.server_state = self.state_errored
        yield DropStream(self.stream_id)

    def _cancel_upstream(self) -> Commands:
        if self._upstream:
            self._upstream = False
            yield SendHttp(RequestProtocolError(self.stream_id, "cut", compat.CANCEL), self.context.server)

    # ------------------------------------------------------------ ends

    def _send_head(self, *, end_stream: bool) -> Commands:
        self._head_sent = True
        assert self.flow.response is not None
        yield SendHttp(ResponseHeaders(self.stream_id, self.flow.response, end_stream), self.context.client)

    def state_discard_request_body(self, event: events.Event) -> Commands:
        """Let the client finish its request, then give it the answer that stands already."""
        if isinstance(event, RequestData) and self._recorded is not None:
            self._recorded.request_chunk(event.data)
        if isinstance(event, RequestEndOfMessage):
            self.client_state = self.state_done
            assert self._answer is not None
            yield from self._send_answer(*self._answer)

    def state_ignore_request_body(self, event: events.Event) -> Commands:
        """The client has its answer, and nobody upstream wants the rest."""
        if isinstance(event, RequestData) and self._recorded is not None:
            self._recorded.request_chunk(event.data)
        elif isinstance(event, RequestEndOfMessage):
            self.client_state = self.state_done
            if self.server_state == self.state_done:
                yield from self.flow_done()

    def _send_answer(self, response: Response, ending: str, error: str | None) -> Commands:
        """Give a whole answer of our own."""
        message = self.flow.response = self._own(response)
        content = b"" if self.flow.request.method == "HEAD" else message.raw_content or b""
        if self._recorded is not None:
            self._recorded.answered(replace(convert.response_of(message), body=content))
        yield from self._send_head(end_stream=not content)
        if content:
            yield SendHttp(ResponseData(self.stream_id, content), self.context.client)
        yield from self._complete(ending, error)

    def _own(self, response: Response) -> http.Response:
        """An answer of ours as a message to this client."""
        message = convert.message_of(response, self.flow.request.http_version)
        if message.is_http2:
            message.headers.pop("connection", None)
        return message

    def _complete(self, ending: str, error: str | None = None) -> Commands:
        """The regular end of a response."""
        if self._recorded is not None:
            self._recorded.end(ending, error)
        self._release(self._waiting)
        if self._gateway.stock_hooks:
            yield HttpResponseHook(self.flow)
        self.server_state = self.state_done
        assert self.flow.response is not None
        if self.flow.response.trailers:
            trailers = ResponseTrailers(self.stream_id, self.flow.response.trailers)
            yield SendHttp(trailers, self.context.client)
        if self.client_state == self.state_done:
            yield from self.flow_done()
        else:
            self._said_all = True
            yield SendHttp(ResponseEndOfMessage(self.stream_id), self.context.client)

    def flow_done(self) -> Commands:
        """Request and response are over."""
        if self._said_all:
            self.flow.live = False
            yield DropStream(self.stream_id)
        else:
            yield from super().flow_done()

    def state_done(self, event: events.Event) -> Commands:
        """What still comes of a response that a fault has ended. (mitmproxy expects nothing here.)"""
        yield from ()

    def handle_protocol_error(self, event: RequestProtocolError | ResponseProtocolError) -> Commands:
        """A peer broke its protocol or went away."""
        if self.flow.request.method == "CONNECT":
            yield from super().handle_protocol_error(event)
        elif isinstance(event, RequestProtocolError):
            yield from self._abandoned(event)
        elif self._said_all:
            self._upstream = False  # it has answered, and does not want the rest of the request
            self.client_state = self.state_ignore_request_body
        elif self._head_sent or self.client_state == self.state_errored:
            yield from self._hang_up("upstream_aborted", event.message)
        else:
            yield from self._lost(event.message)

    def _abandoned(self, event: RequestProtocolError) -> Commands:
        """The client went away: so does the call upstream."""
        if self._recorded is not None:
            self._recorded.end("client_aborted", event.message)
        self._release(self._waiting)
        if self._upstream:
            self._upstream = False
            yield SendHttp(event, self.context.server)
        self.flow.error = mitm_flow.Error(event.message)
        if self._gateway.stock_hooks:
            yield HttpErrorHook(self.flow)
        self.flow.live = False
        self.client_state = self.server_state = self.state_errored
        yield DropStream(self.stream_id)

    def _lost(self, problem: str) -> Commands:
        """Upstream went away before it said anything: the client is told why."""
        refusal = error_responses.upstream_failed(f"`{self.flow.request.host}` did not answer: {problem}")
        self._upstream = False
        self.server_state = self.state_errored
        yield from self._answer_when_read(refusal, "upstream_aborted")

    def _answer_when_read(self, refusal: Refusal, ending: str) -> Commands:
        """Answer once the request is whole: HTTP/1 clients that are still sending would see a reset. On
        HTTP/2 at once (RFC 9113 §8.1): in a websocket the client waits for us before it says more."""
        answer = (refusal.response(), ending, refusal.message)
        if self.client_state != self.state_done and not self.flow.request.is_http2:
            self._answer = answer
            self.client_state = self.state_discard_request_body
            return
        if self.client_state != self.state_done:
            self.client_state = self.state_ignore_request_body
        yield from self._send_answer(*answer)

    # ------------------------------------------------------------ back-pressure

    def _hold_back(self, size: int) -> None:
        self._waiting += size
        if self._waiting > QUEUE_LIMIT and not self._throttled:
            self._throttled = True
            self._gateway.throttle(self.flow, paused=True)

    def _release(self, size: int) -> None:
        self._waiting = max(0, self._waiting - size)
        if self._throttled and self._waiting <= QUEUE_LIMIT // 2:
            self._throttled = False
            self._gateway.throttle(self.flow, paused=False)
