"""Smaller cases: parts, then steps, then pieces, and only what still crashes alike."""

from __future__ import annotations

import json

from tests.unit.fuzz.simulated import ORDER, SOURCE

from faultwire.fuzz.case import Case, Part, Target
from faultwire.fuzz.grammar import step
from faultwire.fuzz.minimise import minimised

LIST = Part(Target("message", "tools/list"), "x", '{"a": 1}\n{"b": 2}\n{"c": 3}')
SOURCES = {ORDER: SOURCE}


def null_total(throw=0):
    """A part with two steps, of which the second is the cause."""
    part = step(SOURCE.first("seen"), SOURCE, "unicode", 0, 1)
    while True:
        made = step(part, SOURCE, "null", throw, 1)
        if made is not None and "$.total" in made.steps[-1].how:
            return made
        throw += 1


def crashes(case):
    part = case.part(ORDER)
    try:
        return part is not None and json.loads(part.text).get("total", 0) is None
    except (ValueError, AttributeError):
        return False


def test_what_is_not_needed_goes():
    case = Case((null_total(), LIST))
    small = minimised(case, SOURCES, 1, crashes)
    (part,) = small.parts
    assert json.loads(part.text) == {"total": None}
    assert crashes(small)


def test_messages_go_line_by_line():
    small = minimised(Case((LIST,)), {}, 1, lambda case: '"b"' in case.parts[0].text)
    assert small.parts[0].text == '{"b": 2}'


def test_when_no_more_may_be_asked_the_smallest_so_far_stays():
    left = [None, True]
    small = minimised(Case((null_total(), LIST)), SOURCES, 1, lambda _case: left.pop())
    assert len(small.parts) == 1


def test_nothing_smaller_is_no_change_and_nothing_is_asked_twice():
    case, asked = Case((null_total(), LIST)), []

    def never(one):
        asked.append(one.id)
        return False

    assert minimised(case, SOURCES, 1, never) is case
    assert len(asked) == len(set(asked)) > 5
