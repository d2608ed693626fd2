"""Requests on their way to a server: faultwire.mitm.flow.request_sender."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from mitmproxy import http
from mitmproxy.proxy.layers.http import GetHttpConnection, SendHttp
from mitmproxy.proxy.layers.http._events import RequestData, RequestEndOfMessage, RequestHeaders

from faultwire.mitm import compat
from faultwire.mitm.flow.request_sender import RequestSender
from faultwire.mitm.flow.stream_state import RequestPhase
from faultwire.mitm.messages import error_responses

SERVER: Any = SimpleNamespace(alpn=b"http/1.1", via=None, transport_protocol="tcp")


class Recorded:
    ended = False

    def __init__(self) -> None:
        self.repeated = 0

    def repeats(self) -> None:
        self.repeated += 1


def sender(body: bytes, *, left: bool = False, joins: bool = False) -> tuple[RequestSender, Any]:
    request = http.Request.make("PUT", "http://up.test/x", body)
    routes = SimpleNamespace(destination=lambda asked: (("up.test", 80), False))
    stats = SimpleNamespace(repeated=0, refused=0)
    gateway = SimpleNamespace(routes=routes, response_limits=None, stats=stats)
    state: Any = SimpleNamespace(
        stream_id=1, gateway=gateway, flow=SimpleNamespace(request=request, server_conn=SERVER),
        context=SimpleNamespace(server=None), recorded=Recorded(), begun=True, left=left, joins=joins,
        request=RequestPhase.DONE, upstream=False, withheld=None,
    )  # fmt: skip
    refused: list[str] = []

    def answer_when_read(refusal: Any, ending: str) -> tuple[()]:
        refused.append(refusal.message)
        return ()

    writer: Any = SimpleNamespace(answer_when_read=answer_when_read)
    state.refused = refused
    return RequestSender(state, writer), state


def carried_out(running: Any, answer: tuple[Any, str | None]) -> tuple[list[Any], Any]:
    """The commands, where a connection is answered so; and what the generator returns."""
    found: list[Any] = []
    try:
        command = next(running)
        while True:
            found.append(command)
            command = running.send(answer if isinstance(command, GetHttpConnection) else None)
    except StopIteration as over:
        return found, over.value


@pytest.mark.parametrize("body", [b"", b"hello"])
def test_a_request_that_nobody_answered_goes_by_a_new_connection(body: bytes) -> None:
    made, state = sender(body)
    found, _ = carried_out(made.again(), (SERVER, None))
    asked, *sent = found
    assert type(asked) is compat.NewHttpConnection
    assert all(isinstance(one, SendHttp) and one.connection is SERVER for one in sent)
    kinds = [type(one.event) for one in sent]
    assert kinds == [RequestHeaders, *([RequestData] if body else []), RequestEndOfMessage]
    assert sent[0].event.end_stream is (not body)
    assert (state.recorded.repeated, state.gateway.stats.repeated, state.upstream) == (1, 1, True)


@pytest.mark.parametrize("body", [b"", b"hello"])
def test_a_port_that_takes_it_is_given_a_whole_request_at_once(body: bytes) -> None:
    made, state = sender(body, joins=True)
    state.context.server = SERVER
    (sent,) = list(made.whole())
    assert isinstance(sent, SendHttp)
    assert (type(sent.event), sent.event.stream_id, sent.connection) == (compat.WholeRequest, 1, SERVER)
    kinds = [type(one) for one in sent.event.parts]
    assert kinds == [RequestHeaders, *([RequestData] if body else []), RequestEndOfMessage]
    state.context.server = SimpleNamespace(alpn=b"h2")
    apart = [type(one.event) for one in made.whole()]
    assert apart == kinds, "HTTP/2 writes a frame for each"


def test_an_ordinary_request_takes_any_connection() -> None:
    made, state = sender(b"")
    found, ready = carried_out(made.connect(), (SERVER, None))
    assert [type(one) for one in found] == [GetHttpConnection]
    assert (ready, state.context.server) == (True, SERVER)


def test_where_there_is_none_the_client_is_given_the_reason() -> None:
    made, state = sender(b"")
    _, ready = carried_out(made.connect(), (None, "refused"))
    assert (ready, state.refused) == (False, ["`up.test` was not reached: refused"])


def test_nobody_is_asked_for_a_client_that_has_left() -> None:
    made, state = sender(b"", left=True)
    assert carried_out(made.again(), (SERVER, None))[0] == []
    assert state.upstream is False


def test_what_is_withheld_gets_its_refusal_and_asks_for_no_connection() -> None:
    made, state = sender(b"hello")
    state.withheld = error_responses.not_mocked("up.test", "the mock does not answer for `up.test`")
    found, ready = carried_out(made.connect(), (SERVER, None))
    assert (found, ready, state.upstream) == ([], False, False)
    assert (state.refused, state.gateway.stats.refused) == (["the mock does not answer for `up.test`"], 1)

    state.withheld, state.left = None, True
    assert carried_out(made.connect(), (SERVER, None)) == ([], False)
    state.left = False
    found, ready = carried_out(made.connect(), (SERVER, None))
    assert ([type(one) for one in found], ready) == ([GetHttpConnection], True)
    assert state.gateway.stats.refused == 1
