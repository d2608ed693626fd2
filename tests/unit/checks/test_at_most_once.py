from dataclasses import replace

import pytest

from faultwire.checks.at_most_once import AtMostOnce
from faultwire.checks.tool_called import ToolCalled

CHECK = AtMostOnce(step={"tool": "refund"}, same=("order",))
PLAIN = AtMostOnce(step={"tool": "refund"})
A, B = {"order": "A", "note": "1"}, {"order": "B"}


def test_once_for_each_thing(verdict, wire):
    found = verdict(CHECK, [wire.used(1, "refund", A), wire.used(2, "refund", B)])
    assert (found.verdict, found.explanation) == (
        "pass",
        "`refund` was done 2 times, each time for something else",
    )
    assert verdict(PLAIN, [wire.used(1, "refund", A)]).explanation == "`refund` was done once"
    assert (
        verdict(AtMostOnce(step={"tool": "refund"}, negate=True), [wire.used(1, "refund")]).verdict == "fail"
    )


def test_twice_for_the_same_thing_whatever_else_differs(verdict, wire):
    found = verdict(
        CHECK, [wire.used(1, "refund", A), wire.used(2, "other"), wire.used(3, "refund", A | {"note": "2"})]
    )
    assert (found.verdict, found.exchanges) == ("fail", (1, 3))
    assert found.explanation == "`refund` was done 2 times for the same order"
    assert verdict(PLAIN, [wire.used(1, "refund", A), wire.used(2, "refund", B)]).verdict == "fail"


def test_what_the_server_did_counts_where_its_answer_was_lost(verdict, wire):
    lost = replace(wire.used(1, "refund", A), delivered=None, ending="cut")
    assert verdict(CHECK, [lost, wire.used(2, "refund", A)]).verdict == "fail"


def test_what_was_refused_or_never_asked_was_not_done(verdict, wire):
    refused = wire.used(1, "refund", A, status=400)
    faked = replace(wire.used(2, "refund", A), upstream=None)
    assert verdict(CHECK, [refused, faked, wire.used(3, "refund", A)]).verdict == "pass"


@pytest.mark.parametrize("count", [1, 2])
def test_what_was_called_and_not_done_is_counted_as_by_tool_called(verdict, wire, count):
    """A fault answered in the place of the server, or the server refused."""
    faked = [replace(wire.used(n, "refund", A, status=503), upstream=None) for n in (1, 2)]
    refused = [wire.used(n, "refund", A, status=400) for n in (1, 2)]
    words = {
        1: "`refund` was called 1 time and not done: it was refused, or did not reach its server",
        2: "`refund` was called 2 times and not done: each was refused, or did not reach its server",
    }
    times = {1: "1 time", 2: "2 times"}
    by_url = AtMostOnce(step={"url": faked[0].request.url})
    for exchanges in (faked[:count], refused[:count]):
        found = verdict(PLAIN, exchanges)
        assert (found.verdict, found.explanation) == ("unknown", words[count])
        used = verdict(ToolCalled(tool="refund"), exchanges).explanation
        assert used == f"`refund` was used {times[count]}, expected at least 1"
        assert f"was called {times[count]} and not done" in verdict(by_url, exchanges).explanation
    done = verdict(PLAIN, [*faked[: count - 1], wire.used(9, "refund", A)])
    assert (done.verdict, done.explanation) == ("pass", "`refund` was done once")


def test_an_error_of_the_server_may_have_been_one_more(verdict, wire):
    found = verdict(CHECK, [wire.used(1, "refund", A, status=503), wire.used(2, "refund", A)])
    assert found.verdict == "unknown"
    assert found.explanation == (
        "`refund` may have been done twice: one was answered with a server's error, or not at all"
    )
    found = verdict(CHECK, [wire.used(1, "refund", B, status=503), wire.used(2, "refund", A)])
    assert found.verdict == "pass"
    assert found.explanation == "`refund` was done at most 2 times, each time for something else"
    (alone,) = [verdict(CHECK, [wire.used(1, "refund", B, status=503)])]
    assert (alone.verdict, alone.explanation) == ("pass", "`refund` was done at most once")


def test_a_call_that_was_asked_for_again_is_not_called_an_error(verdict, wire):
    history = [wire.user("Refund A."), wire.said("", wire.call("refund")), wire.result("done")]
    exchanges = [
        wire.talk(1, [wire.user("Refund A.")], calls=[wire.call("refund")], answer=None),
        wire.talk(2, [wire.user("Refund A.")], calls=[wire.call("refund")], answer=None),
        wire.talk(3, history),
    ]
    found = verdict(PLAIN, exchanges)
    assert (found.verdict, found.explanation) == (
        "unknown",
        "`refund` was seen to be done once, and models asked for it more often than that",
    )
    assert verdict(PLAIN, exchanges[1:]).verdict == "pass"


def test_what_is_not_seen_is_unknown(verdict, wire):
    assert verdict(CHECK).explanation == "`refund` was not called"
    asked = [wire.talk(1, calls=[wire.call("refund")], answer=None)]
    assert verdict(PLAIN, asked).explanation == (
        "a model asked for `refund`, and whether it was done was not seen"
    )
    assert verdict(CHECK, [wire.used(1, "refund", {"x": 1})]).explanation == "a call of `refund` has no order"
