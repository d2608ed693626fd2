"""Who may use the proxy: whoever names a session by its token, and without one processes of our own user."""

from __future__ import annotations

import ipaddress
import os
from collections import Counter
from typing import TYPE_CHECKING

from faultwire.mitm.network import peer_user
from faultwire.mitm.sessions.session import number_of_calls

if TYPE_CHECKING:
    from mitmproxy.connection import Client

    from faultwire.mitm.sessions.sessions import Sessions, Whose

USERS_KEPT = 20
"""Other users whose calls are counted one by one."""
UNKNOWN = -1
"""The user of a process that cannot be found from here: on another machine, or ended."""


class Access:
    """The rules of one proxy. `check` is off for a proxy that somebody else opens to its clients (mitmdump),
    and with `--no-auth`; `guarded` are ports on which everybody needs a token."""

    def __init__(self, sessions: Sessions, *, check: bool = False) -> None:
        self.check = check
        self.guarded: set[int] = set()
        self._sessions = sessions
        self._users: dict[str, int] = {}
        self._refused: Counter[int] = Counter()

    def enter(self, client: Client) -> None:
        """A client has connected: ask whose it is while its socket is there, once."""
        if self.check and peer_user.KNOWN and client.id not in self._users:
            self._users[client.id] = self._user(client)

    def vouch(self, client: Client) -> None:
        """A client is known to be ours by where it came in: nobody needs to be asked."""
        self._users[client.id] = os.getuid()

    def source(self, client: Client) -> tuple[str, int | None]:
        """Where a client that has entered comes from: its address, and its user where that is known."""
        return client.peername[0], self._users.get(client.id)

    def leave(self, client: Client) -> None:
        """A client has gone."""
        self._users.pop(client.id, None)

    def find(self, user: tuple[str, str] | None, client: Client) -> Whose | None:
        """Whose traffic this is; None for nobody's."""
        port = client.sockname[1]
        found = self._sessions.by_user(user)
        if found is not None or not self.check:
            return found or self._sessions.find(user, port)
        if port in self.guarded:
            return None
        if self.is_foreign(client):
            other = self._users.get(client.id, UNKNOWN)
            if other != UNKNOWN or not self._sessions.had(user):
                self._refused[other if len(self._refused) < USERS_KEPT else UNKNOWN] += 1
            return None  # a dial that a command had under way when it ended is nobody's call
        return self._sessions.find(user, port)

    def is_foreign(self, client: Client) -> bool:
        """Is it a process of another user? Root may do what we may. Where the system does not tell whose a
        connection is (anything but Linux), only the address that we listen on keeps others out."""
        if not self.check or not peer_user.KNOWN:
            return False
        return self._users.get(client.id, UNKNOWN) not in (os.getuid(), 0)

    @property
    def notes(self) -> list[str]:
        """What was turned away, in words."""
        return [
            f"{number_of_calls(count)} without a token by {_named(user)} "
            f"{'was' if count == 1 else 'were'} turned away (407)"
            for user, count in sorted(self._refused.items())
        ]

    def _user(self, client: Client) -> int:
        try:
            found = peer_user.user_of(client.peername[:2], client.sockname[:2])
        except (OSError, ValueError):
            return UNKNOWN  # refused: nobody vouches for it
        return UNKNOWN if found is None else found


def is_loopback(host: str) -> bool:
    """Does an address to listen on admit this machine alone?"""
    try:
        return ipaddress.ip_address(host.partition("%")[0]).is_loopback
    except ValueError:
        return host.lower() == "localhost"


def reachable(host: str) -> str:
    """An address of this machine at which a listener on `host` is reached."""
    return {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)


def _named(user: int) -> str:
    return "a process that could not be identified" if user == UNKNOWN else f"processes of user {user}"
