"""What the client is sent, and every way in which its response can end."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from mitmproxy import flow as mitm_flow
from mitmproxy.proxy.layers.http import DropStream, SendHttp
from mitmproxy.proxy.layers.http._events import (
    RequestProtocolError,
    ResponseData,
    ResponseEndOfMessage,
    ResponseHeaders,
    ResponseProtocolError,
    ResponseTrailers,
)
from mitmproxy.proxy.layers.http._hooks import HttpErrorHook, HttpResponseHook

from faultwire.mitm import compat
from faultwire.mitm.flow.stream_state import (
    Commands,
    Known,
    RequestPhase,
    ResponsePhase,
    StreamState,
    joined,
)
from faultwire.mitm.messages import convert

if TYPE_CHECKING:
    from mitmproxy import http
    from mitmproxy.proxy.layers.http._base import HttpEvent

    from faultwire.events import Response
    from faultwire.mitm.messages.error_responses import Refusal


@dataclass(slots=True, eq=False)
class ResponseWriter:
    """Writes to the client. `finish` gives what ends the stream once request and response are over."""

    state: StreamState
    finish: Callable[[], Commands]
    all_sent: bool = False
    """Did a client that still sends its request get the end of the response?"""
    _deferred: tuple[Response, str, str | None] | None = None

    # ------------------------------------------------------------ parts of a response

    def head(self, *, end_stream: bool) -> SendHttp:
        """The head that stands in the flow."""
        state = self.state
        state.head_sent = True
        assert state.flow.response is not None
        head = ResponseHeaders(state.stream_id, state.flow.response, end_stream)
        return SendHttp(head, state.context.client)

    def deliver(self, pieces: list[bytes]) -> Known:
        """Pieces of the body, at least one and none empty; each is in a frame of its own."""
        state = self.state
        client = state.context.client
        state.recorded.delivered(pieces)
        if len(pieces) == 1:
            return (SendHttp(ResponseData(state.stream_id, pieces[0]), client),)
        if state.flow.request.is_http2:
            return tuple([SendHttp(ResponseData(state.stream_id, piece), client) for piece in pieces])
        return (SendHttp(compat.ResponsePieces(state.stream_id, pieces), client),)

    def answer(self, response: Response, ending: str, error: str | None) -> Commands:
        """A whole answer of our own."""
        state = self.state
        message = state.flow.response = self.own(response)
        content = b"" if state.flow.request.method == "HEAD" else message.raw_content or b""
        if state.begun:
            state.recorded.answered(replace(convert.response_of(message), body=content))
        sent: Known = (self.head(end_stream=not content),)
        if content:
            sent += (SendHttp(ResponseData(state.stream_id, content), state.context.client),)
        return joined(sent, self.complete(ending, error))

    def own(self, response: Response) -> http.Response:
        """An answer of ours as a message to this client."""
        message = convert.message_of(response, self.state.flow.request.http_version)
        if message.is_http2:
            message.headers.pop("connection", None)
        return message

    def answer_when_read(self, refusal: Refusal, ending: str) -> Commands:
        """Answer once the request is whole: HTTP/1 clients that are still sending would see a reset. On
        HTTP/2 at once (RFC 9113 §8.1): in a websocket the client waits for us before it says more."""
        state, answer = self.state, (refusal.response(), ending, refusal.message)
        if state.request is not RequestPhase.DONE:
            if not state.flow.request.is_http2:
                self._deferred = answer
                state.request = RequestPhase.DISCARDED
                return ()
            state.request = RequestPhase.IGNORED
        return self.answer(*answer)

    def deferred(self) -> Commands:
        """The request has been read: the answer that was ready before."""
        assert self._deferred is not None
        return self.answer(*self._deferred)

    def give_up(self, refusal: Refusal) -> Commands:
        """The request does not come to its end: answer with what was to be said behind it, or with this, and
        end the connection (or stream), which nothing else can follow in."""
        state = self.state
        yield from self.cancel_upstream()
        yield from self.answer(*(self._deferred or (refusal.response(), "client_aborted", refusal.message)))
        over = ResponseProtocolError(state.stream_id, refusal.message, compat.KILL)
        yield SendHttp(over, state.context.client)

    # ------------------------------------------------------------ ends

    def complete(self, ending: str, error: str | None = None) -> Commands:
        """The regular end of a response."""
        state = self.state
        if state.begun:
            state.recorded.end(ending, error)
        if state.waiting:
            state.release_all()
        return self._complete_shown() if state.gateway.stock_hooks else self._close()

    def _complete_shown(self) -> Commands:
        yield HttpResponseHook(self.state.flow)
        yield from self._close()

    def _close(self) -> Commands:
        state = self.state
        state.response = ResponsePhase.DONE
        assert state.flow.response is not None
        trailers = state.flow.response.trailers
        last: Known = ()
        if trailers:
            last = (SendHttp(ResponseTrailers(state.stream_id, trailers), state.context.client),)
        if state.request is RequestPhase.DONE:
            return joined(last, self.finish()) if last else self.finish()
        self.all_sent = True
        return (*last, SendHttp(ResponseEndOfMessage(state.stream_id), state.context.client))

    def hang_up(self, ending: str, error: str | None, code: int | None = None) -> Commands:
        """End without a word: FIN on HTTP/1, RST_STREAM on HTTP/2, there with a code."""
        state = self.state
        if state.begun:
            state.recorded.end(ending, error)
        yield from self.cancel_upstream()
        state.release_all()
        state.flow.error = mitm_flow.Error(error or f"faultwire: {ending}")
        if state.gateway.stock_hooks:
            yield HttpErrorHook(state.flow)
        if state.request is not RequestPhase.FAILED:
            killed: HttpEvent = ResponseProtocolError(state.stream_id, ending, compat.KILL)
            if code is not None and state.flow.request.is_http2:
                killed = compat.ResetStream(state.stream_id, code)
            yield SendHttp(killed, state.context.client)
        yield self._drop()

    def abandon(self, event: RequestProtocolError) -> Commands:
        """The client went away: so does the call upstream."""
        state = self.state
        if state.begun:
            state.recorded.end("client_aborted", event.message)
        state.release_all()
        if state.upstream:
            state.upstream = False
            yield SendHttp(event, state.context.server)
        state.flow.error = mitm_flow.Error(event.message)
        if state.gateway.stock_hooks:
            yield HttpErrorHook(state.flow)
        yield self._drop()

    def _drop(self) -> DropStream:
        self.state.flow.live = False
        self.state.fail()
        return DropStream(self.state.stream_id)

    def cancel_upstream(self) -> Known:
        """Nobody wants the rest of what upstream does for this exchange."""
        state = self.state
        if not state.upstream:
            return ()
        state.upstream = False
        return (SendHttp(RequestProtocolError(state.stream_id, "cut", compat.CANCEL), state.context.server),)
