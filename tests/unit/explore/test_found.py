from __future__ import annotations

from itertools import cycle

from faultwire.explore.found import Confirmer, Find, groups
from faultwire.explore.space import Call, Faults, Observation, Point

POINTS = [Point(Call(f"GET x/{at}", 1), "status") for at in range(8)]
CAUSE = frozenset([POINTS[2], POINTS[6]])


def never(_faults: Faults) -> bool:
    return False


def confirmer(outcomes: object = None) -> tuple[Confirmer, list[Faults]]:
    tried: list[Faults] = []

    def attempt(faults: Faults) -> Observation:
        tried.append(faults)
        return Observation(faults >= CAUSE, "it broke")

    return Confirmer(attempt, 0.05, 0.01), tried


def test_a_row_is_halved_to_what_is_needed() -> None:
    made, tried = confirmer()
    assert made.shrink(frozenset(POINTS), never, steady=True) == CAUSE
    assert len(tried) <= 12
    assert made.shrink(frozenset(POINTS), never) == CAUSE, "also of an agent that is not steady"


def test_a_pair_whose_parts_pass_is_as_small_as_it_gets() -> None:
    made, tried = confirmer()
    assert made.shrink(CAUSE, lambda one: len(one) == 1) == CAUSE
    assert tried == []


def test_a_failure_that_does_not_come_back_is_none() -> None:
    outcomes = cycle([False])
    made = Confirmer(lambda _: Observation(next(outcomes)), 0.05, 0.01)
    assert made.confirm(CAUSE) is None
    assert made.shrink(frozenset(POINTS), never) is None
    unknown = Confirmer(lambda _: Observation(None), 0.05, 0.01)
    assert unknown.confirm(CAUSE) is None
    found = confirmer()[0].confirm(CAUSE)
    assert found is not None
    assert (found.faults, found.reason) == (CAUSE, "it broke")


def test_failures_of_the_same_calls_are_one_cause() -> None:
    other = frozenset(Point(point.call, "hang") for point in CAUSE)
    finds = [Find(CAUSE, 1, 1, "a"), Find(other, 1, 1, "b"), Find(frozenset(POINTS[:1]), 1, 1, "c")]
    assert [len(some) for some in groups(finds).values()] == [2, 1]
