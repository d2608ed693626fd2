"""Histories of agents that talk to a model and to tools, built without a socket."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

import pytest

from faultwire.events import AgentResult, Delivery, History, Recorded, Request
from faultwire.lineage.model import Edge, Graph
from faultwire.lineage.trace import trace

JSON = (("content-type", "application/json"),)
GAP_MS = 10


def call(name: str, call_id: str, **arguments: Any) -> dict[str, Any]:
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}


def said(text: str | None = None, *calls: dict[str, Any]) -> dict[str, Any]:
    """A message of the model."""
    return {"role": "assistant", "content": text, **({"tool_calls": list(calls)} if calls else {})}


@dataclass
class Wire:
    """A session that grows exchange by exchange, one after the other unless `at` says otherwise."""

    exchanges: list[Recorded] = field(default_factory=list)

    def add(self, request: Request, answer: bytes, at: int | None = None, **about: Any) -> int:
        number = len(self.exchanges) + 1
        delivered = Delivery(200, "OK", about.pop("headers", JSON), answer, ((len(answer), 2_000_000),))
        values: dict[str, Any] = {
            "session": "s", "number": number, "kind": "tool", "protocol": None, "provider": None,
            "tool": None, "upstream": delivered, "delivered": delivered, "ending": "complete",
            "error": None, "attempt": 0, "started_ms": GAP_MS * number if at is None else at,
            "duration_ms": 3.0,
        }  # fmt: skip
        self.exchanges.append(Recorded(request=request, **{**values, **about}))
        return number

    def ask(self, messages: list[dict[str, Any]], message: dict[str, Any], **about: Any) -> int:
        """A call of a model."""
        body = json.dumps({"model": "gpt-4o-mini", "messages": messages}).encode()
        answer = json.dumps(
            {"id": "chatcmpl-1", "model": "gpt-4o-mini", "choices": [{"index": 0, "message": message,
             "finish_reason": "tool_calls" if message.get("tool_calls") else "stop"}]}
        ).encode()  # fmt: skip
        request = Request("POST", "https", "api.openai.com", 443, "/v1/chat/completions", JSON, body)
        return self.add(request, answer, kind="llm", protocol="openai_chat", provider="openai", **about)

    def get(self, path: str, answer: Any, **about: Any) -> int:
        """A call of a tool's server."""
        body = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
        return self.add(Request("GET", "https", "tools.example", 443, path), body, **about)

    def graph(self, output: str | None = None) -> Graph:
        agent = None if output is None else AgentResult(output, 0, 1.0)
        return trace(History("s", tuple(self.exchanges), agent))

    def edges(self, output: str | None = None) -> list[tuple[int, int, str]]:
        found = ((e.source.exchange, e.target.exchange, e.kind) for e in self.graph(output).edges)
        return list(dict.fromkeys(found))

    def edge(self, source: int, target: int, kind: str = "exact", output: str | None = None) -> Edge:
        """The only edge between two exchanges of this kind."""
        found = [
            edge
            for edge in self.graph(output).edges
            if (edge.source.exchange, edge.target.exchange, edge.kind) == (source, target, kind)
        ]
        assert len(found) == 1, found
        return found[0]


@pytest.fixture
def wire() -> Wire:
    return Wire()
