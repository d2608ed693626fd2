from __future__ import annotations

import importlib.util
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType

import pytest

from faultwire.events import Exchange, FaultFired, Headers, Recorded, Request, Response
from faultwire.tape.read.reader import TapeReader
from faultwire.tape.record.recorder import Recording
from faultwire.tape.record.writer import TapeWriter

JSON: Headers = (("content-type", "application/json"),)
KEY = b"k" * 32
LINE = FaultFired(
    "status", "status", "response", "fired", "rolled 0.1", "key", 0, 0, 0.1, settings={"ms": 1.5}
)


@dataclass
class Deck:
    """A tape that is being written, and read back when it is done."""

    path: Path
    writer: TapeWriter
    count: int = 0
    recordings: list[Recording] = field(default_factory=list)

    def begin(
        self, body: bytes | None = b"{}", headers: Headers = JSON, path: str = "/v1", session: str = "s"
    ) -> Recording:
        self.count += 1
        request = Request("POST", "https", "h.example", 443, path, headers, body)
        recording = self.writer.record(Exchange(session, self.count, request, "llm"))
        recording.request(request)
        self.recordings.append(recording)
        return recording

    def exchange(self, answer: bytes = b'{"ok":1}', headers: Headers = JSON) -> Recording:
        recording = self.begin()
        recording.upstream_head(Response(200, "OK", headers))
        recording.upstream_chunk(answer)
        recording.end("complete", None, (LINE,))
        return recording

    def read(self) -> list[Recorded]:
        self.writer.close()
        assert self.writer.failed is None
        with TapeReader.open(self.path) as reader:
            return list(reader.exchanges())


def second_verifier() -> ModuleType:
    """`docs/verify_tape.py`, as a file on its own."""
    place = Path(__file__).parents[3] / "docs" / "verify_tape.py"
    spec = importlib.util.spec_from_file_location("verify_tape", place)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="session")
def second() -> ModuleType:
    return second_verifier()


@pytest.fixture
def deck(tmp_path: Path) -> Iterator[Deck]:
    path = tmp_path / "tapes" / "t.tape"
    writer = TapeWriter.create(path, origin="p/t", settings={"note": "x"}, key=KEY)
    writer.open_session("s", profile="calm", profile_digest="d", seed=7, agent="a")
    yield Deck(path, writer)
    writer.close()


@pytest.fixture
def closed(deck: Deck) -> Callable[[], Path]:
    def close() -> Path:
        deck.exchange()
        deck.exchange(b'{"other":2}')
        deck.writer.close_session("s")
        deck.writer.close()
        return deck.path

    return close
