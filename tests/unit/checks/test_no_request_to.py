import pytest

from faultwire.checks._hosts import matched
from faultwire.checks.no_request_to import NoRequestTo


@pytest.mark.parametrize(
    ("hosts", "expected"),
    [
        (["evil.test"], "pass"),
        (["tools.test"], "fail"),
        (["TOOLS.*"], "fail"),
        (["tools.test/search*"], "fail"),
        (["tools.test/admin*"], "pass"),
        (["tools.test:80"], "fail"),
        (["tools.test:8080"], "pass"),
    ],
)
def test_places(verdict, wire, hosts, expected):
    assert verdict(NoRequestTo(hosts=hosts), [wire.talk(1), wire.used(2)]).verdict == expected


def test_without_traffic_nothing_is_known(verdict):
    assert verdict(NoRequestTo(hosts=["x"])).verdict == "unknown"


def test_a_url_is_refused():
    with pytest.raises(ValueError, match="expected a host"):
        NoRequestTo(hosts=["https://evil.test/"])


def test_a_trailing_dot_hides_nothing(wire):
    assert matched(wire.used(1, host="Evil.Test."), ("evil.test",)) == "evil.test"
    assert matched(wire.used(1, host="evil.test"), ("*" * 50 + "z",)) is None
