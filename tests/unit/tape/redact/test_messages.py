"""WebSocket messages that wait: what they say joined is redacted, in order and within limits."""

from __future__ import annotations

import json

import pytest

from faultwire.events import Message
from faultwire.tape.redact.messages import MOST, MOST_BYTES, WaitingMessages
from faultwire.tape.redact.redactor import Redactor

KEY = "sk-ant-api03-" + "Wm5Qx8Zt2Vb7Nk1R" * 2


def delta(text: str, kind: str = "say") -> Message:
    data = json.dumps({"type": kind, "item": {"delta": text}}).encode()
    return Message(by="client", kind="text", data=data, sent_ns=1, delivered_ns=1)


def waiting(*messages: Message) -> WaitingMessages:
    held = WaitingMessages(Redactor(b"k" * 32), {})
    for message in messages:
        held.add(message, message.data)
    return held


def text(found: list[tuple[Message, bytes]]) -> str:
    return "".join(json.loads(data)["item"]["delta"] for _, data in found)


@pytest.mark.parametrize("size", [1, 3, 7])
def test_a_key_in_pieces_is_replaced(size: int) -> None:
    said = f"take {KEY} now"
    held = waiting(*(delta(said[at : at + size]) for at in range(0, len(said), size)))
    assert held.release(final=False) == []
    left = text(held.release(final=True))
    assert left.startswith("take redacted:v1:")
    assert left.endswith(" now")
    assert held.release(final=True) == []


def test_pieces_of_other_kinds_stand_between_them() -> None:
    pieces = [delta(KEY[at : at + 4]) for at in range(0, len(KEY), 4)]
    held = waiting(*(one for piece in pieces for one in (piece, delta("x", "other"))))
    left = held.release(final=True)
    assert len(left) == 2 * len(pieces)
    assert KEY not in text([one for one in left if b"other" not in one[1]])


def test_clean_messages_come_back_as_they_were() -> None:
    messages = [delta("a few words "), Message("server", "binary", b"\x00\xff", 1, 1), delta("and more")]
    assert waiting(*messages).release(final=True) == [(one, one.data) for one in messages]


def test_the_first_half_is_released_where_too_many_wait() -> None:
    held = waiting(*(delta(f"word {number} ") for number in range(MOST + 1)))
    first = held.release(final=False)
    assert len(first) == (MOST + 1) // 2
    rest = held.release(final=True)
    assert text(first + rest) == "".join(f"word {number} " for number in range(MOST + 1))
    assert waiting(delta("x" * MOST_BYTES)).release(final=False)


def test_a_key_over_the_middle_waits_whole() -> None:
    before = [delta("word ") for _ in range(MOST // 2 - 10)]
    key = [delta(letter) for letter in KEY + " "]
    after = [delta("word ") for _ in range(MOST + 1 - len(before) - len(key))]
    held = waiting(*before, *key, *after)
    first = held.release(final=False)
    assert len(first) == len(before)
    left = text(first + held.release(final=True))
    assert left.count("redacted:v1:") == 1
    assert KEY[:10] not in left
    assert KEY[-10:] not in left
