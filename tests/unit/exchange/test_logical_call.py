"""`exchange.logical_call`: which call a request repeats, and that few are kept."""

from __future__ import annotations

from faultwire.exchange.logical_call import OPEN, UNDECLARED, LogicalCall


def test_of_many_open_calls_the_oldest_are_forgotten() -> None:
    call = LogicalCall()
    for _ in range(OPEN + 3):
        call.stated[call.begin()] = 0
    assert len(call.attempts) == OPEN
    assert min(call.attempts) == 3
    assert call.retried(1) == OPEN + 2, "the latest like it"


def test_a_repeated_request_is_a_retry_only_of_a_call_that_failed_and_not_for_ever() -> None:
    call = LogicalCall()
    number = call.begin()
    assert call.retried(None) is None
    call.broken[number] = True
    assert call.retried(None) == number
    call.attempts[number] = UNDECLARED
    assert call.retried(None) is None
