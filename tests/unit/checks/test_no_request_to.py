from dataclasses import replace

import pytest

from faultwire.checks._hosts import matched
from faultwire.checks.no_request_to import NoRequestTo
from faultwire.events import Bypass


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


def test_a_connection_past_the_proxy_makes_a_pass_unknown(history, wire):
    seen = replace(history("done", wire.used(1)), bypassed=(Bypass("203.0.113.5", 443, "tcp", "e`v\nil"),))
    found = NoRequestTo(hosts=["evil.test"]).verdict(seen)
    assert found.verdict == "unknown"
    assert found.explanation == "there were connections past the proxy, to `e'v il (203.0.113.5:443)`"
    assert NoRequestTo(hosts=["tools.test"]).verdict(seen).verdict == "fail"
