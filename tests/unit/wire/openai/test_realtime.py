"""OpenAI Realtime: its stream, its events, its edits and what sessions come to.

Covers faultwire.wire.openai.realtime, faultwire.wire.openai.realtime_stream,
faultwire.wire.openai.realtime_events, faultwire.wire.openai.realtime_edits,
faultwire.wire.editing.websocket and faultwire.wire.transcript.websocket.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from tests.unit.wire.sockets import (
    CALL,
    REALTIME,
    TEXT,
    call_item,
    done_of,
    heard,
    kinds,
    message_item,
    response,
    said,
    upgrade,
)

from faultwire import wire
from faultwire.errors import WireError
from faultwire.events import Delivery, Message, Recorded, Response, ToolCall, Usage
from faultwire.wire.editing.api import Change
from faultwire.wire.framing import split as framing
from faultwire.wire.openai import realtime_stream as openai_realtime_stream
from faultwire.wire.types import Rewrite

P = wire.protocol("realtime")
WAYS = pytest.mark.parametrize("beta", [False, True])
AZURE = "/openai/realtime?api-version=2025-04-01-preview&deployment=rt"


@pytest.mark.parametrize(
    ("host", "path", "more", "provider"),
    [
        ("api.openai.com", "/v1/realtime?model=gpt-realtime", (), "openai"),
        ("api.openai.com", "/v1/realtime?intent=transcription", (), "openai"),
        ("me.openai.azure.com", AZURE, (), "azure"),
        ("me.openai.azure.com", "/openai/v1/realtime?model=rt", (), "azure"),
        ("api.x.ai", "/v1/realtime", (), "xai"),
        ("127.0.0.1", "/gateway/v1/realtime?model=m", (), "openai"),
        ("gateway.example", "/realtime", (("Sec-WebSocket-Protocol", "realtime, key.x"),), "openai"),
        ("gateway.example", "/realtime", (("OpenAI-Beta", "realtime=v1"),), "openai"),
    ],
)
def test_an_upgrade_is_recognised(host: str, path: str, more: Any, provider: str) -> None:
    found = wire.classify(upgrade(host, path, *more))
    assert (found.kind, found.provider) == ("llm", provider)
    assert found.protocol is P


@pytest.mark.parametrize(
    "request_",
    [
        upgrade("db.example", "/realtime"),
        upgrade("db.example", "/realtime/v1/websocket?model=x"),
        upgrade("api.openai.com", "/v1/realtime/sessions"),
        replace(REALTIME, headers=(("Host", "x"),)),
        replace(REALTIME, method="POST"),
        upgrade("socket.example", "/socket.io/?EIO=4&transport=websocket"),
    ],
)
def test_other_sockets_and_requests_are_not(request_: Any) -> None:
    assert wire.classify(request_).protocol is not P


def test_the_upgrade_names_the_model() -> None:
    assert P.view(REALTIME).model == "gpt-realtime"
    assert P.view(upgrade("me.openai.azure.com", AZURE)).model == "rt"
    assert P.view(REALTIME).stream
    assert P.keeps(REALTIME)


def test_only_a_granted_upgrade_has_messages() -> None:
    granted = P.splitter(REALTIME, Response(101, headers=(("Upgrade", "websocket"),)))
    assert granted is not None
    assert framing.cut(b'{"type":"x"}', granted) == [b'{"type":"x"}']
    assert P.splitter(REALTIME, Response(401)) is None
    refused = P.error(401)
    assert P.response_view(401, refused.body or b"").error


# ---------------------------------------------------------------- the client's messages


def item(told: dict[str, Any]) -> bytes:
    return json.dumps({"type": "conversation.item.create", "item": told}).encode()


RESULT = item({"type": "function_call_output", "call_id": "call_1", "output": '{"temp": 21}', "x": 1.50})


def test_what_a_message_shows_the_model() -> None:
    user = P.message_view(item({"type": "message", "role": "user", "content": [
        {"type": "input_text", "text": "Hello"}, {"type": "input_audio", "transcript": "there"},
        {"type": "input_image", "image_url": "data:x"},
    ]}))  # fmt: skip
    assert user is not None
    assert [(turn.role, turn.text) for turn in user.turns] == [("user", "Hello\nthere")]
    told = P.message_view(RESULT)
    assert told is not None
    (result,) = told.results
    assert (result.call_id, result.name, result.text, result.new) == ("call_1", None, '{"temp": 21}', True)
    assert result.path == ("item", "output")
    tools = [{"type": "function", "name": "get_weather"}]
    session = {"type": "session.update", "session": {"instructions": "Be kind.", "tools": tools}}
    settled = P.message_view(json.dumps(session).encode())
    assert settled is not None
    assert (settled.system, settled.tools, settled.turns) == ("Be kind.", ("get_weather",), ())
    asked = {"type": "response.create", "response": {"input": [json.loads(RESULT)["item"]]}}
    aside = P.message_view(json.dumps(asked).encode())
    assert aside is not None
    assert aside.results[0].path == ("response", "input", 0, "output")


@pytest.mark.parametrize(
    "data",
    [
        b'{"type":"input_audio_buffer.append","audio":"AAAA"}',
        b'{"type":"response.cancel"}',
        b'"response.create"',
        b'{"type":"input_audio_buffer.append","audio":"session.update"}',
        b'{"type":"response.create"',
        b"\xff\xfe",
        b"",
    ],
)
def test_what_gives_it_no_evidence(data: bytes) -> None:
    assert P.message_view(data) is None
    with pytest.raises(WireError):
        P.request_view(data)


def test_a_result_is_replaced_and_nothing_else() -> None:
    view = P.message_view(RESULT)
    assert view is not None
    changed = P.replace_result(RESULT, view.results[0], Rewrite("on fire", is_error=True))
    old, new = b'"{\\"temp\\": 21}"', b'"{\\"error\\":\\"on fire\\"}"'
    assert changed == RESULT.replace(old, new)
    assert b"1.5" in changed
    with pytest.raises(WireError, match="call `other`"):
        P.replace_result(RESULT, replace(view.results[0], call_id="other"), Rewrite("x"))


def test_texts_of_a_message_can_be_changed() -> None:
    data = item({"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Hello"}]})
    (place,) = P.edits.texts(data)
    assert (place.role, place.text, place.new) == ("user", "Hello", True)
    assert P.edits.rewrite_texts(data, {place.path: "Bye"}) == data.replace(b"Hello", b"Bye")
    assert [p.role for p in P.edits.texts(RESULT)] == ["tool"]


# ---------------------------------------------------------------- the server's


@WAYS
def test_a_response_is_read(beta: bool) -> None:
    kind = "text" if beta else "output_text"
    found = heard("realtime", response(message_item(kind=kind), call_item(), beta=beta))
    assert (found.text, found.tool_calls) == (TEXT, (CALL,))
    assert (found.finish_reason, found.usage, found.complete) == ("completed", Usage(20, 10), True)


@WAYS
def test_speech_is_read_by_its_transcript(beta: bool) -> None:
    kind = "audio" if beta else "output_audio"
    events = response(message_item(kind=kind), beta=beta)
    assert heard("realtime", events).text == TEXT
    name = "response.audio_transcript.delta" if beta else "response.output_audio_transcript.delta"
    assert name in kinds(events)


def test_a_session_is_the_sum_of_its_responses() -> None:
    events = [*response(call_item()), *response(message_item(), ident="resp_2")]
    found = heard("realtime", events)
    assert (found.text, found.tool_calls, found.usage) == (TEXT, (CALL,), Usage(40, 20))
    assert not heard("realtime", events[:-1]).complete
    assert heard("realtime", [b"no json"]).error
    many = [event for n in range(70) for event in response(call_item(), ident=f"resp_{n}")]
    assert heard("realtime", many).usage == Usage(1400, 700)


def test_failures_are_reported() -> None:
    error = {"type": "failed", "error": {"code": "server_error", "message": "sorry"}}
    failed = {"id": "resp_1", "status": "failed", "status_details": error, "output": []}
    event = json.dumps({"type": "response.done", "response": failed}).encode()
    assert heard("realtime", [event]).error == "sorry"
    made = P.edits.error_event("server_error", "too much")
    assert made is not None
    assert heard("realtime", [made]).error == "too much"


def test_response_done_is_terminal() -> None:
    *before, last = response(message_item())
    assert P.is_terminal(last)
    assert not any(map(P.is_terminal, before))
    assert not P.is_terminal(b'{"type":"response.output_text.delta","delta":"\\"response.done\\""}')
    assert not P.is_terminal(b'{"type":"x","y":"response.done"}')


def edited(editor: Any, events: list[bytes]) -> list[bytes]:
    out = [piece for event in events for piece in editor.feed(event)]
    return [*out, *editor.finish()]


@WAYS
@pytest.mark.parametrize("kind", ["text", "audio"])
@pytest.mark.parametrize("words", [1, 2, 4])
def test_a_cut_response_agrees_with_itself(words: int, kind: str, beta: bool) -> None:
    item_ = message_item(kind=kind if beta else f"output_{kind}")
    once = response(item_, call_item(), beta=beta)
    editor = P.truncator(words)
    out = edited(editor, [*once, *response(item_, ident="resp_2", beta=beta)])
    assert editor.changed
    cut = heard("realtime", out)
    first, second = cut.text.split("\n")
    assert first == second
    assert TEXT.startswith(first)
    assert (cut.finish_reason, cut.tool_calls) == ("max_output_tokens", ())
    done = done_of(out)
    assert (done["status"], done["usage"]["output_tokens"]) == ("incomplete", words)
    for event in map(json.loads, out):
        for told in (
            event.get("item", {}).get("content") or [{}],
            event.get("response", {}).get("output", []),
        ):
            for block in told:
                texts = block.get("content", [block])
                assert all((b.get("text") or b.get("transcript") or first) == first for b in texts)
    whole = P.truncator(1000)
    assert edited(whole, once) == once
    assert not whole.changed


def test_a_whole_response_is_cut() -> None:
    body = json.dumps(done_of(response(message_item(), call_item()))).encode()
    found = openai_realtime_stream.answer_of(json.loads(P.truncate(body, 2)))
    assert (found.text, found.finish_reason, found.tool_calls) == ("It is", "max_output_tokens", ())


def agrees(events: list[bytes]) -> Any:
    """What deltas say and what `response.done` says are the same; that is returned."""
    found, done = heard("realtime", events), openai_realtime_stream.answer_of(done_of(events))
    assert (found.text, found.tool_calls) == (done.text, done.tool_calls)
    indexes = [e["output_index"] for e in map(json.loads, events) if e["type"] == "response.output_item.done"]
    assert indexes == list(range(len(done_of(events)["output"])))
    return done


BOTH = response(message_item(), call_item())
WRONG = replace(CALL, arguments='{"city": "Rome"}')
SECOND = ToolCall("call_9", "search", "{}")


@WAYS
@pytest.mark.parametrize(
    ("change", "text", "calls"),
    [
        (Change(text=lambda _: "No."), "No.", (CALL,)),
        (Change(text=lambda _: ""), "", (CALL,)),
        (Change(calls=lambda _: (WRONG,)), TEXT, (WRONG,)),
        (Change(calls=lambda _: ()), TEXT, ()),
        (Change(calls=lambda calls: (*calls, SECOND)), TEXT, (CALL, SECOND)),
        (Change(text=lambda _: "No.", calls=lambda _: ()), "No.", ()),
    ],
)
def test_changed_answers_agree_with_themselves(change: Change, text: str, calls: Any, beta: bool) -> None:
    kind = "text" if beta else "output_text"
    editor = P.edits.stream_editor(change)
    assert editor is not None
    out = edited(editor, response(message_item(kind=kind), call_item(), beta=beta))
    found = agrees(out)
    assert editor.changed
    assert (found.text, found.tool_calls) == (text, calls)
    assert ("conversation.item.created" in kinds(out)) == beta


def test_a_text_is_said_where_there_was_none() -> None:
    editor = P.edits.stream_editor(Change(text=lambda _: "I cannot.", calls=lambda _: ()))
    assert editor is not None
    found = agrees(edited(editor, response(call_item())))
    assert (found.text, found.tool_calls) == ("I cannot.", ())


def test_what_is_not_changed_keeps_its_bytes() -> None:
    events = [
        b'{"type":"session.created","session":{}}',
        b"no json",
        *BOTH,
        b'{"type":"rate_limits.updated"}',
    ]
    editor = P.edits.stream_editor(Change(text=lambda text: text, calls=lambda calls: calls))
    assert editor is not None
    assert edited(editor, events) == events
    assert not editor.changed
    broken = P.edits.stream_editor(Change(text=lambda _: "x"))
    assert broken is not None
    assert edited(broken, BOTH[:-1]) == BOTH[:-1]
    assert not broken.changed


def test_finish_and_usage() -> None:
    editor = P.edits.stream_editor(Change(finish="content_filter", drop_usage=True))
    assert editor is not None
    out = edited(editor, BOTH)
    done = done_of(out)
    assert (done["status"], done["status_details"]["reason"]) == ("incomplete", "content_filter")
    assert "usage" not in done
    assert out[:-1] == BOTH[:-1]
    for was, changed in (("tool_calls", True), ("stop", False), ("length", False)):
        only: Any = P.edits.stream_editor(Change(finish="length", finish_was=was))  # type: ignore[arg-type]
        assert (edited(only, BOTH) != BOTH) is changed


# ---------------------------------------------------------------- what a session comes to


def recorded(*messages: Message) -> Recorded:
    head = Delivery(101, "Switching Protocols", (("Upgrade", "websocket"),), b"")
    return Recorded(
        "s", 1, "llm", "realtime", "openai", None, REALTIME, head, head, "complete", None, 0, 0, 1.0,
        messages=messages,
    )  # fmt: skip


def test_a_recorded_session_reads_as_a_conversation() -> None:
    changed = RESULT.replace(b"21", b"99")
    hello = item({"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Hello"}]})
    told = wire.transcript_of(
        recorded(
            *said("client", hello),
            *said("server", *response(call_item())),
            *said("client", changed, made=True),
            *said("client", RESULT, delivered=False),
            *said("server", *response(message_item(), ident="resp_2")),
        )
    )
    assert told is not None
    assert told.request is not None
    assert told.answer is not None
    assert [turn.role for turn in told.request.turns] == ["user", "assistant", "tool"]
    assert [(r.name, r.text) for r in told.request.results] == [("get_weather", '{"temp": 21}')]
    assert (told.answer.text, told.answer.usage) == (TEXT, Usage(40, 20))
    assert told.model == "gpt-realtime"


def test_the_wait_for_the_first_words_is_from_the_agents_message() -> None:
    def at(ms: int, messages: tuple[Message, ...], step: int = 10) -> list[Message]:
        """Each message 10 ms after the one before."""
        times = [(ms + step * n) * 1_000_000 for n in range(len(messages))]
        return [replace(m, sent_ns=t, delivered_ns=t) for m, t in zip(messages, times, strict=True)]

    hello = item({"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Hello"}]})
    first = at(1000, said("server", *response(message_item())))
    words = next(i for i, m in enumerate(first) if json.loads(m.data)["type"].endswith(".delta"))
    begun = [*at(100, said("client", hello)), *first]
    told = wire.transcript_of(recorded(*begun))
    assert told is not None
    assert told.first_event_ms == pytest.approx(900 + 10 * words)
    second = at(5000, said("server", *response(call_item(), ident="resp_2")), step=20)
    told = wire.transcript_of(recorded(*begun, *at(4990, said("client", hello)), *second))
    assert told is not None
    assert told.first_event_ms is not None
    assert 10 < told.first_event_ms < 20 * len(second)
    silent = wire.transcript_of(recorded(*at(0, said("client", hello)), *first[:2]))
    assert silent is not None
    assert silent.first_event_ms is None


def test_a_session_that_broke_off_has_no_finish() -> None:
    told = wire.transcript_of(recorded(*said("server", *response(message_item())[:6])))
    assert told is not None
    assert told.answer is not None
    assert (told.answer.finish_reason, told.answer.complete) == (None, False)
    assert TEXT.startswith(told.answer.text)
