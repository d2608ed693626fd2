"""Runs in this process: the wanted one, and as many beside it as there are workers."""

from __future__ import annotations

import threading

import pytest

from faultwire.explore.made import Ask, Made
from faultwire.explore.players import Threads
from faultwire.explore.space import Observation
from faultwire.profile.load import parse

PROFILE = parse("faults: [{status: {code: 503}}]", "p.yaml")
ASKS = [Ask(str(number), frozenset(), PROFILE, frozenset(), 7, {}) for number in range(9)]
LIMIT_S = 60


@pytest.mark.parametrize("workers", [1, 3])
def test_so_many_runs_are_made_at_once_and_each_once(workers: int) -> None:
    together = threading.Barrier(workers, timeout=LIMIT_S)
    made, arrived = list[str](), list[str]()

    def make(ask: Ask) -> Made:
        made.append(ask.key)
        together.wait()  # fails unless as many are at work
        return Made(Observation(False, ask.key), {})

    threads = Threads(make, workers)
    for at in range(9):
        found = threads.play(ASKS[at], ASKS[at + 1 :], lambda ask, _made: arrived.append(ask.key))
        assert found.run.reason == ASKS[at].key
        assert ASKS[at].key in arrived
    threads.close()
    assert sorted(made) == sorted(arrived) == [ask.key for ask in ASKS]


def test_a_run_that_cannot_be_made_is_an_error_and_what_has_not_begun_never_does() -> None:
    def make(ask: Ask) -> Made:
        raise ValueError(ask.key)

    threads = Threads(make, 1)
    with pytest.raises(ValueError, match="0"):
        threads.play(ASKS[0], ASKS[1:], lambda *_: pytest.fail("it was made"))
    threads.close()
    with pytest.raises(RuntimeError, match="shutdown"):
        threads.play(ASKS[1], (), lambda *_: None)
