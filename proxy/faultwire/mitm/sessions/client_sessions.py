"""Sessions that clients of one proxy name themselves.

A client names its session behind the proxy's user (`USER.NAME`, with the proxy's token), or in base-URL mode
behind its token (`/TOKEN.NAME/route`). Its first call opens the session, which has the profile and the seed
of the proxy, and dice by its name.
"""

from __future__ import annotations

import hmac
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from faultwire.mitm.sessions.session import Session

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,62}\Z")
MOST = 1000
"""Sessions that clients may name on one engine; calls of more are turned away."""


def session_named(text: str, own: str) -> str | None:
    """The session's name in a user or token that begins with `own`; empty where it is `own` itself, None for
    anything else."""
    if text == own:
        return ""
    first, dot, name = text.partition(".")
    return name if dot and first == own and NAME.match(name) else None


class ClientSessions:
    """Opens them, by `open_`, which gives a session of a name. Where several engines serve the proxy
    (`announced`), only those that were placed on this one."""

    def __init__(
        self, user: str, token: str, open_: Callable[[str], Session], *, announced: bool = False
    ) -> None:
        self.user, self.token = user, token
        self._open = open_
        self._may: set[str] | None = set() if announced else None
        self._sessions: dict[str, Session] = {}

    def announce(self, name: str) -> None:
        """A session has been placed on this engine."""
        if self._may is not None:
            self._may.add(name)

    def names_one(self, user: str) -> bool:
        """Does a proxy user name a session, whether it is open or not?"""
        return bool(session_named(user, self.user))

    def by_user(self, user: str, token: str) -> Session | None:
        """The session that a proxy user names, with the token as its password."""
        name = session_named(user, self.user)
        if not name or not hmac.compare_digest(token.encode(), self.token.encode()):
            return None
        return self._named(name)

    def by_token(self, text: str) -> Session | None:
        """The session that the token of a path names."""
        token, _, _ = text.partition(".")
        if not hmac.compare_digest(token.encode(), self.token.encode()):
            return None
        name = session_named(text, self.token)
        return self._named(name) if name else None

    def _named(self, name: str) -> Session | None:
        found = self._sessions.get(name)
        if found is None and (self._may is None or name in self._may) and len(self._sessions) < MOST:
            found = self._sessions[name] = self._open(name)
        return None if found is None or found.closing else found
