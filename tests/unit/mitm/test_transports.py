"""Sockets under connections: found where there is one, left alone where there is none."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from mitmproxy import ctx
from mitmproxy.connection import Client, Server

from faultwire.mitm.compat import transports


class Handler:
    """Stands for a connection's handler: it notes what it is told to hold."""

    def __init__(self) -> None:
        self.transports: dict[object, object] = {}
        self.held: list[object] = []

    def hold(self, connection: object) -> None:
        self.held.append(connection)

    def let_go(self, connection: object) -> None:
        self.held.remove(connection)


@pytest.fixture
def client(monkeypatch: pytest.MonkeyPatch) -> tuple[Client, Handler]:
    found = Client(peername=("127.0.0.1", 1), sockname=("127.0.0.1", 2))
    handler = Handler()
    server = SimpleNamespace(connections={found.id: handler})
    monkeypatch.setattr(ctx, "master", SimpleNamespace(addons={"proxyserver": server}), raising=False)
    return found, handler


def test_a_connection_that_is_gone_has_no_writer(client: tuple[Client, Handler]) -> None:
    known, _ = client
    assert transports.writer_of(known, known) is None
    stranger = Client(peername=("127.0.0.1", 3), sockname=("127.0.0.1", 2))
    assert transports.handler_of(stranger) is None
    assert transports.writer_of(stranger, stranger) is None


def test_reading_is_held_and_let_go(client: tuple[Client, Handler]) -> None:
    known, handler = client
    server = Server(address=("x.test", 80))
    transports.read_more(known, server, paused=True)
    assert handler.held == [server]
    transports.read_more(known, server, paused=False)
    assert handler.held == []


def test_a_stock_handler_cannot_hold(client: tuple[Client, Handler], monkeypatch: pytest.MonkeyPatch) -> None:
    known, handler = client
    monkeypatch.delattr(Handler, "hold")
    transports.read_more(known, Server(address=("x.test", 80)), paused=True)
    assert handler.held == []
