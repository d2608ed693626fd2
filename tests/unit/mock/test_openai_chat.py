from __future__ import annotations

import json
from typing import Any

import pytest
from tests.unit.mock.conversations import OPENAI, ask, chat, heard, openai_loop, request

from faultwire import wire
from faultwire.events import header
from faultwire.mock._api import Call, Refused, Reply
from faultwire.wire.framing import sse

PATH = "/v1/chat/completions"
VIEW = wire.protocol("openai_chat")
ALL = ("calculator", "get_weather", "web_search")


def streamed(events: tuple[bytes, ...]) -> Any:
    reader = VIEW.reader()
    for event in events:
        reader.feed(event)
    return reader.view()


def refused(body: Any) -> str:
    with pytest.raises(Refused) as caught:
        OPENAI.read(body if isinstance(body, bytes) else json.dumps(body).encode())
    assert caught.value.response.status == 400
    error = json.loads(caught.value.response.body or b"")["error"]
    assert error["type"] == "invalid_request_error"
    return str(error["message"])


def test_stream_and_whole_say_the_same() -> None:
    conversation = heard("q", tools=ALL, stream_options={"include_usage": True})
    reply = Reply(text="One two, three.", calls=(Call("get_weather", {"city": "Zürich"}),))
    whole = VIEW.response_view(200, OPENAI.whole(conversation, reply))
    assert streamed(OPENAI.events(conversation, reply)) == whole
    assert (whole.text, whole.finish_reason) == ("One two, three.", "tool_calls")
    assert json.loads(whole.tool_calls[0].arguments) == {"city": "Zürich"}


def test_every_event_is_framed_by_itself_and_the_last_closes() -> None:
    events = OPENAI.events(heard("q"), Reply(text="a b c"))
    assert sse.events(b"".join(events)) == list(events)
    assert [VIEW.is_terminal(event) for event in events] == [False] * (len(events) - 1) + [True]


def test_usage_is_streamed_only_when_asked_for() -> None:
    assert streamed(OPENAI.events(heard("q"), Reply(text="a"))).usage is None
    asked = heard("q", stream_options={"include_usage": True})
    assert streamed(OPENAI.events(asked, Reply(text="a"))).usage.output_tokens == 1


def test_the_limit_cuts_the_text() -> None:
    conversation = heard("q", max_completion_tokens=2)
    found = VIEW.response_view(200, OPENAI.whole(conversation, Reply(text="one two three")))
    assert (found.text, found.finish_reason) == ("one two", "length")
    assert found.usage
    assert found.usage.output_tokens == 2


def test_same_request_same_bytes_and_other_request_other_ids() -> None:
    first, again, other = (ask(PATH, chat(text)) for text in ("a", "a", "b"))
    assert first == again
    assert json.loads(first.body)["id"] != json.loads(other.body)["id"]
    assert header(first.headers, "x-request-id") != header(other.headers, "x-request-id")
    assert header(first.headers, "x-ratelimit-remaining-requests") == "499"


def test_streamed_or_not_the_ids_are_the_same() -> None:
    whole = json.loads(ask(PATH, chat("a")).body)["id"]
    answer = ask(PATH, chat("a", stream=True))
    assert answer.events
    assert json.loads(answer.events[0][6:])["id"] == whole
    assert header(answer.headers, "content-type") == "text/event-stream; charset=utf-8"


def test_a_tool_loop_ends_with_the_results() -> None:
    question = "Weather in Paris, and 2+2?"
    first = json.loads(ask(PATH, chat(question, tools=ALL)).body)
    assert first["choices"][0]["finish_reason"] == "tool_calls"
    assert first["choices"][0]["message"]["content"] is None
    second = json.loads(ask(PATH, openai_loop(first, ["4", "sunny"], question)).body)
    assert second["choices"][0]["finish_reason"] == "stop"
    assert "4" in second["choices"][0]["message"]["content"]
    assert "sunny" in second["choices"][0]["message"]["content"]


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (b"{", "could not parse the JSON body"),
        ({"messages": [{"role": "user"}]}, "you must provide a model parameter"),
        ({"model": "m"}, "Missing required parameter: 'messages'"),
        (
            chat({"role": "tool", "tool_call_id": "x", "content": "y"}),
            "must be a response to a preceeding message",
        ),
        (
            chat({"role": "assistant", "tool_calls": [{"id": "x1"}]}, "next"),
            "did not have response messages: x1",
        ),
        (chat({"role": "assistant", "tool_calls": [{"id": "x1"}]}), "did not have response messages: x1"),
        ({"model": "m", "messages": ["x"]}, "expected an array of objects with a role"),
    ],
)
def test_what_the_api_refuses(body: Any, message: str) -> None:
    assert message in refused(body)


def test_keys_are_wanted() -> None:
    with pytest.raises(Refused) as caught:
        OPENAI.check_key(request(PATH, authorization="Bearer "))
    assert caught.value.response.status == 401
    OPENAI.check_key(request(PATH))
    OPENAI.check_key(request(PATH, authorization="", api_key="azure"))
