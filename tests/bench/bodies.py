"""What the upstream says, as bytes, and how it is cut into pieces."""

from __future__ import annotations

import hashlib
from functools import cache


@cache
def json_body(size: int, *, words: bool = False) -> bytes:
    """A chat completion of exactly `size` bytes (at least 200)."""
    start = (
        b'{"id":"chatcmpl-bench","object":"chat.completion","created":1700000000,"model":"gpt-4o-mini",'
        b'"choices":[{"index":0,"finish_reason":"stop","message":{"role":"assistant","content":"'
    )
    end = b'"}}]}'
    room = max(0, size - len(start) - len(end))
    content = (b"an answer of some words, " * (room // 25 + 1))[:room] if words else b"x" * room
    return start + content + end


@cache
def sse_events(count: int, size: int) -> tuple[bytes, ...]:
    """`count` chat completion events of `size` bytes each (at least 120), then `[DONE]`."""
    start = b'data: {"id":"chatcmpl-bench","object":"chat.completion.chunk","choices":[{"index":0,"delta":'
    start += b'{"content":"'
    end = b'"}}]}\n\n'
    event = start + b"y" * max(0, size - len(start) - len(end)) + end
    return (event,) * count + (b"data: [DONE]\n\n",)


def chunked(piece: bytes) -> bytes:
    """One HTTP/1.1 chunk."""
    return b"%x\r\n%b\r\n" % (len(piece), piece)


@cache
def sse_chunks(count: int, size: int) -> tuple[bytes, ...]:
    """The events of `sse_events`, each in a chunk of its own, without the last chunk."""
    return tuple(chunked(event) for event in sse_events(count, size))


LAST_CHUNK = b"0\r\n\r\n"


def numbered_json(number: int, size: int) -> bytes:
    """A JSON body of about `size` bytes that no other number has."""
    noise = hashlib.shake_256(b"json %d" % number).hexdigest(max(8, size // 2 - 90)).encode()
    said = b'{"id":"chatcmpl-%d","object":"chat.completion","choices":[{"index":0,"finish_reason":"stop",'
    return said % number + b'"message":{"role":"assistant","content":"%b"}}]}' % noise


def numbered_sse(number: int, size: int) -> list[bytes]:
    """Pieces of a stream that no other number has, cut without regard to events or characters.

    It holds every line ending, a comment, bytes that are no UTF-8, and an event over several lines.
    """
    noise = hashlib.shake_256(b"sse %d" % number).digest(max(16, size // 2))
    text = [b": comment\r\n\r\n", b"data: caf\xc3\xa9 %d\n\n" % number, b"event: odd\rdata: a\rdata: b\r\r"]
    clean = noise.replace(b"\n", b" ").replace(b"\r", b" ")
    text += [b"data: " + clean[at : at + 64] + b"\n\n" for at in range(0, len(clean), 64)]
    text += [
        b"data: " + noise[at : at + 32].hex().encode() + b"\r\n\r\n" for at in range(0, len(noise) // 4, 32)
    ]
    stream = b"".join(text) + b"data: [DONE]\n\n"
    pieces, at = [], 0
    while at < len(stream):
        step = 1 + noise[(at * 7 + number) % len(noise)] * (1 + len(stream) // 16384)
        pieces.append(stream[at : at + step])
        at += step
    return pieces


def flipped(piece: bytes) -> bytes:
    """The piece with one bit of its middle byte changed."""
    at = len(piece) // 2
    return piece[:at] + bytes([piece[at] ^ 1]) + piece[at + 1 :]
