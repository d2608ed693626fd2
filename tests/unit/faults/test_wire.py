from __future__ import annotations

import json
from dataclasses import replace

from faultwire.events import Response
from faultwire.faults._wire import error_answer, kept_by_provider, no_answer, no_stream, protocol_of

SSE = Response(200, "OK", (("Content-Type", "text/event-stream"),))


def test_protocol_of(chat, web):
    protocol = protocol_of(chat())
    assert protocol is not None
    assert protocol.name == "openai_chat"
    assert protocol_of(web) is None


def test_error_answer_speaks_the_exchanges_protocol(chat, anthropic, web):
    bodies = [json.loads(error_answer(e, 500, message="m").body or b"") for e in (chat(), anthropic, web)]
    assert [body["error"]["message"] for body in bodies] == ["m", "m", "m"]
    assert len({frozenset(body) | frozenset(body["error"]) for body in bodies}) == 3


def test_no_stream(chat, web):
    assert no_stream(web) is None, "nobody knows before the answer"
    assert no_stream(replace(web, response=Response(200))) == "the response is no stream"
    assert no_stream(replace(web, response=SSE)) is None
    assert no_stream(chat()) == "the request asks for no stream"


def test_no_answer(chat, web):
    assert no_answer(web) == "the exchange speaks no known model protocol"
    assert no_answer(chat()) is None
    assert no_answer(chat(response=Response(429))) == "the response has status 429"


def test_what_the_provider_keeps_is_named_by_its_own_members(chat):
    def named(protocol: str, **document: object) -> tuple[str, str] | None:
        request = replace(chat().request, body=json.dumps(document).encode())
        return kept_by_provider(replace(chat(), protocol=protocol, request=request))

    assert named("openai_responses", previous_response_id="resp_1") == ("previous_response_id", "resp_1")
    assert named("openai_responses", conversation={"id": "conv_1"}) == ("conversation", "conv_1")
    assert named("interactions", previous_interaction_id="i1") == ("previous_interaction_id", "i1")
    for protocol, document in (
        ("openai_responses", {"previous_response_id": None, "conversation": {}}),
        ("openai_responses", {"previous_response_id": 7}),
        ("openai_chat", {"previous_response_id": "resp_1"}),
    ):
        assert named(protocol, **document) is None
