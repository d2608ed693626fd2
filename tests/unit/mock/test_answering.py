from __future__ import annotations

import json

import pytest
from tests.unit.mock.conversations import ask, chat, heard, messages

from faultwire.events import header
from faultwire.mock._shared import read_tokens
from faultwire.mock.answering import MODELS, Answerer
from faultwire.mock.hosts import hosts, names, routes
from faultwire.mock.script import parse


@pytest.mark.parametrize(
    "path", ["/v1/chat/completions", "/openai/deployments/x/chat/completions?api-version=1"]
)
def test_chat_is_answered_under_any_prefix(path: str) -> None:
    assert json.loads(ask(path, chat("hi")).body)["object"] == "chat.completion"


def test_messages_are_answered() -> None:
    assert json.loads(ask("/anthropic/v1/messages?beta=true", messages("hi")).body)["type"] == "message"


def test_models_in_both_shapes() -> None:
    listed = json.loads(ask("/v1/models", method="GET").body)
    assert [model["id"] for model in listed["data"]] == list(MODELS)
    assert listed["object"] == "list"
    theirs = json.loads(ask("/v1/models", method="GET", anthropic_version="x").body)
    assert (theirs["first_id"], theirs["has_more"]) == (MODELS[0], False)


def test_unknown_paths_are_the_provider_s_404() -> None:
    openai = ask("/v1/nothing", {})
    assert openai.status == 404
    assert json.loads(openai.body)["error"]["message"] == "Invalid URL (POST /v1/nothing)"
    theirs = json.loads(ask("/v1/nothing", {}, anthropic_version="x").body)
    assert theirs["error"]["type"] == "not_found_error"


def test_a_missing_key_is_401_before_anything_else() -> None:
    assert ask("/v1/chat/completions", b"{", authorization="").status == 401
    assert ask("/v1/messages", b"{", authorization="").status == 401


def test_errors_carry_no_length_of_their_own() -> None:
    answer = ask("/v1/chat/completions", b"{")
    assert (answer.status, header(answer.headers, "content-length")) == (400, None)
    assert header(answer.headers, "x-request-id")


def test_delays_of_reply_script_and_server_in_this_order() -> None:
    script = parse(
        "first_event_delay_ms: 5\nturns:\n"
        "- {match: {last_user: slow}, reply: {text: x, first_event_delay_ms: 9, chunk_delay_ms: 4}}\n",
        "s.yaml",
    )
    answerer = Answerer(script, first_event_delay_ms=1, chunk_delay_ms=2)

    def delays(text: str, used: Answerer = answerer) -> tuple[int, int]:
        answer = ask("/v1/chat/completions", chat(text, stream=True), used)
        return answer.first_event_delay_ms, answer.chunk_delay_ms

    assert delays("slow") == (9, 4)
    assert delays("other") == (5, 2)
    assert delays("other", Answerer(None, 1, 2)) == (1, 2)


def test_a_scripted_error_is_the_provider_s() -> None:
    script = parse("turns: [{reply: {error: {status: 429, retry_after_s: 2}}}]", "s.yaml")
    answer = ask("/v1/messages", messages("x"), Answerer(script))
    assert (answer.status, header(answer.headers, "retry-after")) == (429, "2")
    assert json.loads(answer.body)["error"]["type"] == "rate_limit_error"


def test_routes_send_every_provider_to_this_machine() -> None:
    assert tuple(routes(80)) == hosts()
    assert set(routes(80).values()) == {"http://127.0.0.1:80"}
    assert "bedrock-runtime.*.amazonaws.com" in routes(80)
    known = "api.openai.com api.anthropic.com generativelanguage.googleapis.com ollama.com mcp.mock.test"
    assert {*known.split()} < {*names()} < {*hosts()}
    assert all("*" in host for host in {*hosts()} - {*names()})


def test_more_words_are_more_tokens() -> None:
    assert read_tokens(heard("one two three").view) > read_tokens(heard("one").view) > 0
