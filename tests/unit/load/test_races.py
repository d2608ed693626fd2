"""A race is a verdict that differs beside others only, again and beyond chance."""

from __future__ import annotations

from faultwire.load.measure import Invocation
from faultwire.load.races import races, suspected


def runs(cell, verdicts, level=1, prefix="alone"):
    return [
        Invocation(level, cell, at, f"{prefix}-{cell}-{at}", float(at), at + 1.5, verdict, f"why {at}")
        for at, verdict in enumerate(verdicts)
    ]


ALONE = [*runs(0, ["pass"] * 6), *runs(1, ["pass"] * 6)]
BESIDE = [*runs(0, ["fail"] * 6, 8, "b"), *runs(1, ["pass"] * 6, 8, "c")]


def test_a_cell_that_fails_beside_others_only_is_a_race_with_its_evidence():
    found = races(ALONE, BESIDE, runs(0, ["pass"] * 5, prefix="again"))
    assert found.found
    (one,) = found.suspects
    assert (one.cell, one.alone, one.beside, one.again) == (0, (6, 6), (0, 6), (5, 5))
    assert one.failures[0].session == "b-0-0"
    assert one.overlapping[0] == ("b-0-1", "c-1-0", "c-1-1")
    assert one.reference == "alone-0-0"


def test_a_suspect_that_fails_alone_again_is_none():
    found = races(ALONE, BESIDE, runs(0, ["pass", "fail", "pass"], prefix="again"))
    assert not found.suspects[0].holds
    assert not found.found
    assert not races(ALONE, BESIDE, []).found


def test_a_cell_that_failed_alone_is_no_suspect():
    alone = [*runs(0, ["pass", "fail"]), *runs(1, ["pass"])]
    assert suspected(alone, BESIDE) == []


def test_a_single_failure_is_chance():
    beside = [*runs(0, ["fail", *["pass"] * 7], 8, "b"), *runs(1, ["pass"] * 8, 8, "c")]
    found = races(ALONE, beside, runs(0, ["pass"] * 5))
    assert found.suspects[0].holds
    assert not found.found


def test_an_agent_that_is_too_slow_is_no_race():
    beside = runs(0, ["timeout"] * 8, 8, "b")
    found = races(ALONE, beside, [])
    assert (found.suspects, found.test) == ((), None)
