"""Requests of a session read one after the other: what they say is what each says alone."""

import json
from dataclasses import replace

import pytest
from tests.unit.checks.bent import bent

from faultwire import wire
from faultwire.events import Delivery, Recorded, Request
from faultwire.wire.openai.chat import OpenAIChat

CALL = {"id": "c1", "type": "function", "function": {"name": "search", "arguments": '{"q": "x"}'}}
TALK = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": "How many?"},
    {"role": "assistant", "content": None, "tool_calls": [CALL]},
    {"role": "tool", "tool_call_id": "c1", "content": "391"},
    {"role": "assistant", "content": "391."},
    {"role": "user", "content": "Sure?"},
]


def asking(body, protocol="openai_chat"):
    data = body if isinstance(body, bytes) else json.dumps({"model": "m", "messages": body}).encode()
    request = Request("POST", "https", "api.openai.com", 443, "/v1/chat/completions", (), data)
    answer = Delivery(200, "OK", (("content-type", "application/json"),), b"{}")
    return Recorded(
        "s", 1, "llm", protocol, "openai", None, request, answer, answer, "complete", None, 0, 0, 1.0
    )


def read(*bodies, protocol="openai_chat"):
    """What is told by each, read in this order; and that it is the same as what each tells alone."""
    earlier = wire.ConversationHistory()
    exchanges = [asking(body, protocol) for body in bodies]
    told = [wire.transcript_of(one, earlier=earlier) for one in exchanges]
    assert told == [wire.transcript_of(one) for one in exchanges]
    return [one.request.turns if one is not None and one.request is not None else None for one in told]


def shared(one, other):
    return sum(any(turn is known for known in one) for turn in other)


def test_what_was_read_is_not_read_again():
    first, second, third = read(TALK[:2], TALK[:4], TALK)
    assert shared(first, second) == 0, "the model had not spoken"
    assert shared(second, third) == 2, "the question and the call"
    assert third[2].tool_results[0].path == ("messages", 3, "content")
    assert [turns[2].tool_results[0].new for turns in (second, third)] == [True, False]


def test_the_same_request_again_is_not_read_at_all():
    one, again = read(TALK, TALK)
    assert one is again
    one, _, later = read(TALK, TALK[:2], TALK)
    assert shared(one, later) == 4, "up to the model's last word"


@pytest.mark.parametrize(
    "other",
    [
        [TALK[0], {"role": "user", "content": "How much?"}, *TALK[2:]],
        TALK[1:],
        [*TALK[:2], *TALK[4:]],
        [TALK[0], *TALK],
        TALK[:2],
        [],
    ],
)
def test_another_conversation_is_read_whole(other):
    one, two = read(TALK, other)
    assert shared(one, two) == 0


def test_conversations_at_the_same_time():
    mine, yours = TALK, [{"role": "user", "content": "And yours?"}, *TALK[2:]]
    turns = read(mine[:4], yours[:3], mine, yours)
    assert (shared(turns[0], turns[2]), shared(turns[1], turns[3])) == (2, 2)


def test_no_more_than_a_few_are_kept():
    several = [[{"role": "user", "content": str(at)}, *TALK[2:]] for at in range(6)]
    turns = read(*several, TALK[:2], *several[::-1])
    assert [shared(turns[at], turns[-1 - at]) for at in range(6)] == [0, 0, 4, 4, 4, 4]


def test_system_prompts_and_what_is_no_message_keep_their_places():
    odd = [None, *TALK[:3], {"role": "developer", "content": "Now in verse."}, 7, *TALK[3:]]
    turns = read(odd[:5], odd)
    assert turns[1][2].tool_results[0].path == ("messages", 6, "content")


@pytest.mark.parametrize("depth", [300, 1010])
def test_values_that_are_nested_deeply(depth):
    deep = b"[" * depth + b"]" * depth
    head = b'{"messages":[{"role":"user","content":' + deep + b'},{"role":"assistant","content":"x"}'
    one, two = read(head + b"]}", head + b',{"role":"user","content":"y"}]}')
    assert one is not None
    assert len(two) == 3


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b'{"messages": 1}', b'{"messages": [], "messages": 0}'])
def test_what_cannot_be_read_stays_so(body):
    _, nothing, turns = read(TALK[:5], body, TALK)
    assert nothing is None
    assert len(turns) == 5


@pytest.mark.parametrize("name", [name for name in wire.protocols() if name != "openai_chat"])
def test_a_protocol_that_shares_nothing_reads_the_same(name):
    body = json.dumps({"model": "m", "messages": TALK, "input": "x", "max_tokens": 1}).encode()
    assert len(read(body, body, protocol=name)) == 2


def test_one_that_is_made_of_another_reads_in_its_own_way():
    class Mine(OpenAIChat):
        name = "mine"

        def request_view(self, body):
            return replace(super().request_view(body), model="mine")

    request = asking(TALK).request
    assert Mine().transcript_after(request, wire.ConversationHistory()) == Mine().transcript(request)
    assert Mine().transcript_after(request, wire.ConversationHistory()).model == "mine"


def test_bent_histories_get_the_same_verdicts():
    for history in bent(80):
        earlier = wire.ConversationHistory()
        for exchange in history.exchanges:
            assert wire.transcript_of(exchange, earlier=earlier) == wire.transcript_of(exchange)
