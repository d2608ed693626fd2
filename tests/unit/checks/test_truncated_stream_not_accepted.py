import pytest

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
