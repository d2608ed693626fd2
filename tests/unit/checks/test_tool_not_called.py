from faultwire.checks.tool_not_called import ToolNotCalled

CHECK = ToolNotCalled(tool="refund")


def test_verdicts(verdict, wire):
    assert verdict(CHECK, [wire.talk(1), wire.used(2)]).verdict == "pass"
    found = verdict(CHECK, [wire.talk(1), wire.used(2, "refund")])
    assert (found.verdict, found.exchanges) == ("fail", (2,))


def test_a_call_that_nobody_answered_is_unknown(verdict, wire):
    exchanges = [wire.talk(1, calls=[wire.call("refund")], answer=None)]
    assert verdict(CHECK, exchanges).verdict == "unknown"
    assert verdict(ToolNotCalled(tool="refund", negate=True), exchanges).verdict == "unknown"


def test_without_traffic_nothing_is_known(verdict):
    assert verdict(CHECK).verdict == "unknown"


def test_a_name_with_control_characters_stays_on_one_line(verdict, wire):
    found = verdict(ToolNotCalled(tool="a\n`b"), [wire.used(1, "a\n`b")])
    assert found.explanation == "`a 'b` was used 1 time"
