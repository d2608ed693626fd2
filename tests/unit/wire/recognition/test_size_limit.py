"""What of a request is too heavy to be read while others wait: faultwire.wire.recognition.size_limit."""

from __future__ import annotations

import json

import pytest
from tests.unit.wire.shapes import CHAT, post

from faultwire import wire
from faultwire.wire.mcp import http as mcp
from faultwire.wire.recognition import size_limit
from faultwire.wire.recognition.size_limit import BYTES, MOST, UNREAD, is_heavy

SOURCE = "def f(x: int, y: list[int]) -> dict: return {'a': [x, y], \"b\": 3}\n"
MEGABYTE = 1 << 20


def chat(text: str, **more: object) -> bytes:
    return json.dumps({"model": "m", "messages": [{"role": "user", "content": text}], **more}).encode()


LIGHT = {
    "nothing": b"",
    "a conversation": json.dumps(CHAT).encode(),
    "a million tokens of source": chat(SOURCE * (3 * MEGABYTE // len(SOURCE))),
    "an image": chat("data:image/png;base64," + "A" * (7 * MEGABYTE)),
    "many messages": json.dumps({"messages": [{"role": "user", "content": "x"}] * 6000}).encode(),
    "small, and nothing but values": b"[" + b"0," * 16000 + b"0]",
}
HEAVY = {
    "zeros": b'{"x":[' + b"0," * MEGABYTE + b"0]}",
    "fifty megabytes of them": b'{"x":[' + b"0," * (25 * MEGABYTE) + b"0]}",
    "brackets": b"[" * MEGABYTE,
    "empty texts": b"[" + b'"",' * MEGABYTE + b'""]',
    "keys": json.dumps({str(at): 0 for at in range(MOST)}).encode(),
    "texts that hold marks, and values": b"[" + b'"' + b"," * 99 + b'",' * 10 + b"0," * MEGABYTE + b"0]",
    "a text that never ends": b'["' + b",," * MEGABYTE,
    "quotes without an end": b'"' + b'\\",' * MEGABYTE,
    "a text longer than all": chat("x" * (MOST * BYTES)),
}


@pytest.mark.parametrize("name", LIGHT)
def test_what_is_read(name: str) -> None:
    assert not is_heavy(LIGHT[name])


@pytest.mark.parametrize("name", HEAVY)
def test_what_is_not(name: str) -> None:
    assert is_heavy(HEAVY[name])


def test_no_body_weighs_nothing() -> None:
    assert not is_heavy(None)


def test_two_bodies_are_weighed_each_for_itself() -> None:
    light, heavy = LIGHT["many messages"], HEAVY["zeros"]
    assert [is_heavy(body) for body in (light, heavy, light, heavy)] == [False, True, False, True]


def test_a_heavy_request_is_recognised_by_its_head() -> None:
    body = chat("x", more=[0] * MOST)
    found = wire.understand(post("https://h.example/v1/chat/completions", body))
    assert (found.kind, found.view, found.unread) == ("llm", None, size_limit.WHY)
    elsewhere = wire.understand(post("https://h.example/somewhere", body))
    assert (elsewhere.kind, elsewhere.protocol, elsewhere.unread) == ("other", None, size_limit.WHY)
    read = wire.understand(post("https://h.example/somewhere", chat("x")))
    assert (read.kind, read.unread) == ("llm", None), "negative control"


def test_a_heavy_call_of_mcp_is_not_read_either() -> None:
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "t", "arguments": {}}}
    light = post("https://h.example/mcp", json.dumps(call).encode())
    assert len(mcp.asked(light)) == 1
    assert wire.understand(light).tool == "t"
    heavy = post("https://h.example/mcp", json.dumps({**call, "x": [0] * MOST}).encode())
    assert mcp.asked(heavy) == ()
    assert wire.understand(heavy).protocol is None


def test_heavy_calls_are_compared_by_their_ends_and_length() -> None:
    def key(middle: bytes, end: bytes = b"]") -> str:
        return wire.understand(
            post("https://h.example/x", b"[" + b"0," * (2 * MEGABYTE) + middle + b"0" + end)
        ).key

    assert key(b"") == key(b"")
    assert key(b"") != key(b"1,")
    assert key(b"", b"]") != key(b"", b"} ")


def test_light_calls_are_compared_whatever_the_order_of_their_keys() -> None:
    one, other = (
        wire.understand(post("https://h.example/x", body)).key
        for body in (b'{"a":1,"b":2}', b'{"b": 2, "a": 1}')
    )
    assert one == other


@pytest.mark.parametrize("byte", [b"x", b'"', b" "])
def test_a_body_as_long_as_that_is_heavy_whatever_it_holds(byte: bytes) -> None:
    assert is_heavy(byte * UNREAD)
    assert not is_heavy(b" " * (UNREAD - 1))
