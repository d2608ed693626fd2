"""Faults that are armed on a running engine: which exchanges get them, and what disarms them.

What is chosen and when it ends is decided in `exchange.intervention` and `exchange.guardrail`. Here are the
instants, the exchanges that are under way, and the lines on the tape. While nothing is armed an exchange has
nothing to do with it.
"""

from __future__ import annotations

import asyncio
import itertools
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from faultwire import clock
from faultwire.errors import UsageError
from faultwire.exchange.guardrail import Thresholds
from faultwire.exchange.intervention import (
    BlastRadius,
    Intervention,
    Radius,
    Selection,
    joined,
    session_of,
)
from faultwire.exchange.tunnel import divide
from faultwire.mitm.flow.armed import Armed, WatchedExchange
from faultwire.mitm.flow.recorded_exchange import RecordedExchange
from faultwire.mitm.settings import BreakSettings
from faultwire.profile.dump import dump, from_dump

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from faultwire.events import Request
    from faultwire.exchange.pipeline import SessionContext
    from faultwire.mitm.breakpoints.desk import Desk
    from faultwire.mitm.sessions.session import Session
    from faultwire.mitm.settings import InterventionSettings, RadiusSettings
    from faultwire.profile.model import Profile
    from faultwire.tape.record.writer import TapeWriter

TICK_S = 0.1
"""How often thresholds, windows and leases are looked at; an exchange that ends is judged at once."""
KEPT = 100
"""Interventions that are listed; of those that are over, the oldest are forgotten."""
PROFILES_KEPT = 64
LOST = "its controller ended"
SILENT = "its controller said nothing for {:g} s"


class RuntimeControl:
    """What is armed on one engine."""

    def __init__(
        self,
        limits: RadiusSettings | None = None,
        tape: TapeWriter | None = None,
        *,
        seed: int = 0,
        now: Callable[[], float] = clock.monotonic,
        redact: Mapping[str, object] | None = None,
    ) -> None:
        self.limit = BlastRadius(_radius(limits))
        self._clock = now
        self._tape, self._seed, self._redact = tape, seed, redact or {}
        self._all: dict[str, Armed] = {}
        self._numbers = itertools.count(1)
        self._calls = itertools.count(1)
        self._profiles: dict[tuple[int, tuple[str, ...]], tuple[Profile, Profile]] = {}
        self._ticking: asyncio.Task[None] | None = None
        self._desk: Desk | None = None

    # ------------------------------------------------------------ what controllers ask for

    def arm(self, settings: InterventionSettings, owner: object, by: str = "somebody unnamed") -> str:
        """Arm faults for as long as `owner` lives; its id. The tape says `by` whom. Raises UsageError,
        ProfileError."""
        return self._arm(f"a{next(self._numbers)}", from_dump(settings.profile), settings, owner, by)

    def set_break(self, settings: BreakSettings, owner: object, by: str = "somebody unnamed") -> str:
        """The same with a breakpoint: what matches is held (`desk`)."""
        from faultwire.mitm.breakpoints.fault import profile_of

        ident = f"b{next(self._numbers)}"
        return self._arm(ident, profile_of(settings, self.desk, ident), settings, owner, by)

    @property
    def desk(self) -> Desk:
        """What is held; made when somebody first asks."""
        if self._desk is None:
            from faultwire.mitm.breakpoints.desk import Desk

            self._desk = Desk(self._under_way, self._note, self.now, self._redact)
        return self._desk

    def _under_way(self, session: str, number: int) -> RecordedExchange | None:
        live = (recorded for one in self._all.values() for recorded in one.live.values())
        return next((r for r in live if (r.session.name, r.pipeline.number) == (session, number)), None)

    def _arm(self, ident: str, profile: Profile, settings: InterventionSettings, owner: Any, by: str) -> str:
        self._check(profile, settings)
        radius = _radius(settings.radius)
        if settings.share < 1:
            radius = replace(radius, share=min(settings.share, radius.share or 1.0))
        now = self.now()
        work = Intervention(
            ident,
            profile,
            Selection(
                settings.sessions,
                settings.share,
                tuple(settings.headers.items()),
                settings.after_s,
                settings.for_s,
                settings.session_by,
            ),
            radius,
            Thresholds(settings.error_rate, settings.latency_s, settings.min_calls, settings.window_s),
            seed=self._seed,
            began=now,
        )
        while len(self._all) >= KEPT:
            self._forget()
        self._all[ident] = Armed(work, settings, owner, now)
        self._note("control.armed", f"{ident} by {by}: {_described(profile, settings)}")
        if self._ticking is None or self._ticking.done():
            self._ticking = asyncio.get_running_loop().create_task(self._tick())
        return ident

    def _check(self, profile: Profile, settings: InterventionSettings) -> None:
        if not profile.entries:
            raise UsageError("found no fault to arm, expected one at least", code="control.empty")
        stages = divide(profile)
        early = [entry.id for entry in (*stages.outside.entries, *stages.never)]
        if early:
            raise UsageError(
                f"found `{early[0]}`, which acts when a connection is made, expected faults on calls",
                code="control.connection",
                hint="give it to `faultwire proxy --fault` instead",
            )
        ours, wanted = self.limit.radius, settings.radius
        for name in ("sessions", "share", "calls"):
            most, asked = getattr(ours, name), getattr(wanted, name)
            if most is not None and asked is not None and asked > most:
                raise UsageError(
                    f"found {name} {asked:g}, but this proxy allows {most:g} at most", code="control.radius"
                )

    def _forget(self) -> None:
        old = next((ident for ident, one in self._all.items() if one.work.state == "disarmed"), None)
        if old is None:
            raise UsageError(f"found {KEPT} interventions armed, expected fewer", code="control.many")
        del self._all[old]

    def disarm(self, ident: str, why: str) -> dict[str, Any]:
        """Disarm one; what it was. Raises UsageError where there is none of that name."""
        found = self._all.get(ident)
        if found is None:
            raise UsageError(f"found no intervention `{ident}`", code="control.unknown")
        self._end(found, why)
        return self._as_json(found)

    def renew(self, owner: object) -> None:
        """A controller says that it is there."""
        now = self.now()
        for one in self._all.values():
            if one.owner is owner:
                one.renewed = now

    def lose(self, owner: object) -> None:
        """A controller's connection has ended, however it did: nothing of it stays armed."""
        for one in self._all.values():
            if one.owner is owner:
                self._end(one, LOST)

    def close(self) -> None:
        """The engine ends."""
        for one in self._all.values():
            self._end(one, "the proxy ended")
        if self._ticking is not None:
            self._ticking.cancel()

    def listed(self) -> list[dict[str, Any]]:
        """Every intervention that is remembered, oldest first."""
        return [self._as_json(one) for one in self._all.values()]

    @property
    def notes(self) -> list[str]:
        """What was armed, in words."""
        return [
            f"runtime control: {ident} fired on {_calls(one.fired)} of "
            f"{_sessions(len(one.work.radius.touched))}, {one.work.why or 'still armed'}"
            for ident, one in self._all.items()
        ]

    # ------------------------------------------------------------ exchanges

    def now(self) -> float:
        """The present instant."""
        return self._clock()

    def begin(
        self,
        session: Session,
        head: Request,
        tape: TapeWriter | None,
        leave: Callable[[RecordedExchange], None],
        context: SessionContext,
    ) -> RecordedExchange:
        """The exchange of a request head, with the faults that are armed for it."""
        if not any(one.work.why is None for one in self._all.values()):
            return RecordedExchange(session, head, tape, leave, context)
        now, taken = self.now(), []
        for one in self._all.values():
            key = session_of(head.headers, session.name, one.work.selection.by)
            self.limit.see(key)
            if one.work.takes(key, head.headers, now, self.limit):
                taken.append(one)
        if taken:
            context = replace(context, profile=self._profile(context.profile, taken))
        recorded = RecordedExchange(session, head, tape, leave, context)
        recorded.observer = WatchedExchange(self, next(self._calls), recorded, taken)
        return recorded

    def _profile(self, base: Profile, taken: list[Armed]) -> Profile:
        key = (id(base), tuple(one.work.ident for one in taken))
        found = self._profiles.get(key)
        if found is None or found[0] is not base:
            if len(self._profiles) >= PROFILES_KEPT:
                self._profiles.clear()
            found = self._profiles[key] = (base, joined(base, [one.work for one in taken]))
        return found[1]

    @property
    def armed(self) -> list[Armed]:
        """What is armed now."""
        return [one for one in self._all.values() if one.work.why is None]

    def judge(self) -> None:
        """Disarm what has passed a threshold."""
        now = self.now()
        for one in self.armed:
            why = one.work.guardrail.judge(now)
            if why is not None:
                self._end(one, f"aborted: {why}")

    def _end(self, one: Armed, why: str) -> None:
        if not one.work.disarm(why):
            return
        if isinstance(one.settings, BreakSettings):
            gone = why == LOST or why == SILENT.format(one.settings.lease_s)
            self.desk.release(one.work.ident, one.settings.on_gone if gone else "resume", why)
        else:
            for recorded in list(one.live.values()):
                recorded.hurry()
        touched, seen = len(one.work.radius.touched), len(one.work.radius.seen)
        self._note(
            "control.disarmed",
            f"{one.work.ident}: {why}; it fired on {_calls(one.fired)}, and touched {touched} of "
            f"{_sessions(seen)}",
        )

    def look(self) -> None:
        """Disarm what is over, what nobody holds any more, and what has passed a threshold."""
        now = self.now()
        for one in self.armed:
            if one.work.is_over(now):
                self._end(one, "its window is over")
            elif now - one.renewed > one.settings.lease_s:
                self._end(one, SILENT.format(one.settings.lease_s))
        self.judge()

    async def _tick(self) -> None:
        while self.armed:
            self.look()
            await clock.sleep(TICK_S)

    # ------------------------------------------------------------ words

    def _note(self, code: str, text: str) -> None:
        if self._tape is not None:
            self._tape.note(code, f"{clock.iso(clock.wall_ms())} {text}")

    def _as_json(self, one: Armed) -> dict[str, Any]:
        work = one.work
        return {
            "id": work.ident,
            "state": work.state,
            "why": work.why,
            "faults": [entry.id for entry in work.profile.entries],
            "fired": one.fired,
            "touched": len(work.radius.touched),
            "seen": len(work.radius.seen),
            "calls": work.radius.calls,
            "at": one.settings.at if isinstance(one.settings, BreakSettings) else None,
            "left_s": max(0.0, work.began + one.settings.after_s + one.settings.for_s - self.now()),
            "settings": one.settings.model_dump(mode="json", exclude={"profile"}, exclude_defaults=True),
        }


def _radius(settings: RadiusSettings | None) -> Radius:
    return Radius() if settings is None else Radius(settings.sessions, settings.share, settings.calls)


def _described(profile: Profile, settings: InterventionSettings) -> str:
    import json

    entries = [{k: v for k, v in one.items() if v and k != "line"} for one in dump(profile)["entries"]]
    chosen = settings.model_dump(mode="json", exclude={"profile"}, exclude_defaults=True)
    return f"faults {json.dumps(entries)}, limits {json.dumps(chosen)}"


def _calls(count: int) -> str:
    return "1 call" if count == 1 else f"{count} calls"


def _sessions(count: int) -> str:
    return "1 session" if count == 1 else f"{count} sessions"
