"""JSON as it comes from peers: parsed leniently, edited byte by byte.

Edits work on the span of one value (RFC 8259 text), so that unknown keys, key order, blanks and
number formats around it survive.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import orjson

from faultwire import _core
from faultwire.errors import WireError

if TYPE_CHECKING:
    from faultwire.events import Path

NO_JSON = "found bytes that are no JSON"
"""How the message begins where a text cannot be parsed: a peer never wrote that."""
Object = dict[str, Any]
"""A parsed JSON object; members of a peer's message may hold anything."""


def load(body: bytes | str) -> Any:
    """The parsed value. Lone surrogates, which JavaScript's JSON.stringify writes, become U+FFFD.

    Raises WireError.
    """
    try:
        return orjson.loads(body)
    except orjson.JSONDecodeError as error:
        text = body if isinstance(body, str) else body.decode("utf-8", "replace")
        if "\\ud" not in text and "\\uD" not in text:
            raise WireError(f"{NO_JSON} ({error}), expected a JSON text") from None
    try:
        lenient = json.dumps(json.loads(text, parse_constant=_refuse), ensure_ascii=False)
        return orjson.loads(whole(lenient))
    except (ValueError, RecursionError) as error:
        raise WireError(f"{NO_JSON} ({error}), expected a JSON text") from None


def load_object(body: bytes) -> Object:
    """The parsed object. Raises WireError where the text is anything else."""
    try:
        value = orjson.loads(body)
    except orjson.JSONDecodeError:
        value = load(body)  # which forgives more
    if not isinstance(value, dict):
        raise WireError(f"found a JSON {_kind(value)}, expected an object")
    return value


def dump(value: Any) -> bytes:
    """Compact JSON in UTF-8."""
    return orjson.dumps(whole(value) if isinstance(value, str) else value)


def whole(text: str) -> str:
    """`text` with each lone surrogate replaced, so that it has a UTF-8 form."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def is_json(text: str) -> bool:
    """Is this text JSON of any kind?"""
    try:
        load(text)
    except WireError:
        return False
    return True


def objects(value: Any) -> list[tuple[int, Object]]:
    """The objects in an array, with their indexes; nothing where it is no array."""
    if not isinstance(value, list):
        return []
    return [(index, item) for index, item in enumerate(value) if isinstance(item, dict)]


def member(value: Any, *keys: str) -> Any:
    """The value down a chain of object keys, None where it breaks off."""
    for key in keys:
        if not isinstance(value, dict):
            return None
        value = value.get(key)
    return value


def string(value: Any) -> str:
    """The value where it is a string, else nothing."""
    return value if isinstance(value, str) else ""


def count(value: Any) -> int:
    """The value where it is a natural number, else 0."""
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else 0


# ---------------------------------------------------------------- edits that keep every other byte


def span(text: bytes, path: Path) -> tuple[int, int] | None:
    """Where the value at `path` stands, None where there is none. Raises WireError."""
    try:
        return _core.json_span(text, list(path))
    except ValueError as error:
        raise WireError(str(error)) from None


def put(text: bytes, path: Path, value: bytes) -> bytes:
    """`text` with the value at `path` replaced, or added as the last member of its object."""
    found = span(text, path)
    if found is not None:
        return _core.json_splice(text, [(*found, value)])
    parent = span(text, path[:-1])
    if parent is None or not isinstance(path[-1], str) or text[parent[0] : parent[0] + 1] != b"{":
        raise WireError(f"found nothing at {list(path)}, expected an object's member")
    children = _core.json_children(text, list(path[:-1]))
    at = children[-1][2] if children else parent[0] + 1
    name = dump(path[-1])
    return _core.json_splice(text, [(at, at, (b"," if children else b"") + name + b":" + value)])


def drop(text: bytes, path: Path) -> bytes:
    """`text` without the member or element at `path`, unchanged where there is none."""
    try:
        found = _core.json_member_span(text, list(path))
    except ValueError as error:
        raise WireError(str(error)) from None
    return text if found is None else _core.json_splice(text, [(*found, b"")])


def insert_first(array: bytes, value: bytes) -> bytes:
    """An array's text with one element added in front."""
    children = _core.json_children(array, [])
    at = children[0][1] if children else array.index(b"[") + 1
    return _core.json_splice(array, [(at, at, value + (b"," if children else b""))])


def insert(array: bytes, at: int | None, value: bytes) -> bytes:
    """An array's text with one element added before that one, or behind the last (None)."""
    children = _core.json_children(array, [])
    if not children:
        place = array.index(b"[") + 1
        return _core.json_splice(array, [(place, place, value)])
    if at is None or at >= len(children):
        place = children[-1][2]
        return _core.json_splice(array, [(place, place, b"," + value)])
    place = children[at][1]
    return _core.json_splice(array, [(place, place, value + b",")])


def _refuse(constant: str) -> Any:
    raise ValueError(f"`{constant}` is no JSON value")


def _kind(value: Any) -> str:
    names = {list: "array", str: "string", bool: "boolean", type(None): "null"}
    return names.get(type(value), "number")
