"""One fault while it runs, and the line of the ledger that it leaves."""

from __future__ import annotations

from dataclasses import replace

import pytest

from faultwire.events import Chunk, Response, Send, header
from faultwire.exchange.active_fault import MARK, Instead, Running, depth, final, ran, shapes
from faultwire.exchange.plan import Decision
from faultwire.exchange.session_state import Subject
from faultwire.faults._api import Mutator
from faultwire.faults.connection.latency import Latency
from faultwire.faults.stream.split_events import SplitEvents
from faultwire.faults.stream.stall import Stall
from faultwire.profile.model import Entry, Trigger


def running(fault=None, mutator=None, **trigger) -> Running:
    fault = fault or Stall(after_events=1)
    entry = Entry.model_construct(id="e", fault=fault, trigger=Trigger(**trigger))
    return Running(Decision(entry, Subject("k", 0, 0), "fire", "test"), mutator)


@pytest.mark.parametrize(
    ("fault", "expected"),
    [(Stall(after_events=1), 0), (SplitEvents(), 1), (Latency(distribution="constant", ms=1), 2)],
)
def test_the_connection_is_outermost(fault, expected):
    assert depth(running(fault)) == expected


def test_what_changes_an_answer_is_told_by_its_methods():
    class Trailing(Mutator):
        def trailers(self, headers):
            return ()

    class Waiting(Mutator):
        def before(self):
            return ()

    assert shapes(Trailing())
    assert not shapes(Waiting())


def test_an_answer_of_ours_tells_sdks_not_to_try_again_where_that_is_wanted():
    assert final(running(), Response(503)) == Response(503)
    assert header(final(running(no_sdk_retry=True), Response(503)).headers, "x-should-retry") == "false"


def test_an_answer_names_its_fault_only_where_that_is_asked_for():
    plain = running()
    entry = plain.decision.entry.model_copy(update={"mark": True})
    marked = replace(plain, decision=replace(plain.decision, entry=entry))
    assert header(final(marked, Response(503)).headers, MARK) == entry.fault.name
    assert header(final(plain, Response(503)).headers, MARK) is None


def test_an_answer_takes_the_place_of_one_that_has_begun():
    made = Instead(Mutator(), Response(503, "", (), b"{}"))
    assert made.replaces
    assert made.head(Response(200)).status == 503
    assert list(made.feed(Chunk(b"x", 0, "body"))) == []
    assert list(made.finish()) == [Send(b"{}")]
    assert made.trailers((("x", "1"),)) == ()


def test_the_line_says_what_came_of_it():
    idle, acted = Mutator(), Mutator()
    acted.effect = "did it"
    assert ran(running()).outcome == "skipped"
    assert ran(running(mutator=idle)).outcome == "no_effect"
    assert (ran(running(mutator=acted)).outcome, ran(running(mutator=acted)).effect) == ("fired", "did it")
    gone = running(mutator=idle)
    gone.dropped = ("preempted", "another came first")
    assert (ran(gone).outcome, ran(gone).reason) == ("preempted", "another came first")
