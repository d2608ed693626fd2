"""Upstream's response: it streams from its first byte on, unless a fault has to hold it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING

from mitmproxy.net.http.validate import validate_headers
from mitmproxy.proxy.layers.http import SendHttp
from mitmproxy.proxy.layers.http._events import (
    ResponseData,
    ResponseEndOfMessage,
    ResponseHeaders,
    ResponseProtocolError,
    ResponseTrailers,
)
from mitmproxy.proxy.layers.http._hooks import HttpResponseHeadersHook

from faultwire.events import Action, Response, Send, Wait
from faultwire.mitm import compat
from faultwire.mitm.flow.actions import ActionExecutor, split_sends
from faultwire.mitm.flow.response_writer import ResponseWriter
from faultwire.mitm.flow.stream_state import (
    Commands,
    Ended,
    Known,
    RequestPhase,
    ResponsePhase,
    StreamState,
    joined,
)
from faultwire.mitm.messages import convert, error_responses
from faultwire.wire.framing import split as framing
from faultwire.wire.framing.grpc_status import parted

if TYPE_CHECKING:
    from mitmproxy import http
    from mitmproxy.proxy.layers.http._base import HttpEvent


@dataclass(slots=True, eq=False)
class Responder:
    """Takes a response from upstream, a tape or a fault, and has it delivered.

    `killed` asks whether another addon has ended the flow, `upgrade` makes the stream a WebSocket.
    """

    state: StreamState
    writer: ResponseWriter
    executor: ActionExecutor
    killed: Callable[[], Ended]
    upgrade: Callable[[], Commands]
    _head: Response | None = None
    """The head to deliver, while its body is held."""
    _body: bytearray = field(default_factory=bytearray)
    _trailers: http.Headers | None = None
    again: Callable[[], Commands] | None = None
    """Gives what sends the request once more, None where that cannot be."""

    def take(self, event: HttpEvent) -> Commands:
        """An event of the response, whatever it is."""
        if isinstance(event, ResponseData):
            return self.data(event)
        if isinstance(event, ResponseHeaders):
            return self.head(event)
        if isinstance(event, ResponseTrailers):
            return self.trailers(event)
        if isinstance(event, ResponseProtocolError):
            return self.lost(event)
        assert isinstance(event, ResponseEndOfMessage)
        return self.end(event)

    # ------------------------------------------------------------ head

    def head(self, event: ResponseHeaders) -> Commands:
        """Upstream's head is there: from here on the response streams, unless a fault must hold it."""
        state = self.state
        if state.response is not ResponsePhase.AWAITED or state.nobody_asks:
            return ()
        response = state.flow.response = event.response
        if type(response.headers) is not convert.ReadFields:  # what the core has read, it has validated
            try:
                validate_headers(response)
            except ValueError as error:
                return joined(self.writer.cancel_upstream(), self._malformed(str(error)))
        return self._head_shown(event) if state.gateway.stock_hooks else self._open(event)

    def _head_shown(self, event: ResponseHeaders) -> Commands:
        yield HttpResponseHeadersHook(self.state.flow)
        if not (yield from self.killed()):
            yield from self._open(event)

    def _malformed(self, problem: str) -> Commands:
        host = self.state.flow.request.host
        refusal = error_responses.upstream_failed(f"`{host}` sent a malformed response: {problem}")
        return self.writer.answer(refusal.response(), "upstream_aborted", refusal.message)

    def _open(self, event: ResponseHeaders) -> Commands:
        received, recorded = convert.response_of(event.response), self.state.recorded
        if not recorded.needs_request_body:
            return self._opened(event, received)
        return self.executor.execute(recorded.pending(received), partial(self._opened, event, received))

    def _opened(self, event: ResponseHeaders, received: Response) -> Commands:
        state, recorded = self.state, self.state.recorded
        head = recorded.arrive(received)
        if event.end_stream or recorded.pipeline.needs_response_body:
            self._head, state.response = head, ResponsePhase.HELD
            return ()
        state.response = ResponsePhase.STREAMED
        if recorded.touches:
            head = convert.open_ended(head, state.flow.request.http_version)
        return (self._send_head(head, received),)

    def _send_head(self, head: Response, received: Response | None) -> SendHttp:
        """Send a head, which is also the one on the tape; `received` is the one in the flow."""
        assert self.state.flow.response is not None
        if head is not received:
            convert.apply_response(self.state.flow.response, head)
        self.state.recorded.sends(head)
        return self.writer.head(end_stream=False)

    # ------------------------------------------------------------ body

    def data(self, event: ResponseData) -> Commands:
        """A chunk: it goes on as it comes, through the pipeline only where a fault touches this response."""
        state = self.state
        recorded, streams = state.recorded, state.response is ResponsePhase.STREAMED
        if not (streams or state.response is ResponsePhase.HELD) or state.left or recorded.ended:
            return ()
        recorded.upstream_chunk(event.data)
        read_on = state.release(len(event.data)) if state.waiting else ()
        if not streams:
            self._body += event.data
            return read_on
        if not recorded.touches:
            return (*read_on, SendHttp(event, state.context.client))
        return joined(read_on, self.executor.execute(recorded.feed(event.data)))

    def trailers(self, event: ResponseTrailers) -> Commands:
        """Trailers; they go out behind what the body ends with."""
        if not self.state.nobody_asks:
            self._trailers = event.trailers
        return ()

    def end(self, event: ResponseEndOfMessage) -> Commands:
        """The response is whole."""
        state, recorded = self.state, self.state.recorded
        if state.response not in (ResponsePhase.STREAMED, ResponsePhase.HELD):
            return ()
        if state.nobody_asks:
            state.upstream = False
            return ()
        if state.response is ResponsePhase.STREAMED:
            state.upstream = state.request is RequestPhase.STREAMED
            return self.executor.execute(recorded.finish(), self._end) if recorded.touches else self._end()
        body = bytes(self._body)
        self._body.clear()
        if self._head is not None and self._head.status == framing.SWITCHING:
            return self._switch()
        cancelled = self._cancel_switched()
        state.upstream = False
        return joined(cancelled, self._deliver(body)) if cancelled else self._deliver(body)

    def _end(self) -> Commands:
        self._place_trailers()
        return self.writer.complete("complete")

    def _deliver(self, body: bytes) -> Commands:
        """A body that is all there."""
        state, recorded, head = self.state, self.state.recorded, self._head
        response = state.flow.response
        assert response is not None
        assert head is not None
        actions = recorded.whole(body) if recorded.touches or body else iter(())
        ready, stop = split_sends(actions)
        if not (body or ready or stop) and (not recorded.touches or state.flow.request.is_http2):
            self._place_trailers()
            convert.apply_response(response, head)
            recorded.sends(head)
            sent = (self.writer.head(end_stream=not response.trailers),)
            return joined(sent, self.writer.complete("complete"))
        bodiless = state.flow.request.method == "HEAD" or head.status in (204, 304)
        if not bodiless and stop is None and not self._trailers:
            head = convert.sized(head, sum([len(action.data) for action in ready]))
        elif not bodiless and (self._trailers or isinstance(stop, Wait)):
            # What comes after the wait is not asked for yet, so nobody knows how much it is; and trailers
            # need chunks before them.
            head = convert.open_ended(head, state.flow.request.http_version)
        sent = (self._send_head(head, None),)
        todo: Iterable[Action] = chain(ready, () if stop is None else (stop,), actions)
        if bodiless:
            todo = (action for action in todo if not isinstance(action, Send))
        return joined(sent, self.executor.execute(todo, self._end))

    def _place_trailers(self) -> None:
        """Put the trailers in place that come after the body."""
        recorded, response, received = self.state.recorded, self.state.flow.response, self._trailers
        assert response is not None
        if received is None and not recorded.touches:
            return
        known = convert.headers_of(received) if received is not None else ()
        delivered = recorded.trailers(known)
        response.trailers = received if delivered == known else convert.fields_of(delivered)

    # ------------------------------------------------------------ other answers, and no answer

    def give(self, answer: Response) -> Commands:
        """Give an answer of ours, on the way that upstream's takes."""
        state, recorded = self.state, self.state.recorded
        message = state.flow.response = self.writer.own(answer)
        self._head = recorded.replaces(convert.response_of(message))
        if recorded.touches:
            # A head that goes out by itself cannot be an answer of nothing but trailers.
            self._head, trailers = parted(self._head)
            self._trailers = convert.fields_of(trailers) if trailers else None
        return self._deliver(answer.body or b"")

    def lost(self, event: ResponseProtocolError) -> Commands:
        """Upstream broke its protocol or closed; a client that got nothing yet is sent the reason."""
        state = self.state
        watch = state.recorded.watch if state.begun else None
        late = watch.expired if watch is not None else None
        if self.writer.all_sent:
            state.upstream = False  # it has answered, and does not want the rest of the request
            state.request = RequestPhase.IGNORED
            return ()
        if late is None and (once_more := self._once_more(event)) is not None:
            return once_more
        if state.head_sent or state.request is RequestPhase.FAILED:
            return self.writer.hang_up("upstream_aborted", late or event.message)
        host = state.flow.request.host
        state.upstream, state.response = False, ResponsePhase.FAILED
        if late is not None:
            slow = error_responses.upstream_slow(f"`{host}` did not answer in time: {late}")
            return self.writer.answer_when_read(slow, "upstream_aborted")
        refusal = error_responses.upstream_failed(f"`{host}` did not answer: {event.message}")
        return self.writer.answer_when_read(refusal, "upstream_aborted")

    def _once_more(self, event: ResponseProtocolError) -> Commands | None:
        """The request again, on another connection, where the server has surely not answered it. Only of
        streams that share a client's connection: other clients see by themselves that theirs has ended."""
        state = self.state
        awaited = state.begun and state.response is ResponsePhase.AWAITED and not state.nobody_asks
        if not (awaited and state.flow.request.is_http2 and compat.may_repeat(event, state.flow.request)):
            return None
        again, self.again = self.again, None  # once (RFC 9112 §9.3.1)
        state.upstream = False
        return again() if again is not None else None

    def too_late(self) -> Commands:
        """The server took too long for a stream that may share its connection."""
        state = self.state
        lost = ResponseProtocolError(state.stream_id, "it took too long", compat.BAD_GATEWAY)
        return joined(self.writer.cancel_upstream(), self.lost(lost))

    # ------------------------------------------------------------ WebSocket

    def _cancel_switched(self) -> Known:
        """Upstream switched protocols, but the client gets another answer: close upstream."""
        assert self.state.flow.response is not None
        switched = self.state.flow.response.status_code == framing.SWITCHING
        return self.writer.cancel_upstream() if switched else ()

    def _switch(self) -> Commands:
        """101: the session is this one exchange until it is closed."""
        state, head = self.state, self._head
        assert head is not None
        assert state.flow.response is not None
        state.head_sent = True
        convert.apply_response(state.flow.response, head)
        state.recorded.sends(head)
        if state.recorded.watch is not None:
            state.recorded.watch.stop()  # a websocket may be silent for as long as it likes
        state.gateway.upgraded(state.flow)
        yield from self.upgrade()
        if state.flow.websocket is None:
            state.recorded.end("refused", "upstream changed to a protocol that cannot be passed on")
