"""TLS to a server by OpenSSL: faultwire.mitm.native.openssl. Its handshakes are in tests/e2e/engine."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mitmproxy.connection import ConnectionState, Server
from mitmproxy.proxy import commands

from faultwire.mitm.native.openssl import OpenSsl

if TYPE_CHECKING:
    from .conftest import Rig  # noqa: TID252


def test_a_server_that_is_closed_is_closed_by_the_handler(rig: Rig) -> None:
    server = Server(address=("api.example.com", 443))
    server.state = ConnectionState.OPEN
    rig.handler.transports[server] = rig.handler.transports[rig.client]
    tls = OpenSsl(rig.layer, server)
    tls._carry([commands.SendData(server, b"bytes"), commands.CloseConnection(server)])
    assert rig.delivered() == b"bytes"
    assert rig.handler.closed == [server]
