from decimal import Decimal

from faultwire.checks.max_cost import MaxCost


def test_verdicts(verdict, wire):
    exchanges = [wire.talk(1), wire.talk(2, status=503), wire.talk(3)]
    found = verdict(MaxCost(max_usd="0.01"), exchanges)
    assert found.verdict == "pass"
    assert Decimal(found.value) > 0
    assert verdict(MaxCost(max_usd="0.0000001"), exchanges).verdict == "fail"


def test_a_price_that_nobody_knows_is_not_zero(verdict, wire):
    exchanges = [wire.talk(1), wire.talk(2, model="somebodys-own")]
    assert verdict(MaxCost(max_usd="1"), exchanges).verdict == "unknown"
    assert verdict(MaxCost(max_usd="0.0000001"), exchanges).verdict == "fail"
    assert verdict(MaxCost(max_usd="1"), [wire.talk(1, usage=False)]).verdict == "unknown"
    assert verdict(MaxCost(max_usd="1"), [wire.used(1)]).verdict == "unknown"
