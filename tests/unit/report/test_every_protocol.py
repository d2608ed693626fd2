"""Every protocol's traffic is shown as a conversation: `faultwire.report.conversation`."""

import json

import pytest
from tests.unit.wire.provider_shapes import SHAPES, Shape
from tests.unit.wire.shapes import CHAT, MESSAGES, golden

from faultwire import wire
from faultwire.cli import _conversation as talk
from faultwire.events import Delivery, Request
from faultwire.report.conversation import conversation_part
from faultwire.report.exchange import exchange_part

EVERY = SHAPES | {
    "openai_chat": Shape(CHAT, {}, golden("openai_chat")),
    "anthropic": Shape(MESSAGES, {}, golden("anthropic")),
}


def recorded(make_recorded, name, shape, body, content_type):
    headers = (("content-type", content_type),)
    said = Delivery(200, "OK", headers, body, ((len(body), 7_000_000),))
    asked = Request(
        "POST", "https", "h.example", 443, shape.path, (("content-type", "application/json"),),
        json.dumps(shape.request).encode(),
    )  # fmt: skip
    return make_recorded(1, "s", protocol=name, provider=None, request=asked, upstream=said, delivered=said)


@pytest.mark.parametrize(("name", "streamed"), [*((n, True) for n in EVERY), *((n, False) for n in SHAPES)])
def test_turns_and_tool_calls_of_a_conversation(make_recorded, name, streamed):
    shape = EVERY[name]
    body = shape.stream if streamed else json.dumps(shape.whole).encode()
    exchange = recorded(
        make_recorded, name, shape, body, shape.stream_type if streamed else "application/json"
    )
    part = conversation_part(exchange)
    assert part["problem"] is None
    printed = "\n".join(talk.lines(part))
    roles = [line.split()[0] for line in printed.splitlines() if not line.startswith("    ")]
    assert {"user", "assistant"} <= {role.lower().replace("model", "assistant") for role in roles}
    assert any(turn["results"] for turn in part["turns"])
    assert "tool       " in printed
    assert part["answer"]["complete"]
    if shape.text:
        assert shape.text in printed
    for call in shape.calls:
        assert f"calls {call.name} " in printed
    assert "first token after 7.0 ms" in printed
    assert exchange_part(exchange, 0)["conversation"] == conversation_part(exchange)


@pytest.mark.parametrize("name", wire.protocols())
@pytest.mark.parametrize("content_type", ["application/json", "text/event-stream", "application/grpc"])
@pytest.mark.parametrize(
    "body", [b"", b"{", b"[]", b'{"messages": 7}', b"\xff\x1b[2J", b"data: {}\n\n", b"7"]
)
def test_an_unparsed_conversation_is_still_shown(make_recorded, name, content_type, body):
    headers = (("content-type", content_type),)
    said = Delivery(200, "OK", headers, body)
    asked = Request("POST", "https", "h.example", 443, "/", headers, body)
    exchange = make_recorded(
        1, "s", protocol=name, provider=None, request=asked, upstream=said, delivered=said
    )
    part = exchange_part(exchange, 0)["conversation"]
    printed = "\n".join(talk.lines(part)) if part else ""
    assert all(c.isprintable() or c == "\n" for c in printed)
