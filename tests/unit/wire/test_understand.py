"""Kind, view and key of a whole request, in one go (`faultwire.wire.understand`)."""

from __future__ import annotations

import json

from faultwire import wire
from faultwire.events import Request

HEADERS = (("content-type", "application/json"),)
CHAT = Request("POST", "https", "api.openai.com", 443, "/v1/chat/completions", HEADERS)


def with_body(body: bytes) -> Request:
    return Request(CHAT.method, CHAT.scheme, CHAT.host, CHAT.port, CHAT.path, HEADERS, body)


def test_it_is_the_sum_of_its_parts() -> None:
    request = with_body(json.dumps({"model": "m", "messages": [{"role": "user", "content": "hi"}]}).encode())
    found = wire.understand(request)
    classified = wire.classify(request)
    assert (found.kind, found.protocol, found.provider) == ("llm", classified.protocol, "openai")
    assert found.view is not None
    assert found.view.turns[0].text == "hi"
    assert found.key == wire.fingerprint(request, "llm")


def test_a_request_that_cannot_be_read_has_a_key_and_no_view() -> None:
    found = wire.understand(with_body(b'{"messages": 7'))
    assert (found.kind, found.view) == ("llm", None)
    assert found.key


def test_what_is_no_model_is_not_viewed() -> None:
    found = wire.understand(Request("GET", "https", "x.test", 443, "/", (), b""))
    assert (found.kind, found.protocol, found.view) == ("other", None, None)


def _conversation(*words: str) -> Request:
    messages = [{"role": ("user", "assistant")[at % 2], "content": word} for at, word in enumerate(words)]
    body = json.dumps({"model": "m", "messages": messages}).encode()
    return Request("POST", "https", "api.openai.com", 443, "/v1/chat/completions", (), body)


def test_what_earlier_requests_held_is_not_read_again_and_changes_nothing() -> None:
    earlier = wire.ConversationHistory()
    words = [f"word {number}" for number in range(9)]
    views = []
    for count in (1, 3, 5, 5, 9, 3):
        request = _conversation(*words[:count])
        found = wire.understand(request, earlier=earlier)
        assert found == wire.understand(request)
        views.append(found.view)
    first, second = (views[at].turns for at in (1, 2))
    assert [one is other for one, other in zip(first, second, strict=False)] == [True, True, False]
    other = wire.understand(_conversation("another", "talk", "of its own"), earlier=earlier)
    assert [turn.text for turn in other.view.turns] == ["another", "talk", "of its own"]


def test_a_long_request_is_not_remembered() -> None:
    earlier = wire.ConversationHistory()
    long = _conversation("x" * (1 << 20), "yes", "and")
    turns = [wire.understand(long, earlier=earlier).view.turns for _ in range(2)]
    assert turns[0] == turns[1]
    assert turns[0][0] is not turns[1][0]
