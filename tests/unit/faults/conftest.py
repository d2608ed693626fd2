"""Faults are driven by hand here: chunks in, actions out, no proxy."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any, Literal

import pytest

from faultwire.dice import Dice, FaultDice
from faultwire.events import (
    Action,
    Chunk,
    Cut,
    Exchange,
    Request,
    Reset,
    Response,
    ResponseView,
    Send,
    ToolResult,
)
from faultwire.faults._api import Fault, Mutator
from faultwire.wire import classify, protocol

Unit = Literal["event", "body", "bytes"]
SSE = Response(200, "OK", (("content-type", "text/event-stream"),))
JSON = Response(200, "OK", (("content-type", "application/json"),))


@pytest.fixture
def dice() -> Callable[..., FaultDice]:
    def hold(seed: int = 0, key: str = "k", n: int = 0) -> FaultDice:
        return Dice(seed, "s").held("f", key, n)

    return hold


@pytest.fixture
def chat() -> Callable[..., Exchange]:
    """An OpenAI chat exchange as the pipeline would hand it to a fault."""

    def make(*, stream: bool = False, response: Response | None = None) -> Exchange:
        body = json.dumps(
            {"model": "m", "stream": stream, "messages": [{"role": "user", "content": "hi"}]}
        ).encode()
        request = Request("POST", "https", "api.openai.com", 443, "/v1/chat/completions", (), body)
        found = classify(request)
        assert found.protocol is not None
        return Exchange(
            "s",
            1,
            request,
            kind=found.kind,
            protocol=found.protocol.name,
            provider=found.provider,
            view=found.protocol.request_view(body),
            response=response,
            key="k",
        )

    return make


@pytest.fixture
def anthropic(chat: Callable[..., Exchange]) -> Exchange:
    request = Request("POST", "https", "api.anthropic.com", 443, "/v1/messages", (), b"{}")
    return replace(chat(), request=request, protocol="anthropic", provider="anthropic", view=None)


@pytest.fixture
def web() -> Exchange:
    """A tool's own HTTP call."""
    return Exchange(
        "s", 1, Request("GET", "https", "api.example.com", 443, "/search"), kind="tool", tool="search"
    )


@pytest.fixture
def run(dice: Callable[..., FaultDice]) -> Callable[..., list[Action]]:
    """Start a fault and let it act: what it does before the call, then on each chunk, then at the end."""

    def drive(
        started: Fault | Mutator, exchange: Exchange, chunks: Iterable[bytes], unit: Unit = "event"
    ) -> list[Action]:
        mutator = started.start(exchange, dice()) if isinstance(started, Fault) else started
        out: list[Action] = list(mutator.before())
        for index, data in enumerate(chunks):
            if _ended(out):
                return out
            out += mutator.feed(Chunk(data, index, unit))
        return out if _ended(out) else [*out, *mutator.finish()]

    return drive


def _ended(actions: list[Action]) -> bool:
    return any(isinstance(action, Cut | Reset) for action in actions)


def _event(**delta: Any) -> bytes:
    finish = delta.pop("finish", None)
    document = {
        "id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m",
        "choices": [{"index": 0, "delta": delta, "finish_reason": finish}],
    }  # fmt: skip
    return b"data: " + json.dumps(document).encode() + b"\n\n"


def _call(arguments: str, name: str | None = None) -> dict[str, Any]:
    function = {"arguments": arguments} | ({"name": name} if name else {})
    return {
        "tool_calls": [
            {"index": 0, **({"id": "call_1", "type": "function"} if name else {}), "function": function}
        ]
    }


DONE = b"data: [DONE]\n\n"


@pytest.fixture
def text_stream() -> list[bytes]:
    words = ("one ", "two ", "three ", "four ", "five")
    return [
        _event(role="assistant", content=""),
        *(_event(content=w) for w in words),
        _event(finish="stop"),
        DONE,
    ]


@pytest.fixture
def tool_stream() -> list[bytes]:
    pieces = ('{"city"', ': "Par', 'is"}')
    start = _event(role="assistant", **_call("", "get_weather"))
    return [start, *(_event(**_call(piece)) for piece in pieces), _event(finish="tool_calls"), DONE]


@pytest.fixture
def one_piece_tool_stream() -> list[bytes]:
    """A provider that sends a call's arguments whole."""
    start = _event(role="assistant", **_call("", "get_weather"))
    return [start, _event(**_call('{"city": "Paris"}')), _event(finish="tool_calls"), DONE]


@pytest.fixture
def answer() -> bytes:
    """A whole chat answer."""
    message = {"role": "assistant", "content": "one two three four five six seven"}
    document = {
        "id": "c", "object": "chat.completion", "created": 1, "model": "m",
        "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 3, "completion_tokens": 7, "total_tokens": 10},
    }  # fmt: skip
    body = json.dumps(document).encode()
    assert protocol("openai_chat").response_view(200, body).finish_reason == "stop"
    return body


@pytest.fixture
def model(
    run: Callable[..., list[Action]], chat: Callable[..., Exchange], dice: Callable[..., FaultDice]
) -> Any:
    """Let a fault change an answer or a stream of OpenAI's; what a client then reads, and the effect."""

    def change(fault: Fault, told: bytes | list[bytes]) -> tuple[ResponseView, str | None, bytes]:
        streams = isinstance(told, list)
        exchange = chat(stream=streams)
        mutator = fault.start(exchange, dice())
        actions = run(
            mutator, exchange, told if isinstance(told, list) else [told], "event" if streams else "body"
        )
        sent = [action.data for action in actions if isinstance(action, Send)]
        assert len(sent) == len(actions)
        if not streams:
            return protocol("openai_chat").response_view(200, sent[0]), mutator.effect, sent[0]
        reader = protocol("openai_chat").reader()
        for event in sent:
            reader.feed(event)
        return reader.view(), mutator.effect, b"".join(sent)

    return change


@pytest.fixture
def said() -> Callable[[str], bytes]:
    """A whole chat answer that says something."""

    def make(text: str) -> bytes:
        message = {"role": "assistant", "content": text}
        choice = {"index": 0, "message": message, "finish_reason": "stop"}
        usage = {"prompt_tokens": 3, "completion_tokens": 7, "total_tokens": 10}
        return json.dumps({"id": "c", "model": "m", "choices": [choice], "usage": usage}).encode()

    return make


@pytest.fixture
def calling() -> bytes:
    """A whole chat answer with a text and one tool call."""
    function = {"name": "get_weather", "arguments": '{"city": "Paris", "days": 5}'}
    call = {"id": "call_0123456789ab", "type": "function", "function": function}
    message = {"role": "assistant", "content": "Let me look.", "tool_calls": [call]}
    choice = {"index": 0, "message": message, "finish_reason": "tool_calls"}
    return json.dumps({"id": "c", "model": "m", "choices": [choice]}).encode()


@pytest.fixture
def rewritten(dice: Callable[..., FaultDice]) -> Callable[..., str | None]:
    """What a fault makes of a tool's result, None where it leaves it alone."""

    def rewrite(fault: Any, text: str, **more: Any) -> Any:
        result = ToolResult("call_1", "search", "{}", text, False, ("messages", 2, "content"), True, **more)
        return fault.rewrite(result, dice())

    return rewrite
