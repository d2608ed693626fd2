import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tests.unit.workbench.conftest import Deck

from faultwire.workbench import live
from faultwire.workbench.subject import Subject


@pytest.fixture
def subject(deck: Deck):
    deck.exchange()
    made = Subject(deck.path)
    made.index.start()
    yield made
    made.index.close()


def parsed(event: bytes) -> tuple[str, dict]:
    name, data = event.decode().rstrip("\n").split("\n")
    return name.removeprefix("event: "), json.loads(data.removeprefix("data: "))


async def rows_until(stream: AsyncIterator[bytes], number: int) -> dict:
    """The row of this exchange, once its bodies were read."""
    async for event in stream:
        if not event.startswith(b":"):
            name, value = parsed(event)
            for row in value.get("rows", ()) if name == "rows" else ():
                if row["number"] == number and row["read"]:
                    return row
    raise AssertionError("the stream ended")


async def test_rows_and_state_come_and_what_is_new_follows(deck: Deck, subject: Subject) -> None:
    stream = live.stream(subject, 0)
    assert (await rows_until(stream, 1))["tokens_in"] == 7
    deck.exchange()
    assert (await rows_until(stream, 2))["status"] == 200
    await stream.aclose()
    assert subject.index._listeners == []


async def test_whoever_has_seen_all_gets_only_what_is_new(deck: Deck, subject: Subject) -> None:
    stream = live.stream(subject, 0)
    await rows_until(stream, 1)
    await stream.aclose()
    again = live.stream(subject, subject.index.revision)
    name, value = parsed(await anext(again))
    assert (name, value["live"]) == ("tape", True)
    await again.aclose()


async def test_silence_is_broken_by_a_comment(tape: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live, "SILENCE_S", 0.01)
    subject = Subject(tape)
    stream = live.stream(subject, 0)
    assert parsed(await anext(stream))[0] == "tape"
    assert await anext(stream) == b": alive\n\n"
    await stream.aclose()
    subject.index.close()


async def test_it_ends_with_the_server(subject: Subject) -> None:
    stream = live.stream(subject, 0)
    await rows_until(stream, 1)
    subject.index.leave()
    async with asyncio.timeout(30):
        assert [event async for event in stream if b"rows" in event] == []
