"""faultwire.exchange.conversation: which requests belong together, and what is remembered of them."""

from __future__ import annotations

import json
from hashlib import sha256
from typing import Any

import pytest

from faultwire import wire
from faultwire.events import Path, Request, ToolResult
from faultwire.exchange.conversation import (
    KEPT,
    Conversation,
    RewrittenText,
    RewrittenTexts,
    conversation_of,
)

SYSTEM = {"role": "system", "content": "be brief"}
USER = {"role": "user", "content": "find it"}
ANSWER = {"role": "assistant", "content": "found"}
THANKS = {"role": "user", "content": "thanks"}


def asked(path: str = "/v1/chat/completions", host: str = "api.openai.com", **document: Any) -> Conversation:
    headers = (("content-type", "application/json"),)
    body = json.dumps({"model": "m", **document}).encode()
    request = Request("POST", "https", host, 443, path, headers, body)
    found = wire.understand(request, {}, {})
    assert found.protocol is not None
    assert found.view is not None
    made = conversation_of(found.protocol, request, found.view.results)
    assert made is not None
    return made


def chat(*messages: dict[str, Any], **settings: Any) -> Conversation:
    return asked(messages=messages, **settings)


def continues(later: Conversation, earlier: Conversation) -> bool:
    return earlier.histories[-1] in later.histories


def test_a_request_continues_each_one_that_it_begins_with() -> None:
    first, second = chat(SYSTEM, USER), chat(SYSTEM, USER, ANSWER, THANKS)
    assert continues(second, first)
    assert not continues(first, second)
    assert continues(first, first)


@pytest.mark.parametrize(
    "other",
    [
        [SYSTEM, {"role": "user", "content": "find me"}, ANSWER, THANKS],
        [{"role": "system", "content": "be wordy"}, USER, ANSWER, THANKS],
        [USER, ANSWER, THANKS],
        [SYSTEM, {"role": "assistant", "content": "find it"}, ANSWER, THANKS],
        [SYSTEM, {"role": "user", "content": "find itfound"}, THANKS],
    ],
)
def test_another_beginning_is_another_conversation(other: list[dict[str, Any]]) -> None:
    assert not continues(chat(*other), chat(SYSTEM, USER))


def test_a_system_prompt_alone_begins_no_conversation() -> None:
    assert not continues(chat(SYSTEM, USER), chat(SYSTEM))
    assert continues(chat(SYSTEM), chat(SYSTEM))


def test_settings_marks_and_call_ids_count_for_nothing() -> None:
    marked = {
        "role": "user",
        "content": [{"type": "text", "text": "find it", "cache_control": {"type": "ephemeral"}}],
    }
    assert chat(SYSTEM, marked, temperature=1) == chat(SYSTEM, USER)

    def called(ident: str, arguments: str) -> Conversation:
        call = {"id": ident, "type": "function", "function": {"name": "search", "arguments": arguments}}
        result = {"role": "tool", "tool_call_id": ident, "content": "42"}
        return chat(USER, {"role": "assistant", "tool_calls": [call]}, result)

    assert called("c1", "{}") == called("c2", "{}")
    assert called("c1", "{}") != called("c1", '{"q": 1}')


def test_a_conversation_that_the_provider_keeps_is_recognised_by_its_id_and_rolls_by_its_words() -> None:
    def delta(**link: Any) -> Conversation:
        return asked("/v1/responses", input="yes", **link)

    one, other = delta(previous_response_id="resp_1"), delta(previous_response_id="resp_2")
    assert not continues(one, other)
    assert one.chance == other.chance == delta().histories[-1]
    assert not continues(delta(conversation="conv_1"), delta(conversation="conv_2"))
    assert continues(delta(conversation="conv_1"), delta(conversation="conv_1"))
    thread = [
        asked("/v1/messages", "api.anthropic.com", messages=[USER], thread={"previous_message_id": ident})
        for ident in ("msg_1", "msg_2")
    ]
    assert not continues(*thread)


def test_a_placeholder_is_the_same_whoever_made_it() -> None:
    said = [{"role": "user", "content": f"my key is redacted:v1:{digit * 32}"} for digit in "ab"]
    assert chat(said[0]) == chat(said[1])


def test_a_request_without_texts_is_of_no_conversation() -> None:
    body = b'{"model": "m", "messages": []}'
    request = Request("POST", "https", "api.openai.com", 443, "/v1/chat/completions", (), body)
    protocol = wire.classify(request).protocol
    assert protocol is not None
    assert conversation_of(protocol, request, ()) is None


def test_a_websocket_is_a_conversation_by_itself() -> None:
    one, other = Conversation.of_websocket(1, "k"), Conversation.of_websocket(2, "k")
    assert one.histories != other.histories
    assert one.chance == other.chance == "k"


def test_what_was_chosen_is_found_by_history_and_entry() -> None:
    texts, chosen = RewrittenTexts(), (RewrittenText("d", "new", "changed", 1),)
    texts.remember("h1", "attack", chosen)
    assert texts.chosen("h1", "attack") == chosen
    assert texts.chosen("h1", "other") is None
    assert texts.chosen("h2", "attack") is None
    assert list(texts.within(("h0", "h1"))) == [("h1", {"attack": chosen})]


def test_the_conversations_that_go_on_are_the_ones_that_are_kept() -> None:
    texts, chosen = RewrittenTexts(), (RewrittenText("d", "new", "changed", 1),)
    for at in range(KEPT):
        texts.remember(f"h{at}", "attack", chosen)
    assert list(texts.within(["h0"]))
    texts.remember("one more", "attack", chosen)
    assert len(texts) == KEPT
    assert list(texts.within(["h0"])), "it was asked for last"
    assert not list(texts.within(["h1"]))


def digest(*parts: str) -> str:
    """The parts with their lengths before them, as the dice of every release must find them."""
    encoded = [part.encode("utf-8", "surrogatepass") for part in parts]
    return sha256(b"".join(str(len(part)).encode() + b":" + part for part in encoded)).hexdigest()


def with_results(*results: ToolResult, messages: tuple[dict[str, Any], ...] = (SYSTEM,)) -> Conversation:
    """The conversation of a request whose results were read elsewhere."""
    body = json.dumps({"model": "m", "messages": messages}).encode()
    request = Request("POST", "https", "api.openai.com", 443, "/v1/chat/completions", (), body)
    protocol = wire.classify(request).protocol
    assert protocol is not None
    made = conversation_of(protocol, request, results)
    assert made is not None
    return made


def result(text: str, path: Path, name: str | None = "search") -> ToolResult:
    return ToolResult("c1", name, "{}", text, is_error=False, path=path, new=True)


def test_the_digests_are_the_same_in_every_release() -> None:
    call = {"id": "c1", "type": "function", "function": {"name": "search", "arguments": "{}"}}
    answer = {"role": "tool", "tool_call_id": "c1", "content": "42"}
    made = chat(
        SYSTEM, USER, {"role": "assistant", "tool_calls": [call]}, answer, {**SYSTEM, "content": "more"}
    )
    begun = digest(digest("conversation"), "text", "system", "be brief")
    asked_for = digest(begun, "text", "user", "find it")
    found = digest(asked_for, "text", "tool", "42", "result", "search", "{}", "42")
    assert made.histories == (asked_for, found, digest(found, "text", "system", "more"))
    assert chat(SYSTEM).histories == (digest(begun, "whole"),)
    placeholder = {"role": "user", "content": f"key redacted:v1:{'a' * 32}"}
    assert chat(placeholder).histories == (
        digest(digest("conversation"), "text", "user", "key redacted:v1:0"),
    )


def test_a_result_is_of_the_message_that_holds_it() -> None:
    begun = digest(digest("conversation"), "text", "system", "be brief")
    alone = with_results(result("42", ("messages", 3, "content")))
    assert alone.histories == (digest(begun, "result", "search", "{}", "42"),)
    nameless = with_results(result("\ud800", ("messages", 3, "content"), name=None))
    assert nameless.histories == (digest(begun, "result", "", "{}", "\ud800"),)
    without_a_message = with_results(result("42", ("input",)), messages=(SYSTEM, USER))
    first = digest(digest("conversation"), "text", "system", "be brief", "result", "search", "{}", "42")
    assert without_a_message.histories == (first, digest(first, "text", "user", "find it"))


def test_what_was_read_is_kept_with_the_conversation() -> None:
    made = with_results(messages=(USER,))
    assert made.body == b'{"model": "m", "messages": [{"role": "user", "content": "find it"}]}'
    assert [(text.role, text.text) for text in made.texts] == [("user", "find it")]


def test_a_request_without_a_body_is_of_no_conversation() -> None:
    request = Request("POST", "https", "api.openai.com", 443, "/v1/chat/completions", (), None)
    protocol = wire.classify(request).protocol
    assert protocol is not None
    assert conversation_of(protocol, request, ()) is None
