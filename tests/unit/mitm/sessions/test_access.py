"""Who may use the proxy without a token."""

from __future__ import annotations

import os
from typing import Any

import pytest

from faultwire.dice import Dice
from faultwire.exchange.pipeline import SessionContext
from faultwire.exchange.session_state import SessionState
from faultwire.mitm.network import peer_user
from faultwire.mitm.sessions.access import UNKNOWN, Access, is_loopback, reachable
from faultwire.mitm.sessions.sessions import Sessions
from faultwire.profile.model import Profile


class Peer:
    id = "c"
    peername: Any = ("127.0.0.1", 50000)
    sockname: Any = ("127.0.0.1", 4000)


def opened(check: bool) -> tuple[Access, Any, Any]:
    sessions = Sessions()
    session = sessions.open(SessionContext("s", Profile(name="calm"), Dice(1, "s"), SessionState()))
    sessions.implicit = session
    return Access(sessions, check=check), session, Peer()


def owned(monkeypatch: pytest.MonkeyPatch, user: int | None) -> None:
    monkeypatch.setattr(peer_user, "user_of", lambda *_: user)
    monkeypatch.setattr(peer_user, "KNOWN", True)


@pytest.mark.parametrize("user", [os.getuid() + 1, None])
def test_another_user_needs_the_token_and_is_counted(
    user: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    owned(monkeypatch, user)
    access, session, client = opened(check=True)
    access.enter(client)
    assert access.find(None, client) is None
    assert access.find(("corporate", "password"), client) is None
    assert access.find((session.user, session.token), client) is session
    who = f"processes of user {user}" if user is not None else "a process that could not be identified"
    assert access.notes == [f"2 calls without a token by {who} were turned away (407)"]
    access.leave(client)
    assert access._users.get(client.id, UNKNOWN) == UNKNOWN


@pytest.mark.parametrize(
    ("token", "user", "counted"),
    [
        pytest.param(None, None, False, id="a-dial-of-a-command-that-has-ended"),
        pytest.param("guessed", None, True, id="with-another-token"),
        pytest.param(None, os.getuid() + 1, True, id="of-another-user"),
    ],
)
def test_what_a_command_had_under_way_when_it_ended_is_no_call_without_a_token(
    token: str | None, user: int | None, counted: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    owned(monkeypatch, user)
    access, session, client = opened(check=True)
    access._sessions.close(session)
    access.enter(client)
    assert access.find((session.user, token or session.token), client) is None
    assert bool(access.notes) == counted


@pytest.mark.parametrize("user", [os.getuid(), 0])
def test_our_own_user_and_root_need_none(user: int, monkeypatch: pytest.MonkeyPatch) -> None:
    owned(monkeypatch, user)
    access, session, client = opened(check=True)
    access.enter(client)
    assert access.find(None, client) is session
    assert access.notes == []


def test_a_guarded_port_demands_the_token_of_everybody(monkeypatch: pytest.MonkeyPatch) -> None:
    owned(monkeypatch, os.getuid())
    access, session, client = opened(check=True)
    access.guarded.add(4000)
    access.enter(client)
    assert access.find(None, client) is None
    assert access.find((session.user, session.token), client) is session


def test_without_the_check_everybody_is_let_in(monkeypatch: pytest.MonkeyPatch) -> None:
    owned(monkeypatch, os.getuid() + 1)
    access, session, client = opened(check=False)
    access.guarded.add(4000)
    access.enter(client)
    assert access.find(None, client) is session


def test_a_system_without_the_query_lets_local_users_in(monkeypatch: pytest.MonkeyPatch) -> None:
    access, session, client = opened(check=True)
    monkeypatch.setattr(peer_user, "KNOWN", False)
    access.enter(client)
    assert access.find(None, client) is session


def test_a_kernel_that_refuses_to_answer_lets_nobody_in(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> int:
        raise PermissionError(1, "no")

    owned(monkeypatch, 0)
    monkeypatch.setattr(peer_user, "user_of", refuse)
    access, _, client = opened(check=True)
    access.enter(client)
    assert access.find(None, client) is None


def test_addresses() -> None:
    assert [is_loopback(host) for host in ("127.0.0.1", "127.9.9.9", "::1", "localhost")] == [True] * 4
    assert [is_loopback(host) for host in ("0.0.0.0", "::", "10.0.0.1", "a.test", "")] == [False] * 5
    assert [reachable(host) for host in ("0.0.0.0", "::", "10.0.0.1")] == ["127.0.0.1", "::1", "10.0.0.1"]
