"""One conversation in the words of each provider: two tool results, the second one structured."""

from __future__ import annotations

import base64
from dataclasses import dataclass, field
from typing import Any

from tests.unit.wire.shapes import CHAT, GOLDEN, MESSAGES, pack

from faultwire import _core
from faultwire.events import ToolCall, Usage
from faultwire.wire.framing import split as framing, sse

SSE = framing.SSE
CALLED = '{"city":"Paris"}'
SIGNED = "AWS4-HMAC-SHA256 Credential=x, SignedHeaders=content-type;host;x-amz-date, Signature=0"


@dataclass(frozen=True)
class Shape:
    """What a protocol's tests need to know of it."""

    request: dict[str, Any]
    whole: dict[str, Any]
    stream: bytes
    stream_type: str = SSE
    finish: str = "stop"
    cut: str = "length"
    calls: tuple[ToolCall, ...] = (ToolCall("call_a1", "get_weather", CALLED),)
    text: str = "Let me look."
    usage: Usage | None = field(default_factory=lambda: Usage(9, 12))
    path: str = "/"


def read(name: str) -> bytes:
    return (GOLDEN / name).read_bytes()


def tool(name: str) -> dict[str, Any]:
    return {"type": "function", "function": {"name": name, "parameters": {}}}


def interaction_stream() -> bytes:
    """An interaction as its API streams it: a thought, words, a call."""
    told: list[dict[str, Any]] = [
        {"event_type": "interaction.created", "interaction": {"id": "v1_abc", "status": "in_progress"}},
        {"event_type": "step.start", "index": 0, "step": {"type": "thought"}},
        {"event_type": "step.delta", "index": 0, "delta": {"type": "thought_signature", "signature": "s=="}},
        {"event_type": "step.stop", "index": 0},
        {"event_type": "step.start", "index": 1, "step": {"type": "model_output", "content": []}},
        {"event_type": "step.delta", "index": 1, "delta": {"type": "text", "text": "Let me"}},
        {"event_type": "step.delta", "index": 1, "delta": {"type": "text", "text": " look."}},
        {"event_type": "step.stop", "index": 1},
        {
            "event_type": "step.start",
            "index": 2,
            "step": {"type": "function_call", "id": "fc1", "name": "get_weather", "arguments": {}},
        },
        {
            "event_type": "step.delta",
            "index": 2,
            "delta": {"type": "arguments_delta", "arguments": '{"city"'},
        },
        {
            "event_type": "step.delta",
            "index": 2,
            "delta": {"type": "arguments_delta", "arguments": ':"Paris"}'},
        },
        {"event_type": "step.stop", "index": 2},
        {
            "event_type": "interaction.status_update",
            "interaction_id": "v1_abc",
            "status": "requires_action",
        },
        {
            "event_type": "interaction.completed",
            "interaction": {
                "id": "v1_abc",
                "status": "requires_action",
                "model": "gemini-x",
                "usage": {"total_input_tokens": 9, "total_output_tokens": 12, "total_tokens": 21},
            },
        },
    ]
    return b"".join(sse.write(pack(event), str(event["event_type"])) for event in told)


RESPONSES = Shape(
    request={
        "model": "gpt-x",
        "instructions": "Be brief.",
        "input": [
            {"role": "user", "content": [{"type": "input_text", "text": "Weather in Paris, and 2+2?"}]},
            {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "x"},
            {"type": "function_call", "call_id": "c1", "name": "weather", "arguments": CALLED, "id": "fc_1"},
            {"type": "function_call", "call_id": "c2", "name": "calc", "arguments": '{"e":"2+2"}'},
            {"type": "function_call_output", "call_id": "c1", "output": '{"temp": 22}'},
            {
                "type": "function_call_output",
                "call_id": "c2",
                "output": [{"type": "input_image", "image_url": "x"}, {"type": "input_text", "text": "4"}],
            },
        ],
        "tools": [{"type": "function", "name": "weather", "parameters": {}}, {"type": "web_search"}],
        "stream": True,
    },
    whole={
        "id": "resp_1",
        "object": "response",
        "status": "completed",
        "error": None,
        "incomplete_details": None,
        "model": "gpt-x",
        "output": [
            {"type": "reasoning", "id": "rs_1", "summary": []},
            {
                "type": "message",
                "content": [{"type": "output_text", "text": "Let me look.", "annotations": []}],
            },
            {"type": "function_call", "call_id": "call_a1", "name": "get_weather", "arguments": CALLED},
        ],
        "usage": {"input_tokens": 9, "output_tokens": 12, "total_tokens": 21},
    },
    stream=read("openai_responses.sse"),
    finish="completed",
    cut="max_output_tokens",
    path="/v1/responses",
)

GEMINI = Shape(
    request={
        "systemInstruction": {"parts": [{"text": "Be brief."}]},
        "contents": [
            {"role": "user", "parts": [{"text": "Weather in Paris, and 2+2?"}]},
            {
                "role": "model",
                "parts": [
                    {
                        "functionCall": {"name": "weather", "args": {"city": "Paris"}},
                        "thoughtSignature": "s==",
                    },
                    {"functionCall": {"name": "calc", "args": {"e": "2+2"}, "id": "c2"}},
                ],
            },
            {
                "role": "user",
                "parts": [
                    {"functionResponse": {"name": "weather", "response": {"result": {"temp": 22}}}},
                    {"functionResponse": {"name": "calc", "id": "c2", "response": {"output": "4"}}},
                ],
            },
        ],
        "tools": [{"functionDeclarations": [{"name": "weather"}]}, {"googleSearch": {}}],
    },
    whole={
        "candidates": [
            {
                "content": {
                    "role": "model",
                    "parts": [
                        {"text": "hm", "thought": True},
                        {"text": "Let me look."},
                        {"functionCall": {"name": "get_weather", "args": {"city": "Paris"}, "id": "fc1"}},
                    ],
                },
                "finishReason": "STOP",
                "index": 0,
            }
        ],
        "usageMetadata": {"promptTokenCount": 9, "candidatesTokenCount": 12, "totalTokenCount": 21},
        "modelVersion": "gemini-x",
    },
    stream=read("gemini.sse"),
    finish="STOP",
    cut="MAX_TOKENS",
    calls=(ToolCall("fc1", "get_weather", CALLED),),
    path="/v1beta/models/gemini-x:streamGenerateContent?alt=sse",
)

OLLAMA = Shape(
    request={
        "model": "m",
        "messages": [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "Weather in Paris, and 2+2?"},
            {
                "role": "assistant",
                "content": "",
                "tool_calls": [
                    {"function": {"name": "weather", "arguments": {"city": "Paris"}}},
                    {"function": {"name": "calc", "arguments": {"e": "2+2"}}},
                ],
            },
            {"role": "tool", "content": '{"temp": 22}', "tool_name": "weather"},
            {"role": "tool", "content": "4"},
        ],
        "tools": [tool("weather")],
    },
    whole={
        "model": "m",
        "message": {
            "role": "assistant",
            "content": "Let me look.",
            "tool_calls": [{"function": {"name": "get_weather", "arguments": {"city": "Paris"}}}],
        },
        "done": True,
        "done_reason": "stop",
        "prompt_eval_count": 9,
        "eval_count": 12,
    },
    stream=read("ollama.ndjson"),
    stream_type=framing.NDJSON,
    calls=(ToolCall("", "get_weather", CALLED),),
    path="/api/chat",
)

COHERE = Shape(
    request={
        "model": "command-x",
        "messages": [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "Weather in Paris, and 2+2?"},
            {
                "role": "assistant",
                "tool_plan": "I will look.",
                "tool_calls": [
                    {"id": "c1", "type": "function", "function": {"name": "weather", "arguments": CALLED}},
                    {
                        "id": "c2",
                        "type": "function",
                        "function": {"name": "calc", "arguments": '{"e":"2+2"}'},
                    },
                ],
            },
            {"role": "tool", "tool_call_id": "c1", "content": '{"temp": 22}'},
            {
                "role": "tool",
                "tool_call_id": "c2",
                "content": [{"type": "document", "document": {"id": "d", "data": "4"}}],
            },
        ],
        "tools": [tool("weather")],
        "stream": True,
    },
    whole={
        "id": "c1",
        "finish_reason": "TOOL_CALL",
        "message": {
            "role": "assistant",
            "tool_plan": "I will look.",
            "tool_calls": [
                {
                    "id": "get_weather_ab12",
                    "type": "function",
                    "function": {"name": "get_weather", "arguments": CALLED},
                }
            ],
        },
        "usage": {
            "billed_units": {"input_tokens": 9, "output_tokens": 12},
            "tokens": {"input_tokens": 9, "output_tokens": 12.0},
        },
    },
    stream=read("cohere_tool.sse"),
    finish="TOOL_CALL",
    cut="MAX_TOKENS",
    calls=(ToolCall("get_weather_ab12", "get_weather", CALLED),),
    text="",
    path="/v2/chat",
)

BEDROCK = Shape(
    request={
        "system": [{"text": "Be brief."}],
        "messages": [
            {"role": "user", "content": [{"text": "Weather in Paris, and 2+2?"}]},
            {
                "role": "assistant",
                "content": [
                    {"toolUse": {"toolUseId": "c1", "name": "weather", "input": {"city": "Paris"}}},
                    {"toolUse": {"toolUseId": "c2", "name": "calc", "input": {"e": "2+2"}}},
                ],
            },
            {
                "role": "user",
                "content": [
                    {"toolResult": {"toolUseId": "c1", "content": [{"json": {"temp": 22}}]}},
                    {
                        "toolResult": {
                            "toolUseId": "c2",
                            "content": [{"image": {"format": "png"}}, {"text": "4"}],
                            "status": "success",
                        }
                    },
                ],
            },
        ],
        "toolConfig": {"tools": [{"toolSpec": {"name": "weather", "inputSchema": {"json": {}}}}]},
    },
    whole={
        "metrics": {"latencyMs": 5},
        "output": {
            "message": {
                "role": "assistant",
                "content": [
                    {"text": "Let me look."},
                    {
                        "toolUse": {
                            "toolUseId": "tooluse_1",
                            "name": "get_weather",
                            "input": {"city": "Paris"},
                        }
                    },
                ],
            }
        },
        "stopReason": "tool_use",
        "usage": {"inputTokens": 9, "outputTokens": 12, "totalTokens": 21},
    },
    stream=read("bedrock_eventstream.bin"),
    stream_type=framing.EVENT_STREAM,
    finish="tool_use",
    cut="max_tokens",
    calls=(ToolCall("tooluse_1", "get_weather", CALLED),),
    path="/model/claude-x/converse-stream",
)


def frame(data: bytes) -> bytes:
    """One event of Anthropic's as InvokeModel streams it."""
    headers = [(":event-type", "chunk"), (":content-type", "application/json"), (":message-type", "event")]
    payload = b'{"bytes":"' + base64.b64encode(data) + b'","p":"abcd"}'
    return _core.eventstream_write(headers, payload)


_INVOKED = [sse.fields(event) for event in sse.events(read("anthropic.sse"))]

INVOKE = Shape(
    request={
        **{k: v for k, v in MESSAGES.items() if k != "model"},
        "anthropic_version": "bedrock-2023-05-31",
    },
    whole={
        "type": "message",
        "model": "claude-x",
        "content": [
            {"type": "text", "text": "Let me look."},
            {"type": "tool_use", "id": "toolu_1", "name": "get_weather", "input": {"city": "Paris"}},
        ],
        "stop_reason": "tool_use",
        "usage": {"input_tokens": 9, "output_tokens": 31},
    },
    stream=b"".join(frame(event.data) for event in _INVOKED if event),
    stream_type=framing.EVENT_STREAM,
    finish="tool_use",
    cut="max_tokens",
    calls=(ToolCall("toolu_1", "get_weather", CALLED),),
    usage=Usage(9, 31),
    path="/model/claude-x/invoke-with-response-stream",
)

INTERACTIONS = Shape(
    request={
        "model": "gemini-x",
        "system_instruction": "Be brief.",
        "input": [
            {"type": "user_input", "content": [{"type": "text", "text": "Weather in Paris, and 2+2?"}]},
            {"type": "thought", "signature": "s=="},
            {"type": "function_call", "id": "c1", "name": "weather", "arguments": {"city": "Paris"}},
            {"type": "function_call", "id": "c2", "name": "calc", "arguments": {"e": "2+2"}},
            {"type": "function_result", "call_id": "c1", "result": {"temp": 22}},
            {
                "type": "function_result",
                "call_id": "c2",
                "name": "calc",
                "result": [{"type": "image", "data": "x"}, {"type": "text", "text": "4"}],
            },
        ],
        "tools": [{"type": "function", "name": "weather", "parameters": {}}, {"type": "google_search"}],
        "stream": True,
    },
    whole={
        "id": "v1_abc",
        "status": "requires_action",
        "model": "gemini-x",
        "steps": [
            {"type": "thought", "signature": "s=="},
            {"type": "model_output", "content": [{"type": "text", "text": "Let me look."}]},
            {"type": "function_call", "id": "fc1", "name": "get_weather", "arguments": {"city": "Paris"}},
        ],
        "usage": {"total_input_tokens": 9, "total_output_tokens": 12, "total_tokens": 21},
    },
    stream=interaction_stream(),
    finish="requires_action",
    cut="incomplete",
    calls=(ToolCall("fc1", "get_weather", CALLED),),
    path="/v1beta/interactions",
)

SHAPES = {
    "interactions": INTERACTIONS,
    "openai_responses": RESPONSES,
    "gemini": GEMINI,
    "ollama": OLLAMA,
    "cohere": COHERE,
    "bedrock": BEDROCK,
    "bedrock_invoke": INVOKE,
}

__all__ = ["CHAT", "SHAPES", "SIGNED", "Shape", "frame", "pack", "read"]
