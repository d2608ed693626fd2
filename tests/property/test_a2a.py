"""Agent2Agent against hostile input: nothing but `WireError`, and what is not changed keeps its bytes."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given, strategies as st

from faultwire.errors import WireError
from faultwire.events import Request
from faultwire.wire import classify
from faultwire.wire.a2a import card as a2a_card
from faultwire.wire.a2a.http import A2AHttp
from faultwire.wire.a2a.jsonrpc import A2A, AgentProtocol
from faultwire.wire.a2a.stream import A2AStreamEditor
from faultwire.wire.editing.api import Change
from faultwire.wire.framing import sse

SPOKEN = """
jsonrpc 2.0 id method message/send SendMessage tasks/get params message parts content text kind task status
state statusUpdate artifactUpdate artifact artifacts artifactId append final result error code role agent name
url supportedInterfaces additionalInterfaces skills description signatures completed TASK_STATE_WORKING
"""
WORDS = SPOKEN.split()
TEXT = st.one_of(st.sampled_from(WORDS), st.text(max_size=8))
VALUES: st.SearchStrategy[Any] = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(-9, 9), TEXT),
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(TEXT, inner, max_size=5)),
    max_leaves=24,
)
CALL = {"jsonrpc": "2.0", "id": 1, "method": "message/send"}
BODIES = st.one_of(
    st.binary(max_size=64),
    VALUES.map(lambda value: json.dumps(value).encode()),
    VALUES.map(lambda value: json.dumps({"jsonrpc": "2.0", "id": 1, "result": value}).encode()),
    VALUES.map(lambda value: json.dumps(CALL | {"params": value}).encode()),
)
PROTOCOLS: tuple[AgentProtocol, ...] = (A2A(), A2AHttp())


@given(BODIES, st.sampled_from(("/", "/message:send", "/v1/message:stream", "/tasks/x:cancel")))
def test_requests(body: bytes, path: str) -> None:
    request = Request("POST", "http", "a", 80, path, (("A2A-Version", "1.0"),), body)
    classify(request)
    for protocol in PROTOCOLS:
        try:
            protocol.view(request)
            places = protocol.edits.texts(body)
        except WireError:
            continue
        same = protocol.edits.rewrite_texts(body, {place.path: place.text for place in places})
        assert json.loads(same) == json.loads(body)


@given(BODIES)
def test_answers(body: bytes) -> None:
    for protocol in PROTOCOLS:
        try:
            protocol.response_view(200, body)
            assert protocol.edits.change(body, Change(text=lambda text: text)) == body
            changed = protocol.edits.change(body, Change(text=str.swapcase))
        except WireError:
            continue
        assert json.loads(protocol.edits.change(changed, Change(text=str.swapcase))) is not None
        protocol.truncate(body, 1)


@given(BODIES)
def test_cards(body: bytes) -> None:
    try:
        card = a2a_card.read(body)
    except WireError:
        return
    assert a2a_card.rewritten(body, lambda _: None).body == body
    moved = a2a_card.rewritten(body, lambda url: f"{url}#")
    assert moved.addresses >= len(card.urls)
    assert a2a_card.rewritten(moved.body, lambda url: url.removesuffix("#")).addresses == moved.addresses


@given(st.lists(BODIES, max_size=6))
def test_streams(bodies: list[bytes]) -> None:
    events = [sse.write(body.replace(b"\r", b"").replace(b"\n", b"")) for body in bodies]
    for protocol in PROTOCOLS:
        reader, changer = protocol.reader(), A2AStreamEditor(lambda text: text, protocol.root)
        out = []
        for event in events:
            reader.feed(event)
            protocol.is_terminal(event)
            out += changer.feed(event)
        reader.view()
        out += changer.finish()
        assert b"".join(out) == b"".join(events)
        assert not changer.changed
