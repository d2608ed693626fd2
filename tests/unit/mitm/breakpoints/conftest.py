"""Breakpoints without an engine: exchanges and streams of the mock, and a desk whose clock is turned."""

from __future__ import annotations

import json
from types import SimpleNamespace

import pytest

from faultwire.dice import Dice
from faultwire.events import Chunk, Exchange, Request, Response, Send, Wait
from faultwire.mitm.breakpoints.desk import Desk
from faultwire.mitm.breakpoints.fault import profile_of
from faultwire.mitm.settings import BreakSettings, DecisionSettings
from faultwire.mock._api import Call, Reply
from faultwire.mock._registry import dialects
from faultwire.wire import classify

SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}, "days": {"type": "integer"}}}
SSE = Response(200, "OK", (("content-type", "text/event-stream"),))
JSON = Response(200, "OK", (("content-type", "application/json"),))
TOOL = {"type": "function", "function": {"name": "get_weather", "parameters": SCHEMA}}
CALLS = (Call("get_weather", {"city": "Paris", "days": 3}),)
SECRET = "sk-proj-" + "A1b2C3d4" * 6


def chat(*, stream: bool = True, messages=None, headers=(), response=None, **more) -> Exchange:
    turns = messages or [{"role": "user", "content": "Weather in Paris?"}]
    body = json.dumps(
        {"model": "gpt-4o", "stream": stream, "messages": turns, "tools": [TOOL], **more}
    ).encode()
    kind = (("content-type", "application/json"), ("authorization", "Bearer any"), *headers)
    request = Request("POST", "https", "api.openai.com", 443, "/v1/chat/completions", kind, body)
    found = classify(request)
    assert found.protocol is not None
    view = found.protocol.request_view(body)
    return Exchange(
        "s", 1, request, found.kind, found.protocol.name, found.provider, view=view, response=response
    )


def said(exchange: Exchange, reply: Reply) -> list[bytes]:
    """What a model answers, event by event, or as one body."""
    dialect = next(one for one in dialects().values() if one.answers(exchange.request))
    conversation = dialect.receive(exchange.request)
    if conversation.view.stream:
        return list(dialect.events(conversation, reply))
    return [dialect.whole(conversation, reply)]


class Bench:
    """A desk, and what is noted and held on it."""

    def __init__(self) -> None:
        self.at = 100.0
        self.notes: list[str] = []
        self.under_way = SimpleNamespace(ended=False, pause=None)
        self.desk = Desk(lambda *_: self.under_way, self._note, lambda: self.at, {})

    def _note(self, _code: str, text: str) -> None:
        self.notes.append(text)

    def start(self, exchange: Exchange, at: str, **more):
        """A mutator, as the pipeline starts it."""
        settings = BreakSettings.model_validate({"at": at, **more})
        (entry,) = profile_of(settings, self.desk, "b1").entries
        assert entry.fault.inapplicable(exchange) is None
        return entry.fault.start(exchange, Dice(0, "s").held("f", "k", 0))

    @property
    def ident(self) -> str:
        (held,) = self.desk.listed()
        return str(held["id"])

    def decide(self, do: str = "resume", **more) -> None:
        self.desk.decide(DecisionSettings.model_validate({"held": self.ident, "do": do, **more}), "somebody")

    def run(self, actions, *decisions) -> list:
        """The actions; at each wait the next decision is made."""
        left, found = list(decisions), []
        for action in actions:
            found.append(action)
            if isinstance(action, Wait):
                self.at += self.desk.alive_s
                if left:
                    left.pop(0)()
        assert not left
        return found


@pytest.fixture
def bench() -> Bench:
    return Bench()


def feed(mutator, events, *, unit="event"):
    for at, event in enumerate(events):
        yield from mutator.feed(Chunk(event, at, unit))
    yield from mutator.finish()


def sent(actions) -> list[bytes]:
    return [one.data for one in actions if isinstance(one, Send)]
