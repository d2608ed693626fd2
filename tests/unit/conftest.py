"""Unit tests have no network and wait for nothing."""

from __future__ import annotations

import socket
import time

import pytest
from tests.unit.room import Room


@pytest.fixture(autouse=True)
def no_network_and_no_sleep(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_args: object, **_kwargs: object) -> None:
        raise AssertionError("a unit test must not open a connection or sleep; it belongs into tests/e2e")

    for name in ("connect", "connect_ex", "bind", "listen"):
        monkeypatch.setattr(socket.socket, name, refuse)
    monkeypatch.setattr(time, "sleep", refuse)


@pytest.fixture
def room() -> type[Room]:
    """A stage and an agent in memory, for what is built on `runner.run.play`."""
    return Room
