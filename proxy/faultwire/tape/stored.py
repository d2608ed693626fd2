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

from faultwire.events import Delivery, Request

Fetch = Callable[[str], bytes]
"""Gives the bytes of a blob by its digest in hex. Raises TapeError."""

REMEMBERED = 4 << 20
"""Bytes of bodies that are remembered per tape."""


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


class Pieces:
    """Where one body is: the blobs of its pieces in order, and when which of its bytes passed."""

    __slots__ = ("_passed", "names")

    def __init__(self) -> None:
        self.names: list[str] = []
        self._passed = array("q")

    def add(self, body: dict[str, Any]) -> None:
        """Take the next piece as an event tells it. Raises KeyError, TypeError or ValueError."""
        name = body["blob"]
        if not isinstance(name, str):
            raise TypeError(f"a blob is named by {type(name).__name__}")
        self.names.append(name)
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
        """The body."""
        if len(self.names) == 1:
            return fetch(self.names[0])
        return b"".join(map(fetch, self.names))


class StoredDelivery(Delivery):
    """A delivery whose `body` and `chunks` are read when they are asked for."""

    __slots__ = ("_fetch", "_pieces")
    _fetch: Fetch
    _pieces: Pieces

    def __new__(cls, *values: Any, **named: Any) -> Any:
        """Made like a `Delivery` (as `dataclasses.replace` does), it is one."""
        return Delivery(*values, **named)

    @classmethod
    def of(cls, head: Delivery, pieces: Pieces, fetch: Fetch) -> Delivery:
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
    _pieces: Pieces

    def __new__(cls, *values: Any, **named: Any) -> Any:
        """Made like a `Request` (as `dataclasses.replace` does), it is one."""
        return Request(*values, **named)

    @classmethod
    def of(cls, head: Request, pieces: Pieces, fetch: Fetch) -> Request:
        """`head` with the body that `pieces` tells of; without any it is None."""
        return _stored(cls, head, pieces, fetch) if pieces.names else head

    @property
    def body(self) -> bytes | None:
        """The bytes, from the tape."""
        return self._pieces.read(self._fetch)

    def __eq__(self, other: object) -> bool:
        return _same(self, other, Request) if isinstance(other, Request) else NotImplemented

    __hash__ = Request.__hash__


def _stored(cls: type[Any], head: Delivery | Request, pieces: Pieces, fetch: Fetch) -> Any:
    made = object.__new__(cls)
    for field in fields(head):
        if not isinstance(getattr(cls, field.name), property):
            object.__setattr__(made, field.name, getattr(head, field.name))
    object.__setattr__(made, "_pieces", pieces)
    object.__setattr__(made, "_fetch", fetch)
    return made


def _same(one: Any, other: object, kind: type[Any]) -> bool:
    """Are two of a kind equal? Bodies that are the same blobs are not read."""
    theirs: Pieces | None = getattr(other, "_pieces", None)
    known = theirs is not None and theirs.names == one._pieces.names
    names = (field.name for field in fields(kind) if not (known and field.name == "body"))
    return all(getattr(one, name) == getattr(other, name) for name in names)
