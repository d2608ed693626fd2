"""The states of a response: it streams from its first byte on, unless a fault has to hold it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mitmproxy.net.http.validate import validate_headers
from mitmproxy.proxy.layers.http import SendHttp
from mitmproxy.proxy.layers.http._events import (
    ResponseData,
    ResponseEndOfMessage,
    ResponseHeaders,
    ResponseTrailers,
)
from mitmproxy.proxy.layers.http._hooks import HttpResponseHeadersHook

from faultwire.events import Cut, Reset, Send
from faultwire.mitm import answers, flows
from faultwire.mitm.perform import Performer

if TYPE_CHECKING:
    from mitmproxy.proxy import events

    from faultwire.events import Response
    from faultwire.mitm.perform import Commands


class Responder(Performer):
    """The response half of an exchange. `_head` is the head to deliver, while its body is held."""

    _head: Response | None = None

    def state_wait_for_response_headers(self, event: events.Event) -> Commands:
        """Upstream's head is there: from here on the response streams, unless a fault must hold it."""
        assert isinstance(event, ResponseHeaders)
        assert self._crossing is not None
        response = self.flow.response = event.response
        try:
            validate_headers(response)
        except ValueError as error:
            yield from self._cancel_upstream()
            yield from self._bad_response(str(error))
            return
        if self._shell.stock_hooks:
            yield HttpResponseHeadersHook(self.flow)
            if (yield from self.check_killed(True)):
                return
        told = flows.response_of(response)
        head = self._crossing.arrive(told)
        if head is not told:
            flows.apply_response(response, head)
        if event.end_stream or self._crossing.passage.holds_response:
            self._head = head
            self.server_state = self.state_consume_response_body
            return
        if self._crossing.touches:
            flows.open_ended(response, head, self.flow.request.http_version)
        yield from self._send_head(end_stream=False)
        self.server_state = self.state_stream_response_body

    def _bad_response(self, problem: str) -> Commands:
        refusal = answers.upstream_failed(f"`{self.flow.request.host}` sent a malformed response: {problem}")
        yield from self._send_answer(refusal.response(), "upstream_aborted", refusal.message)

    def state_stream_response_body(self, event: events.Event) -> Commands:
        """Every chunk as it comes; through the passage only where a fault touches this response."""
        crossing = self._crossing
        assert crossing is not None
        if isinstance(event, ResponseData):
            crossing.upstream_chunk(event.data)
            if not crossing.touches:
                yield SendHttp(event, self.context.client)
                return
            if self._waiting:
                self._release(len(event.data))
            yield from self._act(crossing.feed(event.data))
        elif isinstance(event, ResponseTrailers):
            assert self.flow.response is not None
            self.flow.response.trailers = event.trailers
        elif isinstance(event, ResponseEndOfMessage):
            self._upstream = False
            if crossing.touches and (yield from self._act(crossing.finish())):
                return
            yield from self._complete("complete")

    def state_consume_response_body(self, event: events.Event) -> Commands:
        """Hold a body that a fault must see whole (or that is empty), then deliver it."""
        crossing = self._crossing
        assert crossing is not None
        assert self.flow.response is not None
        if isinstance(event, ResponseData):
            crossing.upstream_chunk(event.data)
            self.response_body_buf += event.data
        elif isinstance(event, ResponseTrailers):
            self.flow.response.trailers = event.trailers
        elif isinstance(event, ResponseEndOfMessage):
            body = bytes(self.response_body_buf)
            self.response_body_buf.clear()
            if self.flow.response.status_code == 101:
                yield from self._upgrade()
                return
            self._upstream = False
            yield from self._deliver_whole(body)

    def _deliver_whole(self, body: bytes) -> Commands:
        crossing, response = self._crossing, self.flow.response
        assert crossing is not None
        assert response is not None
        if not crossing.touches:
            yield from self._send_head(end_stream=not response.trailers)
            yield from self._complete("complete")
            return
        actions = crossing.feed(body) if body else []
        if not any(isinstance(action, Cut | Reset) for action in actions):
            actions = [*actions, *crossing.finish()]
        assert self._head is not None
        length = sum(len(action.data) for action in actions if isinstance(action, Send))
        ends = any(isinstance(action, Cut | Reset) for action in actions)
        bodiless = self.flow.request.method == "HEAD" or response.status_code in (204, 304)
        if bodiless:
            actions = [action for action in actions if not isinstance(action, Send)]
        elif not ends:
            flows.apply_response(response, flows.sized(self._head, length))
        yield from self._send_head(end_stream=False)
        if not (yield from self._act(actions)):
            yield from self._complete("complete")

    def _upgrade(self) -> Commands:
        """101: hand over to mitmproxy's relay; the session is recorded as this one exchange."""
        assert self._crossing is not None
        self._head_sent = True
        self._crossing.end("complete")
        self._shell.upgraded(self.flow)
        yield from self.send_response()
