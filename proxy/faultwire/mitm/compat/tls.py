"""mitmproxy's TLS. Towards clients: fewer and larger records, and tickets that come with the first. Towards
servers: an alert after the handshake ends the connection."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mitmproxy.proxy import events
from mitmproxy.proxy.layers.tls import ClientTLSLayer, ServerTLSLayer

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

    from mitmproxy.proxy import commands
    from mitmproxy.proxy.context import Context


class JoiningTls(ClientTLSLayer):
    """What one event makes us say leaves in one go; mitmproxy encrypts and sends every chunk alone.

    `on_data` is told once that the client has said something inside."""

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self._unsent: list[bytes] = []
        self._holds = False
        self.on_data: Callable[[], None] | None = None

    def receive_handshake_data(
        self, data: bytes
    ) -> Generator[commands.Command, Any, tuple[bool, str | None]]:
        """Where a handshake fails, the client is sent the alert that says why; mitmproxy only hangs up."""
        done, error = yield from super().receive_handshake_data(data)
        if error is not None and self.tls is not None:
            yield from self.tls_interact()
        return done, error

    def receive_data(self, data: bytes) -> Any:
        """Called with nothing at the end of the handshake; in TLS 1.3 only session tickets are left to send.

        They go out with the first answer (RFC 8446 §4.6.1 allows any time). A client that reads in one thread
        and writes in another loses what it writes while a ticket is read, where its TLS library does not lock
        (Python before 3.13): on loopback one WebSocket in 200 never saw its request answered.
        """
        if not data and self.tls.get_protocol_version_name() == "TLSv1.3":
            self._holds = True
        return super().receive_data(data)

    def tls_interact(self) -> Any:
        """Send what OpenSSL has to say, unless that can wait."""
        if self._holds:
            return ()  # a tuple costs less than a generator, and `yield from` takes it as well
        return super().tls_interact()

    def event_to_child(self, event: events.Event) -> Generator[commands.Command, Any, None]:
        """Pass an event on and carry out what comes back, sends last and joined."""
        if self.on_data is not None and type(event) is events.DataReceived and event.connection is self.conn:
            on_data, self.on_data = self.on_data, None
            on_data()
        for command in super().event_to_child(event):
            if self._unsent:
                yield from self._send()
            yield command
        if self._unsent:
            yield from self._send()

    def send_data(self, data: bytes) -> Any:
        """Called for each send of the layer above."""
        self._unsent.append(data)
        return ()

    def _send(self) -> Any:
        data = b"".join(self._unsent)
        self._unsent.clear()
        self._holds = False
        return super().send_data(data)


class UpstreamTls(ServerTLSLayer):
    """Ends with the server's connection. mitmproxy takes a fatal alert for an end that was passed on already,
    so that a call whose server wants a certificate waits for ever: in TLS 1.3 a server says so after the
    client's handshake is over (RFC 8446 §4.4.2.4)."""

    def __init__(self, context: Context, conn: Any = None) -> None:
        super().__init__(context, conn)
        self._ended = False

    def start_tls(self) -> Generator[commands.Command, Any, None]:
        """From here on there is an end to pass on; without TLS every event goes straight through."""
        self.event_to_child = self._pass_on  # type: ignore[method-assign]
        yield from super().start_tls()

    def _pass_on(self, event: events.Event) -> Any:
        if type(event) is events.ConnectionClosed and event.connection is self.conn:
            self._ended = True
        return super().event_to_child(event)

    def receive_close(self) -> Any:
        """The connection below has ended."""
        if self._ended:
            return ()
        self._ended = True
        return self.event_to_child(events.ConnectionClosed(self.conn))
