from __future__ import annotations

import pytest
from pydantic import ValidationError

from faultwire.events import Send, Wait
from faultwire.faults.stream.slow_tokens import SlowTokens

EVENTS = [b"data: 1\n\n", b"data: 2\n\n", b"data: 3\n\n"]


def test_waits_between_events_and_not_before_the_first(run, chat, dice):
    mutator = SlowTokens(ms=200).start(chat(stream=True), dice())
    out = run(mutator, chat(stream=True), EVENTS)
    assert out == [Send(EVENTS[0]), Wait(0.2), Send(EVENTS[1]), Wait(0.2), Send(EVENTS[2])]
    assert mutator.effect == "events delayed by 200 ms each"


def test_jitter_varies_within_its_bounds_and_repeats_with_the_seed(run, chat, dice):
    def waits(seed: int) -> list[float]:
        mutator = SlowTokens(ms=100, jitter_ms=50).start(chat(stream=True), dice(seed))
        return [a.seconds for a in run(mutator, chat(), [b"x"] * 50) if isinstance(a, Wait) and a.seconds]

    assert waits(1) == waits(1)
    assert waits(1) != waits(2)
    assert len(set(waits(1))) > 40
    assert all(0.05 <= seconds <= 0.15 for seconds in waits(1))


def test_one_event_is_not_delayed(run, chat, dice):
    mutator = SlowTokens(ms=200).start(chat(stream=True), dice())
    assert run(mutator, chat(stream=True), EVENTS[:1]) == [Send(EVENTS[0])]
    assert mutator.effect is None


def test_no_wait_is_no_effect(run, chat, dice):
    mutator = SlowTokens(ms=0).start(chat(stream=True), dice())
    assert run(mutator, chat(stream=True), EVENTS) == [Send(event) for event in EVENTS]
    assert mutator.effect is None


def test_where_it_cannot_act(chat):
    assert SlowTokens(ms=1).inapplicable(chat(stream=False)) == "the request asks for no stream"
    assert SlowTokens(ms=1).inapplicable(chat(stream=True)) is None


@pytest.mark.parametrize("settings", [{"ms": -1}, {"ms": 10, "jitter_ms": 11}, {"ms": 10, "jitter_ms": -1}])
def test_no_negative_waits(settings):
    with pytest.raises(ValidationError):
        SlowTokens(**settings)
