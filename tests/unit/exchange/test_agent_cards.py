from __future__ import annotations

import gzip

import pytest

from faultwire.events import Request, Response
from faultwire.exchange.agent_cards import MOST, AgentCardObserver, needs_card
from faultwire.profile.load import parse
from faultwire.wire.recognition.peers import Peers

CARD = b'{"name": "writer", "url": "http://a.test/w"}'
READ = Request("GET", "http", "a.test", 80, "/.well-known/agent-card.json")
OK = Response(200, "OK", (("content-type", "application/json"),))


def met(body: bytes, head: Response = OK) -> str | None:
    peers = Peers()
    listener = AgentCardObserver(peers, head)
    for at in range(0, len(body), 7):
        assert listener.observe(body[at : at + 7]) == ()
    assert listener.end() == ()
    return peers.name("http://a.test/w/x")


def test_a_card_introduces():
    assert met(CARD) == "writer"
    packed = Response(200, "OK", (("content-encoding", "gzip"),))
    assert met(gzip.compress(CARD), packed) == "writer"


@pytest.mark.parametrize("body", [b"", b"<html>", b'{"name": "x"}', CARD[:-1] + b" " * MOST + b"}"])
def test_nothing_else_does(body):
    assert met(body) is None


def test_an_error_or_a_redirection_does_not():
    assert met(CARD, Response(404)) is None
    assert met(CARD, Response(300)) is None
    assert met(CARD, Response(299)) == "writer"


def test_a_card_of_bounded_length_is_read_and_kept():
    whole = CARD.ljust(MOST)
    for parts, name in (((whole,), "writer"), ((whole, b" "), None), ((whole, whole, whole), None)):
        peers = Peers()
        listener = AgentCardObserver(peers, OK)
        for part in parts:
            listener.observe(part)
        assert len(listener._body) <= 2 * MOST
        listener.end()
        assert peers.name("http://a.test/w") == name


def test_only_where_the_profile_names_agents():
    named = parse("faults: [{agent_down: , on: {agent: writer}}]", "p.yaml")
    edge = parse("faults: [{agent_down: , on: {edge: 'a->writer'}}]", "p.yaml")
    plain = parse("faults: [agent_down]", "p.yaml")
    asked = Request("GET", "http", "a.test", 80, "/x")
    assert [needs_card(p, READ) for p in (named, edge, plain)] == [True, True, False]
    assert not needs_card(named, asked)
