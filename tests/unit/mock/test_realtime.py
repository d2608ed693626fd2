"""faultwire.mock.realtime, faultwire.mock.realtime_reply, faultwire.mock.responses_socket and
faultwire.mock.sockets: sessions without a socket."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable
from typing import Any

import pytest
from tests.unit.wire.sockets import heard, upgrade

from faultwire.mock import script
from faultwire.mock._api import Answer, OutgoingMessage, Session
from faultwire.mock.answering import Answerer
from faultwire.mock.sockets import ENDPOINTS

SOUND = (("Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ=="), ("Sec-WebSocket-Version", "13"))
KEY = ("Authorization", "Bearer sk-x")
TOOL = {
    "type": "function",
    "name": "get_weather",
    "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
}


def asked(path: str, *more: tuple[str, str], answerer: Answerer | None = None) -> Answer:
    return (answerer or Answerer())(upgrade("api.openai.com", path, *SOUND, *more))


def session(path: str = "/v1/realtime?model=gpt-realtime", *more: Any, answerer: Any = None) -> Session:
    answer = asked(path, KEY, *more, answerer=answerer)
    assert answer.status == 101
    assert answer.session is not None
    return answer.session


def told(said: Iterable[OutgoingMessage]) -> list[dict[str, Any]]:
    return [json.loads(one.text) for one in said]


def tell(made: Session, kind: str, **members: Any) -> list[dict[str, Any]]:
    return told(made.receive(json.dumps({"type": kind, **members})))


def ask(made: Session, text: str = "What is the weather in Paris?", **wanted: Any) -> list[dict[str, Any]]:
    content = [{"type": "input_text", "text": text}]
    tell(made, "conversation.item.create", item={"type": "message", "role": "user", "content": content})
    return tell(made, "response.create", **({"response": wanted} if wanted else {}))


def view(events: list[dict[str, Any]], name: str = "realtime") -> Any:
    return heard(name, [json.dumps(event).encode() for event in events])


def kinds(events: list[dict[str, Any]]) -> list[str]:
    return [event["type"] for event in events]


def test_a_session_with_a_tool() -> None:
    made = session()
    (created,) = told(made.opening())
    assert (created["type"], created["session"]["model"]) == ("session.created", "gpt-realtime")
    (updated,) = tell(made, "session.update", session={"tools": [TOOL], "output_modalities": ["text"]})
    assert updated["session"]["tools"] == [TOOL]
    called = ask(made)
    assert kinds(called)[:3] == ["response.created", "response.output_item.added", "conversation.item.added"]
    assert kinds(called)[-2:] == ["response.done", "rate_limits.updated"]
    (call,) = view(called).tool_calls
    assert (call.name, json.loads(call.arguments)) == ("get_weather", {"city": "Paris"})
    output = {"type": "function_call_output", "call_id": call.id, "output": "21 degrees"}
    assert kinds(tell(made, "conversation.item.create", item=output)) == [
        "conversation.item.added",
        "conversation.item.done",
    ]
    found = view(tell(made, "response.create"))
    assert "21 degrees" in found.text
    assert found.usage.input_tokens > found.usage.output_tokens > 0
    assert len({event["event_id"] for event in called}) == len(called)


def test_the_beta_has_other_names() -> None:
    made = session("/v1/realtime?model=gpt-4o-realtime-preview", ("OpenAI-Beta", "realtime=v1"))
    tell(made, "session.update", session={"modalities": ["text"]})
    names = set(kinds(ask(made, "Hello")))
    assert {"response.text.delta", "conversation.item.created"} <= names
    assert not any("output_text" in name or name.endswith("item.added.done") for name in names)


def test_speech_is_the_usual_way() -> None:
    events = ask(session(), "Hello")
    assert {"response.output_audio_transcript.delta", "response.output_audio.delta"} <= set(kinds(events))
    assert "Hello" in view(events).text
    (sound,) = [e["delta"] for e in events if e["type"] == "response.output_audio.delta"]
    assert len(base64.b64decode(sound)) > 1000


def test_audio_comes_in_by_its_buffer() -> None:
    made = session()
    (error,) = tell(made, "input_audio_buffer.commit", event_id="mine")
    assert error["error"]["code"] == "input_audio_buffer_commit_empty"
    assert error["error"]["event_id"] == "mine"
    assert tell(made, "input_audio_buffer.append", audio=base64.b64encode(bytes(48 * 150)).decode()) == []
    events = tell(made, "input_audio_buffer.commit")
    assert kinds(events)[0] == "input_audio_buffer.committed"
    assert "150 ms of speech" in view(tell(made, "response.create")).text
    assert kinds(tell(made, "input_audio_buffer.clear")) == ["input_audio_buffer.cleared"]
    assert kinds(tell(made, "input_audio_buffer.append", audio="?")) == ["error"]


def test_items_are_kept() -> None:
    made = session()
    item = {"id": "item_mine", "type": "message", "role": "user", "content": []}
    tell(made, "conversation.item.create", item=item)
    (found,) = tell(made, "conversation.item.retrieve", item_id="item_mine")
    assert found["item"]["id"] == "item_mine"
    assert kinds(tell(made, "conversation.item.delete", item_id="item_mine")) == ["conversation.item.deleted"]
    for kind in ("conversation.item.delete", "conversation.item.retrieve"):
        assert tell(made, kind, item_id="item_mine")[0]["error"]["code"] == "item_not_found"


@pytest.mark.parametrize(
    ("message", "code"),
    [
        ("{", "invalid_json"),
        ('{"type":"nonsense"}', "invalid_value"),
        ('{"type":"session.update"}', "missing_required_parameter"),
        ('{"type":"conversation.item.create"}', "missing_required_parameter"),
        ('{"type":"response.cancel"}', "response_cancel_not_active"),
        (
            '{"type":"conversation.item.create","item":{"type":"function_call_output","call_id":"x"}}',
            "invalid_tool_call_id",
        ),
    ],
)
def test_errors_leave_the_session_open(message: str, code: str) -> None:
    made = session()
    (event,) = told(made.receive(message))
    assert (event["type"], event["error"]["code"]) == ("error", code)
    assert view(ask(made, "Hello")).text


def test_one_response_at_a_time_and_it_can_be_cancelled() -> None:
    made = session()
    content = [{"type": "input_text", "text": "Tell me a long story about rivers"}]
    tell(made, "conversation.item.create", item={"type": "message", "role": "user", "content": content})
    running = iter(made.receive('{"type":"response.create"}'))
    events = [json.loads(next(running).text) for _ in range(6)]
    (busy,) = tell(made, "response.create")
    assert busy["error"]["code"] == "conversation_already_has_active_response"
    assert tell(made, "response.cancel") == []
    events += told(running)
    found = view(events)
    assert found.finish_reason == "client_cancelled"
    assert kinds(events).count("response.output_text.done") == 0
    assert view(tell(made, "response.create")).finish_reason == "completed"


def test_the_next_one_may_come_as_soon_as_the_last_one_is_reported_done() -> None:
    made = session()
    for said in made.receive(json.dumps({"type": "response.create"})):
        if json.loads(said.text)["type"] == "response.done":
            assert kinds(tell(made, "response.create"))[0] == "response.created"
            return
    pytest.fail("it was never done")


def test_a_response_aside_leaves_no_trace() -> None:
    made = session()
    item = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "aside"}]}
    wanted = {"conversation": "none", "input": [item], "metadata": {"topic": "x"}}
    events = tell(made, "response.create", response=wanted)
    assert "aside" in view(events).text
    assert not any(kind.startswith("conversation.") for kind in kinds(events))
    assert events[-2]["response"]["metadata"] == {"topic": "x"}
    assert "aside" not in view(tell(made, "response.create")).text


def test_limits_cut_it() -> None:
    made = session()
    found = view(ask(made, "Hello", max_output_tokens=2))
    assert (found.finish_reason, found.usage.output_tokens) == ("max_output_tokens", 2)


def test_a_script_speaks_and_fails() -> None:
    turns = """
turns:
  - match: {last_user: "*fail*"}
    reply: {error: {status: 429, message: too many}}
  - match: {}
    reply: {text: "As told.", first_event_delay_ms: 5, chunk_delay_ms: 2}
"""
    made = session(answerer=Answerer(script.parse(turns, "s.yaml")))
    failed = ask(made, "please fail")
    assert view(failed).error == "too many"
    assert failed[-1]["response"]["status_details"]["error"]["code"] == "rate_limit_exceeded"
    tell(made, "conversation.item.create", item={"type": "message", "role": "user", "content": [
        {"type": "input_text", "text": "Hello"}]})  # fmt: skip
    said = list(made.receive('{"type":"response.create"}'))
    assert said[0].delay_ms == 5
    assert {one.delay_ms for one in said[1:-2]} == {2}
    assert view(told(said)).text == "As told."


def test_the_same_session_says_the_same() -> None:
    assert ask(session(), "Hello") == ask(session(), "Hello")


# ---------------------------------------------------------------- Responses over a WebSocket


def test_responses_over_a_socket() -> None:
    made = session("/v1/responses")
    assert list(made.opening()) == []
    tool = {**TOOL, "type": "function"}
    question = "What is the weather in Paris?"
    called = tell(made, "response.create", model="m", input=question, tools=[tool])
    (call,) = view(called, "responses_socket").tool_calls
    response_id = called[-1]["response"]["id"]
    output = {"type": "function_call_output", "call_id": call.id, "output": "21 degrees"}
    found = tell(
        made, "response.create", model="m", previous_response_id=response_id, input=[output], stream_id="lane"
    )
    assert "21 degrees" in view(found, "responses_socket").text
    assert {event["stream_id"] for event in found} == {"lane"}
    assert called[-1]["type"] == found[-1]["type"] == "response.completed"


@pytest.mark.parametrize(
    ("message", "status"),
    [
        ("no", 400),
        ('{"type":"response.cancel"}', 400),
        ('{"type":"response.create","model":"m"}', 400),
        ('{"type":"response.create","model":"m","input":"x","previous_response_id":"resp_unknown"}', 400),
    ],
)
def test_what_it_does_not_understand(message: str, status: int) -> None:
    (event,) = told(session("/v1/responses").receive(message))
    assert (event["type"], event["status"]) == ("error", status)
    assert event["error"]["message"]


def test_a_scripted_failure_over_a_socket() -> None:
    turns = "turns: [{match: {}, reply: {error: {status: 503}}}]"
    made = session("/v1/responses", answerer=Answerer(script.parse(turns, "s.yaml")))
    (event,) = tell(made, "response.create", model="m", input="Hello")
    assert (event["type"], event["status"]) == ("error", 503)


# ---------------------------------------------------------------- who may open one


@pytest.mark.parametrize(
    ("path", "more", "status"),
    [
        ("/v1/realtime?model=m", (), 401),
        ("/v1/realtime?model=m", (KEY,), 101),
        ("/openai/realtime?deployment=m&api-key=k", (), 101),
        ("/v1/realtime?model=m", (("api-key", "k"),), 101),
        ("/v1/realtime?model=m", (("Sec-WebSocket-Protocol", "realtime, openai-insecure-api-key.k"),), 101),
        ("/v1/elsewhere", (KEY,), 404),
    ],
)
def test_keys_and_paths(path: str, more: Any, status: int) -> None:
    answer = asked(path, *more)
    assert answer.status == status
    assert (answer.session is not None) == (status == 101)
    chosen = dict(answer.headers).get("sec-websocket-protocol")
    assert chosen == ("realtime" if "realtime, " in str(more) else None)


def test_an_unsound_upgrade_is_refused() -> None:
    request = upgrade("api.openai.com", "/v1/realtime?model=m", KEY, SOUND[0])
    assert Answerer()(request).status == 400


def test_what_there_is() -> None:
    assert [one.path for one in ENDPOINTS] == ["/realtime", "/responses"]
