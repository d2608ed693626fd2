"""TLS towards clients, layer against Python's own TLS, over memory."""

from __future__ import annotations

import ssl
from collections.abc import Generator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from mitmproxy import connection
from mitmproxy.options import Options
from mitmproxy.proxy import commands, context, events, layer
from mitmproxy.proxy.layers.tls import ClientTLSLayer, TlsStartClientHook
from OpenSSL import SSL

from faultwire.mitm.compat import JoiningTls, UpstreamTls
from faultwire.mitm.network import ca

HOST = "api.example.test"


class Echo(layer.Layer):
    """Says what it hears, in two sends; of a question it says nothing."""

    def _handle_event(self, event: events.Event) -> Generator[commands.Command, Any, None]:
        if isinstance(event, events.DataReceived) and not event.data.endswith(b"?"):
            yield commands.SendData(event.connection, event.data)
            yield commands.SendData(event.connection, b"!")


class Ends:
    """A TLS client, and the proxy's side of it."""

    def __init__(self, side: type[ClientTLSLayer], folder: Path, version: ssl.TLSVersion) -> None:
        authority = ca.ensure(folder)
        signer, key = ca.load_signer(folder), ca.new_key()
        self._server = SSL.Context(SSL.TLS_SERVER_METHOD)
        self._server.use_privatekey(key)
        self._server.use_certificate(ca.issue(signer, key, HOST))
        ours = ssl.create_default_context(cafile=str(authority.certificate))
        ours.maximum_version = version
        self._to_client, self._to_server = ssl.MemoryBIO(), ssl.MemoryBIO()
        self.client = ours.wrap_bio(self._to_client, self._to_server, server_hostname=HOST)
        person = connection.Client(peername=("127.0.0.1", 1), sockname=("127.0.0.1", 2), timestamp_start=0)
        person.state = connection.ConnectionState.OPEN
        self._person = person
        around = context.Context(person, Options())
        Echo(around)  # mitmproxy's TLS looks at the layer below its own
        self._layer = side(around)
        self._layer.child_layer = Echo(around)
        self._happens(events.Start())

    def _happens(self, event: events.Event) -> list[bytes]:
        """Every send towards the client that the event leads to."""
        sent: list[bytes] = []
        waiting: list[events.Event] = [event]
        while waiting:
            for command in self._layer.handle_event(waiting.pop(0)):
                if isinstance(command, commands.SendData):
                    sent.append(command.data)
                    self._to_client.write(command.data)
                elif isinstance(command, commands.StartHook):
                    if isinstance(command, TlsStartClientHook):
                        command.data.ssl_conn = SSL.Connection(self._server)
                        command.data.ssl_conn.set_accept_state()
                    waiting.append(events.HookCompleted(command))
        return sent

    def handshake(self) -> None:
        """To the client's end of it."""
        while True:
            try:
                self.client.do_handshake()
            except ssl.SSLWantReadError:
                self.passes()
            else:
                return

    def passes(self) -> list[bytes]:
        """What the client wrote comes, in one piece; back comes each send of the proxy."""
        return self._happens(events.DataReceived(self._person, self._to_server.read()))


@pytest.mark.parametrize("side", [JoiningTls, ClientTLSLayer])
def test_tickets_come_with_the_first_answer(side: type[ClientTLSLayer], tmp_path: Path) -> None:
    ends = Ends(side, tmp_path / "ca", ssl.TLSVersion.TLSv1_3)
    ends.handshake()
    after = ends.passes()
    ends.client.write(b"anybody there?")
    after += ends.passes()
    if side is ClientTLSLayer:
        assert after, "mitmproxy's own sends them at once"
        return
    assert after == []
    ends.client.write(b"hello")
    assert len(ends.passes()) == 1, "the tickets are no packet of their own"
    assert ends.client.read() == b"hello!"
    assert ends.client.session is not None
    assert ends.client.session.has_ticket
    ends.client.write(b"again")
    assert len(ends.passes()) == 1
    assert ends.client.read() == b"again!"


def test_in_tls_1_2_the_end_of_the_handshake_waits_for_nothing(tmp_path: Path) -> None:
    ends = Ends(JoiningTls, tmp_path / "ca", ssl.TLSVersion.TLSv1_2)
    ends.handshake()
    assert ends.client.version() == "TLSv1.2"
    ends.client.write(b"hello")
    ends.passes()
    assert ends.client.read() == b"hello!"


def test_what_comes_with_the_end_of_the_handshake_is_answered(tmp_path: Path) -> None:
    ends = Ends(JoiningTls, tmp_path / "ca", ssl.TLSVersion.TLSv1_3)
    ends.handshake()
    ends.client.write(b"hello")
    assert len(ends.passes()) == 1
    assert ends.client.read() == b"hello!"


def test_the_end_of_a_server_that_sent_an_alert_is_passed_on_once(monkeypatch: pytest.MonkeyPatch) -> None:
    server = connection.Server(address=(HOST, 443))
    client = connection.Client(peername=("", 1), sockname=("", 2))
    made = UpstreamTls(context.Context(client, Options()), server)
    made.tls = SimpleNamespace(get_shutdown=lambda: SSL.RECEIVED_SHUTDOWN)
    seen: list[events.Event] = []
    monkeypatch.setattr(
        UpstreamTls.__mro__[1], "event_to_child", lambda _self, event: seen.append(event) or ()
    )
    list(made.receive_close())
    list(made.receive_close())
    assert [type(one) for one in seen] == [events.ConnectionClosed]


def test_the_end_that_tls_gives_is_not_passed_on_again_with_that_of_the_connection(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    server = connection.Server(address=(HOST, 443))
    client = connection.Client(peername=("", 1), sockname=("", 2))
    made = UpstreamTls(context.Context(client, Options()), server)
    seen: list[events.Event] = []
    monkeypatch.setattr(
        UpstreamTls.__mro__[1], "event_to_child", lambda _self, event: seen.append(event) or ()
    )
    next(iter(made.start_tls()))
    list(made.event_to_child(events.DataReceived(server, b"x")))
    list(made.event_to_child(events.ConnectionClosed(client)))
    assert len(seen) == 2, "the end of another connection is no end of this one"
    list(made.event_to_child(events.ConnectionClosed(server)))
    list(made.receive_close())
    assert len(seen) == 3
