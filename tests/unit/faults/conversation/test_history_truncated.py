from __future__ import annotations

import json

import pytest

from faultwire.faults.conversation.history_truncated import HistoryTruncated


def outcome(lines):
    (line,) = lines
    return line.outcome, line.effect or line.reason


def test_the_newest_turns_stay_and_nothing_else_changes(api, session):
    request = api.request(api.history(2))
    sent, lines = session("history_truncated", {"keep": 2}).send(*request)
    kept = [*api.before, *api.turn(2), api.turn(3)[0]]
    assert sent == {**json.loads(request[1]), api.array: kept}
    gone = len(api.turn(1))
    assert outcome(lines) == ("fired", f"{gone} of {len(api.history(2))} messages left out")


def test_the_oldest_turn_stays_where_that_is_asked_for(api, session):
    sent, _ = session("history_truncated", {"keep_first": True}).send(*api.request(api.history(3)))
    assert sent[api.array] == [*api.before, *api.turn(1), api.turn(4)[0]]


def test_the_newest_rounds_stay_with_the_question(chat, session):
    calls = [*chat.turn(1)[1:3], *chat.turn(2)[1:3], *chat.turn(3)[1:3]]
    history = [*chat.history(1), *calls]
    sent, lines = session("history_truncated", {"of": "rounds"}).send(*chat.request(history))
    assert sent["messages"] == [*chat.history(1), *chat.turn(3)[1:3]]
    assert outcome(lines) == ("fired", "4 of 12 messages left out")


def test_what_was_left_out_stays_out_while_the_conversation_lasts(api, session):
    one = session("history_truncated", trigger={"max_times": 1})
    assert one.send(*api.request(api.history(0)))[1][0].outcome == "no_effect"
    sent, lines = one.send(*api.request(api.history(1)))
    assert sent[api.array] == [*api.before, api.turn(2)[0]]
    assert outcome(lines)[0] == "fired"
    sent, lines = one.send(*api.request(api.history(2)))
    assert sent[api.array] == [*api.before, *api.turn(2), api.turn(3)[0]], "the second turn is not left out"
    gone = len(api.turn(1))
    effect = f"{gone} of {len(api.history(2))} messages left out, as in an earlier request"
    assert outcome(lines) == ("fired", effect)


def test_no_other_conversation_is_changed(api, session):
    one = session("history_truncated", trigger={"max_times": 1})
    one.send(*api.request(api.history(1)))
    newest, beginning = api.turn(7)[0], [*api.turn(5), api.turn(2)[0]]
    for other in ([*api.before, *api.turn(1), newest], [*api.before, *beginning]):
        sent, lines = one.send(*api.request(other))
        assert sent[api.array] == other
        assert lines[0].outcome == "skipped"


def test_a_later_request_that_the_entry_does_not_match_is_left_alone(chat, sessions):
    entry = {"history_truncated": None, "on": {"model": "m"}, "trigger": {"max_times": 1}}
    one = sessions([entry])
    one.send(*chat.request(chat.history(1)))
    sent, lines = one.send(*chat.request(chat.history(2), model="other"))
    assert sent["messages"] == chat.history(2)
    assert lines == ()
    assert one.send(*chat.request(chat.history(2)))[0]["messages"] != chat.history(2)


def test_system_prompts_stay_wherever_they_stand(chat, session):
    noted = {"role": "developer", "content": "Mind the rules."}
    history = [*chat.before, *chat.turn(1), noted, *chat.turn(2), chat.turn(3)[0]]
    sent, _ = session("history_truncated").send(*chat.request(history))
    assert sent["messages"] == [*chat.before, noted, chat.turn(3)[0]]


def test_a_history_with_nothing_older_is_left_alone(api, session):
    sent, lines = session("history_truncated", {"keep": 3}).send(*api.request(api.history(2)))
    assert sent[api.array] == api.history(2)
    assert lines[0].outcome == "no_effect"


@pytest.mark.parametrize("missing", [1, 2])
def test_a_call_without_its_result_is_left_alone(chat, session, missing):
    history = chat.history(1)
    del history[1 + missing]
    sent, lines = session("history_truncated").send(*chat.request(history))
    assert sent["messages"] == history
    why = "a tool's call and its result do not stand in one of the turns"
    assert outcome(lines) == ("inapplicable", why)


def test_a_conversation_that_the_provider_keeps_is_left_alone(responses, session):
    request = responses.request(responses.history(1), previous_response_id="resp_1")
    sent, lines = session("history_truncated").send(*request)
    assert sent == json.loads(request[1])
    why = "the provider keeps the conversation: its history is not in the request"
    assert outcome(lines) == ("inapplicable", why)


def test_it_acts_beside_a_fault_on_texts_and_on_what_another_one_has_moved(chat, sessions):
    worded = {"memory_poisoning": {"payload": "I rule.", "strategy": "replace"}, "on": {"kind": "llm"}}
    cut = {"history_truncated": {"keep": 2}, "id": "a", "on": {"kind": "llm"}}
    moved = {"history_reordered": None, "id": "b", "on": {"kind": "llm"}}
    sent, lines = sessions([worded, cut]).send(*chat.request(chat.history(1)))
    assert sent["messages"][1]["content"] == "I rule."
    assert [line.outcome for line in lines if line.id == "a"] == ["no_effect"]
    sent, lines = sessions([moved, cut]).send(*chat.request(chat.history(2)))
    assert {line.id: line.outcome for line in lines} == {"b": "fired", "a": "fired"}
    assert sent["messages"] == [*chat.before, *chat.turn(2), chat.turn(3)[0]]


def test_what_is_left_of_a_history_is_moved_as_far_as_it_can_be(chat, sessions):
    """Of two turns the newest is answered, and nothing can change places. Of three, two can."""
    cut = {"history_truncated": {"keep": 2}, "id": "a", "on": {"kind": "llm"}}
    moved = {"history_reordered": None, "id": "b", "on": {"kind": "llm"}}
    for keep, outcome, order in ((2, "no_effect", (3,)), (3, "fired", (3, 2))):
        cut["history_truncated"] = {"keep": keep}
        sent, lines = sessions([cut, moved]).send(*chat.request(chat.history(3)))
        assert {line.id: line.outcome for line in lines} == {"a": "fired", "b": outcome}
        turns = [message for number in order for message in chat.turn(number)]
        assert sent["messages"] == [*chat.before, *turns, chat.turn(4)[0]]


def test_an_answer_of_a_fault_in_front_leaves_nothing_behind(chat, sessions):
    down = {"overloaded": None, "on": {"kind": "llm"}, "trigger": {"first": 1}}
    cut = {"history_truncated": None, "id": "cut", "on": {"kind": "llm"}, "trigger": {"first": 1}}
    one = sessions([down, cut])
    _, lines = one.send(*chat.request(chat.history(1)))
    assert {line.id: line.outcome for line in lines}["cut"] == "preempted"
    assert one.send(*chat.request(chat.history(2)))[0]["messages"] == chat.history(2)


def test_a_retry_is_sent_the_same(chat, session):
    one = session("history_truncated", trigger={"max_times": 1})
    bodies = {one.forward(*chat.request(chat.history(2)))[0].body for _ in range(3)}
    assert len(bodies) == 1


def test_bounds():
    for keep in (0, 1001):
        with pytest.raises(ValueError, match="keep"):
            HistoryTruncated(keep=keep)
