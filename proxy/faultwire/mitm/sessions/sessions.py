"""The sessions that live on one engine, and what is counted of each."""

from __future__ import annotations

import hmac
from collections import Counter
from typing import TYPE_CHECKING, Any

from faultwire import dice
from faultwire.errors import UsageError
from faultwire.mitm.sessions.session import Session, number_of_calls
from faultwire.mitm.sessions.shared_process import Shared

if TYPE_CHECKING:
    from collections.abc import Iterable

    from faultwire.exchange.pipeline import SessionContext
    from faultwire.mitm.sessions.client_sessions import ClientSessions

ENDED_KEPT = 1000
"""Sessions that are over whose users are still known."""
HOSTS_KEPT = 20
"""Hosts whose turned away calls are counted."""


class UnknownUsers:
    """Calls that belong to no session, by host; they are noted once, for the whole engine.

    A client that sends its proxy user only when it is asked for it is no stranger: its host is
    forgotten as soon as a call with a user goes there.
    """

    def __init__(self) -> None:
        self._turned_away: Counter[str] = Counter()

    def turn_away(self, host: str) -> None:
        """Note a call without the proxy user of any session."""
        if host in self._turned_away or len(self._turned_away) < HOSTS_KEPT:
            self._turned_away[host] += 1

    def known(self, host: str) -> None:
        """A call to this host came with a user."""
        if self._turned_away:
            self._turned_away.pop(host, None)

    @property
    def notes(self) -> list[str]:
        """What they did, in words."""
        return [
            f"{number_of_calls(count)} to `{host}` came without the session's proxy user and "
            f"{'was' if count == 1 else 'were'} turned away (407)"
            for host, count in sorted(self._turned_away.items())
        ]


Whose = Session | Shared
"""What a proxy user, a port or a token leads to."""


class Sessions:
    """All open sessions, found by proxy user, by listener port, or as the implicit one."""

    def __init__(self) -> None:
        self.implicit: Session | None = None
        self._names: dict[str, Session] = {}
        self._users: dict[str, Whose] = {}
        self._ports: dict[int, Whose] = {}
        self._tokens: dict[str, Whose] = {}
        self._ended: dict[str, str] = {}
        self._shared: dict[str, Shared] = {}
        self._unnamed: Shared | None = None
        self.clients: ClientSessions | None = None
        """Those that clients name, where they may."""

    def __iter__(self) -> Any:
        return iter(list(self._names.values()))

    def __len__(self) -> int:
        return len(self._names)

    def open(
        self, context: SessionContext, agent: str = "", *, user: str = "", token: str = "", path: str = ""
    ) -> Session:
        """A new session, with a user and token of its own where none is given. Raises UsageError for a name
        in use."""
        if context.name in self._names:
            raise UsageError(f"a session `{context.name}` is open already", code="engine.session")
        user, token = user or f"s{dice.token(6)}", token or dice.token(16)
        session = Session(context, user=user, token=token, agent=agent, path=path)
        self._names[context.name] = session
        self._users[session.user] = session
        self._tokens[session.path] = session
        return session

    def share(self, own: Session, *, unnamed: bool = False) -> Shared:
        """Make the user of an open session one that other sessions share; it is `own` from then on."""
        shared = Shared(own, own.user, own.token, unnamed)
        self._shared[shared.name] = self._users[own.user] = self._tokens[own.token] = shared
        if unnamed:
            self._unnamed = shared
        return shared

    @property
    def shared(self) -> Iterable[Shared]:
        """Every user that is shared."""
        return self._shared.values()

    def attach(self, name: str, session: Session, trace: str) -> Shared:
        """Let an open session share a user. Raises UsageError where that is none, or where a session whose
        faults act on connections would not be alone: a connection says nothing of sessions."""
        shared = self._shared.get(name)
        if shared is None:
            raise UsageError(f"no user `{name}` is shared", code="engine.share")
        for other in shared.attached.values():
            if not (session.stages.idle and other.stages.idle):
                raise UsageError(
                    f"the sessions `{other.name}` and `{session.name}` share `{name}`, and faults of one of "
                    "them act on connections",
                    code="engine.share",
                    hint="such sessions are opened one after another",
                )
        shared.attach(session, trace)
        return shared

    def detach(self, session: Session) -> None:
        """A session is about to end: it shares no user any more."""
        for shared in self._shared.values():
            shared.detach(session)

    def listen(self, whose: Whose, port: int) -> None:
        """Traffic on this port is the session's, or of a user that is shared."""
        whose.port = port
        self._ports[port] = whose

    def named(self, name: str) -> Session:
        """Raises UsageError where no such session is open."""
        try:
            return self._names[name]
        except KeyError:
            raise UsageError(f"no session `{name}` is open", code="engine.session") from None

    def close(self, session: Session) -> None:
        """Forget a session; its user and port mean nothing from here on."""
        self.detach(session)
        self._names.pop(session.name, None)
        self._users.pop(session.user, None)
        self._tokens.pop(session.path, None)
        self._ended[session.user] = session.token
        while len(self._ended) > ENDED_KEPT:
            del self._ended[next(iter(self._ended))]
        self._ports.pop(session.port, None)
        if self.implicit is session:
            self.implicit = None

    def find(self, user: tuple[str, str] | None, port: int) -> Whose | None:
        """Whose traffic is this? A user that is wrong is nobody's, not the implicit session's."""
        if user is not None:
            found = self.by_user(user)
            if found is not None or (self.clients is not None and self.clients.names_one(user[0])):
                return found
            return self._ports.get(port) or (self.implicit if self._alone() else None)
        return self._ports.get(port) or self.implicit or self._unnamed

    def at_port(self, port: int) -> list[Session]:
        """Whose traffic without a user may be that comes in at this port: all of them, where nobody knows."""
        whose = self.find(None, port)
        found = whose.sessions if isinstance(whose, Shared) else [whose] if whose is not None else []
        return found or list(self)

    def by_user(self, user: tuple[str, str] | None) -> Whose | None:
        """Whose proxy user and token these are."""
        if user is None:
            return None
        found = self._users.get(user[0])
        if found is None:
            return None if self.clients is None else self.clients.by_user(*user)
        return found if hmac.compare_digest(found.token.encode(), user[1].encode()) else None

    def had(self, user: tuple[str, str] | None) -> bool:
        """Are these the proxy user and token of a session that is over?"""
        token = self._ended.get(user[0]) if user is not None else None
        return (
            user is not None and token is not None and hmac.compare_digest(token.encode(), user[1].encode())
        )

    def by_token(self, token: str) -> Whose | None:
        """Whose token is this? It is long and random, so that looking it up tells nothing."""
        found = self._tokens.get(token)
        if found is None and self.clients is not None:
            return self.clients.by_token(token)
        return found

    def _alone(self) -> bool:
        """With only the implicit session open, a stranger's proxy password harms nobody."""
        return self.implicit is not None and len(self._names) == 1
