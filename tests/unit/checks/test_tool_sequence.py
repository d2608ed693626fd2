import pytest

from faultwire.checks.tool_sequence import ToolSequence


@pytest.mark.parametrize(
    ("used", "settings", "expected"),
    [
        (["look", "check", "pay"], {}, "pass"),
        (["look", "search", "check", "look", "pay"], {}, "pass"),
        (["look", "pay", "check"], {}, "fail"),
        ([], {}, "fail"),
        (["look", "check", "pay"], {"exact": True}, "pass"),
        (["look", "search", "check", "pay"], {"exact": True}, "fail"),
        (["pay"], {"negate": True}, "pass"),
    ],
)
def test_verdicts(verdict, wire, used, settings, expected):
    exchanges = [wire.talk(1), *(wire.used(n, name) for n, name in enumerate(used, start=2))]
    check = ToolSequence(tools=["look", "check", "pay"], **settings)
    assert verdict(check, exchanges).verdict == expected


def test_without_traffic_nothing_is_known(verdict):
    assert verdict(ToolSequence(tools=["a"])).verdict == "unknown"
