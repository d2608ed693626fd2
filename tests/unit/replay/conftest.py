from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import orjson
import pytest

from faultwire.events import Exchange, Headers, Request, Response
from faultwire.replay.player import Player
from faultwire.replay.reader import index
from faultwire.replay.rebind import Rebinder
from faultwire.tape.read import TapeReader
from faultwire.tape.redact import Redactor
from faultwire.tape.store import TapeWriter

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
    ) -> None:
        self._count += 1
        recording = self._writer.record(Exchange("exec", self._count, request))
        recording.request(request)
        recording.upstream_head(Response(status, "", headers))
        for piece in answer:
            recording.upstream_chunk(piece)
        recording.end(ending)

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
        *masks: str, key: bytes = KEY, rebind: bool = False, strict_order: bool = False, reuse: bool = False
    ) -> Player:
        readers.append(TapeReader.open(deck.close()))
        found = index(readers[0], masks, session="exec", strict_order=strict_order, reuse=reuse)
        return Player(found, Redactor(key), Rebinder() if rebind else None)

    yield made
    for reader in readers:
        reader.close()
