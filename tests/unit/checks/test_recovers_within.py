from dataclasses import replace

import pytest

from faultwire.checks.recovers_within import RecoversWithin
from faultwire.events import Delivery


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({"max_s": 2}, "pass"),
        ({"max_s": 1.9}, "fail"),
        ({"max_s": 9, "max_exchanges": 1}, "fail"),
        ({"max_s": 9, "max_exchanges": 2}, "pass"),
    ],
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


def test_a_failed_result_inside_of_the_agent_is_not_denied(verdict, wire):
    asked = wire.call("search")
    messages = [wire.user(), wire.said("", asked), wire.result("error: the service is down")]
    exchanges = [wire.talk(1, calls=[asked], answer=None), wire.talk(2, messages)]
    failing = [exchanges[0], replace(exchanges[1], faults=(wire.line(fault="tool_error"),))]
    assert verdict(RecoversWithin(max_s=1), failing).explanation == (
        "no exchange with a model, tool or agent failed; a failed result of a tool inside of the agent is in "
        "#2, and when that tool worked again cannot be measured"
    )
    fine = [wire.user(), wire.said("", asked), wire.result("330 m")]
    assert (
        "nothing to recover from"
        in verdict(RecoversWithin(max_s=1), [exchanges[0], wire.talk(2, fine)]).explanation
    )


def test_a_good_status_without_an_answer_is_a_failure_of_the_model(verdict, wire):
    check = RecoversWithin(max_s=5)
    nothing = replace(wire.talk(1), delivered=Delivery(200, "", (), b""))
    found = verdict(check, [nothing])
    assert found.verdict == "fail"
    assert found.explanation.endswith("responded without a body, and nothing like it succeeded afterwards")
    assert verdict(check, [nothing, wire.talk(2)]).verdict == "pass"
    assert verdict(check, [wire.talk(1)]).verdict == "unknown"


def test_the_longest_of_several_failures_counts_and_all_are_evidence(verdict, wire):
    exchanges = [
        wire.talk(1, status=503),
        wire.talk(2, started_ms=4000),
        wire.talk(3, status=503, started_ms=5000),
        wire.talk(4, started_ms=5500),
    ]
    found = verdict(RecoversWithin(max_s=9), exchanges)
    assert (found.verdict, found.value, found.exchanges) == ("pass", 3.0, (1, 3))
    assert found.explanation == "2 failures, the longest over after 3.00 s"
    late = verdict(RecoversWithin(max_s=2.5), exchanges)
    assert (late.verdict, late.value, late.exchanges) == ("fail", 3.0, (1, 2))


def test_the_place_that_failed_is_named_with_what_it_took(verdict, wire):
    broken = wire.talk(1, status=503, host="one.test")
    found = verdict(RecoversWithin(max_s=0.5), [broken, wire.talk(2, host="two.test", started_ms=3000)])
    assert found.verdict == "fail"
    assert "one.test" in found.explanation
    assert "two.test" not in found.explanation
    assert found.explanation.endswith("failed, and it took 2.00 s until it worked again, allowed are 0.5")


def test_a_response_without_an_answer_is_no_recovery(verdict, wire):
    nothing = replace(wire.talk(2), delivered=Delivery(200, "", (), b""))
    found = verdict(RecoversWithin(max_s=9), [wire.talk(1, status=503), nothing])
    assert (found.verdict, found.exchanges) == ("fail", (1,))


def test_what_is_neither_model_nor_tool_nor_agent_is_not_judged(verdict, wire):
    other = wire.talk(1, status=503, kind="other", protocol=None)
    assert verdict(RecoversWithin(max_s=9), [other, wire.talk(2)]).verdict == "unknown"


FAILED = "no call of a model, tool or agent failed, so there was nothing to recover from"


def test_a_failure_of_another_kind_is_counted_and_not_denied(verdict, wire):
    def words(*exchanges):
        return verdict(RecoversWithin(max_s=9), exchanges).explanation

    other = [wire.talk(n, status=503, kind="other", protocol=None) for n in range(1, 6)]
    assert words(other[0], wire.talk(6)) == f"{FAILED}; 1 other exchange failed (#1), which is not judged"
    assert words(*other[:2]).endswith("; 2 other exchanges failed (#1, #2), which are not judged")
    assert words(*other).endswith("; 5 other exchanges failed (#1, #2, #3, …), which are not judged")
    well = wire.talk(1, kind="other", protocol=None)
    assert words(well, wire.talk(2)) == words() == FAILED


def test_a_question_that_was_not_asked_again_is_named(verdict, wire):
    def words(*exchanges):
        found = verdict(RecoversWithin(max_s=9), exchanges)
        assert found.verdict == "pass"
        return found.explanation

    moon, sun = [wire.user("The moon?")], [wire.user("The sun?")]
    lost = "; a later call succeeded, but the question of #1 was not asked again"
    assert words(wire.talk(1, moon, status=503), wire.talk(2, sun)).endswith(lost)
    both = words(
        wire.talk(1, moon, status=503), wire.talk(2, sun, status=503), wire.talk(3, [wire.user("Mars?")])
    )
    assert both.endswith("the questions of #1, #2 were not asked again")
    again = words(wire.talk(1, moon, status=503), wire.talk(2, moon))
    assert again == "1 failure, the longest over after 1.00 s"


def test_a_question_that_stands_in_a_later_request_may_have_been_asked_again(verdict, wire):
    broken = wire.talk(1, [wire.user("The  moon?")], status=503)
    within = wire.talk(2, [wire.user("Once more: The moon? In one word.")])
    history = [wire.user("The moon?"), wire.said("I have no answer."), wire.user("Then the sun?")]
    for later in (
        [within],
        [wire.talk(2, history)],
        [wire.talk(2, [wire.user("Mars?")]), replace(within, number=3)],
    ):
        found = verdict(RecoversWithin(max_s=9), [broken, *later])
        assert "asked again" not in found.explanation
    unread = replace(wire.talk(2, [wire.user("Mars?")]), protocol=None)
    assert "asked again" not in verdict(RecoversWithin(max_s=9), [broken, unread]).explanation
    tool = [wire.used(1, status=500), wire.used(2)]
    assert "asked again" not in verdict(RecoversWithin(max_s=9), tool).explanation
