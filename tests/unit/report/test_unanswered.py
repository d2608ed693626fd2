from dataclasses import replace

import pytest
from tests.unit.checks.conftest import call, result, said, talk, user

from faultwire.events import AgentResult, Delivery, History
from faultwire.report.unanswered import EARLIER, SAY_SO, unanswered

GARBAGE = Delivery(200, "", (("content-type", "application/json"),), b"\xff\xfe")


def found(*exchanges, code=0):
    return unanswered(History("exec", exchanges, AgentResult("", code, 0.0)))


def garbage(number, **changes):
    return replace(talk(number, **changes), delivered=GARBAGE)


def test_a_last_call_without_an_answer():
    seen = found(garbage(1), garbage(2))
    assert seen.evidence.exchanges == (2,)
    assert seen.evidence.words == (
        "`api.openai.com/v1/chat/completions` answered 200 with a body that could not be read, no call of a "
        "model succeeded after it, and the command exited 0"
    )
    assert seen.action == SAY_SO


def test_calls_that_failed_in_several_ways_and_at_once():
    beside = garbage(1, duration_ms=5000.0)
    assert found(beside, talk(2, status=503)).evidence.exchanges == (1,)


@pytest.mark.parametrize(
    ("exchanges", "code"),
    [
        ((garbage(1), talk(2)), 0),
        ((garbage(1), garbage(2)), 1),
        ((talk(1),), 0),
        ((talk(1, duration_ms=5000.0), garbage(2)), 0),
        ((), 0),
    ],
    ids=["retried", "reported", "answered", "beside it", "nothing"],
)
def test_calls_that_were_answered_or_whose_failure_was_reported(exchanges, code):
    assert found(*exchanges, code=code) is None


def test_a_call_after_the_answer_is_not_said_to_look_like_success():
    assert found(talk(1), talk(2, [user("A title?")], status=503)).action == EARLIER
    step = [user(), said("", call("search")), result("391")]
    failed = talk(2, step, status=503)
    assert found(talk(1, answer="", calls=[call("search")]), failed).action == SAY_SO
    history = [user(), said("391"), user("Sure?")]
    assert found(talk(1, answer="391"), talk(2, history, status=503)).action == SAY_SO
