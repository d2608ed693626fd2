from __future__ import annotations

import json
from typing import Any

import pytest
from tests.unit.mock.conversations import ANTHROPIC, ask, messages, request

from faultwire import wire
from faultwire.events import header
from faultwire.mock._api import Call, Refused, Reply
from faultwire.wire.framing import sse

PATH = "/v1/messages"
VIEW = wire.protocol("anthropic")
ALL = ("calculator", "get_weather", "web_search")


def heard(*said: Any, **more: Any) -> Any:
    return ANTHROPIC.read(json.dumps(messages(*said, **more)).encode())


def refused(body: Any) -> dict[str, Any]:
    with pytest.raises(Refused) as caught:
        ANTHROPIC.read(body if isinstance(body, bytes) else json.dumps(body).encode())
    assert caught.value.response.status == 400
    found: dict[str, Any] = json.loads(caught.value.response.body or b"")
    assert found["error"]["type"] == "invalid_request_error"
    return found


def test_stream_and_whole_say_the_same() -> None:
    conversation = heard("q", tools=ALL)
    reply = Reply(
        text="One two, three.", calls=(Call("get_weather", {"city": "Zürich"}), Call("web_search", {}))
    )
    reader = VIEW.reader()
    for event in ANTHROPIC.events(conversation, reply):
        reader.feed(event)
    streamed, whole = reader.view(), VIEW.response_view(200, ANTHROPIC.whole(conversation, reply))
    assert (streamed.text, streamed.finish_reason, streamed.usage) == (whole.text, "tool_use", whole.usage)
    assert [json.loads(c.arguments) for c in streamed.tool_calls] == [
        json.loads(c.arguments) for c in whole.tool_calls
    ]
    assert [c.id for c in streamed.tool_calls] == [c.id for c in whole.tool_calls]
    assert streamed.complete


def test_every_event_is_named_and_framed_by_itself() -> None:
    events = ANTHROPIC.events(heard("q"), Reply(text="a b"))
    assert sse.events(b"".join(events)) == list(events)
    names = [fields.name for event in events if (fields := sse.fields(event))]
    assert names == [
        "message_start",
        "content_block_start",
        "ping",
        "content_block_delta",
        "content_block_delta",
        "content_block_stop",
        "message_delta",
        "message_stop",
    ]


def test_the_limit_cuts_the_text() -> None:
    found = VIEW.response_view(200, ANTHROPIC.whole(heard("q", max_tokens=2), Reply(text="one two three")))
    assert (found.text, found.finish_reason) == ("one two", "max_tokens")


def test_a_tool_loop_ends_with_the_results() -> None:
    question = "Weather in Paris, and 2+2?"
    first = json.loads(ask(PATH, messages(question, tools=ALL), anthropic_version="x").body)
    assert [block["name"] for block in first["content"]] == ["calculator", "get_weather"]
    results = [
        {
            "type": "tool_result",
            "tool_use_id": block["id"],
            "content": [{"type": "text", "text": f"is {block['name']}"}],
        }
        for block in first["content"]
    ]
    assistant = {"role": "assistant", "content": first["content"]}
    second = ask(PATH, messages(question, assistant, {"role": "user", "content": results}, tools=ALL))
    text = json.loads(second.body)["content"][0]["text"]
    assert "is calculator" in text
    assert "is get_weather" in text


def test_tool_choice_is_obeyed() -> None:
    def calls(**choice: Any) -> int:
        body = messages("Weather in Paris, and 2+2?", tools=ALL, tool_choice=choice)
        return sum(b["type"] == "tool_use" for b in json.loads(ask(PATH, body).body)["content"])

    assert calls(type="auto") == 2
    assert calls(type="none") == 0
    assert calls(type="tool", name="web_search") == 1
    assert calls(type="auto", disable_parallel_tool_use=True) == 1


def test_wanted_json_fits_its_schema() -> None:
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
    wanted = {"format": {"type": "json_schema", "schema": schema}}
    answer = json.loads(ask(PATH, messages("I have 7", output_config=wanted)).body)
    assert json.loads(answer["content"][0]["text"]) == {"n": 7}


def test_same_request_same_bytes() -> None:
    first, again = (ask(PATH, messages("a", stream=True)) for _ in range(2))
    assert first == again
    assert (header(first.headers, "request-id") or "").startswith("req_")


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (b"{", "not valid JSON"),
        ({"model": "c", "messages": []}, "max_tokens: Field required"),
        ({"model": "c", "max_tokens": 1, "messages": []}, "at least one message is required"),
        (messages({"role": "tool", "content": "x"}), "messages.0.role: Input should be"),
        (
            messages({"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1"}]}),
            "messages.0.content.0: unexpected `tool_use_id` found in `tool_result` blocks: t1.",
        ),
        (
            messages({"role": "assistant", "content": [{"type": "tool_use", "id": "t1"}]}, "next"),
            "messages.0: `tool_use` ids were found without `tool_result` blocks immediately after: t1.",
        ),
        (
            messages("q", {"role": "assistant", "content": [{"type": "tool_use", "id": "t1"}]}),
            "messages.1: `tool_use` ids were found without",
        ),
    ],
)
def test_what_the_api_refuses(body: Any, message: str) -> None:
    assert message in refused(body)["error"]["message"]


def test_threads_are_refused_so_that_the_sdk_sends_all() -> None:
    error = refused(messages("q", thread={"type": "create"}))["error"]
    assert error["details"]["error_code"] == "thread_unsupported_request"


def test_keys_are_wanted() -> None:
    with pytest.raises(Refused) as caught:
        ANTHROPIC.check_key(request(PATH, authorization=""))
    assert caught.value.response.status == 401
    assert json.loads(caught.value.response.body or b"")["error"]["type"] == "authentication_error"
    ANTHROPIC.check_key(request(PATH, authorization="", x_api_key="k"))
    ANTHROPIC.check_key(request(PATH))
