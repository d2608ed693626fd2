from dataclasses import replace

from faultwire.checks.only_hosts import OnlyHosts
from faultwire.events import Bypass


def test_verdicts(verdict, wire):
    exchanges = [wire.talk(1), wire.used(2)]
    assert verdict(OnlyHosts(hosts=["api.openai.com", "*.test"]), exchanges).verdict == "pass"
    found = verdict(OnlyHosts(hosts=["api.openai.com"]), exchanges)
    assert (found.verdict, found.value, found.exchanges) == ("fail", ["tools.test"], (2,))
    assert verdict(OnlyHosts(hosts=["api.openai.com"], negate=True), exchanges).verdict == "pass"


def test_without_traffic_or_with_traffic_unseen_nothing_is_known(verdict, wire):
    assert verdict(OnlyHosts(hosts=["x"])).verdict == "unknown"
    found = verdict(OnlyHosts(hosts=["*"]), [wire.talk(1)], notes=("a tunnel to `x` was not opened",))
    assert found.verdict == "unknown"


def test_a_hostile_host_stays_on_one_line(verdict, wire):
    found = verdict(OnlyHosts(hosts=["x"]), [wire.used(1, host="e`v\nil")])
    assert found.explanation == "requests went to `e'v il`"


def test_a_connection_past_the_proxy_makes_a_pass_unknown(history, wire):
    seen = replace(history("done", wire.talk(1)), bypassed=(Bypass("10.0.0.7", 5432),))
    found = OnlyHosts(hosts=["api.openai.com"]).verdict(seen)
    assert (found.verdict, found.value) == ("unknown", ["10.0.0.7:5432"])
    assert found.explanation == "there were connections past the proxy, to `10.0.0.7:5432`"
    assert OnlyHosts(hosts=["x"]).verdict(seen).verdict == "fail"
    # what is listed by its address may be reached in any way; a path says more than is known
    assert OnlyHosts(hosts=["api.openai.com", "10.0.0.*:5432"]).verdict(seen).verdict == "pass"
    assert OnlyHosts(hosts=["api.openai.com", "10.0.0.7/x*"]).verdict(seen).verdict == "unknown"
