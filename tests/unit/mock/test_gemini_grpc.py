"""faultwire.mock.gemini_grpc, faultwire.mock.interactions and faultwire.mock.completions."""

from __future__ import annotations

import json
from typing import Any

import pytest

from faultwire import _core, wire
from faultwire.events import Request, ResponseView, ToolResult
from faultwire.mock._api import Answer
from faultwire.mock.answering import Answerer
from faultwire.wire.framing import grpc_status, split as framing
from faultwire.wire.google import gemini_proto
from faultwire.wire.grpc import protobuf

SERVICE = "/google.ai.generativelanguage.v1beta.GenerativeService/"
KEYED = (("x-goog-api-key", "k"), ("authorization", "Bearer k"))
TOOL = {
    "name": "calculator",
    "description": "Evaluates",
    "parameters": {"type": "OBJECT", "properties": {"expression": {"type": "STRING"}}},
}


def call(
    document: dict[str, Any], method: str = "GenerateContent", headers: tuple[tuple[str, str], ...] = KEYED
) -> tuple[Request, Answer]:
    table = gemini_proto.EMBED.get(method, (gemini_proto.REQUEST,))[0]
    body = _core.grpc_write(protobuf.write(document, table))
    kind = ("content-type", "application/grpc")
    asked = Request(
        "POST", "https", "generativelanguage.googleapis.com", 443, SERVICE + method, (kind, *headers), body
    )
    return asked, Answerer()(asked)


def said(asked: Request, answer: Answer) -> ResponseView:
    protocol = wire.protocol("gemini_grpc")
    if answer.events is None:
        return protocol.response_view(answer.status, answer.body)
    reader = protocol.reader()
    for event in answer.events:
        reader.feed(event)
    return reader.view()


def contents(text: str) -> dict[str, Any]:
    return {"model": "models/g", "contents": [{"role": "user", "parts": [{"text": text}]}]}


def test_a_call_is_answered_with_trailers() -> None:
    asked, answer = call(contents("hello there"))
    assert (answer.status, answer.trailers) == (200, (("grpc-status", "0"),))
    assert dict(answer.headers)["content-type"] == "application/grpc"
    view = said(asked, answer)
    assert (view.model, view.finish_reason) == ("g", "STOP")
    assert "hello there" in view.text
    assert view.usage


def test_a_stream_says_the_same_word_by_word() -> None:
    whole = said(*call(contents("hello there")))
    asked, answer = call(contents("hello there"), "StreamGenerateContent")
    assert answer.events is not None
    assert len(answer.events) > 3
    assert said(asked, answer) == whole
    assert answer.trailers == (("grpc-status", "0"),)


def test_tools_are_called_and_their_results_reported() -> None:
    document = {**contents("What is 6*7?"), "tools": [{"functionDeclarations": [TOOL]}]}
    (made,) = said(*call(document)).tool_calls
    assert (made.name, json.loads(made.arguments)) == ("calculator", {"expression": "6*7"})
    named = {"name": "calculator"}
    document["contents"] += [
        {"role": "model", "parts": [{"functionCall": {**named, "args": {"expression": "6*7"}}}]},
        {"role": "user", "parts": [{"functionResponse": {**named, "response": {"result": "42"}}}]},
    ]
    assert "42" in said(*call(document)).text


@pytest.mark.parametrize(
    ("document", "headers", "code"), [(contents("hi"), (), 7), ({"model": "models/g"}, KEYED, 3)]
)
def test_refusals_are_recognised_by_their_status(
    document: dict[str, Any], headers: tuple[tuple[str, str], ...], code: int
) -> None:
    _, answer = call(document, headers=headers)
    assert (answer.status, answer.body) == (200, b"")
    assert (grpc_status.status_of(answer.headers) or (0,))[0] == code


def test_what_is_no_message_is_refused() -> None:
    asked, _ = call(contents("hi"))
    broken = Request("POST", "https", asked.host, 443, asked.path, asked.headers, b"\x00\x00\x00\x00\x01\xff")
    assert (grpc_status.status_of(Answerer()(broken).headers) or (0,))[0] == 3


def test_texts_are_embedded() -> None:
    one = {"model": "models/e", "content": {"parts": [{"text": "rivers"}]}}
    _, answer = call(one, "EmbedContent")
    vector = protobuf.read(_core.grpc_parse(answer.body)[1], gemini_proto.EMBED["EmbedContent"][1])
    assert len(vector["embedding"]["values"]) == 768
    _, answer = call({"model": "models/e", "requests": [one, one]}, "BatchEmbedContents")
    vectors = protobuf.read(_core.grpc_parse(answer.body)[1], gemini_proto.EMBED["BatchEmbedContents"][1])
    assert vectors["embeddings"] == [vector["embedding"]] * 2


# ---------------------------------------------------------------- plain JSON


def post(path: str, document: Any, host: str = "generativelanguage.googleapis.com") -> Request:
    kind = ("content-type", "application/json")
    return Request("POST", "https", host, 443, path, (kind, *KEYED), json.dumps(document).encode())


def heard(protocol: str, answer: Answer) -> ResponseView:
    if answer.events is None:
        return wire.protocol(protocol).response_view(answer.status, answer.body)
    reader = wire.protocol(protocol).reader()
    for event in framing.events(b"".join(answer.events), answer.headers):
        reader.feed(event)
    return reader.view()


@pytest.mark.parametrize(
    ("protocol", "path", "document"),
    [
        ("interactions", "/v1beta/interactions", {"model": "g", "input": "hello there"}),
        ("completions", "/v1/completions", {"model": "g", "prompt": "hello there"}),
        (
            "completions",
            "/v1/completions",
            {"model": "g", "prompt": "hello there", "max_tokens": 3, "echo": True},
        ),
    ],
)
def test_a_stream_agrees_with_its_whole_answer(protocol: str, path: str, document: dict[str, Any]) -> None:
    answerer = Answerer()
    whole = heard(protocol, answerer(post(path, document)))
    counted = {"stream": True, "stream_options": {"include_usage": True}}
    streamed = heard(protocol, answerer(post(path, {**document, **counted})))
    assert streamed == whole
    assert (whole.error, whole.complete, bool(whole.usage)) == (None, True, True)
    assert whole.finish_reason == ("length" if "max_tokens" in document else whole.finish_reason)
    assert whole.text.startswith("hello there") is ("echo" in document)


def test_an_interaction_goes_on_where_the_one_before_ended() -> None:
    answerer = Answerer()
    tool = {
        "type": "function",
        **TOOL,
        "parameters": {"type": "object", "properties": {"expression": {"type": "string"}}},
    }
    first = {"model": "g", "input": "What is 6*7?", "tools": [tool]}
    answer = answerer(post("/v1beta/interactions", first))
    told = json.loads(answer.body)
    (made,) = heard("interactions", answer).tool_calls
    assert told["status"] == "requires_action"
    result = {"type": "function_result", "call_id": made.id, "result": {"value": 42}}
    more = {"model": "g", "previous_interaction_id": told["id"], "input": [result], "stream": True}
    view = heard("interactions", answerer(post("/v1beta/interactions", more)))
    assert "42" in view.text
    assert "calculator" in view.text, "the tool is known from the interaction before"
    unknown = {**more, "previous_interaction_id": "v1_nobody"}
    assert answerer(post("/v1beta/interactions", unknown)).status == 404


@pytest.mark.parametrize(
    ("path", "document"),
    [
        ("/v1beta/interactions", {"input": "x"}),
        ("/v1beta/interactions", {"model": "g"}),
        ("/v1/completions", {"model": "g"}),
        ("/v1/completions", {"prompt": "x"}),
        ("/v1/completions", []),
    ],
)
def test_what_the_api_does_not_accept_is_refused(path: str, document: Any) -> None:
    assert Answerer()(post(path, document)).status == 400


def test_a_result_without_its_call_is_named_by_what_was_kept() -> None:
    view = wire.protocol("interactions").request_view(b'{"input":[{"type":"function_result","call_id":"c"}]}')
    assert view.results == (ToolResult("c", None, "", "null", False, ("input", 0, "result"), True),)
