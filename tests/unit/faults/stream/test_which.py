"""Which events a fault on single events is about, asked one by one and several at once."""

from __future__ import annotations

import pytest

from faultwire.dice import Dice
from faultwire.events import Chunk, Exchange, Request
from faultwire.faults.stream._which import EventMutator, Picker
from faultwire.faults.stream.duplicate_event import DuplicateEvent

DICE = Dice(7, "s").held("e", "key", 0)
QUIET = (b": ping\n\n", b"\n", b"", b"id: 7\n\n", b"retry: 10\r\n\r\n", b"id: 7\rretry: 1\r:x\r\r")
TELLING = (b"data: a\n\n", b"id: 7\ndata: a\n\n", b":x\rdata: a\r\r", b"\r\n\r\n event", b"idle\n", b"{}\n")


def picker(**settings: float) -> Picker:
    return Picker(DuplicateEvent.model_validate(settings), DICE)


def one_by_one(events: list[bytes], **settings: float) -> list[int]:
    asked = picker(**settings)
    return [at for at, event in enumerate(events) if asked.picks(Chunk(event, at, "event"))]


def at_once(events: list[bytes], size: int, **settings: float) -> list[int]:
    """As a relay asks: how many pass, then the one after them, and so on; `size` events come at a time."""
    asked, found = picker(**settings), []
    for start in range(0, len(events), size):
        left = events[start : start + size]
        while left:
            passing = asked.passing(left)
            assert 0 <= passing <= len(left)
            if passing == len(left):
                break
            at = len(events[start : start + size]) - len(left) + passing + start
            assert asked.picks(Chunk(events[at], at, "event")), "the one behind them is picked"
            found.append(at)
            left = left[passing + 1 :]
    return found


@pytest.mark.parametrize("event", QUIET)
def test_an_event_without_substance_is_never_picked_and_not_counted(event: bytes) -> None:
    assert one_by_one([event, event, b"data: a\n\n"], at=1) == [2]
    assert at_once([event, event, b"data: a\n\n"], 3, at=1) == [2]


@pytest.mark.parametrize("event", TELLING)
def test_an_event_with_any_other_line_is_counted(event: bytes) -> None:
    assert one_by_one([event, event], at=2) == [1]
    assert at_once([event, event], 2, at=2) == [1]


@pytest.mark.parametrize("size", [1, 2, 7, 100])
@pytest.mark.parametrize("settings", [{"at": 1}, {"at": 5}, {"at": 99}, {"share": 0.3}, {"share": 1}])
def test_several_at_once_are_the_same_as_one_by_one(settings: dict[str, float], size: int) -> None:
    events = [*TELLING, *QUIET, *TELLING, b": ping\n\n", *TELLING]
    assert at_once(events, size, **settings) == one_by_one(events, **settings)


def test_chance_picks_some_and_not_all() -> None:
    assert 0 < len(one_by_one([b"data: a\n\n"] * 50, share=0.3)) < 50


def test_a_body_that_is_no_event_is_neither_picked_nor_counted() -> None:
    asked = picker(at=1)
    assert not asked.picks(Chunk(b"data: a\n\n", 0, "body"))
    assert asked.number == 0
    assert asked.picks(Chunk(b"data: a\n\n", 1, "event"))


def test_the_mutator_lets_pass_what_stands_before_the_next_one() -> None:
    mutator = DuplicateEvent(at=3).start(Exchange("s", 1, Request("GET", "http", "h", 80, "/")), DICE)
    assert isinstance(mutator, EventMutator)
    assert mutator.passing([b"data: a\n\n"] * 2) == 2
    assert mutator.passing([b"data: a\n\n"] * 2) == 0, "the third is to be fed"
