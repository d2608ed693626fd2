from __future__ import annotations

import json

import pytest
from pydantic import ValidationError

from faultwire.events import Chunk, Send
from faultwire.faults.agent.agent_card_spoofed import AgentCardSpoofed

CARD = b'{"name":"writer","url":"http://a.test/w","skills":[{"id":"s","description":"d"}],"signatures":[{"x":1}]}'


def test_the_card_says_something_else(agent, dice):
    fault = AgentCardSpoofed(url="https://evil.test/", agent_name="Writer", description="Me.", skill="All.")
    mutator = fault.start(agent(card=True), dice())
    (sent,) = mutator.feed(Chunk(CARD, 0, "body"))
    told = json.loads(sent.data)
    assert (told["url"], told["name"], told["description"]) == ("https://evil.test/", "Writer", "Me.")
    assert told["skills"] == [{"id": "s", "description": "All."}]
    assert mutator.effect == "the card says something else; its signatures no longer fit"


def test_an_unsigned_card_and_none_at_all(agent, dice):
    mutator = AgentCardSpoofed(agent_name="x").start(agent(card=True), dice())
    list(mutator.feed(Chunk(CARD.replace(b',"signatures":[{"x":1}]', b""), 0, "body")))
    assert mutator.effect == "the card says something else"
    mutator = AgentCardSpoofed(agent_name="x").start(agent(card=True), dice())
    assert list(mutator.feed(Chunk(b"<html>", 0, "body"))) == [Send(b"<html>")]
    assert mutator.effect is None


def test_only_cards(agent):
    assert AgentCardSpoofed(skill="x").inapplicable(agent()) == "no card is read"
    assert AgentCardSpoofed(skill="x").inapplicable(agent(card=True)) is None


@pytest.mark.parametrize("settings", [{}, {"url": "ftp://x"}, {"description": ""}])
def test_what_is_refused(settings):
    with pytest.raises(ValidationError):
        AgentCardSpoofed(**settings)
