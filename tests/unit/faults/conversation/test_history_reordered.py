from __future__ import annotations

import json

from faultwire.faults.conversation.history_reordered import HistoryReordered


def test_two_older_turns_change_places_with_all_that_belongs_to_them(api, session):
    request = api.request(api.history(2))
    sent, (line,) = session("history_reordered").send(*request)
    assert sent == {
        **json.loads(request[1]),
        api.array: [*api.before, *api.turn(2), *api.turn(1), api.turn(3)[0]],
    }
    moved = 2 * len(api.turn(1))
    assert line.effect == f"turns swapped: {moved} of {len(api.history(2))} messages stand elsewhere"


def test_the_turn_that_is_to_be_answered_stays_the_last(api, session):
    sent, (line,) = session("history_reordered").send(*api.request(api.history(1)))
    assert sent[api.array] == api.history(1)
    assert line.outcome == "no_effect"


def test_rounds_of_the_newest_turn_change_places(chat, session):
    rounds = [chat.turn(n)[1:3] for n in (1, 2)]
    history = [*chat.history(0), *rounds[0], *rounds[1]]
    sent, (line,) = session("history_reordered", {"of": "rounds"}).send(*chat.request(history))
    assert sent["messages"] == [*chat.history(0), *rounds[1], *rounds[0]]
    assert line.effect == "rounds of calls swapped: 4 of 6 messages stand elsewhere"


def test_they_stay_swapped_in_this_conversation_and_in_no_other(api, session):
    one = session("history_reordered", trigger={"max_times": 1})
    one.send(*api.request(api.history(2)))
    sent, (line,) = one.send(*api.request(api.history(3)))
    assert sent[api.array] == [*api.before, *api.turn(2), *api.turn(1), *api.turn(3), api.turn(4)[0]]
    assert line.effect is not None
    assert line.effect.endswith(", as in an earlier request")
    other = [*api.before, *api.turn(2), *api.turn(1), api.turn(9)[0]]
    assert one.send(*api.request(other))[0][api.array] == other


def test_which_ones_is_up_to_the_seed_and_the_history(chat, session):
    def order(seed: int) -> str:
        return json.dumps(session("history_reordered", seed=seed).send(*chat.request(chat.history(4)))[0])

    assert len({order(seed) for seed in range(12)}) == 3, "the control: three pairs of four turns"
    assert all(order(seed) == order(seed) for seed in range(12))


def test_turns_that_are_swapped_are_not_swapped_back(chat, session):
    """An entry that fires on each request swaps others."""
    one = session("history_reordered")
    sent = [one.send(*chat.request(chat.history(n)))[0]["messages"] for n in (2, 3, 4)]
    for messages in sent:
        questions = [m["content"] for m in messages if m["role"] == "user"]
        assert questions.index("question 2") < questions.index("question 1")


def test_of_a_call_and_its_result_neither_stands_alone(api, session):
    for seed in range(6):
        sent, _ = session("history_reordered", seed=seed).send(*api.request(api.history(4)))
        document = json.dumps(sent)
        for n in range(1, 5):
            assert (
                document.index(f"question {n}") < document.index(f"found {n}") < document.index(f"answer {n}")
            )


def test_a_history_of_rounds_that_are_split_is_left_alone(chat, session):
    calls, results = ([chat.turn(n)[at] for n in (1, 2, 3)] for at in (1, 2))
    history = [*chat.history(0), calls[0], results[0], calls[1], results[2], calls[2], results[1]]
    sent, (line,) = session("history_reordered", {"of": "rounds"}).send(*chat.request(history))
    assert sent["messages"] == history
    assert line.reason == "a tool's call and its result do not stand in one of the rounds"


def test_it_is_a_fault_on_requests():
    assert HistoryReordered.site == "request"
