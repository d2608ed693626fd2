"""The way of one CONNECT: what becomes of a tunnel before there is a request, without any socket.

Entries are judged here whose matching needs no more than host and session; they are decided by the same
`decide` and dice as all others, about a fingerprint of host and port, and are not asked again about the
requests in the tunnel.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from faultwire import wire
from faultwire.events import Exchange
from faultwire.exchange.plan import Decision, decide
from faultwire.exchange.session_state import Subject
from faultwire.faults.connection._stage import BadTls, ConnectionFault, NoTunnel, StalledBodies
from faultwire.profile.entry_model import On
from faultwire.profile.match import may_match, mismatch
from faultwire.profile.model import Profile

if TYPE_CHECKING:
    from faultwire.events import FaultFired, Kind, Request, Response
    from faultwire.exchange.request_out import SessionContext
    from faultwire.faults.connection._stage import Flaw
    from faultwire.profile.entry_model import Entry

_AT_FIRST = frozenset({"host", "session"})
"""Keys of `on` that are known when a connection is made."""
_BY_NAME = _AT_FIRST | {"kind", "provider"}
"""These as well, from what a host is known for."""


@dataclass(frozen=True, slots=True)
class TunnelProfiles:
    """A profile, divided for tunnels: `outside` is judged when one is opened, `inside` on the requests
    in it; the faults of `never` can only act at the first and are matched by what comes later."""

    outside: Profile
    inside: Profile
    never: tuple[Entry, ...]

    @property
    def idle(self) -> bool:
        """Does no entry apply to any tunnel?"""
        return not self.outside.entries and not self.never


def divide(profile: Profile) -> TunnelProfiles:
    """The stages of a profile."""
    outside = tuple(entry for entry in profile.entries if _is_early(entry))
    never = tuple(entry for entry in profile.entries if _only_early(entry) and entry not in outside)
    inside = tuple(entry for entry in profile.entries if entry not in outside and entry not in never)
    return TunnelProfiles(_with(profile, outside), _with(profile, inside), never)


def _with(profile: Profile, entries: tuple[Entry, ...]) -> Profile:
    if entries == profile.entries:
        return profile
    # Made anew: a copy would keep the original's cached properties.
    return Profile(**{name: getattr(profile, name) for name in Profile.model_fields} | {"entries": entries})


def _is_early(entry: Entry) -> bool:
    fault = entry.fault
    if not isinstance(fault, ConnectionFault):
        return False
    keys = _keys(entry.on)
    return keys <= _BY_NAME if _only_early(entry) else "host" in keys and keys <= _AT_FIRST


def _only_early(entry: Entry) -> bool:
    return isinstance(entry.fault, ConnectionFault) and entry.fault.moments == ("connection",)


def _keys(on: On) -> set[str]:
    return {key for key in On.model_fields if getattr(on, key) is not None}


class Tunnel:
    """One CONNECT. `answer` is given in place of a tunnel; else `flaw` says what is wrong with the TLS
    in it. Where nothing was `judged` there is nothing to record."""

    def __init__(
        self, context: SessionContext, stages: TunnelProfiles, request: Request, *, direct: bool = False
    ) -> None:
        state = context.state
        self._direct = direct
        self.exchange = _exchange(context, request)
        self._lines: list[FaultFired] = []
        self._broken: tuple[Decision, BadTls | NoTunnel | StalledBodies] | None = None
        self._effect: str | None = None
        self._unfit: str | None = None
        self._context = context
        if may_decide(stages.outside, self.exchange):
            self.exchange = state.identify(self.exchange)
            self._decide(stages.outside)
        self._pass_over(stages.never)
        self.judged = bool(self._lines or self._broken)
        if self.judged:
            # Told by host, it was no call to a model yet.
            self.exchange = replace(self.exchange, number=state.number(), kind="other")
        if isinstance(self._decided, NoTunnel):
            self.mark_failed(self._decided.directly if direct else self._decided.effect)

    def _decide(self, profile: Profile) -> None:
        context = self._context
        for decision in decide(profile, context.dice, self.exchange, context.state).decisions:
            if decision.counted:
                context.state.note(decision.entry.id, decision.subject, decision.call, decision.at_s)
            fault = decision.entry.fault
            if decision.verb != "fire" or not isinstance(fault, ConnectionFault):
                self._lines.append(decision.line())
            elif self._broken is not None:
                first = self._broken[0].entry.id
                self._lines.append(decision.line("preempted", f"`{first}` ended the exchange first"))
            else:
                self._broken = (decision, fault.connect(self.exchange))

    def _pass_over(self, never: tuple[Entry, ...]) -> None:
        subject = Subject(self.exchange.key, self.exchange.n, self.exchange.attempt)
        for entry in never:
            on = On(kind="other", host=entry.on.host, session=entry.on.session, provider=entry.on.provider)
            if mismatch(on, replace(self.exchange, kind="other")) is None:
                keys = "`, `".join(sorted(_keys(entry.on) - _BY_NAME))
                why = f"`{keys}` is not known when a connection is made: match it with `host`"
                self._lines.append(Decision(entry, subject, "inapplicable", why).line())

    @property
    def _decided(self) -> BadTls | NoTunnel | StalledBodies | None:
        return self._broken[1] if self._broken else None

    @property
    def answer(self) -> Response | None:
        """The answer to the CONNECT, None where the tunnel is opened."""
        return self._decided.response if isinstance(self._decided, NoTunnel) else None

    @property
    def flaw(self) -> Flaw | None:
        """What is to be wrong with the TLS in the tunnel."""
        return self._decided.flaw if isinstance(self._decided, BadTls) else None

    @property
    def stall(self) -> StalledBodies | None:
        """What becomes of the bodies of requests in the tunnel, where they are to stand still."""
        return self._decided if isinstance(self._decided, StalledBodies) else None

    @property
    def effect(self) -> str:
        """What the fault that fired does, in words; empty where none did."""
        return self._decided.effect if self._decided else ""

    def mark_failed(self, effect: str) -> None:
        """The fault fired, and the same CONNECT again is its retry."""
        self._effect = effect
        self._context.state.mark_failed(self.exchange.key, self.exchange.n)

    def ignored(self, effect: str) -> None:
        """The fault fired and the agent went on."""
        self._effect = effect

    def acted(self) -> None:
        """The fault fired, and the connection goes on."""
        self._effect = self.effect

    def unfit(self, why: str) -> None:
        """What is spoken in the tunnel has nothing that the fault could act on."""
        self._unfit = why

    def ledger(self) -> tuple[FaultFired, ...]:
        """Every decision on this CONNECT and what came of it."""
        if self._broken is None:
            return tuple(self._lines)
        if self._unfit is not None:
            return (self._broken[0].line("inapplicable", self._unfit), *self._lines)
        line = self._broken[0].line("fired" if self._effect else "no_effect", effect=self._effect)
        return (line, *self._lines)


def may_decide(profile: Profile, exchange: Exchange) -> bool:
    """Could an entry match? Then the CONNECT is counted as a call."""
    return any(may_match(entry.on, exchange) for entry in profile.entries)


def _exchange(context: SessionContext, request: Request) -> Exchange:
    """The CONNECT as an exchange; a host is taken for what it is known for."""
    provider = wire.provider_of(request.host)
    kind: Kind = "llm" if provider is not None and _serves_models(request.host, provider) else "other"
    return Exchange(
        session=context.name,
        number=0,
        request=request,
        kind=kind,
        provider=provider,
        key=wire.fingerprint(replace(request, path=f":{request.port}"), "other"),
        at_s=max(0.0, context.now() - context.began),
    )


def _serves_models(host: str, provider: str) -> bool:
    """Clouds have hosts for everything."""
    return provider != "aws" or host.lower().startswith("bedrock")
