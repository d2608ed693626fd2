from faultwire.checks.max_duration import MaxDuration


def test_verdicts(verdict, wire):
    exchanges = [
        wire.talk(1, started_ms=5000),
        wire.used(2, started_ms=1000),
        wire.talk(3, started_ms=2000, duration_ms=100),
    ]
    found = verdict(MaxDuration(max_s=4.1), exchanges)
    assert (found.verdict, found.value, found.exchanges) == ("pass", 4.1, (1, 2))
    assert verdict(MaxDuration(max_s=4), exchanges).verdict == "fail"


def test_without_traffic_nothing_is_known(verdict):
    assert verdict(MaxDuration(max_s=1)).verdict == "unknown"
