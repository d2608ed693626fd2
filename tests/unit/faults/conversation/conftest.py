"""Conversations of two finished turns with a tool, and a third question, as four providers are sent them."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, NamedTuple

import pytest

from faultwire.dice import Dice
from faultwire.events import Exchange, FaultFired, Request
from faultwire.exchange.pipeline import ExchangePipeline
from faultwire.exchange.request_out import SessionContext
from faultwire.exchange.session_state import SessionState
from faultwire.profile.load import parse

JSON = (("content-type", "application/json"), ("content-length", "0"))


def chat_turn(n: int) -> list[Any]:
    function = {"name": "look", "arguments": "{}"}
    return [
        {"role": "user", "content": f"question {n}"},
        {"role": "assistant", "tool_calls": [{"id": f"c{n}", "type": "function", "function": function}]},
        {"role": "tool", "tool_call_id": f"c{n}", "content": f"found {n}"},
        {"role": "assistant", "content": f"answer {n}"},
    ]


def responses_turn(n: int) -> list[Any]:
    return [
        {"role": "user", "content": f"question {n}"},
        {"type": "reasoning", "id": f"rs_{n}", "summary": []},
        {"type": "function_call", "call_id": f"c{n}", "name": "look", "arguments": "{}"},
        {"type": "function_call_output", "call_id": f"c{n}", "output": f"found {n}"},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": f"answer {n}"}]},
    ]


def anthropic_turn(n: int) -> list[Any]:
    call = {"type": "tool_use", "id": f"c{n}", "name": "look", "input": {}}
    result = {"type": "tool_result", "tool_use_id": f"c{n}", "content": f"found {n}"}
    return [
        {"role": "user", "content": f"question {n}"},
        {"role": "assistant", "content": [{"type": "text", "text": "let me see"}, call]},
        {"role": "user", "content": [result]},
        {"role": "assistant", "content": f"answer {n}"},
    ]


def gemini_turn(n: int) -> list[Any]:
    return [
        {"role": "user", "parts": [{"text": f"question {n}"}]},
        {"role": "model", "parts": [{"functionCall": {"name": "look", "args": {"n": n}}}]},
        {
            "role": "user",
            "parts": [{"functionResponse": {"name": "look", "response": {"result": f"found {n}"}}}],
        },
        {"role": "model", "parts": [{"text": f"answer {n}"}]},
    ]


class Api(NamedTuple):
    """How a provider is asked: where, by which member, what a turn is, and what stands beside the history."""

    host: str
    path: str
    array: str
    turn: Callable[[int], list[Any]]
    before: tuple[Any, ...]
    beside: dict[str, Any]

    def history(self, turns: int, asked: int = 0) -> list[Any]:
        """So many whole turns, and the first message of the next one."""
        whole = [element for n in range(1, turns + 1) for element in self.turn(n)]
        return [*self.before, *whole, self.turn(asked or turns + 1)[0]]

    def request(self, history: list[Any], **more: Any) -> tuple[Request, bytes]:
        body = json.dumps({**self.beside, self.array: history, **more}).encode()
        return Request("POST", "https", self.host, 443, self.path, JSON), body


SYSTEM = {"role": "system", "content": "Be brief."}
APIS = {
    "openai_chat": Api(
        "api.openai.com", "/v1/chat/completions", "messages", chat_turn, (SYSTEM,), {"model": "m"}
    ),
    "openai_responses": Api(
        "api.openai.com", "/v1/responses", "input", responses_turn, (SYSTEM,), {"model": "m", "store": False}
    ),
    "anthropic": Api(
        "api.anthropic.com", "/v1/messages", "messages", anthropic_turn, (),
        {"model": "m", "max_tokens": 9, "system": "Be brief."},
    ),
    "gemini": Api(
        "generativelanguage.googleapis.com", "/v1beta/models/m:generateContent", "contents", gemini_turn, (),
        {"systemInstruction": {"parts": [{"text": "Be brief."}]}},
    ),
}  # fmt: skip


@pytest.fixture(params=APIS)
def api(request: pytest.FixtureRequest) -> Api:
    return APIS[request.param]


@pytest.fixture
def chat() -> Api:
    return APIS["openai_chat"]


@pytest.fixture
def responses() -> Api:
    return APIS["openai_responses"]


class Session:
    """One session under a profile: what becomes of each request, and what the ledger says of it."""

    def __init__(self, faults: list[dict[str, Any]], seed: int = 1) -> None:
        profile = parse(json.dumps({"faults": faults}), "p.yaml")
        self.context = SessionContext("s", profile, Dice(seed, "s"), SessionState())

    def send(self, head: Request, body: bytes) -> tuple[dict[str, Any], tuple[FaultFired, ...]]:
        """The document that goes on, and the lines."""
        request, lines = self.forward(head, body)
        return json.loads(request.body or b""), lines

    def forward(self, head: Request, body: bytes) -> tuple[Request, tuple[FaultFired, ...]]:
        pipeline = ExchangePipeline(self.context, head)
        request = pipeline.request(body).request
        return request, pipeline.over()

    def understood(self, head: Request, body: bytes) -> Exchange:
        pipeline = ExchangePipeline(self.context, head)
        pipeline.request(body)
        return pipeline.exchange


@pytest.fixture
def session() -> Callable[..., Session]:
    def make(name: str, settings: dict[str, Any] | None = None, seed: int = 1, **more: Any) -> Session:
        return Session([{name: settings or None, "on": {"kind": "llm"}, **more}], seed)

    return make


@pytest.fixture
def sessions() -> type[Session]:
    return Session
