from faultwire.checks.max_llm_calls import MaxLlmCalls


def test_verdicts(verdict, wire):
    exchanges = [wire.talk(1, status=503), wire.talk(2, attempt=1), wire.used(3), wire.talk(4)]
    assert verdict(MaxLlmCalls(max=2), exchanges).value == 2
    assert verdict(MaxLlmCalls(max=2), exchanges).verdict == "pass"
    assert verdict(MaxLlmCalls(max=2, count_retries=True), exchanges).verdict == "fail"
    assert verdict(MaxLlmCalls(max=1), exchanges).exchanges == (1, 4)
    assert verdict(MaxLlmCalls(max=0), [wire.used(1)]).verdict == "pass"


def test_without_traffic_nothing_is_known(verdict):
    assert verdict(MaxLlmCalls(max=1)).verdict == "unknown"
