"""Servers that imitate OpenAI Chat, each with its own ways: vLLM, llama.cpp, OpenRouter, LM Studio, Azure,
Groq, Mistral, Gemini. faultwire.wire.openai.chat_stream as a reader of what they really send.

Sources: the servers' own source and documentation, as gathered from issues about them.
"""

from __future__ import annotations

import json
from typing import Any, NamedTuple

import pytest

from faultwire import wire
from faultwire.events import ResponseView, ToolCall, Usage
from faultwire.wire.framing import sse

CHAT = wire.protocol("openai_chat")
DONE = b"data: [DONE]\n\n"


def chunk(delta: Any = None, finish: Any = None, **more: Any) -> bytes:
    choice = {"index": 0, "delta": {} if delta is None else delta, "finish_reason": finish}
    told = {"id": "c", "object": "chat.completion.chunk", "model": "m", "choices": [choice], **more}
    return b"data: " + json.dumps(told).encode() + b"\n\n"


def call(name: str | None = None, arguments: str = "", **more: Any) -> dict[str, Any]:
    function = {"arguments": arguments} | ({} if name is None else {"name": name})
    return {"tool_calls": [{"type": "function", "function": function, **more}]}


class Case(NamedTuple):
    """A stream, and what it says."""

    stream: tuple[bytes, ...]
    text: str = "Hi there"
    finish: str | None = "stop"
    calls: tuple[ToolCall, ...] = ()
    usage: Usage | None = None
    error: str | None = None
    complete: bool = True
    request_id: str | None = None


HI = (chunk({"role": "assistant", "content": "Hi"}), chunk({"content": " there"}))
TWO = (ToolCall("a", "x", '{"n":1}'), ToolCall("b", "y", '{"n":2}'))
COUNT = {"prompt_tokens": 3, "completion_tokens": 2, "total_tokens": 5}

STREAMS = {
    "openai": Case((*HI, chunk(finish="stop"), DONE)),
    "openrouter keeps the connection alive": Case(
        (
            b": OPENROUTER PROCESSING\n\n",
            HI[0],
            b": OPENROUTER PROCESSING\n\n",
            HI[1],
            chunk(finish="stop"),
            DONE,
        )
    ),
    "openrouter names its provider": Case(
        (*HI, chunk(finish="stop", provider="Azure", native_finish_reason="completed"), DONE)
    ),
    "openrouter fails in the middle": Case(
        (*HI, chunk({"content": ""}, "error", error={"code": 502, "message": "Provider disconnected"})),
        finish="error",
        error="Provider disconnected",
    ),
    "lm studio forgets the mark": Case((*HI, chunk(finish="stop"))),
    "a mark without a reason": Case((*HI, DONE), finish=None),
    "neither mark nor reason": Case(HI, finish=None, complete=False),
    "the reason comes with the last word": Case((HI[0], chunk({"content": " there"}, "stop"), DONE)),
    "an empty reason is none": Case(
        (chunk({"content": "Hi there"}, ""), chunk(None, "length"), DONE), finish="length"
    ),
    "a null delta": Case((*HI, chunk(None, "stop", system_fingerprint=None), DONE)),
    "vllm counts in a chunk without choices": Case(
        (
            *HI,
            chunk(finish="stop", usage=None),
            b'data: {"choices":[],"usage":' + json.dumps(COUNT).encode() + b"}\n\n",
            DONE,
        ),
        usage=Usage(3, 2),
    ),
    "vllm counts in every chunk": Case(
        (
            chunk({"content": "Hi there"}, usage={**COUNT, "completion_tokens": 1}),
            chunk(finish="stop", usage=COUNT),
            DONE,
        ),
        usage=Usage(3, 2),
    ),
    "vllm thinks": Case(
        (
            chunk({"reasoning_content": "hm", "reasoning": "hm"}),
            *HI,
            chunk({"reasoning_content": None}, "stop", stop_reason=None),
            DONE,
        )
    ),
    "vllm fails in an older way": Case(
        (HI[0], b'data: {"object":"error","message":"out of memory","code":500}\n\n', DONE),
        text="Hi",
        finish=None,
        error="out of memory",
    ),
    "llama.cpp fails inside a stream": Case(
        (HI[0], b'data: {"error":{"code":500,"message":"context shift","type":"server_error"}}\n\n'),
        text="Hi",
        finish=None,
        error="context shift",
        complete=False,
    ),
    "llama.cpp fails in a field of its own": Case(
        (HI[0], b'error: {"code":500,"message":"slot","type":"x","error":"slot unavailable"}\n\n'),
        text="Hi",
        finish=None,
        error="slot unavailable",
        complete=False,
    ),
    "llama.cpp tells its timings": Case((*HI, chunk(finish="stop", timings={"predicted_n": 2}), DONE)),
    "an error of null is none": Case((*HI, chunk(finish="stop", error=None), DONE)),
    "azure begins without choices": Case(
        (
            b'data: {"choices":[],"prompt_filter_results":[{"prompt_index":0}]}\n\n',
            *HI,
            chunk(finish="stop"),
            DONE,
        )
    ),
    "choices of null": Case((b'data: {"choices":null}\n\n', *HI, chunk(finish="stop"), DONE)),
    "groq counts under its own name": Case(
        (*HI, chunk(finish="stop", x_groq={"id": "r", "usage": COUNT}), DONE),
        usage=Usage(3, 2),
        request_id="r",
    ),
    "mistral says it in blocks": Case(
        (
            chunk({"content": [{"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]}]}),
            chunk({"content": [{"type": "text", "text": "Hi there"}]}),
            chunk(finish="stop"),
            DONE,
        )
    ),
    "calls with an index each": Case(
        (
            chunk(call("x", '{"n"', index=0, id="a")),
            chunk(call("y", "", index=1, id="b")),
            chunk(call(None, ":1}", index=0)),
            chunk(call(None, '{"n":2}', index=1)),
            chunk(finish="tool_calls"),
            DONE,
        ),
        "",
        "tool_calls",
        TWO,
    ),
    "calls without an index": Case(
        (
            chunk(call("x", '{"n"', id="a")),
            chunk(call(None, ":1}")),
            chunk(call("y", '{"n":2}', id="b")),
            chunk(finish="tool_calls"),
            DONE,
        ),
        "",
        "tool_calls",
        TWO,
    ),
    "an id in every piece": Case(
        (
            chunk(call("x", '{"n"', id="a", index=0)),
            chunk(call("", ":1}", id="a", index=0)),
            chunk(call("y", '{"n":2}', id="b", index=1)),
            chunk(finish="tool_calls"),
            DONE,
        ),
        "",
        "tool_calls",
        TWO,
    ),
    "gemini gives all calls the same index": Case(
        (
            chunk(call("x", '{"n":1}', index=0, id="a")),
            chunk(call("y", '{"n"', index=0, id="b")),
            chunk(call(None, ":2}", index=0)),
            chunk(finish="tool_calls"),
            DONE,
        ),
        "",
        "tool_calls",
        TWO,
    ),
    "calls without index and id": Case(
        (
            chunk(call("x", '{"n":1}')),
            chunk(call("y", '{"n"')),
            chunk(call(None, ":2}")),
            chunk(finish="tool_calls"),
            DONE,
        ),
        "",
        "tool_calls",
        (ToolCall("", "x", '{"n":1}'), ToolCall("", "y", '{"n":2}')),
    ),
    "an index of null": Case(
        (
            chunk(call("x", '{"n":1}', index=None, id="a")),
            chunk(call("y", '{"n":2}', index=None, id="b")),
            DONE,
        ),
        "",
        None,
        TWO,
    ),
    "crlf, and a name on each event": Case(
        tuple(
            b"event: message\r\n" + event.replace(b"\n", b"\r\n")
            for event in (*HI, chunk(finish="stop"), DONE)
        )
    ),
}


@pytest.mark.parametrize("name", STREAMS)
def test_what_they_stream_is_read(name: str) -> None:
    case = STREAMS[name]
    stream = b"".join(case.stream)
    reader = CHAT.reader()
    for event in sse.events(stream):
        reader.feed(event)
    assert reader.view() == ResponseView(
        "m", case.text, case.finish, case.calls, case.usage, case.error, case.complete, case.request_id
    )


@pytest.mark.parametrize("name", STREAMS)
def test_what_is_not_to_change_passes_byte_for_byte(name: str) -> None:
    stream = b"".join(STREAMS[name].stream)
    editor = CHAT.truncator(100)
    out = b"".join(piece for event in sse.events(stream) for piece in editor.feed(event))
    assert out + b"".join(editor.finish()) == stream
    assert not editor.changed


@pytest.mark.parametrize("name", [name for name, case in STREAMS.items() if case.text == "Hi there"])
def test_each_can_be_cut_short(name: str) -> None:
    editor, reader = CHAT.truncator(1), CHAT.reader()
    for event in sse.events(b"".join(STREAMS[name].stream)):
        for piece in editor.feed(event):
            reader.feed(piece)
    blocks = name == "mistral says it in blocks"
    assert reader.view().text == ("Hi there" if blocks else "Hi")
    if STREAMS[name].finish is not None and not blocks:
        assert reader.view().finish_reason == "length"


WHOLE: dict[str, tuple[int, dict[str, Any], ResponseView]] = {
    "an error with status 200": (
        200,
        {"error": {"message": "no", "code": 400}},
        ResponseView(error="no"),
    ),
    "vllm's older errors": (
        400,
        {"object": "error", "message": "too long", "type": "BadRequestError", "param": None, "code": 400},
        ResponseView(error="too long"),
    ),
    "thoughts, and members of null": (
        200,
        {
            "model": "m",
            "choices": [
                {
                    "message": {
                        "content": "Hi",
                        "reasoning_content": "hm",
                        "tool_calls": None,
                        "refusal": None,
                    },
                    "finish_reason": "stop",
                    "stop_reason": None,
                }
            ],
            "usage": {**COUNT, "prompt_tokens_details": None},
            "kv_transfer_params": None,
        },
        ResponseView("m", "Hi", "stop", (), Usage(3, 2)),
    ),
    "a reason of null": (
        200,
        {"choices": [{"message": {"content": None}, "finish_reason": None}]},
        ResponseView(),
    ),
    "a call without an id": (
        200,
        {"choices": [{"message": {"tool_calls": [{"function": {"name": "x", "arguments": "{}"}}]}}]},
        ResponseView(tool_calls=(ToolCall("", "x", "{}"),)),
    ),
}


@pytest.mark.parametrize("name", WHOLE)
def test_what_they_answer_is_read(name: str) -> None:
    status, body, view = WHOLE[name]
    assert CHAT.response_view(status, json.dumps(body).encode()) == view
