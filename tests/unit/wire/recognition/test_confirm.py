"""Answers confirm or revoke what a request seemed to be: faultwire.wire.recognition.confirm."""

from __future__ import annotations

import gzip
import json
from dataclasses import replace

import pytest
from tests.unit.mock.every import EVERY, Question, answered
from tests.unit.wire.answers import ANSWERS
from tests.unit.wire.provider_shapes import SHAPES
from tests.unit.wire.shapes import golden

from faultwire import wire
from faultwire.events import Delivery, Request, Response
from faultwire.mock.answering import Answerer
from faultwire.mock.script import parse
from faultwire.wire.framing import split as framing
from faultwire.wire.recognition.confirm import Signs, by_signs

JSON = (("content-type", "application/json"),)
HTML = (("content-type", "text/html; charset=utf-8"),)
SSE = (("content-type", "text/event-stream"),)
SOCKETS = ("realtime", "responses socket")
PLAIN = [name for name in EVERY if name not in SOCKETS]
AMBIGUOUS = ("chat", "anthropic", "responses", "completions", "gemini", "ollama, whole", "cohere", "bedrock")
"""Of each protocol that another service may be asked in the words of, one request."""


def confirms(name: str, response: Response) -> bool | None:
    question = EVERY[name]
    return wire.protocol(question.protocol).confirms(response, question.request)


def on(question: Question, host: str = "collector.example") -> Request:
    asked = question.request
    return Request(asked.method, asked.scheme, host, 443, asked.path, asked.headers, asked.body)


def revoked(name: str, response: Response, host: str = "collector.example", kind: str = "llm") -> str | None:
    said = Delivery(response.status, "", response.headers, response.body or b"")
    return wire.revoked(wire.protocol(EVERY[name].protocol), kind, on(EVERY[name], host), said)


@pytest.mark.parametrize("name", PLAIN)
def test_every_answer_of_every_protocol_confirms(name: str) -> None:
    assert confirms(name, answered(EVERY[name])) is True


@pytest.mark.parametrize("name", PLAIN)
@pytest.mark.parametrize("kept", [1, 20, 300])
def test_the_beginning_of_one_never_revokes(name: str, kept: int) -> None:
    said = answered(EVERY[name])
    part = Response(said.status, "", said.headers, (said.body or b"")[:kept])
    assert confirms(name, part) is not False


@pytest.mark.parametrize("name", PLAIN)
@pytest.mark.parametrize("status", [200, 204, 301, 400, 401, 404, 408, 429, 500, 502, 503, 529])
def test_errors_and_empty_bodies_never_revoke(name: str, status: int) -> None:
    protocol = wire.protocol(EVERY[name].protocol)
    assert confirms(name, Response(status, "", HTML, b"")) is not False
    if status >= 300:
        for body in (b"<html>no</html>", b'{"ok": true}', b"no", b'{"error": {"message": "x"}}'):
            assert confirms(name, Response(status, "", HTML, body)) is None
            assert confirms(name, Response(status, "", JSON, body)) is None
        if status >= 400:
            assert confirms(name, protocol.error(status)) is None


@pytest.mark.parametrize("name", AMBIGUOUS)
def test_an_error_with_status_200_is_no_evidence(name: str) -> None:
    for body in (b'{"error": {"message": "x"}}', b'{"error": "x"}', b'{"type": "error"}'):
        assert confirms(name, Response(200, "", JSON, body)) is None
        assert confirms(name, Response(200, "", SSE, b"data: " + body + b"\n\n")) is None


HOSTILE = {
    "a page": (HTML, b"<!doctype html><html><body>Log in</body></html>"),
    "a page that says it is JSON": (JSON, b"<html></html>"),
    "a receipt": (JSON, b'{"status":"accepted","id":"evt_1"}'),
    "a count": (JSON, b'{"ingested": 3}'),
    "words": ((("content-type", "text/plain"),), b"OK"),
    "a picture": ((("content-type", "image/gif"),), b"GIF89a\x01\x00"),
    "a number": (JSON, b"7"),
    "strings": (JSON, b'["a","b"]'),
    "a stream of something else": (SSE, b'data: {"tick":1}\n\ndata: {"tick":2}\n\n'),
    "a packed receipt": ((*JSON, ("content-encoding", "gzip")), gzip.compress(b'{"received": true}')),
}


@pytest.mark.parametrize("name", AMBIGUOUS)
@pytest.mark.parametrize("hostile", HOSTILE)
def test_what_somebody_else_says_revokes(name: str, hostile: str) -> None:
    headers, body = HOSTILE[hostile]
    assert wire.classify(on(EVERY[name])).kind == "llm", "its request alone says so"
    why = revoked(name, Response(200, "", headers, body))
    assert why is not None
    assert why.startswith(f"its request seemed to be of `{EVERY[name].protocol}`, its answer (")
    assert "<" not in why


@pytest.mark.parametrize("name", AMBIGUOUS)
def test_nothing_is_revoked_that_is_settled(name: str) -> None:
    headers, body = HOSTILE["a page"]
    page = Response(200, "", headers, body)
    assert revoked(name, page) is not None
    assert revoked(name, answered(EVERY[name])) is None
    assert revoked(name, page, host="api.openai.com") is None, "a provider's host"
    assert revoked(name, page, kind="agent") is None, "a user named it"
    assert revoked(name, page, kind="tool") is None
    assert revoked(name, Response(503, "", headers, body)) is None
    assert wire.revoked(wire.protocol("openai_chat"), "llm", on(EVERY["chat"]), None) is None, "never asked"


@pytest.mark.parametrize(
    "body", [b"", b" \r\n", b'{"choices": [', b"\xff\xfe\x00", b"data: {broken\n\n", b"{}"]
)
def test_what_cannot_be_read_is_no_evidence(body: bytes) -> None:
    for headers in (JSON, SSE, ()):
        assert revoked("chat", Response(200, "", headers, body)) is None
    packed = (*JSON, ("content-encoding", "br, gzip, zstd, br"))
    assert revoked("chat", Response(200, "", packed, body)) is None


@pytest.mark.parametrize("name", SOCKETS)
def test_an_open_socket_is_no_evidence(name: str) -> None:
    assert confirms(name, answered(EVERY[name])) is None


@pytest.mark.parametrize("name", SHAPES)
def test_recorded_answers_confirm(name: str) -> None:
    shape, protocol = SHAPES[name], wire.protocol(name)
    asked = Request("POST", "https", "h.example", 443, shape.path, JSON, json.dumps(shape.request).encode())
    whole = Response(200, "", JSON, json.dumps(shape.whole).encode())
    stream = Response(200, "", (("content-type", shape.stream_type),), shape.stream)
    for said in (whole, stream):
        assert protocol.confirms(said, asked) is not False
        assert wire.revoked(protocol, "llm", asked, Delivery(200, "", said.headers, said.body or b"")) is None


@pytest.mark.parametrize("name", ["openai_chat", "anthropic"])
def test_golden_streams_confirm(name: str) -> None:
    assert wire.protocol(name).confirms(Response(200, "", SSE, golden(name))) is True


@pytest.mark.parametrize("name", ANSWERS)
def test_rich_answers_confirm(name: str) -> None:
    answer, protocol = ANSWERS[name], wire.protocol(name)
    asked = Request("POST", "https", "h.example", 443, answer.path, JSON, json.dumps(answer.ask).encode())
    assert protocol.confirms(Response(200, "", JSON, answer.whole), asked) is not False
    stream = Response(200, "", (("content-type", answer.stream_type),), b"".join(answer.stream))
    assert protocol.confirms(stream, asked) is not False


@pytest.mark.parametrize("name", PLAIN)
def test_scripted_failures_of_the_mock_never_revoke(name: str) -> None:
    script = parse("turns: [{reply: {error: {status: 500}}}]", "s.yaml")
    assert confirms(name, answered(EVERY[name], Answerer(script))) in (None, True)


def test_json_never_revokes_a_plug_in_that_declares_no_signs() -> None:
    from faultwire.wire.openai.chat import OpenAIChat

    class New(OpenAIChat):
        name = "new"
        signs = wire.protocol("realtime").signs

    asked = on(EVERY["chat"])
    for headers, body in HOSTILE.values():
        if framing.content_type(headers) == "application/json" and body[:1] in b"{[7":
            assert wire.revoked(New(), "llm", asked, Delivery(200, "", headers, body)) is None


@pytest.mark.parametrize(
    ("body", "content_type", "shown"),
    [
        (b'{"choices": []}', "application/json", True),
        (b'{"object": "chat.completion"}', "application/json", True),
        (b'{"ok": true}', "application/json", False),
        (b"<html></html>", "text/html", False),
        (b"", "application/json", None),
        (b"\xff\xfe", "application/octet-stream", None),
    ],
)
def test_signs_are_members_and_first_words(body: bytes, content_type: str, shown: bool | None) -> None:
    signs = Signs(members=frozenset({"choices"}), words=("chat.",))
    response = Response(200, "OK", (("content-type", content_type),), body)
    assert by_signs(signs, response, None) is shown
    assert by_signs(signs, replace(response, status=500), None) is None, "errors tell nothing"
