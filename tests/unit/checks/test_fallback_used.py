import pytest

from faultwire.checks.fallback_used import FallbackUsed


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({}, "pass"),
        ({"to": ["backup.test"]}, "pass"),
        ({"to": ["third.test"]}, "fail"),
        ({"model": "gpt-4o-mini"}, "pass"),
        ({"model": "gpt-4o"}, "fail"),
        ({"kind": "tool"}, "unknown"),
        ({"negate": True}, "fail"),
    ],
)
def test_another_host_and_model(verdict, wire, settings, expected):
    exchanges = [wire.talk(1, status=503), wire.talk(2, host="backup.test", model="gpt-4o-mini")]
    assert verdict(FallbackUsed(**settings), exchanges).verdict == expected


def test_the_same_way_again_is_none(verdict, wire):
    assert verdict(FallbackUsed(), [wire.talk(1, status=503), wire.talk(2)]).verdict == "fail"
    assert (
        verdict(FallbackUsed(), [wire.talk(1, host="backup.test"), wire.talk(2, status=503)]).verdict
        == "fail"
    )


def test_a_tool_has_another_place(verdict, wire):
    exchanges = [wire.used(1, status=500), wire.used(2, "search2")]
    assert verdict(FallbackUsed(kind="tool"), exchanges).verdict == "pass"


def test_without_a_failure_nothing_is_known(verdict, wire):
    assert verdict(FallbackUsed(), [wire.talk(1)]).verdict == "unknown"
