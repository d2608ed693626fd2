"""Rich answers of providers, whole and streamed: thoughts, two texts, two calls; and what a client checks."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from tests.unit.wire.provider_shapes import RESPONSES
from tests.unit.wire.shapes import pack

from faultwire import _core
from faultwire.wire.framing import split as framing, sse

PARIS, SUM = '{"city":"Paris"}', '{"e":"2+2"}'


@dataclass(frozen=True)
class Answer:
    """The same answer in both ways, and how they are sent."""

    whole: bytes
    stream: tuple[bytes, ...]
    stream_type: str
    path: str
    stream_path: str
    ask: dict[str, Any]


ASK = {"model": "m", "messages": [{"role": "user", "content": "Weather in Paris, and 2+2?"}]}


def events(*documents: dict[str, Any]) -> tuple[bytes, ...]:
    return tuple(sse.write(pack(document), document["type"]) for document in documents)


# ---------------------------------------------------------------- OpenAI Responses


def part(text: str) -> dict[str, Any]:
    return {"type": "output_text", "text": text, "annotations": [], "logprobs": []}


ITEMS: list[dict[str, Any]] = [
    {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "x=="},
    {
        "type": "message",
        "id": "msg_1",
        "role": "assistant",
        "status": "completed",
        "phase": "final",
        "content": [part("Let me look. 21 C"), part(" or so.")],
    },
    {
        "type": "function_call",
        "id": "fc_1",
        "call_id": "call_a1",
        "name": "weather",
        "arguments": PARIS,
        "status": "completed",
    },
    {
        "type": "custom_tool_call",
        "id": "ctc_1",
        "call_id": "call_b2",
        "name": "calc",
        "input": SUM,
        "status": "completed",
    },
]
RESPONSE: dict[str, Any] = {
    "id": "resp_1",
    "object": "response",
    "status": "completed",
    "error": None,
    "incomplete_details": None,
    "model": "gpt-x",
    "temperature": 1.50,
    "output": ITEMS,
    "usage": {"input_tokens": 9, "output_tokens": 12, "total_tokens": 21},
}


def responses_stream(items: list[dict[str, Any]] = ITEMS) -> tuple[bytes, ...]:
    begun = {**RESPONSE, "status": "in_progress", "output": [], "usage": None}
    out: list[dict[str, Any]] = [
        {"type": "response.created", "response": begun},
        {"type": "response.in_progress", "response": begun},
    ]
    for index, item in enumerate(items):
        empty = {**item, "status": "in_progress"}
        empty |= {key: "" for key in ("arguments", "input") if key in item}
        if "content" in item:
            empty["content"] = []
        out.append({"type": "response.output_item.added", "output_index": index, "item": empty})
        place = {"item_id": item["id"], "output_index": index}
        for at, block in enumerate(item.get("content", ())):
            inside = {**place, "content_index": at}
            out.append({"type": "response.content_part.added", **inside, "part": part("")})
            words = block["text"]
            for piece in (words[:4], words[4:]):
                more = {"delta": piece, "logprobs": [], "obfuscation": "abc"}
                out.append({"type": "response.output_text.delta", **inside, **more})
            out.append({"type": "response.output_text.done", **inside, "text": words, "logprobs": []})
            out.append({"type": "response.content_part.done", **inside, "part": block})
        for key, kind in (("arguments", "function_call_arguments"), ("input", "custom_tool_call_input")):
            if key in item:
                for piece in (item[key][:5], item[key][5:]):
                    out.append({"type": f"response.{kind}.delta", **place, "delta": piece})
                out.append({"type": f"response.{kind}.done", **place, key: item[key]})
        out.append({"type": "response.output_item.done", "output_index": index, "item": item})
    out.append({"type": "response.completed", "response": {**RESPONSE, "output": items}})
    return events(*({**document, "sequence_number": at} for at, document in enumerate(out)))


def check_responses(stream: list[bytes]) -> None:
    """As the SDKs gather it: numbers without gaps, and all that is told twice agrees."""
    told = [(fields.name, json.loads(fields.data)) for event in stream if (fields := sse.fields(event))]
    assert [name for name, _ in told] == [document["type"] for _, document in told]
    assert [document["sequence_number"] for _, document in told] == list(range(len(told)))
    output: list[dict[str, Any]] = []
    ids: list[str] = []
    deltas: dict[tuple[int, int], str] = {}
    for name, document in told:
        index, place = (
            document.get("output_index"),
            (document.get("output_index", 0), document.get("content_index", -1)),
        )
        if name == "response.output_item.added":
            assert index == len(output)
            output.append(document["item"])
            ids.append(document["item"]["id"])
            continue
        if "item_id" in document:
            assert document["item_id"] == ids[place[0]]
        if name == "response.content_part.added":
            assert place[1] == len(output[place[0]]["content"])
            output[place[0]]["content"].append(document["part"])
        elif name.endswith(".delta"):
            deltas[place] = deltas.get(place, "") + document["delta"]
        elif name.endswith(("text.done", "refusal.done", "arguments.done", "input.done")):
            key = next(key for key in ("text", "refusal", "arguments", "input") if key in document)
            assert document[key] == deltas.get(place, "")
        elif name == "response.content_part.done":
            assert document["part"].get("text", document["part"].get("refusal")) == deltas.get(place, "")
            output[place[0]]["content"][place[1]] = document["part"]
        elif name == "response.output_item.done":
            assert document["item"].get("content") == output[place[0]].get("content")
            assert document["item"]["id"] == ids[place[0]]
            output[place[0]] = document["item"]
    assert len(set(ids)) == len(ids)
    closing = told[-1]
    assert closing[0] == f"response.{closing[1]['response']['status']}"
    assert closing[1]["response"]["output"] == output


# ---------------------------------------------------------------- Cohere

COHERE_CALLS = [
    {"id": "weather_ab12", "type": "function", "function": {"name": "weather", "arguments": PARIS}},
    {"id": "calc_cd34", "type": "function", "function": {"name": "calc", "arguments": SUM}},
]
COHERE: dict[str, Any] = {
    "id": "c1",
    "finish_reason": "TOOL_CALL",
    "message": {
        "role": "assistant",
        "tool_plan": "I will look.",
        "content": [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "Let me look. 21 C"}],
        "citations": [{"start": 0, "end": 3, "text": "Let"}],
        "tool_calls": COHERE_CALLS,
    },
    "usage": {"billed_units": {"input_tokens": 9, "output_tokens": 12.0}},
}


def said(**message: Any) -> dict[str, Any]:
    return {"delta": {"message": message}}


def cohere_stream() -> tuple[bytes, ...]:
    out: list[dict[str, Any]] = [
        {"type": "message-start", "id": "c1", **said(role="assistant", content=[])},
        {"type": "tool-plan-delta", **said(tool_plan="I will look.")},
        {"type": "content-start", "index": 0, **said(content={"type": "thinking", "thinking": ""})},
        {"type": "content-delta", "index": 0, **said(content={"thinking": "hm"})},
        {"type": "content-end", "index": 0},
        {"type": "content-start", "index": 1, **said(content={"type": "text", "text": ""})},
        {"type": "content-delta", "index": 1, **said(content={"text": "Let me"})},
        {"type": "citation-start", "index": 0, **said(citations={"start": 0, "end": 3})},
        {"type": "citation-end", "index": 0},
        {"type": "content-delta", "index": 1, **said(content={"text": " look. 21 C"})},
        {"type": "content-end", "index": 1},
    ]
    for index, call in enumerate(COHERE_CALLS):
        arguments = call["function"]["arguments"]  # type: ignore[index]
        empty = {**call, "function": {"name": call["function"]["name"], "arguments": ""}}  # type: ignore[index]
        out.append({"type": "tool-call-start", "index": index, **said(tool_calls=empty)})
        for piece in (arguments[:4], arguments[4:]):
            told = said(tool_calls={"function": {"arguments": piece}})
            out.append({"type": "tool-call-delta", "index": index, **told})
        out.append({"type": "tool-call-end", "index": index})
    closing = {"finish_reason": COHERE["finish_reason"], "usage": COHERE["usage"]}
    out.append({"type": "message-end", "id": "c1", "delta": closing})
    return events(*out)


def check_cohere(stream: list[bytes]) -> None:
    """Each row of blocks begins and ends its blocks in order."""
    begun: dict[str, list[int]] = {"content": [], "tool-call": []}
    ended: dict[str, list[int]] = {"content": [], "tool-call": []}
    for event in stream:
        fields = sse.fields(event)
        assert fields is not None
        document = json.loads(fields.data)
        assert fields.name == document["type"]
        row, _, what = fields.name.rpartition("-")
        if row in begun:
            (begun if what == "start" else ended if what == "end" else {row: []})[row].append(
                document["index"]
            )
    assert begun == ended
    assert all(numbers == list(range(len(numbers))) for numbers in begun.values())
    assert sse.fields(stream[-1]).name == "message-end"  # type: ignore[union-attr]


# ---------------------------------------------------------------- Bedrock


def frame(name: str, payload: dict[str, Any]) -> bytes:
    headers = [(":event-type", name), (":content-type", "application/json"), (":message-type", "event")]
    return _core.eventstream_write(headers, pack(payload))


BEDROCK: dict[str, Any] = {
    "metrics": {"latencyMs": 5.0},
    "output": {
        "message": {
            "role": "assistant",
            "content": [
                {"reasoningContent": {"reasoningText": {"text": "hm", "signature": "s=="}}},
                {"text": "Let me look."},
                {"text": " 21 C"},
                {"toolUse": {"toolUseId": "tooluse_1", "name": "weather", "input": {"city": "Paris"}}},
                {"toolUse": {"toolUseId": "tooluse_2", "name": "calc", "input": {"e": "2+2"}}},
            ],
        }
    },
    "stopReason": "tool_use",
    "usage": {"inputTokens": 9, "outputTokens": 12, "totalTokens": 21},
}


def bedrock_stream() -> tuple[bytes, ...]:
    out = [frame("messageStart", {"role": "assistant", "p": "abc"})]
    for at, block in enumerate(BEDROCK["output"]["message"]["content"]):
        number = {"contentBlockIndex": at, "p": "ab"}
        if "toolUse" in block:
            use = {key: block["toolUse"][key] for key in ("toolUseId", "name")}
            out.append(frame("contentBlockStart", {"start": {"toolUse": use}, **number}))
            arguments = json.dumps(block["toolUse"]["input"])
            for piece in ("", arguments[:4], arguments[4:]):
                out.append(frame("contentBlockDelta", {"delta": {"toolUse": {"input": piece}}, **number}))
        elif "text" in block:
            for piece in (block["text"][:3], block["text"][3:]):
                out.append(frame("contentBlockDelta", {"delta": {"text": piece}, **number}))
        else:
            told = {"reasoningContent": {"text": "hm"}}
            out.append(frame("contentBlockDelta", {"delta": told, **number}))
        out.append(frame("contentBlockStop", number))
    out.append(frame("messageStop", {"stopReason": BEDROCK["stopReason"], "p": "a"}))
    out.append(frame("metadata", {"usage": BEDROCK["usage"], "metrics": BEDROCK["metrics"], "p": "a"}))
    return tuple(out)


def check_bedrock(stream: list[bytes]) -> None:
    """Blocks have numbers without gaps, and each stops before the next one."""
    names, stopped, number = [], -1, -1
    for one in stream:
        headers, payload = _core.eventstream_parse(one)
        name, document = dict(headers)[":event-type"], json.loads(payload)
        names.append(name)
        if name.startswith("contentBlock"):
            number = document["contentBlockIndex"]
            assert number == stopped + 1
            if name == "contentBlockStop":
                stopped = number
    assert stopped == number
    assert names[-2:] == ["messageStop", "metadata"]


# ---------------------------------------------------------------- Gemini and Ollama


def candidate(*parts: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"candidates": [{"content": {"role": "model", "parts": list(parts)}, "index": 0, **more}]}


GEMINI_PARTS: list[dict[str, Any]] = [
    {"text": "hm", "thought": True},
    {"text": "Let me look."},
    {"text": " 21 C"},
    {"functionCall": {"name": "weather", "args": {"city": "Paris"}}, "thoughtSignature": "s=="},
    {"functionCall": {"name": "calc", "args": {"e": "2+2"}}},
]
GEMINI_USAGE = {
    "usageMetadata": {"promptTokenCount": 9, "candidatesTokenCount": 12, "totalTokenCount": 21},
    "modelVersion": "gemini-x",
    "responseId": "r1",
}
GEMINI = {**candidate(*GEMINI_PARTS, finishReason="STOP", avgLogprobs=-0.50), **GEMINI_USAGE}
GEMINI_PIECES = [
    *({**candidate(piece), **GEMINI_USAGE} for piece in GEMINI_PARTS),
    {**candidate({"text": "", "thoughtSignature": "t=="}, finishReason="STOP"), **GEMINI_USAGE},
]


def check_json(stream: list[bytes]) -> None:
    """Every event can be read."""
    assert all(json.loads(fields.data) for event in stream if (fields := sse.fields(event)))


def check_lines(stream: list[bytes]) -> None:
    """Every line can be read, and the last one says so."""
    assert [json.loads(line)["done"] for line in stream][-1] is True


def line(message: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"model": "m", "message": {"role": "assistant", "content": "", **message}, "done": False, **more}


OLLAMA_CALLS = [
    {"function": {"name": "weather", "arguments": {"city": "Paris"}}},
    {"function": {"name": "calc", "arguments": {"e": "2+2"}}},
]
OLLAMA_END = {
    "done": True,
    "done_reason": "stop",
    "total_duration": 5,
    "prompt_eval_count": 9,
    "eval_count": 12,
}
OLLAMA_LINES = [
    line({"thinking": "hm"}),
    line({"content": "Let me"}),
    line({"content": " look. 21 C"}),
    *(line({"tool_calls": [call]}) for call in OLLAMA_CALLS),
    line({}, **OLLAMA_END),
]

ANSWERS: dict[str, Answer] = {
    "openai_responses": Answer(
        pack(RESPONSE), responses_stream(), framing.SSE, "/v1/responses", "/v1/responses", RESPONSES.request
    ),
    "gemini": Answer(
        pack(GEMINI),
        tuple(b"data: " + pack(piece) + b"\r\n\r\n" for piece in GEMINI_PIECES),
        framing.SSE,
        "/v1beta/models/g:generateContent",
        "/v1beta/models/g:streamGenerateContent?alt=sse",
        {"contents": [{"role": "user", "parts": [{"text": "Weather?"}]}]},
    ),
    "ollama": Answer(
        pack(
            line({"content": "Let me look. 21 C", "thinking": "hm", "tool_calls": OLLAMA_CALLS}, **OLLAMA_END)
        ),
        tuple(pack(one) + b"\n" for one in OLLAMA_LINES),
        framing.NDJSON,
        "/api/chat",
        "/api/chat",
        ASK,
    ),
    "cohere": Answer(pack(COHERE), cohere_stream(), framing.SSE, "/v2/chat", "/v2/chat", ASK),
    "bedrock": Answer(
        pack(BEDROCK),
        bedrock_stream(),
        framing.EVENT_STREAM,
        "/model/m/converse",
        "/model/m/converse-stream",
        {"messages": [{"role": "user", "content": [{"text": "Weather?"}]}]},
    ),
}
CHECKS = {
    "openai_responses": check_responses,
    "gemini": check_json,
    "ollama": check_lines,
    "cohere": check_cohere,
    "bedrock": check_bedrock,
}
