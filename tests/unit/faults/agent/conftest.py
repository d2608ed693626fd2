"""Exchanges between agents, as the pipeline would hand them to a fault."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from faultwire.events import Exchange, Request, Response
from faultwire.wire import classify

CARD = json.dumps(
    {
        "name": "writer",
        "description": "Writes.",
        "url": "http://agents.test/writer",
        "skills": [{"id": "s", "description": "writes"}],
        "signatures": [{"protected": "e30", "signature": "AA"}],
    }
).encode()
ASKED = {"messageId": "m", "role": "user", "parts": [{"kind": "text", "text": "hi"}]}


@pytest.fixture
def agent() -> Callable[..., Exchange]:
    def make(
        *, card: bool = False, stream: bool = False, rest: bool = False, response: Response | None = None
    ) -> Exchange:
        method = "message/stream" if stream else "message/send"
        body = json.dumps({"jsonrpc": "2.0", "id": 7, "method": method, "params": {"message": ASKED}})
        request = Request("POST", "http", "agents.test", 80, "/writer", (), body.encode())
        if card:
            request = Request("GET", "http", "agents.test", 80, "/.well-known/agent-card.json", (), b"")
        elif rest:
            told = json.dumps({"message": ASKED}).encode()
            path = "/writer/message:stream" if stream else "/writer/message:send"
            request = Request("POST", "http", "agents.test", 80, path, (), told)
        found = classify(request)
        assert found.protocol is not None
        return Exchange(
            "s",
            1,
            request,
            kind=found.kind,
            protocol=found.protocol.name,
            provider=found.provider,
            view=found.protocol.view(request),
            response=response,
            key="k",
            agent="writer",
        )

    return make
