"""Protocol Buffers below their messages: fields as they stand, and the JSON that `google.protobuf.Struct` is.

Source: the encoding guide of protobuf, and `google/protobuf/struct.proto`.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Any, NamedTuple

from faultwire.errors import WireError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from faultwire.wire.json_bytes import Object

DEEPEST = 100
"""Levels of nesting, as protobuf's own parsers allow."""
VARINT, LONG, SIZED, SHORT = 0, 1, 2, 5
"""The wire types that are in use."""


class Raw(NamedTuple):
    """A field as it stands: its bytes whole, and its value without tag and length."""

    number: int
    wire: int
    whole: bytes
    value: bytes


def fields(data: bytes) -> Iterator[Raw]:
    """The fields of a message, in order. Raises WireError where it is none."""
    at = 0
    while at < len(data):
        start = at
        tag, at = varint(data, at)
        number, wire = tag >> 3, tag & 7
        begin = at
        if wire == VARINT:
            _, at = varint(data, at)
        elif wire == LONG:
            at += 8
        elif wire == SHORT:
            at += 4
        elif wire == SIZED:
            size, begin = varint(data, at)
            at = begin + size
        else:
            raise WireError(f"found wire type {wire} in a protobuf message, expected 0, 1, 2 or 5")
        if number == 0 or at > len(data):
            raise WireError("found a protobuf field that is cut short, expected a whole one")
        yield Raw(number, wire, data[start:at], data[begin:at])


def varint(data: bytes, at: int) -> tuple[int, int]:
    """The number that begins here, and where it ends. Raises WireError."""
    value = 0
    for shift in range(0, 70, 7):
        if at >= len(data):
            break
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value & 0xFFFF_FFFF_FFFF_FFFF, at
    raise WireError("found a protobuf number that never ends, expected at most ten bytes")


def finite(number: float) -> float | None:
    """JSON has no word for the others."""
    return number if number - number == 0 else None


def _is_whole(number: float) -> bool:
    return number.is_integer() and abs(number) < 1 << 53


# ---------------------------------------------------------------- a JSON object


def read_struct(data: bytes, depth: int) -> Object:
    """`google.protobuf.Struct`: a JSON object."""
    found: Object = {}
    for raw in fields(data):
        if raw.number == 1 and raw.wire == SIZED:
            key, value = "", b""
            for part in fields(raw.value):
                if part.number == 1:
                    key = part.value.decode("utf-8", "replace")
                elif part.number == 2:
                    value = part.value
            found[key] = _any(value, depth + 1)
    return found


def _any(data: bytes, depth: int) -> Any:
    """`google.protobuf.Value`: any JSON value."""
    if depth > DEEPEST:
        raise WireError(f"found protobuf nested deeper than {DEEPEST} levels")
    found: Any = None
    for raw in fields(data):
        match (raw.number, raw.wire):
            case (2, 1):
                number = finite(struct.unpack("<d", raw.value)[0])
                found = int(number) if number is not None and _is_whole(number) else number
            case (3, 2):
                found = raw.value.decode("utf-8", "replace")
            case (4, 0):
                found = varint(raw.value, 0)[0] != 0
            case (5, 2):
                found = read_struct(raw.value, depth)
            case (6, 2):
                found = [_any(item.value, depth + 1) for item in fields(raw.value) if item.wire == SIZED]
            case _:
                found = None
    return found


def write_number(value: int) -> bytes:
    """A number as a varint; a negative one as its two's complement in 64 bits."""
    value &= 0xFFFF_FFFF_FFFF_FFFF
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def sized(number: int, value: bytes) -> bytes:
    """A field with a length: text, bytes, or a message."""
    return write_number(number << 3 | SIZED) + write_number(len(value)) + value


def utf8(text: str) -> bytes:
    """Text as it is sent; lone surrogates become `?`."""
    return text.encode("utf-8", "replace")


def write_struct(value: Object) -> bytes:
    """A JSON object as `google.protobuf.Struct`."""
    return b"".join(sized(1, sized(1, utf8(key)) + sized(2, _wrapped(item))) for key, item in value.items())


def _wrapped(value: Any) -> bytes:
    if value is None:
        return b"\x08\x00"
    if isinstance(value, bool):
        return b"\x20" + write_number(value)
    if isinstance(value, int | float):
        return b"\x11" + struct.pack("<d", value)
    if isinstance(value, str):
        return sized(3, utf8(value))
    if isinstance(value, dict):
        return sized(5, write_struct(value))
    return sized(6, b"".join(sized(1, _wrapped(item)) for item in value))
