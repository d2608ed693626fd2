"""Whose traffic is it?"""

from __future__ import annotations

import pytest

from faultwire.dice import Dice
from faultwire.errors import UsageError
from faultwire.events import Bypass, Exchange, FaultFired, Request
from faultwire.exchange.pipeline import SessionContext
from faultwire.exchange.session_state import SessionState
from faultwire.mitm.sessions.session import VOIDS_KEPT
from faultwire.mitm.sessions.sessions import HOSTS_KEPT, Sessions, UnknownUsers
from faultwire.profile.dump import merge
from faultwire.profile.inline import inline
from faultwire.profile.model import Profile
from faultwire.tape.format.bypassed import KEPT


def context(name: str) -> SessionContext:
    return SessionContext(name, Profile(name="calm"), Dice(1, name), SessionState())


def test_by_user_and_token() -> None:
    sessions = Sessions()
    one, two = sessions.open(context("one")), sessions.open(context("two"))
    assert sessions.find((one.user, one.token), 1) is one
    assert sessions.find((two.user, two.token), 1) is two
    assert sessions.find((one.user, two.token), 1) is None
    assert sessions.find((one.user, ""), 1) is None
    assert sessions.find(("nobody", one.token), 1) is None
    assert sessions.find(None, 1) is None


def test_by_port() -> None:
    sessions = Sessions()
    one = sessions.open(context("one"))
    sessions.listen(one, 4000)
    assert sessions.find(None, 4000) is one
    assert sessions.find(None, 4001) is None


def test_the_implicit_one_takes_what_names_none() -> None:
    sessions = Sessions()
    implicit = sessions.implicit = sessions.open(context("implicit"))
    assert sessions.find(None, 1) is implicit
    assert sessions.find(("corporate", "password"), 1) is implicit
    other = sessions.open(context("other"))
    assert sessions.find((other.user, other.token), 1) is other
    assert sessions.find((other.user, "wrong"), 1) is None


def test_a_closed_one_is_forgotten() -> None:
    sessions = Sessions()
    one = sessions.open(context("one"))
    sessions.listen(one, 4000)
    sessions.close(one)
    assert sessions.find((one.user, one.token), 4000) is None
    assert sessions.by_token(one.token) is None
    with pytest.raises(UsageError):
        sessions.named("one")
    assert sessions.open(context("one")).user != one.user


def test_a_name_is_open_once() -> None:
    sessions = Sessions()
    sessions.open(context("one"))
    with pytest.raises(UsageError) as refused:
        sessions.open(context("one"))
    assert "`one`" in refused.value.message


def test_what_is_counted() -> None:
    session = Sessions().open(context("one"))
    exchange = Exchange("one", 1, Request("GET", "http", "x", 80, "/"), kind="llm")
    line = {"site": "response", "reason": "", "key": "", "n": 0, "attempt": 0}
    fired = FaultFired(fault="status", id="status#2", outcome="fired", **line)  # type: ignore[arg-type]
    skipped = FaultFired(fault="reset", id="reset", outcome="skipped", **line)  # type: ignore[arg-type]
    session.count(exchange, (fired, skipped))
    session.count(exchange, ())
    assert session.summary(2) == {
        "name": "one",
        "acknowledged": 2,
        "exchanges": 2,
        "by_kind": {"llm": 2},
        "fired": {"status#2": 1},
        "voids": [],
        "notes": [],
        "incomplete": None,
        "bypassed": [],
        "bypassed_more": 0,
        "handshakes": [],
    }


def test_reasons_to_void_are_bounded() -> None:
    session = Sessions().open(context("one"))
    for n in range(1000):
        session.void(f"reason {n}")
        session.void(f"reason {n}")
    assert session.voided == 2000
    assert len(session.voids) <= VOIDS_KEPT
    assert session.voids[0] == "reason 0"


def test_by_token() -> None:
    sessions = Sessions()
    one = sessions.open(context("one"))
    assert sessions.by_token(one.token) is one
    assert sessions.by_token(one.token[:-1]) is None
    assert sessions.by_token("") is None


def test_strangers_are_noted_until_they_state_who_they_are_and_in_bounds() -> None:
    strangers = UnknownUsers()
    for n in range(1000):
        strangers.turn_away(f"host{n}.test")
    assert len(strangers.notes) == HOSTS_KEPT
    strangers.turn_away("host0.test")
    assert strangers.notes[0] == (
        "2 calls to `host0.test` came without the session's proxy user and were turned away (407)"
    )
    strangers.known("host0.test")
    assert not any("host0.test" in note for note in strangers.notes)


def test_lost_routes_are_noted_in_bounds() -> None:
    session = Sessions().open(context("one"))
    for n in range(1000):
        session.lose(f"r{n}")
    session.lose("r0")
    assert len(session.notes) == HOSTS_KEPT
    assert session.notes[0] == "2 calls went to the route `r0`, which is not declared (404)"


def test_what_is_decided_about_tunnels_is_not_decided_in_them() -> None:
    entries = merge([inline("{dns_failure: {}, on: {host: a}}"), inline("latency: {ms: 1}")])
    made = SessionContext("one", entries, Dice(1, "one"), SessionState())
    session = Sessions().open(made)
    assert [entry.id for entry in session.stages.outside.entries] == ["dns_failure"]
    assert [entry.id for entry in session.inside.profile.entries] == ["latency"]
    assert session.inside.state is session.context.state
    calm = Sessions().open(context("one"))
    assert calm.inside is calm.context


def test_connections_past_the_proxy_are_reported_and_bounded() -> None:
    session = Sessions().open(context("one"))
    session.see((Bypass("203.0.113.5", 443),), 2)
    assert session.notes == ["went past the proxy: 203.0.113.5:443, and 2 more"]
    told = session.summary(0)
    assert told["bypassed"] == [{"address": "203.0.113.5", "port": 443, "transport": "tcp", "host": None}]
    assert told["bypassed_more"] == 2
    session.see(tuple(Bypass(f"198.18.0.{at}", 443) for at in range(KEPT + 3)), 1)
    assert (len(session.bypassed), session.bypassed_more) == (KEPT, 4)


@pytest.mark.parametrize("h2c", [True, False])
def test_http2_without_tls_is_no_malformed_head(h2c: bool) -> None:
    session = Sessions().open(context("a"))
    session.lose_unread(h2c=h2c)
    told = "1 connection spoke HTTP/2 without TLS (h2c), which is not served: use HTTP/1.1, or TLS"
    assert (told in session.notes) == h2c
    assert ("1 call had a malformed or oversized head and went nowhere" in session.notes) != h2c
