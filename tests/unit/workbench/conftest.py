"""Tapes of the workbench's tests: with a stream, a fault, a retry, and whatever text is wanted."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from faultwire.events import Exchange, FaultFired, Headers, Request, Response
from faultwire.tape.record.recorder import Recording
from faultwire.tape.record.writer import TapeWriter

JSON: Headers = (("content-type", "application/json"),)
SSE: Headers = (("content-type", "text/event-stream"),)
CUT = FaultFired(
    "cut_stream", "cut", "stream", "fired", "call 1 matches", "k", 0, 0, None, effect="cut after event 1"
)
URL = ("api.openai.com", "/v1/chat/completions")


def asked(text: str = "17 * 23?", **more: object) -> bytes:
    turns = [{"role": "user", "content": text}]
    return json.dumps({"model": "gpt-4o-mini", "messages": turns, **more}).encode()


def answered(text: str = "391", tokens: int = 7) -> bytes:
    choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
    usage = {"prompt_tokens": tokens, "completion_tokens": 3, "total_tokens": tokens + 3}
    return json.dumps({"id": "c1", "model": "gpt-4o-mini", "choices": [choice], "usage": usage}).encode()


def event(text: str) -> bytes:
    delta = {"choices": [{"index": 0, "delta": {"content": text}}]}
    return b"data: " + json.dumps(delta).encode() + b"\n\n"


@dataclass
class Deck:
    """A tape that is being written: each method adds an exchange and returns once it is on the disk."""

    path: Path
    writer: TapeWriter
    count: int = 0

    def exchange(
        self,
        request: bytes | None = None,
        answer: bytes | None = None,
        *,
        status: int = 200,
        attempt: int = 0,
        key: str = "",
        session: str = "s",
        headers: Headers = JSON,
        path: str = URL[1],
        faults: tuple[FaultFired, ...] = (),
        protocol: str = "openai_chat",
        flush: bool = True,
    ) -> int:
        self.count += 1
        recording = self._begun(request or asked(), session, attempt, key, path, protocol)
        recording.upstream_head(Response(status, "OK" if status == 200 else "", headers))
        recording.upstream_chunk(answered() if answer is None else answer)
        recording.end("complete", None, faults)
        if flush:
            self.writer.flush()
        return self.count

    def many(self, count: int) -> None:
        """So many exchanges, each with another text, on the disk together."""
        for number in range(count):
            self.exchange(asked(f"number {number}"), flush=number % 500 == 499)
        self.writer.flush()

    def cut(self, session: str = "s") -> int:
        """A stream of two events of which the agent got one."""
        self.count += 1
        recording = self._begun(asked(stream=True), session)
        recording.upstream_head(Response(200, "OK", SSE))
        recording.upstream_chunk(event("three ") + event("nine one"))
        recording.delivered_head(Response(200, "OK", SSE))
        recording.delivered_chunk(event("three "))
        recording.end("cut", "cut after event 1", (CUT,))
        self.writer.flush()
        return self.count

    def begin(self, session: str = "s") -> int:
        """A request without an answer yet."""
        self.count += 1
        self._begun(asked(), session)
        self.writer.flush()
        return self.count

    def _begun(
        self,
        body: bytes,
        session: str,
        attempt: int = 0,
        key: str = "",
        path: str = URL[1],
        protocol: str = "openai_chat",
    ) -> Recording:
        request = Request("POST", "https", URL[0], 443, path, JSON, body)
        exchange = Exchange(session, self.count, request, "llm", protocol, "openai", key=key, attempt=attempt)
        recording = self.writer.record(exchange)
        recording.request(request)
        return recording

    def close(self) -> Path:
        for name in ("s",):
            self.writer.close_session(name)
        self.writer.close()
        assert self.writer.failed is None
        return self.path


def deck_at(path: Path) -> Deck:
    writer = TapeWriter.create(path, origin="p/t", settings={}, key=b"k" * 32)
    writer.open_session("s", profile="calm", profile_digest="d", seed=7, agent="a")
    return Deck(path, writer)


@pytest.fixture
def deck(tmp_path: Path) -> Iterator[Deck]:
    made = deck_at(tmp_path / "tapes" / "t.tape")
    yield made
    made.writer.close()


@pytest.fixture
def tape(deck: Deck) -> Path:
    """A call, a retried one, and a stream that was cut."""
    deck.exchange()
    deck.exchange(asked("again"), b'{"error":{"message":"busy"}}', status=503, key="k1")
    deck.exchange(asked("again"), attempt=1, key="k1")
    deck.cut()
    return deck.close()
