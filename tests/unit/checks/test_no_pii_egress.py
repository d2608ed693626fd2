from dataclasses import replace

from faultwire.checks.no_pii_egress import NoPiiEgress
from faultwire.events import Bypass

MAIL = {"q": "jane@firm.org"}


def test_verdicts(verdict, wire):
    found = verdict(NoPiiEgress(), [wire.used(1), wire.used(2, arguments=MAIL)])
    assert (found.verdict, found.exchanges) == ("fail", (2,))
    assert "jane" not in found.explanation
    assert verdict(NoPiiEgress(), [wire.used(1)]).verdict == "pass"
    assert verdict(NoPiiEgress(allow=["email"]), [wire.used(1, arguments=MAIL)]).verdict == "pass"
    assert verdict(NoPiiEgress(allow_to=["*.test"]), [wire.used(1, arguments=MAIL)]).verdict == "pass"
    assert verdict(NoPiiEgress(negate=True), [wire.used(1)]).verdict == "fail"


def test_models_are_judged_if_configured(verdict, wire):
    exchanges = [wire.talk(1, [wire.user("mail jane@firm.org")])]
    assert verdict(NoPiiEgress(), exchanges).verdict == "unknown"
    assert verdict(NoPiiEgress(models=True), exchanges).verdict == "fail"
    assert verdict(NoPiiEgress()).verdict == "unknown"


def test_a_connection_past_the_proxy_makes_a_pass_unknown(history, wire):
    seen = replace(history("done", wire.used(1)), bypassed=(Bypass("10.0.0.7", 5432),))
    assert NoPiiEgress().verdict(seen).verdict == "unknown"
    assert NoPiiEgress(allow_to=["10.0.0.7:5432"]).verdict(seen).verdict == "pass"
    told = replace(history("done", wire.used(1, arguments=MAIL)), bypassed=seen.bypassed)
    assert NoPiiEgress().verdict(told).verdict == "fail"
