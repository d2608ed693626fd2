import pytest

from faultwire.checks.backs_off import BacksOff


@pytest.fixture
def tries(wire):
    """Attempts with these waits in between, in milliseconds."""

    def make(*waits, **changes):
        at, made = 1000, [wire.talk(1, status=503, started_ms=1000, **changes)]
        for number, wait in enumerate(waits, start=2):
            at += 100 + wait
            made.append(wire.talk(number, status=503, started_ms=at, **changes))
        return made

    return make


@pytest.mark.parametrize(
    ("waits", "settings", "expected"),
    [
        ([500, 1000], {}, "pass"),
        ([500], {}, "pass"),
        ([5, 10], {}, "fail"),
        ([500, 500], {}, "fail"),
        ([500, 500], {"growing": False}, "pass"),
        ([-50], {}, "fail"),
        ([50], {"min_wait_s": 0}, "pass"),
        ([], {}, "unknown"),
    ],
)
def test_waits(verdict, tries, waits, settings, expected):
    assert verdict(BacksOff(**settings), tries(*waits)).verdict == expected


def test_what_the_server_asked_for_is_not_the_agents_choice(verdict, tries):
    wish = (("retry-after", "0"),)
    assert verdict(BacksOff(), tries(0, 0, answered=wish)).verdict == "unknown"


def test_good_calls_have_no_attempts(verdict, wire):
    assert verdict(BacksOff(), [wire.talk(1), wire.talk(2)]).verdict == "unknown"
