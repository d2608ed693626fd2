from dataclasses import replace

import pytest

from faultwire.checks.recovers_within import RecoversWithin
from faultwire.events import Delivery


@pytest.mark.parametrize(
    ("settings", "expected"),
    [({"max_s": 2}, "pass"), ({"max_s": 1.9}, "fail"), ({"max_s": 9, "max_exchanges": 1}, "fail")],
)
def test_two_failures_and_a_success(verdict, wire, settings, expected):
    exchanges = [
        wire.talk(1, status=503),
        wire.talk(2, status=503),
        wire.used(3),
        wire.talk(3, started_ms=3000),
    ]
    assert verdict(RecoversWithin(**settings), exchanges).verdict == expected


def test_another_tool_is_no_recovery(verdict, wire):
    found = verdict(RecoversWithin(max_s=9), [wire.used(1, status=500), wire.used(2, "other"), wire.talk(3)])
    assert (found.verdict, found.exchanges) == ("fail", (1,))


def test_without_a_failure_nothing_is_known(verdict, wire):
    assert verdict(RecoversWithin(max_s=1), [wire.talk(1)]).verdict == "unknown"
    assert verdict(RecoversWithin(max_s=1, negate=True), []).verdict == "unknown"


def test_a_good_status_without_an_answer_is_a_failure_of_the_model(verdict, wire):
    check = RecoversWithin(max_s=5)
    nothing = replace(wire.talk(1), delivered=Delivery(200, "", (), b""))
    found = verdict(check, [nothing])
    assert found.verdict == "fail"
    assert found.explanation.endswith("responded without a body, and nothing like it succeeded afterwards")
    assert verdict(check, [nothing, wire.talk(2)]).verdict == "pass"
    assert verdict(check, [wire.talk(1)]).verdict == "unknown"
