"""Whose traffic is it?"""

from __future__ import annotations

import pytest

from faultwire.dice import Dice
from faultwire.errors import UsageError
from faultwire.events import Exchange, FaultFired, Request
from faultwire.mitm.sessions import VOIDS_KEPT, Sessions
from faultwire.passage import SessionContext
from faultwire.profile.model import Profile
from faultwire.session import SessionState


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
    }


def test_reasons_to_void_are_bounded() -> None:
    session = Sessions().open(context("one"))
    for n in range(1000):
        session.void(f"reason {n}")
        session.void(f"reason {n}")
    assert session.voided == 2000
    assert len(session.voids) <= VOIDS_KEPT
    assert session.voids[0] == "reason 0"
