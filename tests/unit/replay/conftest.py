from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import orjson
import pytest

from faultwire.events import Exchange, FaultFired, Headers, Request, Response
from faultwire.replay.player import Player
from faultwire.replay.reader import index
from faultwire.replay.rebind import Rebinder
from faultwire.replay.settings import SessionAnswers
from faultwire.tape.read.reader import TapeReader
from faultwire.tape.record.writer import TapeWriter
from faultwire.tape.redact.redactor import Redactor

JSON: Headers = (("content-type", "application/json"),)
SSE: Headers = (("content-type", "text/event-stream"),)
KEY = b"k" * 32


def chat(*texts: str, model: str = "gpt-4o-mini", **more: object) -> Request:
    """A call of Chat Completions with these user messages."""
    messages = [{"role": "user", "content": text} for text in texts]
    return call({"model": model, "messages": messages, **more})


def call(body: object, path: str = "/v1/chat/completions", host: str = "api.openai.com") -> Request:
    """A POST of JSON."""
    return Request("POST", "https", host, 443, path, JSON, orjson.dumps(body))


class Deck:
    """A tape in the making: requests, and the pieces of their answers."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._writer = TapeWriter.create(path, origin="p/t", settings={"masks": []}, key=KEY)
        self._writer.open_session("exec", profile="", profile_digest="", seed=1, agent="")
        self._count = 0

    def add(
        self,
        request: Request,
        *answer: bytes,
        headers: Headers = JSON,
        status: int = 200,
        ending: str = "complete",
        sent_on: Request | None = None,
        faults: tuple[FaultFired, ...] = (),
    ) -> None:
        self._count += 1
        recording = self._writer.record(Exchange("exec", self._count, request))
        recording.request(request)
        if sent_on is not None:
            recording.forwarded(sent_on)
        recording.upstream_head(Response(status, "", headers))
        for piece in answer:
            recording.upstream_chunk(piece)
        recording.end(ending, None, faults)

    def close(self) -> Path:
        self._writer.close_session("exec")
        self._writer.close()
        assert self._writer.failed is None
        return self.path


@pytest.fixture
def deck(tmp_path: Path) -> Deck:
    return Deck(tmp_path / "t.tape")


Play = Callable[..., Player]


@pytest.fixture
def play(deck: Deck) -> Iterator[Play]:
    """A player of what is on the deck; `key` is the project's that replays it."""
    readers: list[TapeReader] = []

    def made(
        *masks: str,
        key: bytes = KEY,
        rebind: bool = False,
        strict_order: bool = False,
        reuse: bool = False,
        live: bool = False,
        answers: SessionAnswers | None = None,
    ) -> Player:
        readers.append(TapeReader.open(deck.close()))
        own = answers or SessionAnswers()
        found = index(
            readers[0], masks, session="exec", strict_order=strict_order, reuse=reuse, without=own.without
        )
        return Player(found, Redactor(key), Rebinder() if rebind else None, live=live, given=own.given)

    yield made
    for reader in readers:
        reader.close()


class Incident:
    """A tape of an agent whose tools are seen at all three sites: exchanges by what each is about."""

    def __init__(self, path: Path, session: str = "contract/outage/p1/r1", **about: Any) -> None:
        self.path, self.session = path, session
        self._writer = TapeWriter.create(path, origin="p/t", settings=about, key=KEY)
        self._count = 0
        self.begin(session)

    def begin(self, session: str) -> None:
        self.session, self._count = session, 0
        self._writer.open_session(session, profile="", profile_digest="", seed=1, agent="", started_ms=0)

    def add(
        self, request: Request, answer: bytes | None = b"", *, headers: Headers = JSON, status: int = 200,
        ending: str = "complete", forwarded: Request | None = None, effect: str = "", ours: bool = False,
        **more: Any,
    ) -> None:  # fmt: skip
        """`ours`: nobody was asked, the answer is the proxy's own."""
        self._count += 1
        recording = self._writer.record(Exchange(self.session, self._count, request, **more))
        recording.request(request)
        if forwarded is not None:
            recording.forwarded(forwarded)
        if ours:
            recording.delivered_head(Response(status, "", headers, answer))
        elif answer is not None:
            recording.upstream_head(Response(status, "", headers))
            if answer:
                recording.upstream_chunk(answer)
        line = FaultFired("tool_slow", "t", "result", "fired", "", "k", 0, 0, subject="lookup", effect=effect)
        recording.end(ending, None, (line,) if effect else ())

    def http(self, answer: bytes | None, tool: str = "price", **more: Any) -> None:
        request = Request("POST", "http", "shop.test", 80, f"/{tool}", JSON, b'{"q": "tea"}')
        self.add(request, answer, kind="tool", tool=tool, **more)

    def mcp(self, result: Any, *, tool: str | None = "stock", **more: Any) -> None:
        call = {
            "jsonrpc": "2.0",
            "id": 4,
            "method": "tools/call",
            "params": {"name": "stock", "arguments": {}},
        }
        request = Request("POST", "http", "mcp.test", 80, "/mcp", JSON, json.dumps(call).encode())
        answer = json.dumps({"jsonrpc": "2.0", "id": 4, **result}).encode()
        if more.pop("streams", False):
            answer = b"event: message\ndata: " + answer + b"\n\n"
            more["headers"] = (("content-type", "text/event-stream"),)
        self.add(request, answer, kind="tool", protocol="mcp", tool=tool, **more)

    def chat(
        self, *results: str, says: str = "well", sent: tuple[str, ...] = (), asks: str = "hi", **more: Any
    ) -> None:
        """A request with these results of `lookup`; `sent` is what went on in their place."""
        body = {"choices": [{"index": 0, "message": {"role": "assistant", "content": says}}]}
        forwarded = conversation(asks, *sent) if sent else None
        answer = json.dumps(body).encode()
        self.add(
            conversation(asks, *results),
            answer,
            kind="llm",
            protocol="openai_chat",
            forwarded=forwarded,
            **more,
        )

    def close(self) -> Path:
        self._writer.close_session(self.session)
        self._writer.close()
        assert self._writer.failed is None
        return self.path


def conversation(asks: str, *results: str) -> Request:
    messages: list[dict[str, Any]] = [{"role": "user", "content": asks}]
    for number, text in enumerate(results):
        call = {"id": f"c{number}", "type": "function", "function": {"name": "lookup", "arguments": "{}"}}
        messages += [
            {"role": "assistant", "tool_calls": [call]},
            {"role": "tool", "tool_call_id": f"c{number}", "content": text},
        ]
    body = json.dumps({"model": "m", "messages": messages}).encode()
    return Request("POST", "https", "api.openai.com", 443, "/v1/chat/completions", JSON, body)


@pytest.fixture
def tape(tmp_path: Path) -> Incident:
    return Incident(tmp_path / "t.tape")
