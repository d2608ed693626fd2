"""One fault while it runs, and the line of the ledger that it leaves."""

from __future__ import annotations

from dataclasses import replace

import pytest

from faultwire.dice import Dice
from faultwire.events import Chunk, Exchange, Request, Response, Send, header
from faultwire.exchange.active_fault import (
    MARK,
    ActiveFault,
    ReplacementAnswer,
    activate,
    depth,
    ledger_line,
    mark_answer,
    release_unfired,
    shapes_response,
)
from faultwire.exchange.plan import Decision
from faultwire.exchange.session_state import SessionState, Subject
from faultwire.faults._api import Fault, Mutator
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


def test_what_changes_an_answer_is_recognised_by_its_methods():
    class Trailing(Mutator):
        def trailers(self, headers):
            return ()

    class Waiting(Mutator):
        def before(self):
            return ()

    assert shapes_response(Trailing())
    assert not shapes_response(Waiting())


def test_an_answer_of_ours_asks_sdks_not_to_retry_where_that_is_configured():
    assert mark_answer(active(), Response(503)) == Response(503)
    assert mark_answer(active(no_sdk_retry=True), Response(503)).headers == (("x-should-retry", "false"),)


def test_an_answer_names_its_fault_only_where_that_is_asked_for():
    plain = active()
    entry = plain.decision.entry.model_copy(update={"mark": True})
    marked = replace(plain, decision=replace(plain.decision, entry=entry))
    assert header(mark_answer(marked, Response(503)).headers, MARK) == entry.fault.name
    assert header(mark_answer(plain, Response(503)).headers, MARK) is None


def test_there_is_nothing_to_ask_of_what_was_dropped_or_never_begun():
    made = active(mutator=Mutator())
    assert made.acts
    made.dropped = ("preempted", "another came first")
    assert not made.acts
    assert not active().acts


def test_an_answer_takes_the_place_of_one_that_has_begun():
    made = ReplacementAnswer(Mutator(), Response(503, "", (), b"{}"))
    assert made.replaces
    assert made.head(Response(200)).status == 503
    assert list(made.feed(Chunk(b"x", 0, "body"))) == []
    assert list(made.finish()) == [Send(b"{}")]
    assert made.trailers((("x", "1"),)) == ()
    assert list(ReplacementAnswer(Mutator(), Response(204)).finish()) == [Send(b"")]


def test_the_line_states_what_came_of_it():
    idle, acted = Mutator(), Mutator()
    acted.effect = "did it"
    assert ledger_line(active()).outcome == "skipped"
    assert ledger_line(active(mutator=idle)).outcome == "no_effect"
    assert (ledger_line(active(mutator=acted)).outcome, ledger_line(active(mutator=acted)).effect) == (
        "fired",
        "did it",
    )
    passed = active(mutator=acted)
    passed.decision = replace(passed.decision, verb="skip")
    assert ledger_line(passed).outcome == "fired", "it did something all the same"
    passed.mutator = idle
    assert ledger_line(passed).outcome == "skipped"
    gone = active(mutator=idle)
    gone.dropped = ("preempted", "another came first")
    assert (ledger_line(gone).outcome, ledger_line(gone).reason) == ("preempted", "another came first")


@pytest.mark.parametrize(
    ("call", "counted", "effect", "after"),
    [
        ("fire", True, None, (1, 0)),
        ("fire", True, "did it", (1, 1)),
        ("fire", False, None, (1, 1)),
        ("skip", True, None, (1, 1)),
    ],
)
def test_only_a_counted_fault_that_did_not_fire_gives_its_place_back(call, counted, effect, after):
    state, mutator = SessionState(), Mutator()
    mutator.effect = effect
    found = active(mutator=mutator)
    found.decision = replace(found.decision, call=(call, "", None), counted=counted)
    state.note("e", Subject("other", 0, 0), ("fire", "", None))
    release_unfired([found], state)
    assert state.counts("e") == after


class Noting(Mutator):
    """Notes what it was made and begun with."""

    def __init__(self, *made):
        self.made = made

    def arrived(self, memory, at_s):
        self.begun = (memory, at_s)


class Noted(Fault):
    name = "noted"
    site = "response"

    def start(self, exchange, dice):
        return Noting("start", exchange, dice)

    def watch(self, exchange):
        return Noting("watch", exchange)


def test_a_fault_that_fires_acts_and_one_that_does_not_takes_notes():
    exchange = Exchange("s", 1, Request("GET", "https", "h", 443, "/"), at_s=2.5)
    state, dice = SessionState(), Dice(1, "s")
    state.memory("e")["kept"] = 1
    decision = replace(active(Noted()).decision, subject=Subject("k", 3, 1))
    made = {
        verb: activate(replace(decision, verb=verb), exchange, dice, state)
        for verb in ("fire", "skip", "inapplicable")
    }
    assert made["fire"].mutator.made == ("start", exchange, dice.held("e", "k", 3))
    assert made["skip"].mutator.made == ("watch", exchange)
    assert made["inapplicable"].mutator is None
    for verb in ("fire", "skip"):
        assert made[verb].mutator.begun == ({"kept": 1}, 2.5)
        assert made[verb].decision.verb == verb
    state.memory("e")["more"] = 2
    assert made["fire"].mutator.begun[0] == {"kept": 1, "more": 2}, "the session's own memory"


def test_an_effect_that_never_reached_the_agent_keeps_no_place():
    state = SessionState()
    found = active(mutator=Mutator())
    found.mutator.effect, found.dropped = "did it", ("preempted", "another replaced the answer")
    found.decision = replace(found.decision, call=("fire", "test", None), counted=True)
    entry, subject = found.decision.entry.id, found.decision.subject
    state.note(entry, subject, found.decision.call)
    release_unfired([found], state)
    assert state.counts(entry) == (1, 0)


def test_a_decision_that_nobody_carries_out_keeps_no_place():
    state = SessionState()
    found = active(mutator=None)
    found.mutator = None
    found.decision = replace(found.decision, call=("fire", "test", None), counted=True)
    entry, subject = found.decision.entry.id, found.decision.subject
    state.note(entry, subject, found.decision.call)
    release_unfired([found], state)
    assert state.counts(entry) == (1, 0)
