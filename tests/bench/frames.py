"""WebSocket frames (RFC 6455 §5) as far as an echo needs them."""

from __future__ import annotations

import base64
import hashlib

TEXT, BINARY, CLOSE, PING, PONG = 1, 2, 8, 9, 10
_GUID = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
_MASK = b"\x11\x22\x33\x44"


def accept(key: bytes) -> bytes:
    """The answer to a handshake's `Sec-WebSocket-Key`."""
    return base64.b64encode(hashlib.sha1(key + _GUID).digest())  # the RFC's choice, not for secrecy


def frame(opcode: int, payload: bytes, *, masked: bool = False) -> bytes:
    """One final frame of less than 64 KiB; clients mask theirs."""
    flag = 0x80 if masked else 0
    if len(payload) < 126:
        head = bytes((0x80 | opcode, flag | len(payload)))
    else:
        head = bytes((0x80 | opcode, flag | 126)) + len(payload).to_bytes(2, "big")
    return head + _MASK + _masked(payload, _MASK) if masked else head + payload


def _masked(payload: bytes, mask: bytes) -> bytes:
    pad = (mask * (len(payload) // 4 + 1))[: len(payload)]
    return (int.from_bytes(payload, "big") ^ int.from_bytes(pad, "big")).to_bytes(len(payload), "big")


class Reader:
    """Cuts a byte stream into frames."""

    def __init__(self) -> None:
        self._buffer = bytearray()

    def feed(self, data: bytes) -> list[tuple[int, bytes]]:
        """`(opcode, unmasked payload)` of each frame that `data` completes."""
        self._buffer += data
        found = []
        while (one := self._one()) is not None:
            found.append(one)
        return found

    def _one(self) -> tuple[int, bytes] | None:
        buffer = self._buffer
        if len(buffer) < 2:
            return None
        size, at = buffer[1] & 0x7F, 2
        if size == 126:
            size, at = int.from_bytes(buffer[2:4], "big"), 4
        elif size == 127:
            size, at = int.from_bytes(buffer[2:10], "big"), 10
        masked = bool(buffer[1] & 0x80)
        start = at + (4 if masked else 0)
        if len(buffer) < start + size:
            return None
        opcode, payload = buffer[0] & 0x0F, bytes(buffer[start : start + size])
        if masked and size:
            payload = _masked(payload, bytes(buffer[at:start]))
        del buffer[: start + size]
        return opcode, payload
