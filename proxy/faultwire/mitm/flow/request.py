"""The client's request: it goes upstream as it comes, unless something has to be decided on all of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING

from mitmproxy import http
from mitmproxy.proxy.layers.http import SendHttp
from mitmproxy.proxy.layers.http._events import (
    RequestData,
    RequestEndOfMessage,
    RequestHeaders,
    RequestTrailers,
    ResponseHeaders,
)
from mitmproxy.proxy.layers.http._hooks import HttpRequestHook

from faultwire import wire
from faultwire.mitm.compat import transports
from faultwire.mitm.flow import captured
from faultwire.mitm.flow.actions import ActionExecutor
from faultwire.mitm.flow.request_sender import RequestSender
from faultwire.mitm.flow.response import Responder
from faultwire.mitm.flow.response_writer import ResponseWriter
from faultwire.mitm.flow.stream_state import (
    Commands,
    Ended,
    RequestPhase,
    ResponsePhase,
    StreamState,
    joined,
)
from faultwire.mitm.messages import convert, error_responses

if TYPE_CHECKING:
    from mitmproxy.proxy import events

    from faultwire.events import Request, Response
    from faultwire.exchange.pipeline import OutboundRequest
    from faultwire.mitm.flow.replay_source import ReplaySource


@dataclass(slots=True, eq=False)
class RequestReader:
    """Reads a request, has it decided on, and sends it upstream.

    `replay` is asked for the answer first, where a tape is replayed; `killed` asks whether another addon has
    ended the flow.
    """

    state: StreamState
    writer: ResponseWriter
    executor: ActionExecutor
    responder: Responder
    replay: ReplaySource | None
    killed: Callable[[], Ended]
    sender: RequestSender
    _body: bytearray = field(default_factory=bytearray)
    _unread: bytes | None = None
    """Of a body that nobody will read, what has come beyond the part that was decided on."""
    _answer: Response | None = None
    """What such a request is answered once it has been read."""

    # ------------------------------------------------------------ what the client sends

    def head(self, event: RequestHeaders) -> Commands:
        """A request head that mitmproxy has checked, and whose target it has found."""
        state = self.state
        request = state.flow.request
        interim: tuple[SendHttp, ...] = ()
        if (convert.value_of(request.headers, b"expect") or "").lower() == "100-continue":
            interim = (self._continue(),)
            request.headers.pop("expect")
        state.response = ResponsePhase.AWAITED
        if state.gateway.connection(state.flow.client_conn).captured:
            captured.name_host(state.flow)
        try:
            recorded = state.recorded = state.gateway.begin(state.flow)
            state.begun = True
            if request.is_http2:
                recorded.pipeline.over_http2()
                if recorded.recording is not None:
                    recorded.recording.http2 = True
            state.withheld = state.gateway.admit(recorded)
        except error_responses.Refusal as refusal:
            return joined(interim, self.writer.answer_when_read(refusal, "refused"))
        if not (event.end_stream or state.whole):
            self._watch_upload()
        if event.end_stream or recorded.needs_request_body:
            state.request = RequestPhase.HELD
            return interim
        convert.apply_request(request, recorded.depart(None).request)  # nothing is decided on such a one
        state.request = RequestPhase.STREAMED
        return joined(interim, self._open_stream()) if interim else self._open_stream()

    def _watch_upload(self) -> None:
        """The body has to come in time. In gRPC, and where HTTP/2 does not declare its length, it is a stream
        of its own that may stay silent for as long as it likes."""
        state, seconds = self.state, self.state.gateway.idle_request_s
        request = state.flow.request
        declared = convert.value_of(request.headers, b"content-length") is not None
        if seconds is None or state.recorded.grpc:
            return
        if declared or not request.is_http2:
            from faultwire.mitm.flow.upload_watch import UploadWatch

            wake = partial(transports.wake, state.flow.client_conn, state.context.layers[-1])
            watch = state.recorded.upload = UploadWatch(seconds, declared, state.is_unread, wake)
            watch.start()

    def stalled(self, event: events.Wakeup) -> Commands:
        """The body did not come in time, or the server's answer."""
        state = self.state
        answer = state.recorded.watch if state.begun else None
        if answer is not None and answer.expired is not None and state.upstream and not state.nobody_asks:
            return self.responder.too_late()
        watch = state.recorded.upload if state.begun else None
        if watch is None or watch.expired is None or state.answers or state.nobody_asks:
            return ()
        state.gateway.stats.slow_bodies += 1
        state.request = RequestPhase.DONE
        return self.writer.give_up(error_responses.request_slow(watch.expired))

    def _continue(self) -> SendHttp:
        go_on = http.Response.make(100)
        go_on.headers.clear()
        return SendHttp(ResponseHeaders(self.state.stream_id, go_on), self.state.context.client)

    def _open_stream(self) -> Commands:
        if (yield from self.sender.connect()):
            state = self.state
            convert.frame(state.flow.request, None, h2_upstream=state.context.server.alpn == b"h2")
            head = RequestHeaders(state.stream_id, state.flow.request, end_stream=False)
            yield SendHttp(head, state.context.server)

    def data(self, event: RequestData) -> Commands:
        """Part of the body."""
        state = self.state
        if state.request is RequestPhase.HELD:
            self._body += event.data
            return () if self.replay is not None else self._decide_early()
        if not state.begun or state.request in (RequestPhase.DONE, RequestPhase.FAILED):
            return ()
        state.recorded.request_chunk(event.data)
        return (SendHttp(event, state.context.server),) if state.request is RequestPhase.STREAMED else ()

    def trailers(self, event: RequestTrailers) -> Commands:
        """Trailers behind the body."""
        state = self.state
        if state.request in (RequestPhase.HELD, RequestPhase.STREAMED):
            state.flow.request.trailers = event.trailers
            if event.trailers is not None:
                state.recorded.request_trailers(convert.headers_of(event.trailers))
        return ()

    def end(self, event: RequestEndOfMessage) -> Commands:
        """The request is whole."""
        state, phase = self.state, self.state.request
        if phase in (RequestPhase.DONE, RequestPhase.FAILED):
            return ()
        state.request = RequestPhase.DONE
        if phase is RequestPhase.HELD:
            body = self._take_body()
            return self._shown(self._depart, body) if state.gateway.stock_hooks else self._depart(body)
        if phase is RequestPhase.STREAMED:
            return self._end_stream(event)
        if phase is RequestPhase.DISCARDED:
            return self.writer.deferred() if self._answer is None else self.responder.give(self._answer)
        return self.writer.finish() if state.response is ResponsePhase.DONE else ()

    def _take_body(self) -> bytes:
        body = self.state.flow.request.data.content = bytes(self._body)
        self._body.clear()
        return body

    def _shown(self, then: Callable[[bytes], Commands], body: bytes) -> Commands:
        yield HttpRequestHook(self.state.flow)
        if not (yield from self.killed()):
            yield from then(body)

    def _end_stream(self, event: RequestEndOfMessage) -> Commands:
        state = self.state
        if state.gateway.stock_hooks:
            yield HttpRequestHook(state.flow)
        if state.flow.request.trailers:
            yield SendHttp(
                RequestTrailers(state.stream_id, state.flow.request.trailers), state.context.server
            )
        yield SendHttp(event, state.context.server)
        self.sender.watch()
        if state.response is ResponsePhase.DONE:
            state.upstream = False
            yield from self.writer.finish()

    # ------------------------------------------------------------ what is done about it

    def _depart(self, body: bytes) -> Commands:
        if self.replay is not None:
            self.replay.arm_fork(body)
        return self._perform(self.state.recorded.depart(body), live=False)

    def _decide_early(self) -> Commands:
        """Decide on what is there, where that is enough; the rest of the body passes as it comes. Of a body
        that is too long to be read nothing more than its beginning is held."""
        state = self.state
        pipeline = state.recorded.pipeline
        early = state.recorded.dialogue and pipeline.decides_on_first_message
        if not (early and pipeline.ready(bytes(self._body))):
            if len(self._body) < wire.UNREAD or state.gateway.stock_hooks:
                return ()
            self._unread = bytes(self._body[wire.UNREAD :])
            del self._body[wire.UNREAD :]
        body = self._take_body()
        state.request = RequestPhase.STREAMED
        outbound = state.recorded.depart(body, live=True)
        if self._unread:
            state.recorded.request_chunk(self._unread)
        return self._perform(outbound, live=True)

    def _rest(self) -> Commands:
        """What had come of such a body before it was decided on, behind the part that was."""
        data, self._unread = self._unread, b""
        if data:
            yield SendHttp(RequestData(self.state.stream_id, data), self.state.context.server)

    def _perform(self, outbound: OutboundRequest, *, live: bool) -> Commands:
        go_on = partial(self._proceed, outbound, live)
        return self.executor.execute(outbound.actions, go_on, ended=self._ended)

    def _ended(self) -> None:
        self._pass_over()
        self.sender.nobody_asks()

    def _proceed(self, outbound: OutboundRequest, live: bool) -> Commands:
        if outbound.answer is None:
            request = outbound.request
            if self.state.withheld is None:
                self.state.recorded.forwards(request)
            return self._forward(request, live=live)
        self._pass_over()
        if self._unread is not None:  # as if it had been held: the answer waits until all of it has come
            self.state.request, self._answer = RequestPhase.DISCARDED, outbound.answer
            return ()
        if live:
            self.state.request = RequestPhase.IGNORED
        return self.responder.give(outbound.answer)

    def _pass_over(self) -> None:
        if self.replay is not None:
            self.replay.pass_over()

    def _forward(self, wanted: Request, *, live: bool) -> Commands:
        """Send it upstream; with `live` the rest of its body follows."""
        if self.replay is not None and (yield from self.replay.play(wanted)):
            return
        state, request = self.state, self.state.flow.request
        if live:  # the length in its head is that of all of it
            convert.apply_request(request, replace(wanted, body=None))
            request.data.content = wanted.body
        else:
            convert.apply_request(request, wanted)
        if not (yield from self.sender.connect()):
            return
        if live:
            content, server, stream_id = request.raw_content, state.context.server, state.stream_id
            convert.frame(request, None, h2_upstream=server.alpn == b"h2")
            yield SendHttp(RequestHeaders(stream_id, request, end_stream=False), server)
            if content:
                yield SendHttp(RequestData(stream_id, content), server)
            yield from self._rest()
            return
        self.responder.again = self.sender.again
        yield from self.sender.whole()
