"""A typed text as an answer in the protocol of the request."""

from __future__ import annotations

import json

import pytest

from faultwire.errors import UsageError
from faultwire.wire import protocol
from faultwire.workbench.spoken import spoken

CHAT = "https://api.openai.com/v1/chat/completions"
ANTHROPIC = "https://api.anthropic.com/v1/messages"
TURNS = [{"role": "user", "content": "hi"}]


def shown(url: str, **body) -> dict:
    headers = [["content-type", "application/json"], ["anthropic-version", "2023-06-01"]]
    return {"method": "POST", "url": url, "headers": headers, "body": json.dumps(body)}


@pytest.mark.parametrize(("url", "name"), [(CHAT, "openai_chat"), (ANTHROPIC, "anthropic")])
def test_a_stream_is_answered_by_a_stream(url: str, name: str) -> None:
    made = spoken(shown(url, model="m", max_tokens=9, messages=TURNS, stream=True), "No tool is needed.")
    reader = protocol(name).reader()
    for event in made["raw"].encode().split(b"\n\n"):
        reader.feed(event + b"\n\n")
    assert made["headers"]["content-type"].startswith("text/event-stream")
    assert reader.view().text == "No tool is needed."
    assert reader.view().complete


def test_a_call_without_a_stream_is_answered_whole_also_at_the_response() -> None:
    made = spoken({"head": {}, "asked": shown(CHAT, model="m", messages=TURNS)}, "Yes.")
    assert json.loads(made["raw"])["choices"][0]["message"]["content"] == "Yes."
    assert made["status"] == 200


def test_what_speaks_no_protocol_is_not_answered_with_a_text() -> None:
    with pytest.raises(UsageError, match="speaks no protocol"):
        spoken(shown("https://weather.example/v1", city="Paris"), "Yes.")
    with pytest.raises(UsageError, match="cannot be answered with a text"):
        spoken(shown(CHAT, model="m", messages=[]), "Yes.")
