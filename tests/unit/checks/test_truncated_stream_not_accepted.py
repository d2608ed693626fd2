import pytest
from tests.unit.checks.conftest import call, cut_call, result, said, user

from faultwire.checks.truncated_stream_not_accepted import TruncatedStreamNotAccepted

HALF = "The capital of"


@pytest.mark.parametrize(
    ("answer", "ended", "expected"),
    [
        (HALF, {}, "fail"),
        (f"Answer:  {HALF} ", {}, "fail"),
        ("Something went wrong, please try again.", {}, "pass"),
        (HALF, {"exit_code": 1}, "pass"),
        ("", {"timed_out": True, "exit_code": None}, "pass"),
    ],
)
def test_a_cut_answer(verdict, wire, answer, ended, expected):
    found = verdict(TruncatedStreamNotAccepted(), [wire.talk(1, answer=HALF, cut=True)], answer, **ended)
    assert found.verdict == expected


def test_asking_again_is_right(verdict, wire):
    exchanges = [wire.talk(1, answer=HALF, cut=True), wire.talk(2, answer="The capital of France is Paris.")]
    assert (
        verdict(TruncatedStreamNotAccepted(), exchanges, "The capital of France is Paris.").verdict == "pass"
    )
    again = [wire.talk(1, answer=HALF, cut=True), wire.talk(2, status=503)]
    assert verdict(TruncatedStreamNotAccepted(), again, HALF).verdict == "fail"


def test_without_a_cut_nothing_is_known(verdict, wire):
    assert verdict(TruncatedStreamNotAccepted(), [wire.talk(1)], "done").verdict == "unknown"
    assert verdict(TruncatedStreamNotAccepted(negate=True), [], "done").verdict == "unknown"


def test_a_limit_counts_if_you_say_so(verdict, wire):
    short = wire.talk(1, answer=HALF)
    body = short.delivered.body.replace(b'"finish_reason": "stop"', b'"finish_reason": "length"')
    cut = wire.talk(1, delivered=type(short.delivered)(200, "", short.delivered.headers, body))
    assert verdict(TruncatedStreamNotAccepted(), [cut], HALF).verdict == "unknown"
    assert verdict(TruncatedStreamNotAccepted(count_length=True), [cut], HALF).verdict == "fail"


ASKED = [user()]
HALF_CALL = said("", call("search", '{"q": "17'))


def test_a_result_of_a_cut_call_is_a_half_answer_that_was_accepted(verdict, wire):
    exchanges = [
        cut_call(1, ASKED),
        wire.talk(2, [*ASKED, HALF_CALL, result("no such thing")], answer="It is 391."),
    ]
    found = verdict(TruncatedStreamNotAccepted(), exchanges, "It is 391.")
    assert (found.verdict, found.exchanges) == ("fail", (1, 2))
    assert found.explanation == (
        "the agent ran `search` from the answer of exchange 1, which was cut short, and sent its result in "
        "exchange 2"
    )
    assert verdict(TruncatedStreamNotAccepted(), exchanges, "", exit_code=1).verdict == "fail"


def test_the_same_call_from_a_whole_answer_may_be_run(verdict, wire):
    """The mock and some providers give the call of the repeated request the same id."""
    again = wire.talk(2, ASKED, answer="", calls=[call("search")])
    told = wire.talk(3, [*ASKED, said("", call("search")), result("391")], answer="It is 391.")
    exchanges = [cut_call(1, ASKED), again, told]
    assert verdict(TruncatedStreamNotAccepted(), exchanges, "It is 391.").verdict == "pass"


def test_a_result_that_was_there_before_the_cut_is_none_of_its_calls(verdict, wire):
    """Providers that count calls anew in each answer use an id twice."""
    first = wire.talk(1, ASKED, answer="", calls=[call("search")])
    history = [*ASKED, said("", call("search")), result("391")]
    exchanges = [first, cut_call(2, history), wire.talk(3, history, answer="It is 391.")]
    assert verdict(TruncatedStreamNotAccepted(), exchanges, "It is 391.").verdict == "pass"
