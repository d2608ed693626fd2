"""Exchanges whose answer shows that they were not what their request seemed.

faultwire.tape.read.call_identity.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from faultwire import wire
from faultwire.events import Exchange, FaultFired, Request, Response
from faultwire.tape.read.call_identity import revoked
from faultwire.tape.read.reader import TapeReader

JSON = (("content-type", "application/json"),)
BODY = json.dumps({"model": "m", "messages": [{"role": "user", "content": "hi"}]}).encode()
ANSWER = json.dumps({"object": "chat.completion", "choices": []}).encode()
HTML = (("content-type", "text/html"),)


def asked(host: str, path: str = "/v1/chat/completions") -> Request:
    return Request("POST", "https", host, 443, path, JSON, BODY)


def record(deck: Any, request: Request, said: Response, *, decided: bool, faults: Any = ()) -> None:
    deck.count += 1
    exchange = Exchange("s", deck.count, replace(request, body=None))
    if decided:
        found = wire.understand(request)
        name = found.protocol.name if found.protocol else None
        exchange = Exchange("s", deck.count, request, found.kind, name, found.provider, key=found.key)
    recording = deck.writer.record(exchange)
    recording.request(request)
    recording.upstream_head(said)
    recording.end("complete", None, faults)


@pytest.mark.parametrize("decided", [False, True])
def test_what_was_no_model_s_is_reported_as_other(deck: Any, decided: bool) -> None:
    fired = FaultFired("latency", "latency", "connection", "fired", "call 1 matches", "k", 0, 0)
    record(
        deck, asked("a.test"), Response(200, "OK", JSON, b'{"logged":1}'), decided=decided, faults=(fired,)
    )
    record(deck, asked("b.test"), Response(200, "OK", HTML, b"<html>"), decided=decided)
    record(deck, asked("c.test"), Response(200, "OK", JSON, ANSWER), decided=decided)
    record(deck, asked("api.openai.com"), Response(200, "OK", HTML, b"<html>"), decided=decided)
    record(deck, asked("d.test"), Response(503, "", HTML, b"<html>"), decided=decided)
    found = deck.read()
    assert [one.kind for one in found] == ["other", "other", "llm", "llm", "llm"]
    assert [one.protocol for one in found] == [None, None, *["openai_chat"] * 3]
    assert [one.provider for one in found] == [None, None, *["openai"] * 3]
    why = "its request seemed to be of `openai_chat`, its answer (application/json) is not"
    assert [revoked(one) for one in found] == [why, why.replace("application/json", "text/html"), *[None] * 3]
    assert [line.outcome for line in found[0].faults] == ["fired"], "what was decided stays decided"
    keys = {one.key for one in found[:3]}
    assert len(keys) == 3
    assert found[0].key == wire.fingerprint(asked("a.test"), "llm"), "and what it was decided on"


def test_the_history_reports_that(deck: Any) -> None:
    record(deck, asked("a.test"), Response(200, "OK", JSON, b'{"logged":1}'), decided=True)
    record(deck, asked("c.test"), Response(200, "OK", JSON, ANSWER), decided=True)
    deck.writer.close()
    with TapeReader.open(deck.path) as reader:
        history = reader.history("s")
        one = reader.detail("s", 1).recorded
        assert [e.kind for e in history.exchanges] == ["other", "llm"]
        assert (one.kind, revoked(one) is None) == ("other", False)
        assert wire.transcript_of(one) is None
    assert history.notes == (
        "exchange 1 is of kind `other`: its request seemed to be of `openai_chat`, "
        "its answer (application/json) is not",
    )


def test_what_nobody_stored_was_not_revoked(deck: Any) -> None:
    record(deck, asked("a.test"), Response(200, "OK", JSON, b'{"logged":1}'), decided=True)
    stored = deck.read()[0]
    assert revoked(replace(stored, kind="llm")) is None
