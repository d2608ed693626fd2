"""Every dialect against its protocol's own view.

faultwire.mock.openai_responses, faultwire.mock.gemini, faultwire.mock.ollama, faultwire.mock.cohere,
faultwire.mock.bedrock, faultwire.mock.embeddings.
"""

from __future__ import annotations

import base64
import json
import struct
from typing import Any

import pytest
from tests.unit.mock.conversations import SCHEMAS, ask, messages, request

from faultwire import wire
from faultwire.events import Response, ResponseView
from faultwire.mock._api import Answer
from faultwire.mock._registry import dialects
from faultwire.mock.answering import Answerer
from faultwire.mock.embeddings import vector
from faultwire.mock.script import parse
from faultwire.mock.sockets import ENDPOINTS
from faultwire.wire.framing import split as framing
from faultwire.wire.transcript.response import response_view

QUESTION = "Weather in Paris, and 2+2?"
ALL = tuple(SCHEMAS)
CLAUDE = "/model/claude/invoke"
VERTEX = "/v1/projects/p/publishers/anthropic/models/c"

Body = dict[str, Any]


def functions() -> list[Body]:
    return [{"type": "function", "function": {"name": n, "parameters": SCHEMAS[n]}} for n in ALL]


def responses(text: str, **more: Any) -> Body:
    tools = [{"type": "function", "name": name, "parameters": SCHEMAS[name]} for name in ALL]
    return {"model": "m", "input": text, "tools": tools, **more}


def gemini(text: str, **more: Any) -> Body:
    declared = [{"name": name, "parameters": capitals(SCHEMAS[name])} for name in ALL]
    contents = [{"role": "user", "parts": [{"text": text}]}]
    return {"contents": contents, "tools": [{"functionDeclarations": declared}], **more}


def capitals(schema: Any) -> Any:
    if isinstance(schema, dict):
        return {k: v.upper() if k == "type" else capitals(v) for k, v in schema.items()}
    return schema


def plain(text: str, **more: Any) -> Body:
    return {"model": "m", "messages": [{"role": "user", "content": text}], "tools": functions(), **more}


def converse(text: str, **more: Any) -> Body:
    specs = [{"toolSpec": {"name": n, "inputSchema": {"json": SCHEMAS[n]}}} for n in ALL]
    said = [{"role": "user", "content": [{"text": text}]}]
    return {"messages": said, "toolConfig": {"tools": specs}, **more}


def invoke(text: str, **more: Any) -> Body:
    body = messages(text, tools=ALL, anthropic_version="x", **more)
    del body["model"]
    return body


# name: (path whole, path streamed, body, what makes the body streamed, not streamed, how to cut it)
WAYS: dict[str, Any] = {
    "openai_responses": (
        "/v1/responses",
        "/v1/responses",
        responses,
        {"stream": True},
        {},
        {"max_output_tokens": 2},
    ),
    "gemini": (
        "/v1beta/models/g:generateContent",
        "/v1beta/models/g:streamGenerateContent?alt=sse",
        gemini,
        {},
        {},
        {"generationConfig": {"maxOutputTokens": 2}},
    ),
    "ollama": ("/api/chat", "/api/chat", plain, {}, {"stream": False}, {"options": {"num_predict": 2}}),
    "cohere": ("/v2/chat", "/v2/chat", plain, {"stream": True}, {}, {"max_tokens": 2}),
    "bedrock": (
        "/model/x/converse",
        "/model/x/converse-stream",
        converse,
        {},
        {},
        {"inferenceConfig": {"maxTokens": 2}},
    ),
    "bedrock_invoke": (CLAUDE, CLAUDE + "-with-response-stream", invoke, {}, {}, {"max_tokens": 2}),
    "anthropic": (VERTEX + ":rawPredict", VERTEX + ":streamRawPredict", invoke, {}, {}, {"max_tokens": 2}),
}


def said(name: str, answer: Answer) -> ResponseView:
    body = answer.body if answer.events is None else b"".join(answer.events)
    return response_view(wire.protocol(name), Response(answer.status, "", answer.headers, body))


def both(name: str, text: str, answerer: Answerer | None = None, **more: Any) -> tuple[Answer, Answer]:
    whole, streamed, make, stream, no_stream, _ = WAYS[name]
    first = ask(whole, make(text, **no_stream, **more), answerer)
    return first, ask(streamed, make(text, **stream, **more), answerer)


@pytest.mark.parametrize("name", WAYS)
def test_stream_and_whole_say_the_same(name: str) -> None:
    for text in (QUESTION, "hello"):
        whole, streamed = both(name, text)
        assert whole.status == streamed.status == 200, whole.body
        assert whole.events is None
        assert streamed.events
        found, again = said(name, whole), said(name, streamed)
        assert (found.text, found.finish_reason, found.usage) == (
            again.text,
            again.finish_reason,
            again.usage,
        )
        assert [(c.name, json.loads(c.arguments)) for c in found.tool_calls] == [
            (c.name, json.loads(c.arguments)) for c in again.tool_calls
        ]
        assert again.complete
        assert found.usage
        assert bool(found.tool_calls) == (text == QUESTION)
        assert framing.events(b"".join(streamed.events), streamed.headers) == list(streamed.events)
        closing = [wire.protocol(name).is_terminal(event) for event in streamed.events]
        assert closing == [False] * (len(closing) - 1) + [True]


@pytest.mark.parametrize("name", WAYS)
def test_requests_are_recognised_as_what_they_are(name: str) -> None:
    whole, streamed, make, stream, _, _ = WAYS[name]
    for path in (whole, streamed):
        found = wire.classify(request(path, make("hi", **stream)))
        assert (found.kind, found.protocol and found.protocol.name) == ("llm", name)


@pytest.mark.parametrize("name", WAYS)
def test_the_same_request_has_the_same_answer(name: str) -> None:
    assert both(name, QUESTION) == both(name, QUESTION)


@pytest.mark.parametrize("name", WAYS)
def test_the_limit_cuts_the_text(name: str) -> None:
    for answer in both(name, "hello", **WAYS[name][5]):
        found = said(name, answer)
        assert found.usage
        assert found.usage.output_tokens == 2
        assert found.finish_reason in ("max_output_tokens", "MAX_TOKENS", "length", "max_tokens")


@pytest.mark.parametrize("name", WAYS)
def test_a_scripted_error_is_the_provider_s(name: str) -> None:
    script = parse("turns: [{reply: {error: {status: 429, retry_after_s: 2, message: slow}}}]", "s.yaml")
    for answer in both(name, "x", Answerer(script)):
        assert (answer.status, said(name, Answer(429, answer.headers, answer.body)).error) == (429, "slow")


@pytest.mark.parametrize("name", WAYS)
def test_bad_requests_are_refused_with_the_provider_s_error(name: str) -> None:
    for body in (b"{", {}, []):
        answer = ask(WAYS[name][0], body)
        assert answer.status == 400
        assert said(name, answer).error


@pytest.mark.parametrize("name", [name for name in WAYS if name != "ollama"])
def test_keys_are_wanted(name: str) -> None:
    answer = ask(WAYS[name][0], WAYS[name][2]("x"), authorization="")
    assert answer.status in (401, 403)
    assert said(name, answer).error


def test_a_responses_loop_goes_on_by_its_id_alone() -> None:
    first = json.loads(ask("/v1/responses", responses(QUESTION)).body)
    calls = [item for item in first["output"] if item["type"] == "function_call"]
    outputs = [
        {"type": "function_call_output", "call_id": call["call_id"], "output": f"result {at}"}
        for at, call in enumerate(calls)
    ]
    answerer = Answerer()
    second = ask("/v1/responses", responses("", input=outputs, previous_response_id=first["id"]), answerer)
    text = said("openai_responses", second).text
    assert all(f"result {at}" in text for at in range(len(calls)))
    third = json.loads(second.body)["id"]
    assert ask("/v1/responses", responses("and now?", previous_response_id=third)).status == 200
    references = [{"type": "item_reference", "id": call["id"]} for call in calls]
    again = ask("/v1/responses", responses("", input=[*references, *outputs]))
    assert again.status == 200
    lost = ask("/v1/responses", responses("x", previous_response_id="resp_none"))
    assert (lost.status, said("openai_responses", lost).error) == (
        400,
        "Previous response with id 'resp_none' not found.",
    )


def test_a_conversation_is_kept_by_its_name() -> None:
    ask("/v1/responses", responses("hello", conversation={"id": "conv_1"}))
    view = wire.protocol("openai_responses").response_view
    answer = json.loads(ask("/v1/responses", responses("hi", conversation="conv_1")).body)
    alone = json.loads(ask("/v1/responses", responses("hi")).body)
    assert answer["usage"]["input_tokens"] > alone["usage"]["input_tokens"]
    assert view(200, json.dumps(answer).encode()).text


@pytest.mark.parametrize(
    ("items", "message"),
    [
        ([{"type": "function_call", "call_id": "c", "name": "f", "arguments": "{}"}], "No tool output found"),
        ([{"type": "function_call_output", "call_id": "c", "output": ""}], "No tool call found"),
    ],
)
def test_responses_calls_and_outputs_belong_together(items: list[Body], message: str) -> None:
    assert message in str(ask("/v1/responses", responses("", input=items)).body)


@pytest.mark.parametrize("name", ["gemini", "ollama", "cohere", "bedrock"])
def test_a_loop_ends_with_the_results(name: str) -> None:
    whole, _, make, _, no_stream, _ = WAYS[name]
    asked = make(QUESTION, **no_stream)
    answer = json.loads(ask(whole, asked).body)
    calls = said(name, ask(whole, asked)).tool_calls
    results = [f"result {at}" for at in range(len(calls))]
    if name == "gemini":
        parts = [
            {"functionResponse": {"name": call.name, "response": {"result": result}}}
            for call, result in zip(calls, results, strict=True)
        ]
        asked["contents"] += [answer["candidates"][0]["content"], {"role": "user", "parts": parts}]
    elif name == "bedrock":
        blocks = [
            {"toolResult": {"toolUseId": call.id, "content": [{"text": result}]}}
            for call, result in zip(calls, results, strict=True)
        ]
        asked["messages"] += [answer["output"]["message"], {"role": "user", "content": blocks}]
    else:
        told = [
            {"role": "tool", "tool_call_id": call.id, "tool_name": call.name, "content": result}
            for call, result in zip(calls, results, strict=True)
        ]
        if name == "ollama":
            for message in told:
                del message["tool_call_id"]
        asked["messages"] += [answer["message"], *told]
    text = said(name, ask(whole, asked)).text
    assert results
    assert all(result in text for result in results)


def test_bedrock_counts_results() -> None:
    asked = converse("x")
    asked["messages"].append({"role": "user", "content": [{"toolResult": {"toolUseId": "c", "content": []}}]})
    assert "number of toolResult blocks" in str(ask("/model/x/converse", asked).body)


def test_gemini_streams_an_array_without_alt_sse() -> None:
    answer = ask("/v1beta/models/g:streamGenerateContent", gemini("hello there"))
    assert answer.events is not None
    assert dict(answer.headers)["content-type"].startswith("application/json")
    body = b"".join(answer.events)
    assert len(json.loads(body)) == len(answer.events) - 1 > 1
    view = wire.protocol("gemini").response_view(200, body)
    assert (view.complete, bool(view.text)) == (True, True)


def test_gemini_takes_its_key_from_the_query_or_a_header() -> None:
    path = "/v1beta/models/g:generateContent"
    assert ask(path + "?key=x", gemini("hi"), authorization="").status == 200
    assert ask(path, gemini("hi"), authorization="", x_goog_api_key="x").status == 200


def test_ollama_generates_and_lists() -> None:
    answer = ask("/api/generate", {"model": "m", "prompt": "hello", "stream": False})
    assert json.loads(answer.body)["response"]
    assert json.loads(ask("/api/tags", method="GET").body)["models"]


def test_json_is_given_where_it_is_wanted() -> None:
    schema = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
    wanted = {
        "/v1/responses": {
            "model": "m",
            "input": "hi",
            "text": {"format": {"type": "json_schema", "schema": schema}},
        },
        "/api/chat": {
            "model": "m",
            "messages": [{"role": "user", "content": "x"}],
            "format": schema,
            "stream": False,
        },
        "/v1beta/models/g:generateContent": {
            "contents": [{"parts": [{"text": "x"}]}],
            "generationConfig": {"responseMimeType": "application/json", "responseSchema": capitals(schema)},
        },
        "/v2/chat": {
            "model": "m",
            "messages": [{"role": "user", "content": "x"}],
            "response_format": {"type": "json_object", "json_schema": schema},
        },
    }
    for path, body in wanted.items():
        name = wire.classify(request(path, body)).protocol
        assert name is not None
        assert "city" in json.loads(said(name.name, ask(path, body)).text)


def test_embeddings_in_both_ways_of_writing() -> None:
    floats = json.loads(ask("/v1/embeddings", {"model": "e", "input": ["a", "b"], "dimensions": 8}).body)
    assert [len(item["embedding"]) for item in floats["data"]] == [8, 8]
    assert floats["data"][0]["embedding"] == vector("a", 8) != vector("b", 8)
    packed = json.loads(
        ask("/v1/embeddings", {"model": "e", "input": "a", "dimensions": 8, "encoding_format": "base64"}).body
    )
    found = struct.unpack("<8f", base64.b64decode(packed["data"][0]["embedding"]))
    assert found == pytest.approx(vector("a", 8), abs=1e-6)
    assert sum(x * x for x in found) == pytest.approx(1, abs=1e-4)
    assert len(json.loads(ask("/v1/embeddings", {"model": "e", "input": [1, 2]}).body)["data"]) == 1
    assert ask("/v1/embeddings", {"model": "e"}).status == 400
    assert len(json.loads(ask("/api/embed", {"model": "e", "input": ["a"]}).body)["embeddings"]) == 1
    body = {"content": {"parts": [{"text": "a"}]}}
    assert json.loads(ask("/v1beta/models/e:embedContent", body).body)["embedding"]["values"]
    many = json.loads(ask("/v1beta/models/e:batchEmbedContents", {"requests": [body, body]}).body)
    assert len(many["embeddings"]) == 2


def test_mistral_streams_each_call_in_one_piece() -> None:
    asked = request("/v1/chat/completions", plain(QUESTION, stream=True))
    theirs = type(asked)("POST", "https", "api.mistral.ai", 443, asked.path, asked.headers, asked.body)
    events = Answerer()(theirs).events or ()
    pieces = [e for e in events if b'"tool_calls"' in e and b'"function"' in e]
    assert pieces
    assert all(b'"name"' in piece for piece in pieces)


def test_every_dialect_has_a_protocol_of_its_own() -> None:
    spoken = [*dialects(), *(socket.protocol for socket in ENDPOINTS)]
    spoken += ["grpc"]  # nobody knows what its services say
    spoken += ["cohere_embed"]  # read only
    spoken += ["a2a", "a2a_http", "mcp"]  # agents and tools are no models, and have files of their own
    assert sorted(spoken) == sorted(wire.protocols())
    assert all(d.provider and d.path.startswith("/") for d in dialects().values())
