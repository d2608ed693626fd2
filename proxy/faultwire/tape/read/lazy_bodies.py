"""Bodies that stay on the tape until somebody asks for them.

A session may hold more bytes than memory does. What is read of it are therefore requests and
deliveries that know where their body is: `body` reads it, anew each time, and only the few bodies
that were asked for last are remembered.
"""

from __future__ import annotations

import threading
from array import array
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import fields
from typing import Any

from faultwire.errors import TapeError, TapeTampered
from faultwire.events import Delivery, Request
from faultwire.tape.format.blobs import ENCRYPTION

Fetch = Callable[[str], bytes]
"""Gives the bytes of a body by its name (`encryption.name_of`). Raises TapeError."""

REMEMBERED = 4 << 20
"""Bytes of bodies that are remembered per tape."""
MAX_BODY = 1 << 30
"""A longer body is not read into memory: a few kilobytes of a tape may unpack to any number of them."""


def name_of(body: dict[str, Any]) -> str:
    """By which name a `Fetch` is asked for a body, by its event. Raises KeyError, TypeError or ValueError."""
    if ENCRYPTION in body:
        from faultwire.tape.format import encryption  # few tapes are

        return encryption.name_of(body)
    name = body["blob"]
    if not isinstance(name, str):
        raise TypeError(f"a blob is named by {type(name).__name__}")
    return name


def opening(fetch: Fetch) -> Fetch:
    """A `Fetch` of bodies by the names that `name_of` gives; `fetch` gives what is stored by its digest.

    It raises TapeIncomplete where a body's key was shredded or is not here, and TapeTampered where the body
    does not fit it: what cannot be read is never taken for an empty body.
    """
    keys: dict[str, bytes] = {}

    def opened(name: str) -> bytes:
        if ":" not in name:
            return fetch(name)
        from faultwire.tape.evidence.body_keys import BodyKeys
        from faultwire.tape.format.encryption import decrypted, parsed

        digest, how = parsed(name)
        if how.key not in keys:
            keys[how.key] = BodyKeys().key(how.key)
        return decrypted(fetch(digest), how, keys[how.key])

    return opened


class Remembered:
    """A `Fetch` that remembers what it fetched last. May be called from several threads."""

    def __init__(self, fetch: Fetch, most: int = REMEMBERED) -> None:
        self._fetch, self._room = fetch, most
        self._most = most
        self._known: OrderedDict[str, bytes] = OrderedDict()
        self._lock = threading.Lock()

    def __call__(self, name: str) -> bytes:
        """The blob's bytes."""
        with self._lock:
            if name in self._known:
                self._known.move_to_end(name)
                return self._known[name]
        data = self._fetch(name)
        with self._lock:
            if name not in self._known and len(data) <= self._most:
                self._known[name] = data
                self._room -= len(data)
                while self._room < 0:
                    self._room += len(self._known.popitem(last=False)[1])
        return data


class LazyBody:
    """Where one body is: the blobs of its pieces in order, and when which of its bytes passed."""

    __slots__ = ("_passed", "names", "size")

    def __init__(self) -> None:
        self.names: list[str] = []
        self.size = 0
        """Bytes, by what the events say."""
        self._passed = array("q")

    def add(self, body: dict[str, Any]) -> None:
        """Take the next piece as an event tells it. Raises KeyError, TypeError or ValueError."""
        self.names.append(name_of(body))
        self.size += body["size"]
        try:
            for size, at_ns in body["chunks"]:
                self._passed.append(size)
                self._passed.append(at_ns)
        except OverflowError as error:
            raise ValueError("a chunk is out of range") from error

    @property
    def chunks(self) -> tuple[tuple[int, int], ...]:
        """Pairs of end offset and nanoseconds since the request began."""
        found: list[tuple[int, int]] = []
        offset = 0
        flat = iter(self._passed)
        for size, at_ns in zip(flat, flat, strict=True):
            offset += size
            found.append((offset, at_ns))
        return tuple(found)

    @property
    def last_ns(self) -> int:
        """The instant of the last chunk, 0 without one."""
        return max(self._passed[1::2], default=0)

    def read(self, fetch: Fetch) -> bytes:
        """The body. Raises TapeError where it is too long, or not as long as its events say."""
        if self.size > MAX_BODY:
            raise TapeError(
                f"a body has {self.size} bytes, expected at most {MAX_BODY} to be read", code="tape.body_size"
            )
        parts, left = list[bytes](), self.size
        for name in self.names:
            parts.append(fetch(name))
            left -= len(parts[-1])
            if left < 0:
                break
        if left:
            raise TapeTampered(f"a body does not have its {self.size} bytes", code="tape.blob_mismatch")
        return parts[0] if len(parts) == 1 else b"".join(parts)


class StoredDelivery(Delivery):
    """A delivery whose `body` and `chunks` are read when they are asked for."""

    __slots__ = ("_fetch", "_pieces")
    _fetch: Fetch
    _pieces: LazyBody

    def __new__(cls, *values: Any, **named: Any) -> Any:
        """Made like a `Delivery` (as `dataclasses.replace` does), it is one."""
        return Delivery(*values, **named)

    @classmethod
    def of(cls, head: Delivery, pieces: LazyBody, fetch: Fetch) -> Delivery:
        """`head` with the body that `pieces` tells of."""
        found: Delivery = _stored(cls, head, pieces, fetch)
        return found

    @property
    def body(self) -> bytes:
        """The bytes, from the tape."""
        return self._pieces.read(self._fetch)

    @property
    def chunks(self) -> tuple[tuple[int, int], ...]:
        """Pairs of end offset and nanoseconds."""
        return self._pieces.chunks

    def __eq__(self, other: object) -> bool:
        return _same(self, other, Delivery) if isinstance(other, Delivery) else NotImplemented

    __hash__ = Delivery.__hash__


class StoredRequest(Request):
    """A request whose `body` is read when it is asked for."""

    __slots__ = ("_fetch", "_pieces")
    _fetch: Fetch
    _pieces: LazyBody

    def __new__(cls, *values: Any, **named: Any) -> Any:
        """Made like a `Request` (as `dataclasses.replace` does), it is one."""
        return Request(*values, **named)

    @classmethod
    def of(cls, head: Request, pieces: LazyBody, fetch: Fetch) -> Request:
        """`head` with the body that `pieces` tells of; without any it is None."""
        return _stored(cls, head, pieces, fetch) if pieces.names else head

    @property
    def body(self) -> bytes | None:
        """The bytes, from the tape."""
        return self._pieces.read(self._fetch)

    def __eq__(self, other: object) -> bool:
        return _same(self, other, Request) if isinstance(other, Request) else NotImplemented

    __hash__ = Request.__hash__


def _stored(cls: type[Any], head: Delivery | Request, pieces: LazyBody, fetch: Fetch) -> Any:
    made = object.__new__(cls)
    for field in fields(head):
        if not isinstance(getattr(cls, field.name), property):
            object.__setattr__(made, field.name, getattr(head, field.name))
    object.__setattr__(made, "_pieces", pieces)
    object.__setattr__(made, "_fetch", fetch)
    return made


def _same(one: Any, other: object, kind: type[Any]) -> bool:
    """Are two of a kind equal? Bodies that are the same blobs are not read."""
    theirs: LazyBody | None = getattr(other, "_pieces", None)
    known = theirs is not None and theirs.names == one._pieces.names
    names = (field.name for field in fields(kind) if not (known and field.name == "body"))
    return all(getattr(one, name) == getattr(other, name) for name in names)
