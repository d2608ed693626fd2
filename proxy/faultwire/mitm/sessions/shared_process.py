"""A process of the agent that serves several sessions at once: whose is a call that it makes?

A server is started once and keeps one proxy user for good, so its calls must say themselves which session
they belong to: by the baggage member `faultwire-session` (W3C Baggage §3.2), or by the trace id of their
`traceparent` (W3C Trace Context §3.2). Both name a session and open nothing: the proxy user does that.
They are the agent's own bytes, and upstream gets them.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from faultwire import _core

if TYPE_CHECKING:
    from collections.abc import Iterable

    from faultwire.mitm.sessions.session import Session

MEMBER = "faultwire-session"
"""The baggage member that names a session."""
CLOSED_KEPT = 10_000
"""Sessions that are over whose calls are still known as such."""


class Fields(Protocol):
    """Header fields, as mitmproxy holds them."""

    @property
    def fields(self) -> Iterable[tuple[bytes, bytes]]:
        """Names and values in order."""


class UnattributedCalls(Exception):
    """A call belongs to no open session; says why."""


@dataclass
class Shared:
    """One proxy user and the sessions that share it. `own` is the session of what the process does while
    no other one is open. `unnamed`: calls without any proxy user are this process's, too."""

    own: Session
    user: str
    token: str
    unnamed: bool = False
    port: int = 0
    attached: dict[str, Session] = field(default_factory=dict)
    """By trace id."""
    late: int = 0
    _closed: OrderedDict[str, None] = field(default_factory=OrderedDict)

    @property
    def name(self) -> str:
        """The process's name, and its own session's."""
        return self.own.name

    def attach(self, session: Session, trace: str) -> None:
        """From now on a session shares it."""
        self.attached[trace] = session

    def detach(self, session: Session) -> None:
        """A session ends: who still names it comes too late."""
        for trace in [trace for trace, found in self.attached.items() if found is session]:
            del self.attached[trace]
            self._closed[trace] = None
        while len(self._closed) > CLOSED_KEPT:
            self._closed.popitem(last=False)

    @property
    def single(self) -> Session | None:
        """The only open session, None where there are several or none."""
        return next(iter(self.attached.values())) if len(self.attached) == 1 else None

    @property
    def sessions(self) -> list[Session]:
        """Whose a call can be."""
        return list(self.attached.values()) or [self.own]

    def choose(self, headers: Fields) -> Session:
        """Whose is this call? Raises Astray; where it could be anybody's, nobody has all of its calls."""
        named = names(headers)
        for trace in named:
            if trace in self.attached:
                return self.attached[trace]
        if any(trace in self._closed for trace in named):
            self.late += 1
            raise UnattributedCalls(f"this call of `{self.name}` belongs to a session that is over")
        if not self.attached:
            return self.own
        alone = self.single
        if alone is not None:
            return alone
        why = (
            f"a call of `{self.name}` did not propagate `traceparent` or `baggage`, "
            f"so that it belongs to no one of several open sessions"
        )
        for session in self.attached.values():
            session.void(why)
        raise UnattributedCalls(why)

    @property
    def notes(self) -> list[str]:
        """What it did besides sessions, in words."""
        found = []
        if self.own.exchanges:
            found.append(
                f"`{self.name}` made {_calls(self.own.exchanges)} while no session was open; "
                f"the tape has them as session `{self.name}`"
            )
        if self.late:
            found.append(
                f"`{self.name}` made {_calls(self.late)} for sessions that were over; "
                f"{'it was' if self.late == 1 else 'they were'} turned away (403)"
            )
        return found


def trace_id(seed: int, session: str) -> str:
    """The trace id of a session: 32 hex digits, the same in every run with this seed."""
    return _core.sha256_hex(f"faultwire-trace-v1:{seed}:{session}".encode())[:32]


def names(headers: Fields) -> list[str]:
    """The trace ids that a request names, those of its baggage first."""
    members: list[str] = []
    parents: list[str] = []
    for name, value in headers.fields:
        lowered = name.lower()
        if lowered == b"baggage":
            members += _members(value.decode("latin-1"))
        elif lowered == b"traceparent":
            parts = value.decode("latin-1").strip().split("-")
            parents += parts[1:2]
    return [*members, *parents]


def _members(baggage: str) -> list[str]:
    """The values of our member."""
    found = []
    for member in baggage.split(","):
        key, _, value = member.partition(";")[0].partition("=")
        if key.strip() == MEMBER:
            found.append(value.strip())
    return found


def _calls(count: int) -> str:
    return "1 call" if count == 1 else f"{count} calls"
