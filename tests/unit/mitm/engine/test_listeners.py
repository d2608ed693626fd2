"""Who is let in at a listener of the engine."""

from __future__ import annotations

import os
from types import SimpleNamespace
from typing import Any

import pytest

from faultwire.dice import Dice
from faultwire.exchange.pipeline import SessionContext
from faultwire.exchange.session_state import SessionState
from faultwire.mitm.engine.listeners import let_in
from faultwire.mitm.flow.gateway import Gateway
from faultwire.mitm.network import peer_user
from faultwire.profile.model import Profile


class Writer:
    """What a client that is turned away gets."""

    def __init__(self) -> None:
        self.written, self.closed = b"", False

    def write(self, data: bytes) -> None:
        self.written += data

    def close(self) -> None:
        self.closed = True


def client(number: int) -> Any:
    return SimpleNamespace(id=f"c{number}", peername=("127.0.0.1", 5000 + number), sockname=("127.0.0.1", 1))


@pytest.mark.parametrize("stranger", [False, True])
def test_one_too_many_is_turned_away_and_voids_only_what_could_be_its_own(
    stranger: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    user = os.getuid() + stranger * 1000
    monkeypatch.setattr(peer_user, "user_of", lambda *_: user)
    monkeypatch.setattr(peer_user, "KNOWN", True)
    gateway, writers = Gateway(), [Writer(), Writer()]
    gateway.sessions.open(SessionContext("s", Profile(name="calm"), Dice(1, "s"), SessionState()))
    gateway.access.check, gateway.sources.limit = True, 1
    assert let_in(gateway, client(1), writers[0]) == ("127.0.0.1", user)  # type: ignore[arg-type]
    assert let_in(gateway, client(2), writers[1]) is None  # type: ignore[arg-type]
    assert (writers[0].written, writers[0].closed) == (b"", False)
    assert writers[1].written.startswith(b"HTTP/1.1 503 Service Unavailable\r\n")
    assert writers[1].closed
    assert gateway.stats.crowded_out == 1
    assert [bool(session.voids) for session in gateway.sessions] == [not stranger]
