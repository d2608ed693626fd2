"""What a provider calls the request: in heads and, where there is nothing, in bodies, of every protocol.

Covers faultwire.wire.transcript.response, faultwire.wire.transcript.exchange, and the heads of
faultwire.mock._openai_headers.
"""

from __future__ import annotations

import json

import pytest
from tests.unit.mock.every import EVERY, answered
from tests.unit.wire.sockets import REALTIME, message_item, response, said as spoken

from faultwire import wire
from faultwire.events import Delivery, Recorded, Response, header, with_header
from faultwire.mock.answering import Answerer
from faultwire.mock.script import parse
from faultwire.wire.transcript.response import request_id, response_view

BY_HEADER = {
    "chat": "x-request-id",
    "chat, streamed": "x-request-id",
    "azure": "x-request-id",
    "groq": "x-request-id",
    "mistral": "mistral-correlation-id",
    "mistral, streamed": "mistral-correlation-id",
    "anthropic": "request-id",
    "anthropic, streamed": "request-id",
    "responses": "x-request-id",
    "responses, streamed": "x-request-id",
    "completions": "x-request-id",
    "completions, streamed": "x-request-id",
    "embeddings": "x-request-id",
    "cohere": "x-debug-trace-id",
    "cohere, streamed": "x-debug-trace-id",
    "bedrock": "x-amzn-requestid",
    "bedrock, streamed": "x-amzn-requestid",
    "bedrock, invoke": "x-amzn-requestid",
    "bedrock, invoke streamed": "x-amzn-requestid",
    "realtime": "x-request-id",
    "responses socket": "x-request-id",
}
IN_BODY = {
    "gemini",
    "gemini, array",
    "gemini, sse",
    "gemini, grpc",
    "gemini, grpc streamed",
    "interactions",
    "interactions, streamed",
    "mcp",
    "a2a",
    "a2a, streamed",
}


@pytest.mark.parametrize("name", EVERY)
def test_the_answer_names_its_request(name: str) -> None:
    question = EVERY[name]
    protocol, said = wire.protocol(question.protocol), answered(question)
    assert said.status in (200, 101), said.body
    if said.status == 101:
        assert request_id(protocol, said) == header(said.headers, "x-request-id") is not None
        return
    found = response_view(protocol, said, question.request).request_id
    if name in BY_HEADER:
        assert found == header(said.headers, BY_HEADER[name]) is not None
    elif name in IN_BODY:
        assert found
        assert found.encode() in (said.body or b""), "it is what was said"
    else:
        assert found is None, "Ollama, embeddings of Google's and A2A's HTTP+JSON name none"


@pytest.mark.parametrize("name", BY_HEADER)
def test_nothing_is_named_without_the_header(name: str) -> None:
    question = EVERY[name]
    said = answered(question)
    blank = Response(said.status, "", with_header(said.headers, BY_HEADER[name], None), said.body)
    if name == "azure":
        assert request_id(wire.protocol(question.protocol), blank) == header(said.headers, "apim-request-id")
        blank = Response(200, "", with_header(blank.headers, "apim-request-id", None), said.body)
    empty = Response(blank.status, "", (*blank.headers, (BY_HEADER[name], "")), blank.body)
    for one in (blank, empty):
        assert request_id(wire.protocol(question.protocol), one) is None
        if said.status == 200:
            assert response_view(wire.protocol(question.protocol), one, question.request).request_id is None


@pytest.mark.parametrize(
    "name", [name for name in EVERY if name not in ("mcp", "realtime", "responses socket")]
)
def test_errors_name_theirs_where_the_provider_s_do(name: str) -> None:
    script = parse("turns: [{reply: {error: {status: 429, message: slow}}}]", "s.yaml")
    question = EVERY[name]
    said = answered(question, Answerer(script))
    protocol = wire.protocol(question.protocol)
    if name in BY_HEADER:
        assert request_id(protocol, said) == header(said.headers, BY_HEADER[name]) is not None
    elif question.protocol in ("gemini", "interactions", "ollama", "a2a_http"):
        assert response_view(protocol, said, question.request).request_id is None


def test_what_anthropic_says_in_bodies_counts_without_a_header() -> None:
    protocol = wire.protocol("anthropic")
    error = {"type": "error", "error": {"type": "overloaded_error", "message": "x"}, "request_id": "req_9"}
    body = json.dumps(error).encode()
    assert response_view(protocol, Response(529, "", (), body)).request_id == "req_9"
    stream = Response(
        200, "", (("content-type", "text/event-stream"),), b"event: error\ndata: " + body + b"\n\n"
    )
    assert response_view(protocol, stream).request_id == "req_9"
    named = Response(529, "", (("Request-Id", "req_1"),), body)
    assert response_view(protocol, named).request_id == "req_1", "SDKs read the header"


@pytest.mark.parametrize("ident", [7, "seven"])
def test_a_call_s_id_is_what_json_rpc_calls_it(ident: object) -> None:
    body = json.dumps({"jsonrpc": "2.0", "id": ident, "error": {"code": -32603, "message": "x"}}).encode()
    for name in ("mcp", "a2a"):
        told = (("content-type", "application/json"), ("x-request-id", "somebody else's"))
        assert response_view(wire.protocol(name), Response(200, "", told, body)).request_id == str(ident)


@pytest.mark.parametrize("ident", [None, True, {}, [1]])
def test_what_is_no_id_names_nothing(ident: object) -> None:
    body = json.dumps({"jsonrpc": "2.0", "id": ident, "error": {"code": 1, "message": "x"}}).encode()
    for name in ("mcp", "a2a"):
        assert response_view(wire.protocol(name), Response(200, "", (), body)).request_id is None
    for member, name in (("responseId", "gemini"), ("id", "interactions"), ("request_id", "anthropic")):
        said = Response(200, "", (), json.dumps({member: ident}).encode())
        assert response_view(wire.protocol(name), said).request_id is None


def test_a_session_over_a_websocket_is_named_by_its_upgrade() -> None:
    head = (("upgrade", "websocket"), ("x-request-id", "req_ws"))
    up = Delivery(101, "", head, b"")
    messages = tuple(spoken("server", *response(message_item())))
    told = wire.transcript_of(
        Recorded("s", 1, "llm", "realtime", "openai", None, REALTIME, up, up, "complete", None, 0, 0, 1.0,
                 messages=messages)
    )  # fmt: skip
    assert told is not None
    assert told.answer is not None
    assert told.answer.request_id == "req_ws"
