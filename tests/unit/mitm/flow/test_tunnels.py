"""A tunnel's bookkeeping, without any socket."""

from __future__ import annotations

import pytest

from faultwire.dice import Dice
from faultwire.events import Request
from faultwire.exchange.pipeline import SessionContext
from faultwire.exchange.session_state import SessionState
from faultwire.mitm.flow.tunnels import RecordedTunnel
from faultwire.mitm.sessions.session import Session
from faultwire.mitm.sessions.sessions import Sessions
from faultwire.profile.inline import inline

CONNECT = Request("CONNECT", "https", "api.openai.com", 443, "")


class Tape:
    """What a recording is told, in order."""

    def __init__(self) -> None:
        self.told: list[object] = []

    def record(self, exchange):
        self.told.append(("exchange", exchange.number, exchange.kind))
        return self

    def request(self, request):
        self.told.append(request.method)

    def delivered_head(self, response):
        self.told.append(response.status)

    def end(self, ending, error, faults):
        self.told.append((ending, error, [(line.outcome, line.effect) for line in faults]))


def opened(fault: str) -> tuple[Session, Tape, RecordedTunnel]:
    session = Sessions().open(SessionContext("s", inline(fault), Dice(1, "s"), SessionState()))
    tape = Tape()
    return session, tape, RecordedTunnel(session, CONNECT, tape)  # type: ignore[arg-type]


def test_a_refused_tunnel_is_over_at_once() -> None:
    session, tape, tunnel = opened("dns_failure: {}")
    assert tunnel.answer is not None
    told = ("complete", None, [("fired", "the name was not found: 502 to CONNECT")])
    assert tape.told == [("exchange", 1, "other"), "CONNECT", 502, told]
    assert (session.exchanges, dict(session.fired)) == (1, {"dns_failure": 1})


def test_a_tunnel_that_was_decided_on_and_passes_is_on_the_tape() -> None:
    _, tape, tunnel = opened("{dns_failure: {}, trigger: {calls: [99]}}")
    assert (tunnel.answer, tunnel.flaw, tunnel.ended) == (None, None, True)
    assert tape.told[2:] == [200, ("complete", None, [("skipped", None)])]


def test_a_tunnel_that_nothing_was_decided_on_is_not() -> None:
    session, tape, tunnel = opened("{dns_failure: {}, on: {host: elsewhere.test}}")
    assert (tunnel.ended, tape.told, session.exchanges) == (True, [], 0)


@pytest.mark.parametrize(
    ("told", "ending", "outcome", "effect"),
    [
        (["show", "left"], "cut", "fired", "showed a certificate that expired"),
        (["show", "taken"], "complete", "fired", "showed a certificate that expired, and the client took it"),
        (["left"], "client_aborted", "no_effect", None),
        (["taken"], "complete", "no_effect", None),
        (["show", "left", "taken", "left"], "cut", "fired", "showed a certificate that expired"),
    ],
)
def test_what_came_of_a_flaw(told: list[str], ending: str, outcome: str, effect: str | None) -> None:
    session, tape, tunnel = opened("tls_failure: {}")
    assert not tunnel.ended
    for word in told:
        getattr(tunnel, word)(*(("client_aborted", "gone") if word == "left" else ()))
    last = tape.told[-1]
    assert isinstance(last, tuple)
    assert (last[0], last[2]) == (ending, [(outcome, effect)])
    assert len(tape.told) == 4
    assert session.exchanges == 1


STOOD = "let a request's body stand still after 65,535 bytes"


@pytest.mark.parametrize(
    ("told", "outcome", "effect"),
    [
        (["stall_s", "taken", "stalled", "stalled"], "fired", STOOD),
        (["stall_s", "taken"], "no_effect", None),
        (["taken"], "inapplicable", None),
    ],
)
def test_bodies_that_stand_still_are_known_at_the_end_of_the_connection(
    told: list[str], outcome: str, effect: str | None
) -> None:
    session, tape, tunnel = opened("stall_window: {for_ms: 1500}")
    for what in told:
        found = getattr(tunnel, what)()
        assert found == (1.5 if what == "stall_s" else None)
    assert not tunnel.ended, "its requests do not end it"
    tunnel.left("client_aborted", "the client disconnected")
    assert tape.told[-1] == ("client_aborted", "the client disconnected", [(outcome, effect)])
    assert session.fired == ({"stall_window": 1} if outcome == "fired" else {})
    assert tunnel.stall_s() is None, "and then nothing stands still any more"
