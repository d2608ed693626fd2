"""What is armed on an engine: limits, leases, aborts, exchanges under way, the tape. No socket."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace

import pytest

from faultwire.dice import Dice
from faultwire.errors import UsageError
from faultwire.events import FaultFired, Request
from faultwire.exchange.pipeline import SessionContext
from faultwire.exchange.session_state import SessionState
from faultwire.mitm.compat.hooks import Pause
from faultwire.mitm.flow.armed import Armed, WatchedExchange
from faultwire.mitm.flow.runtime_control import KEPT, LOST, RuntimeControl
from faultwire.mitm.settings import InterventionSettings, RadiusSettings
from faultwire.profile.dump import dump
from faultwire.profile.load import inline
from faultwire.profile.model import Profile

STATUS = dump(inline("status: {code: 503}"))
HEAD = Request("POST", "https", "api.openai.com", 443, "/v1/chat/completions", ())


class Tape:
    def __init__(self) -> None:
        self.notes: list[tuple[str, str]] = []

    def note(self, code: str, text: str) -> None:
        self.notes.append((code, text.partition(" ")[2]))


class Clock:
    at = 100.0

    def __call__(self) -> float:
        return self.at


def settings(**more) -> InterventionSettings:
    return InterventionSettings(**{"profile": STATUS, "for_s": 60, **more})


@pytest.fixture
def tape() -> Tape:
    return Tape()


@pytest.fixture
def clock() -> Clock:
    return Clock()


def session() -> SimpleNamespace:
    context = SessionContext("proxy", Profile(name="calm"), Dice(1, "proxy"), SessionState())
    return SimpleNamespace(name="proxy", context=context, count=lambda *_: None)


def begin(control: RuntimeControl, own=None):
    own = own or session()
    return control.begin(own, HEAD, None, lambda _: None, own.context)


def fired(ident: str) -> FaultFired:
    return FaultFired("status", f"{ident}/status", "response", "fired", "", "k", 0, 0)


async def armed(clock, tape=None, limits=None, **more):
    control = RuntimeControl(limits, tape, now=clock)
    owner = object()
    return control, owner, control.arm(settings(**more), owner, "process 7 of user 0")


def test_nothing_armed_costs_nothing(clock) -> None:
    recorded = begin(RuntimeControl(None, None, now=clock))
    assert recorded.observer is None
    assert recorded.pipeline.state.context.profile.entries == ()


async def arm_and_begin(clock, tape) -> None:
    control, owner, _ = await armed(clock, tape)
    recorded = begin(control)
    assert [one.id for one in recorded.pipeline.state.context.profile.entries] == ["a1/status"]
    control.lose(object())
    assert control.armed
    control.lose(owner)
    assert control.listed()[0]["why"] == LOST
    assert recorded.hurried
    assert begin(control).observer is None
    assert [code for code, _ in tape.notes] == ["control.armed", "control.disarmed"]
    assert "a1 by process 7 of user 0" in tape.notes[0][1]
    assert tape.notes[1][1].startswith(f"a1: {LOST}")


def test_a_controller_that_is_gone_leaves_calm(clock, tape) -> None:
    asyncio.run(arm_and_begin(clock, tape))


async def silent(clock) -> None:
    control, owner, _ = await armed(clock, lease_s=3)
    clock.at += 2.9
    control.renew(owner)
    clock.at += 2.9
    control.look()
    assert control.armed
    clock.at += 0.2
    control.look()
    assert control.listed()[0]["why"] == "its controller said nothing for 3 s"


async def window(clock) -> None:
    control, _, _ = await armed(clock, for_s=5, lease_s=60)
    clock.at += 5
    assert begin(control).pipeline.state.context.profile.entries == ()
    control.look()
    assert control.listed()[0]["why"] == "its window is over"


async def aborted(clock) -> None:
    control, _, _ = await armed(clock, error_rate=0.4, min_calls=3)
    for status in (200, 503, 503):
        assert control.armed
        recorded = begin(control)
        recorded.observer.answered(status)
        recorded.observer.over("complete", ())
    assert control.listed()[0]["why"] == "aborted: 2 of 3 calls failed, allowed are 0.4"


async def slow(clock) -> None:
    control, _, _ = await armed(clock, latency_s=1, min_calls=1, lease_s=60)
    recorded = begin(control)
    pause = recorded.pause = Pause(None, None)
    clock.at += 1.1
    control.look()
    assert control.listed()[0]["why"].startswith("aborted: 1 of 1 call had no first byte in 1 s")
    await asyncio.wait_for(pause.last(), 1)  # what waits is let go
    assert not pause.left


@pytest.mark.parametrize("way", [silent, window, aborted, slow])
def test_what_disarms(way, clock) -> None:
    asyncio.run(way(clock))


async def limited(clock) -> None:
    control, _, ident = await armed(clock, radius={"calls": 1})
    first = begin(control)
    assert (
        begin(control).pipeline.state.context.profile.entries == ()
    )  # its place is taken while it is under way
    first.observer.over("complete", ())
    second = begin(control)  # nothing fired on the first
    second.observer.over("complete", (fired(ident),))
    assert begin(control).pipeline.state.context.profile.entries == ()
    assert control.listed()[0]["fired"] == 1


def test_a_call_on_which_nothing_fired_is_not_counted(clock) -> None:
    asyncio.run(limited(clock))


@pytest.mark.parametrize(
    ("wanted", "limits", "code"),
    [
        ({"radius": {"sessions": 3}}, {"sessions": 2}, "control.radius"),
        ({"radius": {"calls": 3}}, {"calls": 2}, "control.radius"),
        ({"profile": dump(inline("tls_failure: {reason: expired}"))}, {}, "control.connection"),
        ({"profile": {"name": "calm"}}, {}, "control.empty"),
    ],
)
def test_what_cannot_be_armed(wanted, limits, code, clock) -> None:
    with pytest.raises(UsageError) as refused:
        asyncio.run(armed(clock, None, RadiusSettings(**limits), **wanted))
    assert refused.value.code == code


async def many(clock) -> None:
    control, owner, _ = await armed(clock)
    for _ in range(KEPT - 1):
        control.arm(settings(), owner)
    with pytest.raises(UsageError, match="expected fewer"):
        control.arm(settings(), owner)
    control.disarm("a5", "enough")
    control.arm(settings(), owner)
    assert len(control.listed()) == KEPT


def test_no_more_than_so_many(clock) -> None:
    asyncio.run(many(clock))


async def watched(clock) -> None:
    control, _, _ = await armed(clock)
    (one,) = control.armed
    assert isinstance(one, Armed)
    exchange = WatchedExchange(control, 5, begin(control), [one])
    assert list(one.live) == [1, 5]
    exchange.over("client_aborted", ())
    assert list(one.live) == [1]


def test_an_exchange_is_known_while_it_lives(clock) -> None:
    asyncio.run(watched(clock))


def test_an_unknown_one_cannot_be_disarmed(clock) -> None:
    with pytest.raises(UsageError, match="no intervention `a9`"):
        RuntimeControl(None, None, now=clock).disarm("a9", "why")
