"""Protocol Buffers of known messages, read as their JSON form, written, and changed in place.

Source: the encoding guide and the JSON mapping of protobuf. Only what a table names is understood;
everything else is passed over in reading and kept byte for byte in a change. Input is hostile: depth
is bounded, lengths are checked, and nothing is allocated on a peer's word.
"""

from __future__ import annotations

import base64
import binascii
import struct
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from faultwire.errors import WireError
from faultwire.wire.grpc.protobuf_wire import (
    DEEPEST,
    LONG,
    SHORT,
    SIZED,
    VARINT,
    Raw,
    fields,
    finite,
    read_struct,
    sized,
    utf8,
    varint,
    write_number,
    write_struct,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from faultwire.wire.json_bytes import Object

Kind = Literal["string", "bytes", "bool", "int", "double", "float", "enum", "message", "map", "struct"]
_NEAR = 64
"""Items that are looked at to find the one that an unchanged item was, where some are gone."""


class Message:
    """The fields of a message that are understood, by number."""

    def __init__(self, **fields: Field) -> None:
        self.by_number = {field.number: (name, field) for name, field in fields.items()}
        self.by_name = dict(fields)

    def add(self, name: str, field: Field) -> None:
        """One more field, for messages that hold their own kind."""
        self.by_name[name] = field
        self.by_number[field.number] = (name, field)


@dataclass(frozen=True, slots=True)
class Field:
    """One field. `of` is the message of a `message`, or of the values of a `map` with string keys;
    `words` are those of an `enum`, by number."""

    number: int
    kind: Kind
    repeated: bool = False
    of: Message | None = None
    words: tuple[str, ...] = ()


def read(data: bytes, message: Message, depth: int = 0) -> Object:
    """The message in its JSON form; what the table does not name is left out. Raises WireError."""
    if depth > DEEPEST:
        raise WireError(f"found protobuf nested deeper than {DEEPEST} levels")
    found: Object = {}
    parts: dict[str, list[bytes]] = {}
    for raw in fields(data):
        name, field = message.by_number.get(raw.number, ("", None))
        if field is None or not _fits(field, raw):
            continue
        if field.kind == "map":
            key, value = _entry(raw.value, field, depth)
            found.setdefault(name, {})[key] = value
        elif field.repeated:
            found.setdefault(name, []).extend(_items(field, raw, depth))
        elif field.kind in ("message", "struct"):
            parts.setdefault(name, []).append(raw.value)
            found[name] = None
        else:
            found[name] = _value(field, raw.value, depth)
    for name, values in parts.items():  # a message that comes in parts is their sum
        found[name] = _value(message.by_name[name], b"".join(values), depth)
    return found


def write(document: Object, message: Message) -> bytes:
    """A JSON form as a message; members that the table does not name are left out."""
    out = bytearray()
    for name, field in message.by_name.items():
        if name in document:
            out += _written(field, document[name])
    return bytes(out)


def patch(data: bytes, message: Message, wanted: Object) -> bytes:
    """The message saying what `wanted` says: fields that differ are written anew, all other bytes and
    all fields that the table does not name stay as they are. Raises WireError."""
    current = read(data, message)
    out = bytearray()
    done: set[str] = set()
    for raw in fields(data):
        name, field = message.by_number.get(raw.number, ("", None))
        if field is None or not _fits(field, raw) or (name in wanted and wanted[name] == current.get(name)):
            out += raw.whole
        elif name in wanted and name not in done:
            done.add(name)
            out += _patched(data, field, current.get(name), wanted[name])
    for name, field in message.by_name.items():
        if name in wanted and name not in current:
            out += _written(field, wanted[name])
    return bytes(out)


def _patched(data: bytes, field: Field, current: Any, wanted: Any) -> bytes:
    values = [raw.value for raw in fields(data) if raw.number == field.number and _fits(field, raw)]
    if field.kind != "message" or field.of is None:
        return _written(field, wanted)
    if not field.repeated:
        return sized(field.number, patch(b"".join(values), field.of, wanted))
    out, at = bytearray(), 0
    paired = len(wanted) == len(values)
    for index, item in enumerate(wanted):
        if paired:
            out += sized(field.number, patch(values[index], field.of, item))
            continue
        near = range(at, min(len(values), at + _NEAR))
        same = next((n for n in near if current[n] == item), None)
        at = at if same is None else same + 1
        out += sized(field.number, write(item, field.of) if same is None else values[same])
    return bytes(out)


# ---------------------------------------------------------------- reading


_WIRES: dict[Kind, int] = {"bool": VARINT, "int": VARINT, "enum": VARINT, "double": LONG, "float": SHORT}


def _fits(field: Field, raw: Raw) -> bool:
    wanted = _WIRES.get(field.kind, SIZED)
    return raw.wire == wanted or (field.repeated and wanted != SIZED and raw.wire == SIZED)


def _items(field: Field, raw: Raw, depth: int) -> Iterator[Any]:
    wire = _WIRES.get(field.kind, SIZED)
    if raw.wire == wire:
        yield _value(field, raw.value, depth)
        return
    at = 0  # packed
    while at < len(raw.value):
        end = varint(raw.value, at)[1] if wire == VARINT else at + (8 if wire == LONG else 4)
        if end > len(raw.value):
            raise WireError("found a packed protobuf field that is cut short, expected a whole one")
        yield _value(field, raw.value[at:end], depth)
        at = end


def _value(field: Field, value: bytes, depth: int) -> Any:
    match field.kind:
        case "string":
            return value.decode("utf-8", "replace")
        case "bytes":
            return base64.b64encode(value).decode()
        case "bool":
            return varint(value, 0)[0] != 0
        case "int":
            number = varint(value, 0)[0]
            return number - (1 << 64) if number >> 63 else number
        case "enum":
            number = varint(value, 0)[0]
            return field.words[number] if number < len(field.words) else number
        case "double" | "float":
            return finite(struct.unpack("<d" if field.kind == "double" else "<f", value)[0])
        case "struct":
            return read_struct(value, depth + 1)
    return read(value, field.of or Message(), depth + 1)


def _entry(data: bytes, field: Field, depth: int) -> tuple[str, Any]:
    table = Message(key=Field(1, "string"), value=Field(2, "message", of=field.of))
    entry = read(data, table, depth + 1)
    return entry.get("key", ""), entry.get("value", {})


# ---------------------------------------------------------------- writing


def _written(field: Field, value: Any) -> bytes:
    if field.kind == "map":
        items = value.items() if isinstance(value, dict) else ()
        made = (sized(1, utf8(key)) + sized(2, write(item, field.of or Message())) for key, item in items)
        return b"".join(sized(field.number, entry) for entry in made)
    if field.repeated:
        return b"".join(_one(field, item) for item in (value if isinstance(value, list) else ()))
    return _one(field, value)


def _one(field: Field, value: Any) -> bytes:
    tag = write_number(field.number << 3 | _WIRES.get(field.kind, SIZED))
    match field.kind:
        case "bool" if isinstance(value, bool):
            return tag + write_number(value)
        case "int" | "enum" if isinstance(value, int):
            return tag + write_number(value)
        case "enum" if value in field.words:
            return tag + write_number(field.words.index(value))
        case "double" | "float" if isinstance(value, int | float):
            return tag + struct.pack("<d" if field.kind == "double" else "<f", value)
        case "string" if isinstance(value, str):
            return sized(field.number, utf8(value))
        case "bytes" if isinstance(value, str):
            return sized(field.number, _unpacked(value))
        case "struct" if isinstance(value, dict):
            return sized(field.number, write_struct(value))
        case "message" if isinstance(value, dict):
            return sized(field.number, write(value, field.of or Message()))
    return b""


def _unpacked(text: str) -> bytes:
    try:
        return base64.b64decode(text)
    except (binascii.Error, ValueError):
        return b""
