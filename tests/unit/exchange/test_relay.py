"""Data through faults in a row: what is known at once, and that it is the same as event by event."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from faultwire.dice import Dice
from faultwire.events import Action, Chunk, Cut, Exchange, Request, Response, Send, Wait
from faultwire.exchange.active_fault import ActiveFault
from faultwire.exchange.fault_chain import FaultChain
from faultwire.exchange.plan import Decision
from faultwire.exchange.relay import FaultRelay
from faultwire.exchange.session_state import Subject
from faultwire.faults._api import Fault, Mutator, Need
from faultwire.faults.stream.drop_event import DropEvent
from faultwire.faults.stream.duplicate_event import DuplicateEvent
from faultwire.faults.stream.malformed_event import MalformedEvent
from faultwire.faults.stream.reorder_events import ReorderEvents
from faultwire.profile.entry_model import Entry, Trigger

SSE = Response(200, "OK", (("content-type", "text/event-stream"),))
EXCHANGE = Exchange("s", 1, Request("POST", "https", "h", 443, "/"), response=SSE)
EVENTS = [b"data: %d-abc\n\n" % at for at in range(9)]
EVENTS[4:4] = [b": ping\n\n"]
STREAM = b"".join(EVENTS)
KINDS = (DropEvent, DuplicateEvent, MalformedEvent, ReorderEvents)


class Probe(Fault):
    name = "probe"
    site = "stream"
    needs = Need.EVENTS


@dataclass
class Passing(Mutator):
    """Lets events pass but for those whose data begins in a way that the test names."""

    acts_on: bytes
    actions: tuple[Action, ...] = (Send(b"!"),)
    asked: list[int] = field(default_factory=list)
    fed: list[Chunk] = field(default_factory=list)

    def passing(self, events: Sequence[bytes]) -> int:
        self.asked.append(len(events))
        acting = [at for at, event in enumerate(events) if event.startswith(self.acts_on)]
        return acting[0] if acting else len(events)

    def feed(self, chunk: Chunk) -> Iterable[Action]:
        self.fed.append(chunk)
        yield from self.actions if chunk.data.startswith(self.acts_on) else (Send(chunk.data),)


class OneByOne(Mutator):
    """The same mutator, fed each event."""

    def __init__(self, inner: Mutator) -> None:
        self.inner = inner

    def feed(self, chunk: Chunk) -> Iterable[Action]:
        yield from self.inner.feed(chunk)

    def finish(self) -> Iterable[Action]:
        yield from self.inner.finish()


def chain(*mutators: Mutator, response: Response = SSE) -> FaultChain:
    made = FaultChain()
    for at, mutator in enumerate(mutators):
        entry = Entry.model_construct(id=f"e{at}", fault=Probe(), trigger=Trigger())
        made.add(ActiveFault(Decision(entry, Subject("k", 0, 0), "fire", "test"), mutator))
    made.arrive(replace(EXCHANGE, response=response))
    return made


def unwatched(_: Iterable[Action]) -> Iterable[Action]:
    raise AssertionError("nobody acts")


def through(relay: FaultRelay, size: int) -> list[Action]:
    out: list[Action] = []
    for at in range(0, len(STREAM), size):
        out += relay.feed(STREAM[at : at + size])
    return [*out, *relay.finish()]


@pytest.mark.parametrize("size", [1, 7, 31, len(STREAM)])
@pytest.mark.parametrize("settings", [{"at": 1}, {"at": 4}, {"at": 9}, {"at": 50}, {"share": 0.4}])
@pytest.mark.parametrize("kind", KINDS)
def test_several_events_at_once_are_the_same_as_each_by_itself(
    kind: Any, settings: dict[str, float], size: int
) -> None:
    dice = Dice(3, "s").held("e", "key", 0)
    batched, single = (kind.model_validate(settings).start(EXCHANGE, dice) for _ in range(2))
    out = through(chain(batched), size)
    assert out == through(chain(OneByOne(single)), size)
    assert batched.effect == single.effect
    if settings in ({"at": 4}, {"share": 0.4}):
        assert batched.effect is not None
        assert out != [Send(event) for event in EVENTS]
    if settings == {"at": 50}:
        assert out == [Send(event) for event in EVENTS]


def test_events_that_nobody_acts_on_are_known_at_once() -> None:
    mutator = Passing(b"none")
    relay = chain(mutator)
    assert relay.feed(STREAM, unwatched) == [Send(event) for event in EVENTS]
    assert (mutator.asked, mutator.fed) == ([10], [])
    assert relay.feed(b"data: un", unwatched) == []
    assert relay.feed(b"ended\n\n", unwatched) == [Send(b"data: unended\n\n")]


def test_what_acts_is_asked_when_what_stands_before_it_is_done_and_what_follows_after() -> None:
    mutator = Passing(b"data: 3", (Wait(1.0), Send(b"new")))
    watched: list[Action] = []

    def watch(actions: Iterable[Action]) -> Iterable[Action]:
        for action in actions:
            watched.append(action)
            yield action

    found = iter(chain(mutator).feed(STREAM, watch))
    assert [next(found) for _ in range(3)] == [Send(event) for event in EVENTS[:3]]
    assert (mutator.fed, watched) == ([], []), "it is fed when somebody asks for its first action"
    assert next(found) == Wait(1.0)
    assert (mutator.fed, watched) == ([Chunk(EVENTS[3], 3, "event")], [Wait(1.0)])
    assert mutator.asked == [10], "nor are the events behind it looked at"
    assert next(found) == Send(b"new")
    assert mutator.asked == [10]
    assert list(found) == [Send(event) for event in EVENTS[4:]]
    assert mutator.asked == [10, 6]
    assert watched == [Wait(1.0), Send(b"new")], "of what passes nobody looks at each"


def test_what_is_fed_event_by_event_is_watched_event_by_event() -> None:
    watched: list[Action] = []
    relay = chain(OneByOne(Passing(b"none")))
    found = relay.feed(STREAM, lambda actions: (watched.append(one) or one for one in actions))
    assert list(found) == watched == [Send(event) for event in EVENTS]


def test_events_keep_their_numbers_whoever_was_asked_about_them() -> None:
    mutator = Passing(b"data: ")
    list(chain(mutator).feed(STREAM))
    assert [chunk.index for chunk in mutator.fed] == [0, 1, 2, 3, 5, 6, 7, 8, 9], "a comment passed"
    late = Passing(b"data: 8")
    relay = chain(late)
    for at in range(0, len(STREAM), 5):
        list(relay.feed(STREAM[at : at + 5]))
    assert [chunk.index for chunk in late.fed] == [9]


def test_an_end_among_them_is_the_last_thing_that_is_done() -> None:
    mutator = Passing(b"data: 3", (Send(b"half"), Cut()))
    relay = chain(mutator)
    assert list(relay.feed(STREAM)) == [*(Send(event) for event in EVENTS[:3]), Send(b"half"), Cut()]
    assert relay.ended
    for more in (STREAM, EVENTS[0], b""):
        assert list(relay.feed(more)) == []
    assert mutator.asked == [10], "nobody is asked after the end"


def test_what_somebody_else_gives_at_the_end_goes_through_the_faults_first() -> None:
    mutator = Passing(b"data: 3", (Send(b"new"),))
    relay = chain(mutator)
    assert list(relay.feed(b"data: un")) == []
    given = (Send(b"ended\n\ndata: 3\n\nrest"), Wait(1.0))
    assert list(relay.finish(given)) == [
        Send(b"data: unended\n\n"),
        Send(b"new"),
        Wait(1.0),
        Send(b"rest"),
    ]


def test_a_fault_that_only_has_trailers_is_asked_for_them() -> None:
    class Trailing(Mutator):
        def trailers(self, headers: Any) -> Any:
            return (*headers, ("grpc-status", "13"))

    assert chain(Trailing()).trailers((("x", "y"),)) == (("x", "y"), ("grpc-status", "13"))
    assert chain(Passing(b"none")).trailers((("x", "y"),)) == (("x", "y"),)


@pytest.mark.parametrize("first", [True, False])
def test_who_has_nothing_to_do_beside_it_leaves_it_alone(first: bool) -> None:
    mutator = Passing(b"none")
    entry = Entry.model_construct(id="e", fault=Probe(), trigger=Trigger())
    decision = Decision(entry, Subject("k", 0, 0), "fire", "test")
    idle = [ActiveFault(decision, None), ActiveFault(decision, OneByOne(Passing(b"data: 1")))]
    idle[1].dropped = ("inapplicable", "for a test")
    made = FaultChain()
    for member in (
        (*idle, ActiveFault(decision, mutator)) if first else (ActiveFault(decision, mutator), *idle)
    ):
        made.add(member)
    made.arrive(EXCHANGE)
    assert made.feed(STREAM, unwatched) == [Send(event) for event in EVENTS]
    assert (mutator.asked, mutator.fed) == ([10], [])


def test_where_two_act_each_event_takes_its_way_by_itself() -> None:
    first, second = Passing(b"data: 3"), Passing(b"data: 4")
    out = list(chain(first, second).feed(STREAM))
    assert out == [Send(b"!" if at in (3, 5) else event) for at, event in enumerate(EVENTS)]
    assert (first.asked, second.asked) == ([], [])
    assert len(first.fed) == len(second.fed) == len(EVENTS)


def test_elements_of_an_array_go_one_by_one_since_each_sign_depends_on_those_before_it() -> None:
    mutator = Passing(b"none")
    response = Response(200, "OK", (("content-type", "application/json"),))
    path = "/v1beta/models/m:streamGenerateContent"
    gemini = Request("POST", "https", "generativelanguage.googleapis.com", 443, path)
    made = FaultChain()
    entry = Entry.model_construct(id="e", fault=Probe(), trigger=Trigger())
    made.add(ActiveFault(Decision(entry, Subject("k", 0, 0), "fire", "test"), mutator))
    made.arrive(Exchange("s", 1, gemini, protocol="gemini", response=response))
    out = [*made.feed(b'[{"a": 1},{"b": 2}]'), *made.finish()]
    assert b"".join(action.data for action in out) == b'[{"a": 1},{"b": 2}]'
    assert mutator.asked == []
    assert mutator.fed
