"""Messages of a WebSocket that came while the writer was busy: what one look at all of them holds."""

from __future__ import annotations

import json
import tracemalloc

import pytest
from tests.unit.tape.conftest import KEY as REDACTION, Deck

from faultwire.events import Exchange, Message, Request
from faultwire.tape.record.encoder import EventEncoder
from faultwire.tape.record.event_log import EventLog
from faultwire.tape.record.queue import WriteQueue
from faultwire.tape.record.recorder import Recording
from faultwire.tape.redact.redactor import Redactor

SIZE, COUNT = 40_000, 100
KEY = "sk-ant-api03-" + "Wm5Qx8Zt2Vb7Nk1R" * 2


def look(*messages: bytes) -> tuple[EventEncoder, Recording]:
    """One look of the writer at a session that goes on."""
    redactor = Redactor(b"k" * 32)
    encoder = EventEncoder(EventLog(redactor), redactor)
    request = Request("GET", "https", "h.example", 443, "/v1/realtime", (), b"")
    recording = Recording(Exchange("s", 1, request, "llm"), WriteQueue())
    recording.request(request)
    for data in messages:
        recording.message(Message("server", "text", data, 1, 1))
    assert encoder.write(recording) == (False, sum(map(len, messages)))
    return encoder, recording


def test_many_long_messages_at_once_take_little_more_room_than_themselves() -> None:
    messages = [b"%d " % number + b"y" * SIZE for number in range(COUNT)]
    look(messages[0])  # what is made once
    tracemalloc.start()
    try:
        encoder, _ = look(*messages)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    events, _ = encoder._log.drain()
    assert len(events) == COUNT + 1, "none that is longer than what may wait waits"
    assert peak < 2 * COUNT * SIZE, f"{peak / 1e6:.0f} MB for {COUNT * SIZE / 1e6:.0f} MB"


def test_a_key_in_pieces_is_replaced_among_many_at_once() -> None:
    words = [b"word %d, " % number for number in range(3000)]
    encoder, recording = look(*words, *(KEY[at : at + 4].encode() for at in range(0, len(KEY), 4)))
    stored, _ = encoder._log.drain()
    assert len(stored) > 2000, "what need not wait does not"
    recording.end("complete")
    assert encoder.write(recording)[0]
    rest, blobs = encoder._log.drain()
    assert len(stored) + len(rest) == 1 + len(words) + (len(KEY) + 3) // 4 + 2
    assert any(b"redacted:v1:" in blob[-1] for blob in blobs)
    assert not any(KEY[-8:].encode() in blob[-1] for blob in blobs)


@pytest.mark.parametrize("cut", [5, 16, 20, 24, 30])
def test_of_a_password_over_two_messages_nothing_is_on_the_tape(deck: Deck, cut: int) -> None:
    said = '{"password": "hunter2-of-nobody"}'
    recording = deck.begin()
    for number, piece in enumerate((said[:cut], said[cut:]), 1):
        data = json.dumps({"type": "arguments.delta", "delta": piece}).encode()
        recording.message(Message("server", "text", data, number, number))
    recording.end("complete", None, ())
    (found,) = deck.read()
    left = "".join(json.loads(message.data)["delta"] for message in found.messages)
    place = Redactor(REDACTION).placeholder("key", "hunter2-of-nobody", {})
    assert left == f'{{"password": "{place}"}}'
    for part in (b"hunter2", b"of-nobody", b"ter2-of", b"nobody"):
        assert part not in deck.path.read_bytes()


class EndsWhilePicked(Recording):
    """The event loop ends it just after the writer has picked it, which offers it to the writer once more."""

    __slots__ = ()

    def picked(self) -> None:
        super().picked()
        self.end("complete")


@pytest.mark.parametrize("drops", [False, True])
def test_an_exchange_that_ends_while_it_is_looked_at_ends_once(drops: bool) -> None:
    redactor = Redactor(b"k" * 32)
    encoder = EventEncoder(EventLog(redactor), redactor)
    queue = WriteQueue(limit=0 if drops else 1 << 20, drops=drops)
    request = Request("GET", "https", "h.example", 443, "/", (), b"x")
    recording = EndsWhilePicked(Exchange("s", 1, request, "llm"), queue)
    recording.received = request
    recording.request(request)
    queue.offer(recording)
    items = queue.gather(0)
    found = [encoder.write(item) for item in items]
    items = queue.gather(0)
    assert items == [recording], "the end has offered it once more"
    found += [encoder.write(item) for item in items]
    assert [over for over, _ in found].count(True) == 1
    kinds = [json.loads(row[2])["type"] for row in encoder._log.drain()[0]]
    assert kinds == (["request", "drop"] if drops else ["request", "end"])
