"""Requests on their way to a server: the connection, what is written, and the time until the answer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mitmproxy.proxy.layers.http import GetHttpConnection, SendHttp
from mitmproxy.proxy.layers.http._events import (
    RequestData,
    RequestEndOfMessage,
    RequestHeaders,
    RequestTrailers,
)

from faultwire.mitm import compat
from faultwire.mitm.flow.stream_state import RequestPhase, ResponsePhase, StreamState
from faultwire.mitm.flow.upstream_watch import UpstreamWatch
from faultwire.mitm.messages import convert, error_responses
from faultwire.mitm.network.egress_guard import MARK

if TYPE_CHECKING:
    from collections.abc import Generator

    from mitmproxy.proxy import commands
    from mitmproxy.proxy.layers.http._base import HttpEvent

    from faultwire.mitm.flow.response_writer import ResponseWriter
    from faultwire.mitm.flow.stream_state import Commands


@dataclass(slots=True, eq=False)
class RequestSender:
    """Sends the request of one exchange upstream; `writer` tells the client where that cannot be done."""

    state: StreamState
    writer: ResponseWriter

    def connect(
        self, asks: type[GetHttpConnection] = GetHttpConnection
    ) -> Generator[commands.Command, Any, bool]:
        """Get a server connection; False where the exchange is over instead."""
        if self.nobody_asks():
            return False
        state = self.state
        if state.withheld is not None:
            state.gateway.stats.refused += 1
            yield from self.writer.answer_when_read(state.withheld, "refused")
            return False
        address, tls = state.gateway.routes.destination(state.flow.request)
        server = state.flow.server_conn
        connection, problem = yield asks(address, tls, server.via, server.transport_protocol)
        if problem:
            yield from self._unreachable(problem)
            return False
        state.context.server = state.flow.server_conn = connection
        state.upstream = True
        return not self.nobody_asks()

    def nobody_asks(self) -> bool:
        """Has the client left? What is queued of its request then has no head before it, and goes nowhere."""
        state = self.state
        left = state.left or (state.begun and state.recorded.ended)
        if left and state.request is RequestPhase.STREAMED:
            state.request = RequestPhase.IGNORED
        return left

    def _unreachable(self, problem: str) -> Commands:
        refused = problem.find(MARK)
        if refused >= 0:
            refusal = error_responses.not_allowed(problem[refused + len(MARK) :])
            return self.writer.answer_when_read(refusal, "refused")
        host = self.state.flow.request.host
        refusal = error_responses.upstream_failed(f"`{host}` was not reached: {problem}")
        return self.writer.answer_when_read(refusal, "upstream_aborted")

    def whole(self) -> Commands:
        """A request that is all there."""
        state, request = self.state, self.state.flow.request
        content, server, stream_id = request.raw_content, state.context.server, state.stream_id
        if request.is_http2:
            convert.frame(request, len(content or b""), h2_upstream=server.alpn == b"h2")
        bare = not (content or request.trailers)
        parts: list[HttpEvent] = [RequestHeaders(stream_id, request, bare)]
        if content:
            parts.append(RequestData(stream_id, content))
        if request.trailers:
            parts.append(RequestTrailers(stream_id, request.trailers))
        parts.append(RequestEndOfMessage(stream_id))
        if state.joins and server.alpn != b"h2":
            yield SendHttp(compat.WholeRequest(stream_id, parts, bool(request.trailers)), server)
        else:
            for part in parts:
                yield SendHttp(part, server)
        self.watch()

    def again(self) -> Commands:
        """One that nobody has answered, on a connection that has carried nothing before."""
        self.state.recorded.repeats()
        self.state.gateway.stats.repeated += 1
        if (yield from self.connect(compat.NewHttpConnection)):
            yield from self.whole()

    def watch(self) -> None:
        """The server has the whole request: from now on its time runs."""
        state, limits = self.state, self.state.gateway.response_limits
        if limits and state.begun and not state.recorded.ended and state.response is not ResponsePhase.DONE:
            watch = state.recorded.watch = UpstreamWatch(*limits, state.is_held, state.drop_server)
            watch.start()
            if state.response is not ResponsePhase.AWAITED:
                watch.note_data()
