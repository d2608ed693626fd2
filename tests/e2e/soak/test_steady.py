"""A steady run is judged by a line through its moments: one that leaks is found, one that does not is not.

The run of hours is a command: `python -m tests.e2e.soak.steady`.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.e2e.soak.steady import Outcome, Seen, leaked, slope, watch

HOURS = 2


def moments(mb_an_hour: float, warming_mb: float = 0.0, leaks: int = 0) -> list[Seen]:
    """Two hours, every ten seconds, with a ripple of half a megabyte; `leaks` descriptors in all."""
    last = HOURS * 360
    return [
        Seen(
            at_s=10.0 * at,
            resident_mb=100 + mb_an_hour * at / 360 + min(1.0, at / (last / 5)) * warming_mb + at % 7 / 14,
            descriptors=16 + at % 3 + leaks * at // last,
            cpu_s=0.0,
        )
        for at in range(last)
    ]


@pytest.mark.parametrize("mb_an_hour", [-3.0, 0.0, 0.5, 1.5, 20.0])
@pytest.mark.parametrize("warming_mb", [0.0, 30.0])
def test_the_slope_is_that_of_what_is_left_once_warm(mb_an_hour: float, warming_mb: float) -> None:
    assert slope(moments(mb_an_hour, warming_mb)) == pytest.approx(mb_an_hour, abs=0.05)


def test_descriptors_that_come_and_go_are_no_leak_and_each_that_stays_is_one() -> None:
    assert leaked(moments(0.0)) == 0
    assert leaked(moments(0.0, leaks=3)) > 0


@pytest.mark.parametrize(
    ("mb_an_hour", "leaks", "code", "findings", "wrong"),
    [
        (0.9, 0, 0, [], []),
        (1.1, 0, 0, [], ["the engine's memory grew by 1.10 MB an hour"]),
        (0.0, 4, 0, [], ["the engine had 3 descriptors more at the end"]),
        (0.0, 0, 3, ["blob_missing"], ["blob_missing", "the command ended with 3"]),
    ],
)
def test_what_must_not_be(
    mb_an_hour: float, leaks: int, code: int, findings: list[str], wrong: list[str]
) -> None:
    outcome = Outcome(10, code, {"engine": moments(mb_an_hour, leaks=leaks)}, findings)
    assert outcome.wrong() == wrong
    assert "MB an hour" in outcome.lines()[0]


@pytest.mark.nightly
@pytest.mark.parametrize("leak", [False, True])
def test_a_client_that_keeps_its_connections_is_seen(tmp_path: Path, leak: bool) -> None:
    outcome = watch(600, 40.0, tmp_path, leak=leak, every_s=1.0)
    assert (outcome.code, outcome.findings) == (0, [])
    assert (leaked(outcome.seen["engine"]) > 5) is leak
