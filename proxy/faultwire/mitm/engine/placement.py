"""On which of several engines a client's connection is served.

A session's decisions depend on what it has counted, so that all of its connections belong on one engine. What
names the session is in the first request head of a connection, which is looked at and not taken: the engine
that the connection is given to reads it again, and decides whether the client may use the proxy.
"""

from __future__ import annotations

import binascii
from base64 import b64decode
from typing import TYPE_CHECKING

from faultwire.mitm.sessions.client_sessions import session_named

if TYPE_CHECKING:
    from collections.abc import Collection

MOST_HEAD = 64 * 1024
"""Bytes of a head, as of every request head; a longer one is for the first engine to refuse."""
_ENDS = (b"\r\n\r\n", b"\n\n")


def session_of(seen: bytes, user: str, token: str) -> str | None:
    """The session that the beginning of a connection names, empty for none; None where more must be seen.

    Empty as well for what cannot be read: the first engine serves what names no session, and refuses what
    nobody can serve.
    """
    if seen and not seen[:1].isalpha():
        return ""  # no HTTP/1.1: TLS to the proxy itself, say
    ends = [at for at in map(seen.find, _ENDS) if at >= 0]
    if not ends:
        return "" if len(seen) >= MOST_HEAD else None
    first, *fields = seen[: min(ends)].splitlines()
    for field in fields:
        name, _, value = field.partition(b":")
        if name.strip().lower() == b"proxy-authorization":
            return _by_user(value.strip(), user, token)
    parts = first.split(b" ")
    path = parts[1].decode("latin-1") if len(parts) > 1 else ""
    whose = path.split("/", 2)[1] if path.startswith("/") else ""
    return session_named(whose, token) or ""


def _by_user(value: bytes, user: str, token: str) -> str:
    scheme, _, encoded = value.partition(b" ")
    if scheme.lower() != b"basic":
        return ""
    try:
        named, _, password = b64decode(encoded.strip(), validate=True).decode().partition(":")
    except (binascii.Error, UnicodeDecodeError):
        return ""
    return (session_named(named, user) or "") if password == token else ""


class Placement:
    """Which engine each session is on, by numbers from 1. What names no session is on the first.

    A new session goes to the engine with the fewest of those that take new ones, and stays there.
    """

    def __init__(self, count: int) -> None:
        self._count = count
        self._places: dict[str, int] = {"": 1}
        self._closed: set[int] = set()
        self._gone: dict[int, str] = {}

    def place(self, session: str) -> int | str:
        """The engine of a session, or why there is none for it."""
        number = self._places.get(session)
        if number is None:
            free = [one for one in range(1, self._count + 1) if one not in self._closed]
            if not free:
                return "no engine of this proxy takes new sessions"
            number = self._places[session] = min(free, key=self._sessions_on)
        return self._gone.get(number, number)

    def _sessions_on(self, number: int) -> int:
        return sum(place == number for place in self._places.values())

    def close(self, number: int) -> None:
        """An engine takes no new sessions."""
        self._closed.add(number)

    def lose(self, number: int, why: str) -> None:
        """An engine takes nothing more; `why` is said to clients of its sessions."""
        self.close(number)
        self._gone.setdefault(number, why)

    @property
    def gone(self) -> Collection[int]:
        """The engines that take nothing more."""
        return self._gone.keys()
