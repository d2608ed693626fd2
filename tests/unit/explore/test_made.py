"""Runs and what came of them are the same on the other side of a wire."""

from __future__ import annotations

import json

import pytest

from faultwire.explore.derive import derived
from faultwire.explore.made import Ask, Made
from faultwire.explore.space import Call, Observation, Point
from faultwire.profile.load import parse
from faultwire.trials.model import Tokens

CALL = Call("GET x/a", 1)
POINT = Point(CALL, "status")
RUN = Observation(
    True, "it broke", ((CALL, "k"),), frozenset([POINT]), frozenset([POINT]), frozenset({(CALL, None)}), True,
    1.5, 0.25, "out", 1, Tokens(90, 2),
)  # fmt: skip
PROFILE = parse("faults: [{status: {code: 503}}, {latency: {ms: 5}}]", "p.yaml")


def asked() -> Ask:
    profile, pins = derived(PROFILE, [POINT], {POINT: 3}, {CALL.place: 1})
    return Ask("key", frozenset([POINT]), profile, pins, 7, {POINT: "explore-1-status"}, True)


def test_a_run_comes_back_as_it_was_asked_for() -> None:
    ask = asked()
    assert Ask.from_json(json.loads(json.dumps(ask.as_json()))) == ask
    assert (ask.trial.pins, ask.trial.seed, ask.trial.profile) == (ask.pins, 7, ask.profile)


def test_what_came_of_it_comes_back() -> None:
    made = Made(RUN, {POINT: 3})
    assert Made.from_json(json.loads(json.dumps(made.as_json()))) == made


def test_of_a_start_that_counted_no_tokens_usage_is_not_known() -> None:
    old = Made(RUN, {POINT: 3}).as_json()
    del old["tokens"], old["uncounted"]
    assert Made.from_json(old).run.tokens == Tokens(0, 1)


@pytest.mark.parametrize("bent", [{"failed": "yes"}, {"points": [[1]]}, {"calls": None}, {"tokens": "x"}])
def test_anything_else_is_refused(bent: dict[str, object]) -> None:
    with pytest.raises((ValueError, TypeError, KeyError)):
        Made.from_json({**Made(RUN, {POINT: 3}).as_json(), **bent})
