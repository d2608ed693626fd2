"""What recorded exchanges were is found out when somebody asks."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from faultwire import wire
from faultwire.dice import Dice
from faultwire.events import Exchange, Request, Response
from faultwire.exchange.pipeline import ExchangePipeline
from faultwire.exchange.request_out import SessionContext
from faultwire.exchange.session_state import SessionState
from faultwire.profile.inline import inline
from faultwire.tape.read.call_identity import (
    CallNumbering,
    Known,
    LookedUpCall,
    StoredRecorded,
    known,
    settled,
)
from faultwire.tape.read.reader import TapeReader

HEADERS = (("content-type", "application/json"),)


def chat(
    text: str, *, host: str = "api.openai.com", path: str = "/v1/chat/completions", **more: Any
) -> Request:
    body = {"model": "m", "messages": [{"role": "user", "content": text}]}
    headers = (*HEADERS, *((name.replace("_", "-"), value) for name, value in more.items()))
    return Request("POST", "https", host, 443, path, headers, json.dumps(body).encode())


CALL = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "search", "arguments": {}}}
ASKED = [
    chat("a"),
    chat("b"),
    chat("a"),
    chat("a", x_stainless_retry_count="1"),
    chat("a", host="gateway.test", path="/anything"),
    Request("GET", "https", "tool.test", 443, "/search?q=1&ts=5", (), b""),
    Request("GET", "https", "tool.test", 443, "/search?q=1&ts=6", (), b""),
    Request("POST", "https", "mcp.test", 443, "/mcp", HEADERS, json.dumps(CALL).encode()),
]


def of_a_passage() -> list[tuple[Any, ...]]:
    """The same requests, each of which a fault might have met."""
    profile = inline("latency: {ms: 1, on: {path: '*'}, trigger: {calls: [999]}}")
    context = SessionContext("s", profile, Dice(1, "s"), SessionState())
    found = []
    for request in ASKED:
        passage = ExchangePipeline(context, replace(request, body=None))
        passage.request(request.body or b"")
        e = passage.exchange
        found.append((e.kind, e.protocol, e.provider, e.tool, e.key, e.n, e.attempt))
    return found


def test_a_session_that_nobody_read_is_numbered_as_one_that_was_read(deck: Any) -> None:
    for number, request in enumerate(ASKED, 1):
        recording = deck.writer.record(Exchange("s", number, replace(request, body=None)))
        recording.request(request)
        recording.upstream_head(Response(200, "OK"))
        recording.end("complete")
    got = [(e.kind, e.protocol, e.provider, e.tool, e.key, e.n, e.attempt) for e in deck.read()]
    assert got == of_a_passage()
    assert [e[5] for e in got] == [0, 0, 1, 1, 0, 0, 1, 0]
    assert got[-1][:4] == ("tool", "mcp", "mcp", "search"), "a tool that says its name has it here, too"


def test_one_exchange_alone_has_the_number_that_it_has_among_all(deck: Any) -> None:
    for number in (1, 2, 3):
        recording = deck.writer.record(Exchange("s", number, replace(ASKED[0], body=None)))
        recording.request(ASKED[0])
        recording.end("complete")
    deck.writer.close()
    with TapeReader.open(deck.path) as reader:
        detail = reader.detail("s", 3).recorded
        assert (detail.kind, detail.n) == ("llm", 2)
        assert detail.key == wire.understand(ASKED[0]).key
        assert replace(detail, n=7).n == 7


SAID = {"session": "s", "exchange": 1, "kind": "llm", "protocol": "anthropic", "provider": "p", "tool": None}


def test_what_was_known_on_the_way_is_not_guessed_again() -> None:
    said = {**SAID, "key": "k", "n": 4, "attempt": 2}
    assert known(said, ASKED[0]) == Known("llm", "anthropic", "p", None, 2)
    numbering = CallNumbering()
    assert numbering.at(numbering.take(said, ASKED[0]))[1] == 4


class Unread:
    """A request whose body must not be asked for."""

    def __getattr__(self, name: str) -> Any:
        if name == "body":
            raise AssertionError("the body was read")
        return getattr(ASKED[0], name)


def test_a_body_is_read_only_for_what_the_head_left_open() -> None:
    said = {**SAID, "key": "", "n": 0, "attempt": 0}
    numbering = CallNumbering()
    place = numbering.take(said, Unread())  # type: ignore[arg-type]
    assert numbering.known(place).provider == "p"


def test_where_the_others_are_gone_it_is_the_first() -> None:
    sought = LookedUpCall(lambda: None)
    said = {**SAID, "key": "", "n": 0, "attempt": 0}
    assert sought.at(sought.take(said, ASKED[0]))[1] == 0


def test_equality_is_that_of_recorded_exchanges(deck: Any) -> None:
    deck.exchange()
    deck.exchange()
    one, other = deck.read()
    assert isinstance(one, StoredRecorded)
    assert one == replace(one)
    assert replace(one) == one
    assert one != other
    assert one != "one"


def test_what_is_settled_is_forgotten_and_those_after_it_are_numbered_as_before(deck: Any) -> None:
    for number, request in enumerate(ASKED, 1):
        recording = deck.writer.record(Exchange("s", number, replace(request, body=None)))
        recording.request(request)
        recording.end("complete", None, ())
    deck.writer.close()
    with TapeReader.open(deck.path) as reader:
        expected = list(reader.exchanges())
        stored = list(reader.exchanges())
        numbering: CallNumbering = stored[0]._numbers  # type: ignore[attr-defined]
        found = [settled(one) for one in stored]
        assert found == expected
        assert [type(one).__name__ for one in found] == ["Recorded"] * len(ASKED)
        kept = (numbering._seen, numbering._answers, numbering._known, numbering._revoked, numbering._found)
        assert all(one == {} for one in kept)
        assert settled(found[0]) is found[0]


def test_one_that_cannot_be_numbered_does_not_stop_those_after_it(deck: Any, monkeypatch: Any) -> None:
    import pytest

    from faultwire.errors import TapeTampered

    numbering = CallNumbering()
    event = {
        "kind": "llm",
        "protocol": None,
        "provider": None,
        "tool": None,
        "key": "k",
        "n": 3,
        "attempt": 0,
    }
    for _ in range(2):
        numbering.take({**event, "session": "s", "exchange": 1}, chat("a"))
    real = wire.fingerprint
    monkeypatch.setattr(wire, "fingerprint", lambda *_: (_ for _ in ()).throw(TapeTampered("damaged")))
    with pytest.raises(TapeTampered):
        numbering.at(0)
    monkeypatch.setattr(wire, "fingerprint", real)
    numbering.forget(0)
    assert numbering.at(1)[1] == 3
    assert list(numbering._found) == [1]
