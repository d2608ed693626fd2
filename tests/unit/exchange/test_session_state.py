"""What a session remembers: calls and their attempts, counts, rewrites; all of it bounded."""

from __future__ import annotations

import pytest

from faultwire import wire
from faultwire.events import Exchange, Request
from faultwire.exchange.logical_call import OPEN, UNDECLARED
from faultwire.exchange.session_state import KEPT, PlantedCanary, SessionState, Subject
from faultwire.wire.types import Rewrite

FIRE = ("fire", "because", None)
SKIP = ("skip", "because", None)


def sent(state: SessionState, key: str = "k", retry: str | None = None) -> tuple[int, int]:
    """Send a request; returns the number of its logical call and of its attempt."""
    headers = () if retry is None else (("X-Stainless-Retry-Count", retry),)
    exchange = Exchange("s", state.number(), Request("POST", "https", "h", 443, "/", headers), key=key)
    found = state.identify(exchange, declared=wire.attempt(exchange.request, None))
    return found.n, found.attempt


def test_exchanges_are_numbered_from_one():
    state = SessionState()
    assert [state.number() for _ in range(3)] == [1, 2, 3]


def test_the_same_request_again_is_another_call():
    state = SessionState()
    assert [sent(state), sent(state), sent(state, "other"), sent(state)] == [(0, 0), (1, 0), (0, 0), (2, 0)]


def test_an_sdk_that_counts_its_retries_is_believed():
    state = SessionState()
    assert [sent(state, retry=r) for r in ("0", "1", "2", "0", "1")] == [
        (0, 0),
        (0, 1),
        (0, 2),
        (1, 0),
        (1, 1),
    ]


def test_an_sdk_that_counts_is_believed_when_it_states_that_this_is_new():
    state = SessionState()
    sent(state, retry="0")
    state.mark_failed("k", 0)
    assert sent(state, retry="0") == (1, 0)


@pytest.mark.parametrize("count", ["1", "7", "x", "-1", "9" * 5000, "\uff11"])
def test_a_retry_of_nothing_is_a_new_call(count):
    assert sent(SessionState(), retry=count) == (0, 0)


def test_without_a_counter_the_same_request_after_a_fault_is_its_retry():
    state = SessionState()
    assert sent(state) == (0, 0)
    state.mark_failed("k", 0)
    assert sent(state) == (0, 1)
    assert sent(state) == (1, 0), "the retry was not broken"


def test_another_request_after_a_fault_is_no_retry():
    state = SessionState()
    sent(state)
    state.mark_failed("k", 0)
    assert sent(state, "other") == (0, 0)
    assert sent(state) == (0, 1)


def test_without_a_counter_a_call_is_not_retried_forever():
    state = SessionState()
    found = []
    for _ in range(2 * (UNDECLARED + 1)):
        n, attempt = sent(state)
        found.append((n, attempt))
        state.mark_failed("k", n)
    assert found == [(n, attempt) for n in (0, 1) for attempt in range(UNDECLARED + 1)]


@pytest.mark.parametrize("retry", ["1", None])
def test_of_two_calls_at_once_the_broken_one_is_retried(retry):
    state = SessionState()
    first = "0" if retry else None
    assert [sent(state, retry=first), sent(state, retry=first)] == [(0, 0), (1, 0)]
    state.mark_failed("k", 0)
    assert sent(state, retry=retry) == (0, 1)


def test_of_two_broken_calls_each_is_retried_once():
    state = SessionState()
    for n in (0, 1):
        assert sent(state, retry="0") == (n, 0)
        state.mark_failed("k", n)
    assert [sent(state, retry="1"), sent(state, retry="1")] == [(0, 1), (1, 1)]
    state.mark_failed("k", 1)
    assert sent(state, retry="2") == (1, 2)


def test_a_retry_that_no_fault_caused_belongs_to_the_latest_call():
    state = SessionState()
    sent(state, retry="0")
    state.mark_failed("k", 0)
    sent(state, retry="1")
    sent(state, retry="2")
    assert sent(state, retry="0") == (1, 0)
    assert sent(state, retry="1") == (1, 1)


def test_a_counted_retry_belongs_to_the_call_that_was_tried_as_often():
    state = SessionState()
    assert [sent(state, retry=r) for r in ("0", "1", "0")] == [(0, 0), (0, 1), (1, 0)]
    assert sent(state, retry="2") == (0, 2)
    assert sent(state, retry="9") == (1, 1), "attempts that never came this far leave the latest call"


def test_a_breakage_of_a_forgotten_call_is_ignored():
    state = SessionState()
    state.mark_failed("never seen", 0)
    assert sent(state, "never seen") == (0, 0)


def test_occurrences_count_from_zero():
    state = SessionState()
    assert [state.occurrence("a"), state.occurrence("a"), state.occurrence("b")] == [0, 1, 0]


def test_attempts_of_a_call_count_once():
    state = SessionState()
    state.note("e", Subject("k", 0, 0), FIRE)
    state.note("e", Subject("k", 0, 1), FIRE)
    state.note("e", Subject("k", 1, 0), SKIP)
    assert state.counts("e") == (2, 1)
    assert state.counts("other") == (0, 0)


def test_a_judgement_is_kept_for_the_attempts_of_its_call_only():
    state = SessionState()
    state.note("e", Subject("k", 0, 0), FIRE)
    assert state.decided("e", Subject("k", 0, 1)) == FIRE
    assert state.decided("e", Subject("k", 0, 0)) is None
    assert state.decided("e", Subject("k", 1, 1)) is None
    assert state.decided("f", Subject("k", 0, 1)) is None


def test_rewrites_are_remembered_with_those_let_through():
    state = SessionState()
    state.remember("call_1", Rewrite("Error: x", True))
    state.remember("call_2", None)
    assert dict(state.rewrites) == {"call_1": Rewrite("Error: x", True), "call_2": None}


def test_memory_is_bounded():
    state = SessionState()
    for i in range(KEPT + 10):
        state.remember(f"call_{i}", None)
        state.note("e", Subject(f"k{i}", 0, 0), FIRE)
        sent(state, f"k{i}")
    assert len(state.rewrites) == len(state._decided) == len(state._calls) == KEPT
    assert "call_0" not in state.rewrites
    assert f"call_{KEPT + 9}" in state.rewrites
    assert state.counts("e") == (KEPT + 10, KEPT + 10), "counts are not forgotten"


def test_judgements_of_a_call_are_forgotten_together_and_are_bounded_however_many_entries_there_are():
    state = SessionState()
    for call in range(20):
        for entry in range(KEPT // 8):
            state.note(f"e{entry}", Subject("k", call, 0), SKIP)
            state.note(f"e{entry}", Subject("k", call, 0), FIRE)  # once more: it counts, and takes no room
    assert sum(map(len, state._decided.values())) == KEPT == state._judgements
    assert state.decided("e0", Subject("k", 11, 1)) is None
    assert state.decided("e0", Subject("k", 12, 1)) == FIRE
    large = SessionState()
    for entry in range(KEPT + 5):
        large.note(f"e{entry}", Subject("k", 0, 0), SKIP)
    assert large.decided("e0", Subject("k", 0, 1)) == SKIP, "a call's own judgements are never cut apart"
    large.note("e", Subject("k", 1, 0), SKIP)
    assert large._judgements == 1


def test_the_oldest_of_many_open_calls_is_forgotten():
    state = SessionState()
    assert [sent(state, retry="0") for _ in range(OPEN)] == [(n, 0) for n in range(OPEN)]
    state.mark_failed("k", 0)
    assert sent(state) == (0, 1), "so many are told apart"
    state.mark_failed("k", 0)
    assert sent(state, retry="0") == (OPEN, 0)
    assert sent(state) == (OPEN + 1, 0), "the first is forgotten, with its failure"
    state.mark_failed("k", 1)
    assert sent(state) == (OPEN + 2, 0), "and by now the second"
    state.mark_failed("k", 3)
    assert sent(state) == (3, 1)


# ---------------------------------------------------------------- what faults keep


def test_the_first_fire_of_an_entry_is_remembered_with_its_instant():
    state = SessionState()
    state.note("e", Subject("k", 0, 0), SKIP, 1.0)
    assert state.begun("e") is None
    state.note("e", Subject("k", 1, 0), FIRE, 2.5)
    state.note("e", Subject("k", 2, 0), FIRE, 9.0)
    assert state.begun("e") == (2, 2.5)
    state.note("other", Subject("k", 0, 0), FIRE)
    assert state.begun("other") == (1, 0.0), "the session's first instant where none is given"


def test_each_entry_has_a_memory_of_its_own():
    state = SessionState()
    state.memory("a")["x"] = 1
    assert state.memory("a") == {"x": 1}
    assert state.memory("b") == {}


def test_a_tools_earlier_result_is_given_back():
    state = SessionState()
    assert [state.swap_result("t", text) for text in ("a", "b", "c")] == [None, "a", "b"]
    assert state.swap_result("other", "x") is None


def test_canaries_are_kept_and_bounded():
    state = SessionState()
    planted = PlantedCanary("e", "bait", "result", 1)
    for i in range(KEPT + 5):
        state.plant(f"c{i}", planted)
    assert len(state.canaries) == KEPT
    state.plant(f"c{KEPT}", PlantedCanary("later", "bait", "result", 9))
    assert state.canaries[f"c{KEPT}"] is planted, "the first exchange in which it went out counts"


# ---------------------------------------------------------------- what came of a decision


def test_a_decision_that_came_to_nothing_gives_its_place_back_once():
    state, subject = SessionState(), Subject("k", 0, 0)
    state.note("e", subject, FIRE)
    assert state.counts("e") == (1, 1)
    for _ in range(2):
        state.record_outcome("e", subject, fired=False)
    assert state.counts("e") == (1, 0)
    assert state.slot_released("e", subject)
    state.note("e", Subject("k", 0, 1), FIRE)
    assert state.counts("e") == (1, 1), "its retry takes one again"
    state.record_outcome("e", Subject("k", 0, 1), fired=True)
    state.record_outcome("e", Subject("k", 0, 2), fired=False)
    assert state.counts("e") == (1, 1), "what one attempt met, the call has met"
    assert not state.slot_released("e", subject)


def test_a_retry_that_does_not_fire_takes_no_place():
    state, subject = SessionState(), Subject("k", 0, 0)
    state.note("e", subject, FIRE)
    state.record_outcome("e", subject, fired=False)
    state.note("e", Subject("k", 0, 1), SKIP)
    assert state.counts("e") == (1, 0)
    assert state.slot_released("e", subject)


@pytest.mark.parametrize("met", [(0, 1), (1, 0), (0, 0), (1, 1), (0, 1, 0), (0, 0, 1), (1, 0, 0)])
def test_a_place_is_kept_or_given_back_in_whichever_order_attempts_end(met):
    """A client that gives up and tries again leaves two attempts under way at once."""
    state = SessionState()
    for attempt in range(len(met)):
        state.note("e", Subject("k", 0, attempt), FIRE)
    for attempt, one in enumerate(met):
        state.record_outcome("e", Subject("k", 0, attempt), fired=bool(one))
    assert state.counts("e") == (1, int(any(met)))
    assert state.slot_released("e", Subject("k", 0, 0)) is not any(met)


def test_what_nobody_looked_at_is_sent_again_below_an_sdk_with_its_count_unchanged():
    state = SessionState()
    assert sent(state, retry="0") == (0, 0)
    state.mark_failed("k", 0, seen=False)
    assert sent(state, retry="0") == (0, 1)
    state.mark_failed("k", 0, seen=False)
    assert sent(state, retry="1") == (0, 2), "the SDK repeats it as well, and counts only its own"
    assert sent(state, retry="0") == (1, 0), "that one was looked at"
    assert sent(state, retry="2") == (0, 3)


def test_below_an_sdk_a_call_is_not_sent_again_forever():
    state = SessionState()
    found = []
    for _ in range(UNDECLARED + 2):
        n, attempt = sent(state, retry="0")
        found.append((n, attempt))
        state.mark_failed("k", n, seen=False)
    assert found == [*((0, attempt) for attempt in range(UNDECLARED + 1)), (1, 0)]


@pytest.mark.parametrize("first", [0, 1])
def test_of_two_identical_calls_nobody_looked_at_each_is_sent_again_in_any_order(first):
    """The same calls and attempts, whichever of them arrives when."""
    state = SessionState()
    found = []
    if first:
        found += [sent(state, retry="0"), sent(state, retry="0")]
        state.mark_failed("k", 0, seen=False)
        found.append(sent(state, retry="0"))
    else:
        found.append(sent(state, retry="0"))
        state.mark_failed("k", 0, seen=False)
        found += [sent(state, retry="0"), sent(state, retry="0")]
    assert sorted(found) == [(0, 0), (0, 1), (1, 0)]
