from __future__ import annotations

from faultwire.events import Chunk, Cut, Response, Wait
from faultwire.faults.agent.message_lost import MessageLost


def test_a_lost_request_reaches_nobody(agent, dice) -> None:
    mutator = MessageLost(for_ms=40).start(agent(), dice())
    assert list(mutator.before()) == [Wait(0.04), Cut()]
    assert mutator.effect == "the request was lost: the agent was not asked"


def test_a_lost_answer_was_given(agent, dice) -> None:
    mutator = MessageLost(which="answer").start(agent(), dice())
    assert list(mutator.before()) == []
    assert mutator.answer() is None, "the agent is asked"
    assert mutator.effect is None, "nothing is lost before there is an answer"
    mutator.head(Response(200))
    assert list(mutator.feed(Chunk(b"secret", 0, "body"))) == [Wait(None), Cut()]
    assert mutator.effect == "the answer was lost: the agent was asked, and answered 200"


def test_an_answer_without_a_body_is_lost_too(agent, dice) -> None:
    mutator = MessageLost(which="answer", for_ms=1).start(agent(), dice())
    mutator.head(Response(204))
    assert list(mutator.finish()) == [Wait(0.001), Cut()]


def test_cards_are_not_lost(agent, web) -> None:
    assert MessageLost().inapplicable(agent(card=True)) == "a card is read, and no message sent"
    assert MessageLost().inapplicable(agent()) is None
    assert MessageLost().inapplicable(web) is not None
