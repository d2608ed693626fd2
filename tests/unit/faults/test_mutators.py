"""What several faults share: answers, bodies, places, and changes of what a model said."""

from __future__ import annotations

import pytest

from faultwire.events import Chunk, Cut, Response, Send
from faultwire.faults._changing import AnswerFault, Changing
from faultwire.faults._mutators import Answered, BodyEdit, Replaced
from faultwire.faults.connection._places import AfterBytes, ended
from faultwire.faults.model._drift import renamed
from faultwire.faults.stream._which import EventFault, Picker
from faultwire.wire import protocol
from faultwire.wire.editing.api import Change

ANSWER = Response(418, "I'm a teapot", (), b"short")


def test_an_answer_fires_when_it_is_given() -> None:
    mutator = Answered(ANSWER)
    assert mutator.effect is None
    assert mutator.answer() is ANSWER
    assert mutator.effect == "answered 418"
    assert not mutator.replaces


def test_a_replaced_answer_states_what_it_replaced(run, web) -> None:
    mutator = Replaced(ANSWER)
    assert mutator.head(Response(200)).status == 418
    assert run(mutator, web, [b"a", b"b"], "bytes") == [Send(b"short")]
    assert mutator.effect == "answered 418 where upstream sent 200"
    assert mutator.replaces


def test_a_body_is_edited_and_a_rest_is_not(run, web) -> None:
    mutator = BodyEdit(bytes.upper, "raised")
    assert run(mutator, web, [b"abc"], "bytes") == [Send(b"abc")]
    assert mutator.effect is None
    assert run(mutator, web, [b"abc"], "body") == [Send(b"ABC")]
    assert mutator.effect == "raised"


def test_a_place_that_is_never_reached_ends_nothing(run, web) -> None:
    mutator = ended(AfterBytes(after_bytes=9), Cut(), "closed", web)
    assert run(mutator, web, [b"abc"], "bytes") == [Send(b"abc")]
    assert mutator.effect is None


@pytest.mark.parametrize("told", [b"<html>", b"", b"[]", b"\xff"])
def test_what_is_no_answer_is_passed_on(run, chat, told) -> None:
    mutator = Changing(protocol("openai_chat"), Change(text=lambda _: "x"), "did")
    assert run(mutator, chat(), [told], "body") == [Send(told)]
    assert mutator.effect is None


def test_an_answer_fault_needs_an_answer_that_can_be_edited(chat, web) -> None:
    class Loud(AnswerFault):
        name = "loud"
        did = "louder"

        def change(self, exchange, dice):
            return Change(text=str.upper)

    assert Loud().inapplicable(chat()) is None
    assert Loud().inapplicable(web) == "the exchange is `tool`, not `llm`"
    assert Loud().inapplicable(chat(response=Response(429))) == "the response has status 429"


def test_an_event_fault_counts_events(dice) -> None:
    class Probe(EventFault):
        name = "probe"

    picker = Picker(Probe(at=2), dice())
    events = [b": hi\n\n", b"data: 1\n\n", b"retry: 5\n\n", b"data: 2\n\n", b'{"n":3}\n']
    picked = [event for at, event in enumerate(events) if picker.picks(Chunk(event, at, "event"))]
    assert picked == [b"data: 2\n\n"]
    assert picker.number == 3
    assert not picker.picks(Chunk(b"data: 4", 9, "bytes"))


def test_renaming_keeps_a_name_that_is_taken() -> None:
    assert renamed('{"name": 1, "title": 2}', "subtle") == '{"name": 1, "title": 2}'
