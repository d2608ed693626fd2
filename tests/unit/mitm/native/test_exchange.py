"""The port of one exchange: faultwire.mitm.native.exchange. Faults are the driver's; here they pass by it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from mitmproxy.proxy import events

from faultwire.mitm.compat.hooks import FaultwireResetHook, FaultwireWaitHook
from faultwire.mitm.native import exchange

if TYPE_CHECKING:
    from .conftest import Rig  # noqa: TID252

POST = (
    b"POST /v1/chat/completions HTTP/1.1\r\nhost: api.example.com\r\ncontent-type: application/json\r\n"
    b"content-length: 63\r\n\r\n"
    b'{"model": "m", "messages": [{"role": "user", "content": "hi"}]}'
)
OK = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n{}"
CHUNKED = (
    b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n"
    b"5\r\nhello\r\n1;x\r\n!\r\n0\r\ngrpc-status: 0\r\n\r\n"
)


def fault(text: str) -> str:
    return f"name: one\ndescription: One.\nfaults:\n  - {text}\n    on: {{path: '*'}}\n"


def joined(data: bytes) -> bytes:
    """A chunked body without its division."""
    head, _, rest = data.partition(b"\r\n\r\n")
    body = b""
    while (size := int(rest.split(b"\r\n", 1)[0], 16)) != 0:
        rest = rest.split(b"\r\n", 1)[1]
        body, rest = body + rest[:size], rest[size + 2 :]
    return head + b"|" + body + b"|" + rest


@pytest.mark.parametrize("size", [1, 7, 64, 1 << 20])
def test_bytes_arrive_alike_however_they_are_divided(rig: Rig, size: int) -> None:
    request = CHUNKED.replace(b"HTTP/1.1 200 OK", b"PUT /a HTTP/1.1\r\nhost: api.example.com")
    rig.say(request[:40])
    rig.say(request[40:], size)
    rig.connect()
    end = b"\r\ntransfer-encoding: chunked|hello!|0\r\ngrpc-status: 0\r\n\r\n"
    assert joined(rig.asked()) == b"PUT /a HTTP/1.1\r\nhost: api.example.com" + end
    rig.answer(CHUNKED, size)
    assert joined(rig.delivered()) == b"HTTP/1.1 200 OK" + end


@pytest.mark.parametrize("rig", [fault("status: {code: 503}")], indirect=True)
def test_an_answer_of_a_fault_needs_no_server(rig: Rig) -> None:
    rig.say(POST)
    assert rig.delivered().startswith(b"HTTP/1.1 503 ")
    assert not rig.handler.asked
    assert rig.session.fired.total() == 1


@pytest.mark.parametrize("rig", [fault("latency: {ms: 50}")], indirect=True)
def test_a_wait_holds_nothing_but_its_exchange(rig: Rig) -> None:
    rig.say(POST + POST)
    (waits,) = rig.handler.hooks
    assert isinstance(waits, FaultwireWaitHook)
    assert not rig.handler.asked
    rig.layer.handle_event(events.HookCompleted(waits))
    rig.connect()
    rig.answer(OK)
    assert rig.delivered() == OK
    assert len(rig.handler.hooks) == 2, "the next request waits in its turn"


@pytest.mark.parametrize("rig", [fault("reset: {at: before_headers}")], indirect=True)
def test_a_reset_ends_the_client_s_connection(rig: Rig) -> None:
    rig.say(POST)
    resets = [hook for hook in rig.handler.hooks if isinstance(hook, FaultwireResetHook)]
    if not resets:
        rig.connect()
        rig.answer(OK)
        resets = [hook for hook in rig.handler.hooks if isinstance(hook, FaultwireResetHook)]
    rig.layer.handle_event(events.HookCompleted(resets[0]))
    assert rig.delivered() == b""
    assert rig.client in rig.handler.closed


def test_a_client_that_asks_whether_to_go_on_gets_our_100(rig: Rig) -> None:
    rig.say(b"POST /a HTTP/1.1\r\nhost: api.example.com\r\nexpect: 100-continue\r\ncontent-length: 2\r\n\r\n")
    assert rig.delivered() == b"HTTP/1.1 100 Continue\r\n\r\n"
    rig.connect()
    rig.say(b"hi")
    assert rig.asked() == b"POST /a HTTP/1.1\r\nhost: api.example.com\r\ncontent-length: 2\r\n\r\nhi"
    rig.answer(OK)
    assert rig.delivered() == OK


def test_an_early_answer_passes_while_the_request_still_flows(rig: Rig) -> None:
    rig.say(b"POST /a HTTP/1.1\r\nhost: api.example.com\r\ncontent-length: 4\r\n\r\nha")
    rig.connect()
    rig.answer(OK)
    assert rig.delivered() == OK
    rig.say(b"lf" + b"GET /b HTTP/1.1\r\nhost: api.example.com\r\n\r\n")
    assert rig.asked().endswith(b"half" + b"GET /b HTTP/1.1\r\nhost: api.example.com\r\n\r\n")


def test_a_websocket_gets_the_bytes_that_came_with_its_head(rig: Rig) -> None:
    rig.say(
        b"GET /s HTTP/1.1\r\nhost: api.example.com\r\nconnection: upgrade\r\nupgrade: websocket\r\n"
        b"sec-websocket-version: 13\r\nsec-websocket-key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n"
    )
    rig.connect()
    rig.asked()
    switch = b"HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: upgrade\r\n\r\n"
    rig.answer(switch + b"\x81\x02hi")
    assert rig.delivered() == switch + b"\x81\x02hi"
    rig.say(b"\x81\x82\0\0\0\0yo")
    sent = rig.asked()
    assert sent[:2] == b"\x81\x82", "a masked text of two bytes"
    assert bytes(a ^ b for a, b in zip(sent[6:], sent[2:6], strict=False)) == b"yo"
    assert rig.gateway.stats.websockets == 1


def test_an_upgrade_to_something_else_ends_the_connection(rig: Rig) -> None:
    rig.say(b"GET /s HTTP/1.1\r\nhost: api.example.com\r\nconnection: upgrade\r\nupgrade: tcp\r\n\r\n")
    rig.connect()
    rig.answer(b"HTTP/1.1 101 Switching Protocols\r\nupgrade: tcp\r\n\r\nraw bytes")
    assert b"raw" not in rig.delivered()
    assert rig.client in rig.handler.closed


def test_our_own_failure_refuses_the_exchange_and_voids_the_run(
    rig: Rig, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: object) -> None:
        raise RuntimeError("told to")

    monkeypatch.setattr(rig.gateway, "admit", fails)
    rig.say(POST)
    answer = rig.delivered()
    assert answer.startswith(b"HTTP/1.1 502 ")
    assert json.loads(answer.partition(b"\r\n\r\n")[2])["error"]["type"] == "faultwire_internal"
    assert rig.session.voids
    assert not rig.handler.asked


def test_the_stream_of_a_connection_has_one_number() -> None:
    assert exchange.STREAM == 1
