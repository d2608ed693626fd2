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


def test_what_differs_between_the_ways_is_named(verdict, wire):
    def words(second):
        return verdict(FallbackUsed(), [wire.talk(1, status=503, model="gpt-4o-mini"), second]).explanation

    path = "/v1/chat/completions"
    model = words(wire.talk(2, model="gpt-4o"))
    assert model == f"`api.openai.com{path}` failed with `gpt-4o-mini`, and answered with `gpt-4o`"
    nameless = words(wire.talk(2, model=""))
    assert nameless.endswith("failed with `gpt-4o-mini`, and answered with a model without a name")
    host = words(wire.talk(2, host="backup.test", model="gpt-4o"))
    assert host == f"`api.openai.com{path}` failed, `backup.test{path}` answered"
