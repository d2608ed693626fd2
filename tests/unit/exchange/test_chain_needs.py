"""What a chain of faults says of itself before anything happens: faultwire.exchange.fault_chain."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import pytest

from faultwire.events import Action, Chunk, Exchange, Request, Response, Wait
from faultwire.exchange.active_fault import MARK, ActiveFault
from faultwire.exchange.fault_chain import FaultChain
from faultwire.exchange.plan import Decision
from faultwire.exchange.session_state import Subject
from faultwire.faults._api import Fault, Mutator, Need
from faultwire.profile.entry_model import Entry, Trigger

TRAILERS = (("grpc-status", "0"),)
SSE = Response(200, "OK", (("content-type", "text/event-stream"),))


class Probe(Fault):
    name = "probe"
    site = "stream"
    needs = Need.EVENTS


class Whole(Probe):
    needs = Need.BODY


class Events(Mutator):
    def feed(self, chunk: Chunk) -> Iterable[Action]:
        return ()


class Waiting(Mutator):
    def before(self) -> Iterable[Action]:
        yield Wait(1.0)


class Answering(Mutator):
    def answer(self) -> Response | None:
        return Response(503, "Unavailable", ())


class Trailing(Mutator):
    def trailers(self, headers: Any) -> Any:
        return (*headers, ("x-more", "1"))


def active(
    mutator: Mutator | None, *, dropped: bool = False, fault: Fault | None = None, mark: bool = False
) -> ActiveFault:
    entry = Entry.model_construct(id="e", fault=fault or Probe(), trigger=Trigger(), mark=mark)
    made = ActiveFault(Decision(entry, Subject("k", 0, 0), "fire", "test"), mutator)
    made.dropped = ("inapplicable", "for a test") if dropped else None
    return made


def chain(*members: ActiveFault) -> FaultChain:
    made = FaultChain()
    for member in members:
        made.add(member)
    return made


def nobody() -> list[ActiveFault]:
    """Those that have nothing to do: a decision alone, and two that were dropped."""
    return [active(None), active(Events(), dropped=True), active(Waiting(), dropped=True)]


@pytest.mark.parametrize("mutator", [Events(), Waiting(), Answering()], ids=lambda one: type(one).__name__)
def test_a_chain_is_idle_until_somebody_in_it_acts(mutator: Mutator) -> None:
    assert chain().idle
    for member in nobody():
        assert chain(member).idle
    assert chain(*nobody()).idle
    assert not chain(*nobody(), active(mutator)).idle
    assert not chain(active(mutator), *nobody()).idle


@pytest.mark.parametrize(
    ("mutator", "acts"),
    [(Events(), False), (Waiting(), True), (Answering(), True)],
    ids=["events", "wait", "answer"],
)
def test_who_waits_or_answers_acts_before_the_call(mutator: Mutator, acts: bool) -> None:
    assert not chain().acts_before
    for member in nobody():
        assert not chain(member).acts_before
    assert not chain(active(Answering(), dropped=True)).acts_before
    assert chain(active(mutator)).acts_before is acts
    assert chain(*nobody(), active(Events()), active(mutator)).acts_before is acts


def test_only_what_still_acts_must_be_shown_anything() -> None:
    assert chain(*nobody()).needs == Need.HEAD
    assert chain(active(None)).needs == Need.HEAD
    assert chain(*nobody(), active(Waiting())).needs == Need.HEAD | Need.EVENTS


def test_who_has_nothing_to_do_keeps_nobody_from_trailers() -> None:
    gone, later = active(Trailing()), active(Trailing())
    made = chain(gone, active(None), later)
    made.arrive(Exchange("s", 1, Request("POST", "https", "h", 443, "/"), response=SSE))
    gone.dropped = ("preempted", "for a test")
    assert made.trailers(TRAILERS) == (*TRAILERS, ("x-more", "1"))


@pytest.mark.parametrize(
    ("status", "upgrade", "dropped"),
    [(101, "websocket", True), (101, "h2c", False), (200, "websocket", False)],
)
def test_only_an_upgrade_to_a_websocket_has_no_body(status: int, upgrade: str, dropped: bool) -> None:
    member = active(Events(), fault=Whole())
    response = Response(status, "", (("connection", "upgrade"), ("upgrade", upgrade)))
    chain(member).arrive(Exchange("s", 1, Request("GET", "https", "h", 443, "/"), response=response))
    assert (member.dropped is not None) is dropped


class Looking(Mutator):
    def head(self, response: Response) -> Response:
        return response


class Unavailable(Mutator):
    def head(self, response: Response) -> Response:
        return replace(response, status=503)


@pytest.mark.parametrize(
    ("mutator", "marked"), [(Looking(), False), (Unavailable(), True)], ids=["looks", "changes"]
)
def test_only_a_head_that_a_fault_changed_is_marked_as_its_own(mutator: Mutator, marked: bool) -> None:
    member = active(mutator, mark=True)
    exchange = Exchange("s", 1, Request("POST", "https", "h", 443, "/"), response=SSE)
    headers = dict(chain(member).arrive(exchange).headers)
    assert headers.get(MARK) == ("probe" if marked else None)


def test_only_what_could_still_act_is_said_to_be_kept_from_it() -> None:
    chain, none, dropped, acting = (
        FaultChain(),
        active(None),
        active(Events(), dropped=True),
        active(Events()),
    )
    done = active(Events())
    assert done.mutator is not None
    done.mutator.effect = "waited"
    for one in (none, dropped, done, acting):
        chain.add(one)
    chain.withhold("it is not sent")
    assert [one.dropped for one in chain.all] == [
        None,
        ("inapplicable", "for a test"),
        None,
        ("preempted", "it is not sent"),
    ]
