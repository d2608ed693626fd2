"""Makes a case smaller, as long as the paths differ in it without a known reason."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import count

from tests.fuzz.paths.cases import Case, Step

ROUNDS = 6
TRIES = 600
"""Smaller cases that are tried at most."""
SAYS = ("client", "server")


def shrunk(case: Case, differs: Callable[[Case], bool]) -> Case:
    """A smaller case that differs, too."""
    left = count(TRIES, -1)

    def tried(smaller: Case) -> bool:
        return next(left) > 0 and differs(smaller)

    for _ in range(ROUNDS):
        before = case
        for smaller in (replace(case, profile=0), replace(case, plain=False)):
            if smaller != case and tried(smaller):
                case = smaller
        case = _passes(case, tried)
        if case == before:
            break
    return case


def _passes(case: Case, differs: Callable[[Case], bool]) -> Case:
    for attempt in (_without, _joined):
        at = 0
        while at < len(case.steps):
            steps = attempt(case.steps, at)
            smaller = replace(case, steps=steps)
            if steps != case.steps and differs(smaller):
                case = smaller
            else:
                at += 1
    for at in range(len(case.steps)):
        case = _cut(case, at, differs)
    return case


def _without(steps: tuple[Step, ...], at: int) -> tuple[Step, ...]:
    return steps[:at] + steps[at + 1 :]


def _joined(steps: tuple[Step, ...], at: int) -> tuple[Step, ...]:
    pair = steps[at : at + 2]
    if len(pair) < 2 or pair[0][0] != pair[1][0] or pair[0][0] not in SAYS:
        return steps
    return (*steps[:at], (pair[0][0], pair[0][1] + pair[1][1]), *steps[at + 2 :])


def _cut(case: Case, at: int, differs: Callable[[Case], bool]) -> Case:
    for size in _sizes(len(case.steps[at][1])):
        begin = 0
        while begin < len(case.steps[at][1]):
            who, data = case.steps[at]
            step = (who, data[:begin] + data[begin + size :])
            smaller = replace(case, steps=(*case.steps[:at], step, *case.steps[at + 1 :]))
            if differs(smaller):
                case = smaller
            else:
                begin += size
    return case


def _sizes(length: int) -> Iterator[int]:
    size = length // 2
    while size:
        yield size
        size //= 2
