"""Faults that are armed while a proxy runs: whose calls they may touch, and how many at most. Pure.

A session is decided on once, when its first call comes: by its keyed roll, and by the room that is left then.
One that was passed over is not touched later, so that what was touched is a subset of what a larger share
would have touched, and a limit that is reached stays reached.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from faultwire import dice
from faultwire._core import glob_match
from faultwire.events import header
from faultwire.exchange.guardrail import Guardrail, Thresholds
from faultwire.plugins.frozen import dataclass

if TYPE_CHECKING:
    from collections.abc import Sequence

    from faultwire.events import Headers
    from faultwire.profile.model import Profile

MOST_SESSIONS = 100_000
"""Sessions that are told apart; those that come later are not touched."""
MEMBER = "faultwire-session"
"""The baggage member that names a session (W3C Baggage §3.2)."""


@dataclass(frozen=True, slots=True)
class Selection:
    """Which calls: of sessions whose name matches one of these globs, of this share of sessions, with these
    header fields, from `after_s` on for `for_s` seconds. `by` is the header field that names a session."""

    sessions: tuple[str, ...] = ()
    share: float = 1.0
    headers: tuple[tuple[str, str], ...] = ()
    after_s: float = 0.0
    for_s: float | None = None
    by: str | None = None


@dataclass(frozen=True, slots=True)
class Radius:
    """How much may be touched at most: sessions, their share of all that were seen, calls with a fault."""

    sessions: int | None = None
    share: float | None = None
    calls: int | None = None


class BlastRadius:
    """Keeps to a radius. A call takes its place before anything is decided about it."""

    def __init__(self, radius: Radius) -> None:
        self.radius = radius
        self.touched: set[str] = set()
        self.seen: set[str] = set()
        self.calls = 0

    def see(self, session: str) -> bool:
        """A call of this session came; False where there are too many to tell it from others."""
        if len(self.seen) < MOST_SESSIONS:
            self.seen.add(session)
        return session in self.seen

    def has_room(self, session: str) -> bool:
        """May a call of this session be touched?"""
        limit = self.radius
        if limit.calls is not None and self.calls >= limit.calls:
            return False
        if session in self.touched:
            return True
        count = len(self.touched) + 1
        if limit.sessions is not None and count > limit.sessions:
            return False
        return limit.share is None or count <= limit.share * len(self.seen)

    def take(self, session: str) -> None:
        """A call of this session is touched."""
        self.touched.add(session)
        self.calls += 1

    def give_back(self) -> None:
        """No fault fired on such a call: its place is free. The session stays touched."""
        self.calls -= 1


class Intervention:
    """One profile that was armed. `began` is the instant at which it was."""

    def __init__(
        self,
        ident: str,
        profile: Profile,
        selection: Selection,
        radius: Radius,
        thresholds: Thresholds,
        *,
        seed: int,
        began: float,
    ) -> None:
        self.ident, self.selection, self.began = ident, selection, began
        self.profile = _named(profile, ident)
        self.radius = BlastRadius(radius)
        self.guardrail = Guardrail(thresholds)
        self.why: str | None = None
        """Why it is disarmed; None while it is armed."""
        self._seed = seed
        self._sessions: dict[str, bool] = {}

    @property
    def state(self) -> Literal["armed", "disarmed"]:
        """Can it touch anything?"""
        return "armed" if self.why is None else "disarmed"

    def disarm(self, why: str) -> bool:
        """It touches nothing from here on; False where it did not before. Only the first reason counts."""
        if self.why is not None:
            return False
        self.why = why
        return True

    def is_over(self, now: float) -> bool:
        """Is its window over?"""
        chosen = self.selection
        return chosen.for_s is not None and now >= self.began + chosen.after_s + chosen.for_s

    def takes(self, session: str, headers: Headers, now: float, limit: BlastRadius) -> bool:
        """Is this call touched? `limit` is what all interventions together may touch."""
        if self.why is not None or self.is_over(now) or now < self.began + self.selection.after_s:
            return False
        known = self.radius.see(session) and session in limit.seen
        if not known or not self._matches(session, headers):
            return False
        if not self._chooses(session, limit):
            return False
        if not (self.radius.has_room(session) and limit.has_room(session)):
            return False
        self.radius.take(session)
        limit.take(session)
        return True

    def _matches(self, session: str, headers: Headers) -> bool:
        chosen = self.selection
        if chosen.sessions and not any(glob_match(glob, session) for glob in chosen.sessions):
            return False
        values = ((glob, header(headers, name)) for name, glob in chosen.headers)
        return all(value is not None and glob_match(glob, value) for glob, value in values)

    def _chooses(self, session: str, limit: BlastRadius) -> bool:
        known = self._sessions.get(session)
        if known is None:
            # The same roll for every intervention: a smaller share is a part of a larger one.
            rolled = dice.unit(self._seed, session, "control", "", 0) < self.selection.share
            known = rolled and self.radius.has_room(session) and limit.has_room(session)
            self._sessions[session] = known
        return known


def session_of(headers: Headers, own: str, by: str | None) -> str:
    """The session of a call: what the header field `by` says; else our member of its baggage, else the trace
    id of its `traceparent` (W3C Trace Context §3.2), else the session of the proxy that it belongs to."""
    if by is not None:
        return header(headers, by) or own
    for member in (header(headers, "baggage") or "").split(","):
        key, _, value = member.partition(";")[0].partition("=")
        if key.strip() == MEMBER and value.strip():
            return value.strip()
    parts = (header(headers, "traceparent") or "").strip().split("-")
    return parts[1] if len(parts) == 4 and len(parts[1]) == 32 else own


def joined(base: Profile, armed: Sequence[Intervention]) -> Profile:
    """A session's profile with what is armed behind its own faults."""
    tools, agents, entries = dict(base.tools), dict(base.agents), base.entries
    for one in armed:
        tools = {**one.profile.tools, **tools}
        agents = {**one.profile.agents, **agents}
        entries = (*entries, *one.profile.entries)
    return _made(base, tools=tools, agents=agents, entries=entries)


def _named(profile: Profile, ident: str) -> Profile:
    """The profile with ids that say who armed them."""
    entries = tuple(one.model_copy(update={"id": f"{ident}/{one.id}"}) for one in profile.entries)
    return _made(profile, entries=entries)


def _made(profile: Profile, **changed: Any) -> Profile:
    """Made anew: a copy would keep the original's cached properties."""
    fields = {name: getattr(profile, name) for name in type(profile).model_fields}
    return type(profile)(**{**fields, **changed})
