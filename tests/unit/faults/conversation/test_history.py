"""What a history is read as, and that nothing is made of one that is not all there."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from faultwire.faults.conversation import _history
from faultwire.faults.conversation._history import Unreadable, is_as_sent, read, rearranged


def understood(api, session, history, **more):
    return session("history_truncated").understood(*api.request(history, **more))


def test_turns_and_rounds_hold_calls_with_their_results(api, session):
    history = read(understood(api, session, api.history(2)))
    turns = history.turns()
    assert len(turns) == 3
    assert turns[0].start == len(api.before)
    assert all(history.is_paired(turn) for turn in turns)
    first, second = history.rounds(turns[0])
    assert history.is_paired(first)
    assert history.messages[first.start].kind == "model"
    assert history.messages[second.start].kind == "model"
    called = range(first.start, first.stop - 1)
    assert not history.is_paired(called), "the control: a call without its result is no pair"


def test_the_same_beginning_has_the_same_digests_and_another_one_has_not(api, session):
    longer, shorter = (read(understood(api, session, api.history(n))) for n in (2, 1))
    size = len(shorter.digests)
    assert longer.digests[:size] == shorter.digests
    assert read(understood(api, session, api.history(1, asked=9))).digests[-1] != shorter.digests[-1]
    assert read(understood(api, session, api.history(1, asked=9))).digests[-2] == shorter.digests[-2]


def test_marks_for_caching_and_ids_change_no_digest(session):
    from tests.unit.faults.conversation.conftest import APIS

    api = APIS["anthropic"]
    plain = api.history(1)
    marked = json.loads(json.dumps(plain))
    block = {"type": "text", "text": marked[-1]["content"], "cache_control": {"type": "ephemeral"}}
    marked[-1]["content"] = [block]
    assert read(understood(api, session, marked)).digests == read(understood(api, session, plain)).digests


@pytest.mark.parametrize(
    ("more", "why"),
    [
        ({"previous_response_id": "resp_1"}, "the provider keeps the conversation"),
        ({"conversation": "conv_1"}, "the provider keeps the conversation"),
        ({"input": [{"type": "item_reference", "id": "msg_1"}]}, "an item of type `item_reference`"),
        ({"input": [{"role": "stranger", "content": "x"}]}, "a message of role `stranger`"),
    ],
)
def test_a_history_that_is_not_all_there_is_not_read(responses, session, more, why):
    exchange = understood(responses, session, responses.history(1), **more)
    with pytest.raises(Unreadable, match=why):
        read(exchange)


def test_a_protocol_that_is_not_known_has_no_history(chat, session):
    exchange = replace(understood(chat, session, chat.history(1)), protocol="ollama")
    with pytest.raises(Unreadable, match="no history that is known"):
        read(exchange)


def test_messages_keep_their_bytes_and_the_length_fits(api, session):
    head, body = api.request(api.history(1))
    exchange = session("history_truncated").understood(head, body)
    order = range(len(api.history(1)) - 1, -1, -1)
    made = rearranged(replace(exchange.request, body=body), exchange.protocol, list(order))
    document = json.loads(made.body)
    assert document == {**json.loads(body), api.array: api.history(1)[::-1]}
    assert dict(made.headers)["content-length"] == str(len(made.body))


def test_a_history_that_somebody_moved_is_not_as_it_was_sent(chat, session):
    exchange = understood(chat, session, [*chat.history(0)[:1], *say("one"), *say("two"), *say("three")])
    history = read(exchange)
    swapped = [*chat.before, *say("two"), *say("one"), *say("three")]
    worded = [*chat.before, *say("other"), *say("two"), *say("three")]
    for changed, same in ((swapped, False), (worded, True), (worded[:-1], False)):
        now = read(exchange, chat.request(changed)[1])
        assert is_as_sent(history, now) is same


def say(words: str) -> list[dict[str, str]]:
    return [{"role": "user", "content": words}, {"role": "assistant", "content": f"{words}?"}]


def test_every_protocol_with_a_history_is_known():
    assert set(_history.ARRAYS) == {"openai_chat", "openai_responses", "anthropic", "gemini"}
