"""One fault while it runs, and the line of the ledger that it leaves."""

from __future__ import annotations

from dataclasses import replace

import pytest

from faultwire.events import Chunk, Response, Send, header
from faultwire.exchange.active_fault import (
    MARK,
    ActiveFault,
    ReplacementAnswer,
    depth,
    ledger_line,
    mark_answer,
    shapes_response,
)
from faultwire.exchange.plan import Decision
from faultwire.exchange.session_state import Subject
from faultwire.faults._api import Mutator
from faultwire.faults.connection.latency import Latency
from faultwire.faults.stream.split_events import SplitEvents
from faultwire.faults.stream.stall import Stall
from faultwire.profile.entry_model import Entry, Trigger


def active(fault=None, mutator=None, **trigger) -> ActiveFault:
    fault = fault or Stall(after_events=1)
    entry = Entry.model_construct(id="e", fault=fault, trigger=Trigger(**trigger))
    return ActiveFault(Decision(entry, Subject("k", 0, 0), "fire", "test"), mutator)


@pytest.mark.parametrize(
    ("fault", "expected"),
    [(Stall(after_events=1), 0), (SplitEvents(), 1), (Latency(distribution="constant", ms=1), 2)],
)
def test_the_connection_is_outermost(fault, expected):
    assert depth(active(fault)) == expected


def test_what_changes_an_answer_is_told_by_its_methods():
    class Trailing(Mutator):
        def trailers(self, headers):
            return ()

    class Waiting(Mutator):
        def before(self):
            return ()

    assert shapes_response(Trailing())
    assert not shapes_response(Waiting())


def test_an_answer_of_ours_tells_sdks_not_to_try_again_where_that_is_wanted():
    assert mark_answer(active(), Response(503)) == Response(503)
    assert header(mark_answer(active(no_sdk_retry=True), Response(503)).headers, "x-should-retry") == "false"


def test_an_answer_names_its_fault_only_where_that_is_asked_for():
    plain = active()
    entry = plain.decision.entry.model_copy(update={"mark": True})
    marked = replace(plain, decision=replace(plain.decision, entry=entry))
    assert header(mark_answer(marked, Response(503)).headers, MARK) == entry.fault.name
    assert header(mark_answer(plain, Response(503)).headers, MARK) is None


def test_an_answer_takes_the_place_of_one_that_has_begun():
    made = ReplacementAnswer(Mutator(), Response(503, "", (), b"{}"))
    assert made.replaces
    assert made.head(Response(200)).status == 503
    assert list(made.feed(Chunk(b"x", 0, "body"))) == []
    assert list(made.finish()) == [Send(b"{}")]
    assert made.trailers((("x", "1"),)) == ()


def test_the_line_says_what_came_of_it():
    idle, acted = Mutator(), Mutator()
    acted.effect = "did it"
    assert ledger_line(active()).outcome == "skipped"
    assert ledger_line(active(mutator=idle)).outcome == "no_effect"
    assert (ledger_line(active(mutator=acted)).outcome, ledger_line(active(mutator=acted)).effect) == (
        "fired",
        "did it",
    )
    gone = active(mutator=idle)
    gone.dropped = ("preempted", "another came first")
    assert (ledger_line(gone).outcome, ledger_line(gone).reason) == ("preempted", "another came first")
