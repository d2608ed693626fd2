import pytest

from faultwire.checks.no_duplicate_side_effect import NoDuplicateSideEffect


def test_the_same_deed_twice_fails(verdict, wire):
    found = verdict(NoDuplicateSideEffect(), [wire.used(1, "refund"), wire.used(2, "refund")])
    assert (found.verdict, found.exchanges) == ("fail", (1, 2))


def test_a_success_that_a_fault_hid_counts(verdict, wire):
    done = wire.used(1, "refund")
    hidden = wire.used(1, "refund", upstream=done.upstream, delivered=None, ending="cut")
    assert verdict(NoDuplicateSideEffect(), [hidden, wire.used(2, "refund", attempt=1)]).verdict == "fail"


@pytest.mark.parametrize(
    "second",
    [
        {"arguments": {"q": "other"}},
        {"status": 503},
        {"method": "GET"},
        {"upstream": None},
    ],
)
def test_other_deeds_and_failed_ones_are_no_repetition(verdict, wire, second):
    assert (
        verdict(NoDuplicateSideEffect(), [wire.used(1, "refund"), wire.used(2, "refund", **second)]).verdict
        == "pass"
    )


def test_one_key_is_one_deed(verdict, wire):
    keys = {"headers": (("Idempotency-Key", "k1"),)}
    assert verdict(NoDuplicateSideEffect(), [wire.used(1, **keys), wire.used(2, **keys)]).verdict == "pass"
    other = {"headers": (("Idempotency-Key", "k2"),)}
    assert verdict(NoDuplicateSideEffect(), [wire.used(1, **keys), wire.used(2, **other)]).verdict == "fail"


def test_tools_inside_of_the_agent_count_by_name(verdict, wire):
    one, two = wire.call("refund", '{"a": 1}'), wire.call("refund", '{"a":1}', at="c2")
    told = [
        wire.user(),
        wire.said("", one),
        wire.result("ok"),
        wire.said("", two),
        wire.result("ok", at="c2"),
    ]
    assert verdict(NoDuplicateSideEffect(tools=["refund"]), [wire.talk(1, told)]).verdict == "fail"
    assert verdict(NoDuplicateSideEffect(), [wire.talk(1, told)]).verdict == "unknown"


def test_hostile_bodies_are_compared_as_bytes(verdict, wire):
    request = wire.used(1).request
    hostile = type(request)("POST", "http", "t", 80, "/\ud800", (), b"[" * 5000)
    exchanges = [wire.used(1, request=hostile), wire.used(2, request=hostile)]
    assert verdict(NoDuplicateSideEffect(), exchanges).verdict == "fail"
