from dataclasses import replace

import pytest
from tests.unit.checks.conftest import at_once, in_turn

from faultwire.checks._calls import Call
from faultwire.checks.backs_off import BacksOff, _waits
from faultwire.events import Arrival


@pytest.fixture
def tries(wire):
    """Attempts with these waits in between, in milliseconds."""

    def make(*waits, **changes):
        at, made = 1000, [wire.talk(1, status=503, started_ms=1000, **changes)]
        for number, wait in enumerate(waits, start=2):
            at += 100 + wait
            made.append(wire.talk(number, status=503, started_ms=at, **changes))
        return in_turn(*made)

    return make


@pytest.mark.parametrize(
    ("waits", "settings", "expected"),
    [
        ([500, 1000], {}, "pass"),
        ([500], {}, "pass"),
        ([5, 10], {}, "fail"),
        ([500, 500], {}, "fail"),
        ([500, 500], {"growing": False}, "pass"),
        ([0], {}, "fail"),
        ([50], {"min_wait_s": 0}, "pass"),
        ([], {}, "unknown"),
    ],
)
def test_waits(verdict, tries, waits, settings, expected):
    assert verdict(BacksOff(**settings), tries(*waits)).verdict == expected


def test_what_the_server_asked_for_is_not_the_agents_choice(verdict, tries):
    wish = (("retry-after", "0"),)
    found = verdict(BacksOff(), tries(0, 0, answered=wish))
    assert (found.verdict, found.explanation) == (
        "unknown",
        "each call that was repeated had been asked to wait (`Retry-After`), which `respects_retry_after` "
        "judges",
    )
    assert verdict(BacksOff(), tries()).explanation == "no failed call was repeated"


def test_good_calls_have_no_attempts(verdict, wire):
    assert verdict(BacksOff(), [wire.talk(1), wire.talk(2)]).verdict == "unknown"


def test_requests_that_were_sent_at_once_wait_for_nothing(verdict, tries):
    assert verdict(BacksOff(), at_once(*tries(5, 10))).verdict == "unknown"
    assert verdict(BacksOff(), at_once(*tries(5, 10))).explanation.startswith("no failed call was repeated")


def test_where_nobody_saw_the_connections_a_short_wait_is_unknown(verdict, tries):
    bare = [replace(one, arrival=None) for one in tries(5, 10)]
    found = verdict(BacksOff(), bare)
    assert found.verdict == "unknown"
    assert found.explanation == (
        "a failed call may have been repeated too soon: #2, #3 came within 250 ms of a failed answer, and it "
        "was not recorded on which connections"
    )
    assert verdict(BacksOff(), [replace(one, arrival=None) for one in tries(300, 900)]).verdict == "pass"


def connected(attempts, *ages):
    """Each attempt on a connection that was opened for it, so many milliseconds before its request came."""
    return [
        replace(one, arrival=Arrival(at, 1, float(age), 1.0, others=0, unused=0))
        for at, (one, age) in enumerate(zip(attempts, ages, strict=True), start=1)
    ]


def test_to_connect_is_no_wait(verdict, tries):
    """On a busy machine a handshake takes longer than the pause: it waited 425 ms and then 980 ms."""
    grows = connected(tries(1150, 1130), 700, 725, 150)
    assert verdict(BacksOff(), grows).verdict == "pass"
    assert verdict(BacksOff(), tries(1150, 1130)).verdict == "fail", (
        "on one connection that is what it waited"
    )
    hasty = verdict(BacksOff(), connected(tries(300, 600), 700, 295, 595))
    assert (hasty.verdict, hasty.value) == ("fail", [0.005, 0.005])


def test_a_connection_from_before_the_failure_says_nothing_of_the_wait(tries):
    """The client's own counter makes it an attempt all the same."""
    assert _waits(Call(connected(tries(300), 700, 350))) == [0.3]
    assert _waits(Call(connected(tries(300), 700, 250))) == [0.05]
