"""Answers that take a recorded one's place."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import orjson
import pytest

from faultwire import wire
from faultwire.cli._forked import _streamed
from faultwire.errors import UsageError
from faultwire.events import Delivery, Headers, Recorded, Request, Response
from faultwire.mock.answering import Answerer
from faultwire.replay.fork_answer import Edit, edit, edited, from_file
from faultwire.wire.transcript.response import response_view

ASKED: dict[str, tuple[str, str, Headers, Callable[[bool], dict[str, Any]]]] = {
    "openai_chat": (
        "api.openai.com",
        "/v1/chat/completions",
        (("authorization", "Bearer x"),),
        lambda stream: {"model": "gpt-4o-mini", "stream": stream, "messages": [user("What is 6*7?")], **chat},
    ),
    "anthropic": (
        "api.anthropic.com",
        "/v1/messages",
        (("x-api-key", "x"), ("anthropic-version", "2023-06-01")),
        lambda stream: {
            "model": "claude-sonnet-4-5",
            "max_tokens": 99,
            "stream": stream,
            "messages": [user("What is 6*7?")],
            "tools": [{"name": "calculator", "input_schema": SCHEMA}],
        },
    ),
}
SCHEMA = {"type": "object", "properties": {"expression": {"type": "string"}}, "required": ["expression"]}
chat = {"tools": [{"type": "function", "function": {"name": "calculator", "parameters": SCHEMA}}]}


def user(text: str) -> dict[str, str]:
    return {"role": "user", "content": text}


def recorded(protocol: str, stream: bool, *, words: bool = False) -> Recorded:
    """What the mock answered: a tool call, or `words`."""
    host, path, headers, body = ASKED[protocol]
    asked = body(stream)
    if words:
        asked["messages"] = [user("Tell me about rivers.")]
        asked.pop("tools")
    request = Request("POST", "https", host, 443, path, headers, orjson.dumps(asked))
    answer = Answerer()(request)
    assert answer.status == 200
    return made(request, answer.headers, answer.body or b"".join(answer.events or ()), protocol)


def made(request: Request, headers: Headers, body: bytes, protocol: str | None = None) -> Recorded:
    told = Delivery(200, "OK", headers, body, ((len(body) // 2, 5), (len(body), 9)))
    kind = "llm" if protocol else "other"
    about = (kind, protocol, None, None, request, told, told, "complete", None, 0, 0, 1.0)
    return Recorded("exec", 1, *about)  # type: ignore[arg-type]


def view(found: Recorded, given: Any) -> Any:
    protocol = wire.protocols()[found.protocol or ""]
    return response_view(protocol, Response(given.status, "", given.headers, given.body), found.request)


BOTH = pytest.mark.parametrize("stream", [False, True])
ALL = pytest.mark.parametrize("protocol", ASKED)


@BOTH
@ALL
def test_words_change_in_every_protocol(protocol: str, stream: bool) -> None:
    found = recorded(protocol, stream, words=True)
    given = edited(found, [edit("text=No rivers here.")])
    said = view(found, given)
    assert (said.text, said.complete) == ("No rivers here.", True)
    assert dict(given.headers)["content-type"] == dict(found.delivered.headers)["content-type"]  # type: ignore[union-attr]


@BOTH
@ALL
def test_arguments_of_a_call_change(protocol: str, stream: bool) -> None:
    found = recorded(protocol, stream)
    (call,) = view(found, edited(found, [edit('calls[0].arguments={"expression":"1+1"}')])).tool_calls
    assert (call.name, orjson.loads(call.arguments)) == ("calculator", {"expression": "1+1"})


def test_places_in_json_change_and_nothing_else() -> None:
    found = recorded("openai_chat", False)
    given = edited(found, [edit("$.usage.total_tokens=9"), edit('$.choices[0].finish_reason="length"')])
    old, new = orjson.loads(found.delivered.body), orjson.loads(given.body)  # type: ignore[union-attr]
    old["usage"]["total_tokens"], old["choices"][0]["finish_reason"] = 9, "length"
    assert new == old


def test_places_in_one_event_of_a_stream_change() -> None:
    found = recorded("openai_chat", True, words=True)
    given = edited(found, [edit('$[1].choices[0].delta.content="Hm "')])
    assert view(found, given).text.startswith("Hm ")
    assert len(given.chunks) > 3
    assert given.chunks[-1][0] == len(given.body)


def test_lines_of_json_are_events_too() -> None:
    request = Request("POST", "https", "x.com", 443, "/", (), b"{}")
    found = made(request, (("content-type", "application/x-ndjson"),), b'{"a":1}\n{"a":2}\n')
    assert edited(found, [edit("$[1].a=3")]).body == b'{"a":1}\n{"a":3}\n'


def test_a_status_changes_and_the_body_stays_packed() -> None:
    body = gzip.compress(b'{"a":1}')
    headers = (("content-type", "application/json"), ("content-encoding", "gzip"), ("content-length", "9"))
    found = made(Request("GET", "https", "x.com", 443, "/", (), b""), headers, body)
    given = edited(found, [edit("status=429")])
    assert (given.status, given.body, dict(given.headers)["content-encoding"]) == (429, body, "gzip")
    given = edited(found, [edit("$.a=2"), edit("status=201")])
    assert (given.status, given.body, given.headers) == (
        201,
        b'{"a":2}',
        (("content-type", "application/json"), ("content-length", "7")),
    )


@pytest.mark.parametrize("text", ["text", "=x", "$=1", "$.=1", "calls[x].name=1", "calls[0].id=1", "$.a b=1"])
def test_what_is_no_edit(text: str) -> None:
    with pytest.raises(UsageError, match="expected `PATH=VALUE`") as caught:
        edit(text)
    assert caught.value.code == "fork.answer"


def test_values_are_json_or_words() -> None:
    assert edit("$.a=1") == Edit("$.a", 1)
    assert edit("$.a.0=x=y") == Edit("$.a.0", "x=y")


@pytest.mark.parametrize(
    ("stream", "text", "why"),
    [
        (False, "$.nothing.here=1", "found nothing"),
        (False, "calls[3].name=x", "calls 1 tools"),
        (False, "finish=maybe", "expected one of stop"),
        (False, "status=99", "from 200 to 599"),
        (True, "$.choices=1", "a stream of"),
        (True, "$[900].id=1", "a stream of"),
        (True, "$[-1].id=1", "expected `PATH=VALUE`"),
    ],
)
def test_edits_that_find_no_place_are_refused(stream: bool, text: str, why: str) -> None:
    with pytest.raises(UsageError, match=why):
        edited(recorded("openai_chat", stream), [edit(text)])


@ALL
@pytest.mark.parametrize("text", ["text=Fine.", "finish=length"])
def test_words_of_an_error_are_refused(protocol: str, text: str) -> None:
    found = recorded(protocol, False)
    error = b'{"type": "error", "error": {"type": "rate_limit_error", "message": "slow down"}}'
    limited = Delivery(429, "", (("content-type", "application/json"),), error)
    found = replace(found, delivered=limited, upstream=limited)
    with pytest.raises(UsageError, match="the answer has the status 429, expected an answer"):
        edited(found, [edit(text)])
    with pytest.raises(UsageError, match=f"the answer has no place for a new `{text.partition('=')[0]}`"):
        edited(found, [edit("status=200"), edit(text)])


@BOTH
@ALL
def test_the_reason_for_the_end_changes(protocol: str, stream: bool) -> None:
    found = recorded(protocol, stream, words=True)
    given = view(found, edited(found, [edit("finish=length")]))
    assert given.finish_reason == ("max_tokens" if protocol == "anthropic" else "length")


def test_what_no_model_said_has_no_words() -> None:
    found = made(Request("GET", "https", "x.com", 443, "/", (), b""), (), b"plain")
    with pytest.raises(UsageError, match="not with a model"):
        edited(found, [edit("text=x")])
    with pytest.raises(UsageError, match="expected"):
        edited(found, [edit("$.a=1")])


# ---------------------------------------------------------------- files


def test_a_file_may_hold_a_whole_message() -> None:
    message = b"HTTP/1.1 503 Busy\r\nretry-after: 7\r\ncontent-length: 99\r\nx-a: 1\r\n\r\nbusy\r\n"
    given = from_file(recorded("openai_chat", True), message, _streamed)
    assert (given.status, given.reason, given.body) == (503, "Busy", b"busy\r\n")
    assert given.headers == (("retry-after", "7"), ("x-a", "1"))
    assert from_file(recorded("openai_chat", True), b"HTTP/1.1 204 No Content\n", _streamed).status == 204
    with pytest.raises(UsageError, match="header line"):
        from_file(recorded("openai_chat", True), b"HTTP/1.1 200 OK\nno header\n\n", _streamed)


@ALL
def test_a_whole_answer_is_sent_as_the_stream_that_was_asked_for(protocol: str) -> None:
    whole, stream = recorded(protocol, False), recorded(protocol, True, words=True)
    given = from_file(stream, whole.delivered.body, _streamed)  # type: ignore[union-attr]
    said = view(stream, given)
    assert [call.name for call in said.tool_calls] == ["calculator"]
    assert (said.text, said.complete) == (view(whole, whole.delivered).text, True)


def test_a_stream_that_nobody_can_write_is_refused() -> None:
    stream = recorded("openai_chat", True)
    with pytest.raises(UsageError, match="expected such a stream"):
        from_file(stream, recorded("openai_chat", False).delivered.body, lambda _one, _said: None)  # type: ignore[union-attr]


def test_a_body_alone_gets_the_recorded_head() -> None:
    found = recorded("openai_chat", False)
    given = from_file(found, b"not json at all", _streamed)
    assert given.body == b"not json at all"
    assert "content-length" not in dict(given.headers)
    assert dict(given.headers)["content-type"] == "application/json"


def test_a_socket_has_no_answer_to_change() -> None:
    found = made(Request("GET", "https", "x.com", 443, "/", (), b""), (), b"")
    from dataclasses import replace

    with pytest.raises(UsageError, match="has no response"):
        edited(replace(found, delivered=None, upstream=None), [edit("status=200")])
