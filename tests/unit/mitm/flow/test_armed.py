"""What of an exchange counts as a failure for its agent."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from faultwire.exchange.intervention import BlastRadius, Radius
from faultwire.mitm.flow.armed import Armed, WatchedExchange


class Rail:
    def __init__(self) -> None:
        self.failed: list[bool] = []

    def begin(self, call: int, now: float) -> None: ...

    def answer(self, call: int, now: float) -> None: ...

    def end(self, call: int, now: float, *, failed: bool) -> None:
        self.failed.append(failed)


@pytest.mark.parametrize(
    ("status", "ending", "failed"),
    [
        (200, "complete", False),
        (404, "complete", False),
        (429, "complete", True),
        (500, "complete", True),
        (200, "cut", True),
        (200, "upstream_aborted", True),
        (None, "reset", True),
        (None, "client_aborted", True),
        (200, "client_aborted", False),
    ],
)
def test_failures(status: int | None, ending: str, failed: bool) -> None:
    rail = Rail()
    work = SimpleNamespace(ident="a1", guardrail=rail, radius=BlastRadius(Radius()))
    one = Armed(work, None, None, 0.0)  # type: ignore[arg-type]
    judged: list[int] = []
    control = SimpleNamespace(
        armed=[one], now=lambda: 1.0, judge=lambda: judged.append(1), limit=BlastRadius(Radius())
    )
    watched = WatchedExchange(control, 1, None, [one])  # type: ignore[arg-type]
    if status is not None:
        watched.answered(status)
    watched.over(ending, ())
    assert rail.failed == [failed]
    assert (judged, one.live, one.fired) == ([1], {}, 0)
